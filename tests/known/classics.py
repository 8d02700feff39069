"""Problems whose answers are formulas."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

import tiebreak as tb
from problems import Instance

ROUNDING = 1e-12


def toy() -> Instance:
    """The toy problem of the CG-BiO paper."""
    domain = tb.Polyhedron([[1.0, 1.0], [4.0, 6.0]], [1.0, 5.0], bounds=[(0, None), (0, None)])
    f = tb.Quadratic([[1.0, 0.0], [0.0, 0.0]], [-0.5, 0.1])
    problem = tb.Problem(f, tb.Linear([-1.0, -1.0]), domain)
    return Instance(problem, -1.0, ROUNDING, -0.08, ROUNDING, np.array([0.6, 0.4]), note="toy")


def hard_pair(K: int) -> tuple[Instance, Instance]:
    """A chain that pulls all 2K coordinates to 1, or only the first K: f* differs by K/2, yet the first K
    answers to a method that starts at 0 and stays in the span of what it has seen are the same."""
    d = 2 * K
    chain = np.eye(d) - np.eye(d, k=-1)  # rows x_1, x_2 - x_1, ...
    target = np.eye(d)[0]
    f = tb.LeastSquares(np.eye(d)[K:], np.zeros(K))
    ball = tb.L2Ball(1.01 * np.sqrt(d))

    def pulled(length: int, f_star: float, x_star: np.ndarray) -> Instance:
        g = tb.LeastSquares(chain[:length], target[:length])
        problem = tb.Problem(f, g, ball)
        return Instance(problem, 0.0, ROUNDING, f_star, ROUNDING, x_star, note=f"hard pair {K}, {length}")

    return pulled(d, K / 2, np.ones(d)), pulled(K, 0.0, np.repeat([1.0, 0.0], K))


def knapsack(seed: int, d: int = 10) -> Instance:
    """The point nearest to p among those of the unit box whose coordinates sum to 1."""
    p = np.random.default_rng(seed).normal(size=d)
    shift = brentq(lambda mu: np.clip(p - mu, 0, 1).sum() - 1, p.min() - 1, p.max(), xtol=1e-15)
    x = np.clip(p - shift, 0, 1)
    problem = tb.Problem(tb.SquaredNorm(p), tb.LeastSquares(np.ones((1, d)), [1.0]), tb.Box(0.0, 1.0))
    return Instance(problem, 0.0, ROUNDING, 0.5 * float(np.sum((x - p) ** 2)), ROUNDING, x, note="knapsack")


def min_norm(seed: int, n: int = 4, d: int = 9) -> Instance:
    """The smallest solution of a system of equations."""
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(n, d)), rng.normal(size=n)
    x = np.linalg.pinv(A) @ b
    ball = tb.L2Ball(2 * float(np.linalg.norm(x)) + 1)
    problem = tb.Problem(tb.SquaredNorm(dim=d), tb.LeastSquares(A, b), ball)
    return Instance(problem, 0.0, ROUNDING, 0.5 * float(x @ x), ROUNDING, x, note="minimum norm")


def holder(seed: int, r: int, d: int = 4) -> Instance:
    """g grows like the distance to its minimisers to the power r, with constants known exactly.

    Z is [-1, 1]^d and f = 1/2 ||x - p||^2. For r >= 2, g = sum max(0, x_i - u_i)^r is at least
    d^(1 - r/2) dist^r; for r = 1, g = <c, x> with c > 0 in the first coordinates, g - g* is at least
    min(c) dist.
    """
    rng = np.random.default_rng([seed, r])
    p = rng.uniform(-2, 2, d)
    u = rng.uniform(-0.5, 0.5, d)
    if r == 1:
        c = np.where(np.arange(d) < d // 2, rng.uniform(0.5, 2, d), 0.0)
        g, g_star, alpha = tb.Linear(c), -float(c.sum()), float(c[: d // 2].min())
        top = np.where(c > 0, -1.0, 1.0)
    else:
        g = tb.Function(
            lambda x: float(np.sum(np.maximum(x - u, 0) ** r)),
            lambda x: r * np.maximum(x - u, 0) ** (r - 1),
            dim=d,
            convex=True,
            smoothness=r * (r - 1) * float(np.max(1 - u)) ** (r - 2),
        )
        g_star, alpha, top = 0.0, r * d ** (1 - r / 2), u
    x = np.clip(p, -1.0, top)
    # ||x - p|| is convex and separable: its maximum over the box [-1, top] is at a corner
    gradient_bound = float(np.linalg.norm(np.maximum(np.abs(-1 - p), np.abs(top - p))))
    problem = tb.Problem(tb.SquaredNorm(p), g, tb.Box(-1.0, 1.0), error_bound=tb.ErrorBound(alpha, r, gradient_bound))
    return Instance(problem, g_star, ROUNDING, 0.5 * float(np.sum((x - p) ** 2)), ROUNDING, x, note=f"Hölder {r}")
