"""What fairness costs: v(eps), the smallest covariance among the classifiers whose loss is within eps of the best.

For the scores the problem is convex, and every point of the curve comes with a proved bracket. For the probabilities,
the paper's objective, it is not: linearising the covariance c at the last point gives a convex problem of the same
kind, solved exactly; a few rounds of that end at points that keep the slack and bound v(eps) from above. No bound from
below is known for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Vector
from ...objectives import LeastSquares
from ...objectives.covariance import SquaredCovariance
from ...problem import Problem
from ..experiments.fairness import accuracy, p_rule, problem, score_problem
from ..experiments.people import People
from ..workshop import Made
from .solving import solve

WANTED = 80.0
"""The four-fifths rule of the US Equal Employment Opportunity Commission: a p%-rule of 80 at least."""


def slacks_for(g_star: float, count: int) -> list[float]:
    """Geometric, from a ten-thousandth of g* to a fifth of it."""
    return [float(f"{slack:.3g}") for slack in g_star * np.geomspace(1e-4, 0.2, count)]


def price_of(people: People, slack: float, rounds: int) -> dict[str, Any]:
    """A point of both curves: for the scores with its bracket, for the probabilities after some rounds."""
    fair = problem(people)
    proved = solve(score_problem(people).with_slack(slack), "exact", tol_upper=1e-6, tol_lower=1e-7)
    scores, points = proved.x, [proved.x]
    for _ in range(rounds):
        points.append(_next(fair, points[-1], slack))
    best = min(points, key=fair.upper.value)
    certificate = proved.certificate
    return {
        "slack": slack,
        "score_f": proved.f,
        "score_bracket": [certificate.f_lower, certificate.f_upper],
        "score_p_rule": p_rule(people, people.test, scores),
        "score_accuracy": accuracy(people, people.test, scores),
        "f": fair.upper.value(best),
        "g": fair.lower.value(best),
        "x": best,
        "p_rule": p_rule(people, people.test, best),
        "accuracy": accuracy(people, people.test, best),
        "validation_p_rule": p_rule(people, people.validation, best),
        "validation_accuracy": accuracy(people, people.validation, best),
    }


def _next(fair: Problem, x: Vector, slack: float) -> Vector:
    """The minimiser of (c(x) + <grad c(x), z - x>)^2 over the same z."""
    upper = fair.upper
    assert isinstance(upper, SquaredCovariance)
    t = upper.image(x)
    decay = np.exp(-np.abs(t))
    slope = (upper.w * (decay / (1 + decay) ** 2)) @ upper.A
    linear = LeastSquares(slope[None, :], [float(slope @ x) - upper.covariance(t)])
    return solve(Problem(linear, fair.lower, fair.domain, slack=slack), "exact", tol_upper=1e-10, tol_lower=1e-8).x


def to_take(curve: list[Made]) -> Made:
    """The point a practitioner should take: the least slack that reaches the four-fifths rule on the validation rows,
    or, where none does, the one that comes nearest."""
    fair_enough = [point for point in curve if float(point["validation_p_rule"]) >= WANTED]
    if fair_enough:
        return min(fair_enough, key=lambda point: float(point["slack"]))
    return max(curve, key=lambda point: float(point["validation_p_rule"]))
