"""Products and updates of the leading parts of small matrices, for the loops of the column engine.

What is compiled is in loops, because the matrices are small and the leading part of one is not contiguous: a library
call would copy it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from .registry import SUMS, twin

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]


def dots(M: Array, x: Vector, rows: int) -> Vector:
    """M x for the first rows of M, and as many of its columns as x has entries."""
    return np.asarray(M[:rows, : x.size] @ x)


@twin(dots, SUMS)
def _dots(M: Array, x: Vector, rows: int) -> Vector:
    """Four rows at a time."""
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


def mix(x: Vector, M: Array, columns: int) -> Vector:
    """x M for the first columns of M, and as many of its rows as x has entries."""
    return np.asarray(x @ M[: x.size, :columns])


@twin(mix, SUMS)
def _mix(x: Vector, M: Array, columns: int) -> Vector:
    """Four rows at a time."""
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


def rank_one(M: Array, a: Vector, b: Vector) -> None:
    """Subtract a b' from the leading part of M."""
    M[: a.size, : b.size] -= a[:, None] * b


@twin(rank_one, SUMS)
def _rank_one(M: Array, a: Vector, b: Vector) -> None:
    for i in range(a.size):
        factor = a[i]
        if factor != 0.0:
            for j in range(b.size):
                M[i, j] -= factor * b[j]


def product(A: Array, B: Array) -> Array:
    """A B."""
    return np.asarray(A @ B)


@twin(product)
def _product(A: Array, B: Array) -> Array:
    out: Array = np.dot(A, B)
    return out


def ratio(w: Vector, step: Vector) -> tuple[float, int]:
    """How far the step may go (at most 1), and which weight stops it: of several, the steepest."""
    ahead = w + step
    if ahead.min() >= 0:
        return 1.0, -1
    largest = max(float(step.max()), -float(step.min()))
    slots = np.flatnonzero((ahead < 0) & (step < -1e-13 * largest))
    if not slots.size:
        return 1.0, -1
    ratios = w[slots] / -step[slots]
    least = float(ratios.min())
    tied = slots[ratios <= least * (1 + 1e-9) + 1e-15 / largest]
    return least, int(tied[np.argmin(step[tied])])


@twin(ratio)
def _ratio(w: Vector, step: Vector) -> tuple[float, int]:
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


def advance(w: Vector, step: Vector, length: float) -> None:
    """Move weights along a step, no further than to zero."""
    np.maximum(w[: step.size] + length * step, 0.0, out=w[: step.size])


@twin(advance)
def _advance(w: Vector, step: Vector, length: float) -> None:
    for i in range(step.size):
        w[i] = max(w[i] + length * step[i], 0.0)


def highest(M: Array, q: int) -> float:
    """The largest of the first entries of the diagonal."""
    return float(max(M.diagonal()[:q].tolist()))


@twin(highest)
def _highest(M: Array, q: int) -> float:
    largest = M[0, 0]
    for i in range(1, q):
        largest = max(largest, M[i, i])
    return float(largest)


def steepest(M: Array, rows: int, j: int) -> int:
    """The row with the largest entry in column j."""
    return int(np.argmax(np.abs(M[:rows, j])))


@twin(steepest)
def _steepest(M: Array, rows: int, j: int) -> int:
    best = 0
    for i in range(1, rows):
        if abs(M[i, j]) > abs(M[best, j]):
            best = i
    return best
