"""How a curve looks, on paper and on the page: colour, dash and marker differ, so that it reads without colour."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count

from ..reproduce.outcome import PUBLISHED, Outcome, Panel

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


METHODS = ("cg-bio", "big-sam", "a-irg", "dbgd", "mng", "apdb", "cg without cut", "tseng")
"""Each has the colour of its place in every figure of every experiment."""


def styles(outcome: Outcome) -> dict[tuple[str, str], Style]:
    """The style of every (role, label): a method looks the same in all panels, a published curve like its run.

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
    labels = [curve.label for panel in outcome.panels for curve in panel.curves if curve.role == "run"]
    found |= {("run", label): _run(place) for label, place in _places(dict.fromkeys(labels)).items()}
    counts = {"bound": 0, "shape": 0, "truth": 0}
    for panel in outcome.panels:
        for before, curve in zip((None, *panel.curves), panel.curves, strict=False):
            if (curve.role, curve.label) in found:
                continue
            if curve.role == "published":
                found[curve.role, curve.label] = _published(curve.label.removesuffix(PUBLISHED), found)
                continue
            style = _style(curve.role, counts[curve.role])
            if before is not None and curve.role == "bound" and _in_pairs(panel):
                style = replace(style, color=found[before.role, before.label].color)
            found[curve.role, curve.label] = style
            counts[curve.role] += 1
    return found


def _places(labels: Iterable[str]) -> dict[str, int]:
    """A method its own place, whatever else is drawn; the others the places that are left, in their order."""
    labels = list(labels)
    taken: dict[str, int] = {}
    for label in labels:
        name = re.split(r",| from | \(", label)[0].lower()
        if name in METHODS and METHODS.index(name) not in taken.values():
            taken[label] = METHODS.index(name)
    left = (place for place in count() if place not in set(taken.values()))
    return {label: taken[label] if label in taken else next(left) for label in labels}


def _published(name: str, found: dict[tuple[str, str], Style]) -> Style:
    """Thin dots in the colour of the run, or of the first whose label begins with the name."""
    run = next((style for (role, label), style in found.items() if role == "run" and label.startswith(name)), Style())
    return Style(run.color, (1.5, 2.5), width=1.3, faint=True)


def _in_pairs(panel: Panel) -> bool:
    """Whether every run is followed by its bound, which then has its colour."""
    roles = [curve.role for curve in panel.curves]
    return len(roles) > 2 and roles == ["run", "bound"] * (len(roles) // 2)


def _run(i: int) -> Style:
    again = i // len(COLORS)  # the ninth run has the first one's colour, but another dash and marker
    return Style(i % len(COLORS), DASHES[(i + again) % len(DASHES)], MARKERS[(i + again) % len(MARKERS)])


def _style(role: str, i: int) -> Style:
    if role == "bound":
        return Style(None, DASHES[1 + i % (len(DASHES) - 1)], width=2.2)
    if role == "shape":
        return Style(None, ((), DASHES[1], ())[i % 3], width=(1.2, 0.8, 4.5)[i % 3], faint=True)
    return Style(None, DASHES[2 + i % 3], "star", width=1.4)
