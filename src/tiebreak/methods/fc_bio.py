"""FC-BiO: bisection on t, where f <= t and g <= g* together is a minimax problem solved by accelerated gradients.

H. Zhang, L. Chen, J. Xu, J. Zhang, "Functionally constrained algorithm solves convex simple bilevel problems", NeurIPS
2024 (arXiv 2409.06530), for smooth objectives and for Lipschitz ones.

For a threshold t, psi(x) = max{f(x) - t, kappa (g(x) - level)} with kappa = eps_f / eps_g is minimised over Z by
Nesterov's method for the maximum of smooth functions: x+ minimises the maximum of both linear models at y plus
L/2 ||x - y||^2. psi(x) <= eps_f / 2 reaches t; a positive lower bound on psi, or enough steps without success, put it
out of reach.

Where a level has kinks, psi is minimised by projected subgradients, which are those of the larger of its two parts, as
in the form of the paper for Lipschitz functions; O(1/eps^2) steps a threshold. The bound on psi is that of the mean of
all linear models (``shared/descent.py``), and so is that on g in the phase before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import ClassVar, NamedTuple

from ..arrays import Vector
from ..composite import How, Level
from ..problem import Problem, start_point
from ..sets.cuts.dual import falling_root
from .base import MethodInfo
from .shared.bisection import Bisection, BisectionState, begin_bisection, found_level, lower_phase, narrowed
from .shared.descent import Descent
from .shared.projected import PROJECTION, lipschitz
from .shared.theory import expect


@dataclass(frozen=True, kw_only=True)
class FCBiOState(BisectionState):
    """Also the subgradient runs where a level has kinks.

    Attributes
    ----------
    on_lower : Descent or None
        That on g; None where both levels are smooth.
    descent : Descent or None
        That on psi of the current threshold.
    """

    on_lower: Descent | None = None
    descent: Descent | None = None


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
class FCBiO(Bisection[FCBiOState]):
    """The functionally constrained bilevel method, for convex f and g, smooth or with bounded subgradients.

    Its inner method for smooth objectives is from memory of the paper; the count of inner steps follows from the
    bound of FISTA, and the early end of a hopeless threshold (one linear minimisation a step) is added here. With
    kinks the steps are as long as the subgradients so far allow, where the paper's are D / (L sqrt(K)) with a count K
    that is fixed before.

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
    nonsmooth: ClassVar[Mapping[Level, How]] = {"upper": "subgradient", "lower": "subgradient"}
    info: ClassVar[MethodInfo] = MethodInfo(
        name="fc-bio",
        reference="Zhang, Chen, Xu, Zhang, NeurIPS 2024",
        year=2024,
        assumptions="f and g convex, smooth or Lipschitz, Z compact",
        upper_rate="eps in O(eps^-1/2 log(1/eps)) steps; Lipschitz: O(eps^-2 log(1/eps))",
        lower_rate="the same",
        oracle="projection",
        anytime=False,
    )

    def start(self, problem: Problem, x0: Vector | None) -> FCBiOState:
        expect(problem.upper.convex, self.info.name, "a convex upper level")
        x = start_point(problem) if x0 is None else x0
        f, a = problem.upper.value_and_grad(x)
        begun = begin_bisection(problem, x, low=f + float(a @ (problem.domain.lmo(a) - x)))
        smooth = problem.upper.differentiable and problem.lower.differentiable
        known = {one.name: getattr(begun, one.name) for one in fields(begun)}
        return FCBiOState(**known, on_lower=None if smooth else Descent.at(x))

    def advance(self, problem: Problem, state: FCBiOState) -> FCBiOState:
        eps_f, eps_g = self.tolerances
        if state.inner is None:
            if state.on_lower is None:
                return lower_phase(problem, state, eps_g)
            return self._kinks_below(problem, state, state.on_lower)
        if state.on_lower is not None:
            return self._kinks(problem, state)
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

    def _kinks_below(self, problem: Problem, state: FCBiOState, run: Descent) -> FCBiOState:
        """A subgradient step on g; the search begins once the best point is proved to be within eps_g / 2 of g*."""
        eps_g = self.tolerances[1] * state.shrink
        run = run.step(problem, *problem.lower.value_and_grad(run.x))
        state = replace(state, k=state.k + 1, x=run.x, on_lower=run)
        if run.least < state.level:
            state = replace(state, level=run.least, anchor=run.best)
        if state.shrink == 1.0:
            state = replace(state, best=run.best)
        if state.level - run.below(problem) > eps_g / 2:
            return state
        return found_level(problem, state, state.level + problem.slack + eps_g / 2)

    def _kinks(self, problem: Problem, state: FCBiOState) -> FCBiOState:
        """A subgradient step on psi, and the end of the threshold that it reaches or puts out of reach."""
        (eps_f, eps_g), run = self.tolerances, state.descent or Descent.at(state.best)
        kappa, level = eps_f / eps_g, state.level + problem.slack
        f, a = problem.upper.value_and_grad(run.x)
        g, c = problem.lower.value_and_grad(run.x)
        over, above = f - state.middle, kappa * (g - level)
        run = run.step(problem, max(over, above), a if over >= above else kappa * c, on_upper=over >= above)
        weight = kappa * (run.count - run.on_upper) / run.on_upper if run.on_upper else 0.0
        state = replace(state, k=state.k + 1, x=run.x, descent=run, multiplier=weight)
        eps = eps_f * state.shrink
        reached = run.least <= eps / 2
        if reached or run.below(problem) > eps / 16:
            return replace(narrowed(problem, state, run.best, reached=reached, tol_upper=eps_f), descent=None)
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
