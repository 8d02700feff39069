"""APDB: the accelerated primal-dual method with backtracking on min f subject to g(x) <= g* + eps.

E. Y. Hamedani, N. S. Aybat, "A primal-dual algorithm with line search for general convex-concave saddle point
problems", SIAM J. Optimization 31, 2021. For a polyhedron its rows are constraints with multipliers as
well, and only its bounds are projected on; every other Z is projected on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from ..arrays import Matrix, Vector, as_scalar
from ..composite import bare
from ..problem import Problem, start_point
from ..sets.polyhedron import Polyhedron
from .base import MethodInfo, Solver
from .lower_level import LowerRun, begin, default_rule, lower_step
from .options import check_positive, step_across
from .sam import OutsideState
from .theory import expect


@dataclass(frozen=True, kw_only=True)
class APDBState(OutsideState):
    """A state of APDB.

    Attributes
    ----------
    level : float
        The bound on g.
    run : LowerRun or None
        Conditional gradient on g, as long as it looks for the level.
    dual : array
        The multipliers of G(x) <= 0: that of g <= level, then those of the rows of a polyhedron.
    G : array
        The constraints at the iterate before x.
    tau, tau_before, sigma : float
        The next step size to try, the last one, and the last step size of the dual.
    mean, weight
        The average of the iterates with the dual step sizes as weights, and their sum.
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
        Default: the tolerance of the run.

    Notes
    -----
    The test of a step is that of the CG-BiO authors' experiment; the paper has free constants in it. The iterates may
    violate the rows of a polyhedron; the reported point is their projection onto Z.

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

    needs: ClassVar[frozenset[str]] = frozenset({"upper.grad", "lower.grad", "domain.lmo", "domain.project"})
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
        check_positive(self, "tau0", "gamma", "tol_lower")
        if self.level is not None:
            as_scalar(self.level, "level")
        if not 0 < as_scalar(self.shrink, "shrink") < 1:
            raise ValueError(f"shrink must be between 0 and 1, got {self.shrink:g}")

    def start(self, problem: Problem, x0: Vector | None) -> APDBState:
        expect(problem.upper.convex, self.info.name, "a convex upper level")
        x = start_point(problem) if x0 is None else x0
        tau = self.tau0 or step_across(problem, problem.upper.grad(x))
        blank = APDBState(
            x=x, y=x, mean=x, dual=np.zeros(0), G=np.zeros(0), tau=tau, tau_before=tau, sigma=self.gamma * tau
        )
        if self.level is None:
            return replace(blank, run=begin(problem, x))
        return _constrained(problem, blank, x, self.level)

    def advance(self, problem: Problem, state: APDBState) -> APDBState:
        if state.run is not None:
            return self._look_for_level(problem, state)
        split, x, tau = Split.of(problem), state.x, state.tau
        a, c, G = problem.upper.grad(x), *split.constraints(problem, state.level, x)
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
            tau *= self.shrink
        weight = state.weight + sigma
        mean = state.mean + sigma / weight * (new - state.mean)
        reported = mean if self.average else new
        return replace(
            state,
            k=state.k + 1,
            x=new,
            y=reported if split.bounds is None else problem.domain.project(reported),
            dual=dual,
            G=G,
            tau=tau * sqrt(1 + tau / state.tau_before),
            tau_before=tau,
            sigma=sigma,
            mean=mean,
            weight=weight,
            multiplier=float(dual[0]),
        )

    def solution(self, state: APDBState) -> Vector:
        return state.y

    def _look_for_level(self, problem: Problem, state: APDBState) -> APDBState:
        """One step of conditional gradient on g, or, once its gap is tol_lower / 2, the first state of APDB itself."""
        assert state.run is not None
        enough = (1e-4 if self.tol_lower is None else self.tol_lower) / 2
        run = lower_step(problem, state.run, default_rule(problem.lower), enough=enough)
        if run.gap > enough:
            return replace(state, k=state.k + 1, x=run.x, y=run.x, run=run)
        return _constrained(problem, replace(state, run=None), run.x, run.value + enough + problem.slack)


def _constrained(problem: Problem, state: APDBState, x: Vector, level: float) -> APDBState:
    """The state before the first update, at x, once the level is known."""
    _, G = Split.of(problem).constraints(problem, level, x)
    return replace(state, x=x, y=x, mean=x, anchor=x, level=level, dual=np.zeros(G.size), G=G)


class Split(NamedTuple):
    """Z as rows low <= A x <= high with multipliers and a part to project on: ``bounds``, or Z itself where None."""

    A: Matrix
    low: Vector
    high: Vector
    bounds: tuple[Vector, Vector] | None

    @classmethod
    def of(cls, problem: Problem) -> Split:
        domain = bare(problem.domain)
        if isinstance(domain, Polyhedron):
            given = domain._given
            return cls(given.A, given.low, given.high, (given.lower, given.upper))
        return cls(np.zeros((0, problem.dim)), np.zeros(0), np.zeros(0), None)

    def constraints(self, problem: Problem, level: float, x: Vector) -> tuple[Vector, Vector]:
        """The gradient of g, and G(x) = (g(x) - level, Ax - high, low - Ax), all at most 0 where x is feasible."""
        g, c = problem.lower.value_and_grad(x)
        Ax = self.A @ x
        above, below = np.isfinite(self.high), np.isfinite(self.low)
        return c, np.concatenate([[g - level], (Ax - self.high)[above], (self.low - Ax)[below]])

    def pull(self, dual: Vector) -> Vector:
        """The gradient of <dual, rows of G>."""
        above, below = np.isfinite(self.high), np.isfinite(self.low)
        weights = np.zeros(self.high.size)
        weights[above] += dual[: above.sum()]
        weights[below] -= dual[above.sum() :]
        pulled: Vector = self.A.T @ weights
        return pulled

    def project(self, problem: Problem, x: Vector) -> Vector:
        """The projection onto the part of Z that has no multipliers."""
        return problem.domain.project(x) if self.bounds is None else np.clip(x, *self.bounds)
