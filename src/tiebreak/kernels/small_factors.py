"""Cholesky factors of the leading parts of small matrices, for the loops of the column engine."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from ..arrays import Vector
from .registry import SUMS, twin

Array = NDArray[np.float64]


def factorise(H: Array, L: Array, done: int, q: int, ridge: float) -> bool:
    """Rows done .. q of the Cholesky factor of H + ridge; False if that is not positive definite."""
    corner = H[done:q, done:q].copy()
    corner.flat[:: q - done + 1] += ridge
    if done:
        across = dtrtrs(L[:done, :done], H[:done, done:q], lower=1)[0]
        corner -= across.T @ across
        L[done:q, :done] = across.T
    factor, info = dpotrf(corner, lower=1)
    L[done:q, done:q] = factor
    return bool(info == 0)


@twin(factorise, SUMS)
def _factorise(H: Array, L: Array, done: int, q: int, ridge: float) -> bool:
    for i in range(done, q):
        for j in range(i + 1):
            total = H[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if j < i:
                L[i, j] = total / L[j, j]
            else:
                total += ridge
                if not total > 0.0:
                    return False
                L[i, i] = math.sqrt(total)
    return True


def solve_factored(L: Array, x: Vector) -> Vector:
    """(L L')^-1 x."""
    return np.asarray(dpotrs(L[: x.size, : x.size], x, lower=1)[0])


@twin(solve_factored, SUMS)
def _solve_factored(L: Array, x: Vector) -> Vector:
    q = x.size
    out = x.copy()
    for i in range(q):
        total = out[i]
        for k in range(i):
            total -= L[i, k] * out[k]
        out[i] = total / L[i, i]
    for i in range(q - 1, -1, -1):
        out[i] /= L[i, i]
        factor = out[i]
        for k in range(i):
            out[k] -= factor * L[i, k]
    return out
