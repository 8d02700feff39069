"""a-IRG: projected gradient on g + eta_k f with eta_k -> 0, averaged.

H. D. Kaushik, F. Yousefian, "A method with convergence rates for optimization problems with variational inequality
constraints", SIAM J. Optimization 31, 2021.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from ..arrays import Vector, as_scalar
from ..composite import How, Level
from ..problem import Problem, start_point
from .base import MethodInfo, Solver, State
from .shared.options import check_positive
from .shared.projected import PROJECTION, balance, lipschitz
from .shared.subgradients import by_subgradients, steepness
from .shared.theory import expect_convex


@dataclass(frozen=True, kw_only=True)
class AIRGState(State):
    """The average of the iterates with weights gamma_k^r and the sum of these weights; the scales of both sequences."""

    mean: Vector
    weight: float
    gamma0: float
    eta0: float


@dataclass(frozen=True)
class AIRG(Solver[AIRGState]):
    """The averaged iteratively regularised gradient method.

    Parameters
    ----------
    gamma0 : float, optional
        The step of update k = 0, 1, ... is gamma0 / sqrt(k + 1). Default: 1 / (L_g + eta0 L_f); where a level is known
        by subgradients, the width of Z over the Lipschitz constants of the levels themselves, summed in the same way.
    eta0 : float, optional
        The weight of f in update k is eta0 / (k + 1)^b. Default: 0.1 L_g / L_f (of the levels themselves likewise).
    b : float, default 1/4
        In (0, 1/2): the rates are O(1 / k^(1/2 - b)) for f and O(1 / k^b) for g.
    r : float, default 1/2
        In [0, 1): the average gives x_k the weight of its step to the power r.
    average : bool, default True
        Report the average, to which the theorem applies; False: the last iterate, as in the experiments of the CG-BiO
        paper (gamma0 = 0.01, eta0 = 1 in the regression and the dictionary, 5 and 0.1 in the fair classifier).

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, AIRG(), max_iter=1000).certificate.lower_gap < 0.05  # from 0.5; the rate is k^-1/4
    True
    """

    gamma0: float | None = None
    eta0: float | None = None
    b: float = 0.25
    r: float = 0.5
    average: bool = True

    needs: ClassVar[frozenset[str]] = PROJECTION
    nonsmooth: ClassVar[Mapping[Level, How]] = {"upper": "subgradient", "lower": "subgradient"}
    info: ClassVar[MethodInfo] = MethodInfo(
        name="a-irg",
        reference="Kaushik, Yousefian, SIAM J. Optimization 31, 2021",
        year=2021,
        assumptions="f and g convex, Z compact",
        upper_rate="O(1/k^(1/2 - b)), b in (0, 1/2)",
        lower_rate="O(1/k^b)",
        oracle="projection",
        anytime=True,
    )

    def __post_init__(self) -> None:
        check_positive(self, "gamma0", "eta0")
        if not 0 < as_scalar(self.b, "b") < 0.5:
            raise ValueError(f"b must be between 0 and 1/2, got {self.b:g}")
        if not 0 <= as_scalar(self.r, "r") < 1:
            raise ValueError(f"r must be at least 0 and below 1, got {self.r:g}")

    def start(self, problem: Problem, x0: Vector | None) -> AIRGState:
        expect_convex(problem, self.info.name)
        x = start_point(problem) if x0 is None else x0
        eta0, gamma0 = self.eta0, self.gamma0
        if by_subgradients(problem):  # no gradient has a Lipschitz constant: steps as long as Z is wide
            steep = [steepness(problem, level, x) for level in ("lower", "upper")]
            eta0 = eta0 or 0.1 * steep[0] / steep[1]
            gamma0 = gamma0 or problem.domain.diameter / (steep[0] + eta0 * steep[1])
        eta0 = eta0 or 0.1 * balance(problem, x)
        gamma0 = gamma0 or 1 / (lipschitz(problem, "lower", x) + eta0 * lipschitz(problem, "upper", x))
        return AIRGState(x=x, mean=x, weight=gamma0**self.r, gamma0=gamma0, eta0=eta0)

    def advance(self, problem: Problem, state: AIRGState) -> AIRGState:
        k = state.k
        eta = state.eta0 / (k + 1) ** self.b
        slope = problem.lower.grad(state.x) + eta * problem.upper.grad(state.x)
        x = problem.domain.project(state.x - state.gamma0 / (k + 1) ** 0.5 * slope)
        share = (state.gamma0 / (k + 2) ** 0.5) ** self.r
        weight = state.weight + share
        mean = state.mean + share / weight * (x - state.mean)
        return replace(state, k=k + 1, x=x, mean=mean, weight=weight, multiplier=1 / eta)

    def solution(self, state: AIRGState) -> Vector:
        return state.mean if self.average else state.x
