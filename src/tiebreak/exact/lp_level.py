"""Linear levels: one hot HiGHS model, vertices and multipliers refined from the basis, the face they span."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Vector
from ..sets.lp_model import LinearProgram, LinearProgramError, Rows, power_of_two, run
from .extended import Ext, ExtMatrix, double, ext

FIX = 1e-13
"""A refined multiplier above this, relative to the largest cost, is not zero (noise is some 1e-15)."""
SOUND = 1e-12
"""Bounds and signs of a refined basis may be off by this, relative to the sizes of variables and costs."""
REFINEMENTS = 6
MOVED = 1e-9
"""A total departure above this, in units of the variables' sizes, shows a second solution."""


class Vertex(NamedTuple):
    """A basic solution of a linear level: point, multipliers of rows and columns, and how far it can be trusted."""

    x: Ext
    y: Ext
    z: Ext
    excess: float  # the largest violation of a bound or sign, relative
    threshold: float  # what counts as nonzero among the scaled multipliers


class FaceProgram(LinearProgram):
    """min <c, x> over rows some of which get fixed as levels are solved; every solve starts from the last basis."""

    def __init__(self, rows: Rows, column_scale: Vector) -> None:
        super().__init__(rows, column_scale)
        self._matrix = ExtMatrix(rows.A)
        if _can_presolve(rows.A):  # HiGHS presolves the first, cold solve only
            self._highs.setOptionValue("presolve", "on")
        self._low, self._high = rows.low.copy(), rows.high.copy()
        self._lower, self._upper = rows.lower.copy(), rows.upper.copy()
        self._basic = np.zeros(0, dtype=bool), np.zeros(0, dtype=bool)
        self._cost_scale = 1.0
        self._fixed: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []  # what HiGHS has not been told yet
        self.solves = 0

    def minimise(self, c: Ext) -> Vertex:
        """The refined vertex; HiGHS's own status is no more than a reason to look at the basis."""
        best: Vertex | None = None
        for boost in (1.0, 2.0**10):  # a larger cost is a smaller dual tolerance
            self._run(double(c), boost)
            vertex = self._refined(c)
            if best is None or vertex.excess < best.excess:
                best = vertex
            if vertex.excess <= SOUND:
                break
        assert best is not None
        return best

    def fix(self, columns: NDArray[np.intp], rows: NDArray[np.intp], x: Ext) -> None:
        """Keep the columns and rows at the bounds where x has them."""
        at = double(x)
        self._lower[columns] = self._upper[columns] = _nearest(at, self._lower, self._upper)[columns]
        side = _nearest(double(self._matrix.times(x)), self._low, self._high)
        self._low[rows] = self._high[rows] = side[rows]
        self._fixed.append((columns, rows))

    def movable(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Nonbasic columns and rows that are not fixed: without any, the last vertex is the only point left."""
        basic_columns, basic_rows = self._basic
        columns = np.flatnonzero(~basic_columns & (self._lower < self._upper))
        return columns, np.flatnonzero(~basic_rows & (self._low < self._high))

    def single(self, x: Ext) -> bool:
        """Whether x, the last vertex, is the only point left: another one must move a nonbasic entry."""
        columns, rows = self.movable()
        if columns.size + rows.size == 0:
            return True
        at, Ax = double(x), double(self._matrix.times(x))
        inward = np.where(Ax[rows] - self._low[rows] <= self._high[rows] - Ax[rows], 1.0, -1.0) * self._row_scale[rows]
        departure = np.asarray(self.rows.A[rows].T @ inward)
        side = np.where(at[columns] - self._lower[columns] <= self._upper[columns] - at[columns], 1.0, -1.0)
        departure[columns] += side / self._column_scale[columns]
        return float(departure @ (self.lowest(-departure) - at)) <= MOVED

    def lowest(self, c: Vector) -> Vector:
        """A minimiser of <c, x> as HiGHS gives it."""
        return self._run(c, 1.0)

    # -- the basis ---------------------------------------------------------------------------------------------

    def _tell_fixed(self) -> None:
        """Pass on what was fixed since the last run: there may be no other run, and a long list takes its time."""
        for columns, rows in self._fixed:
            if columns.size:
                ends = self._lower[columns] / self._column_scale[columns]
                self._highs.changeColsBounds(columns.size, columns.astype(np.int32), ends, ends)
            for i in rows:
                end = float(self._low[i] * self._row_scale[i])
                self._highs.changeRowBounds(int(i), end, end)
            self._highs.setOptionValue("simplex_strategy", 4)  # the basis stays primal feasible: primal simplex
        self._fixed.clear()

    def _run(self, c: Vector, boost: float) -> Vector:
        import highspy

        self._tell_fixed()
        highs, n = self._highs, self.rows.A.shape[1]
        cost = c * self._column_scale
        self._cost_scale = boost / float(power_of_two(np.abs(cost).max(keepdims=True))[0])
        cost *= self._cost_scale
        highs.changeColsCost(n, np.arange(n, dtype=np.int32), cost)
        self.solves += 1
        if run(highs) != highspy.HighsModelStatus.kOptimal:
            highs.clearSolver()
            run(highs)
        solution = highs.getSolution()
        if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal and not solution.value_valid:
            word = highs.modelStatusToString(highs.getModelStatus())
            raise LinearProgramError(f"a linear level was not solved: HiGHS says '{word}'; check its scaling", word)
        return np.array(solution.col_value) * self._column_scale

    def _refined(self, c: Ext) -> Vertex:
        """x and y solved again from the basis, with residuals in extended precision."""
        solution = self._highs.getSolution()
        self._basic = columns, rows = self._read_basis()
        raw = np.array(solution.col_value) * self._column_scale
        x = ext(np.where(columns, raw, _nearest(raw, self._lower, self._upper)))
        ends = ext(_nearest(double(self._matrix.times(ext(raw))), self._low, self._high))
        y = ext(np.where(rows, 0.0, np.array(solution.row_dual)) * self._row_scale / self._cost_scale)
        factor = _factor(self.rows.A, columns, ~rows, self._column_scale, self._row_scale)
        if factor is not None:
            y[:] = 0
            inside, tight = np.flatnonzero(columns), np.flatnonzero(~rows)
            for _ in range(REFINEMENTS):
                short = double((ends - self._matrix.times(x))[tight])
                step = factor.solve(short * self._row_scale[tight]) * self._column_scale[inside]
                left = double((c - self._matrix.transpose_times(y))[inside])
                turn = factor.solve(left * self._column_scale[inside], trans="T") * self._row_scale[tight]
                x[inside] += step
                y[tight] += turn
                if not short.any() and not left.any():
                    break
        z = c - self._matrix.transpose_times(y)
        z[columns] = 0
        size = float(np.abs(double(c) * self._column_scale).max(initial=0.0)) or 1.0
        return Vertex(x, y, z, self._excess(x, y, z, size), FIX * size)

    def _read_basis(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which columns and rows are basic."""
        m, n = self.rows.A.shape
        columns, rows = np.zeros(n, dtype=bool), np.zeros(m, dtype=bool)
        if self._highs.getNumNz() == 0:  # then HiGHS has no factors, and breaks down when asked for its basis
            rows[:] = True
            return columns, rows
        basic = self._highs.getBasicVariables()[1]  # row i as -1 - i
        columns[basic[basic >= 0]] = rows[-1 - basic[basic < 0]] = True
        return columns, rows

    def _excess(self, x: Ext, y: Ext, z: Ext, size: float) -> float:
        activity = self._matrix.times(x)
        worst = 0.0
        for value, multiplier, low, high, unit in (
            (x, z, self._lower, self._upper, self._column_scale),
            (activity, y, self._low, self._high, 1 / self._row_scale),
        ):
            if not value.size:
                continue
            outside = np.maximum(low - value, value - high) / unit
            wrong = np.where(double(value) - low <= high - double(value), -multiplier, multiplier) * unit / size
            wrong[low == high] = 0
            worst = max(worst, float(outside.max()), float(wrong.max()))
        return worst


def _can_presolve(A: sp.csr_array) -> bool:
    """Whether there are rows of up to two entries or columns of one: without any, looking for more takes the longest.

    On an assignment problem of 200 x 200 HiGHS's presolve removes nothing in three times the time of the simplex.
    """
    if not A.nnz:
        return False
    return bool(np.diff(A.indptr).min() <= 2 or np.bincount(A.indices, minlength=A.shape[1]).min() <= 1)


def _nearest(value: Vector, low: Vector, high: Vector) -> Vector:
    """The nearer of the two bounds; the value itself where both are infinite."""
    side = np.where(value - low <= high - value, low, high)
    return np.where(np.isfinite(side), side, value)


def _factor(  # type: ignore[no-untyped-def]
    A: sp.csr_array, columns: NDArray[np.bool_], rows: NDArray[np.bool_], column_scale: Vector, row_scale: Vector
):
    """The LU factors of the basis matrix with scaled rows and columns; None where it is empty or singular."""
    from scipy.sparse.linalg import splu

    inside, tight = np.flatnonzero(columns), np.flatnonzero(rows)
    if inside.size == 0 or inside.size != tight.size:
        return None
    basis = A[tight][:, inside]
    scaled = sp.diags_array(row_scale[tight]) @ basis @ sp.diags_array(column_scale[inside])
    try:
        return splu(sp.csc_array(scaled))
    except RuntimeError:
        return None
