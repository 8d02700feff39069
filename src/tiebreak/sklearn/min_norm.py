"""The smallest model among all that minimise the loss."""

from __future__ import annotations

from typing import Any

from ..problem import Problem
from .base import Clock, LinearClassifier, LinearModel, LinearRegressor
from .data import Sample, domain_of, least_norm, names_of
from .losses import CLASSIFICATION, REGRESSION, check_loss, loss_of, reach_of, unit_of_loss, unit_of_scores
from .watching import watched


class _MinNorm(LinearModel):
    """Loss first, then the norm."""

    norm: str
    positive: bool
    penalize_intercept: bool
    _takes_chunks = True

    def _fit_smallest(self, sample: Sample, delta: float = 1.0) -> None:
        features, intercept = int(self.n_features_in_), bool(self.fit_intercept)
        loss = loss_of(self.loss, sample, intercept, delta)
        problem = Problem(
            least_norm(self.norm, features, intercept, self.penalize_intercept),
            loss,
            domain_of(sample, intercept, reach_of(self.loss, sample, self.bound), self.positive),
            names=names_of(self, features, intercept),
        )
        coefficient = unit_of_scores(self.loss, sample) / sample.scale
        unit_of_norm = coefficient**2 if self.norm == "l2" else coefficient
        self._keep(problem, self._solved(problem, unit_of_norm, unit_of_loss(loss, problem.dim), Clock(self.max_time)))


class MinNormRegressor(LinearRegressor, _MinNorm):
    """The linear model with the smallest coefficients among all that minimise the loss, with a proof.

    There is no penalty whose weight would have to be chosen: the loss comes first, whatever the norm costs.

    Parameters
    ----------
    loss : {"squared", "poisson", "huber"}, default "squared"
        The mean squared error; the Poisson loss with a logarithmic link (y >= 0); or Huber's.
    norm : {"l2", "l1"}, default "l2"
        Of the coefficients: the Euclidean norm, or the sum of absolute values.
    positive : bool, default False
        Whether coefficients must not be negative; the intercept may be.
    penalize_intercept : bool, default False
        Whether the intercept counts in the norm.
    fit_intercept : bool, default True
        Whether there is one.
    delta : float, default 1.35
        Where Huber's loss turns linear, in the units of y.
    bound : float or None, default 1000
        For losses other than "squared", no feature may move scores by more than this (times the size of y for Huber's);
        sizes are root mean squares. So far all models are considered; a warning says where this had a say.
    tol : float, default 1e-6
        What is to be proved: the loss to this part of that of the zero model, the norm to this part of its unit. That
        unit is (size of y) / (size of X), squared for "l2", with root mean squares as sizes; for Poisson y counts as 1.
    max_time : float or None, default 60
        Most seconds of a fit.

    Attributes
    ----------
    coef_ : array of length d
        The coefficients.
    intercept_ : float
        The intercept; 0 without one.
    result_ : tiebreak.Result
        The answer of ``tiebreak.solve``, with its certificate; the intercept is the last variable.
    n_iter_ : int
        Updates, at least 1.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array
        Their names, where X had some; they are those of ``result_.named``.

    See Also
    --------
    sklearn.linear_model.LinearRegression : has the least norm too, for the squared loss and coefficients of any sign.

    Examples
    --------
    >>> from tiebreak.sklearn import MinNormRegressor
    >>> X, y = [[1.0, 3.0, 0.0], [0.0, 1.0, 1.0]], [3.0, 1.0]
    >>> model = MinNormRegressor(norm="l1").fit(X, y)
    >>> model.coef_.round(9) + 0.0, model.result_.success
    (array([0., 1., 0.]), True)
    """

    def __init__(
        self,
        loss: str = "squared",
        norm: str = "l2",
        positive: bool = False,
        penalize_intercept: bool = False,
        *,
        fit_intercept: bool = True,
        delta: float = 1.35,
        bound: float | None = 1e3,
        tol: float = 1e-6,
        max_time: float | None = 60.0,
    ) -> None:
        self.loss = loss
        self.norm = norm
        self.positive = positive
        self.penalize_intercept = penalize_intercept
        self.fit_intercept = fit_intercept
        self.delta = delta
        self.bound = bound
        self.tol = tol
        self.max_time = max_time

    @watched
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MinNormRegressor:
        """Find the model.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, n x d
            The features.
        y : array of length n
            The targets.
        sample_weight : array of length n, optional
            How much each row counts in the loss; equal by default.

        Returns
        -------
        MinNormRegressor
            Itself.
        """
        check_loss(self.loss, REGRESSION)
        self._fit_smallest(self._sample(X, y, sample_weight), self.delta)
        return self


class MinNormClassifier(LinearClassifier, _MinNorm):
    """The linear classifier with the smallest coefficients among all that minimise the loss, with a proof.

    With the squared hinge loss, that is the classifier with the widest margin where the classes can be separated (the
    support vector machine without a parameter), and the smallest of the best elsewhere.

    Parameters
    ----------
    loss : {"squared_hinge", "logistic", "squared"}, default "squared_hinge"
        The squared hinge loss always has a minimum. The logistic loss has one only where no plane separates the
        classes; it has probabilities. "squared" fits -1 and 1 by least squares.
    norm : {"l2", "l1"}, default "l2"
        Of the coefficients: the Euclidean norm, or the sum of absolute values.
    positive : bool, default False
        Whether coefficients must not be negative; the intercept may be.
    penalize_intercept : bool, default False
        Whether the intercept counts in the norm.
    fit_intercept : bool, default True
        Whether there is one.
    bound : float or None, default 1000
        For losses other than "squared", no feature may move scores by more than this (times the size of y for Huber's);
        sizes are root mean squares. So far all models are considered; a warning says where this had a say.
    tol : float, default 1e-6
        What is to be proved: the loss to this part of that of the zero model, the norm to this part of its unit. That
        unit is 1 / (root mean square of X), squared for "l2".
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
    result_ : tiebreak.Result
        The answer of ``tiebreak.solve``, with its certificate; the intercept is the last variable.
    n_iter_ : int
        Updates, at least 1.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array
        Their names, where X had some; they are those of ``result_.named``.

    Examples
    --------
    >>> from tiebreak.sklearn import MinNormClassifier
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 5.0]], ["no", "no", "yes", "yes"]
    >>> model = MinNormClassifier().fit(X, y)
    >>> model.coef_.round(6) + 0.0, model.intercept_.round(6)
    (array([[1., 0.]]), array([-1.]))
    """

    def __init__(
        self,
        loss: str = "squared_hinge",
        norm: str = "l2",
        positive: bool = False,
        penalize_intercept: bool = False,
        *,
        fit_intercept: bool = True,
        bound: float | None = 1e3,
        tol: float = 1e-6,
        max_time: float | None = 60.0,
    ) -> None:
        self.loss = loss
        self.norm = norm
        self.positive = positive
        self.penalize_intercept = penalize_intercept
        self.fit_intercept = fit_intercept
        self.bound = bound
        self.tol = tol
        self.max_time = max_time

    @watched
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MinNormClassifier:
        """Find the classifier.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, n x d
            The features.
        y : array of length n
            The classes: two.
        sample_weight : array of length n, optional
            How much each row counts in the loss; equal by default.

        Returns
        -------
        MinNormClassifier
            Itself.
        """
        check_loss(self.loss, CLASSIFICATION)
        self._fit_smallest(self._sample(X, y, sample_weight))
        return self
