"""A quadratic level as a programme in the step d on its face, for solvers (lifted) and for the polish (exact gradient).

Squares enter through rows F d - s = 0 with the Hessian on s, so that F'F, which would square the condition number,
is never formed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...arrays import Matrix, Vector
from ...numerics.csr import above, as_csr, beside_identity, columns_times, diagonal_of, wider, with_columns_before
from ...numerics.extended import Ext, between, column_squares, dense, double, ext, row_sizes
from ...numerics.quadratic_programme import QP, Guess
from ...numerics.rows import power_of_two
from .level import DENSE, Level
from .reduce import Reduced


class State(NamedTuple):
    """A step, multipliers of the rows, what they leave of the gradient, G d, and the natural residual."""

    d: Ext
    y: Ext
    slope: Ext
    activity: Ext
    residual: float


@dataclass
class Step:
    """min level(x + d) over the reduced face; ``origin`` is x."""

    level: Level
    origin: Ext
    face: Reduced
    solvers: dict[bytes, Any] = field(default_factory=dict)  # decompositions by the sides that they are for

    @cached_property
    def dense(self) -> bool:
        """Whether all matrices are dense."""
        return not self.face.G.sparse and self.face.columns.size <= DENSE

    @cached_property
    def small(self) -> bool:
        """Whether dense decompositions cost next to nothing."""
        return self.dense and max(self.lifted[1].size, self.face.rows.size) <= 4 * DENSE

    @cached_property
    def thin(self) -> bool:
        """Whether there are many columns, a diagonal Hessian but for the squares, and dense rows: those stay dense."""
        given = [square.F for square in self.level.second_order if square.F is not None]
        return not self.dense and not self.level.bends and not any(F.sparse for F in (self.face.G, *given))

    @cached_property
    def by_products(self) -> bool:
        """Whether it is a tall sum of squares over bounds alone, and no small one."""
        F = self.lifted[0]
        alone = not self.face.rows.size and not self.level.bends and not self.dense
        return alone and F.shape[0] >= F.shape[1]

    @cached_property
    def may_interpolate(self) -> bool:
        """Whether it is a wide sparse sum of squares over bounds alone, and no small one."""
        level, face = self.level, self.face
        if self.dense or face.rows.size or level.bends or len(level.squares) != 1 or level.q.any():
            return False
        F = level.squares[0].F
        return F is not None and F.sparse and level.quadratic and 2 * F.shape[0] <= face.columns.size

    @cached_property
    def curvature(self) -> Matrix:
        """The Hessian without the lifted squares."""
        columns = self.face.columns
        identity = np.eye(columns.size) if self.dense else sp.eye_array(columns.size, format="csr")
        H = self.level.ridge * identity
        for bend in self.level.bends:
            H = H + float(bend.scale) * self._form(bend.Q.A[columns][:, columns])
        return H

    def _form(self, M: Matrix) -> Matrix:
        return dense(M) if self.dense or self.thin else as_csr(M)

    @cached_property
    def lifted(self) -> tuple[Matrix, Vector]:
        """F and the weights of s: the squares with a matrix, tall ones by their triangular factor where it is dense."""
        blocks: list[Matrix] = [self._form(np.zeros((0, self.face.columns.size)))]
        weights = [np.zeros(0)]
        for square in self.level.second_order:
            F, scales = square.F, square.scales
            if F is None:
                continue
            part = F.A[:, self.face.columns]
            if part.shape[0] > part.shape[1] and (self.dense or not F.sparse):
                part = dense(part)
                if scales.ndim:
                    part, scales = np.sqrt(scales)[:, None] * part, np.ones(())
                part = np.linalg.qr(part, mode="r")
            blocks.append(self._form(part))
            weights.append(np.broadcast_to(scales, part.shape[:1]))
        stacked = np.vstack(blocks) if self.dense or self.thin else sp.csr_array(sp.vstack(blocks))
        return stacked, np.concatenate(weights)

    @cached_property
    def units(self) -> tuple[Vector, Vector, Vector, float]:
        """What solvers see columns, lifted rows, rows and values in units of: powers of two.

        Columns have curvature 1 and gradients size 1 then, whatever the data: solvers stop by absolute tolerances.
        """
        F, weight = self.lifted
        roots = np.sqrt(weight)
        bend = self.curvature.diagonal()
        if F.shape[0]:
            bend = bend + column_squares(F, weight)
        columns = 1 / power_of_two(np.sqrt(np.maximum(bend, 0)))
        slope = self.level.rough_grad(self.origin)[self.face.columns] * columns
        size = float(power_of_two(np.array([np.abs(slope).max(initial=0.0)]))[0])
        G = self.face.G.A
        rows = power_of_two(row_sizes(columns_times(G, columns) if self.face.G.sparse else G * columns))
        return columns * size, 1 / power_of_two(roots), rows, size

    @cached_property
    def give(self) -> tuple[Vector, Vector]:
        """How far a unit of slope moves a column, and a unit of a multiplier the activity of its row, more or less."""
        columns, _, rows, size = self.units
        return (columns / size) ** 2, rows**2

    def programme(self) -> QP:
        """The programme for a solver in double precision, in its units."""
        F, weight = self.lifted
        k, n = F.shape
        free = np.full(k, np.inf)
        zero = np.zeros(k)
        face = self.face
        columns, lifted, rows_unit, size = self.units
        grad = double(self.level.grad(self.origin)[face.columns]) * columns / size**2
        H: Matrix = between(columns / size, self.curvature, columns / size)
        F = between(1 / (lifted * size), F, columns)
        G = between(1 / (rows_unit * size), face.G.A, columns)
        weight = weight * lifted**2
        rows: Matrix
        if self.dense:
            H, corner = np.zeros((n + k, n + k)), H
            H[:n, :n] = corner
            H[n:, n:] = np.diag(weight)
        elif k:
            H = above(wider(as_csr(H), n + k), with_columns_before(diagonal_of(weight), n))
        if self.dense or self.thin:
            rows = np.zeros((G.shape[0] + k, n + k))
            rows[: G.shape[0], :n], rows[G.shape[0] :, :n], rows[G.shape[0] :, n:] = G, F, -np.eye(k)
        else:
            rows = above(wider(as_csr(G), n + k), beside_identity(F, -1.0)) if k else as_csr(G)
        return QP(
            H,
            np.append(grad, zero),
            rows,
            np.append(double(face.low) / (rows_unit * size), zero),
            np.append(double(face.high) / (rows_unit * size), zero),
            np.append(double(face.lower) / columns, -free),
            np.append(double(face.upper) / columns, free),
        )

    def guessed(self, guess: Guess | None) -> State:
        """A solver's answer in the units of the level, within the bounds; the step that stays without one."""
        d, y = self.zero()
        if guess is not None:
            columns, _, rows, size = self.units
            d, y = ext(guess.v[: columns.size] * columns), ext(guess.y[: rows.size] * size / rows)
        return self.state(np.clip(d, self.face.lower, self.face.upper), y)

    def state(self, d: Ext, y: Ext) -> State:
        """What there is to know about a step and its multipliers, in extended precision.

        The natural residual is a length, and zero exactly at solutions.
        """
        face = self.face
        full = self.origin.copy()
        full[face.columns] += d
        slope = self.level.grad(full)[face.columns] - face.G.transpose_times(y)
        activity = face.G.times(d)
        columns = d - np.clip(d - slope * self.give[0], face.lower, face.upper)
        rows = activity - np.clip(activity - y * self.give[1], face.low, face.high)
        residual = max(float(np.abs(columns).max(initial=0)), float(np.abs(rows).max(initial=0)))
        return State(d, y, slope, activity, residual)

    def zero(self) -> tuple[Ext, Ext]:
        """The step that stays, without multipliers."""
        return ext(np.zeros(self.face.columns.size)), ext(np.zeros(self.face.rows.size))
