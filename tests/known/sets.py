"""Every set of the library once more, for the conic solver and by the most naive formulas."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature

import cvxpy as cp
import numpy as np
from scipy.linalg import block_diag
from scipy.optimize import linprog

from known.bounds import ConvexSet, Inaccurate

BY_POWER_CONES = {"approx": False} if "approx" in signature(cp.pnorm).parameters else {}
"""Older versions of CVXPY have no other way than rational exponents, which are exact for those in use here."""


def box(low: np.ndarray, high: np.ndarray) -> ConvexSet:
    return ConvexSet(
        low.size,
        lambda x: [x >= low, x <= high],
        lambda x: max((low - x).max(), (x - high).max()),
        lambda c: float(np.minimum(c * low, c * high).sum()),
        (low + high) / 2,
    )


def norm_ball(norm: Callable, dual: Callable, expr: Callable, radius: float, centre: np.ndarray) -> ConvexSet:
    return ConvexSet(
        centre.size,
        lambda x: [expr(x - centre) <= radius],
        lambda x: norm(x - centre) - radius,
        lambda c: float(c @ centre) - radius * dual(c),
        centre,
    )


def lp_ball(p: float, radius: float, centre: np.ndarray) -> ConvexSet:
    q = p / (p - 1)
    return norm_ball(
        lambda x: np.linalg.norm(x, p),
        lambda c: np.linalg.norm(c, q),
        lambda x: cp.pnorm(x, p, **BY_POWER_CONES),
        radius,
        centre,
    )


def l2_ball(radius: float, centre: np.ndarray) -> ConvexSet:
    return norm_ball(np.linalg.norm, np.linalg.norm, cp.norm2, radius, centre)


def l1_ball(weights: np.ndarray, radius: float) -> ConvexSet:
    return norm_ball(
        lambda x: weights @ np.abs(x),
        lambda c: np.max(np.abs(c) / weights),
        lambda x: cp.norm1(cp.multiply(weights, x)),
        radius,
        np.zeros(weights.size),
    )


def group_ball(groups: list[list[int]], radius: float) -> ConvexSet:
    return norm_ball(
        lambda x: sum(np.linalg.norm(x[g]) for g in groups),
        lambda c: max(np.linalg.norm(c[g]) for g in groups),
        lambda x: sum(cp.norm2(x[g]) for g in groups),
        radius,
        np.zeros(sum(map(len, groups))),
    )


def k_sparse(dim: int, k: int, radius: float) -> ConvexSet:
    """conv of the k-sparse vectors with entries +-radius: |x|_inf <= radius and |x|_1 <= k radius."""
    return ConvexSet(
        dim,
        lambda x: [cp.norm_inf(x) <= radius, cp.norm1(x) <= k * radius],
        lambda x: max(np.abs(x).max() - radius, np.abs(x).sum() - k * radius),
        lambda c: -radius * float(np.sort(np.abs(c))[-k:].sum()),
        np.zeros(dim),
    )


def polytope(A: np.ndarray, b: np.ndarray, E: np.ndarray, e: np.ndarray, centre: np.ndarray) -> ConvexSet:
    """A x <= b and E x = e, bounded; support function by HiGHS."""

    def minimum(c: np.ndarray) -> float:
        tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        equations = (E, e) if E.size else (None, None)
        result = linprog(c, A, b, *equations, (None, None), "highs", options=tight)
        if result.status != 0:
            raise Inaccurate(result.message)
        return float(result.fun)

    def constraints(x: cp.Expression) -> list:
        return [A @ x <= b, E @ x == e] if E.size else [A @ x <= b]

    rows = E if E.size else None
    return ConvexSet(A.shape[1], constraints, lambda x: (A @ x - b).max(), minimum, centre, rows, e)


def simplex(n: int, total: float = 1.0) -> ConvexSet:
    return ConvexSet(
        n,
        lambda x: [x >= 0, cp.sum(x) == total],
        lambda x: -x.min(),
        lambda c: total * float(c.min()),
        np.full(n, total / n),
        np.ones((1, n)),
        np.array([total]),
    )


def hypersimplex(n: int, k: int) -> ConvexSet:
    """0 <= x <= 1 with sum k."""
    return ConvexSet(
        n,
        lambda x: [x >= 0, x <= 1, cp.sum(x) == k],
        lambda x: max(-x.min(), x.max() - 1),
        lambda c: float(np.sort(c)[:k].sum()),
        np.full(n, k / n),
        np.ones((1, n)),
        np.array([float(k)]),
    )


def doubly_stochastic(mask: np.ndarray, centre: np.ndarray) -> ConvexSet:
    """Doubly stochastic matrices with support in ``mask``, as the vector of the entries there."""
    n = mask.shape[0]
    rows, columns = np.nonzero(mask)
    sums = np.vstack([rows == i for i in range(n)] + [columns == j for j in range(n - 1)]).astype(float)
    return polytope(-np.eye(rows.size), np.zeros(rows.size), sums, np.ones(2 * n - 1), centre)


def spectrahedron(n: int, trace: float = 1.0) -> ConvexSet:
    """Positive semidefinite n x n matrices of given trace, as vectors."""
    pairs = [(i, j) for i in range(n) for j in range(i)]
    E = np.zeros((len(pairs) + 1, n * n))
    for row, (i, j) in enumerate(pairs):
        E[row, i * n + j], E[row, j * n + i] = 1.0, -1.0
    E[-1, :: n + 1] = 1.0

    def eigenvalues(v: np.ndarray) -> np.ndarray:
        matrix = v.reshape(n, n)
        return np.linalg.eigvalsh((matrix + matrix.T) / 2)

    def constraints(x: cp.Expression) -> list:
        matrix = cp.Variable((n, n), PSD=True)
        return [cp.trace(matrix) == trace, x == cp.vec(matrix, order="C")]

    return ConvexSet(
        n * n,
        constraints,
        lambda x: -eigenvalues(x)[0],
        lambda c: trace * float(eigenvalues(c)[0]),
        trace / n * np.eye(n).ravel(),
        E,
        np.append(np.zeros(len(pairs)), trace),
    )


def nuclear_ball(shape: tuple[int, int], radius: float) -> ConvexSet:
    def singular(v: np.ndarray) -> np.ndarray:
        return np.linalg.svd(v.reshape(shape), compute_uv=False)

    return norm_ball(
        lambda x: singular(x).sum(),
        lambda c: singular(c)[0],
        lambda x: cp.normNuc(cp.reshape(x, shape, order="C")),
        radius,
        np.zeros(shape[0] * shape[1]),
    )


def product(first: ConvexSet, second: ConvexSet) -> ConvexSet:
    n = first.dim
    parts = [part for part in (first, second) if part.E is not None]
    E = block_diag(*(p.E if p.E is not None else np.zeros((0, p.dim)) for p in (first, second)))
    return ConvexSet(
        n + second.dim,
        lambda x: first.constraints(x[:n]) + second.constraints(x[n:]),
        lambda x: max(first.excess(x[:n]), second.excess(x[n:])),
        lambda c: first.minimum(c[:n]) + second.minimum(c[n:]),
        np.concatenate([first.centre, second.centre]),
        E if parts else None,
        np.concatenate([p.e for p in parts]) if parts else None,
    )


def permuted(inner: ConvexSet, order: np.ndarray, back: np.ndarray) -> ConvexSet:
    """The points x[order] for x in the set."""
    return ConvexSet(
        inner.dim,
        lambda x: inner.constraints(x[back]),
        lambda x: inner.excess(x[back]),
        lambda c: inner.minimum(c[back]),
        inner.centre[order],
        None if inner.E is None else inner.E[:, order],
        inner.e,
    )
