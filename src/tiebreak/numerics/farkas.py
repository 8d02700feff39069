"""Proofs that a polyhedron is empty: Farkas' lemma with the multipliers that a solver proposes, beyond rounding."""

from __future__ import annotations

from fractions import Fraction
from math import fsum

import numpy as np
import scipy.sparse as sp

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector
from .rows import Rows

ZERO_SLOPE = 1e-12
"""For variables without bounds, A'y counts as zero below this part of its terms."""


def shown_empty(rows: Rows, y: Vector) -> bool:
    """Whether the multipliers y, or -y, show that no point satisfies all rows and bounds.

    <y, Ax> is at least the sum of y_i times the ends it pushes against, and at most what the bounds allow for
    <A'y, x>: a contradiction beyond rounding is a proof. For variables without bounds, A'y counts as zero where it
    is below 1e-12 of its terms: a point of the set would then have entries 1e12 times as large as the data.
    """
    return any(_contradiction(rows, sign * y) for sign in (1.0, -1.0))


def _contradiction(rows: Rows, y: Vector) -> bool:
    y = np.where(((y > 0) & np.isinf(rows.low)) | ((y < 0) & np.isinf(rows.high)), 0.0, y)
    used = np.flatnonzero(y)
    columns = sp.csc_array(rows.A)
    slope, size = rows.A.T @ y, abs(rows.A).T @ np.abs(y)
    off = (len(used) + 8) * UNIT_ROUNDOFF * size
    for j in np.flatnonzero(np.abs(slope) <= off).tolist():  # meant to be zero: in rational arithmetic it is, or not
        slope[j], off[j] = float(_exact_dot(columns, j, y)), 0.0
    off += 2 * UNIT_ROUNDOFF * np.abs(slope)
    ends = y[used] * np.where(y[used] > 0, rows.low[used], rows.high[used])
    least, most = slope - off, slope + off
    above, below = np.isinf(rows.upper), np.isinf(rows.lower)
    if (most > ZERO_SLOPE * size)[above].any() or (least < -ZERO_SLOPE * size)[below].any():
        return False
    upper = np.where(above, np.where(below, 0.0, rows.lower), rows.upper)
    lower = np.where(below, upper, rows.lower)
    largest = np.maximum.reduce([steepness * end for steepness in (least, most) for end in (lower, upper)])
    rounding = 8 * UNIT_ROUNDOFF * (fsum(np.abs(ends)) + fsum(np.abs(largest)))
    return bool(fsum(ends) - fsum(largest) > rounding)


def _exact_dot(columns: Matrix, j: int, y: Vector) -> Fraction:
    """<A_j, y> for the doubles as they are stored."""
    part = slice(columns.indptr[j], columns.indptr[j + 1])
    pairs = zip(columns.data[part].tolist(), y[columns.indices[part]].tolist(), strict=True)
    return sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))
