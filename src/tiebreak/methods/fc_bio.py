"""FC-BiO: bisection on t, where f <= t and g <= g* together is a minimax problem solved by accelerated gradients.

H. Zhang, L. Chen, J. Xu, J. Zhang, "Functionally constrained algorithm solves convex simple bilevel problems", NeurIPS
2024 (arXiv 2409.06530), for smooth objectives.

For a threshold t, psi(x) = max{f(x) - t, kappa (g(x) - level)} with kappa = eps_f / eps_g is minimised over Z by
Nesterov's method for the maximum of smooth functions: x+ minimises the maximum of both linear models at y plus
L/2 ||x - y||^2. psi(x) <= eps_f / 2 reaches t; a positive lower bound on psi, or enough steps without success, put it
out of reach.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from ..arrays import Vector
from ..problem import Problem, start_point
from ..sets.cuts.dual import falling_root
from .base import MethodInfo
from .shared.bisection import Bisection, BisectionState, begin_bisection, lower_phase, narrowed
from .shared.projected import PROJECTION, lipschitz
from .shared.theory import expect


class Model(NamedTuple):
    """The linear models of f - t and of kappa (g - level) around y: values there, and slopes."""

    y: Vector
    f: float
    g: float
    a: Vector
    c: Vector

    def slope(self, w: float) -> Vector:
        """The gradient of the mix w (f - t) + (1 - w) kappa (g - level)."""
        return w * self.a + (1 - w) * self.c

    def lead(self, x: Vector) -> float:
        """By how much the first model exceeds the second one at x."""
        return self.f - self.g + float((self.a - self.c) @ (x - self.y))

    def bound(self, problem: Problem, w: float) -> float:
        """A lower bound on psi over Z: the mix of both models there."""
        slope = self.slope(w)
        return w * self.f + (1 - w) * self.g + float(slope @ (problem.domain.lmo(slope) - self.y))


@dataclass(frozen=True)
class FCBiO(Bisection):
    """The functionally constrained bilevel method, for smooth f and g.

    Its inner method for smooth objectives is from memory of the paper; the count of inner steps follows from the
    bound of FISTA, and the early end of a hopeless threshold (one linear minimisation a step) is added here.

    Parameters
    ----------
    tol_upper, tol_lower : float, optional
        eps_f and eps_g; default: the tolerances of the run.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, FCBiO(), tol_upper=1e-2, tol_lower=1e-2).success
    True
    """

    needs: ClassVar[frozenset[str]] = PROJECTION | {"domain.lmo"}
    info: ClassVar[MethodInfo] = MethodInfo(
        name="fc-bio",
        reference="Zhang, Chen, Xu, Zhang, NeurIPS 2024",
        year=2024,
        assumptions="f and g convex and smooth, Z compact",
        upper_rate="eps in O(eps^-1/2 log(1/eps)) steps",
        lower_rate="the same",
        oracle="projection",
        anytime=False,
    )

    def start(self, problem: Problem, x0: Vector | None) -> BisectionState:
        expect(problem.upper.convex, self.info.name, "a convex upper level")
        x = start_point(problem) if x0 is None else x0
        f, a = problem.upper.value_and_grad(x)
        return begin_bisection(problem, x, low=f + float(a @ (problem.domain.lmo(a) - x)))

    def advance(self, problem: Problem, state: BisectionState) -> BisectionState:
        eps_f, eps_g = self.tolerances
        if state.inner is None:
            return lower_phase(problem, state, eps_g)
        kappa, t, level = eps_f / eps_g, state.middle, state.level + problem.slack
        L = max(lipschitz(problem, "upper", state.x), kappa * lipschitz(problem, "lower", state.x))
        f, a = problem.upper.value_and_grad(state.inner.y)
        g, c = problem.lower.value_and_grad(state.inner.y)
        model = Model(state.inner.y, f - t, kappa * (g - level), a, kappa * c)
        x, w = minimax_step(problem, model, L)
        inner = state.inner.to(x)
        psi = max(problem.upper.value(x) - t, kappa * (problem.lower.value(x) - level))
        error = L * problem.domain.diameter**2 / (2 * state.inner.t**2)

        state = replace(state, k=state.k + 1, x=x, inner=inner, multiplier=kappa * (1 - w) / w if w > 0 else 0.0)
        eps = eps_f * state.shrink
        reached = psi <= eps / 2
        # a bound of the size of rounding says nothing
        if reached or error <= eps / 2 or model.bound(problem, w) > eps / 16:
            return narrowed(problem, state, x, reached=reached, tol_upper=eps_f)
        return state


def minimax_step(problem: Problem, model: Model, L: float) -> tuple[Vector, float]:
    """The minimiser over Z of the larger model plus L/2 ||x - y||^2, and the weight w of the first model in it.

    By duality it is the projection of y - slope(w) / L for the w in [0, 1] at which both models agree, or the end at
    which one of them leads; the lead falls as w grows.
    """

    def point(w: float) -> Vector:
        return problem.domain.project(model.y - model.slope(w) / L)

    def lead(w: float) -> float:
        return model.lead(point(w))

    if lead(1.0) >= 0:
        return point(1.0), 1.0
    first = lead(0.0)
    if first <= 0:
        return point(0.0), 0.0
    w = falling_root(lead, 0.0, 1.0, first, xtol=1e-13)
    return point(w), w
