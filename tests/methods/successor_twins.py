"""The successors of CG-BiO written down naively, for a regression over the box [-1/2, 1/2]^6."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import tiebreak as tb

TIGHT = {"solver": "CLARABEL", "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def regression(seed: int) -> tuple[tb.LeastSquares, tb.LeastSquares]:
    rng = np.random.default_rng(seed)
    return (
        tb.LeastSquares(rng.standard_normal((12, 6)), rng.standard_normal(12)),
        tb.LeastSquares(rng.standard_normal((4, 6)), rng.standard_normal(4)),
    )


def box(v: np.ndarray) -> np.ndarray:
    return np.clip(v, -0.5, 0.5)


Gradient = Callable[[np.ndarray], np.ndarray]


class Data:
    """The gradients and Lipschitz constants of a regression, computed here and not by the library."""

    def __init__(self, seed: int) -> None:
        self.upper, self.lower = regression(seed)
        (A, b), (B, t) = ((one.A, one.b) for one in (self.upper, self.lower))
        self.f: Gradient = lambda x: A.T @ (A @ x - b)
        self.g: Gradient = lambda x: B.T @ (B @ x - t)
        self.lower_value = lambda x: 0.5 * np.sum((B @ x - t) ** 2)
        self.Lf, self.Lg = np.linalg.norm(A, 2) ** 2, np.linalg.norm(B, 2) ** 2
        self.x0 = np.full(6, 0.5)
        self.problem = tb.Problem(self.upper, self.lower, tb.Box(np.full(6, -0.5), np.full(6, 0.5)))


def ir_cg(d: Data) -> Iterator[np.ndarray]:
    xs, sigmas = [d.x0], []
    yield d.x0
    while True:
        k, x = len(sigmas), xs[-1]
        sigmas.append(d.Lg / d.Lf / np.sqrt(k + 1))
        s = np.where(sigmas[-1] * d.f(x) + d.g(x) > 0, -0.5, 0.5)
        xs.append(x + 2 / (k + 2) * (s - x))
        t = k + 1
        weights = [0.0] + [j * (j + 1) * (sigmas[j - 1] - sigmas[j]) for j in range(1, t)] + [t * (t + 1) * sigmas[-1]]
        yield np.average(xs, axis=0, weights=weights)


def bi_sg(d: Data) -> Iterator[np.ndarray]:
    x, k = d.x0, 0
    yield x
    while True:
        y = box(x - d.g(x) / d.Lg)
        x = y - d.f(y) / d.Lf / (k + 1) ** 0.95
        k += 1
        yield y


def fbi_pg(d: Data) -> Iterator[np.ndarray]:
    x = old = d.x0
    k, c = 0, d.Lg / d.Lf
    while True:
        yield x
        y = x + k / (k + 4) * (x - old)
        s = 1 / (d.Lg + c * 3**-1.5 * d.Lf)
        x, old = box(y - s * (d.g(y) + c * (k + 3) ** -1.5 * d.f(y))), x
        k += 1


def r_apm(d: Data) -> Iterator[np.ndarray]:
    eta = 1e-5 * d.Lg / d.Lf
    x = y = d.x0
    t = 1.0
    while True:
        yield x
        new = box(y - (d.g(y) + eta * d.f(y)) / (d.Lg + eta * d.Lf))
        t_new = (1 + np.sqrt(1 + 4 * t**2)) / 2
        y = new + (t - 1) / t_new * (new - x)
        x, t = new, t_new


def bi_fista(d: Data) -> Iterator[np.ndarray]:
    x = old = d.x0
    k = 0
    weight = lambda j: 10 * d.Lg / d.Lf / (j + 11) ** 1.5  # noqa: E731
    while True:
        yield x
        y = x + (1 - 4 / (k + 21)) * (x - old)
        x, old = box(y - 0.95 / (d.Lg + weight(0) * d.Lf) * (d.g(y) + weight(k) * d.f(y))), x
        k += 1


def stabim(d: Data) -> Iterator[np.ndarray]:
    x, sigma, k = d.x0, 1.0, 0
    while True:
        yield x
        k += 1
        sigma = min(max(1 / k, 3 / 4 * sigma), sigma)
        w = sigma * d.Lg / d.Lf
        x = box(x - 0.99 / (d.Lg + w * d.Lf) * (d.g(x) + w * d.f(x)))


def greedy_fista(d: Data) -> Iterator[np.ndarray]:
    """PB-APG on f + gamma g, as its authors scale it."""
    gamma = 1e5 * d.Lf / d.Lg
    L = d.Lf + gamma * d.Lg
    step, x, y, first = 1.3 / L, d.x0, d.x0, None
    while True:
        yield x
        new = box(y - step * (d.f(y) + gamma * d.g(y)))
        change = new - x
        first = np.linalg.norm(change) if first is None else first
        restart = (y - new) @ change >= 0
        if np.linalg.norm(change) > first:
            step = max(1 / L, 0.96 * step)
        x, y = new, new if restart else new + change


def stages(d: Data) -> Iterator[np.ndarray]:
    """aPB-APG: greedy FISTA on f + gamma g, gamma 20 times larger once steps are shorter than 1e-6, 1e-8, ... of D."""
    gamma, tol, x = d.Lf / d.Lg, 1e-6 * np.sqrt(6), d.x0
    yield x
    while True:
        L = d.Lf + gamma * d.Lg
        step, y, first, moved = 1.3 / L, x, None, np.inf
        while moved > tol:
            new = box(y - step * (d.f(y) + gamma * d.g(y)))
            change, moved = new - x, np.linalg.norm(new - x)
            first = moved if first is None else first
            step = max(1 / L, 0.96 * step) if moved > first else step
            x, y = new, new if (y - new) @ change >= 0 else new + change
            yield x
        gamma, tol = 20 * gamma, tol / 100


def agm_bio(d: Data) -> Iterator[np.ndarray]:
    import cvxpy as cp

    x = z = u = v = d.x0
    A, t, k, level = 0.0, 1.0, 0, d.lower_value(d.x0)
    while True:
        yield x
        new = box(v - d.g(v) / d.Lg)
        t_new = (1 + np.sqrt(1 + 4 * t**2)) / 2
        u, v, t = new, new + (t - 1) / t_new * (new - u), t_new
        level = min(level, d.lower_value(u))
        a = (k + 1) / (4 * d.Lf)
        y = (A * x + a * z) / (A + a)
        p = cp.Variable(6)
        cut = d.lower_value(y) + d.g(y) @ (p - y) <= level
        nearest = cp.Minimize(cp.sum_squares(p - (z - a * d.f(y))))
        cp.Problem(nearest, [cut, p <= 0.5, p >= -0.5]).solve(**TIGHT)
        z = p.value
        x = (A * x + a * z) / (A + a)
        A, k = A + a, k + 1
