"""Cones that are not their own duals: exponential and power cones.

Their margins are found by bisection, in double precision. What a multiplier leaves of the exponential cone is known,
and where slack and multiplier belong to each other: levels over it are solved. Of power cones neither is known here.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from . import exponential_decimals
from .cones import Cone, Nonnegative, Part
from .exact import Exact, joined
from .extended import Ext

INSIDE = 1e-6
"""A multiplier that is inside the dual cone by more than this, relative to its size, leaves nothing."""

FLAT = 1e-9
"""A fixed y below this, relative to the slack, is zero."""


class Unsymmetric(Cone):
    """A cone in three dimensions that is not its own dual: its margins are found by bisection, in double precision."""

    symmetric = False
    chains = False
    sharp = False

    thick = 1 / 0.3

    def __init__(self) -> None:
        super().__init__(3)

    long = 1 / 0.3

    def margin(self, s: Ext | Exact) -> float:
        return self._bisected(Exact.of(s).double(), self.holds)

    def dual_margin(self, z: Ext | Exact) -> float:
        return self._bisected(Exact.of(z).double(), self.dual_holds)

    def _bisected(self, s: Vector, holds) -> float:  # type: ignore[no-untyped-def]
        size = float(np.linalg.norm(s)) or 1.0
        low, high = -self.thick * size * 1.01, self.thick * size * 1.01
        while high - low > 1e-15 * size and low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if holds(s - middle * self.unit) else (low, middle)
        return low - 1e-14 * size

    @abstractmethod
    def holds(self, s: Vector) -> bool:
        """Whether s is in the cone."""

    @abstractmethod
    def dual_holds(self, z: Vector) -> bool:
        """Whether z is in the dual cone."""

    def arrow(self, s: Vector) -> Matrix:
        raise NotImplementedError("there is no Jordan product for this cone")

    def circ(self, s: Exact, z: Exact) -> Exact:
        raise NotImplementedError("there is no Jordan product for this cone")

    def part(self, z: Vector, least: float) -> Part:
        raise NotImplementedError("the faces of this cone are not known here")


class Exponential(Unsymmetric):
    """Vectors (x, y, z) with y exp(x / y) <= z and y > 0, and their limits.

    The normal of the boundary at l (a, 1, e^a) is m (-e^a, (a - 1) e^a, 1) = (u, v, w). So s and z, not both zero, are
    a pair with <s, z> = 0 where w z + u y = 0, u x + (v - u) y = 0, and x = y log(z / y), or log(-u / w) for that
    logarithm where s is zero. In place of a Jordan product: these three, each times what makes it linear in s and in z.
    Margins are shown in decimals, whose logarithms are rounded correctly.
    """

    chains = True
    sharp = True

    @property
    def named(self) -> tuple[str, float]:
        return "exponential", 3

    @cached_property
    def unit(self) -> Vector:
        return np.array([-1.051383, 0.556409, 1.258967])

    def holds(self, s: Vector) -> bool:
        x, y, z = s
        if y <= 0:
            return bool(y == 0 and x <= 0 and z >= 0)
        return bool(z > 0 and x <= y * np.log(z / y))

    def dual_holds(self, z: Vector) -> bool:
        u, v, w = z
        if u >= 0:
            return bool(u == 0 and v >= 0 and w >= 0)
        return bool(w > 0 and v >= u * (1 + np.log(w / -u)))

    def margin(self, s: Ext | Exact) -> float:
        return exponential_decimals.margin(s, self.unit, partial(super().margin, s))

    def dual_margin(self, z: Ext | Exact) -> float:
        return exponential_decimals.dual_margin(z, self.unit, partial(super().dual_margin, z))

    def sum_margin(self, s: Ext | Exact, z: Ext | Exact) -> float:
        """Whether one of both is inside its cone, or both are on the boundary and neither is zero."""
        sizes = [float(np.linalg.norm(Exact.of(one).double())) for one in (s, z)]
        return max(self.margin(s), self.dual_margin(z), min(sizes))

    def circ(self, s: Exact, z: Exact) -> Exact:
        x, y, c, u, v, w = *(s[i] for i in range(3)), *(z[i] for i in range(3))
        return joined([(w * c + u * y)[None], (u * x + (v - u) * y)[None], (u * (x - y * _log(s, z)))[None]])

    def slopes(self, s: Vector, z: Vector) -> tuple[Matrix, Matrix]:
        (x, y, c), (u, v, w) = s, z
        log, log_s, log_z = 0.0, np.zeros(3), np.zeros(3)
        if y > 0 and c > 0:
            log, log_s = np.log(c / y), np.array([0.0, -1 / y, 1 / c])
        elif u < 0 < w:
            log, log_z = np.log(-u / w), np.array([1 / u, 0.0, -1 / w])
        in_s = np.array([[0.0, u, w], [u, v - u, 0.0], u * (np.array([1.0, -log, 0.0]) - y * log_s)])
        in_z = np.array([[y, 0.0, c], [x - y, y, 0.0], np.array([x - y * log, 0.0, 0.0]) - u * y * log_z])
        return in_s, in_z

    def part(self, z: Vector, least: float) -> Part:
        u, _, w = z
        size, identity = float(np.linalg.norm(z)), np.eye(3)
        if size <= least:
            return Part((self,), identity, identity[:0], size, np.inf)
        margin = self.dual_margin(Exact.of(z))
        if margin > INSIDE * size:
            return Part((), identity[:0], identity, -np.inf, margin)
        if u < -INSIDE * size and w > 0:
            a = np.log(-u / w)
            ray = np.array([a, 1.0, np.exp(a)]) if a < 0 else np.array([a * np.exp(-a), np.exp(-a), 1.0])
        elif w > INSIDE * size:  # the limits: y = 0, and z = 0 where w pushes
            ray = np.array([-1.0, 0.0, 0.0])
        else:
            return self._face(size)
        ray = ray / np.linalg.norm(ray)
        beside = np.linalg.svd(ray[None])[2][1:]
        return Part((Nonnegative(1),), ray[None], beside, max(margin, 0.0), size)

    def flat(self, s: Vector, fixed: NDArray[np.bool_]) -> Part | None:
        return self._face(np.inf) if fixed[1] and abs(s[1]) <= FLAT * float(np.linalg.norm(s)) else None

    def _face(self, size: float) -> Part:
        """That with y = 0: x is not positive, z not negative."""
        identity = np.eye(3)
        return Part((Nonnegative(2),), np.array([-identity[0], identity[2]]), identity[1:2], -np.inf, size)


def _log(s: Exact, z: Exact) -> Exact:
    """log(z / y) of the slack, or log(-u / w) of the multiplier, or zero where neither is there."""
    if s[1].double() > 0 and s[2].double() > 0:
        return exponential_decimals.log_ratio(s[2], s[1])
    if z[0].double() < 0 < z[2].double():
        return exponential_decimals.log_ratio(-1.0 * z[0], z[2])
    return Exact.of(0.0)


class Power(Unsymmetric):
    """Vectors (x, y, z) with x^a y^(1 - a) >= |z| and x, y >= 0."""

    def __init__(self, exponent: float) -> None:
        super().__init__()
        self.exponent = exponent

    @property
    def named(self) -> tuple[str, float]:
        return "power", self.exponent

    @cached_property
    def unit(self) -> Vector:
        return np.array([1.0, 1.0, 0.0])

    def holds(self, s: Vector) -> bool:
        x, y, z = s
        a = self.exponent
        return bool(x >= 0 and y >= 0 and x**a * y ** (1 - a) >= abs(z))

    def dual_holds(self, z: Vector) -> bool:
        a = self.exponent
        return self.holds(np.array([z[0] / a, z[1] / (1 - a), z[2]]))
