"""What FC-BiO and Bisec-BiO share: a near-optimal lower level, then a bisection on the value of f.

Both methods take tolerances. Once a search has ended, it is done again with both of them halved, so that a run that the
bounds do not end goes on to better points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TypeVar

from ...arrays import Vector
from ...problem import Problem
from ..base import Solver, State
from .options import check_positive
from .projected import Fista, lipschitz


@dataclass(frozen=True, kw_only=True)
class BisectionState(State):
    """A bisection; the anchor is the best point of the lower level so far.

    Attributes
    ----------
    best : array
        What the method reports: the point of the last threshold that could be reached.
    run : Fista
        The accelerated run on g alone.
    level : float
        g at the anchor.
    inner : Fista or None
        The run for the current threshold; None while the run on g goes on.
    low, high : float
        The optimal value lies between them, as far as the tolerances tell.
    """

    best: Vector
    run: Fista
    level: float
    low: float
    high: float
    inner: Fista | None = None

    @property
    def middle(self) -> float:
        """The threshold that is tried."""
        return 0.5 * (self.low + self.high)


B = TypeVar("B", bound=BisectionState)


@dataclass(frozen=True)
class Bisection(Solver[B]):
    """The tolerances, and what is reported; a method adds how it tries a threshold."""

    tol_upper: float | None = None
    tol_lower: float | None = None

    def __post_init__(self) -> None:
        check_positive(self, "tol_upper", "tol_lower")

    @property
    def tolerances(self) -> tuple[float, float]:
        """eps_f and eps_g."""
        eps_f, eps_g = (1e-4 if tol is None else tol for tol in (self.tol_upper, self.tol_lower))
        return eps_f, eps_g

    def solution(self, state: B) -> Vector:
        return state.best


def begin_bisection(problem: Problem, x: Vector, low: float) -> BisectionState:
    """The state before the first update, with a lower bound on f over Z."""
    level = problem.lower.value(x)
    return BisectionState(x=x, best=x, anchor=x, run=Fista.at(x), level=level, low=low, high=inf)


def lower_phase(problem: Problem, state: B, tol_lower: float) -> B:
    """One step on g; the search begins once g at the anchor is proved to be within ``tol_lower`` / 2 of g*."""
    L = lipschitz(problem, "lower", state.x)
    run = state.run.step(problem, 0.0, 1 / L)
    value, c = problem.lower.value_and_grad(run.u)
    first = state.shrink == 1.0
    state = replace(state, k=state.k + 1, x=run.u, best=run.u if first else state.best)
    if value < state.level:
        state = replace(state, level=value, anchor=run.u)
    proved = min(float(c @ (run.u - problem.domain.lmo(c))), L * problem.domain.diameter**2 / (2 * state.run.t**2))
    state = replace(state, run=run)
    if proved > tol_lower * state.shrink / 2:
        return state
    return found_level(problem, state, state.level + problem.slack + tol_lower * state.shrink / 2)


def found_level(problem: Problem, state: B, allowed: float) -> B:
    """The search begins, at the point reported before where that is as low as ``allowed``."""
    assert state.anchor is not None
    first = state.shrink == 1.0
    start = state.anchor if first or problem.lower.value(state.best) > allowed else state.best
    high = max(state.low, problem.upper.value(start))
    best = start if first else state.best
    return replace(state, best=best, inner=Fista.at(best), high=high)


def narrowed(problem: Problem, state: B, x: Vector, *, reached: bool, tol_upper: float) -> B:
    """The next threshold, after the middle one was reached at x or proved to be out of reach."""
    if reached:
        high = max(state.low, min(state.middle, problem.upper.value(x)))
        state = replace(state, high=high, best=x, inner=Fista.at(x))
    else:
        state = replace(state, low=state.middle, inner=Fista.at(x))
    if state.high - state.low <= tol_upper * state.shrink / 2:
        state = replace(state, inner=None, shrink=state.shrink / 2)
    return state
