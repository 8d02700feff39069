"""iBiG-SAM: BiG-SAM from an extrapolated point.

Y. Shehu, P. T. Vuong, A. Zemkoho, "An inertial extrapolation method for convex simple bilevel optimization",
Optimization Methods and Software 36, 2021. The admissible ranges and the exponent 0.01 below are quoted from memory.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np

from ..arrays import Vector, as_scalar
from ..problem import Problem
from .base import MethodInfo
from .shared.averaging import Averaging, AveragingState, averaged, averaging_info
from .shared.options import check_positive


@dataclass(frozen=True, kw_only=True)
class InertialAveragingState(AveragingState):
    """Also the iterate before x."""

    previous: Vector


@dataclass(frozen=True)
class IBiGSAM(Averaging[InertialAveragingState]):
    """BiG-SAM with inertia.

    Parameters
    ----------
    eta_f, eta_g : float, optional
        The steps on f and g. Default: 2 / (L_f + mu_f) (1 / L_f where mu_f is not known) and 1 / L_g.
    alpha : float, default 3
        At least 3: in update k = 1, 2, ... the extrapolation is at most k / (k + alpha - 1).
    gamma : float, default 2
        The weight of the step on f is beta_k = min(gamma / k, 1). The extrapolation is no longer than beta_k / k^0.01.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, IBiGSAM(), tol_upper=1e-2, tol_lower=1e-2).x.round(1)
    array([0.5, 0.5])
    """

    alpha: float = 3.0
    gamma: float = 2.0

    info: ClassVar[MethodInfo] = averaging_info(
        "ibig-sam", "Shehu, Vuong, Zemkoho, Optimization Methods and Software 36, 2021", 2021
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "gamma")
        if as_scalar(self.alpha, "alpha") < 3:
            raise ValueError(f"alpha must be at least 3, got {self.alpha:g}")

    def start(self, problem: Problem, x0: Vector | None) -> InertialAveragingState:
        state = self.begin(problem, x0)
        known = {one.name: getattr(state, one.name) for one in fields(state)}
        return InertialAveragingState(**known, previous=state.x)

    def advance(self, problem: Problem, state: InertialAveragingState) -> InertialAveragingState:
        k = state.k + 1
        beta = min(self.gamma / k, 1.0)
        move = state.x - state.previous
        theta, length = k / (k + self.alpha - 1), float(np.linalg.norm(move))
        if length > 0:
            theta = min(theta, beta / k**0.01 / length)
        after = averaged(problem, state, state.x + theta * move, beta)
        return replace(after, previous=state.x)
