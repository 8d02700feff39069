"""Columns that CVXPY introduces for residuals: t = F x - g, of which a level takes squares. They are not needed here.

Such a column is free, is in one row alone, an equation, with an entry 1 or -1, and only its square is in any level.
With the row in its place the level is one of least squares in the variables themselves; nothing is computed for that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from ..objectives import LeastSquares, Linear, Objective, Quadratic, SquaredNorm
from .canonical import Curve, Standard

Index = NDArray[np.intp]


@dataclass(frozen=True)
class Residuals:
    """``columns[k]`` is the residual of row ``rows[k]``; ``kept`` are all other columns."""

    columns: Index
    rows: Index
    kept: Index
    F: Matrix  # the rows, in the kept columns
    target: Vector
    signs: Vector  # the entries of the columns in their rows

    @classmethod
    def of(cls, standard: Standard) -> Residuals:
        """Those that can go: introduced by CVXPY, and no two in one row."""
        A, m = standard.A, standard.equalities
        by_column = sp.csc_array(A)
        alone = np.flatnonzero(standard.further & (np.diff(by_column.indptr) == 1))
        row, entry = by_column.indices[by_column.indptr[alone]], by_column.data[by_column.indptr[alone]]
        squared = np.logical_and.reduce([_only_squared(level) for level in standard.levels])
        fits = (row < m) & (np.abs(entry) == 1) & squared[alone]
        columns, rows, signs = alone[fits], row[fits], entry[fits]
        once = np.bincount(rows, minlength=A.shape[0])[rows] == 1
        columns, rows, signs = columns[once], rows[once], signs[once]
        kept = np.setdiff1d(np.arange(A.shape[1]), columns)
        kept = kept[np.argsort(standard.further[kept], kind="stable")]  # results show the user's variables first
        return cls(columns, rows, kept, sp.csr_array(A[rows][:, kept]), standard.b[rows], signs)

    def point(self, x: Vector) -> Vector:
        """x in all columns: the residuals that were left out, to rounding."""
        full = np.zeros(self.kept.size + self.columns.size)
        full[self.kept] = x
        full[self.columns] = self.signs * (self.target - self.F @ x)
        return full

    def level(self, curve: Curve, name: str) -> Objective:
        """A level in the kept columns: squares of them and of residuals, or a quadratic form, and a linear term."""
        P, q, constant = curve
        terms: list[Objective] = []
        if P is not None:
            own = sp.csr_array(P[self.kept][:, self.kept])
            diagonal = own.diagonal()
            weights = P.diagonal()[self.columns]
            if own.nnz > np.count_nonzero(diagonal):
                terms, diagonal = [_form(own, name)], np.zeros(self.kept.size)
            terms += self._squares(diagonal, weights)
        q = q[self.kept]
        if not terms or q.any() or constant:
            terms.append(Linear(q, constant))
        return sum(terms[1:], terms[0])

    def _squares(self, diagonal: Vector, weights: Vector) -> list[Objective]:
        """Squares of variables and of residuals; residuals of single variables are distances to a point."""
        some = np.flatnonzero(weights)
        F, target, weights = self.F[some], self.target[some], weights[some]
        first = F.indptr[:-1][np.diff(F.indptr) == 1]
        at, signs = np.zeros(some.size, dtype=np.intp), np.zeros(some.size)
        at[np.diff(F.indptr) == 1], signs[np.diff(F.indptr) == 1] = F.indices[first], F.data[first]
        single = np.abs(signs) == 1
        single &= (np.bincount(at[single], minlength=self.kept.size)[at] == 1) & (diagonal[at] == 0)
        center, squares = np.zeros(self.kept.size), diagonal.copy()
        center[at[single]], squares[at[single]] = signs[single] * target[single], weights[single]
        found: list[Objective] = (
            [SquaredNorm(center if center.any() else None, weights=squares)] if squares.any() else []
        )
        rest = np.flatnonzero(~single)
        if rest.size:
            found.append(_least_squares(sp.csr_array(F[rest]), target[rest], weights[rest]))
        return found


def _least_squares(F: Matrix, target: Vector, weights: Vector) -> Objective:
    if (weights == weights[0]).all():
        return LeastSquares(F, target, scale=float(weights[0]))
    return LeastSquares(F, target, weights=weights)


def _only_squared(level: Curve) -> NDArray[np.bool_]:
    """Which columns a level knows by their squares alone."""
    squared: NDArray[np.bool_] = level.q == 0
    if level.P is not None:
        entries = np.diff(level.P.indptr)
        squared = squared & ((entries == 0) | ((entries == 1) & (level.P.diagonal() > 0)))
    return squared


def _form(P: Matrix, name: str) -> Objective:
    quadratic = Quadratic(P, np.zeros(P.shape[0]))
    if not quadratic.convex:
        raise ValueError(
            f"{name}: its quadratic form has an eigenvalue below -1e-12 of its size, so that it is not convex to the "
            "accuracy of a proof; write it as sum_squares(R @ x) with a root R"
        )
    return quadratic
