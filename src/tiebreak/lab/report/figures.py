"""The figures of an outcome as PNG and SVG files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Vector
from ..reproduce.outcome import Panel
from .files import axes_of
from .style import COLORS, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKS = {
    "circle": "o",
    "square": "s",
    "triangle": "^",
    "diamond": "D",
    "cross": "x",
    "plus": "+",
    "down": "v",
    "ring": "o",
    "star": "*",
}
INK = "#1b1f24"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "tiebreak", "font.size": 9.0}
"""Text stays text (small files); element names, and so bytes, do not change from run to run."""


def write_figure(panel: Panel, styles: dict[tuple[str, str], Style], stem: Path) -> str:
    """Write ``stem``.png and ``stem``.svg; returns the SVG."""
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'tiebreak[report]'") from error
    with rc_context(SETTINGS):
        legend = 0.2 * -(-len(panel.curves) // 2)  # inches, below everything
        height = 3.9 + legend
        figure = Figure(figsize=(6.2, height), dpi=150)
        axes = figure.add_axes((0.13, (0.58 + legend) / height, 0.84, 2.95 / height))
        figure.text(0.55, 1 - 0.2 / height, _text(panel.title), ha="center", va="center", fontsize=10)
        handles = _draw(panel, styles, axes)
        labels = [_text(curve.label) for curve in panel.curves]
        figure.legend(handles, labels, loc="lower center", ncols=2, frameon=False, handlelength=4, labelspacing=0.3)
        # Not savefig, which lays everything out a second time: half of the time of a quick run went there.
        png: Any = FigureCanvasAgg(figure)
        png.print_png(stem.with_name(stem.name + ".png"), metadata={"Software": None})
        target = stem.with_name(stem.name + ".svg")
        svg: Any = FigureCanvasSVG(figure)
        svg.print_svg(target, metadata={"Date": None, "Creator": None})
    return target.read_text(encoding="utf-8")


def shown(values: Vector, log: bool) -> Vector:
    """What can be drawn: gaps instead of the infinite, and of what a logarithm does not take."""
    values = np.asarray(values, float)
    return np.where(np.isfinite(values) & ((values > 0) | (not log)), values, np.nan)


def _draw(panel: Panel, styles: dict[tuple[str, str], Style], axes: Axes) -> list[Any]:
    from matplotlib.ticker import FuncFormatter, NullLocator

    axis = axes_of(panel)[0] if panel.curves else ""
    curves = [curve for curve in panel.curves if axis in curve.x]
    log_y = panel.log and any((np.asarray(curve.y) > 0).any() for curve in curves)
    log_x = panel.log_x and any((np.asarray(curve.x[axis]) > 0).any() for curve in curves)
    axes.set_xscale("log" if log_x else "linear")
    axes.set_yscale("log" if log_y else "linear")
    handles: list[Any] = []
    for curve in panel.curves:
        style = styles[curve.role, curve.label]
        x = shown(curve.x[axis], log_x) if axis in curve.x else np.zeros(0)
        y = shown(curve.y, log_y)[: x.size]
        color = INK if style.color is None else COLORS[style.color][0]
        if curve.role == "shape" and closed(x, y):
            axes.fill(x, y, color=color, alpha=0.06, linewidth=0)
        handles += axes.plot(
            x,
            y,
            color=color,
            alpha=0.55 if style.faint else 1.0,
            linewidth=style.width,
            linestyle="none" if x.size == 1 else (0, style.dash or None),
            marker=MARKS[style.marker] if style.marker and not (curve.role == "truth" and x.size > 1) else None,
            markersize=12 if style.marker == "star" else 5,
            markerfacecolor="white" if style.marker == "ring" else color,
            markevery=None if np.isfinite(x + y).sum() <= 25 else (0.03 * (len(handles) % 4), 0.12),
        )
    if panel.window is not None:
        axes.set(xlim=panel.window[:2], ylim=panel.window[2:])
    if panel.equal_axes:
        _equal(axes)
    axes.grid(visible=True, color="#d5d9de", linewidth=0.5)
    for scale, side, limits in (
        (log_x, axes.xaxis, axes.get_xlim()),
        (log_y, axes.yaxis, axes.get_ylim()),
    ):
        if scale and limits[1] / limits[0] > 16:  # within a decade matplotlib's own ticks say more
            side.set_minor_locator(NullLocator())
            side.set_major_formatter(FuncFormatter(power_of_ten))
    # Fixed, as looking for a place between the labels of the ticks takes a third of the time.
    axes.xaxis.set_label_coords(0.5, -0.12)
    axes.yaxis.set_label_coords(-0.11, 0.5)
    axes.set_xlabel(_text(axis))
    axes.set_ylabel(_text(panel.y_label))
    return handles


def _equal(axes: Axes) -> None:
    """One scale on both axes: the window grows on the side that has room."""
    (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
    width, height = axes.get_window_extent().size
    scale = max((x1 - x0) / width, (y1 - y0) / height)
    more_x, more_y = (scale * width - (x1 - x0)) / 2, (scale * height - (y1 - y0)) / 2
    axes.set(xlim=(x0 - more_x, x1 + more_x), ylim=(y0 - more_y, y1 + more_y))


def power_of_ten(value: float, _: int | None = None) -> str:
    """A tick of a log axis, in plain characters: setting formulas takes longer than all the rest.

    Examples
    --------
    >>> power_of_ten(1e-12), power_of_ten(100.0)
    ('10⁻¹²', '10²')
    """
    return "10" + str(round(math.log10(value))).translate(SUPERSCRIPTS)


def closed(x: Vector, y: Vector) -> bool:
    """Whether a curve ends where it begins."""
    return x.size > 2 and bool(x[0] == x[-1] and y[0] == y[-1])


def _text(label: str) -> str:
    """A label as it is: a dollar sign begins no formula, a leading underscore hides nothing."""
    return ("\u200a" if label.startswith("_") else "") + label.replace("$", r"\$")
