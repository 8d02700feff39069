"""StaBiM: proximal gradient on g + sigma_k f with sigma_k of the order 1/k and a step that follows sigma_k.

P. Latafat, A. Themelis, S. Villa, P. Patrinos, "On the convergence of proximal gradient methods for convex simple
bilevel optimization", J. Optimization Theory and Applications, 2024.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from ..arrays import Vector
from ..composite import How, Level
from ..problem import Problem, start_point
from .base import MethodInfo, Solver
from .shared.projected import NORMS, PROJECTION, balance, gradient_step, total_lipschitz
from .shared.theory import expect_convex
from .shared.weight import WeightState, next_weight


@dataclass(frozen=True)
class StaBiM(Solver[WeightState]):
    """The static bilevel method, for f and g that are smooth plus norms: no parameters.

    The weight sigma_k starts at L_g / L_f and the step is 0.99 / (L_g + sigma_k L_f).

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, StaBiM(), tol_upper=1e-3, tol_lower=1e-3).success
    True
    """

    needs: ClassVar[frozenset[str]] = PROJECTION
    nonsmooth: ClassVar[Mapping[Level, How]] = NORMS
    info: ClassVar[MethodInfo] = MethodInfo(
        name="stabim",
        reference="Latafat, Themelis, Villa, Patrinos, JOTA 2024",
        year=2023,
        assumptions="f and g convex, smooth plus norms",
        upper_rate="converges",
        lower_rate="O(1/k)",
        oracle="projection",
        anytime=True,
    )

    def start(self, problem: Problem, x0: Vector | None) -> WeightState:
        expect_convex(problem, self.info.name)
        x = start_point(problem) if x0 is None else x0
        return WeightState(x=x, sigma=1.0, unit=balance(problem, x))

    def advance(self, problem: Problem, state: WeightState) -> WeightState:
        sigma = next_weight(state.sigma, state.k + 1)
        weight = sigma * state.unit
        x = gradient_step(problem, state.x, weight, 0.99 / total_lipschitz(problem, weight, state.x))
        return replace(state, k=state.k + 1, x=x, sigma=sigma, multiplier=1 / weight)
