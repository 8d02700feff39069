"""The vertices in use, in flat arrays: each with its weight and its image under both levels."""

from __future__ import annotations

import math

import numpy as np

from ...arrays import Vector, length
from ...kernels.vertex_prices import norms
from .atoms import Atoms, Codes
from .descent import Candidates
from .level import Smooth
from .tableau import COUNT, UNDONE

LEAST = 64  # room that is taken at least


class Vertices:
    """Slots 0 .. count-1 hold vertices v, as in a ``Tableau``.

    Parameters
    ----------
    atoms : Axes or Listed
        All vertices there are.
    level : Smooth
        What is minimised.
    fixed : Smooth, optional
        A level whose image t* is kept: the row of E is [s0, image of v - t*], with s0 of the size of the rest, so that
        E'w = [s0, 0]. Without it, E has that first column only: the sum of the weights is kept.
    """

    def __init__(
        self, atoms: Atoms, level: Smooth, fixed: Smooth | None = None, t_star: Vector | None = None, s0: float = 1.0
    ) -> None:
        self.atoms, self.level, self.fixed, self.s0 = atoms, level, fixed, s0
        self.t_star = np.zeros(0) if t_star is None else t_star
        self.n = np.zeros(UNDONE + 1, dtype=np.int64)
        self.where = np.full(atoms.total, -1)
        self._take(0)

    @property
    def count(self) -> int:
        return int(self.n[COUNT])

    def _take(self, capacity: int) -> None:
        """Fresh arrays of that length, with nothing in them yet."""
        self.code = np.empty(capacity, dtype=np.int64)
        self.w, self.p, self.size = np.empty(capacity), np.empty(capacity), np.empty(capacity)
        self.E, self.F = np.empty((capacity, 1 + self.t_star.size)), np.empty((capacity, self.level.size))

    def next_level(self, level: Smooth, t_star: Vector) -> Vertices:
        """The same vertices to minimise ``level`` with, where the image t* of the level so far is kept."""
        k = self.count
        gaps = self.F[:k] - t_star
        spread, size = length(gaps) / math.sqrt(k), float(self.size[:k].max())
        following = Vertices(self.atoms, level, self.level, t_star, (spread if spread > 1e-6 * size else size) or 1.0)
        following.reserve(2 * k)
        following.add(self.code[:k], self.w[:k], gaps)
        return following

    def emptied(self, level: Smooth | None = None) -> Vertices:
        """No vertices; the same levels, or another one to minimise."""
        return Vertices(self.atoms, level or self.level, self.fixed, self.t_star, self.s0)

    def first(self, count: int) -> Vertices:
        """So many of them, with their weights."""
        some = self.emptied()
        some.add(self.code[:count], self.w[:count])
        return some

    def candidates(self, codes: Codes) -> Candidates:
        """The columns of vertices that are in no slot."""
        E, F = np.empty((codes.size, self.E.shape[1])), np.empty((codes.size, self.F.shape[1]))
        return Candidates(codes, E, F, *self._written(codes, E, F))

    def _written(
        self, codes: Codes, E: np.ndarray, F: np.ndarray, gaps: np.ndarray | None = None
    ) -> tuple[Vector, Vector]:
        """Write the rows of vertices into E and F; returns <p, v> and ||F v||."""
        E[:, 0] = self.s0
        if self.fixed is not None:
            E[:, 1:] = self.atoms.images(self.fixed, codes) - self.t_star if gaps is None else gaps
        F[:] = self.atoms.images(self.level, codes)
        return np.zeros(codes.size) if self.level.p is None else self.atoms.dots(self.level.p, codes), norms(F)

    def add(self, codes: Codes, weights: Vector, gaps: np.ndarray | None = None) -> None:
        """Put vertices into the next slots; ``gaps`` are their images minus t*, where they are at hand."""
        self.reserve(self.count + codes.size)
        slots = slice(self.count, self.count + codes.size)
        self.p[slots], self.size[slots] = self._written(codes, self.E[slots], self.F[slots], gaps)
        self.code[slots], self.w[slots] = codes, weights
        self.where[codes] = np.arange(slots.start, slots.stop)
        self.n[COUNT] = slots.stop

    def reserve(self, capacity: int) -> None:
        """Room for so many vertices in use, and for all that are listed."""
        if capacity > self.w.size:
            old, k = (self.code, self.w, self.p, self.size, self.E, self.F), self.count
            self._take(max(capacity, LEAST))
            for array, before in zip((self.code, self.w, self.p, self.size, self.E, self.F), old, strict=True):
                array[:k] = before[:k]
        if self.atoms.total > self.where.size:
            self.where = np.append(self.where, np.full(self.atoms.total, -1))

    def slot(self, code: int) -> int:
        """Where a vertex is, or -1."""
        return int(self.where[code]) if code < self.where.size else -1

    def point(self) -> Vector:
        """The sum of w v."""
        return self.atoms.mixed(self.code[: self.count], self.w[: self.count])

    def dot(self, c: Vector) -> Vector:
        """<c, v> for every vertex."""
        return self.atoms.dots(c, self.code[: self.count])
