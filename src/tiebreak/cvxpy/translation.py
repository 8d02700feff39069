"""Rows and levels of CVXPY as a problem of tiebreak, and multipliers back. Nothing is rounded on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from ..engines.answer import Duals
from ..numerics.conic_upward import least_needed
from ..numerics.failures import EmptySet
from ..numerics.rows import Rows
from ..numerics.upward import limited_above
from ..problem import Problem
from ..sets import Box, Cone, Domain, Polyhedron
from .canonical import Standard
from .residuals import Residuals

Index = NDArray[np.intp]


@dataclass(frozen=True)
class Bounds:
    """The rows that are bounds: those with one entry, a power of two, so that the division is exact."""

    lower: Vector
    upper: Vector
    entries: Vector  # by rows; 0 for rows that are none
    lower_row: Index  # by columns: the row that says so, -1 where there is none
    upper_row: Index

    @classmethod
    def of(cls, A: Matrix, b: Vector, equalities: int, without: Index) -> Bounds:
        """Those of all rows but some; bounds that contradict each other are left to the rows."""
        m, n = A.shape
        single = np.setdiff1d(np.flatnonzero(np.diff(A.indptr) == 1), without)
        at = A.indptr[single]
        entry, column = A.data[at], A.indices[at]
        with np.errstate(over="ignore", under="ignore"):
            end = b[single] / entry
            exact = (np.abs(np.frexp(entry)[0]) == 0.5) & np.isfinite(end) & (end * entry == b[single])
        single, entry, column, end = (part[exact] for part in (single, entry, column, end))
        below, above = (single < equalities) | (entry < 0), (single < equalities) | (entry > 0)
        lower, lower_row = _tightest(-end[below], column[below], single[below], n)
        upper, upper_row = _tightest(end[above], column[above], single[above], n)
        lower = 0.0 - lower
        crossed = lower > upper
        lower[crossed], upper[crossed] = -np.inf, np.inf
        entries = np.zeros(m)
        entries[single] = np.where(crossed[column], 0.0, entry)
        return cls(lower, upper, entries, lower_row, upper_row)

    @classmethod
    def none(cls, m: int, n: int) -> Bounds:
        """No row counts as a bound: over curved cones all rows stay what they are."""
        nowhere = np.full(n, -1, dtype=np.intp)
        return cls(np.full(n, -np.inf), np.full(n, np.inf), np.zeros(m), nowhere, nowhere)


def _tightest(end: Vector, column: Index, row: Index, n: int) -> tuple[Vector, Index]:
    """The least end of each column, and the first row that has it."""
    least, first = np.full(n, np.inf), np.full(n, -1, dtype=np.intp)
    np.minimum.at(least, column, end)
    holds = np.flatnonzero(end == least[column])[::-1]
    first[column[holds]] = row[holds]
    return least, first


@dataclass(frozen=True)
class Translation:
    """A problem, and where its rows and bounds come from."""

    problem: Problem
    bounds: Bounds
    rows: Index  # those of CVXPY that are rows of the domain, in its order: of a polyhedron the inequalities first
    residuals: Residuals
    further: bool  # whether CVXPY has introduced some of the columns
    method: str  # over curved cones "exact": any other would solve a conic programme at every step

    @classmethod
    def of(
        cls, standard: Standard, slack: float | Sequence[float], relative_slack: float | Sequence[float]
    ) -> Translation:
        """The problem of tiebreak; ``EmptySet`` where it is proved that no point satisfies the rows."""
        residuals = Residuals.of(standard)
        A, b, equalities = sp.csr_array(standard.A[:, residuals.kept]), standard.b, standard.equalities
        bounds = Bounds.none(*A.shape) if standard.curved else Bounds.of(A, b, equalities, residuals.rows)
        rows = np.setdiff1d(np.flatnonzero(bounds.entries == 0), residuals.rows)
        equations, inequalities = rows[rows < equalities], rows[rows >= equalities]
        unrewarded = _unrewarded(standard)[residuals.kept]
        if standard.curved:
            domain = _by_cones(A[rows], b[rows], equations.size, standard, unrewarded)
        else:
            domain = _domain(A, b, bounds, inequalities, equations, unrewarded)
        levels = [residuals.level(one, f"level {k + 1}") for k, one in enumerate(standard.levels)]
        problem = Problem(
            levels[-1],
            levels[:-1],
            domain,
            slack if len(levels) > 1 else 0.0,
            relative_slack=relative_slack if len(levels) > 1 else 0.0,
            names=[standard.names[j] for j in residuals.kept],
        )
        further = bool(standard.further[residuals.kept].any())
        order = np.arange(rows.size) if standard.curved else np.argsort(rows < equalities, kind="stable")
        return cls(problem, bounds, rows[order], residuals, further, "exact" if standard.curved else "auto")

    def multipliers(self, duals: Duals) -> Vector:
        """In CVXPY's signs, Px + q + A'z = 0, z not negative for inequalities. One row that says so holds a bound."""
        z = np.zeros(self.bounds.entries.size)
        z[self.rows] = -duals.rows[: self.rows.size]  # after them come the ends of epigraphs
        left = duals.columns
        rows = np.where(left > 0, self.bounds.lower_row, self.bounds.upper_row)
        held = np.flatnonzero((left != 0) & (rows >= 0))
        held = held[self.bounds.entries[rows[held]] != 0]
        z[rows[held]] = -left[held] / self.bounds.entries[rows[held]]
        return z + 0.0  # without negative zeros


def _unrewarded(standard: Standard) -> NDArray[np.bool_]:
    """Columns that CVXPY has introduced and that are no better for any level as they grow."""
    found = standard.further.copy()
    for level in standard.levels:
        found &= level.q >= 0
        if level.P is not None:
            found &= np.diff(level.P.indptr) == 0
    return found


def _by_cones(A: Matrix, b: Vector, equations: int, standard: Standard, unrewarded: NDArray[np.bool_]) -> Domain:
    """The set by cones, its epigraphs cut off above what they need; ``EmptySet`` where there is no point."""
    cones = [
        (kind, float(size)) for kind, size in (("zero", equations), ("nonnegative", standard.inequalities)) if size
    ]
    cones += [(kind, float(size)) for kind, size in standard.curved]
    needed = least_needed(A, b, cones, unrewarded)
    cut = np.flatnonzero(np.isfinite(needed))
    rows = sp.csr_array((np.ones(cut.size), (np.arange(cut.size), cut)), shape=(cut.size, A.shape[1]))
    try:
        return Cone(
            sp.csr_array(sp.vstack([A, rows])), np.concatenate([b, needed[cut]]), [*cones, ("nonnegative", cut.size)]
        )
    except ValueError as why:
        if str(why).startswith("the set is empty"):
            raise EmptySet(str(why)) from None
        raise


def _domain(
    A: Matrix, b: Vector, bounds: Bounds, inequalities: Index, equations: Index, unrewarded: NDArray[np.bool_]
) -> Domain:
    """The polyhedron; variables of epigraphs get the bounds above that they need not exceed, where there are such."""
    blank = np.diff(A.indptr) == 0
    if (b[inequalities][blank[inequalities]] < 0).any() or (b[equations][blank[equations]] != 0).any():
        raise EmptySet("a constraint without variables does not hold")
    if not inequalities.size and not equations.size:
        return Box(bounds.lower, bounds.upper)
    some = [(sp.csr_array(A[index]), b[index]) if index.size else (None, None) for index in (inequalities, equations)]
    (A_ub, b_ub), (A_eq, b_eq) = some
    rows = np.concatenate([inequalities, equations])
    low = np.concatenate([np.full(inequalities.size, -np.inf), b[equations]])
    given = Rows(sp.csr_array(A[rows]), low, b[rows], bounds.lower, bounds.upper)
    upper = limited_above(given, unrewarded, lambda rest: Polyhedron.of(rest).outer_box)
    ends = np.column_stack([bounds.lower, upper])
    return Polyhedron(A_ub, b_ub, A_eq, b_eq, bounds=ends)  # type: ignore[arg-type]
