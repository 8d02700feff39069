"""The ball of the group norm, the sum of the Euclidean norms of groups of coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Vector, as_group_labels, as_positive, same_groups
from .base import Cut, Domain
from .boundary.description import Boundary
from .boundary.norms import near_groups
from .cuts.crossing import EXACT, Vertex, cross
from .cuts.dual import checked, sparse_cut
from .cuts.spheres import Spheres
from .outside import beyond_radius
from .round.groups import GroupRound
from .threshold import threshold_to_sum


class GroupBall(Domain):
    """The ball {s : sum over the groups g of |s_g|_2 <= radius}.

    Parameters
    ----------
    groups : sequence of index arrays, or array of int
        The groups, which must hold every position 0, ..., d - 1 once; or the label of the group of each
        position.
    radius : float
        Above zero.

    Notes
    -----
    A minimiser of a linear function is nonzero in one group, a minimiser over the ball and a cut in one or
    two.

    Examples
    --------
    >>> import numpy as np
    >>> ball = GroupBall([[0, 1], [2]], 1.0)
    >>> ball.lmo(np.array([-3.0, 4.0, 4.5]))
    array([ 0.6, -0.8,  0. ])
    >>> ball.lmo_cut(np.array([-2.0, 0.0, -1.0]), np.array([1.0, 0.0, 0.0]), 0.25).point
    array([0.25, 0.  , 0.75])
    >>> ball.project(np.array([1.2, 0.0, 0.8]))
    array([0.7, 0. , 0.3])
    """

    shrinks = True

    def __init__(self, groups: Sequence[ArrayLike] | ArrayLike, radius: float) -> None:
        self._labels = as_group_labels(groups)
        self._count = int(self._labels.max()) + 1
        self.radius = as_positive(radius, "radius")
        self.dim = self._labels.size

    def __repr__(self) -> str:
        return f"GroupBall({self._count} groups in {self.dim} dimensions, {self.radius:g})"

    def lmo(self, c: Vector) -> Vector:
        c = self._check(c, "c")
        norms = self._norms(c)
        best = int(np.argmax(norms))
        mine = self._labels == best
        s = np.zeros(c.size)
        if norms[best] == 0:
            s[0] = -self.radius
        else:
            s[mine] = -self.radius * (c[mine] / norms[best])
        return s

    def lmo_cut(self, a: Vector, c: Vector, b: float, *, warm: float = 0.0) -> Cut:
        a, c, b = checked(self, a, c, b)
        size_a, size_c = float(np.abs(a).max()) or 1.0, float(np.abs(c).max()) or 1.0
        spheres = Spheres(a / size_a, c / size_c, self._labels, self._count)
        members: dict[int, np.ndarray] = {}
        R = self.radius

        def oracle(lam: float, level: float) -> Vertex:
            best = int(np.argmax(spheres.norms(lam)))
            value_a, value_c = (float(part[best]) for part in spheres.products(lam))
            sizes = float(spheres.sizes_a[best]), float(spheres.sizes_c[best])
            return Vertex(lam, value_a, value_c, *sizes, (lam, best))

        crossing = cross(oracle, b / (R * size_c), warm * size_c / size_a, EXACT)

        def nonzeros(vertex: Vertex) -> Vertex:
            lam, best = vertex.point
            index = members.setdefault(best, np.flatnonzero(self._labels == best))
            return vertex._replace(point=(index, R * spheres.points(lam)[index]))

        return sparse_cut(
            a.size,
            crossing._replace(
                low=nonzeros(crossing.low),
                high=nonzeros(crossing.high),
                multiplier=crossing.multiplier * size_a / size_c,
                gap=crossing.gap * R * size_a,
            ),
        )

    def project(self, x: Vector) -> Vector:
        x = self._check(x, "x")
        norms = self._norms(x)
        if norms.sum() <= self.radius:
            return x.copy()
        shrunk = threshold_to_sum(norms, np.ones(norms.size), self.radius)
        factors: Vector = np.divide(shrunk, norms, out=np.zeros_like(norms), where=norms > 0)
        p: Vector = x * factors[self._labels]
        return p

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        return bool(self._norms(self._check(x, "x")).sum() <= self.radius * (1 + tol))

    def distance_outside(self, x: Vector) -> float:
        norm = float(self._norms(self._check(x, "x")).sum())
        return beyond_radius(norm, self.radius, float(np.linalg.norm(x)), x.size)

    @property
    def diameter(self) -> float:
        return 2 * self.radius

    def boundary(self, x: Vector) -> Boundary:
        return near_groups(x, self._labels, self.radius)

    @cached_property
    def round(self) -> GroupRound:
        return GroupRound(self._labels, self.radius, self.distance_outside)

    def shrinks_groups(self, labels: NDArray[np.intp]) -> bool:
        """As entries do in an l1 ball, read for the lengths of its own groups."""
        return same_groups(self._labels, labels)

    def _norms(self, x: Vector) -> Vector:
        size = float(np.abs(x).max()) or 1.0  # squares of small or large entries stay in range
        squares = np.bincount(self._labels, weights=(x / size) ** 2, minlength=self._count)
        return size * np.sqrt(squares.astype(np.float64))
