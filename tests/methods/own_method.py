"""A method as a user would write it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import tiebreak as tb
from tiebreak.methods import MethodInfo
from tiebreak.problem import start_point


@dataclass(frozen=True)
class Own(tb.Solver[tb.State]):
    """Projected gradient on g + sigma f."""

    sigma: float = 1e-2
    needs: ClassVar[frozenset[str]] = frozenset({"upper.grad", "lower.grad", "domain.lmo", "domain.project"})
    info: ClassVar[MethodInfo] = MethodInfo(
        name="own-method", reference="nobody", year=2026, assumptions="smooth", upper_rate="none", lower_rate="none",
        oracle="projection", anytime=False,
    )  # fmt: skip

    def start(self, problem, x0):
        return tb.State(x=start_point(problem) if x0 is None else x0, multiplier=1 / self.sigma)

    def advance(self, problem, state):
        step = 1 / (problem.lower.smoothness + self.sigma * problem.upper.smoothness + 1e-12)
        slope = problem.lower.grad(state.x) + self.sigma * problem.upper.grad(state.x)
        return replace(state, k=state.k + 1, x=problem.domain.project(state.x - step * slope))
