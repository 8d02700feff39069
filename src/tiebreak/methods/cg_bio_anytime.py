"""Anytime CG-BiO: our variant of Algorithm 1 of Jiang et al. (``cg_bio.py``), without a tolerance or initial phase.

Its ancestor keeps g(x0) of a near-optimal start on the right-hand side of the cut. Here one conditional gradient step
z_j on g goes with each update, and the level of the cut is the smallest value of g seen.

Proved (for a convex f, with steps 2/(k+2), from any start): f(x_K) - f* <= 2 C_f/(K+1), as in Theorem 1, whose proof
asks only that the cuts keep the lower solutions, and g(x_K) - g* <= 6 C_g/(K+1), as the level itself is within
2 C_g/(j+1) of g*. Not proved: a rate with other steps, ``Adaptive`` among them, or for a nonconvex f, where only the
gap and the bounds that the run reports hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from ..arrays import Vector
from ..problem import Problem, start_point
from .base import MethodInfo
from .shared.cut_method import CutMethod, check_lower_rule
from .shared.cut_state import CutState, recorded
from .shared.cut_step import Here, look, minimum_over_cut, placed, stepped
from .shared.lower_level import LowerRule, begin, default_rule, lower_step


@dataclass(frozen=True)
class AnytimeCGBiO(CutMethod):
    """The conditional-gradient bilevel method with a level that falls: more updates, better answer on both levels.

    Parameters
    ----------
    step : StepRule, optional
        Default: ``Harmonic(2, 2)`` for a convex upper level, ``InverseSqrt(1)`` for a nonconvex one.
    tol_upper, tol_lower : float, optional
        What ``Adaptive`` steps aim at, and, for a nonconvex f, how far above the level an iterate with a small gap may
        be; default: the tolerances of the run. No other step depends on them, and they never end a run.
    lower_steps : {"harmonic", "exact", "backtracking"}, optional
        Steps of conditional gradient on g. Default: exact line search for a quadratic g, else backtracking.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> result = tb.solve(problem, tb.AnytimeCGBiO(step=tb.steps.Adaptive()), tol_upper=1e-2, tol_lower=1e-2)
    >>> result.success
    True
    """

    lower_steps: LowerRule | None = None

    info: ClassVar[MethodInfo] = MethodInfo(
        name="cg-bio-anytime",
        reference="tiebreak, after Algorithm 1 of Jiang et al., AISTATS 2023",
        year=2026,
        assumptions="f smooth (convex for the rates), g convex and smooth, Z compact",
        upper_rate="O(1/k)",
        lower_rate="O(1/k)",
        oracle="linear minimisation over Z and over Z and a half-space",
        anytime=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_lower_rule(self.lower_steps, "lower_steps")

    def start(self, problem: Problem, x0: Vector | None) -> CutState:
        x = start_point(problem) if x0 is None else x0
        run = begin(problem, x)
        return CutState(x=x, point=placed(problem, x), level=run.value, run=run, anchor=x)

    def advance(self, problem: Problem, state: CutState) -> CutState:
        tolerances = self.tolerances(state)
        here = look(problem, state)
        state = self._lowered(problem, state, here)
        to = minimum_over_cut(problem, state, here)
        state = recorded(problem, state, here.f, here.g, to.gap_f, to.cut.gap, tolerances[1])
        return stepped(problem, state, here, to, self.rule(problem), tolerances)

    def lower_rule(self, problem: Problem) -> LowerRule:
        return self.lower_steps or default_rule(problem.lower)

    def _lowered(self, problem: Problem, state: CutState, here: Here) -> CutState:
        """One step of conditional gradient on g; the level is the smallest value of g seen, at the anchor."""
        assert state.run is not None
        run = lower_step(problem, state.run, self.lower_rule(problem), keep_rate=True)
        least = min(here.g, run.value)
        if least < state.level:
            state = replace(state, anchor=state.x if here.g <= run.value else run.x)
        return replace(state, run=run, level=min(state.level, least))
