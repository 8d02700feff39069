"""What SBCGI and SBCGF share: conditional gradient steps over a cut made of estimated gradients.

X_t = {s in Z : <dg, s - x_t> <= g(x_0) - gh + K_t} with estimates dg of grad g(x_t) and gh of g(x_t). The slack K_t
allows for their errors, so that X_t keeps the solutions of the lower level.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import ceil, isfinite, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector, as_count, as_positive, as_seed
from ...objectives.base import Objective
from ...problem import Problem, start_point
from ...steps import Harmonic, StepRule
from ..base import Solver, State
from .lower_level import LowerRun, begin, default_rule, lower_step
from .options import check_rule
from .theory import expect


@dataclass(frozen=True)
class Estimate:
    """Estimates of a value and of a gradient."""

    value: float
    grad: Vector

    def mixed(self, weight: float, new: Estimate, old: Estimate) -> Estimate:
        """new + (1 - weight) (self - old): what is known so far, moved on by a difference of samples."""
        return Estimate(
            new.value + (1 - weight) * (self.value - old.value), new.grad + (1 - weight) * (self.grad - old.grad)
        )


@dataclass(frozen=True, kw_only=True)
class StochasticState(State):
    """The initial run on g (None once it is over), x before the last step, the estimates there, and g(x_0).

    ``first`` is k at the first update after the initial run; ``spread`` the unit of the slack K_t.
    """

    run: LowerRun | None
    previous: Vector
    upper: Estimate | None = None
    lower: Estimate | None = None
    level: float
    first: int = 0
    spread: float = 0.0


@dataclass(frozen=True)
class StochasticCut(Solver[StochasticState]):
    """Hyper-parameters and the update; a method adds how it estimates, and how its slack falls."""

    batch: int | None = None
    step: StepRule = Harmonic(2, 2)
    slack: float = 0.01
    seed: int | None = None
    tol_lower: float | None = None

    needs: ClassVar[frozenset[str]] = frozenset({"upper.grad", "lower.grad", "domain.lmo", "domain.lmo_cut"})

    def __post_init__(self) -> None:
        if self.batch is not None:
            as_count(self.batch, "batch")
        as_seed(self.seed)
        check_rule(self.step)
        if self.tol_lower is not None:
            as_positive(self.tol_lower, "tol_lower")
        as_positive(self.slack, "slack")

    @abstractmethod
    def estimated(
        self, objective: Objective, state: StochasticState, last: Estimate | None, rows: NDArray[np.intp]
    ) -> Estimate:
        """The estimate at x, from the last one and the terms ``rows``."""

    @abstractmethod
    def decay(self, t: int) -> float:
        """The slack K_t in units of its first value."""

    def start(self, problem: Problem, x0: Vector | None) -> StochasticState:
        expect(problem.upper.convex, self.info.name, "a convex upper level with these steps")
        x = start_point(problem) if x0 is None else x0
        return StochasticState(x=x, run=begin(problem, x), previous=x, level=problem.lower.value(x), anchor=x)

    def advance(self, problem: Problem, state: StochasticState) -> StochasticState:
        if state.run is not None:
            return self._initial_phase(problem, state, state.run)
        t, x = state.k - state.first, state.x
        upper = self.estimated(problem.upper, state, state.upper, self._rows(problem.upper, state, 0))
        lower = self.estimated(problem.lower, state, state.lower, self._rows(problem.lower, state, 1))
        K = self.slack * state.spread * self.decay(t)
        bound = float(lower.grad @ x) + state.level + problem.slack + K - lower.value
        # where errors exceed the slack the cut may miss Z; its point is then the one that lowers g most
        cut = problem.domain.lmo_cut(upper.grad, lower.grad, bound, warm=state.multiplier)
        multiplier = cut.multiplier if isfinite(cut.multiplier) else state.multiplier
        new = x + self.step(t) * (cut.point - x)
        return replace(state, k=state.k + 1, x=new, previous=x, upper=upper, lower=lower, multiplier=multiplier)

    def tightened(self, problem: Problem, state: StochasticState) -> StochasticState:
        return replace(state, shrink=0.1 * state.shrink, run=begin(problem, state.x), upper=None, lower=None)

    def _initial_phase(self, problem: Problem, state: StochasticState, run: LowerRun) -> StochasticState:
        """Conditional gradient on g, with full gradients, until g(x_0) - g* <= tol_lower / 2 is proved."""
        enough = state.shrink * (1e-4 if self.tol_lower is None else self.tol_lower) / 2
        new = lower_step(problem, run, default_rule(problem.lower), enough=enough)
        if new.gap > enough:
            spread = max(state.spread, abs(run.value - new.value))
            return replace(state, k=state.k + 1, x=new.x, anchor=new.x, run=new, spread=spread)
        sampled = any(one.summands > self._size(one) for one in (problem.upper, problem.lower))
        return replace(
            state, run=None, previous=new.x, level=new.value, first=state.k, spread=state.spread if sampled else 0.0
        )

    def _size(self, objective: Objective) -> int:
        return min(objective.summands, self.batch or ceil(sqrt(objective.summands)))

    def _rows(self, objective: Objective, state: StochasticState, level: int) -> NDArray[np.intp]:
        """The terms of this update: a function of seed and k alone, so that a resumed run draws the same ones."""
        rng = np.random.default_rng([self.seed or 0, state.k, level])
        return rng.choice(objective.summands, self._size(objective), replace=False)
