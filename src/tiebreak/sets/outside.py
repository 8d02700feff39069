"""How far outside a set a point may lie: a bound on its distance, in the units of the point.

Each bound is the distance to a point of the set that is known: on the ray to the center of a ball, the clipped and
rescaled point of a simplex, the pulled-back point of a polyhedron. Rounding of what is compared is given away. Where a
row of a polyhedron is met to the rounding of its own terms, nothing better can be computed: the way to it counts, as if
it were the only one or at right angles to the others.
"""

from __future__ import annotations

from math import inf

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Vector
from ..numerics.csr import absolute, row_numbers
from ..numerics.deadline import check
from ..numerics.rows import Rows

PULLS = 8
"""Most corrections of a point of a polyhedron; each takes in the rows that the one before has crossed."""


def beyond_radius(gauge: float, radius: float, length: float, count: int) -> float:
    """For a ball {gauge <= radius}: shrink towards its center, from which x is ``length`` away, Euclidean.

    ``count`` is the number of entries that the gauge is computed from.
    """
    most = gauge * (1 + (count + 16) * UNIT_ROUNDOFF)
    if most <= radius:
        return 0.0
    return ((1 - radius / most) + 4 * UNIT_ROUNDOFF) * length * (1 + (count + 4) * UNIT_ROUNDOFF)


def beside_simplex(x: Vector, total: float) -> float:
    """For {s >= 0, sum of s = total}: clip, then scale to the sum."""
    clipped = np.maximum(x, 0.0)
    units = (x.size + 8) * UNIT_ROUNDOFF
    found = float(clipped.sum())
    if not found > 0:
        return float(np.linalg.norm(x)) + total
    off = abs(1 - total / found) + units * (1 + total / found)
    return (float(np.linalg.norm(x - clipped)) + off * float(np.linalg.norm(clipped))) * (1 + units)


def beside_doubly_stochastic(X: np.ndarray) -> float:
    """For matrices >= 0 whose rows and columns sum to 1: clip, scale all sums to at most 1, and fill what is missing.

    With a and b the deficits of rows and columns, both of sum S, adding a b' / S makes every sum 1; it is at most |a|
    long, as |b| <= S.
    """
    n, clipped = len(X), np.maximum(X, 0.0)
    units = (n + 8) * UNIT_ROUNDOFF
    sums = np.concatenate([clipped.sum(axis=0), clipped.sum(axis=1)])
    scale = max(1.0, float(sums.max()) * (1 + units))
    deficits = np.maximum(1 - sums[n:] / scale, 0.0) + 2 * units
    length = float(np.linalg.norm(clipped))
    parts = float(np.linalg.norm(X - clipped)) + (1 - 1 / scale + UNIT_ROUNDOFF) * length
    return (parts + float(np.linalg.norm(deficits))) * (1 + units * n)


def pulled_back(rows: Rows, x: Vector) -> Vector | None:
    """A point near x within all bounds that misses no row by more than the rounding of its terms; None: not found.

    Least squares on the rows that are missed, with a margin for those that have room, again until none is missed.
    """
    from scipy.sparse.linalg import lsqr

    p = np.clip(x, rows.lower, rows.upper)
    free, touched = np.ones(p.size, dtype=bool), np.zeros(rows.A.shape[0], dtype=bool)
    for _ in range(PULLS + 1):
        check()
        above, below, rounding = _misses(rows, p)
        miss = np.maximum(above, below)
        if not (miss > rounding).any():
            return p
        touched |= miss > rounding
        at = np.flatnonzero(touched)
        margin = np.where(rows.low < rows.high, 2 * rounding, 0.0)
        change = np.where(miss > rounding, np.where(above > below, -(above + margin), below + margin), 0.0)[at]
        A = rows.A[at][:, np.flatnonzero(free)]
        norms = np.sqrt(A.multiply(A).sum(axis=1))
        norms[norms == 0] = 1.0
        step = lsqr(A.multiply(1 / norms[:, None]).tocsr(), change / norms, atol=1e-15, btol=1e-15, iter_lim=200)[0]
        if not np.isfinite(step).all():
            return None
        p[free] += step
        inside = np.clip(p, rows.lower, rows.upper)
        free &= p == inside
        p = inside
    return None


def beside_rows(rows: Rows, x: Vector) -> float:
    """For a point that misses no row by more than the rounding of its terms: how far the rows may be from it."""
    above, below, rounding = _misses(rows, x)
    miss = np.maximum(np.maximum(above, below) + rounding, 0.0)
    at = np.flatnonzero(miss > 0)
    if not at.size:
        return 0.0
    norms = np.sqrt(np.bincount(row_numbers(rows.A), rows.A.data**2, minlength=miss.size))[at]
    return length_of(miss[at] / np.where(norms > 0, norms, np.inf))


def _misses(rows: Rows, x: Vector) -> tuple[Vector, Vector, Vector]:
    """By how much the rows are above and below their ends, and what rounding may have to do with it."""
    activity, terms = rows.A @ x, absolute(rows.A) @ np.abs(x)
    ends = np.maximum(*(np.where(np.isfinite(end), np.abs(end), 0.0) for end in (rows.low, rows.high)))
    rounding = UNIT_ROUNDOFF * ((np.diff(rows.A.indptr) + 2) * terms + ends)
    return activity - rows.high, rows.low - activity, rounding


def length_of(x: Vector) -> float:
    """The Euclidean length, rounded up; inf for what is not finite."""
    length = float(np.linalg.norm(x)) * (1 + (x.size + 4) * UNIT_ROUNDOFF)
    return length if np.isfinite(length) else inf
