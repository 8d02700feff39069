"""What all points of a face have in common, as one small dense matrix: its null space, rank and multipliers.

On the columns S that are not fixed, the rows E are those of the domain that are fixed or equalities, and the images
P_k of the quadratic levels. Rank decisions are made here and in ``nearby``, by what the arithmetic resolves.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.deadline import affordable
from ...numerics.extended import Ext, dense, double, ext
from ...numerics.rank import exact_rank, resolved
from ...numerics.rows import power_of_two
from .face import Face
from .level import Level
from .terms import image_of

RANK = 1e-10
"""Differences below this, relative to the largest term, count as none where constancy is asked."""
FEW = 1500
"""Up to this many unfixed columns the decompositions take a second or less."""
LARGEST = 20_000_000
"""Up to this many entries matrices are made dense for that."""


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
        count = self.rows.size + sum(P.shape[0] for _, P in self.face.predictors)
        count += 0 if level is None else level.height
        entries = count * self.columns.size
        fits = affordable(float(entries + 4 * self.columns.size**2) * min(count, self.columns.size))
        return self.columns.size <= FEW and entries <= LARGEST and fits

    @cached_property
    def _blocks(self) -> list[Matrix]:
        """The rows of the domain one by one, and each P_k, on the unfixed columns."""
        rows = dense(self.face.A.A[self.rows][:, self.columns])
        return [*(row[None] for row in rows), *(dense(P.A[:, self.columns]) for _, P in self.face.predictors)]

    @cached_property
    def scale(self) -> Vector:
        """What each unfixed column of E is multiplied by: powers of two that make it a unit vector, more or less."""
        sizes = np.zeros(self.columns.size)
        for block in self._blocks:
            largest = float(np.abs(block).max(initial=0.0)) or 1.0
            sizes = np.hypot(sizes, np.linalg.norm(block / largest, axis=0))
        return np.where(sizes > 0, 1 / power_of_two(sizes), self.face.scale[self.columns])

    @cached_property
    def block_sizes(self) -> Vector:
        """What each block of E is divided by: powers of two."""
        return power_of_two(np.array([np.abs(block * self.scale).max(initial=0.0) for block in self._blocks]))

    @cached_property
    def factors(self) -> Vector:
        """The same for each row of E."""
        return np.repeat(self.block_sizes, [block.shape[0] for block in self._blocks])

    @cached_property
    def E(self) -> Matrix:
        """The rows, scaled."""
        if not self._blocks:
            return np.zeros((0, self.columns.size))
        return np.vstack(self._blocks) * self.scale / self.factors[:, None]

    @cached_property
    def _svd(self) -> tuple[Matrix, Vector, Matrix, int]:
        if 0 in self.E.shape:
            return np.zeros((self.E.shape[0], 0)), np.zeros(0), np.eye(self.columns.size), 0
        rows, columns = self.E.shape
        left, values, right = np.linalg.svd(self.E, full_matrices=rows < columns)  # ``right`` is square either way
        return left, values, right, int(np.sum(values > 2 * resolved(values, self.E.shape)))

    @property
    def rank(self) -> int:
        """How many singular values of E are not zero for certain."""
        return self._svd[3]

    @cached_property
    def certain(self) -> bool:
        """Whether all others are zero for certain."""
        return self.rank in self.E.shape or exact_rank(self.E) == self.rank

    @property
    def null(self) -> Matrix:
        """An orthonormal basis of the (scaled) directions that change nothing held."""
        _, _, right, rank = self._svd
        return right[rank:].T

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
        if self.null.shape[1] == 0 or level.strong_convexity > 0:
            return bool(self.null.shape[1] == 0)
        second = dense(level.rows[:, self.columns]) * self.scale
        q = level.q[self.columns] * self.scale
        slope = double(level.grad(self.face.x))[self.columns] * self.scale
        size = level.grad_size(self.face.x, self.face.scale)
        close = bool(
            np.abs(second @ self.null).max(initial=0.0) <= RANK * np.abs(second).max(initial=0.0)
            and np.abs(slope @ self.null).max(initial=0.0) <= RANK * size
        )
        rows = np.vstack([self.E, second, double(q)[None]])
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
        parts = list(short)
        for k, P in face.predictors:
            record = face.records[k]
            step = x - record.x
            moved = float(np.linalg.norm(double(P.times(step))) + np.linalg.norm(P.times_error(step)))
            moved += float(np.linalg.norm(image_of(P.size, beside))) if beside.any() else 0.0
            parts.append(moved + record.reach * record.level.image_size)
        return float(np.linalg.norm(np.array(parts) / self.block_sizes)) * (1 + 1e-14)
