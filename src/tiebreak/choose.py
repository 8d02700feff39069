"""Which method ``auto`` takes, and why. One rule a row; the first that fits wins."""

from __future__ import annotations

from typing import Any

from .problem import Problem
from .solvers import CGBiO, Solver
from .steps import Adaptive


def choose(problem: Problem) -> tuple[Solver[Any], str]:
    """The method for ``problem``, and the reason in words."""
    if not problem.upper.convex:
        return CGBiO(), "the upper level is not convex, and CG-BiO proves stationarity there"
    return CGBiO(
        step=Adaptive()
    ), "anytime CG-BiO with line search: linear minimisation over the domain is all it needs"
