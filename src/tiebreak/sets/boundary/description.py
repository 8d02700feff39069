"""What a set says of itself near a point: linear constraints, and curved ones with their first two derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector

Array = NDArray[np.float64]
NEAR = 1e-6
"""A constraint that x misses by less than this, relative to its terms, is tried as active; multipliers then decide."""


class Place(NamedTuple):
    """Entries of data: all of them, or those at ``index``."""

    name: str
    index: Any = ()


class Source(NamedTuple):
    """Where the end of a row comes from: factor * the entry of the data; no place: from no data."""

    place: Place | None = None
    factor: float = 1.0


@dataclass(frozen=True)
class Curved(ABC):
    """Constraints c(P X + q) <= 0 that hold together; multipliers y of all of them are in a cone, or inside it.

    ``at``, ``bend`` and ``shifted`` are in terms of X; a subclass has the same in terms of s = P X + q.
    """

    P: Array
    q: Vector

    @abstractmethod
    def values(self, s: Vector) -> tuple[Array, Vector]:
        """The gradients of all c at s, as rows, and by how much each c is below zero."""

    @abstractmethod
    def hessian(self, s: Vector, y: Vector) -> Array:
        """That of <y, c>."""

    @abstractmethod
    def margin(self, y: Vector) -> float:
        """How far y is inside the cone of multipliers, in units of y; below zero outside."""

    def named(self, ends: Vector, shift: Vector) -> list[tuple[Place, Any]]:
        """Derivatives by data, from those by the ends of c and by q."""
        return []

    def at(self, X: Vector) -> tuple[Array, Vector]:
        """Gradients in X, and by how much each constraint is below zero."""
        G, off = self.values(self.P @ X + self.q)
        return G @ self.P, off

    def bend(self, X: Vector, y: Vector) -> Array:
        """The Hessian of <y, c> in X."""
        return np.asarray(self.P.T @ self.hessian(self.P @ X + self.q, y) @ self.P)

    def shifted(self, X: Vector, ends: Vector, paid: Iterable[tuple[Vector, Vector]]) -> Vector:
        """The derivative by q, given the multipliers of the ends, and those of levels with their directions."""
        s = self.P @ X + self.q
        moved = -(self.values(s)[0].T @ ends)
        return np.asarray(moved - sum(self.hessian(s, y) @ (self.P @ u) for y, u in paid))

    def of(self, T: Array) -> Self:
        """The same for variables X' with X = T X'."""
        return replace(self, P=self.P @ T)


@dataclass(frozen=True)
class Boundary:
    """The points x = T X with rows @ X <= ends (``equal``: =) and what is curved.

    Attributes
    ----------
    data : dict
        The shapes of its data, by their names.
    sources : list of Source
        Of each end.
    curved : tuple of Curved
        Those that X is near to.
    sizes : array or None
        What each row adds of |x|, where some do; T is the identity then.
    """

    T: Array
    X: Vector
    rows: Array
    ends: Vector
    equal: NDArray[np.bool_]
    data: dict[str, tuple[int, ...]]
    sources: list[Source] = field(default_factory=list)
    curved: tuple[Curved, ...] = ()
    sizes: Array | None = None

    @classmethod
    def round(cls, x: Vector, data: dict[str, tuple[int, ...]], *curved: Curved) -> Boundary:
        """Of sets that have no rows."""
        return cls(np.eye(x.size), x, np.zeros((0, x.size)), np.zeros(0), np.zeros(0, dtype=bool), data, [], curved)


def joined(parts: list[tuple[str, Boundary]]) -> Boundary:
    """The product; data have the name of their block in front."""
    from scipy.linalg import block_diag

    starts = np.cumsum([0, *(part.X.size for _, part in parts)])
    every = np.eye(int(starts[-1]))
    data, sources, curved = dict[str, tuple[int, ...]](), list[Source](), list[Curved]()
    for (name, part), start in zip(parts, starts, strict=False):
        data |= {f"{name}.{own}": shape for own, shape in part.data.items()}
        sources += [one._replace(place=one.place and _within(name, one.place)) for one in part.sources]
        own = every[start : start + part.X.size]
        curved += [Block(one.P @ own, one.q, one, name) for one in part.curved]
    sizes = [np.zeros(part.rows.shape) if part.sizes is None else part.sizes for _, part in parts]
    return Boundary(
        block_diag(*(part.T for _, part in parts)),
        np.concatenate([part.X for _, part in parts]),
        block_diag(*(part.rows for _, part in parts)),
        np.concatenate([part.ends for _, part in parts]),
        np.concatenate([part.equal for _, part in parts]),
        data,
        sources,
        tuple(curved),
        block_diag(*sizes) if any(part.sizes is not None for _, part in parts) else None,
    )


def _within(block: str, place: Place) -> Place:
    return place._replace(name=f"{block}.{place.name}")


@dataclass(frozen=True)
class Block(Curved):
    """What is curved in a block of a product."""

    own: Curved
    block: str

    def values(self, s: Vector) -> tuple[Array, Vector]:
        return self.own.values(s)

    def hessian(self, s: Vector, y: Vector) -> Array:
        return self.own.hessian(s, y)

    def margin(self, y: Vector) -> float:
        return self.own.margin(y)

    def named(self, ends: Vector, shift: Vector) -> list[tuple[Place, Any]]:
        return [(_within(self.block, place), value) for place, value in self.own.named(ends, shift)]
