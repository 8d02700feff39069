"""New data without losing the old."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..arrays import as_count
from .base import LinearClassifier
from .data import Sample
from .losses import CLASSIFICATION, check_loss
from .nested import NestedModel
from .watching import watched


class LifelongClassifier(LinearClassifier, NestedModel):
    """A linear classifier that learns from one batch after the other and stays (nearly) the best on what it remembers.

    ``partial_fit`` finds, among all classifiers whose loss on the remembered rows is within ``slack`` of the least, the
    one that is best on the new rows; then these are remembered too. After the first batch it is the one with the
    smallest coefficients; after others too, with slack 0 and where rows leave a choice.

    Parameters
    ----------
    loss : {"squared_hinge", "logistic", "squared"}, default "squared_hinge"
        The squared hinge loss always has a minimum. The logistic loss has one only where no plane separates the
        classes; it has probabilities. "squared" fits -1 and 1 by least squares.
    slack : float, default 0.01
        How much loss on remembered rows new ones may cost, as a share of the least.
    memory : int or None, default None
        How many rows of each batch are remembered, drawn at random; None for all.
    fit_intercept : bool, default True
        Whether there is one.
    random_state : int, RandomState or None, default None
        For the rows that are remembered.
    bound : float or None, default 1000
        For losses other than "squared", no feature may move scores by more than this;
        sizes are root mean squares. So far all models are considered; a warning says where this had a say.
    tol : float, default 1e-6
        What is to be proved: losses to this part of those of the zero model, the norm to this part of its unit, as in
        ``MinNormClassifier``.
    max_time : float or None, default 60
        Most seconds of a batch.

    Attributes
    ----------
    classes_ : array of length 2
        The classes; the second one where the score is positive.
    coef_ : array, 1 x d
        The coefficients.
    intercept_ : array of length 1
        The intercept; 0 without one.
    old_loss_, new_loss_ : float
        Of the classifier on the rows it remembered before the last batch, and on that batch. The first is nan after
        the first batch.
    remembered_ : int
        The number of rows in memory.
    result_ : tiebreak.Result
        The answer of ``tiebreak.solve`` for the last batch, with its certificate; the intercept is the last variable.
    n_iter_ : int
        Updates for the last batch, at least 1.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array
        Their names, where X had some; they are those of ``result_.named``.

    Examples
    --------
    >>> from tiebreak.sklearn import LifelongClassifier
    >>> model = LifelongClassifier("squared", slack=0.0, fit_intercept=False)
    >>> model = model.partial_fit([[1.0, 1.0], [-1.0, -1.0]], [1, 0], classes=[0, 1])
    >>> model.coef_.round(9)
    array([[0.5, 0.5]])
    >>> model.partial_fit([[3.0, 1.0]], [0]).coef_.round(9), round(model.old_loss_, 9)
    (array([[-1.,  2.]]), 0.0)
    """

    def __init__(
        self,
        loss: str = "squared_hinge",
        slack: float = 0.01,
        memory: int | None = None,
        *,
        fit_intercept: bool = True,
        random_state: Any = None,
        bound: float | None = 1e3,
        tol: float = 1e-6,
        max_time: float | None = 60.0,
    ) -> None:
        self.loss = loss
        self.slack = slack
        self.memory = memory
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.bound = bound
        self.tol = tol
        self.max_time = max_time

    @watched
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LifelongClassifier:
        """Forget everything, and learn from a first batch.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, n x d
            The features.
        y : array of length n
            The classes: two.
        sample_weight : array of length n, optional
            How much each row counts; equal by default.

        Returns
        -------
        LifelongClassifier
            Itself.
        """
        self._check_parameters()
        self._learn(None, self._sample(X, y, sample_weight))
        return self

    @watched
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> LifelongClassifier:
        """Learn from a further batch.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, n x d
            The features.
        y : array of length n
            The classes; a batch may have one of them only.
        classes : array of length 2, optional
            The classes, which the first batch says if nothing else does.
        sample_weight : array of length n, optional
            How much each row counts; equal by default.

        Returns
        -------
        LifelongClassifier
            Itself.
        """
        self._check_parameters()
        old: Sample | None = getattr(self, "_memory", None)
        if old is None:
            self._set_classes(y if classes is None else classes)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes={classes!r} are not those of the first batch, {self.classes_!r}")
        self._learn(old, self._more(X, y, sample_weight, reset=old is None))
        return self

    def _check_parameters(self) -> None:
        check_loss(self.loss, CLASSIFICATION)
        self._check_slack()
        if self.memory is not None:
            as_count(self.memory, "memory")

    def _learn(self, old: Sample | None, new: Sample) -> None:
        (problem, result), losses = self._best_on_each([new] if old is None else [old, new])
        self.new_loss_, self.old_loss_ = losses[-1], np.nan if old is None else losses[0]
        kept = self._chosen(new)
        self._memory = kept if old is None else old.and_also(kept)
        self.remembered_ = int(self._memory.y.size)
        self._keep(problem, result)

    def _chosen(self, new: Sample) -> Sample:
        """The rows of a batch that are remembered."""
        if self.memory is None or new.y.size <= self.memory:
            return new
        rng = check_random_state(self.random_state)
        return new.rows(np.sort(rng.choice(new.y.size, self.memory, replace=False)))
