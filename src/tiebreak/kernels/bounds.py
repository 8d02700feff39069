"""Sums of absolute values, for bounds on rounding: twin of ``Smooth.sizes_mixed``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from .jit import SUMS, jit


@jit(SUMS)
def sizes_mixed(u: Vector, M: NDArray[np.float64]) -> Vector:
    """|M|'u in one pass, four rows at a time."""
    out = np.zeros(M.shape[1])
    whole = u.size - u.size % 4
    for i in range(0, whole, 4):
        a, b, c, d = u[i], u[i + 1], u[i + 2], u[i + 3]
        for j in range(M.shape[1]):
            out[j] += (a * abs(M[i, j]) + b * abs(M[i + 1, j])) + (c * abs(M[i + 2, j]) + d * abs(M[i + 3, j]))
    for i in range(whole, u.size):
        a = u[i]
        for j in range(M.shape[1]):
            out[j] += a * abs(M[i, j])
    return out
