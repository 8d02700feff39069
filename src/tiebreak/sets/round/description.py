"""What a round set says of itself, so that an exact engine need not know which one it is.

Near a solution the boundary is a smooth surface: a *chart* writes its points as x(u) with one equation gauge(u) = 1,
and the condition for a minimiser with slope c as ``pull(u, c) + lam * normal(u) = 0``, which Newton's method solves to
the last digit. The *growth* at a point x with an outward normal says how fast <n, y - x> rises as y in Z moves away, so
that a small residual proves a small distance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.clarabel import Cones
from ...numerics.extended import Ext

if TYPE_CHECKING:
    from ..base import Domain

EQUAL, APART = 1e-14, 1e-6
"""Numbers that differ by less than the first, relative to the largest, are equal; by more than the second, not."""


class Conic(NamedTuple):
    """Z = {origin + M v : A v + s = b, s in the cones}, the cones as ``numerics.clarabel`` names them."""

    M: Matrix
    origin: Vector
    A: Matrix
    b: Vector
    cones: Cones


@dataclass(frozen=True)
class Face:
    """The points N z, z in a set of its own, of a face of Z; true ones are within ``off`` of these."""

    N: Matrix
    domain: Domain
    off: float
    description: str


@dataclass(frozen=True)
class Growth:
    """How <n, y - x'> grows over y in Z, for a point x' of Z and an n that x' minimises over Z.

    Let c be the slope at the point, e = x' - y, and Q any number that is at least <n, y - x'>. Then e is the sum of a
    part of length at most ``root`` sqrt(Q) + ``linear`` Q and of ``face`` a, for some a with |trace a| at most
    ``linear`` Q; |e| is at most |a| and those parts together.

    Attributes
    ----------
    residual : float
        At least |c - n|, rounding included, c being the slope at the point of the chart.
    shift : float
        At least the distance of x' from the point of the chart.
    face_error : float
        How far rounding may have moved ``face``, as a linear map.
    bend : array or None
        Where there is no face: <n, y - x'> >= sum of bend_i e_i^2.
    power : tuple or None
        p, kappa and a mask of entries for which kappa |e_i|^p may be added to that sum in place of bend_i e_i^2.
    tilt : float
        For slopes within delta of c, the faces of their minimisers are within tilt * delta of ``face``; where delta is
        at most ``steady``.
    """

    residual: float
    shift: float
    root: float = 0.0
    linear: float = 0.0
    face: Matrix | None = None
    face_error: float = 0.0
    trace: Matrix | None = None
    bend: Vector | None = None
    power: tuple[float, float, NDArray[np.bool_]] | None = None
    tilt: float = 0.0
    steady: float = np.inf


class Chart(ABC):
    """Points x(u) of the surface near a solution, in extended precision; ``start`` is the u of the point it is made at.

    Derivatives are in double precision: they only steer.
    """

    start: Ext
    bounded: bool = True
    """Whether there is an equation gauge(u) = 1 and a normal; an interior point has none."""

    @abstractmethod
    def point(self, u: Ext) -> Ext:
        """x(u)."""

    @abstractmethod
    def pull(self, u: Ext, c: Ext) -> Ext:
        """What of the slope c has to be met by the normal: linear in c."""

    @abstractmethod
    def pulled(self, u: Ext, M: Matrix) -> Matrix:
        """``pull`` of all columns, in double precision."""

    @abstractmethod
    def jacobian(self, u: Ext) -> Matrix:
        """dx/du."""

    @abstractmethod
    def bend(self, u: Ext, c: Ext, lam: float) -> Matrix:
        """The derivative of pull(u, c) + lam normal(u) by u."""

    @abstractmethod
    def growth(self, u: Ext, c: Ext, c_error: float) -> Growth | None:
        """The growth at x(u), given the slope there and how far it may be off; None where none can be shown."""

    @abstractmethod
    def outside(self, u: Ext) -> float:
        """At least the distance of x(u) from Z."""

    def idle(self, u: Ext) -> Matrix:
        """Directions, as columns, in which u moves and x(u) does not."""
        return np.zeros((u.size, 0))

    def normal(self, u: Ext) -> Ext:
        """The outward normal, as ``pull`` sees it."""
        raise NotImplementedError

    def gauge(self, u: Ext) -> np.longdouble:
        """One on the surface."""
        raise NotImplementedError

    def gauge_slope(self, u: Ext) -> Vector:
        """Its derivative."""
        raise NotImplementedError

    # -- the same for products, which have several equations ---------------------------------------------------

    @property
    def equations(self) -> int:
        """How many there are."""
        return int(self.bounded)

    def normals(self, u: Ext) -> Ext:
        """The normals, as columns."""
        return self.normal(u)[:, None] if self.bounded else np.zeros((u.size, 0), dtype=np.longdouble)

    def excess(self, u: Ext) -> Ext:
        """By how much each gauge is above one."""
        return np.array([self.gauge(u) - 1] if self.bounded else [], dtype=np.longdouble)

    def gauge_slopes(self, u: Ext) -> Matrix:
        """The derivatives of the gauges, as rows."""
        return self.gauge_slope(u)[None, :] if self.bounded else np.zeros((0, u.size))

    def bends(self, u: Ext, c: Ext, lam: Vector) -> Matrix:
        """The derivative of pull(u, c) + normals(u) lam by u."""
        return self.bend(u, c, float(lam[0]) if lam.size else 0.0)


class Round(ABC):
    """A set with a curved boundary."""

    size: float
    """Its extent, so that solvers can work in good units."""

    middle: Vector
    """A point in its interior."""

    hull: Matrix | None = None
    """Orthonormal columns that span the differences of its points; None where these are all vectors."""

    sphere: bool = False
    """Whether it is a Euclidean ball around ``middle`` with radius ``size``."""

    work: float
    """About how many multiplications one step of an interior-point method takes."""

    @abstractmethod
    def conic(self) -> Conic:
        """By cones."""

    @abstractmethod
    def charts(self, x: Vector, c: Vector) -> Iterator[Chart]:
        """Charts around what may be a minimiser with slope c there, the likeliest first."""

    @abstractmethod
    def inside(self, x: Vector) -> Chart:
        """The chart for a point that no boundary holds."""

    def linear_face(self, c: Vector) -> Face | None:
        """The minimisers of <c, .> where they are more than one; None where they are not, or ties are doubtful."""
        return None

    @abstractmethod
    def room(self, x: Vector) -> float:
        """At most the radius of a ball around x, in the affine hull of Z, that lies in Z; 0 where there is none."""
