"""Solodov's explicit descent method: one projected gradient step with Armijo's rule on g + sigma_k f, sigma_k -> 0.

M. V. Solodov, "An explicit descent method for bilevel convex optimization", J. Convex Analysis 14, 2007.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..arrays import Vector, as_scalar
from ..problem import Problem, start_point
from .base import MethodInfo, Solver, State
from .shared.options import check_positive, step_across, too_short
from .shared.projected import PROJECTION, balance
from .shared.theory import expect_convex


@dataclass(frozen=True, kw_only=True)
class SolodovState(State):
    """The weight sigma_0, and the step where each line search begins."""

    sigma0: float
    trial: float


@dataclass(frozen=True)
class Solodov(Solver[SolodovState]):
    """Armijo's projected gradient on g + sigma_k f with sigma_k = sigma0 / (k + 1) in update k = 0, 1, ...

    Parameters
    ----------
    sigma0 : float, optional
        Default: L_g / L_f, or 1 where one of them is unknown.
    trial : float, optional
        The first step size tried in each update. Default: 2 / (L_g + sigma0 L_f), or, where that is unknown, a step as
        long as Z is wide.
    shrink : float, default 1/2
        In (0, 1): a step that fails the test is shortened by this factor.
    theta : float, default 0.1
        In (0, 1): the part of the decrease promised by the gradient that a step must achieve.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, Solodov(), tol_upper=1e-2, tol_lower=1e-2).x.round(1)
    array([0.5, 0.5])
    """

    sigma0: float | None = None
    trial: float | None = None
    shrink: float = 0.5
    theta: float = 0.1

    needs: ClassVar[frozenset[str]] = PROJECTION
    info: ClassVar[MethodInfo] = MethodInfo(
        name="solodov",
        reference="Solodov, J. Convex Analysis 14, 2007",
        year=2007,
        assumptions="f and g convex and smooth",
        upper_rate="asymptotic",
        lower_rate="asymptotic",
        oracle="projection",
        anytime=True,
    )

    def __post_init__(self) -> None:
        check_positive(self, "sigma0", "trial")
        for name in ("shrink", "theta"):
            if not 0 < as_scalar(getattr(self, name), name) < 1:
                raise ValueError(f"{name} must be between 0 and 1, got {getattr(self, name):g}")

    def start(self, problem: Problem, x0: Vector | None) -> SolodovState:
        expect_convex(problem, self.info.name)
        x = start_point(problem) if x0 is None else x0
        bends = problem.upper.smoothness, problem.lower.smoothness
        sigma0 = self.sigma0 or (1.0 if None in bends else balance(problem, x))
        trial = self.trial
        if trial is None:
            L = 0.0 if bends[0] is None or bends[1] is None else bends[1] + sigma0 * bends[0]
            slope = problem.lower.grad(x) + sigma0 * problem.upper.grad(x)
            trial = 2 / L if L > 0 else step_across(problem, slope)
        return SolodovState(x=x, sigma0=sigma0, trial=trial)

    def advance(self, problem: Problem, state: SolodovState) -> SolodovState:
        sigma = state.sigma0 / (state.k + 1)
        f, a = problem.upper.value_and_grad(state.x)
        g, c = problem.lower.value_and_grad(state.x)
        slope, step = c + sigma * a, state.trial
        rounding = 8 * np.finfo(float).eps * (abs(g) + sigma * abs(f))  # below it no decrease can be seen
        size = float(np.linalg.norm(slope))
        while not too_short(state.x, step * size, state.trial * size):
            x = problem.domain.project(state.x - step * slope)
            promised = float(slope @ (x - state.x))
            change = (problem.lower.value(x) - g) + sigma * (problem.upper.value(x) - f)
            if change <= self.theta * promised + rounding:
                return replace(state, k=state.k + 1, x=x, multiplier=1 / sigma)
            step *= self.shrink
        return replace(state, k=state.k + 1, multiplier=1 / sigma)  # no step decreases it: perhaps the next weight does
