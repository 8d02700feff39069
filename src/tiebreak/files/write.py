"""The answer on disk: JSON for people and other programs, NPZ for Python."""

from __future__ import annotations

import json
import math
import platform
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from ..disk import write_whole
from ..plan import plan
from ..result import Result
from ..tradeoff import Tradeoff
from .task import Outcome, Task

FORMAT = 1
LIBRARIES = ("tiebreak", "numpy", "scipy", "highspy", "clarabel", "piqp")


def write(task: Task, outcome: Outcome, stem: Path) -> tuple[Path, Path]:
    """Write ``stem``.json and ``stem``.npz, each complete or not at all; returns their paths."""
    as_json, as_npz = paths(stem)
    text = json.dumps(record(task, outcome), indent=1, allow_nan=False) + "\n"
    write_whole(as_json, lambda file: file.write(text.encode()))
    if isinstance(outcome, Result):
        outcome.save(as_npz)
    else:
        write_whole(as_npz, lambda file: np.savez(file, **_arrays(outcome)))
    return as_json, as_npz


def paths(stem: Path) -> tuple[Path, Path]:
    """Where the answer goes."""
    return stem.with_name(stem.name + ".json"), stem.with_name(stem.name + ".npz")


def record(task: Task, outcome: Outcome) -> dict[str, Any]:
    """What the JSON file holds; infinite and undefined numbers are the texts "inf", "-inf" and "nan"."""
    if isinstance(outcome, Result):
        answer = _result(outcome)
        if task.objectives:
            answer["objectives"] = plain(as_stated(task, outcome))
    else:
        names = ("slacks", "f", "f_lower", "f_upper", "multipliers", "proved")
        curve = {name: plain(getattr(outcome, name)) for name in names}
        answer = {"tradeoff": curve, "results": [_result(result) for result in outcome.results]}
    return {
        "format": FORMAT,
        "file": task.file.name,
        **answer,
        "parameters": _parameters(task),
        "limits": plain(task.limits),
        "problem": plain(task.spec),
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in LIBRARIES}},
    }


def as_stated(task: Task, result: Result) -> list[dict[str, Any]]:
    """The levels of a model as it states them: by name, maximised where they are to be maximised; else nothing."""
    both = zip(task.objectives, result.levels, strict=True) if task.objectives else ()
    found = []
    for stated, level in both:
        own = -level if stated.maximise else level
        values = {"value": own.value, "lower": own.lower, "upper": own.upper}
        found.append({"name": stated.name, "sense": "max" if stated.maximise else "min", **values})
    return found


def _result(result: Result) -> dict[str, Any]:
    left_out = ("trace", "state")  # they are in the NPZ file
    return {name: plain(value) for name, value in _fields(result).items() if name not in left_out}


def _parameters(task: Task) -> Any:
    """Those of the method that ran, also where ``auto`` chose it."""
    solver = plan(task.problem, task.method).solver
    return plain({one.name: getattr(solver, one.name) for one in fields(solver) if one.repr})


def _arrays(curve: Tradeoff) -> dict[str, Any]:
    """All that is an array, with one row of x for each slack."""
    found = {name: value for name, value in _fields(curve).items() if isinstance(value, np.ndarray)}
    return {**found, "x": np.array([result.x for result in curve.results])}


def _fields(value: Any) -> dict[str, Any]:
    return {one.name: getattr(value, one.name) for one in fields(value)}


def plain(value: Any) -> Any:
    """The same in JSON's types."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if is_dataclass(value):
        return {"type": type(value).__name__, **{name: plain(item) for name, item in _fields(value).items()}}
    return str(value)  # dates and times of the TOML file


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None
