"""Linear programmes over a fixed polyhedron, kept hot in HiGHS, and bounds on them that do not trust it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import fsum, inf
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector
from ..deadline import OutOfTime, check, remaining
from .basis import Basis, Wide, nearest_end, read_basis

LONG_ROUNDOFF = float(np.finfo(np.longdouble).eps) / 2
NARROW = 1e-8
"""Bounds that are nearer to each other than this, relative to their sizes, are near the tolerances of HiGHS."""
HIDDEN = 2.0**8
"""A bound beyond this multiple of its variable's size is kept from HiGHS until a solution crosses it."""
MISSED = 1e-13
"""A vertex that misses a row by more than this, relative to the terms of the row, is solved again from its basis."""
FEASIBLE = 1e-13
"""One that misses a row by more than this then is no point of the set."""


def power_of_two(sizes: Vector) -> Vector:
    """The powers of two just above ``sizes`` (1 for 0): scaling by them is exact."""
    exponent = np.clip(np.frexp(sizes)[1], -1000, 1000)
    return np.where(sizes > 0, np.ldexp(1.0, exponent), 1.0)


def narrow_columns(lower: Vector, upper: Vector) -> NDArray[np.bool_]:
    """Columns whose bounds differ, but by so little beside their sizes that linear programmes hardly see it."""
    size = np.maximum(np.abs(lower), np.abs(upper))
    return (lower < upper) & np.isfinite(size) & (upper <= lower + NARROW * np.where(np.isfinite(size), size, 0.0))


class Rows(NamedTuple):
    """{x : low <= A x <= high, lower <= x <= upper} with A in CSR form; any of the bounds may be infinite."""

    A: Matrix
    low: Vector
    high: Vector
    lower: Vector
    upper: Vector

    def without_bounds_beyond(self, limit: Vector) -> Rows:
        """The same rows with infinite ends for bounds farther out than ``limit``; itself where there are none."""
        far = (np.isfinite(self.lower) & (self.lower < -limit)) | (np.isfinite(self.upper) & (self.upper > limit))
        far &= (self.lower <= limit) & (self.upper >= -limit)
        if not far.any():
            return self
        lower = np.where(far & (self.lower < -limit), -inf, self.lower)
        return self._replace(lower=lower, upper=np.where(far & (self.upper > limit), inf, self.upper))

    def shown_empty_by(self, y: Vector) -> bool:
        """Whether the multipliers y, or -y, show that no point satisfies all rows and bounds (Farkas' lemma).

        <y, Ax> is at least the sum of y_i times the ends it pushes against, and at most what the bounds allow for
        <A'y, x>: a contradiction beyond rounding is a proof. For variables without bounds, A'y counts as zero where it
        is below 1e-12 of its terms: a point of the set would then have entries 1e12 times as large as the data.
        """
        return any(self._contradiction(sign * y) for sign in (1.0, -1.0))

    def _contradiction(self, y: Vector) -> bool:
        y = np.where(((y > 0) & np.isinf(self.low)) | ((y < 0) & np.isinf(self.high)), 0.0, y)
        used = np.flatnonzero(y)
        columns = sp.csc_array(self.A)
        slope, size = self.A.T @ y, abs(self.A).T @ np.abs(y)
        off = (len(used) + 8) * UNIT_ROUNDOFF * size
        for j in np.flatnonzero(
            np.abs(slope) <= off
        ).tolist():  # meant to be zero: in rational arithmetic it is, or it is not
            slope[j], off[j] = float(_exact_dot(columns, j, y)), 0.0
        off += 2 * UNIT_ROUNDOFF * np.abs(slope)
        ends = y[used] * np.where(y[used] > 0, self.low[used], self.high[used])
        least, most = slope - off, slope + off
        above, below = np.isinf(self.upper), np.isinf(self.lower)
        if (most > 1e-12 * size)[above].any() or (least < -1e-12 * size)[below].any():
            return False
        upper = np.where(above, np.where(below, 0.0, self.lower), self.upper)
        lower = np.where(below, upper, self.lower)
        largest = np.maximum.reduce([steepness * end for steepness in (least, most) for end in (lower, upper)])
        rounding = 8 * UNIT_ROUNDOFF * (fsum(np.abs(ends)) + fsum(np.abs(largest)))
        return bool(fsum(ends) - fsum(largest) > rounding)

    def dual_bound(self, c: Vector | Wide, y: Vector | Wide) -> float:
        """A number below min <c, x>: weak duality with the row multipliers y, less the rounding of the sums.

        Multipliers of the wrong sign for a missing row bound are set to zero first, so every y gives a bound;
        lower and upper must be finite.
        """
        y = np.where(((y > 0) & np.isinf(self.low)) | ((y < 0) & np.isinf(self.high)), 0, y).astype(np.longdouble)
        used = np.flatnonzero(y)
        row_terms = np.asarray(y[used] * np.where(y > 0, self.low, self.high)[used], dtype=np.float64)
        reduced = np.asarray(c - self.A.T.astype(np.longdouble) @ y, dtype=np.float64)
        size = np.asarray(np.abs(c) + abs(self.A).T @ np.abs(y), dtype=np.float64)
        off = 2 * (len(used) + 8) * LONG_ROUNDOFF * size + 2 * UNIT_ROUNDOFF * np.abs(reduced)
        slopes = reduced - off, reduced + off  # where the sign is certain, the error counts at one bound only
        column_terms = np.minimum.reduce([slope * end for slope in slopes for end in (self.lower, self.upper)])
        rounding = 4 * UNIT_ROUNDOFF * (fsum(np.abs(row_terms)) + fsum(np.abs(column_terms)))
        return float(fsum(row_terms) + fsum(column_terms) - rounding)


@dataclass(frozen=True)
class Solution:
    """A vertex with the multipliers of the rows (those of an added cut row apart), in the user's units."""

    x: Vector
    duals: Wide
    cut_dual: float = 0.0


class LinearProgramError(RuntimeError):
    """HiGHS could not solve a linear programme; ``status`` is its own word for what happened.

    ``ray`` holds the multipliers with which it claims that no point satisfies all rows, where it does.
    """

    def __init__(self, message: str, status: str, ray: Vector | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.ray = ray


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


HOT: dict[str, Any] = {}
AGAIN: tuple[dict[str, Any], ...] = ({"presolve": "on"}, {"simplex_strategy": 4}, {"solver": "ipm"})
"""How a programme is solved again, from a cold start, where an answer is none (4 is the primal simplex)."""


def answers(highs: Any) -> Iterator[Any]:
    """The status after a hot solve, then after colder and slower ones; what HiGHS throws is passed over."""
    for options in (HOT, *AGAIN):
        before = {name: highs.getOptionValue(name)[1] for name in options}
        if options:
            highs.clearSolver()  # a hot start can be a bad start
        for name, value in options.items():
            highs.setOptionValue(name, value)
        try:
            with suppress(ValueError, RuntimeError, IndexError):  # C++ exceptions under Python's names
                yield run(highs)
        finally:
            for name, value in before.items():
                highs.setOptionValue(name, value)


class LinearProgram:
    """min <c, x> over ``rows``: the model is passed once, every solve starts from the last basis.

    Columns are scaled by ``column_scale``, rows and costs to a largest entry near 1, all by powers of two. Bounds far
    beyond that scale are kept from HiGHS, so that they cost no digits, until a solution crosses one: then the programme
    is solved in units of its bounds. Points are judged by the rows in the user's units, and solved again from the basis
    where they miss one. With a cut row, that row is the only one replaced from solve to solve. HiGHS gives up the
    interpreter while it runs, so each thread has a model of its own.
    """

    def __init__(self, rows: Rows, column_scale: Vector, hidden: float = HIDDEN) -> None:
        self.rows = rows
        self._set_scale(column_scale)
        self._shown = rows.without_bounds_beyond(hidden * column_scale)
        self._own = threading.local()

    def _set_scale(self, column_scale: Vector) -> None:
        A = sp.csr_array(self.rows.A * column_scale)
        largest = abs(A).max(axis=1).toarray().ravel() if A.nnz else np.zeros(A.shape[0])
        self._column_scale, self._row_scale = column_scale, 1 / power_of_two(largest)

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

    @property
    def _hides(self) -> bool:
        return self._shown is not self.rows

    @cached_property
    def _in_units_of_bounds(self) -> LinearProgram:
        """The same programme with every bound shown."""
        return LinearProgram(self.rows, scale_of_bounds(self.rows, self._column_scale), np.inf)

    @cached_property
    def _with_all_bounds(self) -> LinearProgram:
        """The same programme in the same units, with every bound shown."""
        return LinearProgram(self.rows, self._column_scale, np.inf)

    @cached_property
    def _from_bounds(self) -> tuple[Vector, LinearProgram] | None:
        """Where some columns hardly have room: an origin at their bounds, and the same programme from there."""
        rows = self.rows
        narrow = narrow_columns(rows.lower, rows.upper)
        if not narrow.any():
            return None
        origin = np.where(narrow, rows.lower, 0.0)
        moved = np.asarray(rows.A.astype(np.longdouble) @ origin)
        low, high = (np.asarray(end - moved, dtype=np.float64) for end in (rows.low, rows.high))
        lower, upper = rows.lower - origin, rows.upper - origin
        scale = np.where(narrow, power_of_two(np.where(narrow, upper, 1.0)), self._column_scale)
        return origin, LinearProgram(Rows(rows.A, low, high, lower, upper), scale, np.inf)

    def _solve_from_bounds(
        self, origin: Vector, programme: LinearProgram, c: Vector, cut: tuple[Vector, float] | None
    ) -> Solution:
        found = programme.solve(c, None if cut is None else (cut[0], cut[1] - float(cut[0] @ origin)))
        x = np.clip(found.x + origin, self.rows.lower, self.rows.upper)
        return replace(found, x=x)

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
        scales = self._load(highs, c, cut)
        word, ray, empty = "no answer", None, False
        for status in answers(highs):
            if status == highspy.HighsModelStatus.kOptimal:
                if (found := self._found(highs, c, *scales, cut is not None)) is not None:
                    return found
                word = "Optimal, but the point misses a row or a bound"
            else:
                word = str(highs.modelStatusToString(status))
                ray = _dual_ray(highs) if ray is None and cut is None else ray
            empty = ray is not None and self.rows.shown_empty_by(ray * self._row_scale)
            if empty or self._hides or (cut is not None and status == highspy.HighsModelStatus.kInfeasible):
                break
        if self._hides and not empty:
            try:
                return self._in_units_of_bounds.solve(c, cut)
            except LinearProgramError:  # a variable at a far bound beside one that is not: in neither's units
                return self._with_all_bounds.solve(c, cut)
        if self._from_bounds is not None and not empty:
            return self._solve_from_bounds(*self._from_bounds, c, cut)
        m, n = self.rows.A.shape
        raise LinearProgramError(
            f"the linear programme with {m} rows and {n} columns was not solved: HiGHS says '{word}'; "
            "check the scaling of the rows and bounds",
            word,
            None if ray is None else ray * self._row_scale,
        )

    def _load(self, highs: Any, c: Vector, cut: tuple[Vector, float] | None) -> tuple[float, float]:
        """Tell HiGHS the cost and the cut; what both were multiplied by."""
        m, n = self.rows.A.shape
        columns = np.arange(n, dtype=np.int32)
        cost = c * self._column_scale
        cost_scale = 1 / float(power_of_two(np.abs(cost).max(keepdims=True))[0])
        highs.changeColsCost(n, columns, cost * cost_scale)
        if cut is None:
            return cost_scale, 1.0
        row = cut[0] * self._column_scale
        cut_scale = 1 / float(power_of_two(np.abs(row).max(keepdims=True))[0])
        if highs.getNumRow() > m:
            highs.deleteRows(1, np.array([m], dtype=np.int32))
        highs.addRow(-inf, cut[1] * cut_scale, n, columns, row * cut_scale)
        return cost_scale, cut_scale

    def _found(self, highs: Any, c: Vector, cost_scale: float, cut_scale: float, has_cut: bool) -> Solution | None:
        """HiGHS's answer, solved again from its basis where that helps; None where it is no point of the set."""
        rows, m = self.rows, self.rows.A.shape[0]
        solution = highs.getSolution()
        raw = np.array(solution.col_value) * self._column_scale
        y = np.array(solution.row_dual)
        duals = np.asarray(y[:m] * self._row_scale / cost_scale, dtype=np.longdouble)
        if self._hides and ((raw < rows.lower) | (raw > rows.upper))[self._shown.lower < self._shown.upper].any():
            crossed = np.maximum(rows.lower - raw, raw - rows.upper) > self._column_scale
            if crossed.any():
                return None
        x = np.clip(raw, rows.lower, rows.upper)
        if has_cut:
            cut_dual = max(0.0, -float(y[m]) * cut_scale / cost_scale)
            return Solution(x, duals, cut_dual) if self._missed(x) <= FEASIBLE else None
        missed = self._missed(x)
        if self._hides or missed > MISSED:
            x, duals = self._from_basis(highs, c, raw, duals)
            missed = self._missed(x)
        return Solution(x, duals) if missed <= FEASIBLE else None

    def _missed(self, x: Vector) -> float:
        """The worst violation of a row, relative to the sizes of its terms: some 1e-16 is rounding."""
        rows = self.rows
        activity = np.asarray(rows.A @ x)
        outside = np.maximum(rows.low - activity, activity - rows.high)
        out = np.flatnonzero(outside > 0)
        if not out.size:
            return 0.0
        end = np.where(activity[out] > rows.high[out], rows.high[out], rows.low[out])
        terms = np.asarray(abs(rows.A[out]) @ np.abs(x)) + np.abs(end)
        return float((outside[out] / terms).max())

    def _from_basis(self, highs: Any, c: Vector, raw: Vector, duals: Wide) -> tuple[Vector, Wide]:
        """Point and multipliers by the basis, with residuals in extended precision."""
        shown = self._shown
        columns, rows = read_basis(highs)
        basis = Basis(shown.A, columns, rows, self._column_scale, self._row_scale)
        if not basis.regular:
            return np.clip(raw, self.rows.lower, self.rows.upper), duals
        A = shown.A.astype(np.longdouble)
        x = np.where(columns, raw, nearest_end(raw, shown.lower, shown.upper)).astype(np.longdouble)
        ends = nearest_end(np.asarray(shown.A @ raw), shown.low, shown.high).astype(np.longdouble)
        y = basis.refine(x, ends, c.astype(np.longdouble), A.__matmul__, A.T.__matmul__)
        x[np.abs(x) <= 1e-17 * self._column_scale] = 0
        return np.clip(np.asarray(x, dtype=np.float64), self.rows.lower, self.rows.upper), y

    def _build(self) -> Any:
        return self._model(self._shown)

    def _model(self, rows: Rows) -> Any:
        """A new HiGHS model of the rows, in scaled units."""
        import highspy

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


def _exact_dot(columns: Matrix, j: int, y: Vector) -> Fraction:
    """<A_j, y> for the doubles as they are stored."""
    part = slice(columns.indptr[j], columns.indptr[j + 1])
    pairs = zip(columns.data[part].tolist(), y[columns.indices[part]].tolist(), strict=True)
    return sum((Fraction(a) * Fraction(b) for a, b in pairs), Fraction(0))


def _dual_ray(highs: Any) -> Vector | None:
    """The multipliers that are to show that there is no point; None where HiGHS has none."""
    with suppress(ValueError, RuntimeError, IndexError):
        _, there, ray = highs.getDualRay()
        if there and len(ray) == highs.getNumRow():
            return np.array(ray)
    return None


def scale_of_bounds(rows: Rows, otherwise: Vector) -> Vector:
    """The size of each variable's own bounds, a power of two; ``otherwise`` where one is missing."""
    size = np.maximum(np.abs(rows.lower), np.abs(rows.upper))
    return np.where(np.isfinite(size), power_of_two(np.where(np.isfinite(size), size, 1.0)), otherwise)
