"""Matrices all of whose columns lie in one set."""

from __future__ import annotations

from functools import cached_property, singledispatch
from math import fsum

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector, as_count
from .base import Cut, Domain
from .cuts.ball_columns import cut_ball_columns
from .cuts.dual import checked, cut_by_dual
from .cuts.envelope import STATUSES
from .l1 import L1Ball
from .l2 import L2Ball
from .outside import length_of
from .product import complete_cut
from .rows import ByRows, repeated
from .simplex import Simplex


class Columns(Domain):
    """The matrices of the given shape with every column in the set ``each``, flattened row by row.

    Parameters
    ----------
    each : Domain
        The set of the columns.
    shape : pair of int
        Rows and columns.

    Notes
    -----
    The oracles work on all columns at once where ``each`` is an :class:`L1Ball`, an :class:`L2Ball` or a
    :class:`Simplex`, and column by column for other sets. In a cut, all columns share one multiplier; for
    Euclidean balls a step of the search for it costs a few operations for each column.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.sets.l2 import L2Ball
    >>> Z = Columns(L2Ball(1.0), (2, 2))
    >>> Z.lmo(np.array([3.0, 0.0, 4.0, -2.0])).reshape(2, 2)
    array([[-0.6,  0. ],
           [-0.8,  1. ]])
    """

    each: Domain

    def __init__(self, each: Domain, shape: tuple[int, int]) -> None:
        if not isinstance(each, Domain):
            raise TypeError(f"each must be a set, got {each!r}")
        if np.shape(shape) != (2,):
            raise ValueError(f"shape must be a pair (rows, columns), got {shape!r}")
        self.shape = (as_count(shape[0], "shape[0]"), as_count(shape[1], "shape[1]"))
        if each.dim is not None and each.dim != self.shape[0]:
            raise ValueError(f"each does not fit: columns have {self.shape[0]} entries, but {each!r} has {each.dim}")
        self.each = each.with_dim(self.shape[0])
        self.dim = self.shape[0] * self.shape[1]
        self.assumes, self.oracles = each.assumes, each.oracles
        self.by_user, self.searches = each.by_user, each.searches

    def __repr__(self) -> str:
        return f"Columns({self.each!r}, {self.shape})"

    def lmo(self, c: Vector) -> Vector:
        return np.ravel(lmo_columns(self.each, self._check(c, "c").reshape(self.shape)))

    def lmo_bound(self, c: Vector, s: Vector) -> float:
        if type(self.each).lmo_bound is Domain.lmo_bound:  # one inner product, and so for all columns
            return super().lmo_bound(c, s)
        columns = zip(c.reshape(self.shape).T, s.reshape(self.shape).T, strict=True)
        bounds = [self.each.lmo_bound(column.copy(), point.copy()) for column, point in columns]
        return fsum(bounds) - UNIT_ROUNDOFF * fsum(abs(bound) for bound in bounds)

    def lmo_cut(self, a: Vector, c: Vector, b: float, *, warm: float = 0.0) -> Cut:
        a, c, b = checked(self, a, c, b)
        if isinstance(self.each, L2Ball):
            return self._cut_balls(self.each, a, c, b, warm)
        tied = (c.reshape(self.shape) != 0).any(axis=0)
        count = int(np.count_nonzero(tied))
        if count in (0, self.shape[1]):
            return cut_by_dual(self, a, c, b, warm)
        inside = np.broadcast_to(tied, self.shape).ravel()
        point = np.zeros(self.shape)
        point[:, ~tied] = lmo_columns(self.each, a.reshape(self.shape)[:, ~tied])
        rest = Columns(self.each, (self.shape[0], count))
        return complete_cut(rest.lmo_cut(a[inside], c[inside], b, warm=warm), inside, point.ravel())

    def _cut_balls(self, ball: L2Ball, a: Vector, c: Vector, b: float, warm: float) -> Cut:
        """In units of the radius, from the center."""
        A, C, center, shift, error = a.reshape(self.shape), c.reshape(self.shape), np.zeros((1, 1)), 0.0, 0.0
        if np.any(ball.center):
            center = np.reshape(ball.center, (-1, 1))
            shift, error = float(np.sum(C * center)), float(np.sum(np.abs(C * center)))
        status, multiplier, gap, point = cut_ball_columns(A, C, (b - shift) / ball.radius, warm, error / ball.radius)
        return Cut(np.ravel(ball.radius * point + center), multiplier, ball.radius * gap, STATUSES[status])

    def project(self, x: Vector) -> Vector:
        return np.ravel(project_columns(self.each, self._check(x, "x").reshape(self.shape)))

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        X = self._check(x, "x").reshape(self.shape)
        return all(self.each.contains(column, tol) for column in X.T)

    def distance_outside(self, x: Vector) -> float:
        X = self._check(x, "x").reshape(self.shape)
        return length_of(np.array([self.each.distance_outside(column.copy()) for column in X.T]))

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        return self.each.bounded

    @property
    def diameter(self) -> float:
        return float(np.sqrt(self.shape[1])) * self.each.diameter

    @cached_property
    def parts(self) -> tuple[tuple[Domain, slice], ...]:  # type: ignore[override]
        return tuple((self.each, slice(j, None, self.shape[1])) for j in range(self.shape[1]))

    @cached_property
    def rows(self) -> ByRows | None:
        return None if self.each.rows is None else repeated(self.each.rows, self.shape[1])

    @property
    def outer_box(self) -> tuple[Vector, Vector]:
        lower, upper = self.each.outer_box
        return np.repeat(lower, self.shape[1]), np.repeat(upper, self.shape[1])

    def signs(self, dim: int) -> Vector:
        return np.repeat(self.each.signs(self.shape[0]), self.shape[1])

    @property
    def shrinks(self) -> bool:
        return self.each.shrinks


@singledispatch
def lmo_columns(each: Domain, C: Matrix) -> Matrix:
    """``each.lmo`` of all columns of C."""
    return np.stack([each.lmo(column) for column in C.T], axis=1)


@lmo_columns.register
def _(each: L1Ball, C: Matrix) -> Matrix:
    if each.weights is None:
        i, extent = np.abs(C).argmax(axis=0), each.radius
    else:
        extents = each.radius / each.weights
        i = np.abs(C * extents[:, None]).argmax(axis=0)
        extent = extents[i]
    j = np.arange(C.shape[1])
    S = np.zeros_like(C)
    S[i, j] = np.where(C[i, j] >= 0, -extent, extent)
    return S


@lmo_columns.register
def _(each: L2Ball, C: Matrix) -> Matrix:
    norms = np.linalg.norm(C, axis=0)
    return np.reshape(each.center, (-1, 1)) - each.radius * C / np.where(norms > 0, norms, 1.0)


@lmo_columns.register
def _(each: Simplex, C: Matrix) -> Matrix:
    S = np.zeros_like(C)
    S[C.argmin(axis=0), np.arange(C.shape[1])] = each.total
    return S


@singledispatch
def project_columns(each: Domain, X: Matrix) -> Matrix:
    """``each.project`` of all columns of X."""
    return np.stack([each.project(column) for column in X.T], axis=1)


@project_columns.register
def _(each: L1Ball, X: Matrix) -> Matrix:
    weights = np.ones(len(X)) if each.weights is None else each.weights
    size = np.abs(X)
    inside = weights @ size <= each.radius
    return np.where(inside, X, np.copysign(_threshold_columns(size, weights, each.radius), X))


@project_columns.register
def _(each: L2Ball, X: Matrix) -> Matrix:
    center = np.reshape(each.center, (-1, 1))
    norms = np.linalg.norm(X - center, axis=0)
    outside = norms > each.radius
    return np.where(outside, center + (X - center) * (each.radius / np.where(outside, norms, 1.0)), X)


@project_columns.register
def _(each: Simplex, X: Matrix) -> Matrix:
    return _threshold_columns(X, np.ones(len(X)), each.total)


def _threshold_columns(V: Matrix, weights: Vector, total: float) -> Matrix:
    """``threshold_to_sum`` of all columns, by sorting: theta is the largest over the k first entries of each."""
    if (weights == 1.0).all():
        V = V - V.max(axis=0)
        sums = np.cumsum(np.sort(V, axis=0)[::-1], axis=0)
        theta = ((sums - total) / np.arange(1.0, len(V) + 1)[:, None]).max(axis=0)
        return np.maximum(V - theta, 0.0)
    ratio = V / weights[:, None]
    V = V - ratio.max(axis=0) * weights[:, None]
    order = np.argsort(-ratio, axis=0)
    w = weights[order]
    sums = np.cumsum(w * np.take_along_axis(V, order, axis=0), axis=0)
    theta = ((sums - total) / np.cumsum(w * w, axis=0)).max(axis=0)
    return np.maximum(V - theta * weights[:, None], 0.0)
