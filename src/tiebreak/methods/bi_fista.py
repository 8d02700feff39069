"""Bi-FISTA: FISTA on g + eps_k f with vanishing weights and shifted schedules.

R. I. Boţ, E. Chenchene, E. R. Csetnek, D. A. Hulett, "Accelerating diagonal methods for bilevel optimization: unified
convergence via continuous-time dynamics", 2025 (arXiv 2505.14389).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from ..arrays import Vector, as_positive
from ..composite import How, Level
from ..problem import Problem, start_point
from .base import MethodInfo, Solver
from .shared.projected import NORMS, PROJECTION, InertialState, balance, gradient_step, total_lipschitz
from .shared.theory import expect_convex


@dataclass(frozen=True)
class BiFISTA(Solver[InertialState]):
    """The accelerated diagonal method, for f and g that are smooth plus norms.

    Parameters
    ----------
    delta : float
        eps_k = c (k + weight_shift + 1)^-delta; in (1, 2).
    alpha : float
        Above 3; the momentum is 1 - alpha / (k + momentum_shift + 1), at least 0.
    c : float, optional
        Default: 10 L_g / L_f (10 in the public experiments; the factor frees it from units).
    weight_shift, momentum_shift : float
        10 and 20 as in the public experiments.

    Notes
    -----
    The step is 0.95 / (L_g + eps_0 L_f); the public experiments leave out the second term. Gradients are taken at
    extrapolated points, which may lie outside Z.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, BiFISTA(), tol_upper=1e-3, tol_lower=1e-3).success
    True
    """

    delta: float = 1.5
    alpha: float = 4.0
    c: float | None = None
    weight_shift: float = 10.0
    momentum_shift: float = 20.0

    needs: ClassVar[frozenset[str]] = PROJECTION
    nonsmooth: ClassVar[Mapping[Level, How]] = NORMS
    info: ClassVar[MethodInfo] = MethodInfo(
        name="bi-fista",
        reference="Boţ, Chenchene, Csetnek, Hulett, arXiv 2505.14389, 2025",
        year=2025,
        assumptions="f and g convex, smooth plus norms, Hölderian growth of g",
        upper_rate="in delta and the growth of g",
        lower_rate="O(k^-delta)",
        oracle="projection",
        anytime=True,
    )

    def __post_init__(self) -> None:
        if not 1 < as_positive(self.delta, "delta") < 2:
            raise ValueError(f"delta must be in (1, 2), got {self.delta:g}")
        if as_positive(self.alpha, "alpha") <= 3:
            raise ValueError(f"alpha must be above 3, got {self.alpha:g}")
        if self.c is not None:
            as_positive(self.c, "c")
        as_positive(self.weight_shift, "weight_shift")
        as_positive(self.momentum_shift, "momentum_shift")

    def start(self, problem: Problem, x0: Vector | None) -> InertialState:
        expect_convex(problem, self.info.name)
        x = start_point(problem) if x0 is None else x0
        return InertialState(x=x, previous=x, unit=self.c or 10 * balance(problem, x))

    def advance(self, problem: Problem, state: InertialState) -> InertialState:
        k, x = state.k, state.x
        eps_0, eps = (state.unit * (j + self.weight_shift + 1) ** -self.delta for j in (0, k))
        step = 0.95 / total_lipschitz(problem, eps_0, x)
        momentum = max(0.0, 1 - self.alpha / (k + self.momentum_shift + 1))
        new = gradient_step(problem, x + momentum * (x - state.previous), eps, step)
        return replace(state, k=k + 1, x=new, previous=x, multiplier=1 / eps)
