"""Bounds on variables that single rows imply: what most polyhedra need, in time proportional to their entries.

If sum_j a_j x_j <= h and every other term is at least m in total, then a_j x_j <= h - m. A few rounds over all rows
settle flow, transport and assignment problems; whatever is still missing needs linear programmes.
"""

from __future__ import annotations

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Vector
from .csr import row_numbers
from .deadline import check
from .rows import Rows

ROUNDS = 10
GENEROUS = 2.0**-8
"""An implied bound replaces a given one if it has less than this part of its size."""


def propagated(rows: Rows) -> Rows:
    """The rows with bounds on variables that single rows imply, where those given are missing or generous.

    Given bounds stay as they are unless an implied one is much closer: cutting off a little at a time might never end.
    """
    lower, upper = rows.lower.copy(), rows.upper.copy()
    i, j, a = row_numbers(rows.A), rows.A.indices, rows.A.data
    i, j, a = i[a != 0], j[a != 0], a[a != 0]
    for _ in range(ROUNDS):
        check()
        least = np.where(a > 0, a * lower[j], a * upper[j])
        most = np.where(a > 0, a * upper[j], a * lower[j])
        below = _room(rows.high, least, i, rows.low.size)  # a_ij x_j <= below
        above = -_room(-rows.low, -most, i, rows.low.size)  # a_ij x_j >= above
        high = np.where(a > 0, below, above) / a
        low = np.where(a > 0, above, below) / a
        new_upper, new_lower = np.full_like(upper, np.inf), np.full_like(lower, -np.inf)
        np.minimum.at(new_upper, j, high)
        np.maximum.at(new_lower, j, low)
        better_upper = np.abs(new_upper) < GENEROUS * np.abs(upper)
        better_lower = np.abs(new_lower) < GENEROUS * np.abs(lower)
        better_upper &= new_upper < upper
        better_lower &= new_lower > lower
        if not better_upper.any() and not better_lower.any():
            break
        upper, lower = np.where(better_upper, new_upper, upper), np.where(better_lower, new_lower, lower)
    return rows._replace(lower=lower, upper=upper)


def _room(side: Vector, least: Vector, i: np.ndarray, m: int) -> Vector:
    """For each entry: the side of its row minus the least of the others in it, inf where that is not finite."""
    finite = np.isfinite(least)
    value = np.where(finite, least, 0.0)
    total = np.bincount(i, value, m)
    size = np.bincount(i, np.abs(value), m) + np.where(np.isfinite(side), np.abs(side), 0.0)
    unknown = np.bincount(i, ~finite, m)
    room = side[i] - (total[i] - value) + (np.bincount(i, minlength=m)[i] + 8) * UNIT_ROUNDOFF * size[i]
    return np.where(unknown[i] - ~finite == 0, room, np.inf)
