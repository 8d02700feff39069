"""The Huber loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Vector, as_positive, as_vector
from .linked import Linked


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

    convex = True
    lower_bound = 0.0
    curvature = 1.0
    row_data = ("b",)

    def __init__(self, A: Any, b: ArrayLike, delta: float) -> None:
        super().__init__(A)
        self.b = as_vector(b, "b", self.data.shape[0])
        self.delta = as_positive(delta, "delta")

    def link(self, t: Vector) -> tuple[float, Vector]:
        residual = t - self.b
        slope = np.clip(residual, -self.delta, self.delta)
        # phi(r) = s r - s^2/2 with s = phi'(r), in both branches
        return float(slope @ (residual - 0.5 * slope)), slope
