"""The squared covariance of a predicted probability with a given attribute."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import UNIT_ROUNDOFF, Vector, as_vector
from .base import Objective
from .chunked_covariance import ChunkedCovariance
from .chunks import Chunks
from .linked import Linked
from .losses.base import LINK_UNITS, Link
from .losses.logistic import Logistic
from .matrix import DataMatrix, gamma


class FairRows(NamedTuple):
    """A squared covariance over a logistic loss of the same dense data A: w of the one, y and weights of the other."""

    A: np.ndarray
    w: Vector
    y: Vector
    weights: Vector


@dataclass(frozen=True, eq=False)
class CovarianceLink(Link):
    """h(t) = c(t)^2, c(t) = sum_i w_i sigma(t_i), the w_i summing to 0 up to ``w_error``; see ``SquaredCovariance``."""

    w: Vector
    w_error: Vector
    total: float
    most: Vector

    @classmethod
    def of(cls, attribute: Vector) -> CovarianceLink:
        """That of w = (attribute - mean) / n."""
        n = attribute.size
        mean = math.fsum(attribute) / n
        w = (attribute - mean) / n
        total = float(np.abs(w).sum())
        error = UNIT_ROUNDOFF * (4 * np.abs(w) + 2 * abs(mean) / n)
        return cls(w, error, total, total * (1 / 8 + 1 / (6 * math.sqrt(3))) * np.abs(w))

    def covariance(self, t: Vector) -> float:
        """c(t). The w_i sum to 0, so sigma(t) - 1/2 = tanh(t/2)/2 may stand for sigma(t), and loses less."""
        return 0.5 * float(self.w @ np.tanh(0.5 * t))

    def value_and_slope(self, t: Vector) -> tuple[float, Vector]:
        c = self.covariance(t)
        decay = np.exp(-np.abs(t))
        return c * c, 2 * c * self.w * (decay / (1 + decay) ** 2)

    def curvature_times(self, t: Vector, d: Vector) -> Vector:
        decay = np.exp(-np.abs(t))
        bell = decay / (1 + decay) ** 2  # sigma', and sigma'' = -sigma' tanh(t/2)
        slope = self.w * bell
        bent: Vector = 2 * slope * (float(slope @ d) - self.covariance(t) * np.tanh(0.5 * t) * d)
        return bent

    def value(self, t: Vector) -> float:
        return self.covariance(t) ** 2

    def rounding(self, t: Vector, value: float, slope: Vector) -> tuple[float, float]:
        # c is a sum with cancellation: its error is relative to W, not to c, and that of w = (v - mean v)/n
        # counts.
        c = math.sqrt(value)
        c_error = 0.5 * (gamma(t.size + LINK_UNITS) * self.total + float(self.w_error.sum()))
        value_error = (2 * c + c_error) * c_error + 8 * UNIT_ROUNDOFF * value
        slope_error = LINK_UNITS * UNIT_ROUNDOFF * float(np.linalg.norm(slope))
        slope_error += 0.5 * (
            c_error * float(np.linalg.norm(self.w)) + (c + c_error) * float(np.linalg.norm(self.w_error))
        )
        return value_error, slope_error


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

    link: CovarianceLink

    def __init__(self, A: Any, v: ArrayLike) -> None:
        data = DataMatrix(A, "A")
        super().__init__(data, CovarianceLink.of(as_vector(v, "v", data.shape[0])))
        self.w = self.link.w

    @classmethod
    def on_chunks(cls, A: Chunks, v: Any) -> Objective:
        return ChunkedCovariance(A, v)

    def covariance(self, t: Vector) -> float:
        """c at predictions t."""
        return self.link.covariance(t)

    def fair_rows(self, lower: Objective) -> FairRows | None:
        if not isinstance(lower, Logistic) or self.data.kind != "dense" or lower.data.kind != "dense":
            return None
        if lower.A is not self.A and not np.array_equal(lower.A, self.A):
            return None
        return FairRows(lower.A, self.w, lower.y, lower.weights)
