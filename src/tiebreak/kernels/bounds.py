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
def both_mixed(u: Vector, v: Vector, M: Array) -> tuple[Vector, Vector]:
    """M'u and |M|'v, four rows at a time."""
    out, sizes = np.zeros(M.shape[1]), np.zeros(M.shape[1])
    whole = u.size - u.size % 4
    for i in range(0, whole, 4):
        a, b, c, d = u[i], u[i + 1], u[i + 2], u[i + 3]
        e, f, g, h = v[i], v[i + 1], v[i + 2], v[i + 3]
        for j in range(M.shape[1]):
            p, q, r, s = M[i, j], M[i + 1, j], M[i + 2, j], M[i + 3, j]
            out[j] += (a * p + b * q) + (c * r + d * s)
            sizes[j] += (e * abs(p) + f * abs(q)) + (g * abs(r) + h * abs(s))
    for i in range(whole, u.size):
        a, e = u[i], v[i]
        for j in range(M.shape[1]):
            out[j] += a * M[i, j]
            sizes[j] += e * abs(M[i, j])
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
