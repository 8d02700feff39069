"""What a method needs of a problem, and which one ``auto`` takes, and why. One rule a row; the first that fits wins.

The order of the last two rows is measured: ``benchmarks/auto_choice.py`` runs the candidates on problems without an
exact method until both tolerances are proved (docs/how-to-choose.md has its table).
"""

from __future__ import annotations

from typing import Any

from .composite import obstacles
from .exact import why_not_exact
from .problem import Problem
from .solvers import SOLVERS, Solver
from .steps import Adaptive


def unmet(problem: Problem, method: Solver[Any] | type[Solver[Any]]) -> list[str]:
    """What the method needs and ``problem`` does not have, in words: oracles, and derivatives or proxes of norms."""
    offered = {"upper.grad", "lower.grad"} | {f"domain.{name}" for name in problem.domain.oracles}
    found = sorted(method.needs - offered) + obstacles(problem, method.nonsmooth)
    if "lifted" in method.nonsmooth.values() and not (problem.upper.differentiable and problem.lower.differentiable):
        found += [f"a problem it applies to ({why})"] if (why := why_not_exact(problem)) else []
    return found


def able(problem: Problem) -> list[str]:
    """The methods that lack nothing."""
    return [name for name, cls in SOLVERS.items() if not unmet(problem, cls)]


def choose(problem: Problem) -> tuple[Solver[Any], str]:
    """The method for ``problem``, and the reason in words."""
    from .solvers import APBAPG, CGBiO, Exact  # a method is loaded when it may be needed

    if not problem.upper.convex:
        return CGBiO(), "CG-BiO, because the upper level is not convex and stationarity is what can be proved"
    why_not = why_not_exact(problem)
    if not why_not:
        return Exact(), "exact, because the structure of both levels and of the domain allows it"
    but = f"because the exact method does not apply ({why_not})"
    smooth = None not in (problem.upper.smooth_part.smoothness, problem.lower.smooth_part.smoothness)
    if problem.slack == 0 and smooth and not unmet(problem, APBAPG):
        return APBAPG(), f"apb-apg, the fastest first-order method to a proof, {but}"
    if not (problem.upper.differentiable and problem.lower.differentiable):
        method = _for_norms(problem, smooth)
        return method, f"{method.info.name}, the first that takes the norms over this domain, {but}"
    return CGBiO(step=Adaptive()), f"anytime CG-BiO with line search, which needs least of a problem, {but}"


def _for_norms(problem: Problem, smooth: bool) -> Solver[Any]:
    """A method that takes the norms of the problem as they are, the better one first."""
    from .solvers import AIRG, APBAPG, AdaBiM, BiSG

    ranked: list[type[Solver[Any]]] = [APBAPG, BiSG, AIRG] if smooth else [AdaBiM]
    for cls in ranked:
        if not unmet(problem, cls):
            return cls()
    lacking = "; ".join(f"{cls.info.name} needs {', '.join(unmet(problem, cls))}" for cls in ranked)
    raise ValueError(f"no method takes this problem, whose levels are not differentiable: {lacking}")
