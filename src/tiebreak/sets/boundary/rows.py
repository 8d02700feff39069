"""Polyhedra near a point, by their rows and bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ..rows import ByRows
from .description import Array, Boundary, Place, Source


def boundary_of(rows: ByRows, x: Vector) -> Boundary:
    """All rows and bounds that are no consequence of others by the look of it.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.sets.simplex import Simplex
    >>> found = boundary_of(Simplex(2.0).with_dim(2).rows, np.array([2.0, 0.0]))
    >>> found.rows.tolist(), found.ends.tolist(), found.equal.tolist()
    ([[1.0, 1.0], [-1.0, -0.0], [-0.0, -1.0]], [2.0, -0.0, -0.0], [True, False, False])
    """
    A, eye = rows.A.toarray(), np.eye(x.size)
    B = np.zeros(A.shape) if rows.B is None else rows.B.toarray()
    lower, upper = _not_implied(rows, A, B)
    sides = [
        ("high", A, B, rows.high, np.isfinite(rows.high), rows.low == rows.high),
        ("low", -A, B, -rows.low, np.isfinite(rows.low) & (rows.low != rows.high), None),
        ("upper", eye, 0 * eye, rows.upper, upper & np.isfinite(rows.upper), rows.lower == rows.upper),
        ("lower", -eye, 0 * eye, -rows.lower, lower & np.isfinite(rows.lower) & (rows.lower != rows.upper), None),
    ]
    M, sizes, ends, equal = list[Array](), list[Array](), list[Vector](), list[NDArray[np.bool_]]()
    sources = list[Source]()
    for name, matrix, of_sizes, end, kept, both in sides:
        M.append(matrix[kept])
        sizes.append(of_sizes[kept])
        ends.append(end[kept])
        equal.append(np.zeros(int(kept.sum()), dtype=bool) if both is None else both[kept])
        sources += [Source(Place(name, int(i)), -1.0 if name[0] == "l" else 1.0) for i in np.flatnonzero(kept)]
    data: dict[str, tuple[int, ...]] = {name: (end.size,) for name, _, _, end, _, _ in sides}
    stacked = np.vstack(M), np.concatenate(ends), np.concatenate(equal)
    return Boundary(eye, x, *stacked, data, sources, (), None if rows.B is None else np.vstack(sizes))


def _not_implied(rows: ByRows, A: Array, B: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which lower and upper bounds are no consequence of one row and the signs of all (as in a simplex)."""
    lower, upper = np.ones((2, rows.lower.size), dtype=bool)
    for row, sizes, end in zip(A, B, rows.high, strict=True):
        if sizes.any():
            most = np.where(sizes > 0, np.minimum(rows.upper, -rows.lower), 0.0)
            follows = (sizes > 0) & (sizes * most >= end * (1 - 1e-12))
            lower, upper = lower & ~follows, upper & ~follows
        elif (rows.lower >= 0).all() and (row >= 0).all() and np.isfinite(end):
            upper &= ~((row > 0) & (row * np.where(row > 0, rows.upper, 0.0) >= end * (1 - 1e-12)))
    return lower, upper
