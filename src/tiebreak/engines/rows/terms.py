"""What the entries of a point and of multipliers are compared with: the terms of the sums they are part of.

A row sum_j a_ij x_j = b_i has terms of the size |A||x| + |b|; what rounding explains is some units in the last place
of that, whatever the units of the variables and however generous their bounds. An entry x_j counts as zero, or as on
its bound, where moving it there changes no row by more than that: its natural size is the least terms_i/|a_ij|.
Multipliers are the same thing with the roles of rows and columns exchanged. Entries count as at least ``LITTLE`` times
the size that the data suggest: below, they are the rounding of others.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.extended import Ext, ExtMatrix, double

LITTLE = 2.0**-6


def row_terms(A: ExtMatrix, x: Ext, scale: Vector, low: Vector, high: Vector) -> Vector:
    """|A||x| plus the size of the end that is nearer, for variables of sizes ``scale``."""
    if not A.shape[0]:
        return np.zeros(0)
    activity, size = double(A.times(x)), np.asarray(A.size @ np.maximum(np.abs(double(x)), LITTLE * scale))
    end = np.where(np.abs(activity - low) <= np.abs(high - activity), low, high)
    return np.asarray(size + np.where(np.isfinite(end), np.abs(end), 0.0))


def column_terms(A: ExtMatrix, c: Ext, y: Ext) -> Vector:
    """|c| + |A|'|y|."""
    return np.asarray(np.abs(double(c)) + A.size_transposed @ np.abs(double(y)))


def natural_sizes(A: ExtMatrix, terms: Vector, at: Vector) -> Vector:
    """The least terms_i/|a_ij| for each column j of A (at least |at_j|, and no more without an entry in the column)."""
    rows, columns, entries = A.entries
    return _least(columns, terms[rows] / entries, at)


def natural_prices(A: ExtMatrix, terms: Vector, at: Vector) -> Vector:
    """The same for the rows of A, by the terms of its columns."""
    rows, columns, entries = A.entries
    return _least(rows, terms[columns] / entries, at)


def _least(places: NDArray[np.intp], parts: Vector, at: Vector) -> Vector:
    size = np.abs(at)
    if not parts.size:
        return size
    least = np.full(at.size, np.inf)
    np.minimum.at(least, places, parts)
    return np.where(np.isfinite(least), np.maximum(least, size), size)


def ratio(part: Vector, whole: Vector) -> float:
    """The largest part/whole of those above zero; inf for a part of nothing."""
    out = np.flatnonzero(part > 0)
    if not out.size:
        return 0.0
    return float(np.max(np.where(whole[out] > 0, part[out] / np.where(whole[out] > 0, whole[out], 1.0), np.inf)))


def image_of(sizes: Matrix, moves: Vector) -> Vector:
    """|A| moves, where some moves may be infinite: rows without an entry there do not see them."""
    far = np.isinf(moves)
    image = np.asarray(sizes @ np.where(far, 0.0, moves))
    return np.where(np.asarray(sizes @ far.astype(np.float64)) > 0, np.inf, image) if far.any() else image
