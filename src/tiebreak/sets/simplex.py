"""The simplex."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Vector, as_positive
from ..numerics.rows import Rows
from .base import Cut, Domain
from .cuts.dual import checked
from .cuts.envelope import cut_axes
from .outside import beside_simplex
from .rows import Axes, ByRows, sums_to
from .threshold import threshold_to_sum

if TYPE_CHECKING:
    from .round.flat import SimplexBlock

FEW_ROWS = 4
"""Up to so many rows are looked at to recognise a simplex."""


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

    @cached_property
    def rows(self) -> ByRows | None:
        return None if self.dim is None else sums_to(np.arange(self.dim)[None], self.dim, self.total, self.total)

    @cached_property
    def round_block(self) -> SimplexBlock | None:
        if self.dim is None:
            return None
        from .round.flat import SimplexBlock

        return SimplexBlock(self.dim, self.total, self.distance_outside)

    @property
    def axes(self) -> Axes | None:  # type: ignore[override]
        return None if self.dim is None else Axes(np.full(self.dim, self.total), signed=False)

    def signs(self, dim: int) -> Vector:
        return np.ones(dim)


def simplex_of(given: Rows) -> Simplex | None:
    """The simplex that some rows and bounds describe, exactly; None where it is none, or there are many rows.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> ones, ends = sp.csr_array(np.full((1, 3), 2.0)), np.array([1.0])
    >>> simplex_of(Rows(ones, ends, ends, np.zeros(3), np.full(3, np.inf)))
    Simplex(0.5)
    """
    A, low, high, lower, upper = given
    count, dim = A.shape
    if not 0 < count <= FEW_ROWS or A.nnz != count * dim or lower.any():
        return None
    weights = A.data.reshape(count, dim)
    factor = weights[:, 0]
    if not factor.all() or (factor != weights.T).any():
        return None
    least: list[Fraction] = []  # of the sum of all entries, row by row
    most: list[Fraction] = []
    for a, *ends in zip(factor, low, high, strict=True):
        for end, from_above in zip(ends, (a < 0, a > 0), strict=True):
            if np.isfinite(end):
                (most if from_above else least).append(Fraction(end) / Fraction(a))
    if not least or not most or max(least) != min(most):
        return None
    total = float(min(most))
    fits = total == min(most) and 0 < total <= float(upper.min())
    return Simplex(total).with_dim(dim) if fits else None
