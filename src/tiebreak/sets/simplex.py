"""The simplex."""

from __future__ import annotations

import numpy as np

from ..arrays import Vector, as_positive
from .base import Cut, Domain
from .cut import checked
from .envelope import cut_axes
from .outside import beside_simplex
from .threshold import threshold_to_sum


class Simplex(Domain):
    """The simplex {s >= 0 : sum_i s_i = total}.

    Parameters
    ----------
    total : float
        Above zero.

    Notes
    -----
    A minimiser over the simplex and a cut is a mix of at most two of the extreme points total * e_i, found
    as for :class:`L1Ball`.

    Examples
    --------
    >>> import numpy as np
    >>> simplex = Simplex()
    >>> simplex.lmo(np.array([1.0, -3.0]))
    array([0., 1.])
    >>> simplex.lmo_cut(np.array([-2.0, -1.0, 0.0]), np.array([1.0, 0.0, 0.0]), 0.25).point
    array([0.25, 0.75, 0.  ])
    >>> simplex.project(np.array([1.0, 0.5]))
    array([0.75, 0.25])
    """

    polytope = True

    def __init__(self, total: float = 1.0) -> None:
        self.total = as_positive(total, "total")

    def __repr__(self) -> str:
        return f"Simplex({self.total:g})"

    def lmo(self, c: Vector) -> Vector:
        c = self._check(c, "c")
        s = np.zeros(c.size)
        s[int(np.argmin(c))] = self.total
        return s

    def lmo_cut(self, a: Vector, c: Vector, b: float, *, warm: float = 0.0) -> Cut:
        a, c, b = checked(self, a, c, b)
        return cut_axes(a, c, b, self.total, False, warm)

    def project(self, x: Vector) -> Vector:
        x = self._check(x, "x")
        return threshold_to_sum(x, np.ones(x.size), self.total)

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        x = self._check(x, "x")
        slack = tol * self.total
        return bool(x.min() >= -slack and abs(float(x.sum()) - self.total) <= slack)

    def distance_outside(self, x: Vector) -> float:
        return beside_simplex(self._check(x, "x"), self.total)

    @property
    def diameter(self) -> float:
        return float(np.sqrt(2)) * self.total
