"""APDB: the accelerated primal-dual method with backtracking on min f subject to g(x) <= g* + eps.

E. Y. Hamedani, N. S. Aybat, "A primal-dual algorithm with line search for general convex-concave saddle point
problems", SIAM J. Optimization 31, 2021. For a polyhedron its rows are constraints with multipliers as
well, and only its bounds are projected on; every other Z is projected on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar

import numpy as np

from ..arrays import Vector, as_positive, as_scalar
from ..problem import Problem, start_point
from .base import MethodInfo, Solver
from .shared.averaging import OutsideState
from .shared.lower_level import LowerRun, begin, default_rule, lower_step
from .shared.options import check_positive, step_across, too_short
from .shared.projected import PROJECTION
from .shared.split import Split
from .shared.theory import expect


@dataclass(frozen=True, kw_only=True)
class APDBState(OutsideState):
    """``dual`` has the multipliers of G(x) <= 0: that of g <= level first, then those of the rows of a polyhedron.

    ``run`` looks for the level, ``G`` is from the iterate before x; ``tau`` is the next step size to try,
    ``tau_before`` and ``sigma`` (of the dual) are the last ones; ``sigma`` is the weight of x in the average ``mean``.
    """

    level: float = np.inf
    run: LowerRun | None = None
    dual: Vector
    G: Vector
    tau: float
    tau_before: float
    sigma: float
    mean: Vector
    weight: float = 0.0


@dataclass(frozen=True)
class APDB(Solver[APDBState]):
    """The accelerated primal-dual method with backtracking.

    The test of a step is that of the CG-BiO authors' experiment; the paper has free constants in it. Iterates may
    violate the rows of a polyhedron; their projections are reported.

    Parameters
    ----------
    level : float, optional
        g* + eps, the bound on g. Without it, conditional gradient on g finds g* to tol_lower / 2 first, and eps is
        between tol_lower / 2 and tol_lower (plus the slack of the problem).
    tau0 : float, optional
        The first step size to try; the authors' toy experiment has 0.01. Default: a step as long as Z is wide.
    gamma : float, default 1
        The dual step size over the primal one; larger where a large multiplier is to be expected.
    shrink : float, default 0.7
        In (0, 1): a step that fails the test is shortened by this factor.
    average : bool, default False
        Report the average of the iterates, to which the rate applies, instead of the last one (which converges, too).
    tol_lower : float, optional
        Default: that of the run.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> result = tb.solve(problem, APDB(level=0.005, gamma=100.0), max_iter=2000)  # |x1 + x2 - 1| <= 0.1
    >>> result.x.round(2)
    array([0.45, 0.45])
    """

    level: float | None = None
    tau0: float | None = None
    gamma: float = 1.0
    shrink: float = 0.7
    average: bool = False
    tol_lower: float | None = None

    needs: ClassVar[frozenset[str]] = PROJECTION | {"domain.lmo"}
    info: ClassVar[MethodInfo] = MethodInfo(
        name="apdb",
        reference="Hamedani, Aybat, SIAM J. Optimization 31, 2021",
        year=2021,
        assumptions="f and g convex and smooth, eps > 0",
        upper_rate="O(1/k) times the square of the multiplier, to the optimum for the slack eps",
        lower_rate="O(1/k) times the square of the multiplier, to g* + eps",
        oracle="projection",
        anytime=False,
    )

    def __post_init__(self) -> None:
        check_positive(self, "tau0", "tol_lower")
        as_positive(self.gamma, "gamma")
        as_scalar(self.level or 0.0, "level")
        if not 0 < as_scalar(self.shrink, "shrink") < 1:
            raise ValueError(f"shrink must be between 0 and 1, got {self.shrink:g}")

    def start(self, problem: Problem, x0: Vector | None) -> APDBState:
        expect(problem.upper.convex, self.info.name, "a convex upper level")
        x = start_point(problem) if x0 is None else x0
        tau = self.tau0 or step_across(problem, problem.upper.grad(x))
        none = np.zeros(0)
        blank = APDBState(x=x, y=x, mean=x, dual=none, G=none, tau=tau, tau_before=tau, sigma=self.gamma * tau)
        if self.level is None:
            return replace(blank, run=begin(problem, x))
        return _constrained(problem, blank, x, self.level)

    def advance(self, problem: Problem, state: APDBState) -> APDBState:
        if state.run is not None:
            return self._look_for_level(problem, state, state.run)
        split, x, tau = Split.of(problem), state.x, state.tau
        a, c, G = problem.upper.grad(x), *split.constraints(problem, state.level, x)
        if not state.dual.shape == state.G.shape == G.shape:
            raise ValueError(f"the state has {state.dual.size} multipliers, not {G.size}: the file is damaged")
        while True:
            sigma = self.gamma * tau
            # y + sigma ((1 + theta) G(x_k) - theta G(x_{k-1})) with theta = sigma_{k-1} / sigma
            dual = np.maximum(0.0, state.dual + sigma * G + state.sigma * (G - state.G))
            new = split.project(problem, x - tau * (a + dual[0] * c + split.pull(dual[1:])))
            c_new, G_new = split.constraints(problem, state.level, new)
            move, change = new - x, G_new - G
            bend = problem.upper.grad(new) - a + dual[0] * (c_new - c)
            if float(bend @ move) + 2 * sigma * float(change @ change) <= float(move @ move) / (2 * tau):
                break
            if too_short(x, float(np.linalg.norm(move)), state.tau * float(np.linalg.norm(move)) / tau):
                break  # the test compares rounding with rounding, or noise
            tau *= self.shrink
        weight = state.weight + sigma
        mean = state.mean + sigma / weight * (new - state.mean)
        reported = mean if self.average else new
        return replace(
            state, k=state.k + 1, x=new, y=split.inside(problem, reported), dual=dual, G=G, multiplier=float(dual[0]),
            mean=mean, weight=weight, tau=tau * sqrt(1 + tau / state.tau_before), tau_before=tau, sigma=sigma,
        )  # fmt: skip

    def tightened(self, problem: Problem, state: APDBState) -> APDBState | None:
        if self.level is not None:
            return None
        return replace(state, shrink=0.1 * state.shrink, x=state.y, run=begin(problem, state.y))

    def solution(self, state: APDBState) -> Vector:
        return state.y

    def _look_for_level(self, problem: Problem, state: APDBState, run: LowerRun) -> APDBState:
        """One step of conditional gradient on g, or, once its gap is tol_lower / 2, the first state of APDB itself."""
        enough = state.shrink * (1e-4 if self.tol_lower is None else self.tol_lower) / 2
        run = lower_step(problem, run, default_rule(problem.lower), enough=enough)
        if run.gap > enough:
            return replace(state, k=state.k + 1, x=run.x, y=run.x, run=run)
        return _constrained(problem, replace(state, run=None), run.x, run.value + enough + problem.slack)


def _constrained(problem: Problem, state: APDBState, x: Vector, level: float) -> APDBState:
    """The state before the first update, at x, once the level is known."""
    _, G = Split.of(problem).constraints(problem, level, x)
    return replace(state, x=x, y=x, mean=x, anchor=x, level=level, dual=np.zeros(G.size), G=G)
