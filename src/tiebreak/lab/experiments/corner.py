"""Small problems with a lower level of given growth, on which every constant of the paper's theorems is tight or exact.

Z = [-a, 1] x [0, 1]^(d-1) and g(x) = |x_1|^r / r, whose minimisers are the slice x_1 = 0: g is dist^r / r, so that the
error bound holds with alpha = 1 and nothing to spare; L_g = r - 1. The start is on the side x_1 < 0, where the first
cut holds nobody back on the other side: f pulls the iterates there, and they have to come back. For r = 1 the set ends
at x_1 = 0, and g(x) = x_1 is linear.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...arrays import Vector
from ...objectives import Function, Linear, Objective, Quadratic
from ...problem import ErrorBound, Problem
from ...sets import Box

BEYOND = 0.1
"""a: how far Z goes on the side of the start."""


@dataclass(frozen=True)
class Corner:
    """f(x) = 1/2 sum_i w_i (x_i - p_i)^2 with |w_i| = 1; f falls where x_1 rises, so that infeasible points tempt."""

    problem: Problem
    p: Vector
    w: Vector
    r: int
    steepest: float
    """M: the largest norm of the gradient of f on the slice."""

    @property
    def low(self) -> Vector:
        """The lower ends of Z; the upper ones are 1."""
        return np.append(0.0 if self.r == 1 else -BEYOND, np.zeros(self.p.size - 1))

    @property
    def f_star(self) -> float:
        """The least f on the face (for a convex f: at p with its first entry 0)."""
        return self._extreme(np.array([0.0]), np.min)

    @property
    def f_least(self) -> float:
        """The least f on Z."""
        return self._extreme(np.array([1.0]), np.min)  # p_1 > 1

    @property
    def curvatures(self) -> tuple[float, float]:
        """L_f D^2 and L_g D^2."""
        square = self.problem.domain.diameter**2
        return square, (self.r - 1) * square

    @property
    def drop(self) -> float:
        """The largest f on the side of the start, less the least on Z: no less than f(x_0) - min f."""
        return self._extreme(self.low[:1], np.max) - self.f_least

    def gap(self, x: Vector) -> float:
        """The Frank-Wolfe gap of f over the face."""
        slope = self.w * (x - self.p)
        return float(slope @ x - np.minimum(slope[1:], 0).sum())

    def start(self, eps_g: float) -> Vector:
        """A point with g = eps_g / 2 whose f is no better than it must be."""
        x = np.where(self.w > 0, 1.0, self.p + 0.05)
        side = (self.r * eps_g / 2) ** (1 / self.r)
        x[0] = min(1.0, side) if self.r == 1 else -min(BEYOND, side)
        return x

    def _extreme(self, first: Vector, choose: Callable[[Vector], float]) -> float:
        """The sum over the coordinates of the least or largest term, at an end or at p."""
        at = [first, *(np.array([0.0, 1.0, np.clip(p, 0, 1)]) for p in self.p[1:])]
        return float(sum(choose(w * (x - p) ** 2 / 2) for x, p, w in zip(at, self.p, self.w, strict=True)))


def corner(seed: int, r: int, convex: bool = True, d: int = 3) -> Corner:
    """A problem of the family, drawn by the seed.

    Examples
    --------
    >>> one = corner(0, 2)
    >>> one.problem.lower.value([0.5, 0.0, 0.0]), one.problem.upper.convex
    (0.125, True)
    >>> one.f_least < one.f_star  # x_1 = 1 is better for f
    True
    """
    rng = np.random.default_rng([seed, r])
    p = np.concatenate([rng.uniform(1.2, 2.0, 1), rng.uniform(0.3, 0.7, d - 1)])
    w = np.ones(d) if convex else np.where(np.arange(d) == 1, -1.0, 1.0)
    f = Quadratic(np.diag(w), -w * p, 0.5 * float(np.sum(w * p**2)))
    low = np.zeros(d)
    low[0] = 0.0 if r == 1 else -BEYOND
    steepest = float(np.sqrt(p[0] ** 2 + np.sum(np.maximum(p[1:], 1 - p[1:]) ** 2)))  # M, at x_1 = 0
    bound = ErrorBound(1.0, r, steepest)
    return Corner(Problem(f, _lower(r, d), Box(low, np.ones(d)), error_bound=bound), p, w, r, steepest)


def _lower(r: int, d: int) -> Objective:
    first = np.eye(1, d)[0]
    if r == 1:
        return Linear(first)
    return Function(
        lambda x: abs(float(x[0])) ** r / r,
        lambda x: np.sign(x[0]) * abs(float(x[0])) ** (r - 1) * first,
        dim=d,
        convex=True,
        smoothness=float(r - 1),
    )
