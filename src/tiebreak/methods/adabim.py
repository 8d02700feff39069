"""AdaBiM: proximal gradient on g + sigma_k f whose steps adapt to the local curvature; no Lipschitz constants.

P. Latafat, A. Themelis, S. Villa, P. Patrinos, "On the convergence of proximal gradient methods for convex simple
bilevel optimization", J. Optimization Theory and Applications, 2024.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from ..arrays import Vector
from ..composite import How, Level, joint_prox
from ..problem import Problem, start_point
from .base import MethodInfo, Solver
from .shared.backtracking import by_differences
from .shared.options import too_short
from .shared.projected import NORMS, PROJECTION, norms_of
from .shared.theory import expect_convex
from .shared.weight import WeightState, next_weight

MAX_GROWTH = 1e6
"""No step is longer than this many times the first one."""

SAFETY = 0.98
"""A step is halved until step * (curvature along it) is at most this."""


class Slopes(NamedTuple):
    """The gradients of both smooth parts at a point x."""

    x: Vector
    upper: Vector
    lower: Vector

    @classmethod
    def at(cls, problem: Problem, x: Vector) -> Slopes:
        """Evaluated at x."""
        return cls(x, problem.upper.smooth_part.grad(x), problem.lower.smooth_part.grad(x))

    def of(self, weight: float) -> Vector:
        """The gradient of g + weight f."""
        return self.lower + weight * self.upper


@dataclass(frozen=True, kw_only=True)
class AdaState(WeightState):
    """Gradients at x and at the iterate before it, the last two steps, and sigma_{k-1}."""

    here: Slopes
    before: Slopes
    step: float
    step_before: float
    first_step: float
    sigma_before: float = 1.0


@dataclass(frozen=True)
class AdaBiM(Solver[AdaState]):
    """The adaptive bilevel method, for f and g that are smooth (how smooth, it finds out) plus norms: no parameters.

    The first step and the unit of sigma_k come from finite differences of the gradients at the start.

    Examples
    --------
    >>> import tiebreak as tb
    >>> g = tb.Function(lambda x: (x.sum() - 1) ** 2, lambda x: 2 * (x.sum() - 1) + 0 * x, dim=2, convex=True)
    >>> result = tb.solve(tb.Problem(tb.SquaredNorm(), g, tb.L1Ball(2.0)), "adabim", tol_upper=1e-2, tol_lower=1e-3)
    >>> result.success
    True
    """

    needs: ClassVar[frozenset[str]] = PROJECTION
    nonsmooth: ClassVar[Mapping[Level, How]] = NORMS
    info: ClassVar[MethodInfo] = MethodInfo(
        name="adabim",
        reference="Latafat, Themelis, Villa, Patrinos, JOTA 2024",
        year=2023,
        assumptions="f and g convex, plus norms; gradients locally Lipschitz",
        upper_rate="converges",
        lower_rate="O(1/k)",
        oracle="projection",
        anytime=True,
    )

    def start(self, problem: Problem, x0: Vector | None) -> AdaState:
        expect_convex(problem, self.info.name)
        x = start_point(problem) if x0 is None else x0
        here = Slopes.at(problem, x)
        upper, lower = (by_differences(problem, part, x) for part in (problem.upper, problem.lower))
        unit = lower / upper
        step = 1 / (2 * lower)
        return AdaState(
            x=x, sigma=1.0, unit=unit, here=here, before=here, step=step, step_before=step, first_step=step
        )  # fmt: skip

    def advance(self, problem: Problem, state: AdaState) -> AdaState:
        sigma = next_weight(state.sigma, state.k + 1)
        step = min(self._proposed(state, sigma), MAX_GROWTH * state.first_step)
        here, weight = state.here, sigma * state.unit
        norms = norms_of(problem, weight)
        slope = here.of(weight)
        first, size = step, float(np.linalg.norm(slope))
        while True:
            v = here.x - step * slope
            there = Slopes.at(problem, joint_prox(problem.domain, norms, v, step))
            move = there.x - here.x
            length = float(np.linalg.norm(move))
            if length <= 1e-13 * float(np.linalg.norm(here.x) + np.linalg.norm(there.x)):
                break  # too short for its curvature to be told from rounding
            if step * float((there.of(weight) - slope) @ move) <= SAFETY * length**2:
                break
            if too_short(here.x, step * size, first * size):
                break  # projections that do not return what is in Z, or gradients that are noise
            step /= 2
        return replace(
            state, k=state.k + 1, x=there.x, here=there, before=here, step=step, step_before=state.step,
            sigma=sigma, sigma_before=state.sigma, multiplier=1 / weight,
        )  # fmt: skip

    def _proposed(self, state: AdaState, sigma: float) -> float:
        """gamma_{k+1} from the curvatures of the last step and the two falls of sigma."""
        move = state.here.x - state.before.x
        size = float(move @ move)
        if size == 0:
            return state.step
        weight = state.sigma * state.unit
        change = state.here.of(weight) - state.before.of(weight)
        along = max(float(change @ move), 0.0)
        L = along / size
        C = float(change @ change) / along if along > 0 else 0.0
        L_lower = max(float((state.here.lower - state.before.lower) @ move), 0.0) / size
        gamma, fall_before, fall = state.step, state.sigma / state.sigma_before, sigma / state.sigma
        growth = sqrt((1 + gamma / state.step_before * fall_before) * fall_before)
        excess = gamma * L * (gamma * C - 1)
        room = 1 - 4 * (1 - fall_before) * gamma * L_lower
        by_curvature = sqrt(max(room, 0.0)) / (2 * sqrt(excess)) if excess > 0 else inf
        return gamma / fall * min(growth, by_curvature)
