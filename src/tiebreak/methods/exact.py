"""Exact solves: X_g* is a face of Z cut by Ax = t*, so the upper level is an ordinary problem on it.

For g(x) = h(Ax) + <q, x> with a strictly convex h, A x is the same at all minimisers; for a linear g the minimisers
are a face. Neither needs a value row g(x) <= g*, which is what breaks the usual way. The engines are in
``tiebreak.engines``; this is the one update that asks them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..arrays import Vector
from ..composite import How, Level
from ..engines.answer import Answer, Elsewhere
from ..engines.choice import Choice, choose_engine
from ..problem import Problem, start_point
from .base import MethodInfo, Solver, State

if TYPE_CHECKING:
    from ..engines.relaxed import Path


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
    works_on_data: ClassVar[bool] = True
    nonsmooth: ClassVar[Mapping[Level, How]] = {"upper": "lifted", "lower": "lifted"}
    info: ClassVar[MethodInfo] = MethodInfo(
        name="exact",
        reference="fully corrective column generation (Wolfe 1976) / simplex and active set, on two levels",
        year=1976,
        assumptions="g and f linear, quadratic or losses of linear maps; Z a polytope",
        upper_rate="finite",
        lower_rate="finite",
        oracle="the data of the problem",
        anytime=False,
    )

    def start(self, problem: Problem, x0: Vector | None) -> State:
        self._chosen(problem)
        return State(x=start_point(problem) if x0 is None else x0)

    def advance(self, problem: Problem, state: State) -> State:
        if state.k:  # a resumed run: there is nothing to add
            return replace(state, finished=True)
        try:
            if problem.slack > 0:
                from ..engines.relaxed import solve_relaxed

                relaxed = solve_relaxed(self._path(problem), problem.slack)
                x, answer, multiplier = relaxed.x, relaxed.answer, relaxed.multiplier
                state = replace(state, anchor=relaxed.z)
            else:
                answer = self._chosen(problem).solve()
                x, multiplier = answer.x, answer.multiplier
        except Elsewhere as why:
            nothing = Answer(state.x, -np.inf, np.inf, -np.inf, np.inf, well_posed=False, notes=(str(why),))
            return replace(state, k=state.k + 1, answer=nothing, finished=True)
        return replace(state, k=state.k + 1, x=x, multiplier=multiplier, answer=answer, finished=True)

    def _chosen(self, problem: Problem) -> Choice:
        """The engine; asked anew by every call, unless a plan has done so."""
        choice = choose_engine(problem)
        if choice.engine is None:
            raise ValueError(f'method "exact" does not apply: {choice.why_not}; use "auto" or "cg-bio-anytime"')
        return choice

    def _path(self, problem: Problem) -> Path:
        """With slack: what was found for other multipliers."""
        from ..engines.relaxed import Path

        return Path(self._chosen(problem))


@dataclass(frozen=True)
class Planned(Exact):
    """The exact method with the engine that a plan has chosen.

    Parameters
    ----------
    choice : Choice
        The engine, and the task it gets.
    hands_over : bool
        Whether a first-order method is to go on where the engine has no proof.
    shared : list, optional
        With slack: where to keep what is found, for other slacks of the same problem.
    """

    choice: Choice = field(repr=False)
    hands_over: bool = field(default=False, repr=False, compare=False)
    shared: list[Path] = field(default_factory=list, repr=False, compare=False)

    def _chosen(self, problem: Problem) -> Choice:
        return self.choice

    def _path(self, problem: Problem) -> Path:
        if not self.shared or self.shared[0].choice is not self.choice:
            self.shared[:] = [super()._path(problem)]
        return self.shared[0]
