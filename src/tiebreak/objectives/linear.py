"""Linear functions and the squared distance to a point."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import UNIT_ROUNDOFF, Vector, as_count, as_positive, as_vector
from .base import Image, Objective
from .form import Form, Slope, Term
from .losses.square import SquareLoss
from .matrix import gamma


class Linear(Objective):
    """The linear function f(x) = <c, x>.

    Parameters
    ----------
    c : array of length d
        The cost vector.

    Examples
    --------
    >>> import tiebreak as tb
    >>> tb.Linear([1.0, -2.0]).value([3.0, 1.0])
    1.0
    """

    convex = True
    quadratic = True
    smoothness = 0.0

    def __init__(self, c: ArrayLike) -> None:
        self.c = as_vector(c, "c")
        self.dim = self.c.size

    @cached_property
    def form(self) -> Form:
        """The linear term."""
        return Form(slopes=(Slope(self.c),))

    def value(self, x: Vector) -> float:
        return float(self.c @ self._point(x))

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        return self.value(x), self.c.copy()

    def curvature_along(self, direction: Vector, image: Image) -> float:
        return 0.0

    def rounding(self, x: Vector) -> tuple[float, float]:
        return gamma(x.size) * float(np.abs(self.c) @ np.abs(x)), 0.0

    def __mul__(self, factor: object) -> Objective:
        if not isinstance(factor, (int, float, np.number)):
            return NotImplemented
        return Linear(as_positive(factor, "the factor of an objective") * self.c)

    __rmul__ = __mul__


class SquaredNorm(Objective):
    """Half the squared distance to a point, f(x) = 1/2 ||x - center||^2.

    Parameters
    ----------
    center : array of length d, optional
        The origin by default.
    dim : int, optional
        The dimension d; without it and without a center, any.

    Examples
    --------
    >>> import tiebreak as tb
    >>> tb.SquaredNorm().value([3.0, 4.0])
    12.5
    >>> tb.SquaredNorm(center=[3.0, 0.0]).grad([3.0, 4.0]).tolist()
    [0.0, 4.0]
    """

    convex = True
    quadratic = True
    smoothness = 1.0
    lower_bound = 0.0

    def __init__(self, center: ArrayLike | None = None, dim: int | None = None) -> None:
        self.dim = None if dim is None else as_count(dim, "dim")
        self.center = None if center is None else as_vector(center, "center", self.dim)
        if self.center is not None:
            self.dim = self.center.size

    @cached_property
    def form(self) -> Form:
        """The square of x itself."""
        return Form.of(Term(SquareLoss(self.center)))

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        x = self._point(x)
        offset = x.copy() if self.center is None else x - self.center
        return 0.5 * float(offset @ offset), offset

    def curvature_along(self, direction: Vector, image: Image) -> float:
        return float(direction @ direction)

    def rounding(self, x: Vector) -> tuple[float, float]:
        value, offset = self.value_and_grad(x)
        return gamma(x.size) * value, 0.0 if self.center is None else 2 * UNIT_ROUNDOFF * float(np.linalg.norm(offset))
