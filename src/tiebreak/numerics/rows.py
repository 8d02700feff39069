"""Polyhedra as rows and bounds, and a bound on linear programmes over them that trusts no solver."""

from __future__ import annotations

from math import fsum, inf
from typing import NamedTuple

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector
from .csr import absolute, columns_times, largest_in_rows, turned, with_data
from .extended import Ext

LONG_ROUNDOFF = float(np.finfo(np.longdouble).eps) / 2


def power_of_two(sizes: Vector) -> Vector:
    """The powers of two just above ``sizes`` (1 for 0): scaling by them is exact."""
    exponent = np.minimum(np.maximum(np.frexp(sizes)[1], -1000), 1000)
    return np.where(sizes > 0, np.ldexp(1.0, exponent), 1.0)


class Rows(NamedTuple):
    """{x : low <= A x <= high, lower <= x <= upper} with A in CSR form; any of the bounds may be infinite."""

    A: Matrix
    low: Vector
    high: Vector
    lower: Vector
    upper: Vector

    def without_bounds_beyond(self, limit: Vector) -> Rows:
        """The same rows with infinite ends for bounds farther out than ``limit``; itself where there are none."""
        far = (np.isfinite(self.lower) & (self.lower < -limit)) | (np.isfinite(self.upper) & (self.upper > limit))
        far &= (self.lower <= limit) & (self.upper >= -limit)
        if not far.any():
            return self
        lower = np.where(far & (self.lower < -limit), -inf, self.lower)
        return self._replace(lower=lower, upper=np.where(far & (self.upper > limit), inf, self.upper))

    def missed_by(self, x: Vector) -> float:
        """The worst violation of a row, relative to the sizes of its terms: some 1e-16 is rounding."""
        activity = np.asarray(self.A @ x)
        outside = np.maximum(self.low - activity, activity - self.high)
        out = np.flatnonzero(outside > 0)
        if not out.size:
            return 0.0
        end = np.where(activity[out] > self.high[out], self.high[out], self.low[out])
        terms = np.asarray(absolute(self.A) @ np.abs(x))[out] + np.abs(end)
        return float((outside[out] / terms).max())

    def dual_bound(self, c: Vector | Ext, y: Vector | Ext) -> float:
        """A number below min <c, x>: weak duality with the row multipliers y, less the rounding of the sums.

        Multipliers of the wrong sign for a missing row bound are set to zero first, so every y gives a bound;
        lower and upper must be finite.
        """
        y = np.where(((y > 0) & np.isinf(self.low)) | ((y < 0) & np.isinf(self.high)), 0, y).astype(np.longdouble)
        used = np.flatnonzero(y)
        row_terms = np.asarray(y[used] * np.where(y > 0, self.low, self.high)[used], dtype=np.float64)
        reduced = np.asarray(c - turned(with_data(self.A, self.A.data.astype(np.longdouble))) @ y, dtype=np.float64)
        size = np.asarray(np.abs(c) + turned(absolute(self.A)) @ np.abs(y), dtype=np.float64)
        off = 2 * (len(used) + 8) * LONG_ROUNDOFF * size + 2 * UNIT_ROUNDOFF * np.abs(reduced)
        slopes = reduced - off, reduced + off  # where the sign is certain, the error counts at one bound only
        column_terms = np.minimum.reduce([slope * end for slope in slopes for end in (self.lower, self.upper)])
        rounding = 4 * UNIT_ROUNDOFF * (fsum(np.abs(row_terms)) + fsum(np.abs(column_terms)))
        return float(fsum(row_terms) + fsum(column_terms) - rounding)


def scale_of_bounds(rows: Rows, otherwise: Vector) -> Vector:
    """The size of each variable's own bounds, a power of two; ``otherwise`` where one is missing."""
    size = np.maximum(np.abs(rows.lower), np.abs(rows.upper))
    return np.where(np.isfinite(size), power_of_two(np.where(np.isfinite(size), size, 1.0)), otherwise)


def scale_of_rows(A: Matrix, column_scale: Vector) -> Vector:
    """What rows are multiplied by to have a largest entry near 1 in these units of the columns: powers of two."""
    return np.asarray(1 / power_of_two(largest_in_rows(columns_times(A, column_scale))))
