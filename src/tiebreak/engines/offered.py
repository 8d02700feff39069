"""The engines, each with its question and its way to solve: their folders are loaded when they are asked.

The question of each is in a light file, so that asking all of them loads none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

from ..arrays import Vector
from ..objectives.base import Objective
from ..problem import Problem
from .answer import Answer, of_all
from .task import Task


@runtime_checkable
class Steered(Protocol):
    """A minimiser that can say for which multiplier another function will have a given value."""

    def __call__(self, objective: Objective) -> Answer:
        """The answer for this objective."""

    def meeting(self, f: Objective, g: Objective, most: float, x: Vector, lam: float) -> float:
        """About the lam at which the minimiser of f + lam g has g = most, from an x for another one; nan if unknown."""


@dataclass(frozen=True)
class Engine:
    """A way to solve tasks exactly.

    Attributes
    ----------
    name : str
        In words.
    refuses : callable
        ``refuses(task)``: empty where the engine takes the task, else the reason why not.
    solve : callable
        ``solve(task, patient)``: an answer for each level; that of the last one proves the task. One that is not
        ``patient`` may raise ``Elsewhere`` where the task turns out to be one for another engine.
    minimiser : callable
        ``minimiser(task)``: a function that minimises any objective after all levels of the task, so that its answer's
        f is that objective. What it has found for one may help with the next.
    """

    name: str
    refuses: Callable[[Task], str]
    solve: Callable[[Task, bool], list[Answer]]
    minimiser: Callable[[Task], Callable[[Objective], Answer]]
    certain: bool = True
    """Whether it mostly ends with a proof; where not, a method is to go on from what it has found."""
    sharp_minima: bool = False
    """Whether its ``minimiser`` proves minima over the domain to more digits than bounds in double precision can."""


def _rows_refuse(task: Task) -> str:
    from .rows.refuses import rows_apply

    return rows_apply(task.levels, task.domain)


def _rows_solve(task: Task, patient: bool = True) -> list[Answer]:
    from .rows.solve import solve_rows

    return solve_rows(task.levels, task.domain)


def _minimiser_by(solve: Callable[[Task, bool], list[Answer]], task: Task) -> Callable[[Objective], Answer]:
    def minimise(objective: Objective) -> Answer:
        return of_all(solve(Task((*task.levels, objective), task.domain), True))

    return minimise


def _columns_refuse(task: Task) -> str:
    from .columns.refuses import columns_apply, vertices_pay

    if len(task.levels) <= 2 and task.domain.rows is not None and not vertices_pay(task.domain):
        return f"{task.domain!r} has rows, and too many vertices"
    return columns_apply(task.levels, task.domain)


def _columns_solve(task: Task, patient: bool = True) -> list[Answer]:
    from .columns.solve import solve_columns

    return [solve_columns(_two_levels(task), patient=patient)]


def _two_levels(task: Task) -> Problem:
    """The task as a problem; a single level is minimised over its own minimisers."""
    return Problem(task.levels[-1], task.levels[0], task.domain)


def _columns_minimiser(task: Task) -> Callable[[Objective], Answer]:
    from .columns.solve import minimiser

    return minimiser(task.domain)


def _smooth_refuse(task: Task) -> str:
    from .smooth.refuses import smooth_apply

    return smooth_apply(task.levels, task.domain)


def _smooth_solve(task: Task, patient: bool = True) -> list[Answer]:
    from .smooth.solve import solve_smooth_chain

    return solve_smooth_chain(task.levels, task.domain)


def _cones_refuse(task: Task) -> str:
    from .cones.refuses import cones_apply

    return cones_apply(task.levels, task.domain)


def _cones_solve(task: Task, patient: bool = True) -> list[Answer]:
    from .cones.solve import solve_cones

    return [solve_cones(task.levels, task.domain)]


def _cones_minimiser(task: Task) -> Callable[[Objective], Answer]:
    from .cones.solve import Minimiser

    return Minimiser(task.domain)


def _conic_refuse(task: Task) -> str:
    from .conic.refuses import conic_applies

    return conic_applies(task.levels, task.domain)


def _conic_solve(task: Task, patient: bool = True) -> list[Answer]:
    from .conic.solve import solve_conic

    return solve_conic(task.levels, task.domain)


def _chunks_refuse(task: Task) -> str:
    from .chunked.refuses import chunks_apply

    return chunks_apply(task.levels, task.domain)


def _chunks_solve(task: Task, patient: bool = True) -> list[Answer]:
    from .chunked.solve import solve_chunks

    return [solve_chunks(task.levels, task.domain)]


CHUNKS = Engine("chunks", _chunks_refuse, _chunks_solve, partial(_minimiser_by, _chunks_solve), certain=False)
ROWS = Engine("rows", _rows_refuse, _rows_solve, partial(_minimiser_by, _rows_solve))
SMOOTH = Engine("smooth", _smooth_refuse, _smooth_solve, partial(_minimiser_by, _smooth_solve))
COLUMNS = Engine("columns", _columns_refuse, _columns_solve, _columns_minimiser)
CONIC = Engine("conic", _conic_refuse, _conic_solve, partial(_minimiser_by, _conic_solve), certain=False)
CONES = Engine("cones", _cones_refuse, _cones_solve, _cones_minimiser, certain=False, sharp_minima=True)
