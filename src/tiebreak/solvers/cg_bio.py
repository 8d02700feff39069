"""CG-BiO: conditional gradient steps over the part of Z that a cutting plane of g leaves.

R. Jiang, N. Abolfazli, A. Mokhtari, E. Yazdandoost Hamedani, "A conditional gradient-based method for simple bilevel
optimization with convex lower-level problem", AISTATS 2023, Algorithm 1.

Two variants. ``paper`` is Algorithm 1: a start with g(x0) - g* <= eps_g / 2 (found by conditional gradient on g unless
one is given), and the level g(x0) on the right-hand side of the cut for ever. ``anytime`` interleaves one conditional
gradient step z_j on g with each update and takes as level the smallest value of g seen, so that it needs neither a
tolerance nor an initial phase: with steps 2/(k+2), f(x_K) - f* <= 2 C_f/(K+1) and g(x_K) - g* <= 6 C_g/(K+1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from ..arrays import Vector, as_numbers
from ..objectives.base import Objective
from ..points import REFRESH, Point, difference, mix, place
from ..problem import Problem, start_point
from ..sets.base import CutStatus
from ..steps import Harmonic, InverseSqrt, Line, StepRule
from .base import MethodInfo, Solver, State
from .fast_cut import chunk
from .lower_level import LowerRule, LowerRun, begin, default_rule, lower_step
from .options import check_rule


@dataclass(frozen=True, kw_only=True)
class CutState(State):
    """A state of CG-BiO.

    Attributes
    ----------
    point : Point or None
        x with its images; None during the initial phase.
    level : float
        u, the right-hand side of the cut: a value of g that some point of Z attains.
    first : int
        k at the first update of Algorithm 1 (after the initial phase).
    run : LowerRun or None
        Conditional gradient on g: the initial phase, or the other half of the anytime variant.
    f_lower : float
        The best lower bound on f* seen; a floor for line searches.
    best_gap, best_lower, best_x
        For a nonconvex f: the smallest Frank-Wolfe gap over the cut set so far, g there, and where (Theorem 2).
    memory : tuple of arrays
        What ``advance_many`` goes on from.
    """

    point: Point | None = None
    level: float = np.inf
    first: int = 0
    run: LowerRun | None = None
    f_lower: float = -np.inf
    best_gap: float = np.inf
    best_lower: float = -np.inf
    best_x: Vector | None = None
    memory: tuple[Vector, ...] = ()


@dataclass(frozen=True)
class CGBiO(Solver[CutState]):
    """The conditional-gradient bilevel method.

    Parameters
    ----------
    variant : {"anytime", "paper"}
        See above. In the paper's variant a given x0 is the near-optimal start of Algorithm 1.
    step : StepRule, optional
        Default: ``Harmonic(2, 2)`` for a convex upper level (Theorem 1), ``InverseSqrt(1)`` for a nonconvex one.
        ``tiebreak.steps.theorem_2(problem, ...)`` gives the constant step of Theorem 2.
    initial : {"harmonic", "exact", "backtracking"}, optional
        Steps of conditional gradient on g. Default: exact line search for a quadratic g, else backtracking.
    tol_upper, tol_lower : float, optional
        eps_f and eps_g of the paper's stopping test; default: the tolerances of the run.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> result = tb.solve(problem, tb.CGBiO(step=tb.steps.Adaptive()), tol_upper=1e-2, tol_lower=1e-2)
    >>> result.success
    True
    """

    variant: Literal["anytime", "paper"] = "anytime"
    step: StepRule | None = None
    initial: LowerRule | None = None
    tol_upper: float | None = None
    tol_lower: float | None = None

    needs: ClassVar[frozenset[str]] = frozenset({"upper.grad", "lower.grad", "domain.lmo", "domain.lmo_cut"})
    info: ClassVar[MethodInfo] = MethodInfo(
        name="cg-bio",
        reference="Jiang, Abolfazli, Mokhtari, Yazdandoost Hamedani, AISTATS 2023",
        year=2023,
        assumptions="f smooth (convex or not), g convex and smooth, Z compact",
        upper_rate="O(1/k); f nonconvex: O(1/sqrt(k))",
        lower_rate="O(1/k)",
        oracle="linear minimisation over Z and a half-space",
        anytime=True,
    )

    def __post_init__(self) -> None:
        if self.variant not in ("anytime", "paper"):
            raise ValueError(f'variant must be "anytime" or "paper", got {self.variant!r}')
        if self.step is not None:
            check_rule(self.step)
        if self.initial not in (None, "harmonic", "exact", "backtracking"):
            raise ValueError(f'initial must be "harmonic", "exact" or "backtracking", got {self.initial!r}')
        for name in ("tol_upper", "tol_lower"):
            value = getattr(self, name)
            if value is not None and not (np.ndim(value) == 0 and as_numbers(value, name) == value):
                raise ValueError(f"{name} must be a number (-inf: the method never stops by itself), got {value!r}")

    def start(self, problem: Problem, x0: Vector | None) -> CutState:
        x = start_point(problem) if x0 is None else x0
        if self.variant == "paper" and x0 is None:
            return CutState(x=x, run=begin(problem, x))
        run = begin(problem, x) if self.variant == "anytime" else None
        point = place(_levels(problem), x)
        level = run.value if run else problem.lower.value_at(x, point.images[1])
        return CutState(x=x, point=point, level=level, run=run, anchor=x)

    def advance(self, problem: Problem, state: CutState) -> CutState:
        rule = self.initial or default_rule(problem.lower)
        if state.point is None:
            return self._initial_phase(problem, state, rule)
        here = state.point
        f, a = problem.upper.value_and_grad_at(here.x, here.images[0])
        g, c = problem.lower.value_and_grad_at(here.x, here.images[1])
        if state.run is not None:
            run = lower_step(problem, state.run, rule, keep_rate=True)
            better = min(g, run.value) < state.level
            anchor = (state.x if g <= run.value else run.x) if better else state.anchor
            state = replace(state, run=run, level=min(state.level, g, run.value), anchor=anchor)

        # X_k of eq. (7), with the level in the place of g(x_0) and, for a relaxed problem, its slack
        bound = float(c @ state.x) + state.level + problem.slack - g
        cut = problem.domain.lmo_cut(a, c, bound, warm=state.multiplier)
        if cut.status is CutStatus.INFEASIBLE:
            raise ValueError(
                "the cut of the lower level leaves nothing of the domain, which is impossible for a convex lower "
                "level with the right gradient: check both (tiebreak.check_gradient helps)"
            )
        gap_f = float(a @ (state.x - cut.point))
        gap_g = float(c @ (state.x - cut.point))
        tol_upper, tol_lower = self._tolerances(state)
        state = _record(problem, state, f, g, gap_f, cut.gap, tol_lower)
        if state.run is None and gap_f <= tol_upper and gap_g <= tol_lower / 2:
            return replace(state, finished=True)

        target = place(_levels(problem), cut.point)
        gamma = self._step(problem).choose(
            state.k - state.first,
            lambda: self._line(problem, state, here, target, Slope(f, -gap_f), Slope(g, -gap_g)),
        )
        point = mix(here, target, gamma)
        if (state.k + 1) % REFRESH == 0:
            point = place(_levels(problem), point.x)
        multiplier = cut.multiplier if np.isfinite(cut.multiplier) else state.multiplier
        return replace(state, k=state.k + 1, x=point.x, point=point, multiplier=multiplier, memory=())

    def advance_many(self, problem: Problem, state: CutState, updates: int) -> CutState:
        end, rule = state.k + updates, self.initial or default_rule(problem.lower)
        while state.k < end and not state.finished:
            count = min(end - state.k, REFRESH - state.k % REFRESH)
            ahead = chunk(problem, state, self._step(problem), rule, self._tolerances(state), count)
            if ahead is None:  # one update at a time, so that the loop knows the last complete state
                return self.advance(problem, state)
            stuck = ahead.k == state.k and not ahead.finished
            state = self.advance(problem, ahead) if stuck else ahead
        return state

    def tightened(self, problem: Problem, state: CutState) -> CutState | None:
        """The same as the anytime variant from here on: its level falls without being asked."""
        if state.run is not None:
            return None
        run = begin(problem, state.x if state.anchor is None else state.anchor)
        return replace(state, shrink=0.1 * state.shrink, finished=False, memory=(), run=run)

    def solution(self, state: CutState) -> Vector:
        return state.x if state.best_x is None else state.best_x

    def _initial_phase(self, problem: Problem, state: CutState, rule: LowerRule) -> CutState:
        """One step of conditional gradient on g, or the change to Algorithm 1 once its gap is eps_g / 2."""
        assert state.run is not None
        enough = self._tolerances(state)[1] / 2
        run = lower_step(problem, state.run, rule, enough=enough)
        if run.gap > enough:
            return replace(state, k=state.k + 1, x=run.x, run=run, anchor=run.x)
        point = place(_levels(problem), run.x)
        return replace(
            state,
            x=run.x,
            point=point,
            level=run.value,
            first=state.k,
            run=None,
            anchor=run.x,
            finished=False,
        )

    def _tolerances(self, state: CutState) -> tuple[float, float]:
        return (
            1e-4 if self.tol_upper is None else self.tol_upper,
            state.shrink * (1e-4 if self.tol_lower is None else self.tol_lower),
        )

    def _step(self, problem: Problem) -> StepRule:
        if self.step is not None:
            return self.step
        return Harmonic(2, 2) if problem.upper.convex else InverseSqrt(1.0)

    def _line(self, problem: Problem, state: CutState, here: Point, target: Point, f: Slope, g: Slope) -> Line:
        """Both objectives along the step."""
        tol_upper, tol_lower = self._tolerances(state)
        return Line(
            upper=_along(problem.upper, 0, here, target, f),
            lower=_along(problem.lower, 1, here, target, g),
            target_upper=f.value + f.slope,
            target_lower=state.level + problem.slack,
            floor_upper=state.f_lower,
            tol_upper=tol_upper,
            tol_lower=tol_lower,
        )


class Slope(NamedTuple):
    """An objective at x and its slope along the step."""

    value: float
    slope: float


def _along(objective: Objective, which: int, x: Point, target: Point, at_x: Slope) -> Callable[[float], float]:
    """The objective at x + gamma (target - x): a parabola for a quadratic, otherwise through the images."""
    if objective.quadratic:
        step = difference(target, x)
        curvature = objective.curvature_along(step.x, step.images[which])
        assert curvature is not None
        return lambda gamma: at_x.value + gamma * (at_x.slope + 0.5 * gamma * curvature)

    def value(gamma: float) -> float:
        trial = mix(x, target, gamma)
        return objective.value_at(trial.x, trial.images[which])

    return value


def _levels(problem: Problem) -> tuple[Objective, Objective]:
    return problem.upper, problem.lower


def _record(
    problem: Problem, state: CutState, f: float, g: float, gap_f: float, error: float, tol_lower: float
) -> CutState:
    """What the linear minimum tells: a lower bound on f*, or, for a nonconvex f, the best gap of Theorem 2.

    Theorem 2 keeps the iterate with the smallest gap; all its iterates are lower-level optimal to the tolerance.
    Other step rules do not ensure that, so only such iterates are candidates.
    """
    if problem.upper.convex:
        return replace(state, f_lower=max(state.f_lower, f - gap_f - error))
    allowed = state.level + problem.slack + tol_lower / 2
    if state.best_lower > allowed:  # the level has fallen since: the best iterate so far is no candidate any more
        state = replace(state, best_gap=np.inf, best_lower=-np.inf, best_x=None)
    if g <= allowed and gap_f < state.best_gap:
        return replace(state, best_gap=gap_f, best_lower=g, best_x=state.x)
    return state
