"""The Huber loss."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Vector, as_positive, as_vector
from ...numerics.extended import Ext
from ..base import Objective
from ..chunks import Chunks
from ..linked import Linked
from ..matrix import DataMatrix
from .base import Loss, Terms
from .weights import as_weights


@dataclass(frozen=True, eq=False)
class HuberLoss(Loss):
    """h(t) = sum_i w_i phi(t_i - target_i), phi quadratic up to ``delta`` and linear beyond: flat in places."""

    target: Vector
    delta: float
    weights: Vector | None = None

    lower_bound = 0.0
    row_data = ("target", "weights")
    self_concordance = 0.0
    by_terms = True

    @property
    def most(self) -> Vector | float:  # type: ignore[override]
        """w."""
        return 1.0 if self.weights is None else self.weights

    def value_and_slope(self, t: Vector) -> tuple[float, Vector]:
        residual = t - self.target
        steep = np.clip(residual, -self.delta, self.delta)
        # phi(r) = s r - s^2/2 with s = phi'(r), in both branches
        slope = steep if self.weights is None else self.weights * steep
        return float(slope @ (residual - 0.5 * steep)), slope

    def curvature(self, t: Vector) -> Vector:
        return np.asarray(np.where(np.abs(t - self.target) <= self.delta, self.most, 0.0))

    def room(self, t: Vector) -> Vector:
        return np.abs(np.abs(t - self.target) - self.delta)

    @property
    def typical(self) -> float:
        return max(float(np.abs(self.target).max(initial=0.0)), self.delta)

    def terms(self, t: Ext) -> Terms:
        residual = t - self.target
        steep = np.clip(residual, -self.delta, self.delta)
        slope = self.most * steep
        value = slope * (residual - steep / 2)
        return Terms(value, slope, value, np.abs(slope))

    def flat_ends(self, t: Vector) -> tuple[Vector, Vector]:
        residual = t - self.target
        low = np.where(residual > self.delta, self.target + self.delta, -np.inf)
        return low, np.where(residual < -self.delta, self.target - self.delta, np.inf)

    @property
    def far_slopes(self) -> tuple[Vector | float, Vector | float]:
        return -self.delta * self.most, self.delta * self.most

    def conjugate(self, u: Vector) -> float:
        if (np.abs(u) > self.delta * self.most).any():
            return np.inf
        square = u * u if self.weights is None else np.divide(u * u, self.weights, out=0 * u, where=self.weights > 0)
        return 0.5 * float(square.sum()) + float(u @ self.target)


class Huber(Linked):
    """The sum of Huber losses of the residuals, quadratic up to ``delta`` and linear beyond.

    f(x) = sum_i w_i phi(<a_i, x> - b_i), where phi(r) = r^2/2 for abs(r) <= delta and delta abs(r) - delta^2/2
    beyond.

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator, n x d
        The data.
    b : array of length n
        The targets.
    delta : float
        Where the loss turns linear, positive.
    weights : array of length n, optional
        The w_i, not negative and not all zero; 1 by default.

    Examples
    --------
    >>> import tiebreak as tb
    >>> f = tb.Huber([[1.0], [1.0]], [0.0, 10.0], delta=2.0)
    >>> f.value([1.0])
    16.5
    >>> f.grad([1.0]).tolist()
    [-1.0]
    """

    def __init__(self, A: Any, b: ArrayLike, delta: float, weights: ArrayLike | None = None) -> None:
        data = DataMatrix(A, "A")
        n = data.shape[0]
        self.b, self.delta = as_vector(b, "b", n), as_positive(delta, "delta")
        self.weights = None if weights is None else as_weights(weights, n)
        super().__init__(data, HuberLoss(self.b, self.delta, self.weights))

    @classmethod
    def on_chunks(cls, A: Chunks, b: Any, delta: float, weights: Any = None) -> Objective:
        from ..chunked import ChunkedSum, Recipe

        recipe = Recipe(partial(_of_rows, as_positive(delta, "delta")))
        return ChunkedSum("Huber", A, b, weights, recipe)


def _of_rows(delta: float, target: Vector, weights: Vector | None) -> HuberLoss:
    return HuberLoss(target, delta, weights)
