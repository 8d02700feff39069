"""Exact solves: X_g* is a face of Z cut by Ax = t*, so the upper level is an ordinary problem on it.

For g(x) = h(Ax) + <q, x> with a strictly convex h, A x is the same at all minimisers; for a linear g the minimisers
are a face. Neither needs a value row g(x) <= g*, which is what breaks the usual way. The engines are in
``tiebreak.exact``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from ..arrays import Vector
from ..composite import How, Level
from ..exact import solve_exactly, why_not_exact
from ..problem import Problem, start_point
from .base import MethodInfo, Solver, State


@dataclass(frozen=True)
class Exact(Solver[State]):
    """The answer to the last digits, with a two-sided bracket, where the structure of the problem allows it.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> result = tb.solve(problem, "exact", tol_upper=1e-9, tol_lower=1e-9)
    >>> result.x.round(12)
    array([0.5, 0.5])
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    nonsmooth: ClassVar[Mapping[Level, How]] = {"upper": "lifted", "lower": "lifted"}
    info: ClassVar[MethodInfo] = MethodInfo(
        name="exact",
        reference="fully corrective column generation (Wolfe 1976) / simplex and active set, on two levels",
        year=1976,
        assumptions="g linear or h(Ax) + <q,x> with h strictly convex; f convex quadratic or smooth; Z a polytope",
        upper_rate="finite",
        lower_rate="finite",
        oracle="the data of the problem",
        anytime=False,
    )

    def start(self, problem: Problem, x0: Vector | None) -> State:
        if reason := why_not_exact(problem):
            raise ValueError(f'method "exact" does not apply: {reason}; use "auto" or "cg-bio"')
        return State(x=start_point(problem) if x0 is None else x0)

    def advance(self, problem: Problem, state: State) -> State:
        if state.k:  # a resumed run: there is nothing to add
            return replace(state, finished=True)
        k = state.k + 1
        if problem.slack > 0:
            from ..exact.relaxed import solve_relaxed

            relaxed = solve_relaxed(problem)
            return replace(state, k=k, x=relaxed.x, anchor=relaxed.z, multiplier=relaxed.multiplier, finished=True)
        answer = solve_exactly(problem)
        return replace(state, k=k, x=answer.x, multiplier=answer.multiplier, answer=answer, finished=True)
