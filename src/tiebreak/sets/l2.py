"""The Euclidean ball."""

from __future__ import annotations

from functools import cached_property
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from ..arrays import UNIT_ROUNDOFF, Vector, as_positive, as_vector
from .base import Cut, CutStatus, Domain
from .boundary.description import Boundary
from .boundary.norms import near_sphere
from .cuts.crossing import EXACT, SHORTFALL
from .cuts.dual import checked, require_meeting
from .outside import beyond_radius
from .round.powers import PowerBall


class L2Ball(Domain):
    """The Euclidean ball {s : ||s - center|| <= radius}.

    Parameters
    ----------
    radius : float
        Above zero.
    center : array, optional
        The origin by default.

    Notes
    -----
    All four oracles are closed forms. Where both the ball and the cut bind, the answer lies on the sphere
    in which the sphere and the hyperplane meet, in the direction of -a (or of x, for the projection)
    orthogonal to c.

    Examples
    --------
    >>> import numpy as np
    >>> ball = L2Ball(5.0)
    >>> ball.lmo(np.array([0.0, 2.0]))
    array([ 0., -5.])
    >>> ball.lmo_cut(np.array([-1.0, -1.0]), np.array([1.0, 0.0]), 3.0).point
    array([3., 4.])
    >>> ball.project(np.array([6.0, 8.0]))
    array([3., 4.])
    """

    def __init__(self, radius: float, center: Vector | None = None) -> None:
        self.radius = as_positive(radius, "radius")
        self.center: Vector | float = 0.0
        if center is not None:
            self.center = as_vector(center, "center").copy()
            self.dim = self.center.size

    def __repr__(self) -> str:
        return f"L2Ball({self.radius:g}, center=...)" if np.any(self.center) else f"L2Ball({self.radius:g})"

    def lmo(self, c: Vector) -> Vector:
        c = self._check(c, "c")
        return self.center - self.radius * _unit(c)

    def _height(self, c: Vector, b: float, norm: float) -> float:
        """The signed distance of the hyperplane <c, s> = b from the center."""
        return (b - float(np.sum(c * self.center))) / norm

    def lmo_cut(self, a: Vector, c: Vector, b: float, *, warm: float = 0.0) -> Cut:
        a, c, b = checked(self, a, c, b)
        s, norm = self.lmo(a), float(np.linalg.norm(c))
        size = float(np.sum(np.abs(c * self.center))) + self.radius * norm + abs(b)
        if c @ s <= b + EXACT * size:
            return Cut(s, 0.0, 0.0, CutStatus.INACTIVE)
        height = self._height(c, b, norm) if norm else -inf
        if height <= -self.radius:
            short = norm == 0 or norm * (-self.radius - height) > SHORTFALL * size
            status = CutStatus.INFEASIBLE if short else CutStatus.BOUNDARY
            return Cut(self.lmo(c), inf, inf, status)
        along, across = _split(a, c / norm)
        reach = sqrt(max((self.radius - height) * (self.radius + height), 0.0))
        offset = height * (c / norm) - reach * _unit(across)
        # a + multiplier c + curvature offset = 0: across c that gives the curvature, along c the multiplier
        curvature = float(np.linalg.norm(across)) / reach if reach else 0.0
        multiplier = max(-(along + curvature * height) / norm, 0.0)
        dual = -self.radius * float(np.linalg.norm(a + multiplier * c)) - multiplier * height * norm
        gap = max(float(a @ offset) - dual, 0.0)
        return Cut(self.center + offset, multiplier, gap, CutStatus.ACTIVE)

    def project(self, x: Vector) -> Vector:
        x = self._check(x, "x")
        offset = x - self.center
        norm = float(np.linalg.norm(offset))
        return x.copy() if norm <= self.radius else self.center + offset * (self.radius / norm)

    def project_cut(self, x: Vector, c: Vector, b: float) -> Vector:
        x, c, b = checked(self, x, c, b)
        point, norm = self.project(x), float(np.linalg.norm(c))
        if c @ point <= b:
            return point
        require_meeting(self, c, b)
        height = max(self._height(c, b, norm), -self.radius)
        across = _split(x - self.center, c / norm)[1]
        reach = sqrt(max((self.radius - height) * (self.radius + height), 0.0))
        if float(np.linalg.norm(across)) > reach:
            across = reach * _unit(across)
        return self.center + height * (c / norm) + across

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        return bool(np.linalg.norm(self._check(x, "x") - self.center) <= self.radius * (1 + tol))

    def distance_outside(self, x: Vector) -> float:
        length = float(np.linalg.norm(self._check(x, "x") - self.center))
        return beyond_radius(length, self.radius, length, x.size)

    @property
    def diameter(self) -> float:
        return 2 * self.radius

    @cached_property
    def round(self) -> PowerBall | None:
        if self.dim is None:
            return None
        return PowerBall(2.0, self.radius, self.center + np.zeros(self.dim), self.distance_outside)

    def boundary(self, x: Vector) -> Boundary:
        return near_sphere(x, 2.0, self.radius, self.center + np.zeros(x.size))

    @property
    def euclidean_radius(self) -> float | None:  # type: ignore[override]
        return None if np.any(self.center) else self.radius

    @property
    def shrinks(self) -> bool:
        return not np.any(self.center)

    def shrinks_groups(self, labels: NDArray[np.intp]) -> bool:
        """In a ball around zero the prox of any norm is shrunk along its own ray, which leaves its subgradients."""
        return self.shrinks


def _unit(v: Vector) -> Vector:
    """v / ||v||, and zero for zero."""
    return v / (float(np.linalg.norm(v)) or 1.0)


def _split(v: Vector, unit: Vector) -> tuple[float, Vector]:
    """The coefficient of v along ``unit``, and the rest of v; a rest of the size of rounding is zero."""
    along = float(v @ unit)
    across = v - along * unit
    across -= float(across @ unit) * unit
    if np.linalg.norm(across) <= 4 * UNIT_ROUNDOFF * abs(along):
        across = np.zeros_like(v)
    return along, across
