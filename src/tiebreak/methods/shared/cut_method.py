"""The parameters that CG-BiO and its anytime variant share, and how both make many updates at once."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np

from ...arrays import Vector, as_numbers
from ...points import REFRESH
from ...problem import Problem
from ...steps import Harmonic, InverseSqrt, StepRule
from ..base import Solver
from .cut_state import CutState
from .fast_cut import chunk
from .lower_level import LowerRule
from .options import check_rule


@dataclass(frozen=True)
class CutMethod(Solver[CutState]):
    """Step rule and tolerances; a method adds ``start``, ``advance``, and the steps it takes on g alone."""

    step: StepRule | None = None
    tol_upper: float | None = None
    tol_lower: float | None = None

    needs: ClassVar[frozenset[str]] = frozenset({"upper.grad", "lower.grad", "domain.lmo", "domain.lmo_cut"})

    def __post_init__(self) -> None:
        if self.step is not None:
            check_rule(self.step)
        for name in ("tol_upper", "tol_lower"):
            value = getattr(self, name)
            if value is not None and not (np.ndim(value) == 0 and as_numbers(value, name) == value):
                raise ValueError(f"{name} must be a number (-inf: the method never stops by itself), got {value!r}")

    @abstractmethod
    def lower_rule(self, problem: Problem) -> LowerRule:
        """The steps of conditional gradient on g."""

    def rule(self, problem: Problem) -> StepRule:
        """The step rule: that of the theorem for a convex upper level, a fast one for others."""
        if self.step is not None:
            return self.step
        return Harmonic(2, 2) if problem.upper.convex else InverseSqrt(1.0)

    def tolerances(self, state: CutState) -> tuple[float, float]:
        """eps_f and eps_g."""
        return (
            1e-4 if self.tol_upper is None else self.tol_upper,
            state.shrink * (1e-4 if self.tol_lower is None else self.tol_lower),
        )

    def advance_many(self, problem: Problem, state: CutState, updates: int) -> CutState:
        end = state.k + updates
        while state.k < end and not state.finished:
            count = min(end - state.k, REFRESH - state.k % REFRESH)
            rules = self.rule(problem), self.lower_rule(problem)
            ahead = chunk(problem, state, *rules, self.tolerances(state), count)
            if ahead is None:  # one update at a time, so that the loop knows the last complete state
                return self.advance(problem, state)
            stuck = ahead.k == state.k and not ahead.finished
            state = self.advance(problem, ahead) if stuck else ahead
        return state

    def solution(self, state: CutState) -> Vector:
        return state.x if state.best_x is None else state.best_x


def check_lower_rule(rule: object, name: str) -> None:
    """A parameter that must be a rule of conditional gradient on g, or None."""
    if rule is not None and rule not in get_args(LowerRule):
        raise ValueError(f'{name} must be "harmonic", "exact" or "backtracking", got {rule!r}')
