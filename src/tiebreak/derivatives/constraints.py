"""The constraints that are active at x, as rows with outer normals; the l1 norm through positive and negative parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from ..sets.base import Domain
from ..sets.rows import ByRows

Array = NDArray[np.float64]
NEAR = 1e-6
"""A constraint that x misses by less than this, relative to its terms, is tried as active; multipliers then decide."""


class NoDerivative(ValueError):
    """The answer has no derivative at these data, or none is proved."""


@dataclass(frozen=True)
class Active:
    """The constraints that hold with equality: C X = ends, where x = T X.

    Attributes
    ----------
    T : array
        The identity; with an l1 norm, the difference of positive and negative parts.
    X : array
        The point.
    C, ends : arrays
        Rows with outer normals (C X <= ends over the set), and their right-hand sides.
    equal : boolean array
        Rows that are equations.
    labels : list
        Where each end comes from: ("low" | "high" | "lower" | "upper", index), ("radius", 0), or ("", 0) for a sign
        of a part of x.
    rest, rest_ends : arrays
        The constraints that are not active.
    radius : float
        Of a Euclidean ball whose boundary x is on: the last row is then its normal at X; else 0.
    """

    T: Array
    X: Vector
    C: Array
    ends: Vector
    equal: NDArray[np.bool_]
    labels: list[tuple[str, int]]
    rest: Array
    rest_ends: Vector
    radius: float = 0.0

    def outside(self, X: Vector) -> float:
        """By how much X violates a constraint that is not active, relative to its terms."""
        if not len(self.rest):
            return -np.inf
        gap = self.rest @ X - self.rest_ends
        return float((gap / (np.abs(self.rest) @ np.abs(X) + np.abs(self.rest_ends) + 1e-300)).max())


def active_at(domain: Domain, x: Vector) -> Active:
    """What is active at x; raises NoDerivative for sets that are neither rows nor a Euclidean ball around zero."""
    radius = domain.euclidean_radius
    if domain.rows is not None:
        return _of_rows(domain.rows, x)
    free = Active(
        np.eye(x.size), x, np.zeros((0, x.size)), np.zeros(0), np.zeros(0, bool), [], np.zeros((0, x.size)), np.zeros(0)
    )
    if radius is not None:
        size = float(np.linalg.norm(x))
        if size < (1 - NEAR) * radius:
            return free
        row = x[None] / size
        one = np.array([radius])
        return Active(free.T, x, row, one, np.array([False]), [("radius", 0)], free.rest, free.rest_ends, radius)
    raise NoDerivative(
        f"derivatives are for sets given by rows and for Euclidean balls around zero, not for {domain!r}"
    )


def _of_rows(rows: ByRows, x: Vector) -> Active:
    n = x.size
    A = rows.A.toarray()
    B = None if rows.B is None else rows.B.toarray()
    T, X = np.eye(n), x
    lower, upper = _not_implied(rows, A, B)
    if B is not None:
        sizes = A @ x + B @ np.abs(x)
        limits = B.any(axis=1)
        if (sizes[limits] >= rows.high[limits] - NEAR * (np.abs(rows.high[limits]) + 1e-300)).any():
            T = np.hstack([np.eye(n), -np.eye(n)])
            X = np.concatenate([np.maximum(x, 0), np.maximum(-x, 0)])
            A = np.hstack([A + B, B - A])
        else:  # what limits sizes is not active, and stays so
            A, rows = A[~limits], rows._replace(low=rows.low[~limits], high=rows.high[~limits])
    numbers = np.arange(len(rows.low)) if B is None or T.shape[1] > n else np.flatnonzero(~limits)
    sides = [
        (A, rows.high, "high", numbers),
        (-A, -rows.low, "low", numbers),
        (T[upper], rows.upper[upper], "upper", np.flatnonzero(upper)),
        (-T[lower], -rows.lower[lower], "lower", np.flatnonzero(lower)),
    ]
    if T.shape[1] > n:
        sides.append((-np.eye(2 * n), np.zeros(2 * n), "", np.zeros(2 * n, dtype=np.intp)))
    M = np.vstack([side[0] for side in sides])
    ends = np.concatenate([side[1] for side in sides])
    labels = [(name, int(i)) for _, _, name, index in sides for i in index]
    size = np.abs(M) @ np.abs(X) + np.where(np.isfinite(ends), np.abs(ends), 0.0)
    typical = float(np.abs(x).max(initial=0.0)) or 1.0
    near = np.isfinite(ends) & (ends - M @ X <= NEAR * np.maximum(size, NEAR * typical * np.abs(M).max(axis=1)))
    pair = {label: i for i, label in enumerate(labels) if label[0]}
    opposite = {"high": "low", "low": "high", "upper": "lower", "lower": "upper"}
    equal = np.zeros(len(labels), dtype=bool)
    for i, (name, k) in enumerate(labels):
        other = pair.get((opposite.get(name, ""), k))
        equal[i] = other is not None and ends[i] == -ends[other]
    near &= ~(equal & np.array([name in ("low", "lower") for name, _ in labels], dtype=bool))  # once is enough
    rest = ~near & np.isfinite(ends) & ~equal
    kept = np.flatnonzero(near)
    return Active(T, X, M[kept], ends[kept], equal[kept], [labels[i] for i in kept], M[rest], ends[rest])


def _not_implied(rows: ByRows, A: Array, B: Array | None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which lower and upper bounds are no consequence of one row and the signs of all (as in a simplex)."""
    lower, upper = np.ones((2, rows.lower.size), dtype=bool)
    if (rows.lower >= 0).all():
        for row, end in zip(A, rows.high, strict=True):
            if (row >= 0).all():
                upper &= ~((row > 0) & (row * rows.upper >= end * (1 - 1e-12)))
    if B is not None:
        for row, end in zip(B, rows.high, strict=True):
            follows = (row > 0) & (row * np.minimum(rows.upper, -rows.lower) >= end * (1 - 1e-12))
            lower, upper = lower & ~follows, upper & ~follows
    return lower, upper
