"""The squared hinge loss."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Vector
from ...numerics.extended import Ext
from ..base import Objective
from ..chunks import Chunks
from ..linked import Linked
from ..matrix import DataMatrix
from .base import Loss, Terms
from .weights import as_shares, as_signs


@dataclass(frozen=True, eq=False)
class SquaredHingeLoss(Loss):
    """h(t) = sum_i w_i max(0, 1 - y_i t_i)^2, y_i = 1 or -1: zero where the margin is kept."""

    y: Vector
    weights: Vector

    lower_bound = 0.0
    row_data = ("y", "weights")
    self_concordance = 0.0
    by_terms = True

    @cached_property
    def most(self) -> Vector:  # type: ignore[override]
        """2 w."""
        return 2 * self.weights

    def value_and_slope(self, t: Vector) -> tuple[float, Vector]:
        short = np.maximum(1 - self.y * t, 0.0)
        weighted = self.weights * short
        return float(weighted @ short), -2 * self.y * weighted

    def curvature(self, t: Vector) -> Vector:
        return np.asarray(np.where(self.y * t <= 1, self.most, 0.0))

    def room(self, t: Vector) -> Vector:
        return np.abs(1 - self.y * t)

    def terms(self, t: Ext) -> Terms:
        short = np.maximum(1 - self.y * t, 0)
        steep = 2 * self.weights * short
        value = steep * short / 2
        return Terms(value, -self.y * steep, value, steep)

    def flat_ends(self, t: Vector) -> tuple[Vector, Vector]:
        flat = self.y * t > 1
        return np.where(flat & (self.y > 0), 1.0, -np.inf), np.where(flat & (self.y < 0), -1.0, np.inf)

    @property
    def far_slopes(self) -> tuple[Vector, Vector]:
        steep = np.where(self.weights > 0, np.inf, 0.0)
        return np.where(self.y > 0, -steep, 0.0), np.where(self.y < 0, steep, 0.0)

    def conjugate(self, u: Vector) -> float:
        steep = -self.y * u  # 2 w (1 - y t) where the margin is not kept
        if (steep < 0).any() or (steep[self.weights == 0] > 0).any():
            return np.inf
        square = np.divide(steep * steep, 4 * self.weights, out=0 * u, where=self.weights > 0)
        return float(square.sum()) - float(steep.sum())


class SquaredHinge(Linked):
    """The mean squared hinge loss sum_i w_i max(0, 1 - y_i <a_i, x>)^2, the weights w summing to 1.

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator, n x d
        The data.
    y : array of length n
        The labels, -1 and 1 or 0 and 1 (or booleans); both must occur.
    weights : array of length n, optional
        Nonnegative, not all zero. Equal by default.

    Examples
    --------
    >>> import tiebreak as tb
    >>> f = tb.SquaredHinge([[1.0], [2.0]], [0, 1])
    >>> f.value([1.0]), f.grad([1.0]).tolist()
    (2.0, [2.0])
    """

    def __init__(self, A: Any, y: ArrayLike, weights: ArrayLike | None = None) -> None:
        data = DataMatrix(A, "A")
        n = data.shape[0]
        self.y, self.weights = as_signs(y, n), as_shares(weights, n)
        super().__init__(data, SquaredHingeLoss(self.y, self.weights))

    @classmethod
    def on_chunks(cls, A: Chunks, y: Any, weights: Any = None) -> Objective:
        from ..chunked import ChunkedSum, Recipe

        recipe = Recipe(SquaredHingeLoss, weighted=True, signs=True)
        return ChunkedSum("SquaredHinge", A, y, weights, recipe, mean=True, named="y")
