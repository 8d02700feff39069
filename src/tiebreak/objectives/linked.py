"""Objectives of the form f(x) = h(Ax): everything but h is here."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import UNIT_ROUNDOFF, Vector, length
from .base import Image, Objective, Predictor
from .matrix import DataMatrix, gamma

LINK_UNITS = 32  # units of roundoff lost in one entry of h or h': two functions like exp of 4 ulp, and some products


class Linked(Objective):
    """f(x) = h(Ax).

    A subclass supplies ``link``, and ``curvature``: numbers D >= 0, one or one a row, with
    -diag(D) <= h'' <= diag(D) everywhere. From them follow the smoothness of f, lambda_max(A' diag(D) A), and
    that of h, max D.
    """

    curvature: Vector | float
    strictly_convex: bool = False
    row_data: tuple[str, ...] = ()
    """The attributes with an entry a row, where h is a sum over the rows: what ``batch`` needs to pick some."""

    def __init__(self, A: Any) -> None:
        self.data = DataMatrix(A, "A")
        self.A = self.data.raw
        self.dim = self.data.shape[1]
        if self.row_data and self.data.kind != "operator":
            self.summands = self.data.shape[0]

    @abstractmethod
    def link(self, t: Vector) -> tuple[float, Vector]:
        """h(t) and h'(t)."""

    def link_value(self, t: Vector) -> float:
        """h(t)."""
        return self.link(t)[0]

    def link_rounding(self, t: Vector, value: float, slope: Vector) -> tuple[float, float]:
        """Bounds on the errors of ``link`` at t: as here where h is a sum of n accurate nonnegative terms."""
        return gamma(t.size + LINK_UNITS) * value, LINK_UNITS * UNIT_ROUNDOFF * length(slope)

    @property
    def predictor(self) -> Predictor:  # type: ignore[override]
        return Predictor(self.A, self.link, None, self.strictly_convex)

    @cached_property
    def smoothness(self) -> float:
        """An upper bound on the Lipschitz constant of the gradient: lambda_max(A' diag(curvature) A).

        Exact up to that curvature where the smaller side of A has at most 500 entries; for larger A and for
        operators it holds up to a probability of 1e-12 over the random start of a Lanczos run.
        """
        return self.data.squared_norm(self.curvature)

    def image(self, x: Vector) -> Vector:
        return self.data.times(self._point(x))

    def value(self, x: Vector) -> float:
        return self.link_value(self.image(x))

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        return self.value_and_grad_at(x, self.image(x))

    def value_at(self, x: Vector, image: Image) -> float:
        return self.link_value(image)

    def value_and_grad_at(self, x: Vector, image: Image) -> tuple[float, Vector]:
        value, slope = self.link(image)
        return value, self.data.transpose_times(slope)

    def batch(self, x: Vector, index: NDArray[np.intp]) -> tuple[float, Vector]:
        if self.summands == 1:
            return self.value_and_grad(x)
        rows, A = copy(self), self.data.raw[index]
        for name in self.row_data:
            setattr(rows, name, getattr(self, name)[index])
        value, slope = rows.link(A @ self._point(x))
        weight = self.summands / len(index)
        return weight * value, weight * (A.T @ slope)

    def rounding(self, x: Vector) -> tuple[float, float]:
        """Bounds on the errors of value and gradient: of Ax passed on through h, of h, and of A'u."""
        return self._rounding_at(x, self.image(x))[1:]

    def value_and_error(self, x: Vector) -> tuple[float, float]:
        return self._rounding_at(x, self.image(x))[:2]

    def _rounding_at(self, x: Vector, t: Vector) -> tuple[float, float, float]:
        value, slope = self.link(t)
        value_error, slope_error = self.link_rounding(t, value, slope)
        image_error = self.data.product_error(self._point(x))
        size, bend = length(slope), float(np.max(self.curvature))
        value_error += (size + slope_error) * image_error + bend / 2 * image_error**2
        slope_error += bend * image_error
        return value, value_error, self.data.frobenius * (gamma(t.size) * size + slope_error)
