"""Linear levels: one hot HiGHS model, vertices and multipliers refined from the basis, the face they span."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Vector
from ...numerics.basis import Basis, nearest_end
from ...numerics.csr import with_data
from ...numerics.extended import UNIT, Ext, ExtMatrix, double, ext
from ...numerics.failures import LinearProgramError
from ...numerics.highs import Model
from ...numerics.linear_programme import HIDDEN_BEYOND, LinearProgram
from ...numerics.refinement import Refined, refined
from ...numerics.retries import answers
from ...numerics.rows import Rows, power_of_two, scale_of_bounds
from .face import FEASIBLE
from .sizes import sizes_by_point
from .terms import column_terms, natural_prices, natural_sizes, ratio, row_terms

SOUND = 1e-12
"""Bounds and signs of a refined basis may be off by this, relative to the terms of their rows and columns."""
ROUNDING = 2.0**-50
"""A vertex that misses more than this, relative, is refined."""
TIE = 2.0**-49
"""A multiplier counts as nonzero for certain above this, relative to the costs it is made of.

Sixteen units in the last place: what rounding of the data explains, 0.1 + 0.2 against 0.3, is a tie or none.
"""
ZERO = max(TIE / 2**10, 32 * UNIT)
"""Below this a multiplier is zero: extended arithmetic leaves less."""
CLOSE = TIE * 2.0**7
"""Multipliers below this are settled by the data as they are stored."""
NEGLIGIBLE = 2.0**-100
"""Relative to the largest of all costs, less than this is the rounding of a zero: where variables cost nothing yet, as
those that a later level is lifted to, the costs that a multiplier is made of are such roundings themselves."""
RESOLVED = 2.0**-30
"""What is this much of the largest cost is decided by HiGHS for certain."""
SHORT = 2.0**10
"""Entries that are whole multiples of 1 / SHORT make sums without rounding."""
FEW = 300
"""With so many columns in the basis, what vanishes is settled whatever it takes."""
PASSES = 6
CONDITION = 1e12
"""Up to this condition number a basis matrix is regular for certain."""


Costs: TypeAlias = list[tuple[Vector, np.longdouble]]
"""Vectors with factors, of which the costs are the exact sum."""


class Vertex(NamedTuple):
    """A basic solution of a linear level: point, multipliers of rows and columns, and how far it can be trusted."""

    x: Ext
    y: Ext
    z: Ext
    outside: float  # the largest violation of a bound, relative
    wrong: float  # and of a sign
    settled: bool = False  # whether signs of multipliers, and zeros among them, are those of the data, for certain

    @property
    def excess(self) -> float:
        """The larger of both."""
        return max(self.outside, self.wrong)


class FaceProgram(LinearProgram):
    """min <c, x> over rows some of which get fixed as levels are solved; every solve starts from the last basis."""

    def __init__(self, rows: Rows, column_scale: Vector) -> None:
        super().__init__(rows, column_scale)
        self._size = column_scale
        self._matrix = ExtMatrix(rows.A)
        self._now = Rows(rows.A, *(end.copy() for end in rows[1:]))  # with what is fixed
        self._basis: Basis | None = None
        self._last: Ext | None = None
        self._cost_scale = 1.0
        self._hasty = False
        self._costs: Costs | None = None
        self._fixed: list[tuple[NDArray[np.intp], NDArray[np.intp]]] = []  # what HiGHS has not been told yet
        self.solves = 0

    def minimise(self, c: Ext, falls: bool = False, costs: Costs | None = None) -> Vertex:
        """The refined vertex; HiGHS's own status is no more than a reason to look at the basis.

        Where it ``falls`` for ever, perhaps, an error comes as soon as HiGHS says so, not after all other ways. With
        ``costs`` that are c exactly, multipliers near zero are settled.
        """
        best: Vertex | None = None
        self._costs = costs
        self._hasty = falls and not self._hides
        for attempt in range(3):
            if attempt == 1:  # something was wrong: in other units, with every bound in sight
                self._rescale(scale_of_bounds(self._now, self._size))
            elif attempt == 2:
                self._rescale(self._size if best is None else sizes_by_point(self._size, double(best.x)))
            for boost in (1.0, 2.0**10):  # a larger cost is a smaller dual tolerance
                if not self._run(double(c), boost):
                    break
                vertex = self._vertex(c, self._answer())
                if vertex.outside <= SOUND and vertex.wrong > (0.0 if vertex.settled else ZERO):
                    vertex = self._settled_ties(c, vertex)
                if vertex.outside > ROUNDING and (vertex.outside <= SOUND or not self._hides):
                    vertex = self._refined(c, vertex)
                if best is None or vertex.excess < best.excess:
                    best = vertex
                if vertex.excess <= SOUND:
                    return vertex
        if best is None:
            raise LinearProgramError(
                "a linear level was not solved by HiGHS in any way; check its scaling", "no answer"
            )
        return best

    def _settled_ties(self, c: Ext, vertex: Vertex) -> Vertex:
        """The vertex, or one that is better by no more than the tolerances of HiGHS.

        What decides is what larger costs leave: minimised on its own, in its own units, with all held that they decide.
        """
        columns, rows = np.zeros(c.size, dtype=bool), np.zeros(self._now.low.size, dtype=bool)
        rest = double(c)
        for _ in range(PASSES):
            size = RESOLVED * float((np.abs(rest) * self._size).max())
            columns |= np.abs(double(vertex.z)) * self._size > size
            rows |= np.abs(double(vertex.y)) / self._row_scale > size
            rest = np.where(columns, 0.0, double(vertex.z)) + self.rows.A.T @ np.where(rows, 0.0, double(vertex.y))
            if not rest.any():
                break
            held = np.flatnonzero(columns), np.flatnonzero(rows)
            self._hold(*held, vertex.x)
            found = self._run(rest, 1.0)
            other = self._vertex(c, self._answer()) if found else vertex
            self._let_go(*held)
            if other.outside > SOUND or not found:
                break
            vertex = other
            if vertex.wrong <= (0.0 if vertex.settled else ZERO):
                break
        return vertex

    def fix(self, columns: NDArray[np.intp], rows: NDArray[np.intp], x: Ext) -> None:
        """Keep the columns and rows at the bounds where x has them."""
        now = self._now
        now.lower[columns] = now.upper[columns] = nearest_end(double(x), now.lower, now.upper)[columns]
        side = nearest_end(double(self._matrix.times(x)), now.low, now.high)
        now.low[rows] = now.high[rows] = side[rows]
        self._fixed.append((columns, rows))

    def settled(self) -> bool:
        """Whether the last vertex is the only point left: all nonbasic entries are fixed, and the basis is regular."""
        basis = self._basis
        if basis is None:
            return False
        columns, rows = np.ones(self._now.lower.size, dtype=bool), np.zeros(self._now.low.size, dtype=bool)
        columns[basis.inside], rows[basis.tight] = False, True
        now = self._now
        movable = bool((columns & (now.lower < now.upper)).any() or (rows & (now.low < now.high)).any())
        return not movable and basis.condition() <= CONDITION

    def is_ordinary(self, at: Ext) -> bool:
        """Whether this is the last vertex, and away from all ends but those of its basis, which is regular."""
        basis, last = self._basis, self._last
        if basis is None or last is None or not basis.regular or (at != last).any():
            return False
        now, x, activity = self.rows, double(last), double(self._matrix.times(last))
        terms = row_terms(self._matrix, last, self._size, now.low, now.high)
        sizes = natural_sizes(self._matrix, terms, x)
        loose = np.ones(now.low.size, dtype=bool)
        loose[basis.tight] = False
        inner = np.minimum(x - now.lower, now.upper - x)[basis.inside] > FEASIBLE * sizes[basis.inside]
        outer = np.minimum(activity - now.low, now.high - activity)[loose] > FEASIBLE * terms[loose]
        return bool(inner.all() and outer.all()) and basis.condition() <= CONDITION

    def _hold(self, columns: NDArray[np.intp], rows: NDArray[np.intp], x: Ext) -> None:
        """Tell HiGHS to keep columns and rows where x has them."""
        self._tell_fixed()
        at = double(x)[columns] / self._column_scale[columns]
        self._model.set_column_ends(columns, at, at)
        at = double(self._matrix.times(x))[rows] * self._row_scale[rows]
        self._model.set_row_ends(rows, at, at)

    def _let_go(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> None:
        """Tell HiGHS the bounds again."""
        shown, scale = self._shown_now(), self._column_scale[columns]
        self._model.set_column_ends(columns, shown.lower[columns] / scale, shown.upper[columns] / scale)
        scale = self._row_scale[rows]
        self._model.set_row_ends(rows, shown.low[rows] * scale, shown.high[rows] * scale)

    def _shown_now(self) -> Rows:
        return self._now.without_bounds_beyond(HIDDEN_BEYOND * self._column_scale) if self._hides else self._now

    # -- the basis ---------------------------------------------------------------------------------------------

    def _build(self, rows: Rows, presolve: bool = False) -> Model:
        return super()._build(rows if self._hides else self._now, presolve or _can_presolve(rows.A))

    def _rescale(self, column_scale: Vector) -> None:
        """A new model in other units, with every bound shown."""
        self._fixed.clear()
        self._set_scale(column_scale)
        self._shown = self.rows  # that is, nothing is hidden
        self._own.model = self._build(self._now)

    def _tell_fixed(self) -> None:
        """Pass on what was fixed since the last run: there may be no other run, and a long list takes its time."""
        for columns, rows in self._fixed:
            ends = self._now.lower[columns] / self._column_scale[columns]
            self._model.set_column_ends(columns, ends, ends)
            ends = self._now.low[rows] * self._row_scale[rows]
            self._model.set_row_ends(rows, ends, ends)
            self._model.prefer_primal_simplex()  # the basis stays primal feasible
        self._fixed.clear()

    def _run(self, c: Vector, boost: float) -> bool:
        """Whether HiGHS has a basis to look at; with bounds hidden from it, a direct answer or none."""
        self._tell_fixed()
        cost = c * self._column_scale
        self._cost_scale = boost / float(power_of_two(np.abs(cost).max(keepdims=True))[0])
        self._model.set_cost(cost * self._cost_scale)
        self.solves += 1
        for status in answers(self._model):
            if status.optimal:
                return True
            if status.unbounded and self._hasty:
                raise LinearProgramError("HiGHS says that a linear level is not bounded below", status.word)
            if self._hides:
                return False
        return self._model.has_point

    def _answer(self) -> Refined:
        """What HiGHS says, in the units of the level."""
        x, y = self._model.solution()
        columns, rows = self._model.basis()
        y = np.where(rows, 0.0, y) * self._row_scale / self._cost_scale
        return Refined(ext(x * self._column_scale), ext(y), columns, rows)

    def _refined(self, c: Ext, vertex: Vertex) -> Vertex:
        """A vertex that misses less, where bounds and rows leave less room than the tolerances of HiGHS."""
        basis = self._basis
        assert basis is not None
        columns, rows = np.zeros(c.size, dtype=bool), np.ones(vertex.y.size, dtype=bool)
        columns[basis.inside], rows[basis.tight] = True, False
        answer = refined(self._now, double(c), Refined(vertex.x, vertex.y, columns, rows), self._size)
        other = self._vertex(c, answer)
        if other.excess < vertex.excess:
            return other
        self._basis = basis
        return vertex

    def _vertex(self, c: Ext, answer: Refined) -> Vertex:
        """x and y solved again from the basis, with residuals in extended precision."""
        now, columns, raw = self._now, answer.columns, double(answer.x)
        shown = self._shown_now()
        x = ext(np.where(columns, raw, nearest_end(raw, shown.lower, shown.upper)))
        ends = ext(nearest_end(double(self._matrix.times(answer.x)), now.low, now.high))
        self._last = x
        self._basis = basis = Basis(self.rows.A, columns, answer.rows, self._column_scale, self._row_scale)
        y = answer.y
        if basis.regular:
            y = basis.refine(x, ends, c, self._matrix.times, self._matrix.transpose_times)
        z = c - self._matrix.transpose_times(y)
        z[columns] = 0
        certain = False
        if self._costs and basis.regular:
            y, z, certain = self._settled(basis, self._costs, c, y, z)
        return Vertex(x, y, z, *self._excess(c, x, y, z), certain)

    def _settled(self, basis: Basis, costs: Costs, c: Ext, y: Ext, z: Ext) -> tuple[Ext, Ext, bool]:
        """Multipliers near zero beside what they are made of settled for the data as stored, where there are any."""
        terms = column_terms(self._matrix, c, y)
        price = natural_prices(self._matrix, terms, double(y))
        largest = float((np.abs(double(c)) * self._size).max(initial=0.0))
        now = self._now
        at, of = np.abs(double(z)) * (now.lower < now.upper), np.abs(double(y)) * (now.low < now.high)
        columns = (at > 0) & ((at <= CLOSE * terms) | (at * self._size <= CLOSE * largest))
        rows = (of > 0) & ((of <= CLOSE * price) | (of / self._row_scale <= CLOSE * largest))
        if basis.inside.size <= FEW:  # a zero of extended precision may be rounding as well
            columns |= self._vanished(basis, z) & (now.lower < now.upper)
        if not rows.any() and not columns.any():
            return y, z, False
        from .settled_basis import multipliers

        return multipliers(self.rows.A, basis, costs, y, z, rows, columns) or (y, z, False)

    def _vanished(self, basis: Basis, z: Ext) -> NDArray[np.bool_]:
        """Columns out of the basis whose multipliers are sums of terms that come to zero, and are no short numbers."""
        tight = np.zeros(self.rows.low.size)
        tight[basis.tight] = 1.0
        out = np.ones(z.size, dtype=bool)
        out[basis.inside] = False
        long = np.rint(self.rows.A.data * SHORT) != self.rows.A.data * SHORT
        return np.asarray(out & (z == 0) & (with_data(self.rows.A, long.astype(np.float64)).T @ tight > 0))

    def is_feasible(self, vertex: Vertex) -> bool:
        """Whether the last vertex misses no row and no bound, for certain."""
        from .settled_basis import is_feasible

        basis = self._basis
        return basis is not None and is_feasible(self._now, basis, vertex.x, self._matrix.times(vertex.x))

    def _excess(self, c: Ext, x: Ext, y: Ext, z: Ext) -> tuple[float, float]:
        """The largest violations of a bound and of a sign, relative to the terms they are made of."""
        A, now = self._matrix, self._now
        activity = double(A.times(x))
        rows, columns = row_terms(A, x, self._size, now.low, now.high), column_terms(A, c, y)
        at = natural_sizes(A, rows, double(x))
        price = natural_prices(A, columns, double(y))
        outside = opposed = 0.0
        for value, multiplier, low, high, size, unit in (
            (double(x), double(z), now.lower, now.upper, at, columns),
            (activity, double(y), now.low, now.high, rows, price),
        ):
            below, above = value - low, high - value
            near = np.maximum(size, np.where(below <= above, np.abs(low), np.abs(high)))
            near = np.where(np.isfinite(near), near, size)
            wrong = np.where(below <= above, -multiplier, multiplier)
            wrong = np.where(np.minimum(below, above) > SOUND * near, np.abs(multiplier), wrong)
            outside = max(outside, ratio(-np.minimum(below, above), near))
            opposed = max(opposed, ratio(np.where(low == high, 0.0, wrong), unit))
        return outside, opposed


def _can_presolve(A: sp.csr_array) -> bool:
    """Whether there are rows of up to two entries or columns of one: without any, looking for more takes the longest.

    On an assignment problem of 200 x 200 HiGHS's presolve removes nothing in three times the time of the simplex.
    """
    if not A.nnz:
        return False
    return bool(np.diff(A.indptr).min() <= 2 or np.bincount(A.indices, minlength=A.shape[1]).min() <= 1)
