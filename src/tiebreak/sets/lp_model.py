"""Linear programmes over a fixed polyhedron, kept hot in HiGHS, and bounds on them that do not trust it."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from math import fsum, inf
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector
from ..deadline import OutOfTime, check, remaining


def power_of_two(sizes: Vector) -> Vector:
    """The powers of two just above ``sizes`` (1 for 0): scaling by them is exact."""
    exponent = np.clip(np.frexp(sizes)[1], -1000, 1000)
    return np.where(sizes > 0, np.ldexp(1.0, exponent), 1.0)


class Rows(NamedTuple):
    """{x : low <= A x <= high, lower <= x <= upper} with A in CSR form; any of the bounds may be infinite."""

    A: Matrix
    low: Vector
    high: Vector
    lower: Vector
    upper: Vector

    def dual_bound(self, c: Vector, y: Vector) -> float:
        """A number below min <c, x>: weak duality with the row multipliers y, less the rounding of the sums.

        Multipliers of the wrong sign for a missing row bound are set to zero first, so every y gives a bound;
        lower and upper must be finite.
        """
        y = np.where(((y > 0) & np.isinf(self.low)) | ((y < 0) & np.isinf(self.high)), 0.0, y)
        used = np.flatnonzero(y)
        row_terms = y[used] * np.where(y[used] > 0, self.low[used], self.high[used])
        reduced = c - self.A.T @ y
        column_terms = np.minimum(reduced * self.lower, reduced * self.upper)
        summed = (len(used) + 8) * UNIT_ROUNDOFF * (np.abs(c) + abs(self.A).T @ np.abs(y))
        size = np.maximum(np.abs(self.lower), np.abs(self.upper))
        rounding = fsum(summed * size) + 4 * UNIT_ROUNDOFF * fsum(np.abs(row_terms))
        return float(fsum(row_terms) + fsum(column_terms) - rounding)


@dataclass(frozen=True)
class Solution:
    """A vertex with the multipliers of the rows (those of an added cut row apart), in the user's units."""

    x: Vector
    duals: Vector
    cut_dual: float = 0.0


class LinearProgramError(RuntimeError):
    """HiGHS could not solve a linear programme; ``status`` is its own word for what happened."""

    def __init__(self, message: str, status: str) -> None:
        super().__init__(message)
        self.status = status


def run(highs: Any) -> Any:
    """Solve the model within what is left of the time; its status, or ``OutOfTime``."""
    import highspy

    check()
    highs.setOptionValue("time_limit", highs.getRunTime() + remaining())  # HiGHS counts from its first run
    highs.run()
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kTimeLimit:
        raise OutOfTime
    return status


class LinearProgram:
    """min <c, x> over ``rows``: the model is passed once, every solve starts from the last basis.

    Columns are scaled by ``column_scale``, rows and costs to a largest entry near 1, all by powers of two.
    With a cut row, that row is the only one replaced from solve to solve. HiGHS gives up the interpreter while it
    runs, so each thread has a model of its own.
    """

    def __init__(self, rows: Rows, column_scale: Vector) -> None:
        self.rows = rows
        self._column_scale = column_scale
        A = sp.csr_array(rows.A * column_scale)
        largest = abs(A).max(axis=1).toarray().ravel() if A.nnz else np.zeros(A.shape[0])
        self._row_scale = 1 / power_of_two(largest)
        self._own = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        """All but the models: the solver's own memory cannot be copied; it is built again."""
        return {name: value for name, value in self.__dict__.items() if name != "_own"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._own = threading.local()

    @property
    def _highs(self) -> Any:
        """The model of this thread."""
        if not hasattr(self._own, "highs"):
            self._own.highs = self._build()
        return self._own.highs

    def solve_once(self, c: Vector) -> Solution:
        """``solve(c)``, or what this thread's last call found for the same c."""
        last: tuple[Vector, Solution] | None = getattr(self._own, "last", None)
        if last is None or not np.array_equal(last[0], c):
            last = self._own.last = c.copy(), self.solve(c)
        return last[1]

    def solve(self, c: Vector, cut: tuple[Vector, float] | None = None) -> Solution:
        """A minimiser of <c, x>, where ``cut = (row, b)`` is given also subject to <row, x> <= b."""
        import highspy

        highs = self._highs
        m, n = self.rows.A.shape
        columns = np.arange(n, dtype=np.int32)
        cost = c * self._column_scale
        cost_scale = 1 / float(power_of_two(np.abs(cost).max(keepdims=True))[0])
        highs.changeColsCost(n, columns, cost * cost_scale)
        cut_scale = 1.0
        if cut is not None:
            row = cut[0] * self._column_scale
            cut_scale = 1 / float(power_of_two(np.abs(row).max(keepdims=True))[0])
            if highs.getNumRow() > m:
                highs.deleteRows(1, np.array([m], dtype=np.int32))
            highs.addRow(-inf, cut[1] * cut_scale, n, columns, row * cut_scale)
        status = run(highs)
        infeasible = (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible)
        if status != highspy.HighsModelStatus.kOptimal and not (cut is not None and status in infeasible):
            highs.clearSolver()  # a hot start can be a bad start: once more from a cold one
            highs.setOptionValue("presolve", "on")
            try:
                status = run(highs)
            finally:
                highs.setOptionValue("presolve", "off")
        if status != highspy.HighsModelStatus.kOptimal:
            word = highs.modelStatusToString(status)
            raise LinearProgramError(
                f"the linear programme with {m} rows and {n} columns was not solved: HiGHS says '{word}'; "
                "check the scaling of the rows and bounds",
                word,
            )
        solution = highs.getSolution()
        x = np.array(solution.col_value) * self._column_scale
        duals = np.array(solution.row_dual)
        return Solution(
            np.clip(x, self.rows.lower, self.rows.upper),
            duals[:m] * self._row_scale / cost_scale,
            max(0.0, -float(duals[m]) * cut_scale / cost_scale) if cut is not None else 0.0,
        )

    def _build(self) -> Any:
        import highspy

        rows = self.rows
        m, n = rows.A.shape
        by_rows = sp.csr_array(rows.A)
        row_of = np.repeat(np.arange(m), np.diff(by_rows.indptr))
        scaled = by_rows.data * self._row_scale[row_of] * self._column_scale[by_rows.indices]
        A = sp.csc_array(sp.csr_array((scaled, by_rows.indices, by_rows.indptr), shape=(m, n)))
        highs = highspy.Highs()
        options = {
            "output_flag": False,
            "parallel": "off",  # not "threads": HiGHS refuses a number that differs from its first instance's
            "presolve": "off",
            "primal_feasibility_tolerance": 1e-10,
            "dual_feasibility_tolerance": 1e-10,
            "small_matrix_value": 1e-12,
        }
        for name, value in options.items():
            highs.setOptionValue(name, value)
        highs.passModel(  # by arrays: the fields of a HighsLp are copied number by number
            n,
            m,
            A.nnz,
            int(highspy.MatrixFormat.kColwise),
            int(highspy.ObjSense.kMinimize),
            0.0,
            np.zeros(n),
            rows.lower / self._column_scale,
            rows.upper / self._column_scale,
            rows.low * self._row_scale,
            rows.high * self._row_scale,
            A.indptr.astype(np.int32),
            A.indices.astype(np.int32),
            A.data,
            np.zeros(n, dtype=np.int32),  # all variables are continuous
        )
        return highs
