"""The soft threshold with a given sum, on which the projections onto simplices and l1 balls rest."""

from __future__ import annotations

from math import inf

import numpy as np

from ..arrays import Vector
from ..kernels import flat
from ..kernels.soft_threshold import fast_threshold_to_sum


def threshold_to_sum(v: Vector, weights: Vector, total: float, least: float = -inf) -> Vector:
    """The point max(v - theta w, 0) with theta such that <w, point> = total > 0; theta >= ``least`` is known.

    Newton's method on the piecewise linear equation for theta, from below: each step drops the entries that
    are zero at its theta, and it is exact once none is dropped. Theta is only ever changed by small amounts,
    and the entries with it: where v is large against the total, theta itself could not hold the digits.

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
    point = np.empty(v.size)
    fast_threshold_to_sum(flat(v), flat(weights), float(total), float(least), point)
    return point
