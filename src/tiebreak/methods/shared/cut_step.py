"""One update along a cut: both levels at x, the linear minimum over the cut set, and the step towards it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...arrays import Vector
from ...objectives.base import Objective
from ...points import REFRESH, Point, difference, mix, place
from ...problem import Problem
from ...sets.base import Cut, CutStatus
from ...steps import Line, StepRule
from .cut_state import CutState


class Here(NamedTuple):
    """Both levels at x: f with gradient a, g with gradient c."""

    point: Point
    f: float
    a: Vector
    g: float
    c: Vector


class Target(NamedTuple):
    """The linear minimum s over the cut set, and both Frank-Wolfe gaps: <a, x - s> and <c, x - s>."""

    cut: Cut
    gap_f: float
    gap_g: float


def placed(problem: Problem, x: Vector) -> Point:
    """x with its images under both levels."""
    return place((problem.upper, problem.lower), x)


def look(problem: Problem, state: CutState) -> Here:
    """Both levels at the iterate."""
    point = state.point
    assert point is not None
    f, a = problem.upper.value_and_grad_at(point.x, point.images[0])
    g, c = problem.lower.value_and_grad_at(point.x, point.images[1])
    return Here(point, f, a, g, c)


def minimum_over_cut(problem: Problem, state: CutState, here: Here) -> Target:
    """The minimum of <a, s> over X_k of eq. (7), with the level in the place of g(x_0) and the slack of the problem."""
    a, c = here.a, here.c
    bound = float(c @ state.x) + state.level + problem.slack - here.g
    cut = problem.domain.lmo_cut(a, c, bound, warm=state.multiplier)
    if cut.status is CutStatus.INFEASIBLE:
        raise ValueError(
            "the cut of the lower level leaves nothing of the domain, which is impossible for a convex lower "
            "level with the right gradient: check both (tiebreak.check_gradient helps)"
        )
    away = state.x - cut.point
    return Target(cut, float(a @ away), float(c @ away))


def stepped(
    problem: Problem, state: CutState, here: Here, to: Target, rule: StepRule, tolerances: tuple[float, float]
) -> CutState:
    """The state at x + gamma (s - x), with the step size of the rule."""
    target = placed(problem, to.cut.point)
    gamma = rule.choose(
        state.k - state.first,
        lambda: Line(
            upper=_along(problem.upper, 0, here.point, target, here.f, -to.gap_f),
            lower=_along(problem.lower, 1, here.point, target, here.g, -to.gap_g),
            target_upper=here.f - to.gap_f,
            target_lower=state.level + problem.slack,
            floor_upper=state.f_lower,
            tol_upper=tolerances[0],
            tol_lower=tolerances[1],
        ),
    )
    point = mix(here.point, target, gamma)
    if (state.k + 1) % REFRESH == 0:
        point = placed(problem, point.x)
    multiplier = to.cut.multiplier if np.isfinite(to.cut.multiplier) else state.multiplier
    return replace(state, k=state.k + 1, x=point.x, point=point, multiplier=multiplier, memory=())


def _along(
    objective: Objective, which: int, x: Point, target: Point, value: float, slope: float
) -> Callable[[float], float]:
    """The objective at x + gamma (target - x): a parabola for a quadratic, otherwise through the images."""
    if objective.quadratic:
        step = difference(target, x)
        curvature = objective.curvature_along(step.x, step.images[which])
        assert curvature is not None
        return lambda gamma: value + gamma * (slope + 0.5 * gamma * curvature)

    def at(gamma: float) -> float:
        trial = mix(x, target, gamma)
        return objective.value_at(trial.x, trial.images[which])

    return at
