"""Vertices by number: those on the coordinate axes in closed form, others listed as the linear oracle finds them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...sets.base import Domain
from ...sets.rows import Axes
from .level import Smooth

Codes = NDArray[np.int64]


class OnAxes:
    """The vertices extent_j e_j, number j, and if ``signed`` -extent_j e_j, number j + d; ``reach`` is the largest."""

    def __init__(self, axes: Axes) -> None:
        self.extents, self.signed, self.weights = extents, signed, _ = axes
        self.dim = extents.size
        self.total = 2 * self.dim if signed else self.dim
        self.reach = float(extents.max())
        self._values = np.concatenate([extents, -extents]) if signed else extents

    def entries(self, codes: Codes) -> tuple[Codes, Vector]:
        """Place and value of the one nonzero of each."""
        return codes % self.dim, self._values[codes]

    def least(self, c: Vector) -> int:
        """The vertex with the least <c, v>."""
        spread = c * self.extents
        j = int(np.argmax(np.abs(spread)) if self.signed else np.argmin(spread))
        return j + self.dim if self.signed and spread[j] >= 0 else j

    def dot(self, c: Vector, code: int) -> float:
        """<c, v>."""
        j = code % self.dim
        return float(c[j] * self.extents[j]) if code < self.dim else -float(c[j] * self.extents[j])

    def number(self, s: Vector) -> int:
        """The number of a vertex."""
        j = int(np.flatnonzero(s)[0])
        return j if s[j] > 0 else j + self.dim

    def dots(self, c: Vector, codes: Codes) -> Vector:
        """<c, v>."""
        index, values = self.entries(codes)
        return np.asarray(c[index] * values)

    def mixed(self, codes: Codes, weights: Vector) -> Vector:
        """The sum of the vertices times their weights."""
        index, values = self.entries(codes)
        return np.bincount(index, weights * values, self.dim).astype(np.float64, copy=False)

    def images(self, level: Smooth, codes: Codes) -> np.ndarray:
        """F v, one row a vertex."""
        index, values = self.entries(codes)
        if level.data is None:
            return np.zeros((codes.size, 0))
        if level.data.kind == "sparse":
            return level.data.scattered_columns(index, values)
        images = level.data.raw.T[index]
        images *= values[:, None]
        return np.asarray(images)


class Listed:
    """Vertices as the linear oracle finds them, numbered in that order."""

    def __init__(self, domain: Domain, dim: int) -> None:
        self.domain, self.dim = domain, dim
        self.index: list[np.ndarray] = []
        self.values: list[Vector] = []
        self.numbers: dict[bytes, int] = {}
        ends = np.abs([domain.lmo(np.ones(dim)), domain.lmo(-np.ones(dim))])
        self.reach = float(ends.max())

    @property
    def total(self) -> int:
        return len(self.index)

    def least(self, c: Vector) -> int:
        """The vertex with the least <c, v>."""
        return self.number(self.domain.lmo(c))

    def number(self, s: Vector) -> int:
        """The number of a vertex, a new one if it has not been seen."""
        index = np.flatnonzero(s)
        values = s[index]
        key = index.tobytes() + values.tobytes()
        number = self.numbers.setdefault(key, len(self.index))
        if number == len(self.index):
            self.index.append(index)
            self.values.append(values)
        return number

    def dot(self, c: Vector, code: int) -> float:
        """<c, v>."""
        return float(c[self.index[code]] @ self.values[code])

    def dots(self, c: Vector, codes: Codes) -> Vector:
        """<c, v>."""
        return np.array([c[self.index[code]] @ self.values[code] for code in codes])

    def mixed(self, codes: Codes, weights: Vector) -> Vector:
        """The sum of the vertices times their weights."""
        x = np.zeros(self.dim)
        for code, weight in zip(codes, weights, strict=True):
            x[self.index[code]] += weight * self.values[code]
        return x

    def images(self, level: Smooth, codes: Codes) -> np.ndarray:
        """F v, one row a vertex."""
        images = np.zeros((codes.size, level.size))
        if level.data is not None:
            for row, code in enumerate(codes):
                images[row] = level.image(self.mixed(np.array([code]), np.ones(1)))
        return images


Atoms = OnAxes | Listed


def atoms_of(domain: Domain, dim: int) -> Atoms:
    """The vertices of a polytope."""
    axes = domain.with_dim(dim).axes
    return Listed(domain, dim) if axes is None else OnAxes(axes)
