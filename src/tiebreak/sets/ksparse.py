"""The k-sparse polytope, the convex hull of sign vectors with k nonzeros."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Vector, as_count, as_positive
from .base import Cut, Domain
from .cuts.crossing import EXACT, Vertex, cross
from .cuts.dual import checked, sparse_cut
from .faces import Face
from .outside import beyond_radius
from .rows import ByRows, total_size


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
    shrinks = True

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

    @cached_property
    def rows(self) -> ByRows | None:
        if self.dim is None:
            return None
        return total_size(np.ones(self.dim), self.k * self.radius, np.full(self.dim, self.radius))

    def signs(self, dim: int) -> Vector:
        return np.zeros(dim)

    def largest(self, size: Vector) -> float:
        return -self.lmo_bound(-size, self.lmo(-size))  # with s, |s| is in the hull

    def optimal_face(self, slope: Vector, doubt: Vector, most: int) -> Face | None:
        """Entries surely among the k largest, surely not, and tied, which exchange one another."""
        size, k, R = np.abs(slope), self.k, self.radius
        level = np.sort(size - doubt)[-k]  # at least k entries are at least this large
        above = np.sort(size + doubt)[-k - 1] if k < size.size else -np.inf  # at most k entries are larger
        sure = size - doubt > max(above, 0.0)
        tied = np.flatnonzero(~sure & (size + doubt >= level))
        if (2 * tied.size + 1) * slope.size > most:
            return None
        signed = np.where(slope >= 0, -R, R)
        slots = k - int(np.count_nonzero(sure))
        base = np.where(sure, signed, 0.0)
        open_ones = np.zeros(size.size, dtype=bool)
        open_ones[tied] = True
        either = open_ones & (size <= doubt)
        if either.any():  # the tied entries may have either sign: a full-dimensional part
            V, dimension = _windows(base, tied, slots, R), tied.size
        else:
            V = _swaps(base, tied, slots, signed)
            dimension = len(V) - 1
        return HullFace(sp.csr_array(np.array(V)), dimension, signed, sure, open_ones, either, slots)


@dataclass(frozen=True)
class HullFace(Face):
    """``sure`` entries as in ``corner``, ``slots`` of the ``tied`` ones as there or, where ``either``, of any sign."""

    corner: Vector
    sure: NDArray[np.bool_]
    tied: NDArray[np.bool_]
    either: NDArray[np.bool_]
    slots: int

    def least(self, c: Vector) -> float:
        costs = c * self.corner
        open_ones = np.sort(np.where(self.either, -np.abs(costs), costs)[self.tied])
        return float(np.sum(costs[self.sure]) + np.sum(open_ones[: self.slots]))

    def holds(self, s: Vector) -> bool:
        known = (s == self.corner) | (~self.sure & (s == 0)) | self.either
        return bool(np.all(known)) and not np.any((s != 0) & ~self.sure & ~self.tied)

    def separated(self, p: Vector) -> Vector:
        size = np.abs(p)
        level = float(size[self.tied].max(initial=0.0))
        moved = np.where(self.sure, np.maximum(size, 2 * level), np.where(self.tied, size, np.minimum(size, level / 2)))
        return np.copysign(moved, p)


def _windows(base: Vector, tied: NDArray[np.intp], slots: int, radius: float) -> list[Vector]:
    """Vertices that span all that the tied entries can do, of any sign: each of them once up and once down."""
    rows = []
    for i in range(tied.size):
        window = base.copy()
        window[np.roll(tied, -i)[:slots]] = radius
        rows += [window, window.copy()]
        rows[-1][tied[i]] = -radius
    return rows


def _swaps(base: Vector, tied: NDArray[np.intp], slots: int, signed: Vector) -> list[Vector]:
    """Vertices that span what the tied entries can do with their signs: one, and those with one of them exchanged."""
    first, rest = tied[:slots], tied[slots:]
    start = base.copy()
    start[first] = signed[first]
    swaps = [(first[0], j) for j in rest] + [(i, rest[0]) for i in first[1:]] if slots and rest.size else []
    rows = [start]
    for out, into in swaps:
        rows.append(start.copy())
        rows[-1][out], rows[-1][into] = 0.0, signed[into]
    return rows
