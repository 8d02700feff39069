"""Curved sets, smooth losses and curved slack for ``vjp.py``, with answers in 50 digits by equations of each case.

The equations are written for the constraints that the answer is seen to meet, and solved by Newton's method with
differences in 50 digits: nothing of the library is used but where to begin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import mpmath as mp
import numpy as np

import tiebreak as tb
from tiebreak.sets.cone import Cone
from vjp_case import Case

Array = Any
mp.mp.dps = 50


def exact(one: Any) -> Array:
    """An array of numbers with 50 digits."""
    return np.vectorize(mp.mpf, otypes=[object])(np.asarray(one, dtype=object))


def root(equations: Callable[[Array], Array], start: Any) -> Array:
    """Where as many equations as unknowns, or more that agree, are zero."""
    v, h = exact(start), mp.mpf(10) ** -25
    for _ in range(12):
        r = equations(v)
        J = mp.matrix(len(r), len(v))
        for j in range(len(v)):
            w = v.copy()
            w[j] += h
            for i, entry in enumerate((equations(w) - r) / h):
                J[i, j] = entry
        step = mp.lu_solve(J, mp.matrix([-one for one in r]))
        v = v + np.array(list(step), dtype=object)
        if max(abs(one) for one in step) < mp.mpf(10) ** -40:
            return v
    raise ArithmeticError("no root")


def start_of(make: Callable[..., tb.Problem], arrays: Any) -> np.ndarray:
    """The answer of the library, to begin at."""
    return tb.solve(make(*[np.array(one, dtype=float) for one in arrays]), tol_upper=1e-6, tol_lower=1e-6).x


def joined(*parts: Any) -> Array:
    """One vector."""
    return np.concatenate([np.atleast_1d(np.asarray(one, dtype=object)) for one in parts])


def dual_of(gradient: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Multipliers to begin at."""
    return np.linalg.lstsq(rows.T, -gradient, rcond=None)[0]


def cases(count: int, first: int = 0) -> Iterator[Case]:
    """So many of each kind."""
    kinds = (ball, partial(power, p=3.0), partial(power, p=1.5), groups, matrix, nuclear, disk, counts, logit, radius)
    for seed in range(first, first + count):
        rng = np.random.default_rng(seed)
        yield from (kind(rng) for kind in kinds)


def ball(rng: np.random.Generator) -> Case:
    """Few equations by least squares, then a quadratic, in a ball around a point, beside a free entry of a box."""
    n = 5

    def make(A: Any, b: Any, q: Any, radius: Any, center: Any) -> tb.Problem:
        Z = tb.Product({"ball": tb.L2Ball(float(radius[0]), center), "rest": tb.Box(-9 * np.ones(1), 9 * np.ones(1))})
        return tb.Problem(tb.Quadratic(np.eye(n + 1), q), tb.LeastSquares(A, b), Z)

    x0 = rng.normal(size=n)
    A, center = rng.normal(size=(2, n + 1)), rng.normal(size=n)
    inside = np.append(center + 0.3 * x0 / np.linalg.norm(x0), 0.5)
    data = {(0, "A"): A, (0, "b"): A @ inside, (1, "q"): 4 * rng.normal(size=n + 1)}
    data |= {("domain", "ball.radius"): np.array([1.0]), ("domain", "ball.center"): center}
    at = start_of(make, data.values())

    def truth(A: Array, b: Array, q: Array, radius: Array, center: Array) -> Array:
        def equations(v: Array) -> Array:
            x, w, lam = v[: n + 1], v[n + 1 : n + 3], v[n + 3]
            away = x[:n] - center
            return joined(x + q + A.T @ w + lam * joined(away, 0), A @ x - b, away @ away - radius[0] ** 2)

        normal = np.append(at[:n] - data["domain", "ball.center"], 0)
        grad, rows = at + data[(1, "q")], np.vstack([data[(0, "A")], normal])
        return root(equations, np.append(at, dual_of(grad, rows)))[: n + 1]

    return Case("cones", make, data, truth, exact)


def power(rng: np.random.Generator, p: float) -> Case:
    """Least squares in an lp ball."""
    n = 5

    def make(A: Any, b: Any, radius: Any, center: Any) -> tb.Problem:
        return tb.Problem(tb.SquaredNorm(center), tb.LeastSquares(A, b), tb.LpBall(p, float(radius[0]), dim=n))

    A = rng.normal(size=(7, n))
    b = A @ (3 * np.where(rng.uniform(size=n) < 0.5, -1, 1) * rng.uniform(0.5, 1, size=n))
    data = {(0, "A"): A, (0, "b"): b, ("domain", "radius"): np.array([1.0]), (1, "center"): np.zeros(n)}
    at = start_of(make, data.values())

    def truth(A: Array, b: Array, radius: Array, center: Array) -> Array:
        def equations(v: Array) -> Array:
            x, lam = v[:n], v[n]
            normal = np.array([mp.sign(one) * abs(one) ** (mp.mpf(p) - 1) for one in x], dtype=object)
            total = sum(abs(one) ** mp.mpf(p) for one in x)
            return joined(A.T @ (A @ x - b) + lam * normal, total - radius[0] ** mp.mpf(p))

        grad = data[(0, "A")].T @ (data[(0, "A")] @ at - data[(0, "b")])
        return root(equations, np.append(at, dual_of(grad, (np.sign(at) * np.abs(at) ** (p - 1))[None])))[:n]

    return Case("cones", make, data, truth, exact)


def groups(rng: np.random.Generator) -> Case:
    """Least squares in the ball of a group norm, where some groups vanish."""
    labels = np.array([0, 0, 1, 1, 2, 2, 3])
    n = labels.size

    def make(A: Any, b: Any, radius: Any) -> tb.Problem:
        return tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, b), tb.GroupBall(labels, float(radius[0])))

    A = rng.normal(size=(10, n))
    b = A @ np.array([2, 1, 0.1, 0, -1.5, 1, 0.2])
    data = {(0, "A"): A, (0, "b"): b, ("domain", "radius"): np.array([1.0])}
    at = start_of(make, data.values())
    on = np.isin(labels, [g for g in range(4) if np.linalg.norm(at[labels == g]) > 1e-7])

    def units(x: Array, root_of: Callable[[Any], Any]) -> Array:
        lengths = {g: root_of(sum(x[on & (labels == g)] ** 2)) for g in set(labels[on])}
        return joined(*(x[i] / lengths[labels[i]] if on[i] else 0 * x[i] for i in range(n))), sum(lengths.values())

    def truth(A: Array, b: Array, radius: Array) -> Array:
        def full(v: Array) -> Array:
            x = exact(np.zeros(n))
            x[on] = v[:-1]
            return x

        def equations(v: Array) -> Array:
            x = full(v)
            normal, total = units(x, mp.sqrt)
            return joined((A.T @ (A @ x - b) + v[-1] * normal)[on], total - radius[0])

        grad = data[(0, "A")].T @ (data[(0, "A")] @ at - data[(0, "b")])
        normal = units(at, np.sqrt)[0]
        return full(root(equations, np.append(at[on], -float(grad @ normal) / float(normal @ normal))))

    return Case("cones", make, data, truth, exact)


def matrix(rng: np.random.Generator) -> Case:
    """The nearest matrix of a spectrahedron, in weights, where its rank is one or two of three."""
    k = 3
    half = rng.normal(size=(k, int(rng.integers(1, 3))))
    W = rng.uniform(0.5, 2, size=(k, k))

    def make(center: Any, trace: Any) -> tb.Problem:
        C = (center.reshape(k, k) + center.reshape(k, k).T) / 2
        return tb.Problem(tb.SquaredNorm(), tb.SquaredNorm(C.ravel(), weights=((W + W.T) / 2).ravel()),
                          tb.Spectrahedron(k, float(trace[0])))  # fmt: skip

    center = (2 * half @ half.T / np.trace(half @ half.T) - 0.3 * np.eye(k)).ravel()
    data = {(0, "center"): center, ("domain", "trace"): np.array([1.0])}
    at = start_of(make, data.values()).reshape(k, k)
    return Case("cones", make, data, partial(_by_factor, at, exact((W + W.T) / 2)), exact)


def _by_factor(at: np.ndarray, W: Array, center: Array, trace: Array) -> Array:
    """X = L L' with L lower triangular, (gradient) L = nu L, and the trace."""
    k = len(at)
    values, vectors = np.linalg.eigh(at)
    rank = int((values > 1e-6).sum())
    L0 = np.linalg.qr((vectors[:, -rank:] * np.sqrt(values[-rank:])).T)[1].T
    places = [(i, j) for j in range(rank) for i in range(j, k)]
    C = (center.reshape(k, k) + center.reshape(k, k).T) / 2

    def factor(v: Array) -> Array:
        L = exact(np.zeros((k, rank)))
        for (i, j), entry in zip(places, v, strict=False):
            L[i, j] = entry
        return L

    def equations(v: Array) -> Array:
        L = factor(v)
        X = L @ L.T
        return joined(((W * (X - C)) @ L - v[-1] * L).ravel(), sum(X.diagonal()) - trace[0])

    grad = np.array(W, dtype=float) * (at - np.array(C, dtype=float))
    nu = float(np.sum((grad @ L0) * L0) / np.sum(L0 * L0))
    L = factor(root(equations, [*(L0[i, j] for i, j in places), nu]))
    return (L @ L.T).ravel()


def nuclear(rng: np.random.Generator) -> Case:
    """The nearest matrix of a nuclear ball, which has rank one or two: singular values are cut by one number."""
    shape, rank = (3, 4), int(rng.integers(1, 3))
    U, V = np.linalg.qr(rng.normal(size=(3, 3)))[0], np.linalg.qr(rng.normal(size=(4, 3)))[0]
    target = (U * ([3.0, 0.6, 0.2] if rank == 1 else [2.0, 1.6, 0.3])) @ V.T

    def make(center: Any, radius: Any) -> tb.Problem:
        return tb.Problem(tb.SquaredNorm(), tb.SquaredNorm(center), tb.NuclearBall(shape, float(radius[0])))

    def truth(center: Array, radius: Array) -> Array:
        left, values, right = mp.svd_r(mp.matrix(center.reshape(shape).tolist()))
        cut = (sum(values[i] for i in range(rank)) - radius[0]) / rank
        X = sum((values[i] - cut) * left[:, i] * right[i, :] for i in range(rank))
        return np.array([X[i, j] for i in range(3) for j in range(4)], dtype=object)

    data = {(0, "center"): target.ravel(), ("domain", "radius"): np.array([1.0])}
    return Case("cones", make, data, truth, exact)


def disk(rng: np.random.Generator) -> Case:
    """A cone |D x| <= d with a row, least squares with few rows, then the nearest to a point."""
    n = 4
    D = rng.normal(size=(3, n)) + 2 * np.eye(3, n)
    row = rng.normal(size=n)

    def make(b: Any, A: Any, targets: Any, center: Any) -> tb.Problem:
        Z = Cone(np.vstack([row, np.zeros(n), -D, np.eye(n), -np.eye(n)]), np.r_[b, np.full(2 * n, 9.0)],
                 [("nonnegative", 1), ("second-order", 4), ("nonnegative", 2 * n)])  # fmt: skip
        return tb.Problem(tb.SquaredNorm(center), tb.LeastSquares(A, targets), Z)

    A = rng.normal(size=(1, n))
    b = np.r_[1.0, 1.0, 0.1 * rng.normal(size=3)]
    data = {("domain", "b"): b, (0, "A"): A, (0, "b"): 0.1 * rng.normal(size=1), (1, "center"): 2 * rng.normal(size=n)}
    at = start_of(make, data.values())
    tight = abs(row @ at - b[0]) < 1e-6
    curved = abs(b[1] - np.linalg.norm(b[2:] + D @ at)) < 1e-6

    def truth(b: Array, A: Array, targets: Array, center: Array) -> Array:
        def equations(v: Array) -> Array:
            x, (w, mu, lam) = v[:n], v[n:]
            s = b[2:] + exact(D) @ x
            stationary = x - center + A[0] * w + exact(row) * mu + lam * (exact(D).T @ s)
            ends = [exact(row) @ x - b[0] if tight else mu, s @ s - b[1] ** 2 if curved else lam]
            return joined(stationary, A[0] @ x - targets[0], *ends)

        rows = np.vstack([data[(0, "A")], row * tight, (D.T @ (data["domain", "b"][2:] + D @ at)) * curved])
        return root(equations, np.append(at, dual_of(at - data[(1, "center")], rows)))[:n]

    return Case("cones", make, data, truth, exact)


def _sigmoid(t: Any) -> Any:
    return np.array([1 / (1 + mp.exp(-one)) for one in t], dtype=object)


def counts(rng: np.random.Generator) -> Case:
    """Poisson with few rows, then the nearest to a point, in a box."""
    n, y = 6, np.round(rng.uniform(1, 5, size=3))

    def make(A: Any, center: Any, upper: Any) -> tb.Problem:
        return tb.Problem(tb.SquaredNorm(center), tb.Poisson(A, y), tb.Box(-1.0, upper))

    data = {(0, "A"): rng.normal(size=(3, n)), (1, "center"): rng.normal(size=n), ("domain", "upper"): np.ones(n)}
    at = start_of(make, data.values())
    high, low = at > 1 - 1e-7, at < -1 + 1e-7

    def truth(A: Array, center: Array, upper: Array) -> Array:
        fixed = np.where(high, upper, exact(-np.ones(n)))
        free = ~(high | low)

        def equations(v: Array) -> Array:
            x = fixed.copy()
            x[free] = v[: free.sum()]
            means = np.array([mp.log(one) for one in y], dtype=object)
            return joined((x - center + A.T @ v[free.sum() :])[free], A @ x - means)

        start = np.append(at[free], dual_of((at - data[(1, "center")])[free], data[(0, "A")][:, free]))
        x = fixed.copy()
        x[free] = root(equations, start)[: free.sum()]
        return x

    return Case("smooth", make, data, truth, exact)


def logit(rng: np.random.Generator) -> Case:
    """Least squares with few rows, then a logistic loss with a square."""
    n, signs = 5, np.r_[1.0, -1.0, np.where(rng.normal(size=3) > 0, 1.0, -1.0)]

    def make(A: Any, B: Any, b: Any) -> tb.Problem:
        return tb.Problem(tb.Logistic(A, signs) + tb.SquaredNorm(), tb.LeastSquares(B, b), tb.Box(-2, 2))

    B = 0.3 * rng.normal(size=(2, n))
    data = {(1, "0.A"): rng.normal(size=(5, n)), (0, "A"): B, (0, "b"): 0.1 * rng.normal(size=2)}
    at = start_of(make, data.values())

    def truth(A: Array, B: Array, b: Array) -> Array:
        scaled = exact(signs)[:, None] * A

        def equations(v: Array) -> Array:
            x = v[:n]
            return joined(x - scaled.T @ _sigmoid(-(scaled @ x)) / len(A) + B.T @ v[n:], B @ x - b)

        return root(equations, np.append(at, np.zeros(2)))[:n]

    return Case("smooth", make, data, truth, exact)


def radius(rng: np.random.Generator) -> Case:
    """A logistic loss, or least squares, within a slack of its best; then the nearest to a point."""
    n, by_squares, shared = 4, bool(rng.integers(2)), bool(rng.integers(2))
    signs = np.where(np.arange(9) % 2, 1.0, -1.0)

    def make(A: Any, b: Any, slack: Any, center: Any) -> tb.Problem:
        g = tb.LeastSquares(A, b) if by_squares else tb.Logistic(A, signs) + 0.5 * tb.SquaredNorm(b)
        slacks = {"relative_slack" if shared else "slack": float(slack[0])}
        return tb.Problem(tb.SquaredNorm(center), g, tb.Box(-9, 9), **slacks)

    size = 9 if by_squares else n
    names = ((0, "A"), (0, "b")) if by_squares else ((0, "0.A"), (0, "1.center"))
    data = dict(zip(names, (rng.normal(size=(9, n)), rng.normal(size=size)), strict=True))
    data |= {(0, "relative_slack" if shared else "slack"): np.array([0.1]), (1, "center"): 2 * rng.normal(size=n)}
    at = start_of(make, data.values())

    def truth(A: Array, b: Array, slack: Array, center: Array) -> Array:
        scaled = exact(signs)[:, None] * A

        def loss(x: Array) -> tuple[Any, Array]:
            if by_squares:
                return (A @ x - b) @ (A @ x - b) / 2, A.T @ (A @ x - b)
            value = sum(mp.log(1 + mp.exp(-one)) for one in scaled @ x) / len(A) + (x - b) @ (x - b) / 4
            return value, (x - b) / 2 - scaled.T @ _sigmoid(-(scaled @ x)) / len(A)

        best = loss(root(lambda x: loss(x)[1], np.zeros(n)))[0]
        limit = best * (1 + slack[0]) if shared else best + slack[0]

        def equations(v: Array) -> Array:
            value, grad = loss(v[:n])
            return joined(v[:n] - center + v[n] * grad, value - limit)

        grad = np.array([float(one) for one in loss(exact(at))[1]])
        return root(equations, np.append(at, dual_of(at - data[(1, "center")], grad[None])))[:n]

    return Case("slack", make, data, truth, exact)
