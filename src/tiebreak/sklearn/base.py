"""What the estimators share: input, the call of ``solve``, and what becomes of its answer."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_feature_names, _check_sample_weight, check_is_fitted, validate_data

from ..arrays import Vector, as_positive
from ..problem import Problem
from ..result import Result
from ..solve import solve
from .chunks import ChunkedSample, as_rows, head_of, in_chunks, over_blocks
from .data import Sample
from .losses import predicted
from .watching import CallbackSupportMixin, run_of, users_call

NEAR = 0.999
"""A coefficient beyond this part of its bound is held by it."""


class Clock:
    """What is left of the time of a fit, which several runs share."""

    def __init__(self, max_time: float | None) -> None:
        self.ends = None if max_time is None else perf_counter() + as_positive(max_time, "max_time")

    @property
    def left(self) -> float | None:
        """Seconds; None without a limit."""
        return None if self.ends is None else max(self.ends - perf_counter(), 1e-3)


class LinearModel(CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """A linear model found by ``tiebreak.solve``: its scores are X @ coef_ + intercept_."""

    fit_intercept: bool
    loss: str
    bound: float | None
    tol: float
    max_time: float | None
    result_: Result
    coef_: Any
    intercept_: Any

    def _checked(self, X: Any, y: Any, sample_weight: Any, reset: bool = True) -> tuple[Any, Any, Any]:
        """Features as finite doubles, dense or CSR; targets; weights, not negative."""
        X, y = validate_data(self, X, y, reset=reset, accept_sparse="csr", dtype=np.float64, y_numeric=self._y_numeric)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            if not sample_weight.any():
                raise ValueError("sample_weight is zero for every row; at least one must count")
        return X, y, sample_weight

    _y_numeric = False
    _takes_chunks = False

    def _in_chunks(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Any, Any, Any]:
        """The same of rows in chunks, as chunked matrices; what they hold is seen by the passes over them."""
        if not self._takes_chunks:
            raise TypeError(
                f"{type(self).__name__} needs its rows on one machine and does not take data in chunks; "
                "MinNormRegressor, MinNormClassifier, SelectionRegressor and SelectionClassifier do"
            )
        _check_feature_names(self, head_of(X), reset=reset)
        X, y, sample_weight = as_rows(X, y, sample_weight)
        if reset:
            self.n_features_in_ = X.dim
        elif X.dim != self.n_features_in_:
            raise ValueError(f"X has {X.dim} features, but {type(self).__name__} is expecting {self.n_features_in_}")
        return X, y, sample_weight

    def _solved(self, problem: Problem, unit_upper: float, unit_lower: float, clock: Clock) -> Result:
        """The answer, to a tolerance in the units of the two last levels."""
        tol = as_positive(self.tol, "tol")
        upper, lower = tol * unit_upper, tol * unit_lower
        with run_of(self) as seen:
            return solve(problem, tol_upper=upper, tol_lower=lower, max_time=clock.left, callback=seen)

    def _keep(self, problem: Problem, result: Result) -> None:
        """The answer as fitted attributes, with a warning where its proof is not complete."""
        self.result_ = result
        self.n_iter_ = max(result.nit, 1)
        self._set_coefficients(result.x)
        if (held := at_ends(problem, result.x)).size:
            names = ", ".join(problem.names[j] if problem.names else f"x[{j}]" for j in held[:5])
            warnings.warn(
                f"{type(self).__name__}: the bound of {names}{' ...' if held.size > 5 else ''} has a say. The loss "
                "may have no minimum, as the logistic loss has none where classes can be separated; or bound is "
                "too small",
                ConvergenceWarning,
                stacklevel=users_call(),
            )
        if not result.success:
            warnings.warn(
                f"{type(self).__name__}: the solution is not proved to the tolerance ({result.status}). "
                f"{result.message} See result_; more time (max_time) or a larger tol may help.",
                ConvergenceWarning,
                stacklevel=users_call(),
            )

    def _set_coefficients(self, x: Vector) -> None:
        self.coef_ = x[: self.n_features_in_].copy()
        self.intercept_ = float(x[-1]) if self.fit_intercept else 0.0

    def _scores(self, X: Any) -> Vector:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        scores: Vector = safe_sparse_dot(X, np.ravel(self.coef_)) + np.ravel(self.intercept_)
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def at_ends(problem: Problem, x: Vector) -> Any:
    """Which coefficients are where a bound holds them; zero is no bound but a sign."""
    domain = problem.domain
    lower, upper = (np.broadcast_to(getattr(domain, end, np.inf), x.shape) for end in ("lower", "upper"))
    return np.flatnonzero((x != 0) & ((x <= NEAR * lower) | (x >= NEAR * upper)))


class LinearRegressor(RegressorMixin, LinearModel):  # type: ignore[misc]
    """A linear model of a number."""

    _y_numeric = True

    def _sample(self, X: Any, y: Any, sample_weight: Any) -> Sample:
        """The rows; they say which features there are."""
        return self._more(X, y, sample_weight, reset=True)

    def _more(self, X: Any, y: Any, sample_weight: Any, reset: bool = False) -> Sample:
        """Further rows, of the same features."""
        if in_chunks(X):
            return ChunkedSample(*self._in_chunks(X, y, sample_weight, reset))
        X, y, sample_weight = self._checked(X, y, sample_weight, reset)
        targets = np.asarray(y, dtype=np.float64)
        if self.loss == "poisson" and (targets < 0).any():
            raise ValueError("Some value(s) of y are out of the valid range: the Poisson loss wants y >= 0")
        return Sample.of(X, targets, sample_weight)

    def predict(self, X: Any) -> Any:
        """What the model expects.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, n x d
            The features.

        Returns
        -------
        array of length n
        """
        if in_chunks(X):
            return over_blocks(self.predict, X, np.dtype(float))
        return predicted(self.loss, self._scores(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss == "poisson"
        return tags


def _has_probabilities(self: Any) -> bool:
    if self.loss != "logistic":
        raise AttributeError(f'probabilities come with loss="logistic", not with loss={self.loss!r}')
    return True


class LinearClassifier(ClassifierMixin, LinearModel):  # type: ignore[misc]
    """A linear model of two classes: the second of ``classes_`` where the score is positive."""

    def _sample(self, X: Any, y: Any, sample_weight: Any) -> Sample:
        """The rows, with the classes as -1 and 1; they say which features and which classes there are."""
        if in_chunks(X):
            X, y, sample_weight = self._in_chunks(X, y, sample_weight, True)
            self._set_classes(np.array(y.facts.labels))
            return ChunkedSample(X, y.signs(self.classes_[1]), sample_weight)
        X, y, sample_weight = self._checked(X, y, sample_weight)
        self._set_classes(y)
        sample = Sample.of(X, self._signs(y), sample_weight)
        if np.unique(sample.y).size < 2:
            raise ValueError("after rows of sample_weight 0 are left out, y has one class only; two are needed")
        return sample

    def _more(self, X: Any, y: Any, sample_weight: Any, reset: bool = False) -> Sample:
        """Further rows, of the same classes."""
        if in_chunks(X):
            X, y, sample_weight = self._in_chunks(X, y, sample_weight, reset)
            self._signs(np.array(y.facts.labels))
            return ChunkedSample(X, y.signs(self.classes_[1]), sample_weight)
        X, y, sample_weight = self._checked(X, y, sample_weight, reset)
        return Sample.of(X, self._signs(y), sample_weight)

    def _set_classes(self, y: Any) -> None:
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if self.classes_.size == 1:
            raise ValueError(f"y has one class only, {self.classes_[0]!r}: there is nothing to tell apart")
        if self.classes_.size > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {type_of_target(y)}; "
                "sklearn.multiclass.OneVsRestClassifier makes a classifier for several classes of it"
            )

    def _signs(self, y: Any) -> Vector:
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise ValueError(f"y has classes that were not there before: {', '.join(map(str, unknown[:5]))}")
        return np.where(np.asarray(y) == self.classes_[1], 1.0, -1.0)

    def _set_coefficients(self, x: Vector) -> None:
        super()._set_coefficients(x)
        self.coef_, self.intercept_ = self.coef_[None, :], np.array([self.intercept_])

    def decision_function(self, X: Any) -> Any:
        """The scores: positive for the second class.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, n x d
            The features.

        Returns
        -------
        array of length n
        """
        if in_chunks(X):
            return over_blocks(self.decision_function, X, np.dtype(float))
        return self._scores(X)

    def predict(self, X: Any) -> Any:
        """The classes.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, n x d
            The features.

        Returns
        -------
        array of length n
        """
        if in_chunks(X):
            return over_blocks(self.predict, X, self.classes_.dtype)
        scores = self._scores(X)
        return self.classes_[(scores > 0).astype(np.intp)]

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The probabilities of both classes, for the logistic loss.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, n x d
            The features.

        Returns
        -------
        array, n x 2
        """
        if in_chunks(X):
            return over_blocks(self.predict_proba, X, np.dtype(float), 2)
        scores = self._scores(X)
        decay = np.exp(-np.abs(scores))
        likely = 1 / (1 + decay)
        second = np.where(scores >= 0, likely, decay * likely)
        return np.column_stack([np.where(scores >= 0, decay * likely, likely), second])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
