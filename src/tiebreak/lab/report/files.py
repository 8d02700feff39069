"""What an outcome leaves on disk besides its pictures: a CSV for each panel and for the margins, a JSON of the rest."""

from __future__ import annotations

import csv
import json
import math
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from ..reproduce.evidence import RULE
from ..reproduce.outcome import Decided, Outcome, Panel

MARGINS = "verdicts.csv"
PACKAGES = ("tiebreak", "numpy", "scipy", "highspy", "clarabel", "piqp", "numba", "scikit-learn", "matplotlib")


def file_names(outcome: Outcome) -> list[str]:
    """One for each panel, without ending; whatever a panel is called, it stays in its folder."""
    names = [re.sub(r"[^A-Za-z0-9_-]+", "-", panel.name).strip("-") or "panel" for panel in outcome.panels]
    if len(set(names)) < len(names):
        raise ValueError(f"the panels of {outcome.name!r} must have different names, got {names}")
    return names


def axes_of(panel: Panel) -> list[str]:
    """The horizontal axes, in the order of the curves."""
    return list(dict.fromkeys(axis for curve in panel.curves for axis in curve.x))


def check(panel: Panel) -> None:
    """Every curve has as many values as places."""
    for curve in panel.curves:
        for axis, places in curve.x.items():
            if np.shape(places) != np.shape(curve.y) or np.ndim(curve.y) != 1:
                raise ValueError(
                    f"panel {panel.name!r}, curve {curve.label!r}: {np.shape(curve.y)} values "
                    f"against {np.shape(places)} on the axis {axis!r}"
                )


def write_csv(panel: Panel, path: Path) -> None:
    """Curve, role, one column for each axis (empty where the curve has none), the value; numbers read back the same."""
    axes = axes_of(panel)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["curve", "role", *axes, panel.y_label])
        for curve in panel.curves:
            columns = [np.asarray(curve.x[axis], float).tolist() if axis in curve.x else None for axis in axes]
            for i, value in enumerate(np.asarray(curve.y, float).tolist()):
                places = ["" if column is None else repr(column[i]) for column in columns]
                writer.writerow([curve.label, curve.role, *places, repr(value)])


def write_json(outcome: Outcome, path: Path, made: str) -> None:
    """Parameters, versions, seed, verdicts and tables; not-a-number and infinity as text, as JSON has none."""
    names = file_names(outcome)
    content = {
        "experiment": outcome.name,
        "title": outcome.title,
        "made": made,
        "size": outcome.size,
        "seed": outcome.seed,
        "versions": versions(),
        "parameters": outcome.parameters,
        "rule": RULE,
        "claims": [_decided(claim) for claim in outcome.claims],
        "differences": [asdict(difference) for difference in outcome.differences],
        "additions": [_decided(addition) for addition in outcome.additions],
        "story": outcome.story,
        "tables": [asdict(table) for table in outcome.tables],
        "figures": [
            {"title": panel.title, "files": [f"{name}.{end}" for end in ("png", "svg", "csv")]}
            for name, panel in zip(names, outcome.panels, strict=True)
        ],
    }
    path.write_text(json.dumps(plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _decided(one: Decided) -> dict[str, Any]:
    """With the verdict and its reason, which follow from the evidence."""
    return {**asdict(one), "holds": one.holds, "why": one.why}


def write_margins(outcome: Outcome, path: Path) -> None:
    """What every verdict rests on: one row a seed or instance, a positive margin where the sentence is true."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["table", "number", "sentence", "kind", "instance", "margin"])
        for table, found in (("claims", outcome.claims), ("additions", outcome.additions)):
            for number, one in enumerate(found, start=1):
                said = one.sentence
                for instance, margin in enumerate(one.evidence.margins):
                    writer.writerow([table, number, said, one.evidence.kind, instance, repr(margin)])


def versions() -> dict[str, str]:
    """Of Python and of the packages that can change a number."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def plain(value: Any) -> Any:
    """The same in what JSON knows.

    Examples
    --------
    >>> plain({"a": np.float64("inf"), 2: (np.arange(2), Path("x"))})
    {'a': 'inf', '2': [[0, 1], 'x']}
    """
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    return str(value)
