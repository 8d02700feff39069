"""SAM: averages of a contraction and a nonexpansive map, the latter with ever more weight.

H.-K. Xu, "Viscosity approximation methods for nonexpansive mappings", J. Math. Anal. Appl. 298, 2004. Here
T(x) = Proj_Z(x - t grad g(x)), whose fixed points are the lower solutions, and S(x) = x - s grad f(x). With norms in g,
T is the proximal gradient step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..arrays import Vector, as_scalar
from ..problem import Problem
from .base import MethodInfo
from .shared.averaging import Averaging, AveragingState, averaged, averaging_info


@dataclass(frozen=True)
class SAM(Averaging[AveragingState]):
    """The sequential averaging method, with the weights (k + 1)^-power of S.

    Parameters
    ----------
    eta_f, eta_g : float, optional
        The steps of S and T. Default: 2 / (L_f + mu_f) (1 / L_f where mu_f is not known) and 1 / L_g.
    power : float, default 0.75
        In (0, 1]. Xu's theorem allows all of them; 1 brings g down fastest, but makes progress on f no better than
        k^-(1 - contraction factor of S). BiG-SAM is the case of power 1 with a factor.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, SAM(power=1.0), tol_upper=1e-2, tol_lower=1e-2).success
    True
    """

    power: float = 0.75

    info: ClassVar[MethodInfo] = averaging_info("sam", "Xu, J. Math. Anal. Appl. 298, 2004", 2004)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < as_scalar(self.power, "power") <= 1:
            raise ValueError(f"power must be in (0, 1], got {self.power:g}")

    def start(self, problem: Problem, x0: Vector | None) -> AveragingState:
        return self.begin(problem, x0)

    def advance(self, problem: Problem, state: AveragingState) -> AveragingState:
        return averaged(problem, state, state.x, (state.k + 1) ** -self.power)
