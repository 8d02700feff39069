"""Timing and tables for the benchmarks. Import it before NumPy: it keeps the linear algebra to one thread."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

if "numpy" in sys.modules:
    raise ImportError("import harness before NumPy: the number of threads is fixed when NumPy is loaded")
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[_name] = "1"

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("numpy", "scipy", "numba", "cvxpy", "clarabel", "piqp", "scs", "highspy", "scikit-learn", "daqp", "cobra")


def side_by_side(
    functions: dict[str, Callable[[], Any]], rounds: int = 10, turn: float = 0.05, budget: float = 3.0
) -> dict[str, tuple[float, Any]]:
    """The least time of each after one call that is not counted, and its last outcome.

    In turns, as many calls as fit into ``turn`` seconds and at least one: the machine is the same for all of them, and
    what is short is called often. Processor time, all threads: on an idle machine that is the time on the clock, on a
    busy one it still is the work. What has taken ``budget`` seconds is not called again, and what takes longer at the
    first call is called just once.
    """
    best, outcomes, spent = {}, {}, {}
    for name, function in functions.items():
        spent[name], outcomes[name] = timed(function)
        best[name] = spent[name] if spent[name] > budget else float("inf")
    for _ in range(rounds):
        for name, function in functions.items():
            until = spent[name] + turn
            while spent[name] < min(until, budget):
                taken, outcomes[name] = timed(function)
                best[name], spent[name] = min(best[name], taken), spent[name] + taken
    return {name: (best[name], outcomes[name]) for name in functions}


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Processor time of one call, and its outcome."""
    before = time.process_time()
    outcome = function()
    return time.process_time() - before, outcome


def best_of(function: Callable[[], Any]) -> tuple[float, Any]:
    """The same for one function."""
    return side_by_side({"": function})[""]


def race(functions: dict[str, Callable[[], Any]], rounds: int = 9) -> dict[str, float]:
    """The least time of each, on the clock and in turns: memory traffic of others hits all of them alike."""
    for function in functions.values():
        function()
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, function in functions.items():
            before = time.perf_counter()
            function()
            best[name] = min(best[name], time.perf_counter() - before)
    return best


@contextlib.contextmanager
def without_numba() -> Iterator[None]:
    """Inside, the library runs its NumPy twins."""
    before = os.environ.get("TIEBREAK_NO_NUMBA")
    os.environ["TIEBREAK_NO_NUMBA"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["TIEBREAK_NO_NUMBA"]
        else:
            os.environ["TIEBREAK_NO_NUMBA"] = before


def has(package: str) -> bool:
    """Whether an optional package is there; if not, the output says what is left out."""
    if importlib.util.find_spec(package) is not None:
        return True
    print(f"left out: {package} is not installed", flush=True)
    return False


def seconds(value: float) -> str:
    """A time with its unit, three digits."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if value * factor >= 1:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e6:.2g} µs"


@dataclass
class Table:
    """A Markdown table that is printed row by row and kept for the JSON file."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        print(f"\n## {self.title}\n\n| {' | '.join(self.columns)} |\n|{'---|' * len(self.columns)}", flush=True)

    def add(self, *cells: Any) -> None:
        self.rows.append(cells)
        print(f"| {' | '.join(map(_cell, cells))} |", flush=True)

    def markdown(self) -> str:
        lines = [f"| {' | '.join(map(_cell, row))} |" for row in self.rows]
        return "\n".join(
            [f"## {self.title}\n", f"| {' | '.join(self.columns)} |", f"|{'---|' * len(self.columns)}", *lines]
        )


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def save(name: str, tables: list[Table], facts: dict[str, Any] | None = None) -> None:
    """``results/<name>.json`` and ``results/<name>.md``, with the versions that were measured."""
    found = {package: version(package) for package in PACKAGES if _installed(package)}
    setting = {"python": platform.python_version(), "system": platform.platform(), **found}
    RESULTS.mkdir(exist_ok=True)
    record = {
        "setting": setting,
        "facts": facts or {},
        "tables": [{"title": t.title, "columns": t.columns, "rows": t.rows} for t in tables],
    }
    (RESULTS / f"{name}.json").write_text(json.dumps(record, indent=1, default=float))
    listing = ", ".join(f"{key} {value}" for key, value in setting.items())
    text = "\n\n".join([f"# {name}", listing, *(table.markdown() for table in tables)])
    (RESULTS / f"{name}.md").write_text(text + "\n")


def _installed(package: str) -> bool:
    with contextlib.suppress(Exception):
        return bool(version(package))
    return False


def plot(name: str, title: str, series: dict[str, tuple[list[float], list[float]]], x: str, y: str) -> None:
    """``results/<name>.png`` with logarithmic axes; nothing where matplotlib is missing."""
    if not has("matplotlib"):
        return
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for label, (across, up) in series.items():
        axes.loglog(across, up, marker="o", linestyle="none", label=label)
    axes.set(title=title, xlabel=x, ylabel=y)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / f"{name}.png", dpi=150)
    plt.close(figure)
