"""A simplex basis: the vertex and the multipliers, solved for again from which columns and rows are basic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from .csr import part
from .extended import Ext, between

REFINEMENTS = 6


class Basis:
    """The LU factors of the basic columns in the rows that are tight; ``factor`` is None where that is singular."""

    def __init__(
        self,
        A: Matrix,
        columns: NDArray[np.bool_],
        rows: NDArray[np.bool_],
        column_scale: Vector,
        row_scale: Vector,
    ) -> None:
        from scipy.sparse.linalg import splu

        self.inside, self.tight = np.flatnonzero(columns), np.flatnonzero(~rows)
        self._column_scale, self._row_scale = column_scale[self.inside], row_scale[self.tight]
        self.factor: Any = None
        self.matrix: Matrix = None
        if 0 < self.inside.size == self.tight.size:
            basis = part(A, self.tight, self.inside)
            self.matrix = sp.csc_array(between(self._row_scale, basis, self._column_scale))
            try:
                self.factor = splu(self.matrix)
            except RuntimeError:
                self.factor = None

    @property
    def regular(self) -> bool:
        """Whether point and multipliers can be solved for."""
        return self.factor is not None or self.inside.size == self.tight.size == 0

    def refine(
        self,
        x: Ext,
        ends: Ext,
        c: Ext,
        times: Callable[[Ext], Ext],
        transpose_times: Callable[[Ext], Ext],
    ) -> Ext:
        """Solve for the basic entries of x, in place, and for the multipliers y, by their residuals.

        ``ends`` are the values of the tight rows. The two products are in extended precision, so that the answers
        are right to more digits than the factors.
        """
        y = np.zeros(ends.size, dtype=np.longdouble)
        if self.factor is None:
            return y
        for _ in range(REFINEMENTS):
            short = np.asarray((ends - times(x))[self.tight], dtype=np.float64)
            left = np.asarray((c - transpose_times(y))[self.inside], dtype=np.float64)
            if not short.any() and not left.any():
                break
            x[self.inside] += self.solve(short)
            y[self.tight] += self.solve_transposed(left)
        return y

    def solve(self, right: Vector) -> Vector:
        """The basic columns that give the tight rows these values."""
        if self.factor is None:
            return right
        return np.asarray(self.factor.solve(right * self._row_scale) * self._column_scale)

    def solve_transposed(self, right: Vector) -> Vector:
        """The multipliers of the tight rows that give the basic columns these costs."""
        if self.factor is None:
            return right
        return np.asarray(self.factor.solve(right * self._column_scale, trans="T") * self._row_scale)

    def condition(self) -> float:
        """An estimate of the condition number of the scaled basis matrix, inf where it is singular."""
        from scipy.sparse.linalg import LinearOperator, norm, onenormest

        if self.factor is None:
            return 1.0 if self.regular else np.inf
        size = self.inside.size
        if size <= 100:
            return float(np.linalg.cond(self.matrix.toarray(), 1))
        inverse = LinearOperator(
            (size, size), self.factor.solve, rmatvec=lambda v: self.factor.solve(v, trans="T"), dtype=np.float64
        )
        return float(onenormest(inverse) * norm(self.matrix, 1))


def nearest_end(value: Vector, low: Vector, high: Vector) -> Vector:
    """The nearer of the two ends; the value itself where both are infinite."""
    side = np.where(value - low <= high - value, low, high)
    return np.where(np.isfinite(side), side, value)
