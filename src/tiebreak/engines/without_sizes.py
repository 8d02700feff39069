"""Sets that limit sums of absolute values, without those limits: a set around them, often with the same answer.

Let Z be the set, W the one around it, and y a solution of all levels but the last over W that lies in Z. Then the
solutions of these levels over Z are those over W that lie in Z: level by level, y attains in Z what is least in W. So
bounds on what is least over Z hold as they are, and what is proved by y itself, f* <= f(y), does too. Where y is inside
the limits, another solution over W shows one in Z, on the way to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Vector
from ..sets.around import around, well_inside
from .answer import Answer, Elsewhere
from .task import Task


@dataclass(frozen=True)
class WithoutSizes:
    """A task over the set around its own."""

    original: Task
    task: Task

    @classmethod
    def of(cls, original: Task) -> WithoutSizes:
        return cls(original, Task(original.levels, around(original.domain)))

    @property
    def name(self) -> str:
        """In words."""
        return f"without the limits of {self.original.domain!r} on sizes, if they do not bind"

    def invert(self, answer: Answer) -> Answer:
        """The answer itself, where a solution that proves it lies inside the limits for certain."""
        moves = answer.moves
        if len(self.original.levels) == 1:
            moves = np.zeros(answer.x.size)
        if moves is None:
            raise Elsewhere("it is not known how near a solution is")
        if not well_inside(self.original.domain, answer.x, moves):
            raise Elsewhere("the limits on sizes bind")
        if len(self.original.levels) > 1:
            return answer
        level = self.original.levels[0]  # x itself attains its value, in Z
        value, rounding = level.value(answer.x), level.rounding(answer.x)[0]
        upper = value + rounding + UNIT_ROUNDOFF * abs(value)
        return replace(answer, g_upper=max(answer.g_upper, upper), f_upper=max(answer.f_upper, upper))

    def point(self, x: Vector) -> Vector:
        """The same point."""
        return x
