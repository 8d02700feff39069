"""The soft threshold with a given sum (the mathematics: ``sets/threshold.py``)."""

from __future__ import annotations

import numpy as np

from ..arrays import Vector
from .registry import Group, Kernel, twin


def threshold_to_sum(v: Vector, weights: Vector, total: float, least: float, point: Vector) -> None:
    """Write max(v - theta w, 0) into ``point``, with theta >= ``least`` such that <w, point> = total."""
    ratio = v / weights
    top = int(ratio.argmax())
    least = max(least, float(ratio[top]) - total / float(weights[top]) ** 2)  # as if only the top entry were left
    index = np.flatnonzero(v > least * weights)
    w = weights[index]
    rest = v[index] - least * w
    while True:
        rest = rest - (float(w @ rest) - total) / float(w @ w) * w
        keep = rest > 0
        if keep.all():
            break
        index, w, rest = index[keep], w[keep], rest[keep]
    point[:] = 0.0
    point[index] = np.maximum(rest - (float(w @ rest) - total) / float(w @ w) * w, 0.0)


@twin(threshold_to_sum)
def _threshold_to_sum(v: Vector, weights: Vector, total: float, least: float, point: Vector) -> None:
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
    point[:] = 0.0
    for k in range(count):
        point[index[k]] = max(rest[k] - move * w[k], 0.0)


fast_threshold_to_sum = Kernel(threshold_to_sum, Group("projections onto simplices and l1 balls", 1.0))
