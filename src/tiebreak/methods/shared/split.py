"""A domain as rows with multipliers and a part to project on, for primal-dual methods."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Matrix, Vector
from ...problem import Problem


class Split(NamedTuple):
    """Z as rows low <= A x <= high with multipliers and a part to project on: ``bounds``, or Z itself where None."""

    A: Matrix
    low: Vector
    high: Vector
    bounds: tuple[Vector, Vector] | None

    @classmethod
    def of(cls, problem: Problem) -> Split:
        rows = problem.domain.split_rows
        if rows is not None:
            return cls(rows.A, rows.low, rows.high, (rows.lower, rows.upper))
        return cls(np.zeros((0, problem.dim)), np.zeros(0), np.zeros(0), None)

    def constraints(self, problem: Problem, level: float, x: Vector) -> tuple[Vector, Vector]:
        """The gradient of g, and G(x) = (g(x) - level, Ax - high, low - Ax), all at most 0 where x is feasible."""
        g, c = problem.lower.value_and_grad(x)
        Ax = self.A @ x
        above, below = np.isfinite(self.high), np.isfinite(self.low)
        return c, np.concatenate([[g - level], (Ax - self.high)[above], (self.low - Ax)[below]])

    def pull(self, dual: Vector) -> Vector:
        """The gradient of <dual, rows of G>."""
        above, below = np.isfinite(self.high), np.isfinite(self.low)
        weights = np.zeros(self.high.size)
        weights[above] += dual[: above.sum()]
        weights[below] -= dual[above.sum() :]
        pulled: Vector = self.A.T @ weights
        return pulled

    def project(self, problem: Problem, x: Vector) -> Vector:
        """The projection onto the part of Z that has no multipliers."""
        return problem.domain.project(x) if self.bounds is None else np.clip(x, *self.bounds)

    def inside(self, problem: Problem, x: Vector) -> Vector:
        """The point of Z nearest to x, which satisfies all constraints without multipliers already."""
        return x if self.bounds is None else problem.domain.project(x)
