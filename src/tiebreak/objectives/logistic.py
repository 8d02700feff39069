"""Logistic regression."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Vector, as_vector
from ..kernels import compiled, flat
from .linked import Linked


class Logistic(Linked):
    """The mean logistic loss sum_i w_i log(1 + exp(-y_i <a_i, x>)), the weights w summing to 1.

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator, n x d
        The data.
    y : array of length n
        The labels, -1 and 1 or 0 and 1 (or booleans); both must occur.
    weights : array of length n, optional
        Nonnegative, not all zero. Equal by default.

    Notes
    -----
    Value and gradient are accurate for margins of any size: only negative numbers are exponentiated.

    Examples
    --------
    >>> import tiebreak as tb
    >>> f = tb.Logistic([[1.0], [1e4]], [0, 1])
    >>> f.value([-1.0]) == (math.log1p(math.exp(-1.0)) + 1e4) / 2
    True
    """

    convex = True
    lower_bound = 0.0
    row_data = ("y", "weights")

    def __init__(self, A: Any, y: ArrayLike, weights: ArrayLike | None = None) -> None:
        super().__init__(A)
        n = self.data.shape[0]
        self.y = _signs(as_vector(y, "y", n))
        self.weights = np.full(n, 1 / n) if weights is None else _normalised(as_vector(weights, "weights", n))
        self.curvature = self.weights / 4
        self.strictly_convex = bool((self.weights > 0).all())

    def link(self, t: Vector) -> tuple[float, Vector]:
        kernel = compiled("logistic_link")
        if kernel is not None:
            slope = np.empty(t.size)
            value: float = kernel(flat(t), flat(self.y), flat(self.weights), slope)
            if not math.isnan(value):
                return value, slope
        margin = self.y * t
        decay = np.exp(-np.abs(margin))
        loss = np.maximum(-margin, 0) + np.log1p(decay)
        against = np.where(margin >= 0, decay, 1) / (1 + decay)  # sigma(-margin)
        return float(self.weights @ loss), -self.weights * self.y * against

    def link_value(self, t: Vector) -> float:
        margin = self.y * t
        loss = np.maximum(-margin, 0) + np.log1p(np.exp(-np.abs(margin)))
        return float(self.weights @ loss)


def _signs(y: Vector) -> Vector:
    labels = set(np.unique(y).tolist())
    if labels == {-1.0, 1.0}:
        return y
    if labels == {0.0, 1.0}:
        return 2 * y - 1
    found = ", ".join(f"{label:g}" for label in sorted(labels)[:5]) + (", ..." if len(labels) > 5 else "")
    raise ValueError(f"y must hold two classes, labelled -1 and 1 or 0 and 1; it holds {found}")


def _normalised(weights: Vector) -> Vector:
    if (weights < 0).any():
        raise ValueError("weights must be nonnegative")
    if not weights.any():
        raise ValueError("weights are all zero")
    weights = weights / weights.max()  # so that the sum cannot overflow
    return weights / math.fsum(weights)
