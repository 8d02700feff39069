"""What ``solve`` would do with a problem, and why: the only place that asks who can do what, each once.

One rule a row; the first that fits wins. The order of the last two is measured: ``benchmarks/auto_choice.py`` runs the
candidates on problems without an exact method until both tolerances are proved (docs/how-to-choose.md has its table).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from .composite import obstacles
from .earlier_slack import has_earlier_slack, outline
from .engines.choice import Choice, choose_engine
from .methods import SOLVERS, Solver, named
from .problem import Problem
from .steps import Adaptive

Method = str | Solver[Any]

AS_ROWS = "linear levels with slack before the last lower one become constraints"


@dataclass(frozen=True)
class Plan:
    """What would be done.

    Attributes
    ----------
    problem : Problem
        The problem.
    solver : solver object
        The method, with its parameters; an engine is asked by the method "exact".
    reason : str
        Why this one, in words; empty where it was asked for.
    choice : Choice or None
        What the engines said: the one to take, its reductions, why the others do not apply; None where nobody asked.
    refusals : mapping of str
        By name: why an engine or a method that comes before this one does not apply.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> made = tb.plan(problem)
    >>> made.method, made.engine
    ('exact', 'columns')
    """

    problem: Problem
    solver: Solver[Any]
    reason: str
    choice: Choice | None = None
    refusals: Mapping[str, str] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """Its name."""
        return self.solver.info.name

    @property
    def engine(self) -> str | None:
        """The engine behind "exact", or None where another method runs."""
        chosen = self.choice.engine if self.choice is not None and self.method == "exact" else None
        return None if chosen is None else chosen.name

    @cached_property
    def otherwise(self) -> Plan | None:
        """The method that goes on where the engine has no proof; None where nothing is planned for that."""
        if self.choice is None or not getattr(self.solver, "hands_over", False):
            return None
        try:
            made = _by_method(self.problem, self.choice)
        except ValueError:
            return None
        why = f"the exact method by {self.engine} has no proof here, and {made.reason}"
        return replace(made, reason=why, refusals={})

    @property
    def because(self) -> str:
        """The method and why, in one sentence; empty where it was asked for."""
        if not self.reason:
            return ""
        why_not = self.refusals.get("exact", "")
        return f"{self.method}, because {self.reason}" + (
            f"; the exact method does not apply ({why_not})" if why_not else ""
        )

    def __repr__(self) -> str:
        rows = [("method", self.method + (f", by {self.engine}" if self.engine else ""))]
        if self.engine and self.choice is not None:
            rows += [("after", reduction.name) for reduction in self.choice.reductions]
            way = self.choice.otherwise
            while way is not None:
                rows.append(("else", f"by {way.way}"))
                way = way.otherwise
            if self.otherwise is not None:
                rows.append(("else", self.otherwise.method))
        if self.reason:
            rows.append(("because", self.reason))
        rows += [("not", f"{name}: {why}") for name, why in self.refusals.items()]
        problem = repr(self.problem).replace("\n", "\n  ")
        return "Plan\n  " + problem + "\n" + "\n".join(f"  {name:<9} {text}" for name, text in rows)


def plan(problem: Problem, method: Method = "auto") -> Plan:
    """What ``solve`` would do with a problem, and why; why not what comes before it.

    Parameters
    ----------
    problem : Problem
        What to solve.
    method : str or solver, default "auto"
        As for ``solve``.

    Raises
    ------
    ValueError
        Where the method, or with "auto" every method, lacks something that the problem does not have.

    Examples
    --------
    >>> import tiebreak as tb
    >>> tb.plan(tb.Problem(tb.SquaredNorm(), tb.Linear([1.0, 1.0]), tb.Box(0.0, 1.0)))
    Plan
      Problem in 2 variables over Box(0, 1, dim=2)
        first     Linear
        then      SquaredNorm
      method    exact, by rows
      because   the structure of all levels and of the domain allows it
      not       columns: Box(0, 1, dim=2) has rows, and too many vertices
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a tiebreak.Problem, got {type(problem).__name__}")
    if has_earlier_slack(problem):  # solve puts rows in the place of these levels
        made = plan(outline(problem), method)
        return replace(made, problem=problem, reason=made.reason and f"{made.reason}; {AS_ROWS}")
    if isinstance(method, str):
        solver = None if method == "auto" else named(method)
    elif isinstance(method, Solver):
        solver = method
    else:
        raise TypeError(f"method must be a name or a solver such as tiebreak.AnytimeCGBiO(), got {method!r}")
    return _automatic(problem, choose_engine(problem)) if solver is None else _asked_for(problem, solver)


def _asked_for(problem: Problem, solver: Solver[Any]) -> Plan:
    name, choice = solver.info.name, None
    if name == "exact":
        choice = _known(problem, solver) or choose_engine(problem)
    if choice is not None and choice.engine is None:
        others = ", ".join(able(problem, choice))
        raise ValueError(f'method "exact" does not apply: {choice.why_not}; others are {others}')
    if choice is not None:
        solver = solver if choice is getattr(solver, "choice", None) else _exact(choice)
        return Plan(problem, solver, "", choice, choice.refusals)
    return _checked(Plan(problem, solver, ""))


def _automatic(problem: Problem, choice: Choice) -> Plan:
    if choice.engine:
        why = "the structure of all levels and of the domain allows it"
        return Plan(problem, _exact(choice, hands_over=not choice.engine.certain), why, choice, choice.refusals)
    return _by_method(problem, choice)


def _by_method(problem: Problem, choice: Choice) -> Plan:
    """The first-order method for a problem without an engine, or whose engine has found no proof."""
    from .methods import APBAPG, AnytimeCGBiO  # a method is loaded when it may be needed

    if len(problem.levels) > 2:
        raise ValueError(
            f"this chain has no exact method: {choice.why_not}; two levels can be given to solve as a Problem"
        )
    refusals = {"exact": choice.why_not, **choice.refusals} if not choice.engine else dict(choice.refusals)
    if not problem.upper.convex:
        why = "the upper level is not convex and stationarity is what can be proved"
        return _checked(Plan(problem, AnytimeCGBiO(), why, choice, refusals))
    smooth = None not in (problem.upper.smooth_part.smoothness, problem.lower.smooth_part.smoothness)
    if problem.slack == 0 and not unmet(problem, APBAPG, choice):
        return Plan(problem, APBAPG(), "it is the fastest first-order method to a proof", choice, refusals)
    if not (problem.upper.differentiable and problem.lower.differentiable):
        solver = _for_norms(problem, smooth, choice)
        return Plan(problem, solver, "it is the first that takes the norms over this domain", choice, refusals)
    why = "it needs least of a problem"
    return _checked(Plan(problem, AnytimeCGBiO(step=Adaptive()), why, choice, refusals))


def _checked(made: Plan) -> Plan:
    """The plan, unless the problem lacks what its method needs."""
    if missing := unmet(made.problem, made.solver, made.choice):
        others = ", ".join(able(made.problem, made.choice or choose_engine(made.problem)))
        instead = f"; methods that can do without: {others}" if others else ""
        raise ValueError(f"method {made.method!r} needs {', '.join(missing)}, which the problem lacks{instead}")
    return made


def _exact(choice: Choice, hands_over: bool = False) -> Solver[Any]:
    """The exact method with the engine that was chosen, so that it need not ask again."""
    from .methods.exact import Planned

    return Planned(choice, hands_over)


def _known(problem: Problem, solver: Solver[Any]) -> Choice | None:
    """The choice that an exact method of an earlier plan brings along, where it is for these levels and this domain."""
    choice: Choice | None = getattr(solver, "choice", None)
    same = choice is not None and choice.task.levels == problem.levels and choice.task.domain is problem.domain
    return choice if same else None


def _for_norms(problem: Problem, smooth: bool, choice: Choice) -> Solver[Any]:
    """A method that takes the norms of the problem as they are, the better one first."""
    from .methods import AIRG, APBAPG, AdaBiM, BiSG

    ranked: list[type[Solver[Any]]] = [APBAPG, BiSG, AIRG] if smooth else [APBAPG, AdaBiM, AIRG]
    lacking = {cls.info.name: unmet(problem, cls, choice) for cls in ranked}
    for cls in ranked:
        if not lacking[cls.info.name]:
            return cls()
    listing = "; ".join(f"{name} needs {', '.join(missing)}" for name, missing in lacking.items())
    raise ValueError(f"no method takes this problem, whose levels are not differentiable: {listing}")


def unmet(problem: Problem, method: Solver[Any] | type[Solver[Any]], choice: Choice | None) -> list[str]:
    """What the method needs and the problem does not have, in words: oracles, and derivatives or proxes of norms."""
    if method.info.name == "exact":
        assert choice is not None
        return [] if choice.engine else [f"a problem it applies to ({choice.why_not})"]
    if len(problem.levels) > 2:
        return [f"a problem of two levels, not {len(problem.levels)}"]
    offered = {"upper.grad", "lower.grad"} | {f"domain.{name}" for name in problem.domain.oracles}
    return sorted(method.needs - offered) + obstacles(problem, method.nonsmooth)


def able(problem: Problem, choice: Choice) -> list[str]:
    """The methods that lack nothing."""
    return [name for name, cls in SOLVERS.usable().items() if not unmet(problem, cls, choice)]
