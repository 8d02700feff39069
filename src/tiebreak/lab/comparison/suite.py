"""All runs of the comparison: each a piece that is kept, so that what was interrupted goes on where it stopped."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

import numpy as np

from ...methods import SOLVERS, Solver
from ..progress import Progress
from ..workshop import Made, Piece, Workshop
from . import families, planted, run, settings
from .run import Record


@dataclass(frozen=True)
class Task:
    """One run: what, and for how long."""

    family: str
    method: str
    setting: str
    seconds: float

    @property
    def piece(self) -> Piece:
        """It is made again when the version of the library or the text of what would be run has changed."""
        sources = [inspect.getmodule(SOLVERS[self.method]), families, planted, run, settings]
        if self.family in families.ADDED:
            sources.append(inspect.getmodule(families.ADDED[self.family]))
        code = "\n".join([version("tiebreak"), version("numpy"), *map(_source, sources)])
        return Piece(f"{self.family}--{self.method}--{self.setting}", perform, asdict(self), code)


def _source(module: ModuleType | None) -> str:
    try:
        return "" if module is None else inspect.getsource(module)
    except (OSError, TypeError):  # a class of a notebook has no file
        return ""


def tasks(
    seconds: float, family_names: Sequence[str] = (), methods: Sequence[str] = (), tuned: bool = True
) -> list[Task]:
    """All runs of the comparison, or of a part of it."""
    _known(family_names, families.FAMILIES, "family")
    _known(methods, SOLVERS, "method")
    return [
        Task(family, method, setting, seconds)
        for family in family_names or families.FAMILIES
        for method in methods or SOLVERS
        for setting in settings.labels(method)[: None if tuned else 1]
    ]


def _known(names: Sequence[str], known: object, what: str) -> None:
    listing = list(known)  # type: ignore[call-overload]
    for name in names:
        if name not in listing:
            raise ValueError(f"unknown {what} {name!r}; available: {', '.join(listing)}")


def perform(family: str, method: str, setting: str, seconds: float) -> dict[str, Any]:
    """A run as arrays, to be kept."""
    try:
        record = run.run(family, method, setting, seconds)
    except Exception as error:  # whatever breaks a method is its result, and must not cost those of the others
        record = Record(status=f"failed: {type(error).__name__}: {error}")
    return {"status": record.status, "looks": np.array(record.looks).reshape(-1, 5)}


def _record(made: Made) -> Record:
    return Record([(int(k), *numbers) for k, *numbers in made["looks"].tolist()], str(made["status"]))


def perform_all(todo: list[Task], folder: Path, jobs: int, show: TextIO | None = None) -> dict[Task, Record]:
    """The records of all tasks; those that are not there yet are run, ``jobs`` at a time, in fresh processes."""
    show = show or sys.stderr
    progress = Progress(show)
    own = {name: families.ADDED[name] for name in dict.fromkeys(task.family for task in todo) if name in families.ADDED}
    workshop = Workshop(folder, jobs, progress.tell, apart=True, begin=partial(_add, _registered(todo), own))
    pieces = {task: task.piece for task in todo}
    missing = len(workshop.missing(pieces.values()))
    show.write(f"{missing} runs to make, {len(todo) - missing} kept from before\n")
    progress.begin("comparison")
    made = workshop.make(pieces.values())
    progress.clear()
    return {task: _record(made[piece.name]) for task, piece in pieces.items()}


def _registered(todo: list[Task]) -> list[type[Solver[Any]]]:
    """The classes that a user has registered for these runs: the workers must know them, too."""
    own = [SOLVERS.added[name] for name in dict.fromkeys(task.method for task in todo) if name in SOLVERS.added]
    for cls in own:
        if cls.__module__ == "__main__" and not hasattr(sys.modules["__main__"], "__file__"):
            raise ValueError(f"{cls.__name__} runs in other processes: put it into a file, and import it")
    return own


def _add(own: list[type[Solver[Any]]], added: dict[str, Callable[[], families.Family]]) -> None:
    for cls in own:
        SOLVERS.add(cls)
    families.FAMILIES.update(added)
