"""Cuts of Euclidean balls in groups of coordinates, with a few numbers for each group.

In the group g, a_g = t c_g + p_g with p_g orthogonal to c_g, so that

    |a_g + lam c_g|^2 = |p_g|^2 + |c_g|^2 (lam + t)^2:

after one pass over the coefficients, a step of the search for the multiplier costs a few operations a group.
"""

from __future__ import annotations

from math import inf

import numpy as np

from ...arrays import Vector


class Spheres:
    """The minimisers -(a_g + lam c_g) / |a_g + lam c_g| over the unit spheres of the groups."""

    def __init__(self, a: Vector, c: Vector, labels: np.ndarray, count: int) -> None:
        self._c, self._labels = c, labels

        def sums(x: Vector) -> Vector:
            return np.bincount(labels, weights=x, minlength=count).astype(np.float64)

        squares = sums(c * c)
        self._t, self._p = np.zeros(count), a
        for _ in range(2):  # twice, or what is left of an a_g parallel to c_g would point anywhere
            t = np.divide(sums(self._p * c), squares, out=np.zeros(count), where=squares > 0)
            self._t, self._p = self._t + t, self._p - t[labels] * c
        self._norm_p, self._norm_c = np.sqrt(sums(self._p * self._p)), np.sqrt(squares)
        self.sizes_a, self.sizes_c = np.sqrt(sums(a * a)), self._norm_c

    def norms(self, lam: float) -> Vector:
        """|a_g + lam c_g| for all groups; |c_g| for lam = inf."""
        return self._norm_c if lam == inf else np.hypot(self._norm_p, self._norm_c * (lam + self._t))

    def products(self, lam: float) -> tuple[Vector, Vector]:
        """<a_g, s_g> and <c_g, s_g> for the minimisers at lam; among several, for the smallest <c_g, s_g>.

        For lam = inf they minimise <c_g, .>, and <a_g, .> where c_g is zero.
        """
        along, across = self._directions(lam)
        return -(across * self._norm_p + along * self._norm_c * self._t), -along * self._norm_c

    def points(self, lam: float) -> Vector:
        """All minimisers at lam, as one vector."""
        along, across = self._directions(lam)
        along = np.divide(along, self._norm_c, out=np.zeros_like(along), where=self._norm_c > 0)
        across = np.divide(across, self._norm_p, out=np.zeros_like(across), where=self._norm_p > 0)
        s: Vector = across[self._labels] * self._p + along[self._labels] * self._c
        return -s

    def _directions(self, lam: float) -> tuple[Vector, Vector]:
        """The components of -s_g along c_g and along p_g."""
        if lam == inf:
            return (self._norm_c > 0).astype(float), (self._norm_c == 0).astype(float)
        norms = self.norms(lam)
        flat = norms == 0
        safe = np.where(flat, 1.0, norms)
        along = np.where(flat, 1.0, self._norm_c * (lam + self._t) / safe)
        return along, np.where(flat, 0.0, self._norm_p / safe)
