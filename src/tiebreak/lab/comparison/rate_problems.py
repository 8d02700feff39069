"""Problems on which the proven rates are (nearly) attained, with everything their bounds ask for.

The spectra fall like powers, so that at any accuracy some components are not resolved yet: gaps follow power laws, not
the linear rates of well-conditioned problems.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ...arrays import Vector
from ...objectives import LeastSquares, Linear, SquaredNorm
from ...problem import Problem
from ...sets import Box, L2Ball, Simplex


@dataclass(frozen=True)
class RateProblem:
    """A problem, where to start, and the answer."""

    problem: Problem
    x0: Vector
    x_star: Vector
    g_star: float = 0.0

    @property
    def f_star(self) -> float:
        """The optimal value of the upper level."""
        return self.problem.upper.value(self.x_star)

    @property
    def L_f(self) -> float:
        """The smoothness of f."""
        return self.problem.upper.smoothness or 0.0

    @property
    def L_g(self) -> float:
        """The smoothness of g."""
        return self.problem.lower.smoothness or 0.0

    @property
    def distance(self) -> float:
        """From the start to the answer."""
        return float(np.linalg.norm(self.x0 - self.x_star))


def smallest(power: float = 2.0, decay: float = 0.6, n: int = 40) -> RateProblem:
    """The smallest solution of equations with singular values i^-power; its components are i^-decay.

    The minimiser of g + sigma f has a lower gap of order sigma^((2 power - 1 + 2 decay) / (2 power)) as long as sigma
    is above the smallest squared singular value: sigma^1.05 here, while sigma^1 is what holds for every answer of
    finite norm. With decay = 0, whose norm grows with n, it is sigma^0.75.
    """
    i = np.arange(1.0, n + 1)
    x = i**-decay
    A = sparse.diags_array(i**-power).tocsr()
    size = float(np.linalg.norm(x))
    problem = Problem(SquaredNorm(dim=n), LeastSquares(A, i**-power * x), L2Ball(2 * size))
    return RateProblem(problem, np.full(n, 2 * size / np.sqrt(n)), x)


def flat_upper(power: float = 2.0, n: int = 40) -> RateProblem:
    """f is flat (singular values i^-power) on the lower solutions {x_0 = 0}, where the start lies already."""
    i = np.arange(1.0, n + 1)
    C = sparse.csr_array((i**-power, (np.arange(n), np.arange(1, n + 1))), shape=(n, n + 1))
    row = sparse.csr_array(([1.0], ([0], [0])), shape=(1, n + 1))
    x0 = np.append(0.0, i**-0.6)
    problem = Problem(LeastSquares(C, np.zeros(n)), LeastSquares(row, [0.0]), L2Ball(2 * float(np.linalg.norm(x0))))
    return RateProblem(problem, x0, np.zeros(n + 1))


def spread_upper(d: int = 2000) -> RateProblem:
    """1/2 ||x||^2 over a face of the simplex: k steps of conditional gradient from a vertex know k + 1 vertices."""
    cost = np.append(np.zeros(d), 1.0)
    problem = Problem(SquaredNorm(dim=d + 1), Linear(cost), Simplex())
    return RateProblem(problem, np.eye(1, d + 1)[0], np.append(np.full(d, 1 / d), 0.0))


def spread_sum(d: int = 500) -> RateProblem:
    """The same as a finite sum of d terms."""
    cost = np.append(np.zeros(d), 1.0)
    rows = sparse.diags_array(np.full(d + 1, np.sqrt(d + 1))).tocsr()
    problem = Problem(LeastSquares(rows, np.zeros(d + 1), 1 / (d + 1)), Linear(cost), Simplex())
    return RateProblem(problem, np.eye(1, d + 1)[0], np.append(np.full(d, 1 / d), 0.0))


def held_sum(d: int = 40) -> RateProblem:
    """The point of the unit box nearest to p among those whose coordinates sum to 1; the start is one of those.

    p is the answer moved along (1, ..., 1), which f likes and g does not: the first cuts let the iterates leave.
    """
    i = np.arange(1.0, d + 1)
    x = i**-1.0 / np.sum(i**-1.0)
    problem = Problem(SquaredNorm(x + 0.5), LeastSquares(np.ones((1, d)), [1.0]), Box(0.0, 1.0))
    return RateProblem(problem, np.eye(1, d)[0], x)


def spread_lower(d: int = 2000) -> RateProblem:
    """The same with the roles exchanged: the lower solution is unique, and found at the same rate."""
    problem = Problem(Linear(np.arange(d) / d), SquaredNorm(dim=d), Simplex())
    return RateProblem(problem, np.eye(1, d)[0], np.full(d, 1 / d), 0.5 / d)
