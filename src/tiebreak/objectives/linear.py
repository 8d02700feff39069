"""Linear functions and the squared distance to a point."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..arrays import UNIT_ROUNDOFF, Vector, as_count, as_scalar, as_vector
from .base import Image, Objective
from .form import Form, Scale, Slope, Term
from .losses.square import SquareLoss
from .losses.weights import as_weights
from .matrix import DataMatrix, gamma


class Linear(Objective):
    """The linear function f(x) = <c, x> + constant; ``-Linear(c)`` maximises it.

    Parameters
    ----------
    c : array of length d
        The cost vector.
    constant : float, default 0
        What is added: it counts where a slack is relative, and in all values that are shown.

    Examples
    --------
    >>> import tiebreak as tb
    >>> profit, loss = tb.Linear([1.0, -2.0]), tb.Linear([1.0, 1.0])
    >>> profit.value([3.0, 1.0]), (-profit).value([3.0, 1.0]), (loss - 2 * profit).value([3.0, 1.0])
    (1.0, -1.0, 2.0)
    """

    convex = True
    quadratic = True
    smoothness = 0.0

    def __init__(self, c: ArrayLike, constant: float = 0.0) -> None:
        self.c = as_vector(c, "c")
        self.constant = as_scalar(constant, "constant")
        self.dim = self.c.size

    @cached_property
    def form(self) -> Form:
        """The linear term, and the constant."""
        return Form(slopes=(Slope(self.c),), constant=Scale(self.constant))

    def value(self, x: Vector) -> float:
        return float(self.c @ self._point(x)) + self.constant

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        return self.value(x), self.c.copy()

    def curvature_along(self, direction: Vector, image: Image) -> float:
        return 0.0

    def hessian_times(self, x: Vector, direction: Vector) -> Vector:
        return np.zeros(direction.size)

    def rounding(self, x: Vector) -> tuple[float, float]:
        return gamma(x.size) * (float(np.abs(self.c) @ np.abs(x)) + abs(self.constant)), 0.0

    def _times(self, factor: float) -> Objective:
        return Linear(factor * self.c, factor * self.constant)

    def _negative(self) -> Objective:
        return Linear(-self.c, -self.constant)


class Slopes(Linear):
    """A sum of linear functions with factors that are kept apart, in extended precision.

    Parameters
    ----------
    *slopes : Slope
        At least one.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.objectives.form import Slope
    >>> Slopes(Slope(np.array([1.0, 0.0])), Slope(np.array([0.0, 2.0]), np.longdouble(3))).value([1.0, 1.0])
    7.0
    """

    def __init__(self, *slopes: Slope) -> None:
        super().__init__(np.sum([float(scale) * c for c, scale in slopes], axis=0))
        self.slopes = slopes

    @cached_property
    def form(self) -> Form:
        """All of them."""
        return Form(slopes=self.slopes)


class SquaredNorm(Objective):
    """Half the squared distance to a point, f(x) = 1/2 sum_i w_i (x_i - center_i)^2.

    Parameters
    ----------
    center : array of length d, optional
        The origin by default.
    dim : int, optional
        The dimension d; without it, a center and weights, any.
    weights : array of length d, optional
        The w_i, not negative and not all zero; 1 by default. An entry of weight 0 is free, as an intercept should be.

    Examples
    --------
    >>> import tiebreak as tb
    >>> tb.SquaredNorm().value([3.0, 4.0])
    12.5
    >>> tb.SquaredNorm(center=[3.0, 0.0]).grad([3.0, 4.0]).tolist()
    [0.0, 4.0]
    >>> tb.SquaredNorm(weights=[1.0, 2.0, 0.0]).grad([3.0, 4.0, 5.0]).tolist()
    [3.0, 8.0, 0.0]
    """

    convex = True
    quadratic = True
    lower_bound = 0.0

    def __init__(
        self, center: ArrayLike | None = None, dim: int | None = None, weights: ArrayLike | None = None
    ) -> None:
        self.dim = None if dim is None else as_count(dim, "dim")
        self.center = None if center is None else as_vector(center, "center", self.dim)
        if self.center is not None:
            self.dim = self.center.size
        self.weights: Vector | None = None
        if weights is not None:
            self.dim = as_vector(weights, "weights", self.dim).size
            self.weights = as_weights(weights, self.dim)

    @property
    def smoothness(self) -> float:
        """The largest weight."""
        return 1.0 if self.weights is None else float(self.weights.max())

    @cached_property
    def form(self) -> Form:
        """The square of x itself, or of those entries that have a weight."""
        w, center = self.weights, self.center
        if w is None:
            return Form.of(Term(SquareLoss(center)))
        if (w == w[0]).all():
            return Form.of(Term(SquareLoss(center)), w[0])
        if w.all():
            return Form.of(Term(SquareLoss(center, w)))
        kept = np.flatnonzero(w)
        picked = sp.csr_array((np.ones(kept.size), (np.arange(kept.size), kept)), shape=(kept.size, w.size))
        equal = bool((w[kept] == w[kept[0]]).all())
        loss = SquareLoss(None if center is None else center[kept], None if equal else w[kept])
        return Form.of(Term(loss, DataMatrix.trusted(picked)), w[kept[0]] if equal else 1.0)

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        x = self._point(x)
        offset = x.copy() if self.center is None else x - self.center
        grad = offset if self.weights is None else self.weights * offset
        return 0.5 * float(grad @ offset), grad

    def hessian_times(self, x: Vector, direction: Vector) -> Vector:
        return direction.copy() if self.weights is None else self.weights * direction

    def curvature_along(self, direction: Vector, image: Image) -> float:
        return float((direction if self.weights is None else self.weights * direction) @ direction)

    def rounding(self, x: Vector) -> tuple[float, float]:
        value, grad = self.value_and_grad(x)
        exact = self.center is None and self.weights is None
        return gamma(x.size) * value, 0.0 if exact else 4 * UNIT_ROUNDOFF * float(np.linalg.norm(grad))
