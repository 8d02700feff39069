"""Linear programmes over a fixed polyhedron, kept hot in HiGHS; points are judged by the rows, in the user's units."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Vector
from .basis import Basis, nearest_end
from .extended import Ext, ExtMatrix, between, double, ext
from .failures import LinearProgramError
from .farkas import shown_empty
from .highs import SMALLEST_ENTRY, Model
from .refinement import Refined, refined
from .retries import answers
from .rows import Rows, power_of_two, scale_of_bounds, scale_of_rows

HIDDEN_BEYOND = 2.0**8
"""A bound beyond this multiple of its variable's size is kept from HiGHS until a solution crosses it."""
NARROW = 2.0**-20
"""Columns and rows with less room than this, in scaled units, are near enough to the tolerances of HiGHS to refine."""
MISSED_BY_ROUNDING = 1e-13
"""A point that misses a row by more than this, relative to the terms of the row, is none of the set."""


@dataclass(frozen=True)
class Solution:
    """A vertex with the multipliers of the rows (those of an added cut row apart), in the user's units."""

    x: Vector
    duals: Ext
    cut_dual: float = 0.0


class LinearProgram:
    """min <c, x> over ``rows``: the model is passed once, every solve starts from the last basis.

    Columns are scaled by ``column_scale``, rows and costs to a largest entry near 1, all by powers of two. Bounds far
    beyond that scale are kept from HiGHS, so that they cost no digits, until a solution crosses one: then the programme
    is solved in units of its bounds. Points are judged by the rows in the user's units; where they miss one they are
    solved for again from the basis, and where that misses one too, refined (see ``refinement``): bounds and rows may
    leave less room than the tolerances of HiGHS. With a cut row, that row is the only one replaced from solve to solve.
    HiGHS gives up the interpreter while it runs, so each thread has a model of its own.
    """

    def __init__(self, rows: Rows, column_scale: Vector, hidden_beyond: float = HIDDEN_BEYOND) -> None:
        self.rows = rows
        self._set_scale(column_scale)
        self._shown = rows.without_bounds_beyond(hidden_beyond * column_scale)
        self._own = threading.local()

    def _set_scale(self, column_scale: Vector) -> None:
        self._column_scale, self._row_scale = column_scale, scale_of_rows(self.rows.A, column_scale)

    def __getstate__(self) -> dict[str, Any]:
        """All but the models: the solver's own memory cannot be copied; it is built again."""
        return {name: value for name, value in self.__dict__.items() if name != "_own"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._own = threading.local()

    @property
    def _model(self) -> Model:
        """The model of this thread."""
        if not hasattr(self._own, "model"):
            self._own.model = self._build(self._shown)
        model: Model = self._own.model
        return model

    def _build(self, rows: Rows, presolve: bool = False) -> Model:
        """A new model of the rows, in scaled units."""
        A = between(self._row_scale, rows.A, self._column_scale)
        ends = rows.low * self._row_scale, rows.high * self._row_scale
        return Model(A, *ends, rows.lower / self._column_scale, rows.upper / self._column_scale, presolve=presolve)

    @cached_property
    def _wide(self) -> ExtMatrix:
        return ExtMatrix(self.rows.A)

    @cached_property
    def _beyond_highs(self) -> bool:
        """Whether some bounds or rows leave less room than HiGHS sees, or entries are too small for it."""
        rows, units = self.rows, self._column_scale
        if ((rows.lower < rows.upper) & (rows.upper - rows.lower < NARROW * units)).any():
            return True
        if ((rows.low < rows.high) & (rows.high - rows.low < NARROW / self._row_scale)).any():
            return True
        entries = np.abs(between(self._row_scale, rows.A, units).data)
        return bool(((entries > 0) & (entries <= SMALLEST_ENTRY)).any())

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

    def solve_once(self, c: Vector) -> Solution:
        """``solve(c)``, or what this thread's last call found for the same c."""
        last: tuple[Vector, Solution] | None = getattr(self._own, "last", None)
        if last is None or not np.array_equal(last[0], c):
            last = self._own.last = c.copy(), self.solve(c)
        return last[1]

    def solve(self, c: Vector, cut: tuple[Vector, float] | None = None) -> Solution:
        """A minimiser of <c, x>, where ``cut = (row, b)`` is given also subject to <row, x> <= b."""
        model = self._model
        cost_scale, cut_scale = self._load(model, c, cut)
        word, ray, empty = "no answer", None, False
        for status in answers(model):
            word = status.word
            if status.optimal:
                x, y = model.solution()
                duals = ext(y * np.append(self._row_scale, [cut_scale] * (cut is not None)) / cost_scale)
                if (found := self._judged(model, c, cut, cut_scale, x * self._column_scale, duals)) is not None:
                    return found
                word += ", but the point misses a row or a bound"
            elif ray is None and cut is None:
                ray = model.dual_ray()
            empty = ray is not None and shown_empty(self.rows, ray * self._row_scale)
            if empty or self._hides or (cut is not None and status.infeasible):
                break
        if self._hides and not empty:
            try:
                return self._in_units_of_bounds.solve(c, cut)
            except LinearProgramError:  # a variable at a far bound beside one that is not: in neither's units
                return self._with_all_bounds.solve(c, cut)
        m, n = self.rows.A.shape
        raise LinearProgramError(
            f"the linear programme with {m} rows and {n} columns was not solved: HiGHS says '{word}'; "
            "check the scaling of the rows and bounds",
            word,
            None if ray is None else ray * self._row_scale,
        )

    def _load(self, model: Model, c: Vector, cut: tuple[Vector, float] | None) -> tuple[float, float]:
        """Tell HiGHS the cost and the cut; what both were multiplied by."""
        cost = c * self._column_scale
        cost_scale = 1 / float(power_of_two(np.abs(cost).max(keepdims=True))[0])
        model.set_cost(cost * cost_scale)
        if cut is None:
            return cost_scale, 1.0
        row = cut[0] * self._column_scale
        cut_scale = 1 / float(power_of_two(np.abs(row).max(keepdims=True))[0])
        model.set_last_row(row * cut_scale, cut[1] * cut_scale)
        return cost_scale, cut_scale

    def _judged(
        self, model: Model, c: Vector, cut: tuple[Vector, float] | None, cut_scale: float, raw: Vector, duals: Ext
    ) -> Solution | None:
        """HiGHS's answer, or a better one from its basis, or by refinement; None where it is no point of the set."""
        rows = self.rows
        if self._hides and (np.maximum(rows.lower - raw, raw - rows.upper) > self._column_scale).any():
            return None
        if not self._beyond_highs and (not self._hides or cut is not None):
            x = np.clip(raw, rows.lower, rows.upper)
            if rows.missed_by(x) <= MISSED_BY_ROUNDING:
                return self._solution(x, duals)
        shown, row_scale = self._shown, self._row_scale
        if cut is not None:
            shown, row_scale = _with_row(shown, *cut), np.append(row_scale, cut_scale)
        start = Refined(ext(raw), duals, *model.basis())
        answer = None if self._beyond_highs else self._from_basis(shown, c, start, row_scale)
        if answer is None and not self._hides:
            better = refined(shown, c, start, self._column_scale)
            answer = self._from_basis(shown, c, better, row_scale) or self._kept(better.x, better.y)
        return answer

    def _from_basis(self, rows: Rows, c: Vector, at: Refined, row_scale: Vector) -> Solution | None:
        """Point and multipliers by the basis, with residuals in extended precision; None: no point of the set."""
        basis = Basis(rows.A, at.columns, at.rows, self._column_scale, row_scale)
        if not basis.regular:
            return self._kept(at.x, at.y)
        A, raw = self._wide if rows is self._shown else ExtMatrix(rows.A), double(at.x)
        x = ext(np.where(at.columns, raw, nearest_end(raw, rows.lower, rows.upper)))
        ends = ext(nearest_end(np.asarray(rows.A @ raw), rows.low, rows.high))
        y = basis.refine(x, ends, ext(c), A.times, A.transpose_times)
        x[np.abs(x) <= 1e-17 * self._column_scale] = 0
        return self._kept(x, y)

    def _kept(self, x: Ext, y: Ext) -> Solution | None:
        point = np.clip(double(x), self.rows.lower, self.rows.upper)
        return self._solution(point, y) if self.rows.missed_by(point) <= MISSED_BY_ROUNDING else None

    def _solution(self, x: Vector, y: Ext) -> Solution:
        m = self.rows.A.shape[0]
        return Solution(x, y[:m], max(0.0, -float(y[m])) if y.size > m else 0.0)


def _with_row(rows: Rows, row: Vector, high: float) -> Rows:
    """The rows with <row, x> <= high as the last one."""
    A = sp.csr_array(sp.vstack([rows.A, sp.csr_array(row[None])]))
    return rows._replace(A=A, low=np.append(rows.low, -inf), high=np.append(rows.high, high))
