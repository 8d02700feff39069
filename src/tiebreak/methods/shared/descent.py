"""Subgradient steps on one convex function over Z, with a lower bound on its minimum from all steps together.

Steps D / sqrt(sum of squared subgradients) have sum <v_k, x_k - s> <= 3/2 D sqrt(sum ||v_k||^2) for every s in Z. The
mean of the linear models is below the function, so its minimum over Z is a lower bound, and the least value so far is
within 3/2 D sqrt(sum ||v_k||^2) / K <= 3/2 L D / sqrt(K) of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from ...arrays import Vector
from ...problem import Problem


@dataclass(frozen=True)
class Descent:
    """A run: where the next subgradient is taken, the best point so far, and the sum of all linear models.

    Attributes
    ----------
    count, on_upper : int
        Steps so far; those of them that the method has made on f.
    height, slope : float, array
        The linear models add up to height + <slope, s>.
    squares : float
        Of the lengths of all subgradients, added up.
    """

    x: Vector
    best: Vector
    least: float
    slope: Vector
    height: float = 0.0
    squares: float = 0.0
    count: int = 0
    on_upper: int = 0

    @classmethod
    def at(cls, x: Vector) -> Descent:
        """The run before its first step."""
        return cls(x, x, inf, np.zeros(x.size))

    def step(self, problem: Problem, value: float, v: Vector, on_upper: bool = False) -> Descent:
        """One more, along the subgradient v at x, where the function has this value."""
        squares = self.squares + float(v @ v)
        x = problem.domain.project(self.x - problem.domain.diameter / np.sqrt(squares) * v) if squares > 0 else self.x
        best, least = (self.x, value) if value < self.least else (self.best, self.least)
        height = self.height + value - float(v @ self.x)
        return Descent(
            x, best, least, self.slope + v, height, squares, self.count + 1, self.on_upper + on_upper
        )  # fmt: skip

    def below(self, problem: Problem) -> float:
        """A lower bound on the function over Z, but for rounding."""
        return (self.height + float(self.slope @ problem.domain.lmo(self.slope))) / self.count
