"""Which method ``auto`` takes, and why. One rule a row; the first that fits wins."""

from __future__ import annotations

from typing import Any

from .exact import why_not_exact
from .problem import Problem
from .solvers import CGBiO, Exact, Solver
from .steps import Adaptive


def choose(problem: Problem) -> tuple[Solver[Any], str]:
    """The method for ``problem``, and the reason in words."""
    if not problem.upper.convex:
        return CGBiO(), "CG-BiO, because the upper level is not convex and stationarity is what can be proved"
    why_not = why_not_exact(problem)
    if not why_not:
        return Exact(), "exact, because the structure of both levels and of the domain allows it"
    return CGBiO(
        step=Adaptive()
    ), f"anytime CG-BiO with line search, because the exact method does not apply ({why_not})"
