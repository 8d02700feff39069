"""The Birkhoff polytope: the doubly stochastic matrices."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Vector, as_count
from ..numerics.dual_newton import Diagonal, maximise
from ..numerics.nearest import nearest_point
from .base import Domain
from .outside import beside_doubly_stochastic
from .rows import ByRows, sums_to

NEAR = 1e-12
"""How far sums may be off, and how much the inequality of a projection may be missed, in units of the set."""


class Birkhoff(Domain):
    """The n x n matrices with nonnegative entries whose rows and columns sum to 1, flattened row by row.

    Parameters
    ----------
    n : int
        The order of the matrices.

    Notes
    -----
    Its extreme points are the permutation matrices: ``lmo`` is an assignment problem, and a minimiser over
    the polytope and a cut is a mix of two permutations. ``project`` is exact to about 1e-12.

    Examples
    --------
    >>> import numpy as np
    >>> Z = Birkhoff(2)
    >>> Z.lmo(np.array([1.0, 0.0, 0.0, 1.0]))
    array([0., 1., 1., 0.])
    >>> Z.lmo_cut(np.array([1.0, 0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0, 0.0]), 0.25).point
    array([0.75, 0.25, 0.25, 0.75])
    >>> Z.project(np.array([1.0, 0.0, 0.0, 0.0])).round(12) + 0.0
    array([0.75, 0.25, 0.25, 0.75])
    """

    polytope = True
    binary = True

    def __init__(self, n: int) -> None:
        n = as_count(n, "n")
        self.shape = (n, n)
        self.dim: int = n * n

    def __repr__(self) -> str:
        return f"Birkhoff({self.shape[0]})"

    def lmo(self, c: Vector) -> Vector:
        from scipy.optimize import linear_sum_assignment

        C = self._check(c, "c").reshape(self.shape)
        S = np.zeros(self.shape)
        S[linear_sum_assignment(C)] = 1.0
        return S.ravel()

    def lmo_bound(self, c: Vector, s: Vector) -> float:
        """The value of the assignment, less what rounding can hide in the n shortest paths that build it."""
        n = self.shape[0]
        return super().lmo_bound(c, s) - 4 * n * n * UNIT_ROUNDOFF * float(np.abs(c).max())

    def project(self, x: Vector) -> Vector:
        """By Newton's method on the dual (2 n multipliers), where the variational inequality confirms its answer."""
        x, rows = self._check(x, "x"), self.rows.plain
        found = maximise(Diagonal(np.ones(x.size), -x, rows.A, rows.low, rows.lower, rows.upper), steps=100)
        if found is not None:
            p, direction = found[0], x - found[0]
            slope = float(direction @ (self.lmo(-direction) - p))
            if self.contains(p, NEAR) and slope <= NEAR * (1 + float(np.linalg.norm(direction))):
                return p
        return nearest_point(rows, x, 1.0, self.lmo)

    @cached_property
    def rows(self) -> ByRows:
        """The sums of the rows of a matrix, and those of its columns, are 1."""
        places = np.arange(self.dim).reshape(self.shape)
        return sums_to(np.vstack([places, places.T]), self.dim, 1.0, 1.0)

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        X = self._check(x, "x").reshape(self.shape)
        sums = np.concatenate([X.sum(axis=0), X.sum(axis=1)])
        return bool(X.min() >= -tol and np.abs(sums - 1).max() <= tol)

    def distance_outside(self, x: Vector) -> float:
        return beside_doubly_stochastic(self._check(x, "x").reshape(self.shape))

    @property
    def diameter(self) -> float:
        return float(np.sqrt(2 * self.shape[0])) if self.shape[0] > 1 else 0.0
