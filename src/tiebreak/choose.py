"""Which method ``auto`` takes, and why. One rule a row; the first that fits wins.

The order of the last two rows is measured: ``benchmarks/auto_choice.py`` runs the candidates on problems without an
exact method until both tolerances are proved (docs/how-to-choose.md has its table).
"""

from __future__ import annotations

from typing import Any

from .exact import why_not_exact
from .problem import Problem
from .solvers import Solver
from .steps import Adaptive


def choose(problem: Problem) -> tuple[Solver[Any], str]:
    """The method for ``problem``, and the reason in words."""
    from .solvers import APBAPG, CGBiO, Exact  # a method is loaded when it may be needed

    if not problem.upper.convex:
        return CGBiO(), "CG-BiO, because the upper level is not convex and stationarity is what can be proved"
    why_not = why_not_exact(problem)
    if not why_not:
        return Exact(), "exact, because the structure of both levels and of the domain allows it"
    but = f"because the exact method does not apply ({why_not})"
    smooth = problem.upper.smoothness is not None and problem.lower.smoothness is not None
    if problem.slack == 0 and smooth and APBAPG.needs <= _oracles(problem):
        return APBAPG(), f"apb-apg, the fastest first-order method to a proof, {but}"
    return CGBiO(step=Adaptive()), f"anytime CG-BiO with line search, which needs least of a problem, {but}"


def _oracles(problem: Problem) -> set[str]:
    return {"upper.grad", "lower.grad"} | {f"domain.{name}" for name in problem.domain.oracles}
