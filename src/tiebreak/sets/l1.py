"""The l1 ball, plain or weighted."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..arrays import Vector, as_positive, as_vector
from .base import Cut, Domain
from .cuts.dual import checked
from .cuts.envelope import cut_axes
from .outside import beyond_radius
from .rows import Axes, ByRows, total_size
from .threshold import threshold_to_sum


class L1Ball(Domain):
    """The l1 ball {s : sum_i w_i |s_i| <= radius}.

    Parameters
    ----------
    radius : float
        Above zero.
    weights : array, optional
        The w_i, all above zero; all one by default.

    Notes
    -----
    Its extreme points are +-(radius / w_i) e_i, and a minimiser over the ball and a cut is a mix of at most
    two of them. A few passes over the coefficients find it: each evaluates max |a_i + lam c_i| / w_i at one
    multiplier and drops the coordinates that can no longer matter.

    Examples
    --------
    >>> import numpy as np
    >>> ball = L1Ball(1.0)
    >>> ball.lmo(np.array([1.0, -3.0]))
    array([0., 1.])
    >>> ball.lmo_cut(np.array([-2.0, -1.0]), np.array([1.0, 0.0]), 0.25).point
    array([0.25, 0.75])
    >>> ball.project(np.array([1.5, -1.0]))
    array([ 0.75, -0.25])
    """

    polytope = True
    shrinks = True

    def __init__(self, radius: float, weights: Vector | None = None) -> None:
        self.radius = as_positive(radius, "radius")
        self.weights = None
        self._extent: float | Vector = self.radius
        if weights is not None:
            self.weights = as_vector(weights, "weights").copy()
            if self.weights.min() <= 0:
                raise ValueError("weights must all be positive; a weight of zero would leave the set unbounded")
            self._extent = self.radius / self.weights
            self.dim = self.weights.size

    def __repr__(self) -> str:
        return f"L1Ball({self.radius:g})" if self.weights is None else f"L1Ball({self.radius:g}, weights=...)"

    def lmo(self, c: Vector) -> Vector:
        c = self._check(c, "c")
        i = int(np.abs(c * self._extent).argmax())
        extent = self._extent if isinstance(self._extent, float) else self._extent[i]
        s = np.zeros(c.size)
        s[i] = -extent if c[i] >= 0 else extent
        return s

    def lmo_cut(self, a: Vector, c: Vector, b: float, *, warm: float = 0.0) -> Cut:
        a, c, b = checked(self, a, c, b)
        return cut_axes(a, c, b, self._extent, True, warm)

    def project(self, x: Vector) -> Vector:
        x = self._check(x, "x")
        w = np.ones(x.size) if self.weights is None else self.weights
        size = np.abs(x)
        if w @ size <= self.radius:
            return x.copy()
        return np.copysign(threshold_to_sum(size, w, self.radius, least=0.0), x)

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        size = np.abs(self._check(x, "x"))
        norm = size.sum() if self.weights is None else self.weights @ size
        return bool(norm <= self.radius * (1 + tol))

    def distance_outside(self, x: Vector) -> float:
        size = np.abs(self._check(x, "x"))
        norm = float(size.sum() if self.weights is None else self.weights @ size)
        return beyond_radius(norm, self.radius, float(np.linalg.norm(x)), x.size)

    @property
    def diameter(self) -> float:
        return 2 * float(np.max(self._extent))

    @cached_property
    def rows(self) -> ByRows | None:
        if self.dim is None:
            return None
        weights = np.ones(self.dim) if self.weights is None else self.weights
        return total_size(weights, self.radius, np.broadcast_to(self._extent, (self.dim,)))

    @property
    def axes(self) -> Axes | None:  # type: ignore[override]
        if self.dim is None:
            return None
        return Axes(np.full(self.dim, self._extent), True, 1.0 if self.weights is None else self.weights)

    def signs(self, dim: int) -> Vector:
        return np.zeros(dim)

    def largest(self, size: Vector) -> float:
        return -self.lmo_bound(-size, self.lmo(-size))  # with s, |s| is in the ball
