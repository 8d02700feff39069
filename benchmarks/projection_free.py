"""Where projections are costly: methods by linear minimisation beside methods by projection, at equal seconds.

    python benchmarks/projection_free.py [--seconds 20] [--only nuclear,flows] [--figure FILE.png]

Four large families with planted answers (``tiebreak.lab.comparison.large``). Two criteria: Definition 1 of the CG-BiO
paper, f - f* <= eps and g - g* <= eps, which a point below f* meets, too; and the two-sided one, |f - f*| <= eps. Both
gaps are in units of those at the common start; seconds are those of the processor. The last table has the least time of
all methods by projection over that of all others. Also measured: what one linear minimum, one over a cut and one
projection cost on each set. Algorithm 1 gets the accuracy it is to reach in its last two rows, as its theory asks.
"""

from __future__ import annotations

import harness  # noqa: F401  first of all: before NumPy

# isort: split
import argparse
import sys
import time
from collections.abc import Callable
from math import inf
from pathlib import Path

import numpy as np

from harness import Table, save
from tiebreak.lab.comparison import run as comparison
from tiebreak.lab.comparison.families import Family
from tiebreak.lab.comparison.large import LARGE

FREE = ("cg-bio", "cg-bio tol_lower=0.01", "cg-bio tol_lower=0.001", "cg-bio-anytime", "ir-cg")
PROJECTING = ("apb-apg", "pb-apg", "fbi-pg", "bi-fista", "tseng", "big-sam", "a-irg")
EPSILONS = (1e-2, 1e-3)

Looks = list[tuple[int, float, float, float, float]]


def reached(looks: Looks, eps: float, two_sided: bool) -> float:
    """The seconds until the criterion holds first."""
    for _, seconds, _, f, g in looks:
        if (abs(f) if two_sided else f) <= eps and g <= eps:
            return seconds
    return inf


def least(function: Callable[[], object], rounds: int = 3) -> float:
    """The least processor time of so many calls after one that is not counted."""
    function()
    times = []
    for _ in range(rounds):
        before = time.process_time()
        function()
        times.append(time.process_time() - before)
    return min(times)


def oracles(family: Family) -> tuple[float, float, float]:
    """Seconds of one linear minimum, one over a cut through x0, and one projection, where methods ask for them."""
    problem, x = family.problem, family.x0
    a, b = problem.upper.grad(x), problem.lower.grad(x)
    step = x - b / problem.lower.smoothness
    Z = problem.domain
    return least(lambda: Z.lmo(b)), least(lambda: Z.lmo_cut(a, b, float(b @ x))), least(lambda: Z.project(step))


def ratio(free: float, other: float, limit: float) -> str:
    """Seconds by projection over seconds without; a bound where only one of them got there in time."""
    if free == inf:
        return "-" if other == inf else f"< {other / limit:.2g}"
    return f"> {limit / free:.2g}" if other == inf else f"{other / free:.2g}"


def filled(title: str, columns: list[str], rows: list[tuple[object, ...]]) -> Table:
    table = Table(title, tuple(columns))
    for row in rows:
        table.add(*row)
    return table


def said(seconds: float) -> str:
    return "-" if seconds == inf else f"{seconds:.3g}"


def drawn(runs: dict[str, dict[str, Looks]], path: Path) -> None:
    """The larger of both gaps, two-sided, over seconds, one panel a family."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(runs), figsize=(3.1 * len(runs), 3.4), layout="constrained", squeeze=False)
    colors = dict(zip((*FREE, *PROJECTING), plt.get_cmap("tab20").colors, strict=False))  # type: ignore[attr-defined]
    for axes, (name, found) in zip(panels[0], runs.items(), strict=True):
        for method, looks in found.items():
            seconds = [max(s, 1e-3) for _, s, *_ in looks]
            gaps = np.minimum.accumulate([max(abs(f), g) for *_, f, g in looks])
            axes.plot(seconds, gaps, "-" if method in FREE else "--", color=colors[method], label=method, linewidth=1.6)
        axes.set(xscale="log", yscale="log", title=name, ylim=(1e-5, 1.5), xlabel="processor seconds")
        axes.grid(alpha=0.25)
    panels[0][0].set_ylabel("larger of both gaps, best so far")
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=9)
    figure.savefig(path, dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(LARGE))
    parser.add_argument("--figure", type=Path)
    chosen = parser.parse_args()

    costs, rows, ratios = [], [], []
    runs: dict[str, dict[str, Looks]] = {}
    for name in chosen.only:
        family = LARGE[name]()
        costs.append((name, family.problem.dim, *(f"{1e3 * t:.3g}" for t in oracles(family))))
        runs[name], best = {}, {FREE: [inf] * 4, PROJECTING: [inf] * 4}
        for methods in (FREE, PROJECTING):
            for method in methods:
                method_name, _, setting = method.partition(" ")
                record = comparison.run_family(LARGE[name], method_name, setting or "default", chosen.seconds)
                looks = runs[name][method] = record.looks
                times = [reached(looks, eps, kind) for kind in (False, True) for eps in EPSILONS]
                best[methods] = list(map(min, best[methods], times))
                rows.append((name, method, looks[-1][0] if looks else record.status, *map(said, times)))
                print(*rows[-1], file=sys.stderr, flush=True)
        pairs = zip(best[FREE], best[PROJECTING], strict=True)
        ratios.append((name, *(ratio(free, other, chosen.seconds) for free, other in pairs)))

    kinds = [f"{kind} {eps:g}" for kind in ("Def. 1", "two-sided") for eps in EPSILONS]
    tables = [
        filled("one call of each oracle, milliseconds", ["family", "variables", "lmo", "lmo_cut", "project"], costs),
        filled(
            f"seconds until both gaps are small, {chosen.seconds:g} s a run",
            ["family", "method", "updates", *kinds],
            rows,
        ),
        filled("seconds of the best method by projection over those of the best without", ["family", *kinds], ratios),
    ]
    save("projection_free", tables)
    if chosen.figure:
        drawn(runs, chosen.figure)


if __name__ == "__main__":
    main()
