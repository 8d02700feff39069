"""Pictures of results, in one style: colours that colour-blind readers tell apart, and labels on everything.

Matplotlib is imported when something is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

BLUE, ORANGE, RED = "#0072B2", "#E69F00", "#D55E00"  # Okabe and Ito
SEVERAL = (BLUE, ORANGE, "#009E73", RED, "#CC79A7", "#56B4E9", "black")
MARKS = "os^vDPX*"
"""Seven colours and eight marks: 56 lines before two look the same."""


def pyplot(caller: str) -> Any:
    """Matplotlib's, or a sentence that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(f"{caller} needs matplotlib: pip install 'tiebreak[plot]'") from error
    return plt


def draw_levels(axes: Sequence[Any], levels: Sequence[Any]) -> None:
    """One axis for each level, in its own units: the bracket around its optimum, and its value at x."""
    for k, (ax, one) in enumerate(zip(axes, levels, strict=True), 1):
        ends = np.array([one.value, *(end for end in (one.lower, one.upper) if np.isfinite(end))])
        margin = 0.3 * float(np.ptp(ends)) or 1e-12 * max(1.0, abs(one.value))
        left, right = float(ends.min()) - margin, float(ends.max()) + margin
        known = [(max(one.lower, left), min(one.upper, right))] if one.lower <= one.upper else []
        for low, high in known:
            ax.plot([low, high], [0, 0], color=BLUE, linewidth=8, alpha=0.35, solid_capstyle="butt", label="optimum")
        for end in (one.lower, one.upper):
            if np.isfinite(end):
                ax.plot([end], [0], "|", color=BLUE, markersize=16, markeredgewidth=2)
        ax.plot([one.value], [0], "o", color=RED, markersize=6, label="value at x")
        width = one.upper - one.lower
        said = f"bracket {width:.1g} wide" if np.isfinite(width) else "not bounded on both sides"
        ax.set_title(f"level {k}: value {one.value:.8g}, {said}", fontsize="medium", loc="left")
        ax.set_xlim(left, right)
        ax.set_ylim(-1, 1)
        ax.set_yticks([])
        ax.locator_params(axis="x", nbins=4)
        ax.ticklabel_format(axis="x", useOffset=True)
    axes[0].legend(loc="upper right", ncols=2, fontsize="small", frameon=False)
    axes[-1].set_xlabel("value of the level, each in its own units")


def draw_gaps(ax: Any, columns: Mapping[str, Sequence[float]]) -> None:
    """Both gaps over time, of which only what is positive and finite can be shown on a logarithmic axis."""
    time = np.asarray(columns["time"], dtype=float)
    for name, colour, style, label in (
        ("lower_gap", BLUE, "o-", "g(x) - g*, at most"),
        ("upper_gap", ORANGE, "s--", "f(x) - f*, at most"),
    ):
        gap = np.asarray(columns[name], dtype=float)
        shown = np.isfinite(gap) & (gap > 0)
        if shown.any():
            ax.plot(time[shown], gap[shown], style, color=colour, markersize=3, label=label)
    if ax.lines:
        ax.set_yscale("log")
        ax.legend()
    else:
        ax.text(0.5, 0.5, "no gap that is positive and finite", ha="center", va="center", transform=ax.transAxes)
    ax.set_xlabel("seconds")
    ax.set_ylabel("proved gap")
    ax.set_title("Proved gaps over time", fontsize="medium", loc="left")
    ax.grid(alpha=0.3)


def draw_progress(ax: Any, runs: Mapping[str, tuple[Any, Any]], title: str) -> None:
    """How near each run is to an optimum over time, on a logarithmic axis: a line each, by colour and mark."""
    for k, (name, (seconds, distance)) in enumerate(runs.items()):
        shown = np.isfinite(distance)
        look = {"color": SEVERAL[k % len(SEVERAL)], "marker": MARKS[k % len(MARKS)]}
        ax.plot(seconds[shown], distance[shown], label=name, markersize=3, linewidth=1.2, **look)
    if any(line.get_xdata().size for line in ax.lines):
        ax.set_yscale("log")
    ax.set_title(title, fontsize="medium", loc="left")
    ax.set_ylabel("distance to the best bound")
    ax.grid(alpha=0.3)
