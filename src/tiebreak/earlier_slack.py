"""Slack of a level before the last lower one: a linear level with slack is a constraint on all that come after it.

"Within 1 % of the cheapest, then with the least emissions, then as smooth as can be": once the optimum of the first
level is known, <c, x> <= optimum + slack is a row like any other, which is met with room to spare. The optimum is known
up to a bracket; the slack counts from its lower end, so that the answer respects it whatever the truth is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .arrays import UNIT_ROUNDOFF, Vector
from .certificate import Level
from .objectives.base import Objective
from .problem import Problem, share_of
from .result import Result
from .sets.base import Domain

KNOWN = 1e-6
"""How far apart the ends of a bracket may be, relative to the slack that counts from it."""


def has_earlier_slack(problem: Problem) -> bool:
    """Whether some level before the last lower one has slack."""
    return any(problem.slack_before) or any(problem.relative_slack_before)


def outline(problem: Problem) -> Problem:
    """The problem with rows in the place of earlier levels with slack; what they are limited to is not known yet."""
    domain = problem.domain
    for level, _, _ in _given(problem):
        domain = _below(domain, level, np.inf)
    return _remaining(problem, domain)


@dataclass(frozen=True)
class Staged:
    """A problem whose earlier levels with slack have become rows, and the brackets of those levels by number."""

    original: Problem
    problem: Problem
    known: dict[int, Level]

    @classmethod
    def of(cls, problem: Problem, solve: Callable[[Problem], Result]) -> Staged:
        """Find out the optimum of each earlier level with slack, and put its row in its place."""
        domain = problem.domain
        known: dict[int, Level] = {}
        earlier = (*problem.before, problem.lower)
        for level, k, (slack, share) in _given(problem):
            held = [earlier[i] for i in range(k) if i not in known]
            found = solve(Problem(level, held, domain)).levels[-1]
            slack = slack or share_of(share, found.lower, found.upper)
            if not found.upper - found.lower <= KNOWN * slack:
                raise ValueError(
                    f"slack of level {k + 1}: its optimum is known to lie in [{found.lower:.6g}, {found.upper:.6g}], "
                    f"which is too wide for a slack of {slack:.3g} to count from; give more slack, or more time"
                )
            known[k] = found if not known else replace(found, duals=None)  # those of rows that nobody gave
            domain = _below(domain, level, _end(level, found.lower, slack))
        return cls(problem, _remaining(problem, domain), known)

    def completed(self, result: Result) -> Result:
        """The result with all levels, those with slack too."""
        rest, levels, assumes = iter(result.levels), [], list(result.certificate.assumes)
        for k, level in enumerate(self.original.levels):
            if k not in self.known:
                levels.append(replace(next(rest), duals=None))
                continue
            found = self.known[k]
            levels.append(replace(found, value=level.value(result.x)))
            width = found.upper - found.lower
            assumes.append(
                f"the slack of level {k + 1} counts from {found.lower:.17g}, at most {width:.1e} below its optimum"
            )
        certificate = replace(result.certificate, assumes=tuple(assumes))
        return replace(result, levels=tuple(levels), certificate=certificate)


def _given(problem: Problem) -> Sequence[tuple[Objective, int, tuple[float, float]]]:
    """The earlier levels with slack: each with its number, slack and relative slack."""
    both = zip(problem.before, problem.slack_before, problem.relative_slack_before, strict=True)
    return [(level, k, (slack, share)) for k, (level, slack, share) in enumerate(both) if slack or share]


def _below(domain: Domain, level: Objective, end: float) -> Domain:
    """The part of the domain where <c, x> of a linear level is at most this."""
    from .sets.half_space import below

    return below(domain, _slope(level), end)


def _slope(level: Objective) -> Vector:
    """c, where the level is <c, x>."""
    form = level.form
    if form is None or form.losses or form.bends or form.norms:
        raise ValueError(
            f"{type(level).__name__} with slack before the last lower level: only linear levels can have slack there, "
            "where it becomes a constraint; put the level last but one, or write it as a constraint of the domain"
        )
    return sum((float(scale) * c for c, scale in form.linear), np.zeros(form.linear[0].c.size))


def _end(level: Objective, optimum: float, slack: float) -> float:
    """What <c, x> may be: without the constant of the level, rounded down."""
    assert level.form is not None
    end = optimum + slack
    constant = float(level.form.constant)
    return end if constant == 0 else end - constant - 4 * UNIT_ROUNDOFF * (abs(optimum) + slack + abs(constant))


def _remaining(problem: Problem, domain: Domain) -> Problem:
    """The problem without its earlier levels with slack."""
    gone = {k for _, k, _ in _given(problem)}
    held = tuple(level for k, level in enumerate(problem.before) if k not in gone)
    none = (0.0,) * len(held)
    return replace(problem, domain=domain, before=held, slack_before=none, relative_slack_before=none)
