"""Bi-CS: subgradient steps on f where g is small enough, on g elsewhere; how small, a second sequence tells.

The bilevel co-subgradient method, in its form with known Lipschitz constants and width, after the public experiments
kimyeongjong/Bilevel-Optimization (scripts/BiCS.py); what follows is proved here.

Update t = 1, 2, ...: y makes a subgradient step on g alone, and ``least`` is the least g it has met. With
delta_t = 3 L D / sqrt(t), x makes a step on f if g(x_t) <= least + delta_t, else on g; both sequences have steps
D / sqrt(sum of the squared subgradients). Reported is the point with the least f from
which a step on f was made lately.

With the regret of such steps, 3/2 D sqrt(G), and W updates from t - W + 1 >= t / 4 to t, W >= t / 2:
f - f* <= 3/2 D sqrt(G_t) / W <= 3 L D / sqrt(t), as otherwise steps on f (f(x_s) - f* too large) and on g
(g(x_s) - g* > delta_t) together have more than that regret; and g - g* <= (6 + 3) L D / sqrt(t) at such a point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import ClassVar

import numpy as np

from ..arrays import Vector
from ..composite import How, Level
from ..problem import Problem, start_point
from .base import MethodInfo, Solver, State
from .shared.options import check_positive
from .shared.subgradients import steepness
from .shared.theory import expect_convex


@dataclass(frozen=True, kw_only=True)
class BiCSState(State):
    """Both sequences with the sums of their squared subgradients.

    Attributes
    ----------
    y : array
        The point of the sequence that looks at g alone; ``anchor`` is its best one so far, ``least`` g there.
    best, before : array
        The point with the least f from which a step on f was made: since k + 1 was last a power of two, and between
        that and the power before; ``best_value`` and ``before_value`` are inf where there was none.
    """

    y: Vector
    least: float
    L: float
    squares: float = 0.0
    squares_y: float = 0.0
    best: Vector
    best_value: float = inf
    before: Vector
    before_value: float = inf


@dataclass(frozen=True)
class BiCS(Solver[BiCSState]):
    """The bilevel co-subgradient method, for convex f and g with bounded subgradients; neither need be smooth.

    Parameters
    ----------
    L : float, optional
        A Lipschitz constant of both levels over Z. Default: from what the levels know of themselves.

    Notes
    -----
    The authors keep the last half of all points; here two blocks between powers of two are kept as their best points,
    which reach back to t/4 at most.

    Examples
    --------
    >>> import numpy as np
    >>> import tiebreak as tb
    >>> kink = lambda x: np.sign(x.sum() - 1) + 0 * x
    >>> g = tb.Function(lambda x: abs(x.sum() - 1), kink, dim=2, convex=True, lipschitz=1.5)
    >>> result = tb.solve(tb.Problem(tb.L1Norm(weights=[1, 2]), g, tb.Box(0.0, 0.6)), "bi-cs", max_iter=1000)
    >>> result.g < 0.4 and result.f < 1.4  # f* = 1.4 at (0.6, 0.4);proved: g - g* <= 9 L D / sqrt(k)
    True
    """

    L: float | None = None

    needs: ClassVar[frozenset[str]] = frozenset({"upper.grad", "lower.grad", "domain.project"})
    nonsmooth: ClassVar[Mapping[Level, How]] = {"upper": "subgradient", "lower": "subgradient"}
    info: ClassVar[MethodInfo] = MethodInfo(
        name="bi-cs",
        reference="bilevel co-subgradient method, kimyeongjong/Bilevel-Optimization, 2025",
        year=2025,
        assumptions="f and g convex and Lipschitz, Z compact",
        upper_rate="O(1/sqrt(k))",
        lower_rate="O(1/sqrt(k))",
        oracle="projection, subgradients",
        anytime=True,
    )

    def __post_init__(self) -> None:
        check_positive(self, "L")

    def start(self, problem: Problem, x0: Vector | None) -> BiCSState:
        expect_convex(problem, self.info.name)
        x = start_point(problem) if x0 is None else x0
        L = self.L or max(steepness(problem, "upper", x), steepness(problem, "lower", x))
        return BiCSState(x=x, y=x, anchor=x, least=problem.lower.value(x), L=L, best=x, before=x)

    def advance(self, problem: Problem, state: BiCSState) -> BiCSState:
        t, D = state.k + 1, problem.domain.diameter
        if t & (t - 1) == 0:  # a power of two: a block of its own begins
            state = replace(state, before=state.best, before_value=state.best_value, best_value=inf)

        slope = problem.lower.grad(state.y)
        squares_y = state.squares_y + float(slope @ slope)
        y = step(problem, state.y, slope, squares_y, D)
        if (at_y := problem.lower.value(y)) < state.least:
            state = replace(state, least=at_y, anchor=y)

        g, v = problem.lower.value_and_grad(state.x)
        if g <= state.least + 3 * state.L * D / sqrt(t):
            f, v = problem.upper.value_and_grad(state.x)
            if f < state.best_value:
                state = replace(state, best=state.x, best_value=f)
        squares = state.squares + float(v @ v)
        x = step(problem, state.x, v, squares, D)
        return replace(state, k=t, x=x, y=y, squares=squares, squares_y=squares_y, multiplier=sqrt(t))

    def solution(self, state: BiCSState) -> Vector:
        return state.best if state.best_value <= state.before_value else state.before


def step(problem: Problem, x: Vector, slope: Vector, squares: float, D: float) -> Vector:
    """A projected step along a subgradient, as long as the squares of all of them allow."""
    return problem.domain.project(x - D / np.sqrt(squares) * slope) if squares > 0 else x
