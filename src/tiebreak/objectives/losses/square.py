"""Least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import UNIT_ROUNDOFF, Vector, as_positive, as_vector, length
from ..base import Image
from ..linked import Linked
from ..matrix import DataMatrix, gamma
from .base import Loss


@dataclass(frozen=True, eq=False)
class SquareLoss(Loss):
    """h(t) = 1/2 ||t - target||^2; without a target, that is zero."""

    target: Vector | None = None

    quadratic = True
    strictly_convex = True
    most = 1.0
    lower_bound = 0.0
    row_data = ("target",)
    self_concordance = 0.0

    def value_and_slope(self, t: Vector) -> tuple[float, Vector]:
        residual = t.copy() if self.target is None else t - self.target
        return 0.5 * float(residual @ residual), residual

    def curvature(self, t: Vector) -> Vector:
        return np.ones(t.size)

    def near(self, t: Vector, gap: float) -> tuple[Vector, Vector]:
        return np.ones(t.size), np.ones(t.size)

    def conjugate(self, u: Vector) -> float:
        return 0.5 * float(u @ u) + (0.0 if self.target is None else float(u @ self.target))


class LeastSquares(Linked):
    """The squared residual f(x) = scale/2 ||Ax - b||^2.

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator, n x d
        The data.
    b : array of length n
        The targets.
    scale : float
        A positive factor; 1/n makes it a mean.

    Examples
    --------
    >>> import tiebreak as tb
    >>> f = tb.LeastSquares([[1.0, 0.0], [0.0, 2.0]], [1.0, 2.0])
    >>> f.value([0.0, 0.0])
    2.5
    >>> f.grad([0.0, 0.0]).tolist()
    [-1.0, -4.0]
    """

    quadratic = True

    def __init__(self, A: Any, b: ArrayLike, scale: float = 1.0) -> None:
        data = DataMatrix(A, "A")
        self.b = as_vector(b, "b", data.shape[0])
        super().__init__(data, SquareLoss(self.b), as_positive(scale, "scale"))

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        x = self._point(x)
        if (found := self.data.squares(x, self.b)) is None:
            return super().value_and_grad(x)
        return 0.5 * self.scale * found[0], self.scale * found[1]

    def curvature_along(self, direction: Vector, image: Image) -> float:
        return self.scale * float(image @ image)

    def scaled_dual_bound(self, x: Vector, linear_minimum: float) -> float:
        # With r = Ax - b and c = scale, 1/2 ||v||^2 >= <u, v> - 1/2 ||u||^2 at v = As - b and u = tau r
        # gives, for all s in Z and tau >= 0,
        #     f(s) >= c (tau <A'r, s> - tau <b, r> - tau^2/2 ||r||^2) >= -c (tau B + tau^2/2 ||r||^2),
        # where B = <b, r> - linear_minimum / c. The best tau is -B / ||r||^2 if B < 0, and 0 otherwise; tau
        # = 1 is the Frank-Wolfe bound. The allowances for rounding move B up and ||r|| up, so that the bound
        # goes down.
        x = self._point(x)
        r = self.image(x) - self.b
        r_error = self.data.product_error(x) + UNIT_ROUNDOFF * length(r)
        pull, part = float(self.b @ r), linear_minimum / self.scale
        slack = gamma(r.size) * float(np.abs(self.b) @ np.abs(r)) + length(self.b) * r_error
        B = pull - part + 1.01 * slack + 8 * UNIT_ROUNDOFF * (abs(pull) + abs(part))
        norm = length(r) * (1 + gamma(r.size)) + 1.01 * r_error
        if not B < 0 or norm == 0:
            return 0.0
        return self.scale / 2 * (B / norm) ** 2 * (1 - 16 * UNIT_ROUNDOFF)
