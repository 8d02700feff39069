"""The plots of the comparison: performance profiles, and both gaps against time and oracle calls. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from .profile import area, profile
from .results import Results, Tuning, What
from .run import ACCURACIES, Record
from .suite import Task

SHOWN = 9
"""So many methods can be told apart in one plot."""

ALWAYS = ("exact", "cg-bio-anytime")
LARGEST = 1e4
FLOOR = 1e-8

STYLES = list(
    zip(
        ["black", "#c0392b", "#1f6fb2", "#2e8b57", "#e08a00", "#7d3c98", "#555555", "#00808a", "#a0522d"],
        cycle(["-", "--", "-.", ":"]),
        ["o", "s", "^", "D", "v", "x", "P", "*", "h"],
        strict=False,
    )
)


def best_methods(results: Results, tuning: Tuning = "tuned", what: What = "seconds", shown: int = SHOWN) -> list[str]:
    """The methods with the largest areas under their profiles, all accuracies together, and always ``ALWAYS``."""
    total: dict[str, float] = {}
    for accuracy in ACCURACIES:
        for method, share in area(results.costs(accuracy, tuning, what), LARGEST).items():
            total[method] = total.get(method, 0.0) + share
    ranked = sorted(total, key=lambda method: -total[method])
    always = [method for method in ALWAYS if method in ranked]
    others = [method for method in ranked if method not in always][: shown - len(always)]
    return [method for method in ranked if method in always or method in others]


def _pyplot() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise ImportError("the plots need matplotlib: pip install 'tiebreak[plot]'") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def plot_profiles(results: Results, path: Path, what: What = "seconds") -> None:
    """Profiles at the three accuracies; above with default parameters, below with the best of the grid."""
    plt = _pyplot()
    figure, grid = plt.subplots(2, 3, figsize=(10, 6.4), sharex=True, sharey=True, layout="constrained")
    shown = best_methods(results, what=what)
    tunings: tuple[Tuning, Tuning] = ("default", "tuned")
    for axes_row, tuning in zip(grid, tunings, strict=True):
        for axes, accuracy in zip(axes_row, ACCURACIES, strict=True):
            steps = profile(results.costs(accuracy, tuning, what))
            for method, (color, line, marker) in zip(shown, STYLES, strict=False):
                taus, shares = steps[method]
                axes.step(
                    [*taus, LARGEST], [*shares, shares[-1] if shares else 0.0], where="post", color=color,
                    linestyle=line, marker=marker, markersize=4, linewidth=1.3, label=method, markevery=_every(taus),
                )  # fmt: skip
            axes.set(xscale="log", xlim=(0.93, LARGEST), ylim=(0, 1.02), title=f"accuracy {accuracy:g}, {tuning}")
            axes.grid(alpha=0.25)
    unit = "time" if what == "seconds" else "oracle calls"
    figure.supxlabel(f"{unit} over the least {unit} of any method", fontsize=10)
    figure.supylabel("share of the families", fontsize=10)
    handles, names = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right center", fontsize=9, handlelength=3.5)
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    """Few colours, small files."""
    from PIL import Image

    figure.savefig(path, dpi=90)
    _pyplot().close(figure)
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(96)
    small.save(path, optimize=True)


def _every(points: Sequence[float]) -> int:
    return max(1, len(points) // 6)


def plot_gaps(records: Mapping[Task, Record], family: str, methods: Sequence[str], title: str, path: Path) -> None:
    """Both gaps of the default runs on one family, against processor time and against oracle calls."""
    plt = _pyplot()
    figure, grid = plt.subplots(2, 2, figsize=(9, 6.4), sharey="row", sharex="col", layout="constrained")
    looks = {
        task.method: record.looks
        for task, record in records.items()
        if task.family == family and task.setting == "default" and record.looks
    }
    for method, (color, line, marker) in zip(methods, STYLES, strict=False):
        # method "exact" calls no oracles: its first look is the start, its second the answer
        for column, index in enumerate((1, 2)):
            steps = [look for look in looks.get(method, []) if look[index] > 0]
            for axes, level in zip(grid[:, column], (3, 4), strict=True):
                gaps = [max(abs(look[level]), FLOOR) for look in steps]
                axes.plot(
                    [look[index] for look in steps], gaps, color=color, linestyle=line, marker=marker, markersize=4,
                    linewidth=1.2, markevery=(0.0, 0.12) if len(steps) > 2 else None, label=method,
                )  # fmt: skip
    for axes in grid.flat:
        axes.set(xscale="log", yscale="log")
        axes.set_ylim(bottom=FLOOR / 2)
        axes.grid(alpha=0.25)
    grid[0, 0].set_ylabel("|f - f*|, in units of the start")
    grid[1, 0].set_ylabel("g - g*, in units of the start")
    grid[1, 0].set_xlabel("seconds of processor time")
    grid[1, 1].set_xlabel("oracle calls")
    handles, names = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right center", fontsize=9, handlelength=3.5)
    figure.suptitle(f"{family}: {title}", fontsize=10)
    _save(figure, path)
