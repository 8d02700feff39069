"""Bounds on variables that nobody wants to be large: those that rows bound from below alone, as epigraphs have them.

A column that no objective rewards, and that only relaxes the rows it is in as it grows, may be made as small as these
rows allow: that raises no objective and breaks no row. So some solution has it no larger than what the rows ask for at
most, over the box of the others, and limiting it to that changes no optimal value of a chain of convex levels, as a
solution of the chain is left. Columns that become such once those rows are gone are found round by round.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Vector
from .rows import Rows

Mask = NDArray[np.bool_]

ROOM = 2.0**-20
"""What is added to a bound, relative to the terms it is a sum of: far more than rounding."""


def limited_above(rows: Rows, unrewarded: Mask, box_of: Callable[[Rows], tuple[Vector, Vector]]) -> Vector:
    """Upper bounds on all columns: those given, and of ``unrewarded`` columns without one, what rows ask for at most.

    ``box_of`` gives bounds on the other columns, by the other rows.

    Examples
    --------
    t >= |x - 1| with x between -2 and 2:

    >>> epigraph = sp.csr_array([[1.0, -1.0], [-1.0, -1.0]])
    >>> inf = np.inf
    >>> rows = Rows(
    ...     epigraph, np.full(2, -inf), np.array([1.0, -1.0]), np.array([-2.0, -inf]), np.array([2.0, inf])
    ... )
    >>> limited_above(rows, np.array([False, True]), lambda rest: (rest.lower, rest.upper)).round(3)
    array([2., 3.])
    """
    A = sp.coo_array(rows.A)
    i, j, a = A.row.astype(np.intp), A.col.astype(np.intp), A.data.astype(np.float64)
    relaxes = np.where(a < 0, np.isinf(rows.low[i]), np.isinf(rows.high[i]))
    upper = rows.upper.copy()
    rounds, kept = _rounds(i, j, relaxes, unrewarded & np.isinf(upper), rows.A.shape)
    if not rounds:
        return upper
    lower = rows.lower.copy()
    columns, alive = np.flatnonzero(kept[1]), np.flatnonzero(kept[0])
    if columns.size:
        rest = Rows(
            sp.csr_array(sp.csr_array(rows.A)[alive][:, columns]),
            rows.low[alive],
            rows.high[alive],
            lower[columns],
            upper[columns],
        )
        lower[columns], upper[columns] = box_of(rest)
    for own in reversed(rounds):
        upper = np.where(own[1], _asked(rows, (i, j, a), own, lower, upper), upper)
    return np.where(kept[1], rows.upper, upper)


def _rounds(
    i: NDArray[np.intp], j: NDArray[np.intp], relaxes: Mask, candidates: Mask, shape: tuple[int, int]
) -> tuple[list[tuple[Mask, Mask]], tuple[Mask, Mask]]:
    """Round by round the rows and columns that go; and those that stay."""
    rows, columns = np.ones(shape[0], dtype=bool), np.ones(shape[1], dtype=bool)
    found: list[tuple[Mask, Mask]] = []
    while True:
        live = rows[i] & columns[j]
        against = np.bincount(j[live & ~relaxes], minlength=shape[1]) > 0
        own = candidates & columns & ~against & (np.bincount(j[live], minlength=shape[1]) > 0)
        if not own.any():
            return found, (rows, columns)
        gone = np.zeros(shape[0], dtype=bool)
        gone[i[live & own[j]]] = True
        found.append((gone, own))
        rows, columns = rows & ~gone, columns & ~own


def _asked(
    rows: Rows,
    entries: tuple[NDArray[np.intp], NDArray[np.intp], Vector],
    own: tuple[Mask, Mask],
    lower: Vector,
    upper: Vector,
) -> Vector:
    """What the rows ask of the columns at most, for all others between their bounds."""
    i, j, a = entries
    m = rows.A.shape[0]
    sign = np.where(np.isfinite(rows.high), 1.0, -1.0)[i]  # as rows that are bounded above
    end = np.where(np.isfinite(rows.high), rows.high, -rows.low)
    most = np.where(sign * a > 0, upper[j], lower[j])
    finite = np.isfinite(most)
    terms = np.where(finite, sign * a * np.where(finite, most, 0.0), 0.0)
    total, size = np.bincount(i, terms, m), np.bincount(i, np.abs(terms), m) + np.abs(end)
    missing = np.bincount(i, ~finite, m)
    mine = own[0][i] & own[1][j]
    asked = (total[i] - terms - end[i] + ROOM * size[i]) / np.abs(a)
    asked = np.where(missing[i] - ~finite == 0, asked, np.inf)[mine]
    found = np.where(np.isfinite(lower), lower, -np.inf)
    np.maximum.at(found, j[mine], asked)
    return np.where(np.isfinite(found), found, np.inf)
