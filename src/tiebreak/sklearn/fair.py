"""The fairest classifier among those that are nearly the best."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from ..arrays import Vector, as_positive, as_scalar
from ..objectives import LeastSquares, Objective
from ..problem import Problem
from ..result import Result
from ..sets import Box
from ..tradeoff import Tradeoff, tradeoff
from .base import Clock, LinearClassifier, at_ends
from .data import Sample, domain_of, least_norm, names_of
from .groups import Sensitive, sensitive_columns
from .losses import CLASSIFICATION, check_loss, loss_of, reach_of, unit_of_loss
from .watching import users_call, watched

ROOM = 2.0
"""Coefficients of a fair classifier may be so many times those of the best one and of the best without covariance."""


class FairClassifier(LinearClassifier):
    """The linear classifier whose scores vary least with sensitive features, among those that are nearly the best.

    First the least loss is found, without any regard to fairness; then, among all classifiers whose loss is within
    ``slack`` of it, the one with the least sum of squared covariances of its scores with the sensitive features. Where
    these can be zero within the slack, it is the one with the least loss among those.

    Parameters
    ----------
    slack : float, default 0.01
        How much loss fairness may cost, as a share of the least loss.
    loss : {"logistic", "squared_hinge", "squared"}, default "logistic"
        What makes a good classifier.
    C : float, default 1
        As in scikit-learn's LogisticRegression: the loss, of which a share is given away, is the mean loss of the rows
        plus ``norm(coef_)^2 / (2 C n)``. Infinite for no penalty; see the notes before you do that.
    fit_intercept : bool, default True
        Whether there is one.
    bound : float or None, default 1000
        For losses other than "squared", no feature may move scores by more than this;
        sizes are root mean squares. So far all models are considered; a warning says where this had a say.
    tradeoff : sequence of float, optional
        Further shares of the least loss at which the curve ``tradeoff_`` is wanted.
    tol : float, default 1e-6
        What is to be proved: the loss to this part of that of the zero model, the sum of squares to this part of the
        one that scores of size 1 would have at most.
    max_time : float or None, default 60
        Most seconds of a fit.

    Attributes
    ----------
    classes_ : array of length 2
        The classes; the second one where the score is positive.
    coef_ : array, 1 x d
        The coefficients.
    intercept_ : array of length 1
        The intercept; 0 without one.
    covariances_ : dict
        By the names of sensitive columns, the covariance with the scores on the training rows; a group is a column of
        zeros and ones, a quantity is in units of its standard deviation.
    loss_, best_loss_ : float
        The loss of the classifier; and the least of all (the proved end of its bracket that is below).
    has_say_ : bool or None
        False where it is proved that fairness has no say among the best classifiers, that is, at slack 0: the loss
        leaves no choice of scores there. Else None.
    result_ : tiebreak.Result
        The answer of the last ``tiebreak.solve``, with its certificate.
    tradeoff_ : tiebreak.Tradeoff
        Half the sum of squared covariances over the loss allowed, each point with its bracket; ``tradeoff_.plot()``
        draws it. Only where ``tradeoff`` is given.
    n_iter_ : int
        Updates, at least 1.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array
        Their names, where X had some.

    Notes
    -----
    Without a penalty, a feature that occurs in one class alone has a coefficient that may grow for ever at no loss, and
    with it the scores of a few rows: so the covariance can be brought to zero without a single decision changed.

    The covariance is that of the *scores* (Zafar et al., AISTATS 2017), not of the decisions: it is a linear function
    of the coefficients, so that the problem is convex and the answer can be proved. Equal mean scores do not mean equal
    rates of positive decisions; look at those as well.

    Examples
    --------
    >>> from tiebreak.sklearn import FairClassifier
    >>> X = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0], [4.0, 0.0], [5.0, 0.0]]
    >>> y, sex = [0, 0, 1, 0, 1, 0], ["f", "f", "m", "f", "m", "m"]
    >>> for slack in (0.001, 0.01, 0.1):
    ...     model = FairClassifier(slack, loss="squared").fit(X, y, sensitive_features=sex)
    ...     print(round(model.covariances_["sensitive=m"], 4), round(model.loss_ / model.best_loss_, 4))
    0.1759 1.001
    0.1536 1.01
    0.0829 1.1
    """

    def __init__(
        self,
        slack: float = 0.01,
        *,
        loss: str = "logistic",
        C: float = 1.0,
        fit_intercept: bool = True,
        tradeoff: Sequence[float] | None = None,
        bound: float | None = 1e3,
        tol: float = 1e-6,
        max_time: float | None = 60.0,
    ) -> None:
        self.slack = slack
        self.loss = loss
        self.C = C
        self.fit_intercept = fit_intercept
        self.tradeoff = tradeoff
        self.bound = bound
        self.tol = tol
        self.max_time = max_time

    @watched
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, sensitive_features: Any = None) -> FairClassifier:
        """Find the classifier.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, n x d
            The features.
        y : array of length n
            The classes: two.
        sample_weight : array of length n, optional
            How much each row counts, in the loss and in the covariances; equal by default.
        sensitive_features : array, Series or DataFrame of n rows
            What scores should not vary with: floats with more than two values are quantities; everything else names
            groups. Without them, the smallest of the best classifiers is found, with a warning.

        Returns
        -------
        FairClassifier
            Itself.
        """
        check_loss(self.loss, CLASSIFICATION)
        if as_scalar(self.slack, "slack") < 0:
            raise ValueError(f"slack must not be negative, got {self.slack:g}")
        sample, clock = self._sample(X, y, sample_weight), Clock(self.max_time)
        if sensitive_features is None:
            warnings.warn(
                "no sensitive_features were given: this is the smallest of the best classifiers, fair or not",
                UserWarning,
                stacklevel=users_call(),
            )
            self._keep(*self._smallest(sample, clock))
            return self
        counted = slice(None) if sample_weight is None else np.flatnonzero(np.asarray(sample_weight))
        sensitive = sensitive_columns(sensitive_features, _num_samples(X), counted, sample.shares)
        rows = sensitive.covariances(sample.X, sample.shares)
        if self.fit_intercept:  # a constant does not vary with anything
            rows = np.hstack([rows, np.zeros((sensitive.size, 1))])
        problem = self._problem(LeastSquares(rows, np.zeros(sensitive.size)), sample)
        self._keep(problem, self._fairest(problem, _most_unfair(sensitive, sample), clock))
        self.loss_ = problem.lower.value(self.result_.x)
        self.covariances_ = dict(zip(sensitive.names, map(float, rows @ self.result_.x), strict=True))
        return self

    def _problem(self, upper: Objective, sample: Sample) -> Problem:
        intercept = bool(self.fit_intercept)
        names = names_of(self, self.n_features_in_, intercept)
        domain = domain_of(sample, intercept, reach_of(self.loss, sample, self.bound))
        loss = loss_of(self.loss, sample, intercept)
        if np.inf != self.C:
            weight = 1 / (as_positive(self.C, "C") * sample.total)
            loss = loss + weight * least_norm("l2", self.n_features_in_, intercept, False)
        return Problem(upper, loss, domain, names=names)

    def _smallest(self, sample: Sample, clock: Clock) -> tuple[Problem, Result]:
        """Of the best classifiers, where there is nothing to be fair to."""
        problem = self._problem(least_norm("l2", self.n_features_in_, bool(self.fit_intercept), False), sample)
        return problem, self._solved(problem, sample.scale**-2, unit_of_loss(problem.lower, problem.dim), clock)

    def _fairest(self, problem: Problem, unit: float, clock: Clock) -> Result:
        """Within the slack; of those without any covariance, where there are some, the one with the least loss."""
        unit_of = unit_of_loss(problem.lower, problem.dim)
        best = self._solved(problem, unit, unit_of, clock)
        self.best_loss_ = best.certificate.g_lower
        self.has_say_ = False if best.certificate.upper_constant or best.certificate.lower_unique else None
        if self.slack == 0 and self.has_say_ is False:
            message = "fairness has no say at slack 0: every best classifier has the same covariances"
            warnings.warn(message, UserWarning, stacklevel=users_call())
        if best.certificate.g_upper - self.best_loss_ > self.tol * unit_of:  # nothing to count a slack from
            return best
        fair = replace(problem, upper=problem.lower, lower=problem.upper)
        uncorrelated = self._solved(fair, unit_of, unit, clock)
        between = _around(problem, best.x, uncorrelated.x)
        if self.tradeoff is not None:
            self.tradeoff_ = self._curve(between, unit, unit_of, clock)
        if self.slack == 0:
            return best
        allowed = self.slack * abs(self.best_loss_)
        if uncorrelated.success and uncorrelated.f <= self.best_loss_ + allowed:
            return uncorrelated
        result = self._solved(between.with_slack(allowed), unit, unit_of, clock)
        if between is problem or not at_ends(between, result.x).size:
            return result
        return self._solved(problem.with_slack(allowed), unit, unit_of, clock)

    def _curve(self, problem: Problem, unit: float, unit_of: float, clock: Clock) -> Tradeoff:
        shares = np.asarray(self.tradeoff, dtype=np.float64)
        slacks = shares * abs(self.best_loss_)
        return tradeoff(problem, slacks, max_time=clock.left, tol_upper=self.tol * unit, tol_lower=self.tol * unit_of)


def _most_unfair(sensitive: Sensitive, sample: Sample) -> float:
    """Half the sum of squared covariances that scores of size 1 have at most: the unit of the upper level."""
    return float((sample.shares @ sensitive.columns**2).sum()) / 2


def _around(problem: Problem, best: Vector, uncorrelated: Vector) -> Problem:
    """The same over a box with room around both ends of the curve: bounds that are nearer make sharper proofs.

    A solution inside that no bound holds is one of the larger box too: the levels are convex.
    """
    if not problem.domain.bounded:
        return problem
    ends = ROOM * np.maximum(np.abs(best), np.abs(uncorrelated)) + 1.0
    return replace(problem, domain=Box(-ends, ends))
