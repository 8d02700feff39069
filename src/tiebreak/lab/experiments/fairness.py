"""A fair classifier among the best ones: logistic loss below, the covariance of predictions and sex above.

Example 2 of the CG-BiO paper. Its upper objective squares the covariance of the *probabilities*, which is not convex;
the covariance of the *scores* (Zafar et al., AISTATS 2017) is, so that its trade-off curve can be proved. Both depend
on x through the predictions alone, which are the same for all minimisers of the loss: on those, neither has a choice.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Vector
from ...objectives import LeastSquares, Logistic, SquaredCovariance
from ...objectives.covariance import CovarianceLink
from ...objectives.linked import Linked
from ...problem import Problem
from ...sets import L1Ball
from .people import Index, People

RADIUS = 100.0
"""lambda of the paper."""


def problem(people: People, *, authors_gradient: bool = False, radius: float = RADIUS) -> Problem:
    """The paper's problem on the training rows."""
    X, sex = people.X[people.train], people.sex[people.train]
    upper = AuthorsCovariance(X, sex) if authors_gradient else SquaredCovariance(X, sex)
    return Problem(upper, Logistic(X, people.y[people.train]), L1Ball(radius))


def score_problem(people: People, radius: float = RADIUS) -> Problem:
    """The same with a convex upper level: half the squared covariance of scores and sex."""
    X, sex = people.X[people.train], people.sex[people.train]
    covariance = (sex - sex.mean()) @ X / len(X)
    return Problem(LeastSquares(covariance[None, :], [0.0]), Logistic(X, people.y[people.train]), L1Ball(radius))


class AuthorsCovariance(Linked):
    """The squared covariance with the gradient of the released code, which is wrong; for comparison with its curves."""

    def __init__(self, A: Vector, v: Vector) -> None:
        super().__init__(A, AuthorsLink(**vars(CovarianceLink.of(np.asarray(v, dtype=np.float64)))))


class AuthorsLink(CovarianceLink):
    """A misplaced bracket turns sigma' = e / (1 + e)^2, e = exp(-|t|), into e / (1 + e^2)."""

    def value_and_slope(self, t: Vector) -> tuple[float, Vector]:
        covariance, decay = self.covariance(t), np.exp(-np.abs(t))
        return covariance**2, 2 * covariance * self.w * (decay / (1 + decay**2))


def accuracy(people: People, rows: Index, x: Vector) -> float:
    """The share of right predictions; a score of 0 predicts the class -1."""
    return float(np.mean((people.X[rows] @ x > 0) == (people.y[rows] > 0)))


def p_rule(people: People, rows: Index, x: Vector) -> float:
    """The smaller rate of positive predictions in percent of the larger one; 100 where nobody gets one.

    Examples
    --------
    >>> from tiebreak.lab.experiments.people import diabetes_people
    >>> people = diabetes_people()
    >>> p_rule(people, people.test, np.zeros(55))
    100.0
    """
    positive, male = people.X[rows] @ x > 0, people.sex[rows] == 1
    rates = sorted([float(positive[male].mean()), float(positive[~male].mean())])
    return 100.0 * rates[0] / rates[1] if rates[1] > 0 else 100.0
