"""The squared covariance of a predicted probability with a given attribute."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import UNIT_ROUNDOFF, Vector, as_vector
from .linked import LINK_UNITS, Linked
from .matrix import gamma


class SquaredCovariance(Linked):
    """The squared covariance of an attribute with the predicted probability; nonconvex.

    f(x) = c(x)^2, c(x) = (1/n) sum_i (v_i - mean v) sigma(<a_i, x>), with the logistic function sigma. Small
    values mean that the classifier decides (almost) independently of the attribute.

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator, n x d
        The data.
    v : array of length n
        The attribute (0 and 1, or any numbers).

    Notes
    -----
    With w = (v - mean v)/n, W = sum abs(w_i) and s_i = w_i sigma'(t_i), the Hessian of h(t) = c(t)^2 is
    2 s s' + 2 c diag(w sigma''(t)). By the Cauchy-Schwarz inequality and 0 <= sigma' <= 1/4,
    <s, y>^2 <= (W/16) sum_i abs(w_i) y_i^2; since the w_i sum to 0, abs(c) <= W/2; and
    abs(sigma'') <= 1/(6 sqrt 3). So the Hessian lies between -D and D with
    D = W (1/8 + 1/(6 sqrt 3)) diag(abs(w)), and the smoothness of f is at most lambda_max(A'DA).

    References
    ----------
    R. Jiang, N. Abolfazli, A. Mokhtari, E. Y. Hamedani, A conditional gradient-based method for simple
    bilevel optimization with convex lower-level problem, AISTATS 2023, fair classification.

    Examples
    --------
    >>> import tiebreak as tb
    >>> f = tb.SquaredCovariance([[1.0], [-1.0]], [1, 0])
    >>> f.value([0.0]), round(f.value([50.0]), 12)
    (0.0, 0.0625)
    """

    lower_bound = 0.0

    def __init__(self, A: Any, v: ArrayLike) -> None:
        super().__init__(A)
        n = self.data.shape[0]
        attribute = as_vector(v, "v", n)
        mean = math.fsum(attribute) / n
        self.w = (attribute - mean) / n
        self._total = float(np.abs(self.w).sum())
        self._w_error = UNIT_ROUNDOFF * (4 * np.abs(self.w) + 2 * abs(mean) / n)
        self.curvature = self._total * (1 / 8 + 1 / (6 * math.sqrt(3))) * np.abs(self.w)

    def covariance(self, t: Vector) -> float:
        """c(t). The w_i sum to 0, so sigma(t) - 1/2 = tanh(t/2)/2 may stand for sigma(t), and loses less."""
        return 0.5 * float(self.w @ np.tanh(0.5 * t))

    def link(self, t: Vector) -> tuple[float, Vector]:
        c = self.covariance(t)
        decay = np.exp(-np.abs(t))
        return c * c, 2 * c * self.w * (decay / (1 + decay) ** 2)

    def link_value(self, t: Vector) -> float:
        return self.covariance(t) ** 2

    def link_rounding(self, t: Vector, value: float, slope: Vector) -> tuple[float, float]:
        # c is a sum with cancellation: its error is relative to W, not to c, and that of w = (v - mean v)/n
        # counts.
        c = math.sqrt(value)
        c_error = 0.5 * (gamma(t.size + LINK_UNITS) * self._total + float(self._w_error.sum()))
        value_error = (2 * c + c_error) * c_error + 8 * UNIT_ROUNDOFF * value
        slope_error = LINK_UNITS * UNIT_ROUNDOFF * float(np.linalg.norm(slope))
        slope_error += 0.5 * (
            c_error * float(np.linalg.norm(self.w)) + (c + c_error) * float(np.linalg.norm(self._w_error))
        )
        return value_error, slope_error
