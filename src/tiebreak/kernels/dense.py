"""Products, updates and factors of the leading parts of small matrices: twins of ``exact/dense.py``.

In loops, because the matrices are small and the leading part of one is not contiguous: a library call would copy it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from .jit import SUMS, jit

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]


@jit(SUMS)
def dots(M: Array, x: Vector, rows: int) -> Vector:
    """M x for the first rows of M, and as many of its columns as x has entries; four rows at a time."""
    out = np.empty(rows)
    whole = rows - rows % 4
    for i in range(0, whole, 4):
        a = b = c = d = 0.0
        for j in range(x.size):
            y = x[j]
            a += M[i, j] * y
            b += M[i + 1, j] * y
            c += M[i + 2, j] * y
            d += M[i + 3, j] * y
        out[i], out[i + 1], out[i + 2], out[i + 3] = a, b, c, d
    for i in range(whole, rows):
        total = 0.0
        for j in range(x.size):
            total += M[i, j] * x[j]
        out[i] = total
    return out


@jit(SUMS)
def mix(x: Vector, M: Array, columns: int) -> Vector:
    """x M for the first columns of M, and as many of its rows as x has entries; four rows at a time."""
    out = np.zeros(columns)
    rows = x.size
    whole = rows - rows % 4
    for i in range(0, whole, 4):
        a, b, c, d = x[i], x[i + 1], x[i + 2], x[i + 3]
        for j in range(columns):
            out[j] += (a * M[i, j] + b * M[i + 1, j]) + (c * M[i + 2, j] + d * M[i + 3, j])
    for i in range(whole, rows):
        a = x[i]
        for j in range(columns):
            out[j] += a * M[i, j]
    return out


@jit(SUMS)
def rank_one(M: Array, a: Vector, b: Vector) -> None:
    """Subtract a b' from the leading part of M."""
    for i in range(a.size):
        factor = a[i]
        if factor != 0.0:
            for j in range(b.size):
                M[i, j] -= factor * b[j]


@jit(SUMS)
def factorise(H: Array, L: Array, done: int, q: int, ridge: float) -> bool:
    """Rows done .. q of the Cholesky factor of H + ridge; False if that is not positive definite."""
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


@jit(SUMS)
def solve_factored(L: Array, x: Vector) -> Vector:
    """(L L')^-1 x."""
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


@jit()
def put(M: Array, i: int, x: Vector) -> None:
    """Let row i of M begin with x."""
    for j in range(x.size):
        M[i, j] = x[j]


@jit()
def put_column(M: Array, j: int, x: Vector) -> None:
    """Let column j of M begin with x."""
    for i in range(x.size):
        M[i, j] = x[i]


@jit()
def gather(x: Vector, index: Numbers, count: int) -> Vector:
    """The entries of x at the first places of ``index``."""
    out = np.empty(count)
    for i in range(count):
        out[i] = x[index[i]]
    return out


@jit()
def scatter(x: Vector, index: Numbers, values: Vector, factor: float) -> None:
    """Put values times a factor at the first places of ``index``."""
    for i in range(values.size):
        x[index[i]] = factor * values[i]


@jit()
def steepest(M: Array, rows: int, j: int) -> int:
    """The row with the largest entry in column j."""
    best = 0
    for i in range(1, rows):
        if abs(M[i, j]) > abs(M[best, j]):
            best = i
    return best


@jit()
def assign(x: Vector, values: Vector) -> None:
    """Let x begin with these values."""
    for i in range(values.size):
        x[i] = values[i]


@jit()
def advance(w: Vector, step: Vector, length: float) -> None:
    """Move weights along a step, no further than to zero."""
    for i in range(step.size):
        w[i] = max(w[i] + length * step[i], 0.0)


@jit()
def highest(M: Array, q: int) -> float:
    """The largest of the first entries of the diagonal."""
    largest = M[0, 0]
    for i in range(1, q):
        largest = max(largest, M[i, i])
    return float(largest)


@jit()
def ratio(w: Vector, step: Vector) -> tuple[float, int]:
    """How far the step may go (at most 1), and which weight stops it: of several, the steepest."""
    largest = 0.0
    for i in range(step.size):
        largest = max(largest, abs(step[i]))
    least, stopped = np.inf, False
    for i in range(step.size):
        if w[i] + step[i] < 0.0 and step[i] < -1e-13 * largest:
            least, stopped = min(least, w[i] / -step[i]), True
    if not stopped:
        return 1.0, -1
    bound, slot = least * (1 + 1e-9) + 1e-15 / largest, -1
    for i in range(step.size):
        stops = w[i] + step[i] < 0.0 and step[i] < -1e-13 * largest and w[i] / -step[i] <= bound
        if stops and (slot < 0 or step[i] < step[slot]):
            slot = i
    return least, slot


@jit()
def picked(M: Array, index: Numbers) -> Array:
    """Rows of M."""
    out = np.empty((index.size, M.shape[1]))
    for i in range(index.size):
        for j in range(M.shape[1]):
            out[i, j] = M[index[i], j]
    return out


@jit()
def lay(M: Array, block: Array) -> None:
    """Let M begin with a block."""
    for i in range(block.shape[0]):
        for j in range(block.shape[1]):
            M[i, j] = block[i, j]


@jit()
def product(A: Array, B: Array) -> Array:
    """A B."""
    out: Array = np.dot(A, B)
    return out
