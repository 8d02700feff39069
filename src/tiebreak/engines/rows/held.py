"""What all points of a face have in common, as one matrix: its rank, and where it is small, null space and multipliers.

On the columns S that are not fixed, the rows E are those of the domain that are fixed or equalities, and the images
P_k of the quadratic levels. Rank decisions are made here and in ``nearby``, by what the arithmetic resolves: full rank
of larger matrices by their Gram matrix, anything else by singular values.
"""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.deadline import affordable
from ...numerics.definite import least_singular_value
from ...numerics.extended import Ext, between, column_squares, dense, double, ext, row_sizes
from ...numerics.rank import exact_rank, resolved
from ...numerics.rows import power_of_two
from .face import Face
from .level import Level, stack
from .terms import image_of

RANK = 1e-10
"""Differences below this, relative to the largest term, count as none where constancy is asked."""
FEW = 1500
"""Up to this many unfixed columns the decompositions take a second or less."""
LARGEST = 20_000_000
"""Up to this many entries matrices are made dense for that."""
LONG = 5e6
"""Where the product of entries and columns is larger, a proof of full rank is faster than singular vectors."""


Decomposed: TypeAlias = tuple[Matrix, Vector, Matrix]
"""U, the singular values, and V'."""


class Held:
    """E on the unfixed columns of a face, in units where columns and blocks of rows have size 1."""

    def __init__(
        self, face: Face, column_side: NDArray[np.int8] | None = None, row_side: NDArray[np.int8] | None = None
    ) -> None:
        given = face.given
        self.face = face
        columns, rows = face.column_side if column_side is None else column_side, face.row_side
        self.columns = np.flatnonzero((columns == 0) & (given.lower < given.upper))
        self.limits = np.zeros(face.x.size)  # of columns that are left out, and are not fixed
        self.rows = np.flatnonzero(((rows if row_side is None else row_side) != 0) | (given.low == given.high))

    def without(self, limits: Vector) -> Held:
        """The same without columns that can move by no more than these limits (inf for the others)."""
        other = Held(self.face)
        other.columns = self.columns[np.isinf(limits)]
        moved = np.isfinite(limits)
        other.limits = self.limits.copy()
        other.limits[self.columns[moved]] = limits[moved]
        return other

    def small(self, level: Level | None = None) -> bool:
        """Whether the decompositions are affordable, also of the second-order part of a level."""
        count = self.height + (0 if level is None else level.height)
        entries = count * self.columns.size
        fits = affordable(float(entries + 4 * self.columns.size**2) * min(count, self.columns.size))
        return self.columns.size <= FEW and entries <= LARGEST and fits

    @cached_property
    def height(self) -> int:
        """How many rows E has."""
        return self.rows.size + sum(P.shape[0] for _, P in self.face.predictors)

    @cached_property
    def large(self) -> bool:
        """Whether its singular vectors take long: a full set of them, whatever the number of rows."""
        return float(self.height) * self.columns.size**2 > LONG

    @cached_property
    def _plain(self) -> Matrix:
        """The rows of the domain and of each P_k on the unfixed columns: sparse where they are large and sparse."""
        parts = [self.face.A.A[self.rows], *(P.A for _, P in self.face.predictors)]
        whole = stack([part for part in parts if part.shape[0]], self.face.x.size)[:, self.columns]
        return whole if self.large else dense(whole)

    @cached_property
    def _blocks(self) -> NDArray[np.intp]:
        """How many rows the blocks of E have: each row of the domain is one, and so is each P_k."""
        return np.array([1] * self.rows.size + [P.shape[0] for _, P in self.face.predictors], dtype=np.intp)

    def _largest(self, sizes: Vector) -> Vector:
        """The largest entry of each block from those of the rows."""
        most, filled = np.zeros(self._blocks.size), self._blocks > 0
        if filled.any():
            most[filled] = np.maximum.reduceat(sizes, (np.cumsum(self._blocks) - self._blocks)[filled])
        return most

    def _each(self, by_block: Vector) -> Vector:
        """For each row what its block has."""
        return np.repeat(by_block, self._blocks)

    @cached_property
    def scale(self) -> Vector:
        """What each unfixed column of E is multiplied by: powers of two that make it a unit vector, more or less."""
        largest = self._largest(row_sizes(self._plain))
        sizes = np.sqrt(column_squares(self._plain, self._each(1 / np.where(largest > 0, largest, 1.0)) ** 2))
        return np.where(sizes > 0, 1 / power_of_two(sizes), self.face.scale[self.columns])

    @cached_property
    def block_sizes(self) -> Vector:
        """What each block of E is divided by: powers of two."""
        return power_of_two(self._largest(row_sizes(self._plain * self.scale)))

    @cached_property
    def factors(self) -> Vector:
        """The same for each row of E."""
        return self._each(self.block_sizes)

    @cached_property
    def E(self) -> Matrix:
        """The rows, scaled."""
        return between(1 / self.factors, self._plain, self.scale)

    @cached_property
    def least(self) -> float:
        """Of a large E: a number below its smallest singular value, above 0 where it has full rank for certain."""
        if not self.large:
            return 0.0
        return self._known() or least_singular_value(self.E)

    def _known(self) -> float:
        """The same from what a quadratic level before was shown to be on these columns, alone; 0 where it was not.

        E has its P, without the weights of its squares, in other units of the columns: further rows only help.
        """
        best, blocks = 0.0, self.block_sizes[self.rows.size :]
        for (k, _), size in zip(self.face.predictors, blocks, strict=True):
            level = self.face.records[k].level
            for columns, scale, least in level.definite:
                if np.array_equal(columns, self.columns):
                    heaviest = max(float(np.sqrt(square.scales.max(initial=0.0))) for square in level.squares)
                    best = max(best, 0.999 * least * float((self.scale / scale).min()) / (heaviest * float(size)))
        return best

    @cached_property
    def _svd(self) -> tuple[Matrix, Vector, Matrix, int]:
        if 0 in self.E.shape:
            return np.zeros((self.E.shape[0], 0)), np.zeros(0), np.eye(self.columns.size), 0
        left, values, right = np.linalg.svd(dense(self.E), full_matrices=False)
        return left, values, right, int(np.sum(values > 2 * resolved(values, self.E.shape)))

    @property
    def decomposed(self) -> Decomposed:
        """The singular value decomposition of a small E."""
        return self._svd[:3]

    @property
    def rank(self) -> int:
        """How many singular values of E are not zero for certain."""
        return min(self.E.shape) if self.least > 0 else self._svd[3]

    def knows(self, level: Level | None = None) -> bool:
        """Whether its rank can be told: it has full rank for certain, or decompositions are affordable."""
        return bool(self.large and self.least > 0) or self.small(level)

    @cached_property
    def certain(self) -> bool:
        """Whether all others are zero for certain."""
        return self.rank in self.E.shape or exact_rank(dense(self.E)) == self.rank

    @property
    def null(self) -> Matrix:
        """An orthonormal basis of the (scaled) directions that change nothing held."""
        if self.least > 0 and self.height >= self.columns.size:
            return np.zeros((self.columns.size, 0))
        _, _, right, rank = self._svd
        return np.linalg.qr(right[:rank].T, mode="complete")[0][:, rank:] if rank else np.eye(self.columns.size)

    def multipliers(self, c: Ext) -> tuple[Ext, list[Ext]]:
        """y and w with A'y + sum P_k'w_k nearest to c on the unfixed columns: least squares, refined."""
        face = self.face
        left, values, right, rank = self._svd
        total = ext(np.zeros(face.given.A.shape[0] + self.factors.size - self.rows.size))
        own = np.concatenate([self.rows, np.arange(face.given.A.shape[0], total.size)])
        for _ in range(3):
            y, w = face.split(total)
            rest = double((c - face.held_part(y, w))[self.columns]) * self.scale
            total[own] += left[:, :rank] @ ((right[:rank] @ rest) / values[:rank]) / self.factors
        return face.split(total)

    def flat(self, level: Level) -> bool:
        """Whether the level is constant on the affine hull of the face, for certain."""
        if self.rank == self.columns.size or level.strong_convexity > 0:
            return self.rank == self.columns.size
        second = dense(level.looks_at[:, self.columns]) * self.scale
        q = level.q[self.columns] * self.scale
        slope = double(level.grad(self.face.x))[self.columns] * self.scale
        size = level.grad_size(self.face.x, self.face.scale)
        close = bool(
            np.abs(second @ self.null).max(initial=0.0) <= RANK * np.abs(second).max(initial=0.0)
            and np.abs(slope @ self.null).max(initial=0.0) <= RANK * size
        )
        rows = np.vstack([dense(self.E), second, double(q)[None]])
        return close and self.certain and bool((double(q) == q).all()) and exact_rank(rows) == self.rank

    def beside(self, x: Ext) -> Vector:
        """How far fixed columns may be from x at a true minimiser of the levels before; 0 for the others."""
        face = self.face
        ends = np.where(face.column_side < 0, face.given.lower, face.given.upper)
        apart = np.where(face.column_side == 0, 0.0, np.abs(double(ends - x)))
        for record in face.records:
            apart[record.columns] += record.column_spread
        return apart + self.limits

    def missed(self, x: Ext) -> float:
        """A bound on |E d_S| for the step d from x to a true minimiser of the levels before."""
        face, rows = self.face, self.rows
        activity = face.A.times(x)[rows]
        ends = np.where(face.row_side[rows] < 0, face.given.low[rows], face.given.high[rows])
        off = np.zeros(face.given.low.size)
        for record in face.records:
            off[record.rows] = record.row_spread
        beside = self.beside(x)
        short = double(np.abs(ends - activity)) + face.A.times_error(x)[rows] + off[rows]
        short = short + image_of(face.A.size, beside)[rows] if beside.any() else short
        parts = short.tolist()
        for k, P in face.predictors:
            record = face.records[k]
            step = x - record.x
            moved = float(np.linalg.norm(double(P.times(step))) + np.linalg.norm(P.times_error(step)))
            moved += float(np.linalg.norm(image_of(P.size, beside))) if beside.any() else 0.0
            parts.append(moved + record.reach * record.level.image_size)
        return float(np.linalg.norm(np.array(parts) / self.block_sizes)) * (1 + 1e-14)
