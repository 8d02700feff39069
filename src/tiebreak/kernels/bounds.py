"""Products with a matrix and, in the same pass, its absolute values, for bounds on rounding: twins of ``Smooth``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from .jit import SUMS, jit

Array = NDArray[np.float64]


@jit(SUMS)
def both_times(M: Array, support: NDArray[np.int64], values: Vector) -> tuple[Vector, Vector]:
    """M x and |M| |x| for an x with these nonzeros."""
    out, sizes = np.empty(M.shape[0]), np.empty(M.shape[0])
    for i in range(M.shape[0]):
        total = size = 0.0
        for j in range(support.size):
            term = M[i, support[j]] * values[j]
            total += term
            size += abs(term)
        out[i], sizes[i] = total, size
    return out, sizes


@jit(SUMS)
def column_norms(M: Array) -> Vector:
    """The norms of the columns, four rows at a time."""
    out = np.zeros(M.shape[1])
    whole = M.shape[0] - M.shape[0] % 4
    for i in range(0, whole, 4):
        for j in range(M.shape[1]):
            p, q, r, s = M[i, j], M[i + 1, j], M[i + 2, j], M[i + 3, j]
            out[j] += (p * p + q * q) + (r * r + s * s)
    for i in range(whole, M.shape[0]):
        for j in range(M.shape[1]):
            out[j] += M[i, j] * M[i, j]
    return np.sqrt(out)
