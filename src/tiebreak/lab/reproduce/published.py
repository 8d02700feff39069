"""The authors' published curves, read point by point off their figures, where a folder with them is at hand."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np

from .outcome import PUBLISHED, Curve, Panel

NAMES = {"FW (w/o cutting plane)": "CG without cut"}
"""What a series of theirs is called here, where the names differ."""


def published(folder: Path | None, figure: str, axis: str = "seconds") -> tuple[Curve, ...]:
    """The curves of ``curves/<figure>.csv`` (series, x, y) in the folder; none where the file is not there.

    Examples
    --------
    >>> published(None, "fair_upper")
    ()
    """
    path = None if folder is None else folder / "curves" / f"{figure}.csv"
    if path is None or not path.is_file():
        return ()
    points: dict[str, list[tuple[float, float]]] = defaultdict(list)
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            points[row["series"]].append((float(row["x"]), float(row["y"])))
    curves = []
    for series, rows in points.items():
        x, y = np.array(rows).T
        curves.append(Curve(NAMES.get(series, series) + PUBLISHED, {axis: x}, y, "published"))
    return tuple(curves)


def overlaid(panel: Panel, folder: Path | None, figure: str, note: str, axis: str = "seconds") -> Panel:
    """The panel with the published curves in the colours of its runs, and a caption that says what they are."""
    curves = published(folder, figure, axis)
    if not curves:
        where = "The published curves are not at hand (option --data); where they end is in the table."
        return replace(panel, caption=f"{panel.caption} {where}".strip())
    return replace(panel, curves=(*panel.curves, *curves), caption=f"{panel.caption} Dotted: {note}".strip())
