"""The soft threshold with a given sum, on which the projections onto simplices and l1 balls rest."""

from __future__ import annotations

import numpy as np

from ..arrays import Vector


def threshold_to_sum(v: Vector, weights: Vector, total: float) -> Vector:
    """The point max(v - theta w, 0) with theta such that <w, point> = total > 0.

    Newton's method on the piecewise linear equation for theta, from below: each step drops the entries that
    are zero at its theta, and it is exact once none is dropped. Working with v - max(v/w) w, whose relevant
    entries are of the size of the answer, loses nothing to cancellation.

    References
    ----------
    Michelot: A finite algorithm for finding the projection of a point onto the canonical simplex of R^n.
    JOTA 50 (1986) 195-200. Condat: Fast projection onto the simplex and the l1 ball. Math. Program. 158
    (2016).

    Examples
    --------
    >>> threshold_to_sum(np.array([3.0, 2.5, 1.0]), np.ones(3), 1.0)
    array([0.75, 0.25, 0.  ])
    """
    ratio = v / weights
    top = int(ratio.argmax())
    v = v - ratio[top] * weights
    v[top] = 0.0
    least = -total / float(weights[top]) ** 2  # theta, if the top entry were the only one left
    keep = v > least * weights
    rest, w = v[keep], weights[keep]
    while True:
        theta = (float(w @ rest) - total) / float(w @ w)
        keep = rest > theta * w
        if keep.all():
            break
        rest, w = rest[keep], w[keep]
    return np.maximum(v - theta * weights, 0.0)
