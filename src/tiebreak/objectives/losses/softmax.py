"""Multinomial logistic regression."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ...arrays import UNIT_ROUNDOFF, Matrix, Vector, as_count, as_vector, length
from ..form import Term
from ..linked import Linked
from ..matrix import DataMatrix, gamma
from .base import LINK_UNITS, Loss
from .softmax_pairs import SoftmaxPairsLoss, differences
from .weights import as_shares

Scores = NDArray[np.float64]

MOST_CLASSES = 10**6
"""More are a mistake: labels that are no numbers of classes."""


@dataclass(frozen=True, eq=False)
class SoftmaxLoss(Loss):
    """h(t) = sum_i w_i (log sum_k exp(t_ik) - t_i,y_i), the n x K scores t flattened row by row.

    With p_i the probabilities of row i, h'' consists of the blocks w_i (diag(p_i) - p_i p_i'): the variance of a random
    entry d_ik is <d, h'' d> / w_i. The third derivative is a third cumulant, E (d - Ed)^2 (e - Ee), which is at most
    range(e) times the variance: M = 1 with max_i (max_k e_ik - min_k e_ik) for the size of e. A block is flat along
    (1, ..., 1), so h is not strictly convex: it determines differences of scores only.
    """

    y: NDArray[np.intp]
    weights: Vector
    classes: int

    lower_bound = 0.0
    separable = False
    self_concordance = 1.0

    @cached_property
    def most(self) -> Vector:  # type: ignore[override]
        """w / 2: no eigenvalue of diag(p) - pp' is above 1/2."""
        return np.repeat(self.weights / 2, self.classes)

    @cached_property
    def uncoupled(self) -> tuple[Matrix, Loss]:
        """All differences of a row's scores."""
        return differences(self.y, self.classes), SoftmaxPairsLoss(self.weights, self.classes)

    def value_and_slope(self, t: Vector) -> tuple[float, Vector]:
        _, powers, first, largest = self._powers(t)
        rows = np.arange(self.y.size)
        others = powers.sum(axis=1)  # without the largest, whose power is 1
        lag = largest - self._scores(t)[rows, self.y]
        value = float(self.weights @ (lag + np.log1p(others)))
        powers[rows, first] = 1.0
        slope = powers * (self.weights / (1 + others))[:, None]
        slope[rows, self.y] = 0.0
        slope[rows, self.y] = -slope.sum(axis=1)  # p_y - 1, without cancellation
        return value, slope.ravel()

    def probabilities(self, t: Vector) -> Scores:
        """p, n x K."""
        _, powers, first, _ = self._powers(t)
        powers[np.arange(self.y.size), first] = 1.0
        p: Scores = powers / powers.sum(axis=1, keepdims=True)
        return p

    def curvature(self, t: Vector) -> Vector:
        p = self.probabilities(t)
        return (self.weights[:, None] * p * (1 - p)).ravel()

    def curvature_times(self, t: Vector, d: Vector) -> Vector:
        p, steps = self.probabilities(t), self._scores(d)
        centred = steps - (p * steps).sum(axis=1, keepdims=True)
        bent: Vector = (self.weights[:, None] * p * centred).ravel()
        return bent

    def conjugate(self, u: Vector) -> float:
        # the conjugate of log-sum-exp is the negative entropy of a probability vector, here u / w + e_y
        counted, moves = self.weights > 0, self._scores(u)
        if moves[~counted].any():
            return np.inf
        p = moves[counted] / self.weights[counted][:, None]
        p[np.arange(len(p)), self.y[counted]] += 1
        least = -4 * UNIT_ROUNDOFF
        if (p < least).any() or (np.abs(p.sum(axis=1) - 1) > 8 * self.classes * UNIT_ROUNDOFF).any():
            return np.inf
        logs = np.log(np.where(p > 0, p, 1.0))
        return float(self.weights[counted] @ (p * logs).sum(axis=1))

    def rounding(self, t: Vector, value: float, slope: Vector) -> tuple[float, float]:
        # A gap max_k t_k - t_k is rounded, so exp of minus it is off by (gap + a few) units, relative to itself; so is
        # p_k by its own gap and by the mean gap, through the sum that it is divided by.
        gaps, powers, first, largest = self._powers(t)
        rows, units = np.arange(self.y.size), LINK_UNITS + 2 * self.classes
        lag = largest - self._scores(t)[rows, self.y]
        added = float(self.weights @ (lag + (powers * (1 + gaps)).sum(axis=1)))
        powers[rows, first] = 1.0
        p = powers / powers.sum(axis=1, keepdims=True)
        off = self.weights[:, None] * p * (1 + gaps + (p * gaps).sum(axis=1, keepdims=True))
        off[rows, self.y] = 0.0
        off[rows, self.y] = off.sum(axis=1)
        return gamma(t.size + units) * added, units * UNIT_ROUNDOFF * length(off)

    def rows(self, index: NDArray[np.intp]) -> Self:
        own: Any = self
        return replace(own, y=self.y[index], weights=self.weights[index])  # type: ignore[no-any-return]

    def _scores(self, t: Vector) -> Scores:
        return t.reshape(-1, self.classes)

    def _powers(self, t: Vector) -> tuple[Scores, Scores, NDArray[np.intp], Vector]:
        """max_k t_k - t_k and exp of minus that (0 in the place of the maximum), that place, and the maximum."""
        scores = self._scores(t)
        first = scores.argmax(axis=1)
        largest = scores[np.arange(len(scores)), first]
        gaps = largest[:, None] - scores
        powers = np.exp(-gaps)
        powers[np.arange(len(scores)), first] = 0.0
        return gaps, powers, first, largest


class Softmax(Linked):
    """The mean loss of multinomial logistic regression: minus the logarithm of the predicted probability of y_i.

    f(X) = sum_i w_i (log sum_k exp(<a_i, X_k>) - <a_i, X_{y_i}>), X_k the columns of a d x K matrix X, the weights w
    summing to 1. The variables are X flattened row by row: ``x.reshape(d, K)[j, k]`` is the weight of feature j for
    class k.

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator, n x d
        The data.
    y : array of length n
        The class of each row, 0, ..., K - 1.
    weights : array of length n, optional
        Nonnegative, not all zero. Equal by default.
    classes : int, optional
        K, where some classes may not occur in y; by default the largest of y plus 1.

    Notes
    -----
    Adding the same vector to all columns of X changes nothing: the minimisers are never unique on the whole space.
    Exponents are never positive, so nothing overflows.

    Examples
    --------
    >>> import math
    >>> import tiebreak as tb
    >>> f = tb.Softmax([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0, 1, 2])
    >>> f.dim, round(f.value([0.0] * 6), 12), round(math.log(3), 12)
    (6, 1.098612288668, 1.098612288668)
    >>> round(f.value([1e4, 0, 0, 0, 1e4, 0]), 9)  # the third row is far from its class
    3333.564382394
    """

    def __init__(self, A: Any, y: ArrayLike, weights: ArrayLike | None = None, classes: int | None = None) -> None:
        data = DataMatrix(A, "A")
        n, d = data.shape
        labels = as_vector(y, "y", n)
        if (labels != np.floor(labels)).any() or (labels < 0).any():
            raise ValueError(
                "y must hold the classes 0, 1, ..., K - 1; numpy.unique(y, return_inverse=True) makes them"
            )
        self.classes = int(min(labels.max(), MOST_CLASSES)) + 1 if classes is None else as_count(classes, "classes")
        if self.classes > MOST_CLASSES:
            raise ValueError(
                f"there may be {MOST_CLASSES} classes at most, each of which has {d} variables: give y without gaps "
                "(numpy.unique(y, return_inverse=True) makes it), and classes= accordingly"
            )
        if self.classes < max(2, int(labels.max()) + 1):
            raise ValueError(f"y holds classes up to {int(labels.max())}, but there are {self.classes}; give classes=")
        self.y, self.weights = labels.astype(np.intp), as_shares(weights, n)
        super().__init__(data, SoftmaxLoss(self.y, self.weights, self.classes))
        self.dim = d * self.classes

    @cached_property
    def smoothness(self) -> float:
        """lambda_max(A' diag(w) A) / 2, or a little more: see ``Linked``."""
        return self.data.squared_norm(self.weights / 2)

    def image(self, x: Vector) -> Vector:
        return np.asarray(self.data.raw @ self._matrix(x)).ravel()

    def batch(self, x: Vector, index: NDArray[np.intp]) -> tuple[float, Vector]:
        if self.summands == 1:
            return self.value_and_grad(x)
        A, part = self.data.raw[index], self.link.rows(index)  # type: ignore[attr-defined]
        value, slope = part.value_and_slope(np.asarray(A @ self._matrix(x)).ravel())
        share = self.summands / len(index)
        return share * value, share * np.asarray(A.T @ slope.reshape(-1, self.classes)).ravel()

    def _pulled(self, slope: Vector) -> Vector:
        return np.asarray(self.data.raw.T @ slope.reshape(-1, self.classes)).ravel()

    def _matrix(self, x: Vector) -> Scores:
        return self._point(x).reshape(-1, self.classes)

    def _term(self, loss: Loss, data: DataMatrix) -> Term:
        """With the matrix that makes the n K scores of the d K variables, n d K entries."""
        if data.kind == "operator":
            return Term(loss, DataMatrix(_each_class(data, self.classes)))
        return Term(loss, DataMatrix.trusted(sp.csr_array(sp.kron(data.raw, sp.eye_array(self.classes), format="csr"))))


def _each_class(data: DataMatrix, classes: int) -> Any:
    """An operator for every column of X."""
    from scipy.sparse.linalg import LinearOperator

    n, d = data.shape
    return LinearOperator(
        (n * classes, d * classes),
        matvec=lambda x: np.asarray(data.raw @ np.reshape(x, (d, classes))).ravel(),
        rmatvec=lambda u: np.asarray(data.raw.T @ np.reshape(u, (n, classes))).ravel(),
        dtype=np.float64,
    )
