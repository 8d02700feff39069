"""Prices for doors: the multipliers of the first level of a problem, as a solve of that level alone would give them."""

from __future__ import annotations

from .engines.answer import Duals
from .engines.rows.refuses import rows_apply
from .engines.rows.solve import solve_rows
from .problem import Problem
from .result import Result


def first_duals(problem: Problem, result: Result) -> Duals | None:
    """Multipliers of the first level: those of the run or, where it has none, of that level alone."""
    if (found := result.levels[0].duals) is not None:
        return found
    first = problem.levels[:1]
    return None if rows_apply(first, problem.domain) else solve_rows(first, problem.domain)[0].own_duals
