"""The lp ball for 1 < p < inf."""

from __future__ import annotations

from functools import cached_property
from math import inf

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Vector, as_count, as_positive
from .base import Cut, CutStatus, Domain
from .boundary.description import Boundary
from .boundary.norms import near_sphere
from .cuts.crossing import EXACT, SHORTFALL
from .cuts.dual import checked
from .outside import beyond_radius
from .round.powers import PowerBall


class LpBall(Domain):
    """The lp ball {s : sum_i |s_i|^p <= radius^p}.

    Parameters
    ----------
    p : float
        Above one and finite; :class:`L1Ball` and :class:`Box` are the two limits.
    radius : float
        Above zero.
    dim : int, optional
        The dimension. Without it, the diameter counts as infinite for p > 2.

    Notes
    -----
    The minimiser of <v, .> is Hoelder's: entries proportional to -sign(v_i) |v_i|^(q-1) with 1/p + 1/q = 1.
    With a cut, v = (1 - t) a + t c and t solves the scalar equation <c, s(t)> = b. The projection solves
    y_i + mu y_i^(p-1) = |x_i| for all i by Newton's method, inside a scalar equation for mu.

    Examples
    --------
    >>> import numpy as np
    >>> ball = LpBall(3, 1.0)
    >>> ball.lmo(np.array([0.0, 2.0]))
    array([-0., -1.])
    >>> s = ball.lmo_cut(np.array([-1.0, -1.0]), np.array([1.0, 0.0]), 0.5).point
    >>> bool(np.allclose(s, [0.5, 0.875 ** (1 / 3)]))
    True
    >>> bool(np.allclose(ball.project(np.array([2.0, 2.0])), 0.5 ** (1 / 3)))
    True
    """

    shrinks = True

    def __init__(self, p: float, radius: float, dim: int | None = None) -> None:
        if p == 1:
            raise ValueError("p = 1 is the l1 ball: use L1Ball(radius)")
        if p == inf:
            raise ValueError("p = inf is a box: use Box(-radius, radius)")
        self.p = as_positive(p, "p")
        if self.p <= 1:
            raise ValueError(f"p must be above 1, got {self.p:g}; below it the set is not convex")
        self.q = self.p / (self.p - 1)
        self.radius = as_positive(radius, "radius")
        self.dim = None if dim is None else as_count(dim, "dim")

    def __repr__(self) -> str:
        return f"LpBall({self.p:g}, {self.radius:g}" + (")" if self.dim is None else f", dim={self.dim})")

    def _support(self, v: Vector) -> tuple[Vector, float]:
        """A minimiser of <v, .>, and the minimum."""
        scale = float(np.abs(v).max()) or 1.0
        size = np.abs(v) / scale
        norm = _norm(size, self.q)
        s = -self.radius * np.sign(v) * (size / (norm or 1.0)) ** (self.q - 1)
        return s, -self.radius * scale * norm

    def lmo(self, c: Vector) -> Vector:
        return self._support(self._check(c, "c"))[0]

    def lmo_cut(self, a: Vector, c: Vector, b: float, *, warm: float = 0.0) -> Cut:
        a, c, b = checked(self, a, c, b)
        scale_a, scale_c = float(np.abs(a).max()) or 1.0, float(np.abs(c).max()) or 1.0
        unit_a, unit_c = a / scale_a, c / scale_c
        ends = {True: 0.0, False: 1.0}  # the last t whose point violates the cut, and the first whose does not

        def point(t: float) -> Vector:
            return self._support((1 - t) * unit_a + t * unit_c)[0]

        def violation(t: float) -> float:
            excess = float(c @ point(t)) - b
            ends[excess > 0] = (max if excess > 0 else min)(ends[excess > 0], t)
            return excess

        size = abs(self._support(c)[1]) + abs(b)
        if not np.isfinite(size + abs(violation(0.0)) + abs(violation(1.0))):
            raise OverflowError("the products of cost, cut and points of the set are beyond the range of doubles")
        if violation(0.0) <= EXACT * size:
            return Cut(point(0.0), 0.0, 0.0, CutStatus.INACTIVE)
        if violation(1.0) >= 0:
            status = CutStatus.INFEASIBLE if violation(1.0) > SHORTFALL * size else CutStatus.BOUNDARY
            return Cut(point(1.0), inf, inf, status)
        from scipy.optimize import brentq

        brentq(violation, 0.0, 1.0, xtol=UNIT_ROUNDOFF, rtol=8 * UNIT_ROUNDOFF)
        # The ends agree to rounding, their points need not: an entry of (1 - t) a + t c that vanishes between
        # them turns its coordinate around. The mix that meets the cut is optimal all the same.
        low, high = point(ends[True]), point(ends[False])
        over, under = max(float(c @ low) - b, 0.0), max(b - float(c @ high), 0.0)
        s = low + (high - low) * (over / (over + under) if over > 0 else 0.0)
        multipliers = [t / (1 - t) * (scale_a / scale_c) for t in ends.values() if t < 1]
        bound, multiplier = max((self._support(a + lam * c)[1] - lam * b, lam) for lam in multipliers)
        return Cut(s, multiplier, max(float(a @ s) - bound, 0.0), CutStatus.ACTIVE)

    def project(self, x: Vector) -> Vector:
        x = self._check(x, "x")
        size = np.abs(x) / self.radius
        if _norm(size, self.p) <= 1:
            return x.copy()

        def solve(mu: float) -> Vector:
            return size if mu == 0 else _root(size, mu, self.p)

        from scipy.optimize import brentq

        # y_i <= (|x_i| / mu)^(1/(p-1)), so that the q-norm of x bounds the mu that brings y back to norm one
        most = 2 * _norm(size, self.q)
        if not np.isfinite(most):
            raise OverflowError("x is beyond the range of doubles, in units of the radius")
        xtol, rtol = UNIT_ROUNDOFF * most, 8 * UNIT_ROUNDOFF
        mu = brentq(lambda mu: _norm(solve(mu), self.p) - 1, 0.0, most, xtol=xtol, rtol=rtol)
        return np.copysign(self.radius * solve(mu), x)

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        return _norm(self._check(x, "x"), self.p) <= self.radius * (1 + tol)

    def distance_outside(self, x: Vector) -> float:
        return beyond_radius(_norm(self._check(x, "x"), self.p), self.radius, float(np.linalg.norm(x)), x.size)

    def boundary(self, x: Vector) -> Boundary:
        return near_sphere(x, self.p, self.radius, np.zeros(x.size))

    @cached_property
    def round(self) -> PowerBall | None:
        if self.dim is None:
            return None
        return PowerBall(self.p, self.radius, np.zeros(self.dim), self.distance_outside)

    @property
    def diameter(self) -> float:
        if self.p <= 2:
            return 2 * self.radius
        return inf if self.dim is None else 2 * self.radius * float(self.dim ** (0.5 - 1 / self.p))


def _norm(v: Vector, p: float) -> float:
    """The lp norm, free of overflow."""
    size = np.abs(v)
    scale = float(size.max())
    return scale * float(np.sum((size / scale) ** p)) ** (1 / p) if scale else 0.0


def _root(x: Vector, mu: float, p: float) -> Vector:
    """The y >= 0 with y + mu y^(p-1) = x, entry by entry.

    With u = y for p >= 2 and u = y^(p-1) otherwise, this is alpha u^r + beta u = x with r >= 1: convex and
    increasing, so that Newton's method from the right descends to the root.
    """
    r, alpha, beta = (p - 1, mu, 1.0) if p >= 2 else (1 / (p - 1), 1.0, mu)
    u = np.minimum((x / alpha) ** (1 / r), x / beta)
    for _ in range(100):
        step = (alpha * u**r + beta * u - x) / (alpha * r * u ** (r - 1) + beta)
        u = u - step
        if np.all(step <= 4 * UNIT_ROUNDOFF * u):
            break
    u = np.maximum(u, 0.0)
    return u if p >= 2 else u**r
