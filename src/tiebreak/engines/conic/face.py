"""What earlier levels leave of a set by cones: rows that are held, and smaller cones.

All minimisers of a level have <z, s> = 0 for any of its optimal multipliers z, and the same images under its data: so
they are the points of the set whose slacks are in the face of the cones that z leaves, with those images. Where a
multiplier is zero by rounding only, the face is too small or too large; the brackets do not rest on it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...arrays import Matrix, Vector
from ...numerics.cones import Cone
from ...numerics.conic_rows import ConicRows
from ...numerics.exact import Exact, joined
from ...numerics.extended import dense
from .level import ExactLevel

CORRECTIONS, PRICE_CORRECTIONS = 2, 5
"""Each gains some 14 digits; Newton's steps come with corrections of their own."""

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
    x: Exact
    E: Matrix
    blocks: tuple[Block, ...]
    images: tuple[Matrix, ...] = ()
    doubtful: bool = False

    @classmethod
    def of(cls, rows: ConicRows) -> Face:
        """The whole set."""
        identity = np.eye(rows.b.size)
        blocks = tuple(Block(cone, identity[place]) for cone, place in rows.blocks)
        return cls(rows, Exact.of(rows.middle.x), identity[rows.zero], blocks)

    @cached_property
    def A(self) -> Matrix:
        """The rows of the set, dense."""
        return dense(self.rows.A)

    @cached_property
    def maps(self) -> list[Exact]:
        """T of each block."""
        return [Exact.of(block.T) for block in self.blocks]

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
        left, values, right = np.linalg.svd(H / sizes[:, None], full_matrices=H.shape[0] < H.shape[1])
        rank = int((values > RANK * values.max(initial=0.0)).sum())
        inverse = (right[:rank].T / values[:rank]) @ left[:, :rank].T / sizes
        return inverse, right[rank:].T

    @property
    def free(self) -> Matrix:
        """An orthonormal basis of the directions that are left."""
        return self._decomposed[1]

    @cached_property
    def _exact(self) -> tuple[Exact, list[Exact], Exact]:
        """E, the images, and E s at the point of the face."""
        s = self.rows.exact_slacks(self.x)
        s.whole[self.rows.zero] = 0
        E = Exact.of(self.E)
        return E, [Exact.of(B) for B in self.images], E @ s

    def back(self, x: Exact) -> Exact:
        """The point next to x at which what is held is what it is at the point of the face."""
        for _ in range(CORRECTIONS if self.held.shape[0] else 0):
            x = x - self._decomposed[0] @ self._off(x).double()
        return x

    def _off(self, x: Exact) -> Exact:
        """Held rows at x, less what they should be."""
        E, images, then = self._exact
        return joined([then - E @ self.rows.exact_slacks(x), *(B @ (x - self.x) for B in images)])

    def pulled(self, mu: Exact) -> tuple[Exact, list[Exact], Exact]:
        """Multipliers of the held rows as those of all slacks and of the images, and what they add to the slope."""
        E, images, _ = self._exact
        start = E.whole.shape[0]
        z = E.T @ mu[:start]
        slope, w = self.rows.exact[0].T @ z, []
        for B in images:
            w.append(mu[start : start + B.whole.shape[0]])
            start += B.whole.shape[0]
            slope = slope + B.T @ w[-1]
        return z, w, slope

    def prices(self, slope: Exact) -> Exact:
        """Multipliers mu of the held rows with H'mu + slope = 0, as well as they can be."""
        mu = Exact.of(np.zeros(self.held.shape[0]))
        for _ in range(PRICE_CORRECTIONS if mu.size else 0):
            left = slope + self.pulled(mu)[2]
            mu = mu - self._decomposed[0].T @ left.double()
        return mu

    def after(self, level: ExactLevel, x: Exact, multipliers: list[Vector], unit: float) -> Face:
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
        return Face(self.rows, x, np.vstack(E), tuple(blocks), (*self.images, level.images), doubtful).flattened()

    def flattened(self) -> Face:
        """The same without cones in which nothing moves, and with smaller ones where what is held leaves no inside."""
        s, E, blocks = self.rows.exact_slacks(self.x).double(), [self.E], list[Block]()
        for block in self.blocks:
            along = block.T @ self.A @ self.free
            fixed = np.linalg.norm(along, axis=1) <= RANK * np.linalg.norm(block.T @ self.A, axis=1)
            if fixed.all():
                continue
            part = block.cone.flat(block.T @ s, fixed)
            if part is None:
                blocks.append(block)
                continue
            E.append(part.E @ block.T)
            blocks += [Block(cone, part.T @ block.T) for cone in part.cones]
        return replace(self, E=np.vstack(E), blocks=tuple(blocks))
