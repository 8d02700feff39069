"""The Huber loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Vector, as_positive, as_vector
from ..linked import Linked
from ..matrix import DataMatrix
from .base import Loss


@dataclass(frozen=True, eq=False)
class HuberLoss(Loss):
    """h(t) = sum_i phi(t_i - target_i), phi quadratic up to ``delta`` and linear beyond: flat in places."""

    target: Vector
    delta: float

    most = 1.0
    row_data = ("target",)

    def value_and_slope(self, t: Vector) -> tuple[float, Vector]:
        residual = t - self.target
        slope = np.clip(residual, -self.delta, self.delta)
        # phi(r) = s r - s^2/2 with s = phi'(r), in both branches
        return float(slope @ (residual - 0.5 * slope)), slope

    def curvature(self, t: Vector) -> Vector:
        return np.where(np.abs(t - self.target) <= self.delta, 1.0, 0.0)

    def conjugate(self, u: Vector) -> float:
        return 0.5 * float(u @ u) + float(u @ self.target) if (np.abs(u) <= self.delta).all() else np.inf


class Huber(Linked):
    """The sum of Huber losses of the residuals, quadratic up to ``delta`` and linear beyond.

    f(x) = sum_i phi(<a_i, x> - b_i), where phi(r) = r^2/2 for abs(r) <= delta and delta abs(r) - delta^2/2
    beyond.

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator, n x d
        The data.
    b : array of length n
        The targets.
    delta : float
        Where the loss turns linear, positive.

    Examples
    --------
    >>> import tiebreak as tb
    >>> f = tb.Huber([[1.0], [1.0]], [0.0, 10.0], delta=2.0)
    >>> f.value([1.0])
    16.5
    >>> f.grad([1.0]).tolist()
    [-1.0]
    """

    def __init__(self, A: Any, b: ArrayLike, delta: float) -> None:
        data = DataMatrix(A, "A")
        self.b, self.delta = as_vector(b, "b", data.shape[0]), as_positive(delta, "delta")
        super().__init__(data, HuberLoss(self.b, self.delta))
