"""Which engine takes a chain of levels over a domain, through which reductions, and why the others do not.

Every question is asked here, once, and the answers are kept: ``tiebreak.plan`` shows them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from logging import getLogger

import numpy as np

from ..arrays import Vector
from ..objectives.base import Objective
from ..problem import Problem
from .answer import Answer, Elsewhere, Unbounded, joined, of_all, unfinished
from .interrupt import OutOfTime, keeping, levels_kept
from .offered import CHUNKS, COLUMNS, CONES, CONIC, ROWS, SMOOTH, Engine
from .task import Recognised, Reduction, Task

logger = getLogger("tiebreak")

NARROW = 1e-9
"""Brackets up to this width, relative to 1 + |f|, are not worth another try."""


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
            answer = joined(found, answer) if found.width < 0.5 * answer.width else joined(answer, found)
        return answer

    def _solve(self, patient: bool) -> Answer:
        assert self.engine is not None
        reduced = self.reduced
        try:
            answers = self.engine.solve(reduced, patient)
        except (OutOfTime, KeyboardInterrupt) as stop:
            if finished := levels_kept(stop):
                known = self._unfinished(finished)
                stop.partial = replace(known, x=self.point(known.x))  # type: ignore[union-attr]
            raise
        except Unbounded as stop:
            self.take_back(stop)
            raise
        last = answers[-1]
        if len(answers) == len(reduced.levels):
            last = of_all(answers)
        return self.inverted(last)

    def take_back(self, stop: Unbounded) -> None:
        """What is known of a level without a minimum, in terms of the task that was asked."""
        here, count = self.point(stop.point), len(self.reduced.levels)
        stop.ray = self.point(stop.ray) - self.point(np.zeros_like(stop.ray))  # beside a far point it would be lost
        none = (f"stopped after none of {count} levels",) if count > 1 else ()
        nothing = Answer(here, -np.inf, np.inf, -np.inf, np.inf, notes=none)
        stop.point = here
        stop.partial = replace(self._unfinished(stop.finished), x=here) if stop.finished else nothing

    def _unfinished(self, finished: tuple[Answer, ...]) -> Answer:
        return unfinished(finished, [level.lower_bound for level in self.reduced.levels])

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
    if why := CHUNKS.refuses(task):
        return Choice(task, refusals={"exact": why})
    if not slack:
        return Choice(task, CHUNKS)
    from .chunked.refuses import why_not_relaxed

    if why := why_not_relaxed(task.levels, task.domain):
        return Choice(task, refusals={"exact": why})
    from .chunked.quadratic import ROWS as DOUBTFUL
    from .chunked.quadratic import InFewRows

    return Choice(task, DOUBTFUL, (InFewRows(task),))


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
        if lifted.index.size > first.index.size and (engine := _by_rows(lifted.task)) is not None:
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
