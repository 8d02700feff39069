"""Exact solves: the optimal face of the lower level, then the upper level on it.

Two engines. By rows: polyhedra, boxes and assignments, through their constraints. By columns: other polytopes, through
the vertices that their linear oracle supplies. Each returns an ``Answer`` with its own proof.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..problem import Problem
    from .answer import Answer


def why_not_exact(problem: Problem) -> str:
    """Empty where an exact engine applies to ``problem``, else the reason why none does."""
    from ..sets import Box, Polyhedron, Simplex
    from .columns import columns_apply
    from .lifted import is_lifted, why_not_exact_lifted
    from .rows import rows_apply

    if not problem.upper.convex:
        return "the upper level is not convex"
    if is_lifted(problem):
        return why_not_exact_lifted(problem)
    why_not_rows = rows_apply([problem.lower, problem.upper], problem.domain)
    relaxed_by_columns = problem.slack > 0 and isinstance(problem.domain, Simplex)  # many solves: by rows too slow
    if isinstance(problem.domain, (Polyhedron, Box)) or not (why_not_rows or relaxed_by_columns):
        return why_not_rows
    return columns_apply(problem.with_slack(0.0))


def solve_exactly(problem: Problem) -> Answer:
    """The bilevel problem itself (slack 0) by the engine that fits its domain."""
    from ..sets import Simplex
    from .columns import columns_apply, solve_columns
    from .lifted import is_lifted, solve_lifted
    from .rows import rows_apply, solve_rows

    if is_lifted(problem):
        return solve_lifted(problem)
    levels = [problem.lower, problem.upper]
    few_vertices = isinstance(problem.domain, Simplex) and not columns_apply(problem)  # then columns are faster
    if few_vertices or rows_apply(levels, problem.domain):
        return solve_columns(problem)
    return solve_rows(levels, problem.domain)[-1]


__all__ = ["solve_exactly", "why_not_exact"]
