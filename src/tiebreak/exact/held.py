"""What all points of a face have in common, as one small dense matrix: its null space, rank and multipliers.

On the columns S that are not fixed, the rows E are those of the domain that are fixed or equalities, and the images
P_k of the quadratic levels. Rank decisions are made here and nowhere else, by ``RANK``.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..arrays import Matrix, Vector
from .extended import Ext, dense, double, ext
from .face import Face
from .level import Level

RANK = 1e-10
"""Singular values below this, relative to the largest, count as zero."""
ROOM = 1e-9
"""A variable is away from its bounds when it is farther from them than this, in units of its size."""
FEW = 1500
"""Up to this many unfixed columns the decompositions take a second or less."""
LARGEST = 20_000_000
"""Up to this many entries matrices are made dense for that."""


class Held:
    """E on the unfixed columns of a face, in units where variables and blocks of rows have size 1."""

    def __init__(self, face: Face) -> None:
        given = face.given
        self.face = face
        self.columns = np.flatnonzero((face.column_side == 0) & (given.lower < given.upper))
        self.rows = np.flatnonzero((face.row_side != 0) | (given.low == given.high))
        self.scale = face.scale[self.columns]

    def small(self, level: Level | None = None) -> bool:
        """Whether the decompositions are affordable, also of the second-order part of a level."""
        count = self.rows.size + sum(P.shape[0] for _, P in self.face.predictors)
        count += 0 if level is None else level.height
        return self.columns.size <= FEW and count * self.columns.size <= LARGEST

    @cached_property
    def factors(self) -> Vector:
        """What each row of E is divided by."""
        parts = [self.face.row_size[self.rows]]
        parts += [np.full(P.shape[0], float(P.size.max()) or 1.0) for _, P in self.face.predictors]
        return np.concatenate(parts)

    @cached_property
    def E(self) -> Matrix:
        """The rows, scaled."""
        blocks = [self.face.A.A[self.rows], *(P.A for _, P in self.face.predictors)]
        E = np.vstack([dense(block[:, self.columns]) for block in blocks])
        return E * self.scale / self.factors[:, None]

    @cached_property
    def _svd(self) -> tuple[Matrix, Vector, Matrix, int]:
        if 0 in self.E.shape:
            return np.zeros((self.E.shape[0], 0)), np.zeros(0), np.eye(self.columns.size), 0
        rows, columns = self.E.shape
        left, values, right = np.linalg.svd(self.E, full_matrices=rows < columns)  # ``right`` is square either way
        return left, values, right, int(np.sum(values > RANK * values[0]))

    @property
    def smallest(self) -> float:
        """The smallest singular value that counts; inf without any."""
        _, values, _, rank = self._svd
        return float(values[rank - 1]) if rank else np.inf

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
        """Whether the level is constant on the affine hull of the face, to the tolerance of ranks."""
        if self.null.shape[1] == 0:
            return True
        second = dense(level.rows[:, self.columns]) * self.scale
        slope = double(level.grad(self.face.x))[self.columns] * self.scale
        size = level.grad_size(self.face.x, self.face.scale)
        return bool(
            np.abs(second @ self.null).max(initial=0.0) <= RANK * np.abs(second).max(initial=0.0)
            and np.abs(slope @ self.null).max(initial=0.0) <= RANK * size
        )

    def reach(self, level: Level, x: Ext, left_over: Ext, error: Vector) -> tuple[float, int]:
        """A bound on sqrt(<d, Hessian d>) for the step d from x to a true minimiser, inf where there is none.

        With it, how many singular values it depends on lie near the threshold.

        With R'R the Hessian, d = d1 + d' where d1, on S, makes up for what x misses of E, and E d' = 0. A minimiser
        that x + d1 competes with has <c + Hd, d'> <= 0, and on S the gradient c is R'v for some v up to what E takes;
        hence |R d'|^2 <= (|v| + |R d1|) |R d'| and |R d| <= |v| + 2 |R d1|: linear in the residual, where the
        difference of two values would give its square root. x + d1 must keep clear of all other bounds.
        """
        S = self.columns
        R = level.root(S) * self.scale
        values = np.linalg.svd(R @ self.null, compute_uv=False) if R.size and self.null.size else np.zeros(0)
        size = float(np.linalg.norm(R))
        counted = values[values > RANK * size]
        doubtful = _near(values, RANK * size) + _near(self._svd[1], RANK * self._svd[1].max(initial=0.0))
        missed = self._missed(x)
        if not counted.size:  # R d is a function of E d
            return 1.01 * size * missed / self.smallest, doubtful
        slope = np.linalg.norm(self.null.T @ (double(left_over)[S] * self.scale))
        slope += np.linalg.norm(error[S] * self.scale)
        return 1.01 * (float(slope / counted[-1]) + 2 * size * self._shift(x, missed)), doubtful

    def _missed(self, x: Ext) -> float:
        """A bound on |E d| for the step d from x to a true minimiser of the levels before."""
        face, rows = self.face, self.rows
        activity = face.A.times(x)[rows]
        ends = np.where(face.row_side[rows] < 0, face.given.low[rows], face.given.high[rows])
        missed = (double(np.abs(ends - activity)) + face.A.times_error(x)[rows]) / face.row_size[rows]
        square = float(missed @ missed)
        for k, P in face.predictors:
            record = face.records[k]
            step = x - record.x
            moved = np.linalg.norm(double(P.times(step))) + np.linalg.norm(P.times_error(step))
            square += (float(moved + record.reach * record.level.image_size) / (float(P.size.max()) or 1.0)) ** 2
        return float(np.sqrt(square))

    def _shift(self, x: Ext, missed: float) -> float:
        """How long a step on the columns away from their bounds makes up for it; inf where it might cross a row."""
        if missed == 0:
            return 0.0
        given, S = self.face.given, self.columns
        room = double(np.minimum(x - given.lower, given.upper - x))[S] / self.scale
        inside = room > ROOM
        rank = self._svd[3]
        values = self._svd[1] if inside.all() else np.linalg.svd(self.E[:, inside], compute_uv=False)
        if rank == 0 or values.size < rank or values[rank - 1] <= RANK * values[0]:
            return np.inf
        shift = missed / float(values[rank - 1])
        other = np.setdiff1d(np.arange(given.low.size), self.rows)
        activity = self.face.A.times(x)
        slack = np.minimum(activity - given.low, given.high - activity)[other] / self.face.row_size[other]
        clear = shift <= ROOM and bool((slack >= np.sqrt(S.size) * shift).all())
        return shift if clear else np.inf


def _near(values: Vector, threshold: float) -> int:
    return int(np.sum((values > threshold / 1e3) & (values < threshold * 1e3)))
