"""Which engine takes a chain of levels over a domain, through which reductions, and why the others do not.

Every question is asked here, once, and the answers are kept: ``tiebreak.plan`` shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from logging import getLogger
from typing import Protocol

import numpy as np

from ..arrays import Vector
from ..objectives.base import Objective
from ..problem import Problem
from ..sets.base import Domain
from .answer import Answer, Elsewhere, Unbounded
from .interrupt import OutOfTime, keeping, levels_kept

logger = getLogger("tiebreak")

NARROW = 1e-9
"""Brackets up to this width, relative to 1 + |f|, are not worth another try."""


@dataclass(frozen=True)
class Task:
    """What an engine is asked: levels, the most important first, over a domain."""

    levels: tuple[Objective, ...]
    domain: Domain


class Reduction(Protocol):
    """The same task said in another way."""

    @property
    def name(self) -> str:
        """In words."""

    @property
    def original(self) -> Task:
        """The task it was made from."""

    @property
    def task(self) -> Task:
        """The reduced task."""

    def invert(self, answer: Answer) -> Answer:
        """The answer to the task it was made from."""

    def point(self, x: Vector) -> Vector:
        """The point that one of the reduced task stands for."""


@dataclass(frozen=True)
class Recognised:
    """The same domain under a name that says more of it."""

    original: Task
    task: Task

    @property
    def name(self) -> str:
        """In words."""
        return f"{self.original.domain!r} as the {self.task.domain!r} it is"

    def invert(self, answer: Answer) -> Answer:
        """The same answer; multipliers are those of other rows."""
        return replace(answer, duals=())

    def point(self, x: Vector) -> Vector:
        """The same point."""
        return x


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


@dataclass(frozen=True)
class Choice:
    """An engine and the task it gets; without an engine, only reasons why there is none.

    ``instead`` makes the way to go where this one does not lead to the answer, or not soon, and ``at_last`` another one
    where brackets are still wide: asked only then.
    """

    task: Task
    engine: Engine | None = None
    reductions: tuple[Reduction, ...] = ()
    refusals: dict[str, str] = field(default_factory=dict)
    instead: Callable[[], Choice | None] | None = field(default=None, repr=False, compare=False)
    at_last: Callable[[], Choice | None] | None = field(default=None, repr=False, compare=False)

    @property
    def why_not(self) -> str:
        """Empty where there is an engine, else why there is none: what each of them said, that of all of them once."""
        said: dict[str, list[str]] = {}
        only = set(self.refusals) - ({"columns"} if len(self.task.levels) > 2 else set())  # they take two levels
        for name, why in self.refusals.items():
            if not self.engine and (name in only or name == "exact"):
                said.setdefault(why, []).append(name)
        if len(said) < 2:
            return next(iter(said), "")
        return "; ".join(f"by {name}: {why}" for why, (name, *_) in said.items())

    def solve(self) -> Answer:
        """The answer in terms of the task that was asked, with a bracket for each level."""
        try:
            answer = self._solve(patient=self.instead is None)
        except Elsewhere as why:
            if self.instead is None:
                raise
            logger.info("not by %s, as %s", self.way, why)
            return (self.otherwise or replace(self, instead=None)).solve()
        for other in (lambda: self.otherwise, self.at_last):
            if answer.width <= NARROW or other is None or (way := other()) is None:
                continue
            try:
                with keeping(lambda known=answer: known):  # type: ignore[misc]
                    found = way._solve(patient=False)
            except (Elsewhere, OutOfTime):
                continue
            answer = _joined(found, answer) if found.width < 0.5 * answer.width else _joined(answer, found)
        return answer

    def _solve(self, patient: bool) -> Answer:
        assert self.engine is not None
        reduced = self.reduced
        try:
            answers = self.engine.solve(reduced, patient)
        except (OutOfTime, KeyboardInterrupt) as stop:
            if finished := levels_kept(stop):
                partial = _unfinished(finished, reduced.levels)
                stop.partial = replace(partial, x=self.point(partial.x))  # type: ignore[union-attr]
            raise
        except Unbounded as stop:
            self.take_back(stop)
            raise
        last = answers[-1]
        if len(answers) == len(reduced.levels):
            last = _of_all(answers)
        return self.inverted(last)

    def take_back(self, stop: Unbounded) -> None:
        """What is known of a level without a minimum, in terms of the task that was asked."""
        levels, here = self.reduced.levels, self.point(stop.point)
        stop.ray = self.point(stop.point + stop.ray) - here
        nothing = Answer(here, -np.inf, np.inf, -np.inf, np.inf)
        partial = _unfinished(stop.finished, levels) if stop.finished else replace(nothing, notes=_no_levels(levels))
        stop.point, stop.partial = here, replace(partial, x=here)

    def after(self, step: Reduction) -> Choice:
        """The choice for the task that the reduction was made from."""
        return replace(
            self,
            task=step.original,
            reductions=(step, *self.reductions),
            instead=self.instead and (lambda: self.otherwise and self.otherwise.after(step)),
            at_last=self.at_last and (lambda: self.at_last and (last := self.at_last()) and last.after(step)),
        )

    @cached_property
    def otherwise(self) -> Choice | None:
        """The way to go where this one does not lead to the answer, or not soon; None where there is none."""
        return self.instead and self.instead()

    @property
    def way(self) -> str:
        """Engine and reductions, in words."""
        assert self.engine is not None
        return ", ".join((self.engine.name, *(reduction.name for reduction in self.reductions)))

    @property
    def reduced(self) -> Task:
        """The task that the engine gets."""
        return self.reductions[-1].task if self.reductions else self.task

    def inverted(self, answer: Answer) -> Answer:
        """An answer to the reduced task as one to the task that was asked."""
        for reduction in reversed(self.reductions):
            answer = reduction.invert(answer)
        return answer

    def point(self, x: Vector) -> Vector:
        """A point of the reduced task as one of the task that was asked."""
        for reduction in reversed(self.reductions):
            x = reduction.point(x)
        return x


def _of_all(answers: Sequence[Answer]) -> Answer:
    """The last answer of a chain, with the brackets and multipliers of all."""
    brackets = tuple((answer.f_lower, answer.f_upper) for answer in answers)
    return replace(answers[-1], brackets=brackets, duals=tuple(answer.own_duals for answer in answers))


def _joined(best: Answer, other: Answer) -> Answer:
    """The first answer, with what both prove: two brackets around one number both hold it."""
    lower, upper = max(best.f_lower, other.f_lower), min(best.f_upper, other.f_upper)
    g_lower, g_upper = max(best.g_lower, other.g_lower), min(best.g_upper, other.g_upper)
    if lower > upper or g_lower > g_upper:  # by the rounding that one of them takes for granted
        return best
    brackets = best.brackets and (*best.brackets[:-2], (g_lower, g_upper), (lower, upper))
    return replace(
        best,
        g_lower=g_lower,
        g_upper=g_upper,
        f_lower=lower,
        f_upper=upper,
        lower_unique=other.lower_unique if best.lower_unique is None else best.lower_unique,
        upper_constant=best.upper_constant or other.upper_constant,
        assumes=tuple(dict.fromkeys(best.assumes + other.assumes)),
        brackets=brackets,
    )


def _unfinished(finished: Sequence[Answer], levels: Sequence[Objective]) -> Answer:
    """What is known of a chain whose first levels are solved: some solution of those, and brackets for all."""
    last = finished[-1]
    brackets = [(answer.f_lower, answer.f_upper) for answer in finished]
    brackets += [(level.lower_bound, np.inf) for level in levels[len(finished) :]]
    (g_lower, g_upper), (f_lower, f_upper) = brackets[-2:] if len(brackets) > 1 else brackets * 2
    notes = (*last.notes, f"stopped after {len(finished)} of {len(levels)} levels")
    return Answer(
        last.x, g_lower, g_upper, f_lower, f_upper, well_posed=False, notes=notes, assumes=last.assumes,
        brackets=tuple(brackets),
    )  # fmt: skip


def _no_levels(levels: Sequence[Objective]) -> tuple[str, ...]:
    return (f"stopped after none of {len(levels)} levels",) if len(levels) > 1 else ()


# -- the engines ---------------------------------------------------------------------------------------------------


def _rows_refuse(task: Task) -> str:
    from .rows.refuses import rows_apply

    return rows_apply(task.levels, task.domain)


def _rows_solve(task: Task, patient: bool = True) -> list[Answer]:
    from .rows.solve import solve_rows

    return solve_rows(task.levels, task.domain)


def _minimiser_by(solve: Callable[[Task, bool], list[Answer]], task: Task) -> Callable[[Objective], Answer]:
    def minimise(objective: Objective) -> Answer:
        return _of_all(solve(Task((*task.levels, objective), task.domain), True))

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
    from .cones.solve import minimiser

    return minimiser(task.domain)


def _conic_refuse(task: Task) -> str:
    from .conic.refuses import conic_applies

    return conic_applies(task.levels, task.domain)


def _conic_solve(task: Task, patient: bool = True) -> list[Answer]:
    from .conic.solve import solve_conic

    return solve_conic(task.levels, task.domain)


def _chunks_refuse(task: Task) -> str:
    from .chunked.solve import chunks_apply

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


# -- the choice ----------------------------------------------------------------------------------------------------


def choose_engine(problem: Problem) -> Choice:
    """The engine for a problem, with its reductions; or why there is none."""
    task = Task(problem.levels, problem.domain)
    if any(part.chunked is not None for level in task.levels for _, part in level.parts):
        return _by_chunks(task, problem.slack > 0 or problem.relative_slack > 0)
    if not problem.upper.convex and (why := _why_not_constant(problem)):
        sloping = bool(problem.slack or problem.relative_slack)
        return Choice(task, refusals={"exact": why}) if sloping else _explicit(task, why)
    recognised = Task(task.levels, task.domain.recognised)
    if recognised.domain is task.domain:
        return _chosen(task)
    return _chosen(recognised).after(Recognised(task, recognised))


def _by_chunks(task: Task, slack: bool) -> Choice:
    """Data in chunks have one engine, which asks the others for what it makes small."""
    why = "with slack, data in chunks are left to first-order methods" if slack else CHUNKS.refuses(task)
    return Choice(task, refusals={"exact": why}) if why else Choice(task, CHUNKS)


def _why_not_constant(problem: Problem) -> str:
    """Empty where an upper level that is not convex has no say, else why there is no exact method."""
    from .smooth.refuses import why_not_constant

    if problem.slack or problem.relative_slack:
        return "the upper level is not convex"
    return why_not_constant(problem.levels) and "the upper level is not convex"


def _explicit(task: Task, why: str) -> Choice:
    """Steps over the lower solutions, where an engine minimises linear and quadratic functions over them."""
    from ..objectives.linear import SquaredNorm

    dim = next((level.dim for level in task.levels if level.dim), task.domain.dim)
    if dim is None:
        return Choice(task, refusals={"exact": why})
    domain = task.domain if task.domain.dim else task.domain.with_dim(dim)
    below = task.levels[:-1]
    lower = choose_engine(Problem(SquaredNorm(dim=dim), below, domain))
    if lower.engine is None or not lower.engine.certain:
        return Choice(task, refusals={"exact": why, **lower.refusals})

    def minimise(objective: Objective) -> Answer:
        chosen = choose_engine(Problem(objective, below, domain))
        if chosen.engine is None:  # as for models whose numbers are too large for any
            raise Elsewhere(chosen.why_not)
        return chosen.solve()

    def solve(given: Task, patient: bool) -> list[Answer]:
        from .explicit import solve_explicit

        return [solve_explicit(given.levels[-1], domain, minimise)]

    name = f"steps over the lower solutions, {lower.way}"
    return Choice(task, Engine(name, lambda _: "", solve, lambda _: minimise, certain=False), refusals={"exact": why})


def _chosen(task: Task) -> Choice:
    """Columns where the vertices lie on the axes, rows where no further variables are needed for them; else what can.

    By rows means by the engine for linear and quadratic levels, or by the one for smooth ones where some are that.

    Few vertices or many are in use at the answer: columns are fast with few of them only, which nobody knows before.
    So they begin, and hand over to rows where they meet many.
    """
    from .lifted import Lift, why_not_lifted

    if why := why_not_lifted(task.levels, task.domain):
        if task.domain.round is not None and not (other := CONES.refuses(task)):
            return Choice(task, CONES, refusals={"columns": why, "rows": why})
        return Choice(task, refusals={"exact": why} if task.domain.round is None else {"exact": why, "cones": other})
    first = Lift.of(task)
    plain = first.task.levels == task.levels and first.task.domain is task.domain
    steps: tuple[Reduction, ...] = () if plain else (first,)
    refusals = {engine.name: why for engine in (COLUMNS, ROWS) if (why := engine.refuses(first.task))}
    if "rows" in refusals and (why := SMOOTH.refuses(first.task)):
        refusals["smooth"] = why
    by_columns = None
    if "columns" not in refusals:
        by_columns = Choice(task, COLUMNS, steps, refusals, at_last=lambda: _by_losses(task))
    by_rows = None if "smooth" in refusals else Choice(task, SMOOTH if "rows" in refusals else ROWS, steps, refusals)
    if by_columns and task.domain.axes is not None:
        return replace(by_columns, instead=lambda: by_rows or _by_rows_around(by_columns))
    if by_rows and by_columns:
        return by_rows if first.task.domain is task.domain else by_columns
    if by_rows or by_columns:
        return by_rows or by_columns or Choice(task)
    if not why_not_lifted(task.levels, task.domain, chain=True):
        lifted = Lift.of(task, chain=True)
        engine = _by_rows(lifted.task)
        if lifted.index.size > first.index.size and engine is not None:
            return Choice(task, engine, (lifted,), refusals)
    if task.domain.conic is not None:
        if not (why := CONIC.refuses(task)):
            return Choice(task, CONIC, refusals=refusals)
        refusals["conic"] = why
    if task.domain.round is not None:
        if not (why := CONES.refuses(task)):
            return Choice(task, CONES, refusals=refusals)
        refusals["cones"] = why
    return Choice(task, refusals=refusals)


def _by_rows(task: Task) -> Engine | None:
    """The simplest engine that takes a task by its rows."""
    return next((engine for engine in (ROWS, SMOOTH) if not engine.refuses(task)), None)


def _by_losses(task: Task) -> Choice | None:
    """By the engine for smooth levels, with further variables for absolute values; None where no level is of that kind.

    Columns have multipliers that are good to some digits; where those do not do, this is slower, and sharper.
    """
    from .lifted import Lift, why_not_lifted

    if why_not_lifted(task.levels, task.domain, chain=True):
        return None
    lifted = Lift.of(task, chain=True)
    if not ROWS.refuses(lifted.task) or SMOOTH.refuses(lifted.task):
        return None
    return Choice(task, SMOOTH, (lifted,))


def _by_rows_around(by_columns: Choice) -> Choice | None:
    """By rows without the limits on sizes; where those matter, by columns again, patiently."""
    from .without_sizes import WithoutSizes

    reduced = by_columns.reduced
    if reduced.domain.rows is None or not reduced.domain.rows.limits_sizes:
        return None
    step = WithoutSizes.of(reduced)
    engine = _by_rows(step.task)
    if engine is None:
        return None
    return replace(by_columns, engine=engine, reductions=(*by_columns.reductions, step), instead=lambda: by_columns)
