"""What all runs showed, in one small file: the page and the profiles are made from it and from nothing else."""

from __future__ import annotations

import json
import math
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from .families import FAMILIES
from .run import ACCURACIES, Record
from .suite import Task

What = Literal["seconds", "calls"]
Tuning = Literal["default", "tuned"]


class Hit(NamedTuple):
    """What it took to reach an accuracy, and whether the run still had it at its end."""

    seconds: float
    calls: float
    lasted: bool


class Row(NamedTuple):
    """One run: how it ended ("reached", "time", "done", "not applicable", "failed"), and its hits."""

    setting: str
    status: str
    hits: list[Hit | None]


@dataclass(frozen=True)
class Results:
    """All rows, by family and method; the first row of each is that of the defaults."""

    about: dict[str, Any]
    titles: dict[str, str]
    rows: dict[str, dict[str, list[Row]]]

    @property
    def methods(self) -> list[str]:
        """In the order of the table of methods."""
        return list(next(iter(self.rows.values())))

    def applies(self, method: str, family: str) -> bool:
        """Whether the method takes problems of this family."""
        return self.rows[family][method][0].status not in ("not applicable", "not run")

    def cost(self, family: str, method: str, accuracy: float, tuning: Tuning, what: What = "seconds") -> float:
        """The least cost among the settings allowed; infinite where none got there."""
        rows = self.rows[family][method][: 1 if tuning == "default" else None]
        hits = [row.hits[ACCURACIES.index(accuracy)] for row in rows]
        return min((getattr(hit, what) for hit in hits if hit is not None), default=math.inf)

    def costs(self, accuracy: float, tuning: Tuning, what: What = "seconds") -> dict[str, list[float]]:
        """For the profiles. Methods that work on the data call no oracles and are left out where these are counted."""
        found = {
            method: [self.cost(family, method, accuracy, tuning, what) for family in self.rows]
            for method in self.methods
        }
        return found if what == "seconds" else {m: row for m, row in found.items() if 0.0 not in row}

    def solved(self, method: str, accuracy: float, tuning: Tuning) -> int:
        """On how many families the accuracy was reached."""
        return sum(math.isfinite(self.cost(family, method, accuracy, tuning)) for family in self.rows)

    def to_json(self) -> str:
        """One run a line."""
        runs = [
            json.dumps([family, method, *row], separators=(",", ":"))
            for family, methods in self.rows.items()
            for method, rows in methods.items()
            for row in rows
        ]
        head = json.dumps({"about": self.about, "families": self.titles}, indent=1)
        return head.removesuffix("\n}") + ',\n "runs": [\n' + ",\n".join(runs) + "\n]}\n"

    @classmethod
    def from_json(cls, text: str) -> Results:
        """What ``to_json`` wrote."""
        kept = json.loads(text)
        rows: dict[str, dict[str, list[Row]]] = {}
        for family, method, setting, status, hits in kept["runs"]:
            row = Row(setting, status, [None if hit is None else Hit(*hit) for hit in hits])
            rows.setdefault(family, {}).setdefault(method, []).append(row)
        return cls(kept["about"], kept["families"], rows)

    @classmethod
    def load(cls, path: Path) -> Results:
        """From a file."""
        return cls.from_json(path.read_text())


def yardstick() -> float:
    """Processor seconds of a fixed piece of work, products and plain Python: how fast this machine is, more or less."""
    matrix, vector = np.cos(np.arange(90_000.0)).reshape(300, 300), np.ones(300)

    def work() -> float:
        before, x = time.process_time(), vector
        for k in range(400):
            x = matrix @ x
            x = x / max(abs(float(x[k % 300])), 1.0)
        return time.process_time() - before

    return min(work() for _ in range(5))


def _short(seconds: float, calls: float, lasted: bool) -> Hit:
    """To four digits: more would only be noise in the file."""
    return Hit(float(f"{seconds:.4g}"), float(f"{calls:.4g}"), lasted)


def summary(records: Mapping[Task, Record]) -> Results:
    """The rows of all records."""
    rows: dict[str, dict[str, list[Row]]] = {}
    for task, record in records.items():
        hits = [None if hit is None else _short(*hit) for hit in record.reached(task.seconds)]
        row = Row(task.setting, record.status.split(":")[0], hits)
        rows.setdefault(task.family, {}).setdefault(task.method, []).append(row)
    about = {
        "schema": 2,
        "yardstick": float(f"{yardstick():.3g}"),
        "seconds": next(iter(records)).seconds,
        "accuracies": list(ACCURACIES),
        "clock": "processor time, one thread",
        "python": platform.python_version(),
        **{package: version(package) for package in ("tiebreak", "numpy", "scipy")},
    }
    return Results(about, {name: FAMILIES[name]().title for name in rows}, rows)
