"""What IR-SCG and IR-FSCG share: IR-CG with gradients estimated from samples; plain linear minimisation is enough.

With estimates d_k of grad (sigma_k f + g) at x_k, whatever they are, and E_k = ||d_k - grad||, steps 2/(k+2) give
w_t (f(x_t) - f*) + sum_k w_k (f(x_k) - f*) + t (t+1) (g(x_t) - g*)
    <= 2 t C_g + 2 C_f sum_{k<t} sigma_k + 2 D sum_{k<t} (k+1) E_k
with the weights of ``late_average.py``: the inequality of IR-CG, and what the errors cost. (The step ends at the
minimiser s of <d_k, s>, so that <grad, s - x> <= <grad, x* - x> + E_k ||x* - s||; the rest is the proof of IR-CG.)
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector, as_count, as_positive, as_seed
from ...objectives.base import Objective
from ...problem import Problem, start_point
from ..base import Solver, State
from .late_average import LateAverage
from .projected import balance
from .stochastic_cut import Estimate
from .theory import expect_convex


@dataclass(frozen=True, kw_only=True)
class SampledState(State):
    """The iterate before x, the estimates there, and the average that is reported."""

    previous: Vector
    sigma_0: float
    average: Vector
    late: LateAverage
    upper: Estimate | None = None
    lower: Estimate | None = None


@dataclass(frozen=True)
class SampledWeight(Solver[SampledState]):
    """Hyper-parameters and the update; a method adds how it estimates, and the range of p."""

    p: float = 0.5
    sigma_0: float | None = None
    batch: int | None = None
    seed: int | None = None

    needs: ClassVar[frozenset[str]] = frozenset({"upper.grad", "lower.grad", "domain.lmo"})
    largest_p: ClassVar[float]

    def __post_init__(self) -> None:
        if not 0 < as_positive(self.p, "p") < self.largest_p:
            raise ValueError(f"p must be in (0, {self.largest_p:g}), got {self.p:g}")
        if self.sigma_0 is not None:
            as_positive(self.sigma_0, "sigma_0")
        if self.batch is not None:
            as_count(self.batch, "batch")
        as_seed(self.seed)

    @abstractmethod
    def estimated(
        self, objective: Objective, state: SampledState, last: Estimate | None, rows: NDArray[np.intp]
    ) -> Estimate:
        """The estimate at x, from the last one and the terms ``rows``."""

    def start(self, problem: Problem, x0: Vector | None) -> SampledState:
        expect_convex(problem, self.info.name)
        x = start_point(problem) if x0 is None else x0
        sigma_0 = self.sigma_0 or balance(problem, x)
        return SampledState(x=x, previous=x, sigma_0=sigma_0, average=x, late=LateAverage.of_none(x), anchor=x)

    def advance(self, problem: Problem, state: SampledState) -> SampledState:
        k, x, sigma, late = state.k, state.x, self._sigma(state, state.k), state.late
        if k > 0:
            late = late.and_then(x, k, self._sigma(state, k - 1) - sigma)
        upper = self.estimated(problem.upper, state, state.upper, self._rows(problem.upper, state, 0))
        lower = self.estimated(problem.lower, state, state.lower, self._rows(problem.lower, state, 1))
        new = x + 2 / (k + 2) * (problem.domain.lmo(sigma * upper.grad + lower.grad) - x)
        return replace(
            state, k=k + 1, x=new, previous=x, upper=upper, lower=lower, late=late,
            average=late.with_last(new, k + 1, sigma), anchor=new, multiplier=1 / sigma,
        )  # fmt: skip

    def solution(self, state: SampledState) -> Vector:
        return state.average

    def _sigma(self, state: SampledState, k: int) -> float:
        return float(state.sigma_0 * (k + 1) ** -self.p)

    def _rows(self, objective: Objective, state: SampledState, level: int) -> NDArray[np.intp]:
        """The terms of this update: a function of seed and k alone, so that a resumed run draws the same ones."""
        rng = np.random.default_rng([self.seed or 0, state.k, level])
        size = min(objective.summands, self.batch or ceil(sqrt(objective.summands)))
        return rng.choice(objective.summands, size, replace=False)
