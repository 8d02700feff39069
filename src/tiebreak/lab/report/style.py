"""How a curve looks, on paper and on the page: colour, dash and marker differ, so that it reads without colour."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..reproduce.outcome import Outcome, Panel

COLORS = (
    ("#0072b2", "#4aa8e0"),
    ("#d55e00", "#f08a4b"),
    ("#007a58", "#2fbf94"),
    ("#a8538a", "#d990bd"),
    ("#b07a00", "#e0aa33"),
    ("#4f4fc4", "#9c9cf0"),
    ("#8c564b", "#c79a8f"),
    ("#5f6b76", "#a9b4be"),
)
"""Of the runs, on light and on dark ground: the order of Okabe and Ito's palette, darkened where white swallows it."""

DASHES = ((), (7, 3), (2, 2.5), (9, 3, 2, 3), (14, 4), (4, 2, 1.5, 2))
MARKERS = ("circle", "square", "triangle", "diamond", "cross", "plus", "down", "ring")


@dataclass(frozen=True)
class Style:
    """``color`` is a place in COLORS, None the ink of the page; ``faint`` halves it."""

    color: int | None = None
    dash: tuple[float, ...] = ()
    marker: str | None = None
    width: float = 1.6
    faint: bool = False


def styles(outcome: Outcome) -> dict[tuple[str, str], Style]:
    """The style of every (role, label): a method looks the same in all panels of an experiment.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.lab.reproduce.outcome import Curve, Outcome, Panel
    >>> line = np.arange(2.0)
    >>> curves = (Curve("a", {"k": line}, line), Curve("b", {"k": line}, line, "bound"))
    >>> given = styles(Outcome("n", "t", (), (), (Panel("p", "p", "y", curves),)))
    >>> given["run", "a"].marker, given["bound", "b"].marker
    ('circle', None)
    """
    found: dict[tuple[str, str], Style] = {}
    counts = {"run": 0, "bound": 0, "shape": 0, "truth": 0}
    for panel in outcome.panels:
        for before, curve in zip((None, *panel.curves), panel.curves, strict=False):
            if (curve.role, curve.label) not in found:
                style = _style(curve.role, counts[curve.role])
                if before is not None and curve.role == "bound" and _in_pairs(panel):
                    style = replace(style, color=found[before.role, before.label].color)
                found[curve.role, curve.label] = style
                counts[curve.role] += 1
    return found


def _in_pairs(panel: Panel) -> bool:
    """Whether every run is followed by its bound, which then has its colour."""
    roles = [curve.role for curve in panel.curves]
    return len(roles) > 2 and roles == ["run", "bound"] * (len(roles) // 2)


def _style(role: str, i: int) -> Style:
    if role == "run":
        again = i // len(COLORS)  # the ninth run has the first one's colour, but another dash and marker
        return Style(i % len(COLORS), DASHES[(i + again) % len(DASHES)], MARKERS[(i + again) % len(MARKERS)])
    if role == "bound":
        return Style(None, DASHES[1 + i % (len(DASHES) - 1)], width=2.2)
    if role == "shape":
        return Style(None, ((), DASHES[1], ())[i % 3], width=(1.2, 0.8, 4.5)[i % 3], faint=True)
    return Style(None, DASHES[2 + i % 3], "star", width=1.4)
