"""Least squares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import UNIT_ROUNDOFF, Vector, as_positive, as_vector, length
from ..base import Image, Objective
from ..chunks import Chunks
from ..linked import Linked
from ..matrix import DataMatrix, gamma
from .base import Loss
from .weights import as_weights


@dataclass(frozen=True, eq=False)
class SquareLoss(Loss):
    """h(t) = 1/2 sum_i w_i (t_i - target_i)^2; without a target, that is zero, and without weights, they are one."""

    target: Vector | None = None
    weights: Vector | None = None

    quadratic = True
    lower_bound = 0.0
    row_data = ("target", "weights")
    self_concordance = 0.0

    @property
    def most(self) -> Vector | float:  # type: ignore[override]
        """w."""
        return 1.0 if self.weights is None else self.weights

    @cached_property
    def strictly_convex(self) -> bool:  # type: ignore[override]
        """Where no weight is zero."""
        return self.weights is None or bool((self.weights > 0).all())

    def value_and_slope(self, t: Vector) -> tuple[float, Vector]:
        residual = t.copy() if self.target is None else t - self.target
        slope = residual if self.weights is None else self.weights * residual
        return 0.5 * float(slope @ residual), slope

    def curvature(self, t: Vector) -> Vector:
        return np.ones(t.size) * self.most

    def near(self, t: Vector, gap: float) -> tuple[Vector, Vector]:
        return self.curvature(t), self.curvature(t)

    def conjugate(self, u: Vector) -> float:
        shift = 0.0 if self.target is None else float(u @ self.target)
        if self.weights is None:
            return 0.5 * float(u @ u) + shift
        if (u[self.weights == 0] != 0).any():
            return np.inf
        return 0.5 * float(np.divide(u * u, self.weights, out=0 * u, where=self.weights > 0).sum()) + shift


class LeastSquares(Linked):
    """The squared residual f(x) = scale/2 sum_i w_i (<a_i, x> - b_i)^2.

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator, n x d
        The data.
    b : array of length n
        The targets.
    scale : float
        A positive factor; 1/n makes it a mean.
    weights : array of length n, optional
        The w_i, not negative and not all zero; 1 by default. A row with weight 0 does not count.

    Examples
    --------
    >>> import tiebreak as tb
    >>> f = tb.LeastSquares([[1.0, 0.0], [0.0, 2.0]], [1.0, 2.0])
    >>> f.value([0.0, 0.0])
    2.5
    >>> f.grad([0.0, 0.0]).tolist()
    [-1.0, -4.0]
    >>> tb.LeastSquares([[1.0, 0.0], [0.0, 2.0]], [1.0, 2.0], weights=[3.0, 0.0]).value([0.0, 0.0])
    1.5
    """

    quadratic = True

    def __init__(self, A: Any, b: ArrayLike, scale: float = 1.0, weights: ArrayLike | None = None) -> None:
        data = DataMatrix(A, "A")
        n = data.shape[0]
        self.b, self.weights = as_vector(b, "b", n), None if weights is None else as_weights(weights, n)
        super().__init__(data, SquareLoss(self.b, self.weights), as_positive(scale, "scale"))

    @classmethod
    def on_chunks(cls, A: Chunks, b: Any, scale: float = 1.0, weights: Any = None) -> Objective:
        from ..chunked import ChunkedSum, Recipe

        factor = as_positive(scale, "scale")
        return ChunkedSum("LeastSquares", A, b, weights, Recipe(SquareLoss), scale=factor)

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        x = self._point(x)
        if self.weights is not None or (found := self.data.squares(x, self.b)) is None:
            return super().value_and_grad(x)
        return 0.5 * self.scale * found[0], self.scale * found[1]

    def curvature_along(self, direction: Vector, image: Image) -> float:
        return self.scale * float((image if self.weights is None else self.weights * image) @ image)

    def scaled_dual_bound(self, x: Vector, linear_minimum: float) -> float:
        # With r = Ax - b, c = scale and W = diag(w), 1/2 <v, Wv> >= <u, Wv> - 1/2 <u, Wu> at v = As - b and u = tau r
        # gives, for all s in Z and tau >= 0,
        #     f(s) >= c (tau <A'Wr, s> - tau <b, Wr> - tau^2/2 <r, Wr>) >= -c (tau B + tau^2/2 <r, Wr>),
        # where B = <b, Wr> - linear_minimum / c. The best tau is -B / <r, Wr> if B < 0, and 0 otherwise; tau = 1 is the
        # Frank-Wolfe bound. The allowances for rounding move B up and <r, Wr> up, so that the bound goes down.
        x = self._point(x)
        r, w = self.image(x) - self.b, np.ones(()) if self.weights is None else self.weights
        r_error = self.data.product_error(x) + UNIT_ROUNDOFF * length(r)
        pulled = w * self.b
        pull, part = float(pulled @ r), linear_minimum / self.scale
        slack = gamma(r.size) * float(np.abs(pulled) @ np.abs(r)) + length(pulled) * r_error
        B = pull - part + 1.01 * slack + 8 * UNIT_ROUNDOFF * (abs(pull) + abs(part))
        norm = length(np.sqrt(w) * r) * (1 + gamma(r.size)) + 1.01 * float(np.sqrt(w.max())) * r_error
        if not B < 0 or norm == 0:
            return 0.0
        return self.scale / 2 * (B / norm) ** 2 * (1 - 16 * UNIT_ROUNDOFF)
