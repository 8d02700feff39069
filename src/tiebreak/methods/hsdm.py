"""HSDM: a step on f, ever shorter, from the image of a nonexpansive map.

I. Yamada, "The hybrid steepest descent method for the variational inequality problem over the intersection of fixed
point sets of nonexpansive mappings", 2001. Here T(x) = Proj_Z(x - t grad g(x)), whose fixed points are the lower
solutions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..arrays import Vector
from ..problem import Problem
from .base import MethodInfo
from .shared.averaging import Averaging, AveragingState, averaging_info
from .shared.projected import gradient_step


@dataclass(frozen=True)
class HSDM(Averaging[AveragingState]):
    """The hybrid steepest descent method, with steps eta_f / k on f in update k = 1, 2, ...

    Parameters
    ----------
    eta_f : float, optional
        Default: 2 / (L_f + mu_f) (1 / L_f where mu_f is not known). The theorem asks for steps below 2 mu_f / L_f^2,
        which eta_f / k is from some k on.
    eta_g : float, optional
        The step t of the map T. Default: 1 / L_g.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, HSDM(), tol_upper=1e-2, tol_lower=1e-2).x.round(1)
    array([0.5, 0.5])
    """

    info: ClassVar[MethodInfo] = averaging_info(
        "hsdm", "Yamada, in Inherently Parallel Algorithms in Feasibility and Optimization, 2001", 2001
    )

    def start(self, problem: Problem, x0: Vector | None) -> AveragingState:
        return self.begin(problem, x0)

    def advance(self, problem: Problem, state: AveragingState) -> AveragingState:
        step = state.eta_f / (state.k + 1)
        y = gradient_step(problem, state.x, 0.0, state.eta_g)
        x = y - step * problem.upper.grad(y)
        return replace(state, k=state.k + 1, x=x, y=y, multiplier=state.eta_g / step)
