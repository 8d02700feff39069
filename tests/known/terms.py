"""The objectives twice: for the references (NumPy and conic), and for tiebreak."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
from scipy.special import expit

import tiebreak as tb
from known.bounds import Term

Built = tuple[Term, tb.Objective]


def least_squares(A: np.ndarray, b: np.ndarray) -> Built:
    def at_most(x: cp.Expression, level: float) -> tuple:
        """||Ax - b|| <= rho, with a multiplier rho times as large."""
        rho = np.sqrt(2 * level)
        constraint = cp.norm2(A @ x - b) <= rho
        return constraint, lambda: float(np.sum(constraint.dual_value)) / rho

    return Term(
        lambda x: 0.5 * float(np.sum((A @ x - b) ** 2)),
        lambda x: A.T @ (A @ x - b),
        lambda x: 0.5 * cp.sum_squares(A @ x - b),
        at_most,
    ), tb.LeastSquares(A, b)


def quadratic(root: np.ndarray, q: np.ndarray) -> Built:
    Q = root.T @ root
    return Term(
        lambda x: 0.5 * float(x @ Q @ x) + float(q @ x),
        lambda x: Q @ x + q,
        lambda x: 0.5 * cp.sum_squares(root @ x) + q @ x,
    ), tb.Quadratic(Q, q)


def linear(c: np.ndarray) -> Built:
    return Term(lambda x: float(c @ x), lambda x: c, lambda x: c @ x), tb.Linear(c)


def squared_norm(centre: np.ndarray) -> Built:
    return least_squares(np.eye(centre.size), centre)[0], tb.SquaredNorm(centre)


def logistic(A: np.ndarray, y: np.ndarray) -> Built:
    n = y.size
    return Term(
        lambda x: float(np.mean(np.logaddexp(0, -y * (A @ x)))),
        lambda x: A.T @ (-y * expit(-y * (A @ x))) / n,
        lambda x: cp.sum(cp.logistic(cp.multiply(-y, A @ x))) / n,
    ), tb.Logistic(A, y)


def huber(A: np.ndarray, b: np.ndarray, delta: float) -> Built:
    def value(x: np.ndarray) -> float:
        r = np.abs(A @ x - b)
        return float(np.sum(np.where(r <= delta, r**2 / 2, delta * (r - delta / 2))))

    return Term(
        value,
        lambda x: A.T @ np.clip(A @ x - b, -delta, delta),
        lambda x: 0.5 * cp.sum(cp.huber(A @ x - b, delta)),
    ), tb.Huber(A, b, delta)


def covariance(A: np.ndarray, v: np.ndarray) -> Built:
    """Not convex, so the conic solver has no use for it."""
    w = (v - v.mean()) / v.size

    def grad(x: np.ndarray) -> np.ndarray:
        p = expit(A @ x)
        return 2 * float(w @ p) * (A.T @ (w * p * (1 - p)))

    return Term(lambda x: float(w @ expit(A @ x)) ** 2, grad, None), tb.SquaredCovariance(A, v)


def labels(rng: np.random.Generator, n: int) -> np.ndarray:
    """Random, but both classes occur."""
    return rng.permutation([-1.0, 1.0, *rng.choice([-1.0, 1.0], n - 2)])


UPPERS: dict[str, Callable[[np.random.Generator, int], Built]] = {
    "squared-norm": lambda rng, d: squared_norm(rng.normal(size=d)),
    "least-squares": lambda rng, d: least_squares(rng.normal(size=(d + 1, d)), 2 * rng.normal(size=d + 1)),
    "quadratic": lambda rng, d: quadratic(rng.normal(size=(max(2, d // 2), d)), rng.normal(size=d)),
    "linear": lambda rng, d: linear(rng.normal(size=d)),
    "logistic": lambda rng, d: logistic(rng.normal(size=(2 * d, d)), labels(rng, 2 * d)),
    "covariance": lambda rng, d: covariance(rng.normal(size=(3 * d, d)), rng.integers(0, 2, 3 * d) / 1.0),
}
CONVEX = [kind for kind in UPPERS if kind != "covariance"]
