"""Bisec-BiO: bisection on c, where the minimum of g over {x in Z : f(x) <= c} tells whether c is below f*.

J. Wang, X. Shi, R. Jiang, "Near-optimal convex simple bilevel optimization with a bisection method", AISTATS 2024
(arXiv 2402.05415).

Each threshold is a run of FISTA on g over Z and {f <= c}. It is reached where g(x) <= level + eps_g / 2, and out of
reach after enough steps, or as soon as linear models of g and f show that g > level wherever f <= c.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar

import numpy as np

from ..arrays import Vector
from ..problem import Problem, start_point
from ..sets.base import CutStatus
from ..sets.cuts.dual import falling_root
from .base import MethodInfo
from .shared.bisection import Bisection, BisectionState, begin_bisection, lower_phase, narrowed
from .shared.curvature import isotropic
from .shared.projected import lipschitz


@dataclass(frozen=True)
class BisecBiO(Bisection[BisectionState]):
    """The bisection-based bilevel method, for smooth g and an f that is linear or a multiple of 1/2 ||x - a||^2.

    For other f the projection onto {f <= c} and Z has no simple form, and the method refuses. The early end of a
    hopeless threshold (one linear minimisation over a cut of Z a step) is added here.

    Parameters
    ----------
    tol_upper, tol_lower
        As for ``FCBiO``.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.Linear([1.0, 2.0]), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.Box(0.0, 1.0))
    >>> tb.solve(problem, "bisec-bio", tol_upper=1e-2, tol_lower=1e-2).x.round(1)  # the cheaper of two ways to sum to 1
    array([1., 0.])
    """

    needs: ClassVar[frozenset[str]] = frozenset(
        {"upper.grad", "lower.grad", "domain.lmo", "domain.lmo_cut", "domain.project", "domain.project_cut"}
    )
    info: ClassVar[MethodInfo] = MethodInfo(
        name="bisec-bio",
        reference="Wang, Shi, Jiang, AISTATS 2024",
        year=2024,
        assumptions="f linear or 1/2 ||x - a||^2, g convex and smooth, Z compact",
        upper_rate="eps in O(eps^-1/2 log(1/eps)) steps",
        lower_rate="the same",
        oracle="projection onto Z and {f <= c}",
        anytime=False,
    )

    def start(self, problem: Problem, x0: Vector | None) -> BisectionState:
        x = start_point(problem) if x0 is None else x0
        mu, c = _simple(problem)
        least = problem.domain.lmo(-c) if mu == 0 else problem.domain.project(c / mu)
        return begin_bisection(problem, x, low=problem.upper.value(least))

    def advance(self, problem: Problem, state: BisectionState) -> BisectionState:
        eps_f, eps_g = self.tolerances
        if state.inner is None:
            return lower_phase(problem, state, eps_g)
        L = lipschitz(problem, "lower", state.x)
        y, level = state.inner.y, state.level + problem.slack
        g, c = problem.lower.value_and_grad(y)
        x = project_sublevel(problem, y - c / L, state.middle)
        inner = state.inner.to(x)
        error = L * problem.domain.diameter**2 / (2 * state.inner.t**2)

        state = replace(state, k=state.k + 1, x=x, inner=inner)
        eps = eps_g * state.shrink
        reached = problem.lower.value(x) <= level + eps / 2
        # a bound of the size of rounding says nothing
        if reached or error <= eps / 2 or self._lower_bound(problem, y, g, c, state.middle) > level + eps / 16:
            return narrowed(problem, state, x, reached=reached, tol_upper=eps_f)
        return state

    def _lower_bound(self, problem: Problem, y: Vector, g: float, c: Vector, threshold: float) -> float:
        """At most the minimum of g over {x in Z : f(x) <= threshold}, by the linear models of both around y."""
        f, a = problem.upper.value_and_grad(y)
        cut = problem.domain.lmo_cut(c, a, threshold - f + float(a @ y))
        if cut.status is CutStatus.INFEASIBLE:
            return inf
        return -inf if cut.status is CutStatus.BOUNDARY else g + float(c @ (cut.point - y)) - cut.gap


def project_sublevel(problem: Problem, v: Vector, threshold: float) -> Vector:
    """The point of Z and {f <= threshold} nearest to v.

    For f = mu/2 ||x - a||^2 + constant it is P(v + s (a - v)) for the projection P onto Z and the smallest s in [0, 1]
    with f <= threshold there; f falls as s grows.
    """
    mu, c = _simple(problem)
    f, project = problem.upper.value, problem.domain.project
    if mu == 0:
        return problem.domain.project_cut(v, -c, threshold - f(np.zeros_like(v)))

    def excess(s: float) -> float:
        return f(project(v + s * (c / mu - v))) - threshold

    first = excess(0.0)
    if first <= 0:
        return project(v)
    if excess(1.0) >= 0:
        return project(c / mu)
    return project(v + falling_root(excess, 0.0, 1.0, first, xtol=1e-14) * (c / mu - v))


def _simple(problem: Problem) -> tuple[float, Vector]:
    """mu and c where f is mu/2 ||x||^2 - <c, x> up to a constant."""
    found = isotropic(problem.upper, problem.dim)
    if found is None:
        raise ValueError(
            "bisec-bio needs a simple upper level, linear or 1/2 ||x - a||^2, for the projection onto {f <= c}; "
            "fc-bio and agm-bio take any smooth convex one"
        )
    return found
