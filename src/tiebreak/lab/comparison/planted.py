"""Families with a planted answer x*: the optimality conditions of both levels hold there by construction.

Where X_g* = {x in Z : A x = t}, x* minimises a convex f over it if grad f(x*) = A'w + v for some w and some v with
<v, z - x*> >= 0 for all z in Z. So v is chosen from the normal cone (with the sign turned), w at random, and f such
that its gradient is the sum.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...arrays import Vector
from ...objectives import Huber, LeastSquares, SquaredNorm
from ...problem import Problem
from ...sets import Box, L1Ball, NuclearBall, Simplex, Spectrahedron
from .families import Family


def _loss_rows(rng: np.random.Generator, n: int, slopes: Vector, gradient: Vector) -> Vector:
    """n random rows C with C' slopes = gradient; the last one makes up for the others."""
    C = rng.standard_normal((n, gradient.size))
    C[-1] = (gradient - C[:-1].T @ slopes[:-1]) / slopes[-1]
    return C


def regression(n: int = 40, d: int = 100, m: int = 60) -> Family:
    """Interpolation of training data; the l1 bound is not active at the answer."""
    rng = np.random.default_rng(11)
    A, x = rng.standard_normal((n, d)), rng.standard_normal(d)
    residual = np.append(rng.standard_normal(m - 1), 5.0)
    C = _loss_rows(rng, m, residual, A.T @ rng.standard_normal(n))
    problem = Problem(LeastSquares(C, C @ x - residual), LeastSquares(A, A @ x), L1Ball(1.5 * float(np.abs(x).sum())))
    return Family("validation error among interpolants, l1 ball, bound not active", problem, x, 0.0)


def sparse_regression(n: int = 30, d: int = 100, m: int = 60, size: int = 25) -> Family:
    """The same with an active l1 bound: v = -(multiplier) times a subgradient of the l1 norm at a sparse x*."""
    rng = np.random.default_rng(12)
    A, x = rng.standard_normal((n, d)), np.zeros(d)
    support = rng.choice(d, size, replace=False)
    x[support] = rng.choice([-1.0, 1.0], size) * rng.uniform(0.5, 1.5, size)
    subgradient = rng.uniform(-0.8, 0.8, d)
    subgradient[support] = np.sign(x[support])
    residual = np.append(rng.standard_normal(m - 1), 5.0)
    C = _loss_rows(rng, m, residual, A.T @ rng.standard_normal(n) - 3.0 * subgradient)
    problem = Problem(LeastSquares(C, C @ x - residual), LeastSquares(A, A @ x), L1Ball(float(np.abs(x).sum())))
    return Family("validation error among interpolants, l1 ball, bound active", problem, x, 0.0)


def robust(n: int = 20, d: int = 60, m: int = 80) -> Family:
    """A Huber loss over a box, a third of whose bounds are active."""
    rng = np.random.default_rng(13)
    A, x = rng.standard_normal((n, d)), rng.uniform(-0.9, 0.9, d)
    x[: d // 3] = np.sign(x[: d // 3])
    outward = np.where(np.abs(x) == 1, -x * rng.uniform(0, 2, d), 0.0)
    residual = np.append(2.0 * rng.standard_normal(m - 1), 3.0)
    C = _loss_rows(rng, m, np.clip(residual, -1, 1), A.T @ rng.standard_normal(n) + outward)
    problem = Problem(Huber(C, C @ x - residual, 1.0), LeastSquares(A, A @ x), Box(-1.0, 1.0))
    return Family("Huber loss among interpolants, box", problem, x, 0.0)


def finite_sum(n: int = 100_000, d: int = 10, rank: int = 4) -> Family:
    """Means over 100 000 rows each; the lower level has rank 4, noise, and g* > 0."""
    rng = np.random.default_rng(14)
    B, x = rng.standard_normal((rank, d)), rng.standard_normal(d)
    U, C = rng.standard_normal((n, rank)), rng.standard_normal((n, d))
    A = U @ B
    noise, more = 0.5 * rng.standard_normal((2, n))
    noise -= U @ np.linalg.lstsq(U, noise, rcond=None)[0]  # so that A'(A x - b) = 0
    gradient = 0.2 * B.T @ rng.standard_normal(rank)
    more -= C @ np.linalg.lstsq(C, more, rcond=None)[0]
    more += C @ np.linalg.solve(C.T @ C, n * gradient)  # so that C'(C x - c) / n = gradient
    upper, lower = LeastSquares(C, C @ x - more, 1 / n), LeastSquares(A, A @ x - noise, 1 / n)
    domain = L1Ball(1.5 * float(np.abs(x).sum()))
    return Family("means over 100 000 rows, l1 ball", Problem(upper, lower, domain), x, lower.value(x))


def portfolio(n: int = 30, d: int = 100, size: int = 40) -> Family:
    """A rank-deficient quadratic over the simplex with g* > 0; some coordinates are 0 in all lower solutions."""
    rng = np.random.default_rng(15)
    x = np.zeros(d)
    x[:size] = rng.dirichlet(np.ones(size))
    reduced = np.where(np.arange(d) < 2 * size, 0.0, rng.uniform(0.5, 1.5, d))  # the gradient of g at x*
    residual = np.append(0.1 * rng.standard_normal(n - 1), 0.5)
    A = _loss_rows(rng, n, residual, reduced)
    prices = np.where(np.arange(d) < size, 0.0, rng.uniform(0, 0.02, d))
    upper = SquaredNorm(x - 0.01 * A.T @ rng.standard_normal(n) - prices)
    lower = LeastSquares(A, A @ x - residual)
    return Family("rank-deficient least squares, simplex", Problem(upper, lower, Simplex()), x, lower.value(x))


def completion(n: int = 15, rank: int = 3) -> Family:
    """Matrix completion over a nuclear-norm ball that is active; v is a multiple of -(U V' + W), ||W|| < 1."""
    rng = np.random.default_rng(16)
    U, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    values = rng.uniform(1, 3, rank)
    X = U[:, :rank] * values @ V[:, :rank].T
    subgradient = U[:, :rank] @ V[:, :rank].T + U[:, rank:] * rng.uniform(0, 0.8, n - rank) @ V[:, rank:].T
    seen = np.flatnonzero(rng.random(n * n) < 0.3)
    A = sparse.csr_array((np.ones(seen.size), (np.arange(seen.size), seen)), shape=(seen.size, n * n))
    x = X.ravel()
    upper = SquaredNorm(x - A.T @ rng.standard_normal(seen.size) + 0.5 * subgradient.ravel())
    problem = Problem(upper, LeastSquares(A, A @ x), NuclearBall((n, n), float(values.sum())))
    return Family("matrix completion, nuclear-norm ball", problem, x, 0.0)


def spectral(n: int = 12, rank: int = 3, rows: int = 20) -> Family:
    """Linear measurements of a matrix of trace 1; v is a positive semidefinite matrix orthogonal to it."""
    rng = np.random.default_rng(17)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    X = Q[:, :rank] * rng.dirichlet(np.ones(rank)) @ Q[:, :rank].T
    S = Q[:, rank:] * rng.uniform(0, 0.5, n - rank) @ Q[:, rank:].T
    M = rng.standard_normal((rows, n, n)) / n
    A = ((M + M.transpose(0, 2, 1)) / 2).reshape(rows, n * n)
    x = X.ravel()
    upper = SquaredNorm(x - A.T @ (0.3 * rng.standard_normal(rows)) - S.ravel())
    problem = Problem(upper, LeastSquares(A, A @ x), Spectrahedron(n))
    return Family("linear measurements of a matrix, spectrahedron", problem, x, 0.0)
