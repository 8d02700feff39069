"""What earlier levels leave of a set by cones: rows that are held, and smaller cones.

All minimisers of a level have <z, s> = 0 for any of its optimal multipliers z, and the same images under its data: so
they are the points of the set whose slacks are in the face of the cones that z leaves, with those images. Where a
multiplier is zero by rounding only, the face is too small or too large; the brackets do not rest on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...arrays import Matrix, Vector
from ...numerics.cones import Cone
from ...numerics.conic_rows import ConicRows
from ...numerics.extended import Ext, dense, double, ext
from ..cones.level import Level

RANK = 1e-10
"""Singular values of held rows below this, relative to the largest, count as zero."""

LEAST = 1e-9
"""Eigenvalues of a multiplier below this, relative to its size, count as zero."""

CLEAR = 1e-5
"""Where an eigenvalue of a multiplier that counts is below this, the face is in doubt."""


@dataclass(frozen=True)
class Block:
    """A cone for T s, s being all slacks."""

    cone: Cone
    T: Matrix


@dataclass(frozen=True)
class Face:
    """The points with E s = e and B x = t, and T s in the cone for each block; ``x`` is one of them, up to rounding.

    ``images`` is B, one array for each level that is held. ``doubtful`` says that some eigenvalue hardly counted.
    """

    rows: ConicRows
    x: Ext
    E: Matrix
    blocks: tuple[Block, ...]
    images: tuple[Matrix, ...] = ()
    doubtful: bool = False

    @classmethod
    def of(cls, rows: ConicRows) -> Face:
        """The whole set."""
        identity = np.eye(rows.b.size)
        blocks = tuple(Block(cone, identity[place]) for cone, place in rows.blocks)
        return cls(rows, ext(rows.middle.x), identity[rows.zero], blocks)

    @cached_property
    def A(self) -> Matrix:
        """The rows of the set, dense."""
        return dense(self.rows.A)

    @cached_property
    def held(self) -> Matrix:
        """All rows that are held, of x; those that are nothing but rounding beside their terms are zero."""
        rows, terms = self.E @ self.A, np.abs(self.E) @ np.abs(self.A)
        rows[np.linalg.norm(rows, axis=1) <= RANK * np.linalg.norm(terms, axis=1)] = 0.0
        return np.vstack([rows, *self.images])

    @cached_property
    def _decomposed(self) -> tuple[Matrix, Matrix]:
        """The pseudo-inverse of the held rows, and their null space; rows of one size, so that units do not matter."""
        H = self.held
        if not H.shape[0]:
            return np.zeros((H.shape[1], 0)), np.eye(H.shape[1])
        sizes = np.linalg.norm(H, axis=1)
        sizes[sizes == 0] = 1.0
        left, values, right = np.linalg.svd(H / sizes[:, None])
        rank = int((values > RANK * values.max(initial=0.0)).sum())
        inverse = (right[:rank].T / values[:rank]) @ left[:, :rank].T / sizes
        return inverse, right[rank:].T

    @property
    def free(self) -> Matrix:
        """An orthonormal basis of the directions that are left."""
        return self._decomposed[1]

    def back(self, x: Ext) -> Ext:
        """The point next to x at which what is held is what it is at the point of the face."""
        for _ in range(2 if self.held.shape[0] else 0):
            x = x - ext(self._decomposed[0] @ double(self._off(x)))
        return x

    def _off(self, x: Ext) -> Ext:
        """Held rows at x, less what they should be."""
        now, then = self.rows.slacks(x)[0], self.rows.slacks(self.x)[0]
        then = then.copy()
        then[self.rows.zero] = 0
        parts = [ext(self.E) @ (then - now)]
        return np.concatenate([*parts, *(ext(B) @ (x - self.x) for B in self.images)])

    def prices(self, slope: Ext) -> Ext:
        """Multipliers mu of the held rows with H'mu + slope = 0, as well as they can be."""
        wide = ext(self.held.T)
        mu = np.zeros(self.held.shape[0], dtype=np.longdouble)
        for _ in range(3 if mu.size else 0):
            mu = mu - ext(self._decomposed[0].T @ double(slope + wide @ mu))
        return mu

    def after(self, level: Level, x: Ext, multipliers: list[Vector], unit: float) -> Face:
        """What is left of it by a level that is minimised at x, with these multipliers of the blocks.

        Multipliers are zero if they are so beside ``unit``.
        """
        least = LEAST * unit
        E, blocks, doubtful = [self.E], [], self.doubtful
        for block, z in zip(self.blocks, multipliers, strict=True):
            part = block.cone.part(z, least)
            doubtful |= part.positive < CLEAR * unit or part.zero > 1e-3 * least
            E.append(part.E @ block.T)
            start = 0
            for cone in part.cones:
                blocks.append(Block(cone, part.T[start : start + cone.size] @ block.T))
                start += cone.size
        return Face(self.rows, x, np.vstack(E), tuple(blocks), (*self.images, level.images), doubtful)
