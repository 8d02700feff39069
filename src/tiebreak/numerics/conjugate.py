"""Positive definite systems by products alone: conjugate gradients with a diagonal for preconditioner."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Vector
from .deadline import check

ITERATIONS = 2000
EVERY = 16
"""So many products are made between two looks at the clock."""


def conjugate_gradients(
    times: Callable[[Vector], Vector], right: Vector, diagonal: Vector, *, tolerance: float, most: int = ITERATIONS
) -> tuple[Vector, bool]:
    """x with |times(x) - right| <= tolerance |right|, and whether it was reached; the best effort where it was not.

    Entries without a diagonal stay zero. Singular systems with a solution are solved by it up to directions without
    curvature, of which x takes no more than the right-hand side brings along.
    """
    inverse = np.where(diagonal > 0, 1 / np.where(diagonal > 0, diagonal, 1.0), 0.0)
    x = np.zeros(right.size)
    r = np.where(inverse > 0, right, 0.0)
    goal = tolerance * float(np.linalg.norm(r))
    if goal == 0:
        return x, True
    z = inverse * r
    p, now = z, float(r @ z)
    for k in range(most):
        if k % EVERY == 0:
            check()
        image = times(p)
        bend = float(p @ image)
        if not bend > 0:
            return x, False
        length = now / bend
        x = x + length * p
        r = r - length * image
        if float(np.linalg.norm(r)) <= goal:
            return x, True
        z = inverse * r
        now, before = float(r @ z), now
        p = z + (now / before) * p
    return x, False
