"""Spheres of lp norms and of sums of norms of groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from .description import NEAR, Array, Boundary, Curved, Place

FLAT = 1e-9
"""With p < 2, an entry smaller than this, relative to the norm, has no second derivative."""


@dataclass(frozen=True)
class Sphere(Curved):
    """|s|_p = radius."""

    p: float
    radius: float

    def values(self, s: Vector) -> tuple[Array, Vector]:
        norm = float(np.linalg.norm(s, self.p))
        return self._normal(s)[None], np.array([self.radius - norm])

    def _normal(self, s: Vector) -> Vector:
        w = s / float(np.linalg.norm(s, self.p))
        return np.asarray(np.sign(w) * np.abs(w) ** (self.p - 1))

    def hessian(self, s: Vector, y: Vector) -> Array:
        norm, n = float(np.linalg.norm(s, self.p)), self._normal(s)
        w = np.abs(s) / norm
        if self.p < 2 and (w < FLAT).any():
            raise ValueError(
                "x has no derivative: an entry vanishes where the ball of an lp norm with p < 2 has a kink"
            )
        bent = np.ones(w.size) if self.p == 2 else w ** (self.p - 2)
        return np.asarray(float(y[0]) * (self.p - 1) / norm * (np.diag(bent) - np.outer(n, n)))

    def margin(self, y: Vector) -> float:
        return float(y[0])

    def named(self, ends: Vector, shift: Vector) -> list[tuple[Place, Any]]:
        return [(Place("radius"), ends[0]), (Place("center"), -shift)]


def near_sphere(x: Vector, p: float, radius: float, center: Vector) -> Boundary:
    """The ball of a norm."""
    data: dict[str, tuple[int, ...]] = {"radius": (), "center": (x.size,)}
    if float(np.linalg.norm(x - center, p)) < (1 - NEAR) * radius:
        return Boundary.round(x, data)
    return Boundary.round(x, data, Sphere(np.eye(x.size), -center, p, radius))


@dataclass(frozen=True)
class Groups(Curved):
    """The sum of |s_G| over the groups that are ``kept``, as much as the radius, and s_G = 0 for all others."""

    labels: NDArray[np.intp]
    kept: NDArray[np.bool_]
    radius: float

    def values(self, s: Vector) -> tuple[Array, Vector]:
        lengths, on = self._lengths(s), self.kept[self.labels]
        unit = np.where(on, s / np.where(on, lengths[self.labels], 1.0), 0.0)
        G = np.vstack([unit, np.eye(s.size)[~on]])
        return G, np.append(self.radius - lengths[self.kept].sum(), -s[~on])

    def hessian(self, s: Vector, y: Vector) -> Array:
        unit, lengths = self.values(s)[0][0], self._lengths(s)
        H = np.zeros((s.size, s.size))
        for g in np.flatnonzero(self.kept):
            own = np.flatnonzero(self.labels == g)
            H[np.ix_(own, own)] = y[0] / lengths[g] * (np.eye(own.size) - np.outer(unit[own], unit[own]))
        return H

    def margin(self, y: Vector) -> float:
        """How much steeper the groups that are kept are than any other."""
        others = np.zeros(self.labels.size)
        others[~self.kept[self.labels]] = y[1:]
        return float(y[0] - self._lengths(others).max())

    def named(self, ends: Vector, shift: Vector) -> list[tuple[Place, Any]]:
        return [(Place("radius"), ends[0])]

    def _lengths(self, s: Vector) -> Vector:
        return np.sqrt(np.bincount(self.labels, weights=s**2, minlength=self.kept.size))


def near_groups(x: Vector, labels: NDArray[np.intp], radius: float) -> Boundary:
    """The ball of the group norm."""
    lengths = np.sqrt(np.bincount(labels, weights=x**2))
    if float(lengths.sum()) < (1 - NEAR) * radius:
        return Boundary.round(x, {"radius": ()})
    groups = Groups(np.eye(x.size), np.zeros(x.size), labels, lengths > NEAR * radius, radius)
    return Boundary.round(x, {"radius": ()}, groups)
