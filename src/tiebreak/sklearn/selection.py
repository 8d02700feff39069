"""The model that is best on validation data among those that are best on training data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

from .base import LinearClassifier, LinearRegressor
from .chunks import ChunkedSample
from .data import Sample
from .losses import CLASSIFICATION, REGRESSION, check_loss
from .nested import NestedModel
from .watching import watched


class _Selection(NestedModel):
    """Training loss first, then validation loss, then the norm."""

    validation: Any
    random_state: Any
    _shuffled: type[Any]
    _takes_chunks = True

    def _fit_selected(self, given: Sample, held_out: Sample | None, delta: float = 1.0) -> None:
        self._check_slack()
        train, held_out = self._split(given) if held_out is None else (given, held_out)
        (problem, result), (self.training_loss_, self.validation_loss_) = self._best_on_each([train, held_out], delta)
        self._keep(problem, result)

    def _split(self, sample: Sample) -> tuple[Sample, Sample]:
        """Rows to train on and rows to choose by."""
        if isinstance(sample, ChunkedSample):
            raise ValueError("rows in chunks are not split: give the rows to choose by as X_val and y_val")
        splitter = self.validation
        if isinstance(splitter, (float, np.floating)):
            if sample.y.size < 2:
                raise ValueError("n_samples=1 is too few: one row to train on and one to choose by are needed")
            splitter = self._shuffled(n_splits=1, test_size=float(splitter), random_state=self.random_state)
        if not hasattr(splitter, "get_n_splits"):
            raise ValueError(
                "validation must be a share of the rows, between 0 and 1, or a splitter such as "
                f"sklearn.model_selection.PredefinedSplit, got {splitter!r}"
            )
        splits = list(splitter.split(np.zeros((sample.y.size, 1)), sample.y))
        if len(splits) != 1:
            raise ValueError(
                f"validation must make one split, and this one makes {len(splits)}: one model cannot be chosen by all "
                "of them, since each trains on what another one chooses by"
            )
        return sample.rows(splits[0][0]), sample.rows(splits[0][1])

    def _held_out(self, X_val: Any, y_val: Any, sample_weight_val: Any) -> Sample | None:
        """The rows to choose by, where they are given."""
        if X_val is None and y_val is None:
            return None
        if X_val is None or y_val is None:
            raise ValueError("X_val and y_val go together: one was given, and the other was not")
        held_out: Sample = self._more(X_val, y_val, sample_weight_val)
        return held_out


class SelectionRegressor(LinearRegressor, _Selection):
    """The linear model that is best on validation data among those that are (nearly) best on training data.

    With slack 0 and where both leave a choice, it is the one with the smallest coefficients.

    Parameters
    ----------
    loss : {"squared", "poisson", "huber"}, default "squared"
        The mean squared error; the Poisson loss with a logarithmic link (y >= 0); or Huber's. On both kinds of rows.
    slack : float, default 0
        How much worse than the best on training rows the model may be, as a share of the least loss. With 0, the
        training rows leave a choice only where several models are best: more features than rows, or dependent ones.
    validation : float or splitter, default 0.2
        The share of rows to choose by, or a splitter of scikit-learn that makes one split. Not used where X_val and
        y_val are given to ``fit``.
    fit_intercept : bool, default True
        Whether there is one.
    delta : float, default 1.35
        Where Huber's loss turns linear, in the units of y.
    random_state : int, RandomState or None, default None
        For the share of rows.
    bound : float or None, default 1000
        For losses other than "squared", no feature may move scores by more than this (times the size of y for Huber's);
        sizes are root mean squares. So far all models are considered; a warning says where this had a say.
    tol : float, default 1e-6
        What is to be proved: losses to this part of those of the zero model, the norm to this part of its unit, as in
        ``MinNormRegressor``.
    max_time : float or None, default 60
        Most seconds of a fit.

    Attributes
    ----------
    coef_ : array of length d
        The coefficients.
    intercept_ : float
        The intercept; 0 without one.
    training_loss_, validation_loss_ : float
        Of the model, on either kind of rows.
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
    >>> from tiebreak.sklearn import SelectionRegressor
    >>> model = SelectionRegressor(fit_intercept=False).fit([[1.0, 1.0]], [2.0], X_val=[[1.0, 0.0]], y_val=[3.0])
    >>> model.coef_.round(9)
    array([ 3., -1.])
    """

    _shuffled = ShuffleSplit

    def __init__(
        self,
        loss: str = "squared",
        slack: float = 0.0,
        validation: Any = 0.2,
        *,
        fit_intercept: bool = True,
        delta: float = 1.35,
        random_state: Any = None,
        bound: float | None = 1e3,
        tol: float = 1e-6,
        max_time: float | None = 60.0,
    ) -> None:
        self.loss = loss
        self.slack = slack
        self.validation = validation
        self.fit_intercept = fit_intercept
        self.delta = delta
        self.random_state = random_state
        self.bound = bound
        self.tol = tol
        self.max_time = max_time

    @watched
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> SelectionRegressor:
        """Find the model.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, n x d
            The features.
        y : array of length n
            The targets.
        sample_weight : array of length n, optional
            How much each row counts; equal by default.
        X_val, y_val, sample_weight_val : optional
            Rows to choose by; without them, ``validation`` says which of the rows these are.

        Returns
        -------
        SelectionRegressor
            Itself.
        """
        check_loss(self.loss, REGRESSION)
        given = self._sample(X, y, sample_weight)
        self._fit_selected(given, self._held_out(X_val, y_val, sample_weight_val), self.delta)
        return self


class SelectionClassifier(LinearClassifier, _Selection):
    """The linear classifier that is best on validation data among those that are (nearly) best on training data.

    With slack 0 and where both leave a choice, it is the one with the smallest coefficients.

    Parameters
    ----------
    loss : {"squared_hinge", "logistic", "squared"}, default "squared_hinge"
        The squared hinge loss always has a minimum. The logistic loss has one only where no plane separates the
        classes; it has probabilities. "squared" fits -1 and 1 by least squares.
    slack : float, default 0
        How much worse than the best on training rows the model may be, as a share of the least loss. With 0, the
        training rows leave a choice only where several models are best: more features than rows, dependent ones, or
        classes that a plane separates.
    validation : float or splitter, default 0.2
        The share of rows to choose by, with both classes in the same shares, or a splitter of scikit-learn that makes
        one split. Not used where X_val and y_val are given to ``fit``.
    fit_intercept : bool, default True
        Whether there is one.
    random_state : int, RandomState or None, default None
        For the share of rows.
    bound : float or None, default 1000
        For losses other than "squared", no feature may move scores by more than this (times the size of y for Huber's);
        sizes are root mean squares. So far all models are considered; a warning says where this had a say.
    tol : float, default 1e-6
        What is to be proved: losses to this part of those of the zero model, the norm to this part of its unit, as in
        ``MinNormClassifier``.
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
    training_loss_, validation_loss_ : float
        Of the model, on either kind of rows.
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
    >>> from tiebreak.sklearn import SelectionClassifier
    >>> model = SelectionClassifier("squared", fit_intercept=False)
    >>> model.fit([[1.0, 1.0], [-1.0, -1.0]], [1, 0], X_val=[[3.0, 1.0]], y_val=[0]).coef_.round(9)
    array([[-1.,  2.]])
    """

    _shuffled = StratifiedShuffleSplit

    def __init__(
        self,
        loss: str = "squared_hinge",
        slack: float = 0.0,
        validation: Any = 0.2,
        *,
        fit_intercept: bool = True,
        random_state: Any = None,
        bound: float | None = 1e3,
        tol: float = 1e-6,
        max_time: float | None = 60.0,
    ) -> None:
        self.loss = loss
        self.slack = slack
        self.validation = validation
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.bound = bound
        self.tol = tol
        self.max_time = max_time

    @watched
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> SelectionClassifier:
        """Find the classifier.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, n x d
            The features.
        y : array of length n
            The classes: two.
        sample_weight : array of length n, optional
            How much each row counts; equal by default.
        X_val, y_val, sample_weight_val : optional
            Rows to choose by; without them, ``validation`` says which of the rows these are.

        Returns
        -------
        SelectionClassifier
            Itself.
        """
        check_loss(self.loss, CLASSIFICATION)
        given = self._sample(X, y, sample_weight)
        self._fit_selected(given, self._held_out(X_val, y_val, sample_weight_val))
        return self
