"""Logistic regression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Vector
from ...kernels import flat
from ...kernels.logistic_loss import fast_logistic_link, logistic_link
from ...numerics.extended import Ext
from ..base import Objective
from ..chunks import Chunks
from ..linked import Linked
from ..matrix import DataMatrix
from .base import TINY, Loss, Terms
from .weights import as_shares, as_signs


@dataclass(frozen=True, eq=False)
class LogisticLoss(Loss):
    """h(t) = sum_i w_i log(1 + exp(-y_i t_i)), y_i = 1 or -1: accurate for margins of any size."""

    y: Vector
    weights: Vector

    lower_bound = 0.0
    row_data = ("y", "weights")
    self_concordance = 1.0
    by_terms = True

    @cached_property
    def most(self) -> Vector:  # type: ignore[override]
        """w / 4."""
        return self.weights / 4

    @cached_property
    def strictly_convex(self) -> bool:  # type: ignore[override]
        """Where no weight is zero."""
        return bool((self.weights > 0).all())

    @cached_property
    def _flat(self) -> tuple[Vector, Vector]:
        """y and w as kernels want them."""
        return flat(self.y), flat(self.weights)

    def value_and_slope(self, t: Vector) -> tuple[float, Vector]:
        slope = np.empty(t.size)
        value: float = fast_logistic_link(flat(t), *self._flat, slope)
        if math.isnan(value):  # compiled, that is all it says of entries that are not finite
            value = logistic_link(t, self.y, self.weights, slope)
        return value, slope

    def value(self, t: Vector) -> float:
        margin = self.y * t
        loss = np.maximum(-margin, 0) + np.log1p(np.exp(-np.abs(margin)))
        return float(self.weights @ loss)

    def terms(self, t: Ext) -> Terms:
        margin = self.y * t
        decay = np.exp(-np.abs(margin))
        value = self.weights * (np.maximum(-margin, 0) + np.log1p(decay))
        steep = self.weights * (np.where(margin > 0, decay, 1) / (1 + decay))
        return Terms(value, -self.y * steep, value, steep)

    def curvature(self, t: Vector) -> Vector:
        decay = np.exp(-np.abs(t))
        return np.asarray(self.weights * decay / (1 + decay) ** 2)

    def near(self, t: Vector, gap: float) -> tuple[Vector, Vector]:
        # The third derivative of the logistic loss is at most the second in size, so that
        # h(t + s) - h(t) - h'(t) s >= h''(t) (e^-|s| + |s| - 1); this is at least h''(t) s^2 / 3 for |s| <= 1 and at
        # least h''(t) (|s| - 1) anywhere.
        here = self.curvature(t)
        with np.errstate(over="ignore"):  # where next to nothing bends, steps may be infinite
            ratio = max(gap, 0.0) / np.maximum(here, TINY)
            step = np.where(ratio <= 1 / 3, np.sqrt(3 * ratio), ratio + 1)
        return self.curvature(np.abs(t) + step), np.minimum(here * np.exp(np.minimum(step, 700.0)), self.most)

    @property
    def far_slopes(self) -> tuple[Vector, Vector]:
        return np.where(self.y > 0, -self.weights, 0.0), np.where(self.y < 0, self.weights, 0.0)

    def conjugate(self, u: Vector) -> float:
        weighted = self.weights > 0
        share = np.divide(-self.y * u, self.weights, out=np.zeros(u.size), where=weighted)  # h'_i is -y_i w_i sigma
        if (u[~weighted] != 0).any() or (share < 0).any() or (share > 1).any():
            return np.inf
        logs = [part * np.log(np.where(part > 0, part, 1.0)) for part in (share, 1 - share)]
        return float(self.weights @ (logs[0] + logs[1]))


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

    def __init__(self, A: Any, y: ArrayLike, weights: ArrayLike | None = None) -> None:
        data = DataMatrix(A, "A")
        n = data.shape[0]
        self.y, self.weights = as_signs(y, n), as_shares(weights, n)
        super().__init__(data, LogisticLoss(self.y, self.weights))

    @classmethod
    def on_chunks(cls, A: Chunks, y: Any, weights: Any = None) -> Objective:
        from ..chunked import ChunkedSum, Recipe

        recipe = Recipe(LogisticLoss, weighted=True, signs=True)
        return ChunkedSum("Logistic", A, y, weights, recipe, mean=True, named="y")
