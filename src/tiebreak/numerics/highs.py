"""HiGHS (Q. Huangfu, J. Hall, 2018): linear programmes kept hot, and convex quadratic ones. The only file to know it.

The form, and the sense of the multipliers, are those of ``foreign``, without a Hessian where the programme is linear.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from .failures import LinearProgramError
from .foreign import Found

FEASIBILITY = 1e-10
"""How far HiGHS may miss bounds, rows and signs, in the units of the model: the least it takes."""
SMALLEST_ENTRY = 1e-12
"""Entries of matrices below this count as zero: the least it takes."""
LEAST_ITERATIONS, ITERATIONS = 1000, 100
"""Simplex iterations at most, in all and for each row and column: where entries nearly tie it may go round for ever."""
PATIENCE, WORK = 0.25, 1e-6
"""Seconds for one run, and more for each entry times rows and columns: it may go round without iterations, too."""
WAYS: dict[str, dict[str, Any]] = {
    "hot": {},
    "presolved": {"presolve": "on"},
    "primal": {"simplex_strategy": 4},
    "interior": {"solver": "ipm"},
}
"""How a programme can be solved: from the last basis; the others from a cold start, each slower than the one before."""


class Status(NamedTuple):
    """How a run ended: HiGHS's word for it, and what of it decides anything."""

    word: str
    optimal: bool = False
    infeasible: bool = False
    out_of_time: bool = False
    unbounded: bool = False  # or perhaps infeasible


class Model:
    """A linear programme that HiGHS keeps: costs, bounds and a last row can change, solves start from the last basis.

    Parameters
    ----------
    A : sparse matrix
        The rows.
    low, high, lower, upper : array
        The ends of rows and columns; infinite where there are none.
    presolve : bool
        Whether to look for simplifications before the first, cold solve.
    """

    def __init__(
        self, A: Matrix, low: Vector, high: Vector, lower: Vector, upper: Vector, *, presolve: bool = False
    ) -> None:
        import highspy

        m, n = A.shape
        A = sp.csc_array(A)
        self._rows = m
        self._patience = PATIENCE + WORK * A.nnz * (m + n)
        self._highs = highspy.Highs()
        self.set_options(
            output_flag=False,
            parallel="off",  # not "threads": HiGHS refuses a number that differs from its first instance's
            presolve="on" if presolve else "off",
            primal_feasibility_tolerance=FEASIBILITY,
            dual_feasibility_tolerance=FEASIBILITY,
            small_matrix_value=SMALLEST_ENTRY,
            simplex_iteration_limit=LEAST_ITERATIONS + ITERATIONS * (m + n),
            ipm_iteration_limit=LEAST_ITERATIONS,
        )
        self._highs.passModel(  # by arrays: the fields of a HighsLp are copied number by number
            n,
            m,
            A.nnz,
            int(highspy.MatrixFormat.kColwise),
            int(highspy.ObjSense.kMinimize),
            0.0,
            np.zeros(n),
            lower,
            upper,
            low,
            high,
            A.indptr.astype(np.int32),
            A.indices.astype(np.int32),
            A.data,
            np.zeros(n, dtype=np.int32),  # all variables are continuous
        )
        self._columns = np.arange(n, dtype=np.int32)

    def set_options(self, **options: Any) -> None:
        """HiGHS's own options, by their names."""
        for name, value in options.items():
            self._highs.setOptionValue(name, value)

    def set_cost(self, cost: Vector) -> None:
        """Minimise <cost, x> from now on."""
        self._highs.changeColsCost(cost.size, self._columns, cost)

    def set_column_ends(self, columns: NDArray[np.intp], lower: Vector, upper: Vector) -> None:
        """New bounds for these columns."""
        if columns.size:
            self._highs.changeColsBounds(columns.size, columns.astype(np.int32), lower, upper)

    def set_row_ends(self, rows: NDArray[np.intp], low: Vector, high: Vector) -> None:
        """New ends for these rows."""
        if rows.size:
            self._highs.changeRowsBounds(rows.size, rows.astype(np.int32), low, high)

    def set_last_row(self, row: Vector, high: float) -> None:
        """<row, x> <= high after the rows that the model was made with, in place of the last such row."""
        if self._highs.getNumRow() > self._rows:
            self._highs.deleteRows(1, np.array([self._rows], dtype=np.int32))
        self._highs.addRow(-np.inf, high, row.size, self._columns, row)
        if self._highs.getNumRow() == self._rows:  # numbers beyond 1e20 are infinite to it
            raise LinearProgramError("HiGHS does not take a row of such numbers", "illegal row")

    def prefer_primal_simplex(self) -> None:
        """For changes after which the basis stays primal feasible."""
        self.set_options(simplex_strategy=4)

    def start_from(self, columns: NDArray[np.bool_], rows: NDArray[np.bool_]) -> None:
        """Start the next solve from the basis of these columns and rows."""
        import highspy

        words = highspy.HighsBasisStatus.kNonbasic, highspy.HighsBasisStatus.kBasic
        basis = highspy.HighsBasis()
        basis.col_status = [words[is_basic] for is_basic in columns.tolist()]
        basis.row_status = [words[is_basic] for is_basic in rows.tolist()]
        basis.valid = True
        self._highs.setBasis(basis)

    def run(self, seconds: float, way: str = "hot") -> Status | None:
        """Solve within so many seconds; None where HiGHS throws something, or goes round."""
        import highspy

        highs, options = self._highs, WAYS[way]
        before = {name: highs.getOptionValue(name)[1] for name in options}
        if options:
            highs.clearSolver()  # a hot start can be a bad start
        self.set_options(**options)
        limit = min(seconds, self._patience)
        highs.setOptionValue("time_limit", highs.getRunTime() + limit)  # HiGHS counts from its first run
        try:
            with suppress(ValueError, RuntimeError, IndexError):  # C++ exceptions under Python's names
                highs.run()
                status, words = highs.getModelStatus(), highspy.HighsModelStatus
                if status == words.kTimeLimit and limit < seconds:
                    return None
                return Status(
                    str(highs.modelStatusToString(status)),
                    status == words.kOptimal,
                    status == words.kInfeasible,
                    status == words.kTimeLimit,
                    status in (words.kUnbounded, words.kUnboundedOrInfeasible),
                )
            return None
        finally:
            self.set_options(**before)

    def solution(self) -> tuple[Vector, Vector]:
        """The point and the multipliers of the rows after the last run."""
        found = self._highs.getSolution()
        return np.array(found.col_value), np.array(found.row_dual)

    @property
    def has_point(self) -> bool:
        """Whether the last run left a point, optimal or not."""
        return bool(self._highs.getSolution().value_valid)

    def basis(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which columns and rows are basic after the last run."""
        highs = self._highs
        columns, rows = np.zeros(highs.getNumCol(), dtype=bool), np.zeros(highs.getNumRow(), dtype=bool)
        if highs.getNumNz() == 0:  # then HiGHS has no factors, and breaks down when asked for its basis
            rows[:] = True
            return columns, rows
        basic = highs.getBasicVariables()[1]  # row i as -1 - i
        columns[basic[basic >= 0]] = rows[-1 - basic[basic < 0]] = True
        return columns, rows

    def dual_ray(self) -> Vector | None:
        """The multipliers that are to show that there is no point; None where HiGHS has none."""
        with suppress(ValueError, RuntimeError, IndexError):
            _, there, ray = self._highs.getDualRay()
            if there and len(ray) == self._highs.getNumRow():
                return np.array(ray)
        return None


def solve_quadratic(
    H: Matrix,
    c: Vector,
    A: Matrix,
    low: Vector,
    high: Vector,
    lower: Vector,
    upper: Vector,
    *,
    seconds: float,
) -> Found | None:
    """A quadratic programme (see ``foreign``) by HiGHS's active-set method; None where it ends without a point."""
    import highspy

    m, n = A.shape
    A, H = sp.csc_array(A), sp.csc_array(sp.tril(sp.csc_array(H)))
    model = highspy.HighsModel()
    lp = model.lp_
    lp.num_col_, lp.num_row_ = n, m
    lp.col_cost_ = c
    lp.col_lower_, lp.col_upper_, lp.row_lower_, lp.row_upper_ = lower, upper, low, high
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
    model.hessian_.dim_ = n
    model.hessian_.format_ = highspy.HessianFormat.kTriangular
    model.hessian_.start_, model.hessian_.index_, model.hessian_.value_ = H.indptr, H.indices, H.data
    highs = highspy.Highs()
    limits = {"time_limit": seconds, "qp_iteration_limit": LEAST_ITERATIONS + ITERATIONS * (m + n)}
    for name, value in {"output_flag": False, "parallel": "off", **limits}.items():
        highs.setOptionValue(name, value)
    highs.passModel(model)
    highs.run()
    found = highs.getSolution()
    if len(found.col_value) != n or len(found.row_dual) != m:
        return None
    word = str(highs.modelStatusToString(highs.getModelStatus()))
    return Found(np.array(found.col_value), np.array(found.row_dual), word)


class ReadModel(NamedTuple):
    """A model file as HiGHS reads it: <cost, x> + constant + 1/2 x'Hx over rows and bounds, with its complaints."""

    A: Matrix
    low: Vector
    high: Vector
    lower: Vector
    upper: Vector
    cost: Vector
    constant: float
    H: Matrix | None
    maximise: bool
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    not_continuous: tuple[int, ...]
    complaints: tuple[str, ...]


def read_model(path: Path) -> ReadModel | str:
    """Read an MPS or LP file, beside which there may be a log; what HiGHS says where it does not take it at all."""
    import highspy

    highs, log = highspy.Highs(), path.with_suffix(".log")
    highs.setOptionValue("log_to_console", False)
    highs.setOptionValue("small_matrix_value", SMALLEST_ENTRY)
    highs.setOptionValue("log_file", str(log))  # 1.13 calls back with nothing while it reads
    status = highs.readModel(str(path))
    highs.setOptionValue("log_file", "")  # which closes it
    said = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    words = [one.removeprefix("ERROR:").removeprefix("WARNING:").strip() for one in said if one.startswith(_BAD)]
    if status == highspy.HighsStatus.kError:
        return "; ".join(one for one in words if str(path) not in one)
    model = highs.getModel()
    lp, hessian = model.lp_, model.hessian_
    n, m = lp.num_col_, lp.num_row_
    entries = np.array(lp.a_matrix_.value_), np.array(lp.a_matrix_.index_), np.array(lp.a_matrix_.start_)
    by_column = lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise
    A = sp.csc_array(entries, shape=(m, n)) if by_column else sp.csr_array(entries, shape=(m, n))
    H = None
    if hessian.dim_:
        half = sp.csc_array(
            (np.array(hessian.value_), np.array(hessian.index_), np.array(hessian.start_)), shape=(n, n)
        )
        H = sp.csr_array(half + sp.tril(half, -1).T if hessian.format_ == highspy.HessianFormat.kTriangular else half)
        H.eliminate_zeros()
    kinds = enumerate(lp.integrality_)
    return ReadModel(
        sp.csr_array(A),
        np.array(lp.row_lower_, dtype=float),
        np.array(lp.row_upper_, dtype=float),
        np.array(lp.col_lower_, dtype=float),
        np.array(lp.col_upper_, dtype=float),
        np.array(lp.col_cost_, dtype=float),
        float(lp.offset_),
        H if H is not None and H.nnz else None,
        lp.sense_ == highspy.ObjSense.kMaximize,
        tuple(lp.col_names_),
        tuple(lp.row_names_),
        tuple(j for j, kind in kinds if kind != highspy.HighsVarType.kContinuous),
        tuple(words),
    )


_BAD = ("ERROR:", "WARNING:")
