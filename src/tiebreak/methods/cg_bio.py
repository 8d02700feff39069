"""CG-BiO: conditional gradient steps over the part of Z that a cutting plane of g leaves.

R. Jiang, N. Abolfazli, A. Mokhtari, E. Yazdandoost Hamedani, "A conditional gradient-based method for simple bilevel
optimization with convex lower-level problem", AISTATS 2023, Algorithm 1. ``cg_bio_anytime.py`` is our variant of it.

From a start with g(x0) - g* <= eps_g / 2 the level g(x0) stays on the right-hand side of the cut. With steps 2/(k+2)
and a convex f, f(x_K) - f* <= 2 C_f/(K+1) and g(x_K) - g* <= 2 C_g/(K+1) + eps_g / 2 (Theorem 1).

For a nonconvex f the default steps are c/sqrt(k+1), as in the paper's experiments; its Theorem 2 is about a constant
step. What is proved for these, along its proof (Lemma 2), with c <= 1: g(x_K) - g* <= max(c, sqrt(1 + c^2)/2)
C_g/sqrt(K+1) + eps_g/2, and the least gap of the first K iterates is at most (f(x_0) - min f + c^2 C_f (1 + log K)/2) /
(2 c (sqrt(K+1) - 1)). The proof is in docs/anytime.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..arrays import Vector
from ..problem import Problem, start_point
from .base import MethodInfo
from .shared.cut_method import CutMethod, check_lower_rule
from .shared.cut_state import CutState, recorded, without_best
from .shared.cut_step import look, minimum_over_cut, placed, stepped
from .shared.lower_level import LowerRule, LowerRun, begin, default_rule, lower_step


@dataclass(frozen=True)
class CGBiO(CutMethod):
    """The conditional-gradient bilevel method: Algorithm 1 of its paper.

    A given x0 is its near-optimal start; without one, conditional gradient on g finds it.

    Parameters
    ----------
    step : StepRule, optional
        Default: ``Harmonic(2, 2)`` for a convex upper level (Theorem 1), ``InverseSqrt(1)`` for a nonconvex one.
        ``tiebreak.steps.theorem_2(problem, ...)`` gives the constant step of Theorem 2.
    tol_upper, tol_lower : float, optional
        eps_f and eps_g of the stopping test; default: the tolerances of the run. Where ``tol_lower`` is open, a run
        that Algorithm 1 ends without a proof begins it anew with a tenth of eps_g, from its best point of g.
    initial : {"harmonic", "exact", "backtracking"}, optional
        Steps of the initial conditional gradient on g. Default: exact line search for a quadratic g, else backtracking.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> result = tb.solve(problem, tb.CGBiO(), x0=[1.0, 0.0], tol_upper=1e-2, tol_lower=1e-2)
    >>> result.success
    True
    """

    initial: LowerRule | None = None

    info: ClassVar[MethodInfo] = MethodInfo(
        name="cg-bio",
        reference="Jiang, Abolfazli, Mokhtari, Yazdandoost Hamedani, AISTATS 2023, Algorithm 1",
        year=2023,
        assumptions="f smooth (convex or not), g convex and smooth, Z compact, g(x0) - g* <= eps_g/2",
        upper_rate="O(1/k); f nonconvex: O(log(k)/sqrt(k))",
        lower_rate="O(1/k) down to eps_g/2; f nonconvex: O(1/sqrt(k))",
        oracle="linear minimisation over Z and a half-space",
        anytime=False,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_lower_rule(self.initial, "initial")

    def start(self, problem: Problem, x0: Vector | None) -> CutState:
        if x0 is None:
            x = start_point(problem)
            return CutState(x=x, run=begin(problem, x))
        point = placed(problem, x0)
        return CutState(x=x0, point=point, level=problem.lower.value_at(x0, point.images[1]), anchor=x0)

    def advance(self, problem: Problem, state: CutState) -> CutState:
        if state.run is not None:
            return self._initial_phase(problem, state, state.run)
        eps_f, eps_g = self.tolerances(state)
        here = look(problem, state)
        to = minimum_over_cut(problem, state, here)
        state = recorded(problem, state, here.f, here.g, to.gap_f, to.cut.gap, eps_g)
        if to.gap_f <= eps_f and to.gap_g <= eps_g / 2:
            return replace(state, finished=True)
        return stepped(problem, state, here, to, self.rule(problem), (eps_f, eps_g))

    def tightened(self, problem: Problem, state: CutState) -> CutState | None:
        """Algorithm 1 once more, with a tenth of eps_g, from the best point of g so far; None before it has ended."""
        if not state.finished:
            return None
        known = [state.x] if state.anchor is None else [state.x, state.anchor]
        run = replace(min((begin(problem, x) for x in known), key=lambda run: run.value), j=state.k)
        shrink = 0.1 * state.shrink
        return replace(
            without_best(state), shrink=shrink, finished=False, x=run.x, anchor=run.x, point=None, run=run, memory=()
        )

    def lower_rule(self, problem: Problem) -> LowerRule:
        return self.initial or default_rule(problem.lower)

    def _initial_phase(self, problem: Problem, state: CutState, run: LowerRun) -> CutState:
        """One step of conditional gradient on g, or the change to the cuts once its gap is eps_g / 2."""
        enough = self.tolerances(state)[1] / 2
        run = lower_step(problem, run, self.lower_rule(problem), enough=enough)
        if run.gap > enough:
            return replace(state, k=state.k + 1, x=run.x, run=run, anchor=run.x)
        point = placed(problem, run.x)
        return replace(state, x=run.x, anchor=run.x, point=point, level=run.value, first=state.k, run=None)
