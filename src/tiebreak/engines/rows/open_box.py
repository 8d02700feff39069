"""The part of an unbounded set that a chain is judged on, and when an answer for the part is one for the whole.

Bounds by weak duality need finite bounds on all variables. Let B be a box and x a solution of the chain over Z and B
that is not at the ends of B. Then x solves the chain over Z, and the optimal values of all levels are the same: x is a
local, and so a global, minimiser of the first level over Z; the minimisers over Z and B are those over Z that lie in B;
and so on, level by level. So a chain is solved over Z as it is, B is chosen by what was found, and the brackets are
those over Z and B.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...numerics.rows import Rows

WIDE = 2.0**9
"""How many sizes of the variables the first part goes on for."""


class Cut(NamedTuple):
    """Which ends of the box of a set are infinite."""

    below: NDArray[np.bool_]
    above: NDArray[np.bool_]

    @classmethod
    def of(cls, box: Rows) -> Cut | None:
        """None for a box that is finite."""
        cut = cls(np.isinf(box.lower), np.isinf(box.upper))
        return cut if cut.below.any() or cut.above.any() else None

    def between(self, box: Rows, lower: Vector, upper: Vector) -> Rows:
        """The box with these bounds in the place of infinite ones."""
        return box._replace(
            lower=np.where(self.below, np.minimum(lower, box.upper), box.lower),
            upper=np.where(self.above, np.maximum(upper, box.lower), box.upper),
        )


def around(sizes: Vector, point: Vector) -> tuple[Vector, Vector]:
    """Bounds that are far out, for variables of these sizes or as large as those of a point."""
    far = WIDE * np.maximum(sizes, np.abs(point))
    return -far, far
