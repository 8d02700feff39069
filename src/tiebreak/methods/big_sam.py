"""BiG-SAM: a projected gradient step on g and a gradient step on f, averaged.

S. Sabach, S. Shtern, "A first order method for solving convex bilevel optimization problems", SIAM J. Optimization 27,
2017. It is SAM with these two maps and weights of order 1/k.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..arrays import Vector
from ..problem import Problem
from .base import MethodInfo
from .shared.averaging import Averaging, AveragingState, averaged, averaging_info
from .shared.curvature import strong_convexity
from .shared.options import check_positive
from .shared.projected import lipschitz


@dataclass(frozen=True)
class BiGSAM(Averaging[AveragingState]):
    """The bilevel gradient sequential averaging method.

    Parameters
    ----------
    eta_f, eta_g : float, optional
        The steps on f and g. Default: 2 / (L_f + mu_f) (1 / L_f where mu_f is not known) and 1 / L_g.
    gamma : float, optional
        The weight of the step on f in update k = 1, 2, ... is min(gamma / k, 1). Default: 2 / (1 - beta), beta the
        contraction factor of the step on f, as in the theorem; 2 where f is not known to be strongly convex.

    Notes
    -----
    The experiments of the CG-BiO paper: eta_f = 2 / L_f, eta_g = 1 / L_g, gamma = 10 (regression); 0.1, 0.1, 1
    (fairness); 0.1, 0.1, 10 (dictionary). Its authors' code has 2 gamma / k instead: give it twice that gamma. The
    reported point is y_k, the projected one; x_k may lie outside Z.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, BiGSAM(), tol_upper=1e-2, tol_lower=1e-2).x.round(1)
    array([0.5, 0.5])
    """

    gamma: float | None = None

    info: ClassVar[MethodInfo] = averaging_info(
        "big-sam", "Sabach, Shtern, SIAM J. Optimization 27, 2017", 2017, lower_rate="O(1/k)"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(self, "gamma")

    def start(self, problem: Problem, x0: Vector | None) -> AveragingState:
        state = self.begin(problem, x0)
        return replace(state, gamma=self.gamma or theorem_gamma(problem, state))

    def advance(self, problem: Problem, state: AveragingState) -> AveragingState:
        return averaged(problem, state, state.x, min(state.gamma / (state.k + 1), 1.0))


def theorem_gamma(problem: Problem, state: AveragingState) -> float:
    """2 / (1 - beta), where x -> x - eta_f grad f(x) contracts by beta; 2 where it is not known to contract."""
    mu = strong_convexity(problem.upper, problem.dim)
    L = max(lipschitz(problem, "upper", state.x), mu)
    beta = max(0.0, 1 - 2 * state.eta_f * mu * L / (mu + L)) ** 0.5
    return 2 / (1 - beta) if beta < 1 else 2.0
