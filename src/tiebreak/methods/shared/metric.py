"""Strongly convex quadratics as metrics: their minimisers, and their minima over two half-spaces."""

from __future__ import annotations

import numpy as np

from ...arrays import Vector
from ...problem import Problem
from .curvature import hessian, isotropic


def metric(problem: Problem) -> tuple[Vector, Vector]:
    """The minimiser of f over R^d and the Cholesky factor of its Hessian."""
    f, d = problem.upper, problem.dim
    simple = isotropic(f, d)
    if simple and simple[0] > 0:
        mu, c = simple
        return c / mu, np.array(np.sqrt(mu))
    if f.quadratic and f.convex and not simple:
        H = hessian(f, d)
        spectrum = np.linalg.eigvalsh(H)
        if spectrum[0] > 1e-12 * d * spectrum[-1]:
            root: Vector = np.linalg.cholesky(H).astype(np.float64)
            return -_solve(root, f.grad(np.zeros(d))), root
    raise ValueError(
        "mng minimises f over two half-spaces in each update, which it can do for strongly convex quadratic upper "
        "levels only (SquaredNorm; Quadratic or LeastSquares with a positive definite Hessian; their sums): the "
        'upper level is none; add a small multiple of SquaredNorm() to it, or use "big-sam" or "cg-bio-anytime"'
    )


def times(root: Vector, v: Vector) -> Vector:
    """H v, where root root' = H."""
    return float(root) ** 2 * v if root.ndim == 0 else root @ (root.T @ v)


def _solve(root: Vector, v: Vector) -> Vector:
    """H^-1 v, where root root' = H."""
    if root.ndim == 0:
        return v / float(root) ** 2
    from scipy.linalg import cho_solve

    solved: Vector = cho_solve((root, True), v)
    return solved


def nearest_in_two_half_spaces(a: Vector, root: Vector, rows: Vector, bounds: Vector) -> Vector:
    """The minimiser of <z - a, H (z - a)> subject to rows z <= bounds (two of them), where root root' = H.

    z = a - H^-1 rows' l, where the multipliers l >= 0 vanish on a set of rows: four cases.
    """
    toward = _solve(root, rows.T)
    size = np.sqrt(np.einsum("ij,ji->i", rows, toward))
    size[size == 0] = 1.0  # a row of zeros says nothing
    rows, toward, bounds = rows / size[:, None], toward / size, bounds / size
    gram, excess = rows @ toward, rows @ a - bounds
    if not (np.isfinite(gram).all() and np.isfinite(excess).all()):  # the run ends where it next looks at its iterate
        return np.full(a.size, np.nan)
    best, least = a, np.inf
    for active in ([], [0], [1], [0, 1]):
        weights = np.zeros(2)
        if active:
            weights[active] = np.linalg.lstsq(gram[np.ix_(active, active)], excess[active], rcond=None)[0]
        violation = max(float((excess - gram @ weights).max()), float(-weights.min()))
        if violation < least - 1e-14 * float(np.abs(excess).max()):
            best, least = a - toward @ weights, violation
    return best
