"""The soft threshold with a given sum: twin of ``sets/threshold.py``, without temporary arrays."""

from __future__ import annotations

import numpy as np

from ..arrays import Vector
from .jit import jit


@jit()
def threshold_to_sum(v: Vector, weights: Vector, total: float, least: float) -> Vector:
    """The point max(v - theta w, 0) with theta >= ``least`` such that <w, point> = total."""
    top = 0
    for i in range(1, v.size):
        if v[i] / weights[i] > v[top] / weights[top]:
            top = i
    least = max(least, v[top] / weights[top] - total / weights[top] ** 2)
    index, rest, w = np.empty(v.size, dtype=np.int64), np.empty(v.size), np.empty(v.size)
    count = 0
    for i in range(v.size):
        if v[i] > least * weights[i]:
            index[count], w[count] = i, weights[i]
            rest[count] = v[i] - least * weights[i]
            count += 1
    kept = -1
    while kept != count:
        move = (np.dot(w[:count], rest[:count]) - total) / np.dot(w[:count], w[:count])
        kept, count = count, 0
        for k in range(kept):
            moved = rest[k] - move * w[k]
            if moved > 0:
                index[count], w[count], rest[count] = index[k], w[k], moved
                count += 1
    move = (np.dot(w[:count], rest[:count]) - total) / np.dot(w[:count], w[:count])
    point = np.zeros(v.size)
    for k in range(count):
        point[index[k]] = max(rest[k] - move * w[k], 0.0)
    return point
