"""What a domain is: a compact convex set known through a few oracles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Vector, as_vector


class CutStatus(StrEnum):
    """How the half-space met the set."""

    INACTIVE = "inactive"  # a minimiser over Z alone satisfies the cut; its multiplier is 0
    ACTIVE = "active"  # the cut holds with equality
    BOUNDARY = "boundary"  # b is below min <c, .> by rounding only: the point minimises <c, .>, its multiplier is inf
    INFEASIBLE = "infeasible"  # Z and the half-space do not meet: the point minimises <c, .>, its multiplier is inf


@dataclass(slots=True, eq=False)
class Atom:
    """An extreme point of Z with its weight, as a sparse vector: ``weight``, positions ``index``, entries ``value``."""

    weight: float
    index: np.ndarray
    value: np.ndarray


@dataclass(frozen=True)
class Cut:
    """The answer of ``lmo_cut(a, c, b)``: a minimiser of <a, s> over Z and <c, s> <= b.

    Attributes
    ----------
    point : array
        The minimiser; always in Z.
    multiplier : float
        The multiplier of the cut, so that ``min over Z of <a + multiplier c, s> - multiplier b`` is the minimum.
    gap : float
        A bound on <a, point> minus the minimum: 0 up to rounding where the oracle is exact, inf where it is
        ``infeasible`` or ``boundary`` and nothing is claimed.
    atoms : tuple of Atom
        The point as a mix of few extreme points, where the set has sparse ones; empty otherwise.
    status : CutStatus
        ``inactive``, ``active``, ``boundary`` or ``infeasible``.
    """

    point: Vector
    multiplier: float
    gap: float
    atoms: tuple[Atom, ...]
    status: CutStatus


class Domain(ABC):
    """A compact convex set Z.

    A subclass supplies ``lmo``, ``project``, ``contains`` and ``diameter``; ``lmo_cut`` and ``project_cut`` have
    generic versions through those, which a subclass overrides where something faster is exact.
    """

    dim: int | None = None
    """Length of its points; None where the set exists in every dimension."""

    assumes: str = ""
    """What a bound computed with ``lmo`` takes for granted beyond floating point; empty where it is a proof."""

    by_user: bool = False
    """Whether its oracles, or some of them, are functions that a user wrote."""

    searches: bool = False
    """Whether ``contains`` is a search through ``lmo``, so that it costs many calls and tells nothing new."""

    polytope: bool = False
    """Whether the set is a polytope and ``lmo`` returns its vertices, exactly."""

    oracles: frozenset[str] = frozenset({"lmo", "lmo_cut", "project", "project_cut", "contains"})
    """The oracles that can be called."""

    identity: tuple[str, ...] | None = None
    """The attributes that tell one set of its class from another; None: all (of a user's class: what its lmo says)."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__module__.split(".")[0] != "tiebreak":
            cls.by_user = True
            if "assumes" not in vars(cls):
                cls.assumes = "its oracles are as its class gives them"

    @abstractmethod
    def lmo(self, c: Vector) -> Vector:
        """A minimiser of <c, s> over Z: a point, not a direction. Any one of several will do."""

    @abstractmethod
    def project(self, x: Vector) -> Vector:
        """The point of Z nearest to x."""

    @abstractmethod
    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        """Whether x is in Z up to ``tol``, relative to the size of the set."""

    def distance_outside(self, x: Vector) -> float:
        """A number that is at least the Euclidean distance from x to Z, rounding included; inf where none is known.

        The default takes ``project`` to return a point of the set. Sets with something better override it.
        """
        if "project" not in self.oracles:
            return 0.0 if self.contains(x, 0.0) else float(np.inf)
        away = float(np.linalg.norm(x - self.project(x)))
        return away + (x.size + 8) * UNIT_ROUNDOFF * float(np.linalg.norm(x))

    @property
    @abstractmethod
    def diameter(self) -> float:
        """An upper bound on the Euclidean distance of two points of Z (for ``dim = None``: in any dimension)."""

    def lmo_bound(self, c: Vector, s: Vector) -> float:
        """A number proved to be at most min <c, .> over Z, given ``s = lmo(c)``.

        The default takes ``lmo`` to be exact up to the rounding of one inner product; sets whose LMO is a numerical
        solve override it by weak duality.
        """
        rounding = (s.size + 8) * UNIT_ROUNDOFF * float(np.abs(c) @ np.abs(s))
        return float(c @ s) - rounding

    def lmo_cut(self, a: Vector, c: Vector, b: float, *, warm: float = 0.0) -> Cut:
        """A minimiser of <a, s> over Z and {<c, s> <= b}; ``warm`` is a guess of the multiplier."""
        from .cut import cut_by_dual

        return cut_by_dual(self, a, c, b, warm)

    def project_cut(self, x: Vector, c: Vector, b: float) -> Vector:
        """The point of Z and {<c, s> <= b} nearest to x."""
        from .cut import project_by_dual

        return project_by_dual(self, x, c, b)

    def with_dim(self, dim: int) -> Self:
        """The same set, as one of vectors of length ``dim`` (its diameter may depend on that)."""
        if self.dim == dim:
            return self
        if self.dim is not None:
            raise ValueError(f"the set has points of length {self.dim}, not {dim}")
        bound = copy(self)
        bound.dim = dim
        return bound

    def _check(self, v: Vector, name: str) -> Vector:
        return as_vector(v, name, self.dim)
