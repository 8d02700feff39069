"""Objectives of the form f(x) = scale * h(Ax): everything but h is here."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector, length
from .base import Image, Objective
from .chunks import Chunks, as_chunks
from .form import Form, Term
from .losses.base import Link, Loss
from .matrix import DataMatrix, gamma
from .predictions import Predictions


class Linked(Objective):
    """A function of a linear map, f(x) = scale * h(Ax); convex, with a form, where h is a ``Loss``.

    From the bounds D on the curvature of h follow the smoothness of f, scale * lambda_max(A' diag(D) A), and that of h.
    """

    def __new__(cls, A: Any = None, *given: Any, **options: Any) -> Any:
        chunks = as_chunks(A)
        return super().__new__(cls) if chunks is None else cls.on_chunks(chunks, *given, **options)

    @classmethod
    def on_chunks(cls, A: Chunks, *given: Any, **options: Any) -> Objective:
        """The same function of data in chunks, for those that can be added up chunk by chunk."""
        raise TypeError(
            f"{cls.__name__} needs its rows on one machine and does not take data in chunks; LeastSquares, Logistic, "
            "Poisson, Huber, SquaredHinge and SquaredCovariance do"
        )

    def __init__(self, A: Any, link: Link, scale: float = 1.0) -> None:
        self.data = A if isinstance(A, DataMatrix) else DataMatrix(A, "A")
        self.A = self.data.raw
        self.dim = self.data.shape[1]
        self.link, self.scale = link, scale
        self.lower_bound = scale * link.lower_bound
        self.convex = isinstance(link, Loss)
        if isinstance(link, Loss) and self.data.kind != "operator":
            self.summands = self.data.shape[0]

    @cached_property
    def form(self) -> Form | None:
        """The loss of the data, without rows whose weight is zero."""
        if not isinstance(self.link, Loss):
            return None
        loss, data, weights = self.link, self.data, getattr(self.link, "weights", None)
        if weights is not None and not weights.all() and data.kind != "operator":
            kept = np.flatnonzero(weights)
            loss, data = loss.rows(kept), DataMatrix.trusted(data.raw[kept])
        return Form.of(self._term(loss, data), self.scale)

    def _term(self, loss: Loss, data: DataMatrix) -> Term:
        """What the form says of the data: the matrix between x and the predictions."""
        return Term(loss, data)

    @property
    def predictions(self) -> Predictions:
        return Predictions(self.data, self.scale * self.link.most)

    @cached_property
    def smoothness(self) -> float | None:
        """An upper bound on the Lipschitz constant of the gradient: lambda_max(A' diag(D) A) times the scale.

        Exact up to that curvature where the smaller side of A has at most 500 entries; for larger A and for
        operators it holds up to a probability of 1e-12 over the random start of a Lanczos run.
        """
        most = self.link.most if self.scale == 1 else self.scale * self.link.most
        return self.data.squared_norm(most) if np.isfinite(most).all() else None

    def image(self, x: Vector) -> Vector:
        return self.data.times(self._point(x))

    def value(self, x: Vector) -> float:
        return self.scale * self.link.value(self.image(x))

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        return self.value_and_grad_at(x, self.image(x))

    def value_at(self, x: Vector, image: Image) -> float:
        return self.scale * self.link.value(image)

    def value_and_grad_at(self, x: Vector, image: Image) -> tuple[float, Vector]:
        value, slope = self._scaled(self.link, image)
        return value, self._pulled(slope)

    def _pulled(self, slope: Vector) -> Vector:
        """A'u."""
        return self.data.transpose_times(slope)

    def batch(self, x: Vector, index: NDArray[np.intp]) -> tuple[float, Vector]:
        if self.summands == 1 or not isinstance(self.link, Loss):
            return self.value_and_grad(x)
        A = self.data.raw[index]
        value, slope = self._scaled(self.link.rows(index), A @ self._point(x))
        weight = self.summands / len(index)
        return weight * value, weight * (A.T @ slope)

    def hessian_times(self, x: Vector, direction: Vector) -> Vector | None:
        bent = self.link.curvature_times(self.image(x), self.image(direction))
        if bent is None:
            return None
        return self._pulled(bent if self.scale == 1 else self.scale * bent)

    def curvature_within(self, x: Vector, radius: float) -> float | None:
        if self.smoothness is not None or not isinstance(self.link, Loss):
            return self.smoothness
        size = self.data.frobenius
        return self.scale * self._bend(self.image(x), size * radius) * size**2

    def rounding(self, x: Vector) -> tuple[float, float]:
        """Bounds on the errors of value and gradient: of Ax passed on through h, of h, and of A'u."""
        return self._rounding_at(x, self.image(x))[1:]

    def value_and_error(self, x: Vector) -> tuple[float, float]:
        return self._rounding_at(x, self.image(x))[:2]

    def _scaled(self, link: Link, t: Vector) -> tuple[float, Vector]:
        value, slope = link.value_and_slope(t)
        return (value, slope) if self.scale == 1 else (self.scale * value, self.scale * slope)

    def _bend(self, t: Vector, radius: float) -> float:
        """A bound on the curvature of h within the rounding of t."""
        return self.link.bend(t, radius)

    def _rounding_at(self, x: Vector, t: Vector) -> tuple[float, float, float]:
        value, slope = self.link.value_and_slope(t)
        value_error, slope_error = self.link.rounding(t, value, slope)
        image_error = self.data.product_error(self._point(x))
        size, bend = length(slope), self._bend(t, image_error)
        value_error += (size + slope_error) * image_error + bend / 2 * image_error * image_error  # a power would raise
        slope_error += bend * image_error
        grad_error = self.data.frobenius * (gamma(t.size) * size + slope_error)
        return self.scale * value, self.scale * value_error, self.scale * grad_error
