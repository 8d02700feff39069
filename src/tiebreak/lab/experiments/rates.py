"""Problems whose answers are formulas, with every constant of the paper's theorems known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Vector
from ...objectives import Function, LeastSquares, Linear, Objective, SquaredCovariance, SquaredNorm
from ...problem import ErrorBound, Problem
from ...sets import Box, L2Ball


@dataclass(frozen=True)
class Known:
    """A problem with its optimal values; ``f_star`` is nan where f is not convex."""

    problem: Problem
    g_star: float
    f_star: float

    @property
    def curvatures(self) -> tuple[float, float]:
        """L_f D^2 and L_g D^2, the constants of the theorems."""
        f, g = self.problem.upper.smoothness, self.problem.lower.smoothness
        assert f is not None and g is not None
        return f * self.problem.domain.diameter**2, g * self.problem.domain.diameter**2


def slice_of_box(seed: int, d: int = 20) -> Known:
    """The point nearest to p among those of the unit box whose coordinates sum to 1.

    Examples
    --------
    >>> known = slice_of_box(0)
    >>> known.g_star, round(known.curvatures[1])
    (0.0, 400)
    """
    p = np.random.default_rng(seed).normal(size=d)
    low, high = p.min() - 1, p.max()  # the sum of clip(p - mu, 0, 1) falls from d to 0 in between
    for _ in range(200):
        mu = (low + high) / 2
        low, high = (mu, high) if np.clip(p - mu, 0, 1).sum() > 1 else (low, mu)
    x = np.clip(p - high, 0, 1)
    problem = Problem(SquaredNorm(p), LeastSquares(np.ones((1, d)), [1.0]), Box(0.0, 1.0))
    return Known(problem, 0.0, 0.5 * float(np.sum((x - p) ** 2)))


def smallest_solution(seed: int, n: int = 10, d: int = 40) -> Known:
    """The smallest solution of a system of equations, over a ball that contains it; singular values 1/i.

    Examples
    --------
    >>> smallest_solution(0).problem.dim
    40
    """
    rng = np.random.default_rng(seed)
    left, right = np.linalg.qr(rng.normal(size=(n, n)))[0], np.linalg.qr(rng.normal(size=(d, n)))[0]
    weights = rng.normal(size=n)
    x = right @ weights
    A = left / np.arange(1, n + 1) @ right.T
    ball = L2Ball(1.5 * float(np.linalg.norm(x)))
    return Known(Problem(SquaredNorm(dim=d), LeastSquares(A, A @ x), ball), 0.0, 0.5 * float(x @ x))


def face_of_box(seed: int, d: int = 20) -> Known:
    """The point nearest to p on a face of [-1, 1]^d; p lies beside its interior, so that conditional gradient is slow.

    Examples
    --------
    >>> face_of_box(0).curvatures[1]  # a linear g bends nowhere
    0.0
    """
    rng = np.random.default_rng(seed)
    p = rng.uniform(-0.5, 0.5, d)
    c = np.where(np.arange(d) < d // 4, rng.uniform(0.5, 2, d), 0.0)
    x = np.where(c > 0, -1.0, p)
    problem = Problem(SquaredNorm(p), Linear(c), Box(-1.0, 1.0))
    return Known(problem, -float(c.sum()), 0.5 * float(np.sum((x - p) ** 2)))


def growth(seed: int, r: int, d: int = 4) -> Known:
    """g grows like the distance to its minimisers to the power r, over [-1, 1]^d; f is half the squared distance to p.

    For r >= 2, g = sum_i max(0, x_i - u_i)^r is at least d^(1 - r/2) dist^r; for r = 1, g = <c, x> with c > 0 in half
    of the coordinates and 0 in the others, and g - g* is at least min(c) dist.

    Examples
    --------
    >>> growth(0, 3).problem.error_bound.r
    3
    """
    rng = np.random.default_rng([seed, r])
    p, u = rng.uniform(-2, 2, d), rng.uniform(-0.5, 0.5, d)
    g: Objective
    if r == 1:
        c = np.where(np.arange(d) < d // 2, rng.uniform(0.5, 2, d), 0.0)
        g, g_star, alpha = Linear(c), -float(c.sum()), float(c[: d // 2].min())
        top = np.where(c > 0, -1.0, 1.0)
    else:
        g = Function(
            lambda x: float(np.sum(np.maximum(x - u, 0) ** r)),
            lambda x: r * np.maximum(x - u, 0) ** (r - 1),
            dim=d,
            convex=True,
            smoothness=r * (r - 1) * float(np.max(1 - u)) ** (r - 2),
        )
        g_star, alpha, top = 0.0, r * d ** (1 - r / 2), u
    steepest = float(np.linalg.norm(np.maximum(np.abs(-1 - p), np.abs(top - p))))  # of f, at a corner of X_g*
    bound = ErrorBound(alpha, r, steepest)
    x = np.clip(p, -1.0, top)
    return Known(
        Problem(SquaredNorm(p), g, Box(-1.0, 1.0), error_bound=bound), g_star, 0.5 * float(np.sum((x - p) ** 2))
    )


def fair_slice(seed: int, n: int = 60, d: int = 6) -> Known:
    """A nonconvex f (squared covariance) over the points of the unit box whose coordinates sum to 1.

    The lower level is g = 1/2 (sum x - 1)^2. From any x in the box, moving coordinates by |sum x - 1| in all reaches
    X_g*, so dist <= |sum x - 1| and g >= 1/2 dist^2: r = 2, alpha = 1. The gradient of f is at most
    2 max|c| ||A'|| ||w|| / 4 with w = (v - mean v)/n, and |c| <= sum|w|/2.

    Examples
    --------
    >>> known = fair_slice(0)
    >>> float(steepest_descent(known, known.problem.upper.grad([0.5] * 6)).sum())
    1.0
    """
    rng = np.random.default_rng(seed)
    A = 3 * rng.normal(size=(n, d))
    v = (A.sum(axis=1) > 0).astype(float)  # every point of X_g* predicts it: f has something to lower
    f = SquaredCovariance(A, v)
    w = (v - v.mean()) / n
    steepest = float(np.abs(w).sum() * np.linalg.norm(A, 2) * np.linalg.norm(w)) / 4
    problem = Problem(
        f, LeastSquares(np.ones((1, d)), [1.0]), Box(0.0, 1.0), error_bound=ErrorBound(1.0, 2.0, steepest)
    )
    return Known(problem, 0.0, float("nan"))


def steepest_descent(known: Known, gradient: Vector) -> Vector:
    """The minimiser of <gradient, s> over X_g* of `fair_slice`: all of the sum on the smallest entry."""
    s = np.zeros(known.problem.dim)
    s[np.argmin(gradient)] = 1.0
    return s
