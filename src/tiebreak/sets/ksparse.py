"""The k-sparse polytope, the convex hull of sign vectors with k nonzeros."""

from __future__ import annotations

from bisect import bisect_left
from math import inf

import numpy as np

from ..arrays import Vector, as_count, as_positive
from .base import Cut, Domain
from .crossing import EXACT, Vertex, cross
from .cut import checked, sparse_cut
from .outside import beyond_radius


class KSparse(Domain):
    """The hull of the vectors with k entries +-radius and zeros elsewhere.

    It is the same as {s : |s_i| <= radius for all i, sum_i |s_i| <= k radius}.

    Parameters
    ----------
    k : int
        At least one, at most the dimension of the problem.
    radius : float
        Above zero.

    Examples
    --------
    >>> import numpy as np
    >>> hull = KSparse(2, 1.0)
    >>> hull.lmo(np.array([1.0, -3.0, 2.0]))
    array([ 0.,  1., -1.])
    >>> hull.lmo_cut(np.array([-3.0, -2.0, -1.0]), np.array([1.0, 0.0, 0.0]), 0.25).point
    array([0.25, 1.  , 0.75])
    >>> hull.project(np.array([3.0, 1.25, -0.75]))
    array([ 1.  ,  0.75, -0.25])
    """

    polytope = True

    def __init__(self, k: int, radius: float) -> None:
        self.k = as_count(k, "k")
        self.radius = as_positive(radius, "radius")

    def __repr__(self) -> str:
        return f"KSparse({self.k}, {self.radius:g})"

    def _check(self, v: Vector, name: str) -> Vector:
        v = super()._check(v, name)
        if self.k > v.size:
            raise ValueError(f"k = {self.k} nonzeros do not fit into {name} of length {v.size}; choose k <= {v.size}")
        return v

    def _vertex(self, v: Vector) -> tuple[np.ndarray, Vector]:
        """Positions and entries of an extreme point that minimises <v, .>."""
        index = np.argpartition(np.abs(v), v.size - self.k)[v.size - self.k :]
        return index, np.where(v[index] >= 0, -self.radius, self.radius)

    def lmo(self, c: Vector) -> Vector:
        c = self._check(c, "c")
        s = np.zeros(c.size)
        index, entries = self._vertex(c)
        s[index] = entries
        return s

    def lmo_cut(self, a: Vector, c: Vector, b: float, *, warm: float = 0.0) -> Cut:
        a, c, b = checked(self, self._check(a, "a"), c, b)

        def oracle(lam: float, level: float) -> Vertex:
            index, entries = self._vertex(c if lam == inf else a + lam * c)
            terms_a, terms_c = a[index] * entries, c[index] * entries
            sizes = float(np.abs(terms_a).sum()), float(np.abs(terms_c).sum())
            return Vertex(lam, float(terms_a.sum()), float(terms_c.sum()), *sizes, (index, entries))

        return sparse_cut(a.size, cross(oracle, b, warm, EXACT))

    def project(self, x: Vector) -> Vector:
        """The point clip(|x| - theta, 0, radius) with the signs of x, theta >= 0 as small as the sum allows.

        The sum is piecewise linear in theta, with kinks where an entry leaves either bound.
        """
        x = self._check(x, "x")
        size, most = np.abs(x), self.k * self.radius

        def clipped(theta: float) -> Vector:
            return np.clip(size - theta, 0.0, self.radius)

        if clipped(0.0).sum() <= most:
            return np.copysign(clipped(0.0), x)
        kinks = np.unique(np.concatenate([[0.0], size, np.maximum(size - self.radius, 0.0)]))
        right = bisect_left(kinks, -most, key=lambda theta: -float(clipped(theta).sum()))
        before, after = clipped(float(kinks[right - 1])), clipped(float(kinks[right]))
        share = float((before.sum() - most) / (before.sum() - after.sum()))
        return np.copysign(before + share * (after - before), x)

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        size = np.abs(self._check(x, "x"))
        return bool(size.max() <= self.radius * (1 + tol) and size.sum() <= self.k * self.radius * (1 + tol))

    def distance_outside(self, x: Vector) -> float:
        size = np.abs(self._check(x, "x"))
        gauge = max(float(size.max()), float(size.sum()) / self.k)
        return beyond_radius(gauge, self.radius, float(np.linalg.norm(x)), x.size)

    @property
    def diameter(self) -> float:
        return 2 * self.radius * float(np.sqrt(self.k))
