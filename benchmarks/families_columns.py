"""The families of ``families.py`` whose sets are known by their vertices, and boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

import reference as ref
import tiebreak as tb
from decimals import chain
from family import Family, two_levels


def in_l1_ball(radius: float, F: Any, y: Any, A: Any = None, b: Any = None) -> ref.Level:
    """min 1/2 ||F x - y||^2 over A x = b, ||x||_1 <= radius, in the variables (x+, x-, room)."""
    d = F.shape[1]
    norm = np.ones((1, 2 * d + 1))
    rows = norm if A is None else np.vstack([norm, np.hstack([A, -A, np.zeros((A.shape[0], 1))])])
    rhs = np.array([radius]) if b is None else np.append(radius, b)
    return ref.level(2 * d + 1, np.hstack([F, -F, np.zeros((F.shape[0], 1))]), y, A=rows, b=rhs, low=0.0)


def least_l1_norm(A: np.ndarray, b: np.ndarray) -> float:
    """min ||x||_1 subject to A x = b, a linear programme."""
    from scipy.optimize import linprog

    return float(linprog(np.ones(2 * A.shape[1]), A_eq=np.hstack([A, -A]), b_eq=b, method="highs").fun)


def interpolation(seed: int, size: tuple[int, int, int, float]) -> Family:
    """Fewer training rows n than variables d: every interpolant in the l1 ball is a lower solution."""
    n, d, m, factor = size
    rng = np.random.default_rng([seed, n, d, m])
    planted = np.where(rng.random(d) < n / (4 * d), rng.normal(size=d), 0.0)
    A, B = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    b, y = A @ planted + 0.5 * rng.normal(size=n), B @ planted + 10.0 * rng.normal(size=m)
    radius = factor * least_l1_norm(A, b)
    f = ref.solve(in_l1_ball(radius, B, y, A, b))
    name = f"interpolation {n} x {d}, {m} validation rows, {factor:g} x least norm"
    return two_levels(name, tb.LeastSquares(B, y), tb.LeastSquares(A, b), tb.L1Ball(radius), (0.0, 0.0), f)


def page_views(seed: int = 0, days: int = 1068, pages: int = 731) -> np.ndarray:
    """Counts as in the Wikipedia data of the CG-BiO paper: popularity x season x trend x noise x spikes, maxima 1."""
    rng = np.random.default_rng(seed)
    t = np.arange(days)[:, None]
    popularity = np.exp(rng.normal(4.0, 1.5, pages))
    week = 1 + rng.uniform(0, 0.4, pages) * np.cos(2 * np.pi * (t / 7 + 0.1 * rng.normal(size=pages)))
    year = 1 + rng.uniform(0, 0.5, pages) * np.cos(2 * np.pi * (t / 365.25 + 0.1 * rng.normal(size=pages)))
    trend = np.exp(rng.normal(0, 0.3, pages) * t / days)
    noise = np.zeros((days, pages))
    shocks = 0.1 * rng.normal(size=(days, pages))
    for k in range(1, days):
        noise[k] = 0.7 * noise[k - 1] + shocks[k]
    spikes = np.where(rng.random((days, pages)) < 0.002, rng.pareto(2.0, (days, pages)) * 3, 0.0)
    counts = rng.poisson(popularity * week * year * trend * np.exp(noise) * (1 + spikes)).astype(float)
    return counts / np.maximum(counts.max(axis=0), 1.0)


def regression(seed: int, size: float | tuple[float, int, int]) -> Family:
    """The stand-in for the paper's regression: 1068 days, 730 pages, the last page as target; radius, or with sizes."""
    radius, days, pages = size if isinstance(size, tuple) else (size, 1068, 731)
    views = page_views(seed, days, pages)
    order = np.random.default_rng(seed + 1000).permutation(days)
    train, validation = order[: int(0.6 * days)], order[int(0.6 * days) : int(0.8 * days)]
    A, b, B, y = views[train, :-1], views[train, -1], views[validation, :-1], views[validation, -1]
    x, gap = l1_least_squares(A, b, radius)
    lower, upper = tb.LeastSquares(A, b), tb.LeastSquares(B, y)
    value, f, unit = lower.value(x), upper.value(x), 1e-15
    # The lower solution is unique, and on its support mu ||x - x*|| <= ||the slope along the sphere||.
    support = x != 0
    along = np.abs(lower.grad(x)[support])
    mu = float(np.linalg.svd(A[:, support], compute_uv=False)[-1] ** 2)
    away = (np.linalg.norm(along - along.mean()) + unit * np.linalg.norm(A)) / mu + unit * radius
    error = float(np.linalg.norm(upper.grad(x)[support])) * away
    name = f"regression {len(train)} x {pages - 1}, radius {radius:g}, {np.count_nonzero(x)} nonzeros"
    return two_levels(name, upper, lower, tb.L1Ball(radius), (value, gap + unit * value), (f, error + unit * f),
                      "one lower solution")  # fmt: skip


def l1_least_squares(A: np.ndarray, b: np.ndarray, radius: float) -> tuple[np.ndarray, float]:
    """A minimiser on the l1 sphere and its duality gap: an interior point finds the support, Newton the point."""
    d = A.shape[1]
    split, _ = ref.clarabel_point(in_l1_ball(radius, A, b), 1e-11)
    x = split[:d] - split[d : 2 * d]
    slope = np.abs(A.T @ (A @ x - b))
    support = np.flatnonzero((np.abs(x) > 1e-6 * radius) & (slope > (1 - 1e-4) * slope.max()))
    for _ in range(d):
        signs = np.sign(x[support])
        gram = A[:, support].T @ A[:, support]
        system = np.block([[gram, signs[:, None]], [signs[None, :], np.zeros((1, 1))]])
        x = np.zeros(d)
        x[support] = signs * radius / len(support)
        for _ in range(4):  # refinement: the right-hand side is the residual at x
            rhs = np.append(-A[:, support].T @ (A @ x - b), radius - signs @ x[support])
            x[support] += np.linalg.solve(system, rhs)[:-1]
        wrong = x[support] * signs <= 0
        slope = A.T @ (A @ x - b)
        price = float(np.abs(slope[support]).max())
        outside = np.setdiff1d(np.flatnonzero(np.abs(slope) > price * (1 + 1e-9)), support)
        if not wrong.any() and not outside.size:
            break
        x[outside] = -1e-12 * np.sign(slope[outside])
        support = np.union1d(support[~wrong], outside)
    return x, float(max(slope @ x + radius * np.abs(slope).max(), 0.0)) + 1e-16 * radius * price


def portfolio(seed: int, size: tuple[int, int, str, str]) -> Family:
    """Fewer periods than assets: many portfolios of least variance. Returns are integers (basis points)."""
    periods, assets, market, goal = size
    rng = np.random.default_rng([seed, periods, assets])
    R = np.round(100 * rng.normal(size=(periods, assets)))
    if market == "positive":  # every asset loses in the first period, so that some variance remains
        R[0] = -np.round(rng.uniform(50, 150, assets))
        R[0, : assets // 2] = -50
    simplex = {"A": np.ones((1, assets)), "b": [1.0], "low": 0.0}
    lowest = ref.level(assets, R, 0.0, **simplex)
    if goal == "return":
        mu = np.round(100 * rng.normal(size=assets))
        upper, second = tb.Linear(-mu), ref.level(assets, q=-mu, **simplex)
    else:
        equal = np.full(assets, 1.0 / assets)
        upper, second = tb.SquaredNorm(equal), ref.level(assets, np.eye(assets), equal, **simplex)
    g, f = chain([lowest, second])
    form = tb.Quadratic(R.T @ R, np.zeros(assets)) if market == "covariance" else tb.LeastSquares(R, np.zeros(periods))
    name = f"portfolio {periods} x {assets}, {market}, {goal}"
    return two_levels(name, upper, form, tb.Simplex(), (g.value, g.error), f)


def logistic(seed: int, size: tuple[int, int, float]) -> Family:
    """Logistic regression with every column twice, over an l1 ball that binds: how to share the weight is left open."""
    n, k, radius = size
    rng = np.random.default_rng([seed, n, k])
    U = rng.normal(size=(n, k))
    labels = np.where(U @ rng.normal(size=k) + 2 * rng.normal(size=n) > 0, 1.0, -1.0)
    x, gap, value = l1_logistic(U, labels, radius)
    center = rng.normal(size=2 * k)
    split = np.concatenate([_share(pair, total) for pair, total in zip(center.reshape(2, k).T, x, strict=True)])
    best = split.reshape(k, 2).T.ravel()
    f = 0.5 * float((best - center) @ (best - center))
    slope = float(np.linalg.norm(best - center))
    name = f"logistic {n} x {2 * k}, duplicated columns, radius {radius:g}"
    lower, upper = tb.Logistic(np.hstack([U, U]), labels), tb.SquaredNorm(center)
    return two_levels(name, upper, lower, tb.L1Ball(radius), (value, gap + 1e-15), (f, slope * 1e-11 + 1e-15))


def _share(center: np.ndarray, total: float) -> np.ndarray:
    """The nearest pair to ``center`` with sum ``total`` and no opposite signs."""
    sign = 1.0 if total >= 0 else -1.0
    first = np.clip((sign * (center[0] - center[1]) + abs(total)) / 2, 0.0, abs(total))
    return sign * np.array([first, abs(total) - first])


def l1_logistic(A: np.ndarray, labels: np.ndarray, radius: float) -> tuple[np.ndarray, float, float]:
    """The minimiser of the mean log-loss on the l1 sphere: projected gradients find the support, Newton the point."""
    n, d = A.shape

    def loss(x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        margin = labels * (A @ x)
        p = 1 / (1 + np.exp(margin))
        return float(np.logaddexp(0, -margin).mean()), -A.T @ (labels * p) / n, p * (1 - p) / n

    def project(v: np.ndarray) -> np.ndarray:
        sizes = np.sort(np.abs(v))[::-1]
        excess = (np.cumsum(sizes) - radius) / np.arange(1, d + 1)
        cut = max(excess[np.flatnonzero(sizes > excess)[-1]], 0.0)
        return np.sign(v) * np.maximum(np.abs(v) - cut, 0.0)

    step = 4 * n / np.linalg.norm(A, 2) ** 2
    x = z = np.zeros(d)
    momentum = 1.0
    for _ in range(3000):
        following = project(z - step * loss(z)[1])
        later = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        z, x, momentum = following + (momentum - 1) / later * (following - x), following, later
    support = np.flatnonzero(x)
    signs = np.sign(x[support])
    for _ in range(8):
        _, slope, weights = loss(x)
        H = (A[:, support] * weights[:, None]).T @ A[:, support]
        system = np.block([[H, signs[:, None]], [signs[None, :], np.zeros((1, 1))]])
        x[support] += np.linalg.solve(system, np.append(-slope[support], radius - signs @ x[support]))[:-1]
    value, slope, _ = loss(x)
    gap = float(slope @ x + radius * np.abs(slope).max())
    if not (x[support] * signs > 0).all() or gap > 1e-12:
        raise ref.Inaccurate(f"gap {gap:.1e} of the logistic reference")
    return x, max(gap, 0.0), value


def intercept(seed: int, size: tuple[int, int, float]) -> Family:
    """Minimum norm with an intercept that is not counted; ``tightness`` < 1 makes the box bind."""
    n, d, tightness = size
    rng = np.random.default_rng([seed, n, d])
    A, b = rng.normal(size=(n, d)), 5 + rng.normal(size=n)
    bound = tightness * 20.0
    F = np.hstack([np.ones((n, 1)), A])
    counted = np.hstack([np.zeros((d, 1)), np.eye(d)])
    low = np.concatenate([[-20.0], np.full(d, -bound)])
    box = {"low": low, "high": -low}
    g, f = chain([ref.level(d + 1, F, b, **box), ref.level(d + 1, counted, 0.0, **box)])
    lower, upper = tb.LeastSquares(F, b), tb.LeastSquares(counted, np.zeros(d))
    name = f"minimum norm with intercept {n} x {d}, bound {bound:g}"
    return two_levels(name, upper, lower, tb.Box(low, -low), (g.value, g.error), f)
