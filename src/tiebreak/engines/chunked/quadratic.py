"""Chains of linear and quadratic levels, some of whose rows lie in chunks: two passes, and the engine by rows.

A pass makes each level small; a second one, at the answer of the small levels, shows what they may be off by, and puts
right what rounding has done to them. The levels that are known then go to the engine by rows, whose brackets hold for
the data: two-sided, over any set with rows, bounded or not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...arrays import UNIT_ROUNDOFF, Vector, length
from ...objectives.algebra import Sum
from ...objectives.base import Objective
from ...objectives.chunked import Evaluated
from ...problem import Problem
from ...sets.base import Domain
from ..answer import Answer, Elsewhere
from ..choice import Choice, choose_engine
from ..lifted import Lift, why_not_lifted
from ..offered import Engine
from ..rows.chain import Chain
from ..rows.refuses import rows_apply
from ..rows.solve import QUADRATIC, Kinds, solve_rows
from ..task import Task
from .frame import Frame
from .known import Known, known
from .levels import RowLevel
from .newton import small_objective
from .proof import MERGES, Level, show
from .triangle import reduced, small

WIDE = 1e-9
"""Brackets up to this width, relative to 1 + |f|, are not worth another pass."""
PASSES = 3
KINDS = Kinds(Chain, QUADRATIC.level)
"""As for plain chains, whose short cuts do not know of doubt."""


def solve_quadratic_chunks(levels: Sequence[Objective], domain: Domain) -> Answer | None:
    """The answer; None where the data are not shown to be what their triangles say."""
    seen = Seen.first(levels, domain)
    answer: Answer | None = None
    while seen is not None:
        found = answered(seen.task)
        answer = found if answer is None or found.width <= answer.width else replace(answer, x=found.x)
        if answer.width <= WIDE or seen.passes == PASSES:
            break
        seen = seen.again(answer.x)
    if answer is None or seen is None:
        return answer
    seen.remember(answer.x)
    return replace(answer, notes=(*answer.notes, seen.note))


@dataclass(frozen=True)
class Seen:
    """The levels as a pass at some point has shown them."""

    parts: tuple[RowLevel, ...]
    frames: tuple[Frame | None, ...]
    shown: tuple[Level, ...]
    task: Task
    passes: int

    @classmethod
    def first(cls, levels: Sequence[Objective], domain: Domain) -> Seen | None:
        """By one pass that makes the levels small, and one at the answer of these; None where that shows too little."""
        dim = domain.dim or 0
        parts = tuple(RowLevel.of(level, dim) for level in levels)
        small_ones, frames = _made_small(parts, dim)
        if any(frame is None for frame, part in zip(frames, parts, strict=True) if part.terms):
            return None
        x = _answered_plainly(Task(tuple(small_ones), domain)).x
        return cls._at(x, parts, tuple(frames), domain, 2)

    @classmethod
    def _at(
        cls, x: Vector, parts: tuple[RowLevel, ...], frames: tuple[Frame | None, ...], domain: Domain, passes: int
    ) -> Seen | None:
        shown = show([part.terms for part in parts], x, [np.zeros(x.size)] * len(parts), frames)
        levels = []
        for part, one, frame in zip(parts, shown, frames, strict=True):
            level = _known(part, one, frame, x)
            if level is None:
                return None
            levels.append(level)
        return cls(parts, frames, tuple(shown), Task(tuple(levels), domain), passes)

    def again(self, x: Vector) -> Seen | None:
        """By a pass at another point: what is near to the answer is known better."""
        return self._at(x, self.parts, self.frames, self.task.domain, self.passes + 1)

    @property
    def note(self) -> str:
        """In words."""
        ranks = ", ".join(str(len(frame.own)) for frame in self.frames if frame is not None)
        return f"data in chunks, known by triangles of {ranks} rows"

    def remember(self, x: Vector) -> None:
        """Whoever evaluates the objectives at x need not read the data again."""
        for part, level in zip(self.parts, self.task.levels, strict=True):
            _remember(part, level, x)


def _made_small(parts: Sequence[RowLevel], dim: int) -> tuple[list[Objective], list[Frame | None]]:
    """The levels by their triangles, and the frames these give."""
    levels: list[Objective] = []
    frames: list[Frame | None] = []
    for part in parts:
        if not part.terms:
            assert part.rest is not None
            levels.append(part.rest)
            frames.append(None)
            continue
        model = reduced([(term.scale, small(term, np.zeros(dim)).triangle) for term in part.terms], dim)
        levels.append(small_objective(model, part.rest))
        frames.append(Frame.of(model.triangle, dim))
    return levels, frames


def _known(part: RowLevel, shown: Level, frame: Frame | None, x: Vector) -> Objective | None:
    """A level as far as it is known."""
    if frame is None:
        return part.rest
    one = known(shown, frame, frame.off(list(shown.shapes), MERGES), x)
    return one if one is None or part.rest is None else Sum(one, part.rest)


def _answered_plainly(task: Task) -> Answer:
    """Of small levels without doubt, by any engine: nothing rests on it."""
    choice = choose_engine(Problem(task.levels[-1], list(task.levels[:-1]), task.domain))
    if choice.engine is None:
        raise Elsewhere(choice.why_not)
    return choice.solve()


def answered(task: Task) -> Answer:
    """By the engine by rows, with further variables where the set or a level has absolute values."""
    if why := why_not_lifted(task.levels, task.domain, chain=True):
        raise Elsewhere(why)
    lift = Lift.of(task, chain=True)
    if why := rows_apply(lift.task.levels, lift.task.domain):
        raise Elsewhere(why)
    return Choice(task, ROWS, (lift,)).solve()


def minimiser(task: Task) -> Callable[[Objective], Answer]:
    """A function that minimises objectives after these levels."""
    return lambda objective: answered(Task((*task.levels, objective), task.domain))


def _solve(task: Task, patient: bool = True) -> list[Answer]:
    return solve_rows(task.levels, task.domain, kinds=KINDS)


ROWS = Engine("rows", lambda _: "", _solve, minimiser)


@dataclass(frozen=True)
class InFewRows:
    """The reduction to levels that are known by few rows, for the relaxed problem; the passes are made when asked."""

    original: Task

    @property
    def name(self) -> str:
        """In words."""
        return "triangles of the chunks"

    @cached_property
    def task(self) -> Task:
        """The levels as the passes have shown them."""
        seen = Seen.first(self.original.levels, self.original.domain)
        if seen is None:
            raise Elsewhere("some columns are sums of others but for rounding")
        return seen.task

    def invert(self, answer: Answer) -> Answer:
        """The same."""
        return answer

    def point(self, x: Vector) -> Vector:
        """The same."""
        return x


def _remember(part: RowLevel, level: Objective, x: Vector) -> None:
    own = next((each for _, each in level.parts if isinstance(each, Known)), None)
    if own is None or len(part.terms) != 1 or part.terms[0].source is None:
        return
    term, source = part.terms[0], part.terms[0].source
    value, grad, value_error, grad_error = own.at(x)
    value, grad = value / term.exact, np.asarray(grad / term.exact, dtype=np.float64)
    value_off = 1.01 * value_error / term.scale + 4 * UNIT_ROUNDOFF * abs(float(value))
    grad_off = 1.01 * length(grad_error) / term.scale + 4 * UNIT_ROUNDOFF * length(grad)
    norms = source.A.kept.get("norms", {})
    found = Evaluated(float(value), grad, value_off, grad_off, abs(float(value)), length(grad), norms)
    source.remember(x.tobytes(), found)
