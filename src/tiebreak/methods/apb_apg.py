"""aPB-APG: PB-APG with a growing penalty, each stage started where the one before it ended.

P. Chen, X. Shi, R. Jiang, J. Wang, "Penalty-based methods for simple bilevel optimization under Hölderian error
bounds", NeurIPS 2024 (arXiv 2402.02155).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..arrays import Vector, as_positive
from ..composite import How, Level
from ..problem import Problem, start_point
from .base import MethodInfo, Solver
from .pb_apg import Greedy, PenaltyState, penalty_step
from .shared.backtracking import Bends, backtracked
from .shared.projected import NORMS, PROJECTION, Fista
from .shared.theory import expect_convex

STAGES = 8
"""Most stages: 20^8 is 3e10, beyond which f is lost in the rounding of gamma g."""


@dataclass(frozen=True, kw_only=True)
class StageState(PenaltyState):
    """The stage, its tolerance on the length of a step, and how much both levels bend."""

    stage: int = 0
    tolerance: float
    bends: Bends


@dataclass(frozen=True)
class APBAPG(Solver[StageState]):
    """The adaptive version of PB-APG, for f and g that are smooth plus norms; how smooth, it finds out if need be.

    Parameters
    ----------
    gamma : float, optional
        The first penalty. Default: L_f / L_g.
    growth : float
        gamma grows by this factor from stage to stage; 20 as in the authors' experiments.
    tolerance : float
        A stage ends where a step is shorter than this share of the diameter of Z: 1e-6 in the authors' experiments,
        where it shrinks tenfold each stage. Here it shrinks five times faster than gamma grows, so that the duality gap
        of f + gamma g falls from stage to stage as well.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> tb.solve(problem, APBAPG(), tol_upper=1e-3, tol_lower=1e-3).success
    True
    """

    gamma: float | None = None
    growth: float = 20.0
    tolerance: float = 1e-6

    needs: ClassVar[frozenset[str]] = PROJECTION
    nonsmooth: ClassVar[Mapping[Level, How]] = NORMS
    info: ClassVar[MethodInfo] = MethodInfo(
        name="apb-apg",
        reference="Chen, Shi, Jiang, Wang, NeurIPS 2024",
        year=2024,
        assumptions="f and g convex, smooth plus norms, Hölderian error bound (unknown)",
        upper_rate="as pb-apg, up to a constant",
        lower_rate="as pb-apg, up to a constant",
        oracle="projection",
        anytime=True,
    )

    def __post_init__(self) -> None:
        if self.gamma is not None:
            as_positive(self.gamma, "gamma")
        if as_positive(self.growth, "growth") <= 1:
            raise ValueError(f"growth must be above 1, got {self.growth:g}")
        as_positive(self.tolerance, "tolerance")

    def start(self, problem: Problem, x0: Vector | None) -> StageState:
        expect_convex(problem, self.info.name)
        x = start_point(problem) if x0 is None else x0
        bends = Bends.at(problem, x)
        sigma = 1 / self.gamma if self.gamma else bends.lower / bends.upper
        width = problem.domain.diameter
        tolerance = self.tolerance * (width if width < np.inf else 1 + float(np.linalg.norm(x)))
        return StageState(x=x, run=Greedy.at(x), sigma=sigma, multiplier=1 / sigma, tolerance=tolerance, bends=bends)

    def advance(self, problem: Problem, state: StageState) -> StageState:
        run, bends = self._step(problem, state)
        state = replace(state, k=state.k + 1, x=run.u, run=run, bends=bends, multiplier=1 / state.sigma, settled=False)
        if isinstance(run, Greedy) and run.moved <= state.tolerance and state.stage < STAGES:
            return replace(
                state, run=Greedy.at(run.u), stage=state.stage + 1, settled=True,
                sigma=state.sigma / self.growth, tolerance=state.tolerance / (5 * self.growth),
            )  # fmt: skip
        return state

    def _step(self, problem: Problem, state: StageState) -> tuple[Fista | Greedy, Bends]:
        run, bends = state.run, state.bends
        if bends.known or not isinstance(run, Greedy):
            return penalty_step(problem, run, state.sigma), bends
        u, bends = backtracked(problem, run.y, state.sigma, run.scale, bends)
        return run.to(u), bends
