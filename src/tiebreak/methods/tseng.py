"""Tseng's method for simple bilevel problems: an accelerated step whose weight of g grows with k.

Y. Malitsky, "Chambolle-Pock and Tseng's methods: relationship and extension to the bilevel optimization", arXiv
1706.02602, 2017. For g = 1/2 ||Ax - b||^2 it is the Chambolle-Pock method on min f over Z and Ax = A x_g*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from ..arrays import Vector
from ..composite import How, Level, joint_prox
from ..problem import Problem, start_point
from .base import MethodInfo, Solver, State
from .shared.curvature import isotropic
from .shared.options import check_positive
from .shared.projected import NORMS, PROJECTION, lipschitz
from .shared.theory import expect_convex


@dataclass(frozen=True, kw_only=True)
class TsengState(State):
    """The average of the iterates so far, and both step sizes."""

    average: Vector
    tau: float
    sigma: float


@dataclass(frozen=True)
class Tseng(Solver[TsengState]):
    """Tseng's accelerated method with a vanishing weight of f.

    Parameters
    ----------
    sigma : float, optional
        In update k = 1, 2, ... the lower level has the weight sigma k. Default: L_f / L_g.
    tau : float, optional
        The step size. Default: the longest the theory allows: tau sigma L_g <= 1 where f is a squared distance, linear,
        or a sum of such (its prox is known), otherwise tau (L_f + sigma L_g) <= 1.

    Notes
    -----
    Norms in f and g are part of the prox over Z. Where that of the rest of f is not known, it enters by its gradient,
    as in the method of Condat and Vu; that this variant is covered by the paper is quoted from memory. The reported
    point is the average.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, Tseng(), tol_upper=1e-2, tol_lower=1e-2).x.round(1)
    array([0.5, 0.5])
    """

    sigma: float | None = None
    tau: float | None = None

    needs: ClassVar[frozenset[str]] = PROJECTION
    nonsmooth: ClassVar[Mapping[Level, How]] = NORMS
    info: ClassVar[MethodInfo] = MethodInfo(
        name="tseng",
        reference="Malitsky, arXiv 1706.02602, 2017",
        year=2017,
        assumptions="f convex with a prox over Z, or smooth; g convex, smooth plus norms",
        upper_rate="asymptotic",
        lower_rate="o(1/k)",
        oracle="projection",
        anytime=True,
    )

    def __post_init__(self) -> None:
        check_positive(self, "sigma", "tau")

    def start(self, problem: Problem, x0: Vector | None) -> TsengState:
        expect_convex(problem, self.info.name)
        x = start_point(problem) if x0 is None else x0
        sigma = self.sigma or lipschitz(problem, "upper", x) / lipschitz(problem, "lower", x)
        if self.tau is not None:
            return TsengState(x=x, average=x, tau=self.tau, sigma=sigma)
        bend = sigma * lipschitz(problem, "lower", x)
        has_prox = isotropic(problem.upper.smooth_part, problem.dim) is not None
        tau = 0.99 / bend if has_prox else 1 / (lipschitz(problem, "upper", x) + bend)
        return TsengState(x=x, average=x, tau=tau, sigma=sigma)

    def advance(self, problem: Problem, state: TsengState) -> TsengState:
        k = state.k + 1
        w = ((k - 1) * state.average + state.x) / k
        v = state.x - state.tau * state.sigma * k * problem.lower.smooth_part.grad(w)
        if simple := isotropic(problem.upper.smooth_part, problem.dim):
            mu, c = simple
            v, step = (v + state.tau * c) / (1 + state.tau * mu), state.tau / (1 + state.tau * mu)
        else:
            v, step = v - state.tau * problem.upper.smooth_part.grad(state.x), state.tau
        norms = (*problem.upper.norms, *(norm.scaled(state.sigma * k) for norm in problem.lower.norms))
        x = joint_prox(problem.domain, norms, v, step)
        average = ((k - 1) * state.average + x) / k
        return replace(state, k=k, x=x, average=average, multiplier=state.sigma * k)

    def solution(self, state: TsengState) -> Vector:
        return state.average
