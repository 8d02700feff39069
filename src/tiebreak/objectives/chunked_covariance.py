"""The squared covariance of an attribute with the predicted probability, of rows in chunks: the square of a sum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Vector, length
from .base import Objective
from .chunked import ChunkedSum, Recipe
from .chunks import Chunks
from .losses.base import LINK_UNITS, Link
from .matrix import gamma

STEEPEST = 1 / (6 * math.sqrt(3))  # of the second derivative of the logistic function


@dataclass(frozen=True, eq=False)
class SigmoidLink(Link):
    """h(t) = sum_i w_i (sigma(t_i) - 1/2), w = v - mean v of some of the rows, each w_i off by at most ``w_error``."""

    w: Vector
    w_error: Vector
    lower_bound = -np.inf

    @classmethod
    def of(cls, mean: float, mean_error: float, v: Vector, weights: Vector | None) -> SigmoidLink:
        """Those of the rows with the attributes v."""
        w = v - mean
        return cls(w, UNIT_ROUNDOFF * np.abs(w) + mean_error)

    @property
    def most(self) -> Vector:  # type: ignore[override]
        """abs(w) times the largest second derivative."""
        return STEEPEST * np.abs(self.w)

    def value_and_slope(self, t: Vector) -> tuple[float, Vector]:
        decay = np.exp(-np.abs(t))
        return 0.5 * float(self.w @ np.tanh(0.5 * t)), self.w * (decay / (1 + decay) ** 2)

    def rounding(self, t: Vector, value: float, slope: Vector) -> tuple[float, float]:
        value_error = 0.5 * (gamma(t.size + LINK_UNITS) * float(np.abs(self.w).sum()) + float(self.w_error.sum()))
        return value_error, LINK_UNITS * UNIT_ROUNDOFF * length(slope) + 0.25 * length(self.w_error)


class ChunkedCovariance(Objective):
    """``SquaredCovariance`` of data in chunks: f(x) = c(x)^2, c added up chunk by chunk.

    Parameters
    ----------
    A : Chunks
        The data.
    v : array or Chunks
        The attribute.
    """

    lower_bound = 0.0
    identity = ("content",)

    def __init__(self, A: Chunks, v: Any) -> None:
        self.A, self.dim, self.v = A, A.dim, A.aligned(v, "v")

    def __repr__(self) -> str:
        return f"SquaredCovariance of {self.A!r}"

    @property
    def content(self) -> tuple[Any, ...]:
        """Where its data come from."""
        return self.A.source, self.v.source

    @cached_property
    def inner(self) -> ChunkedSum:
        """c, whose mean attribute one pass over v has found."""
        found = self.v.facts
        n = sum(found.rows)
        mean = found.total / n
        error = (gamma(max(found.rows)) + gamma(len(found.rows))) * max(abs(found.least), abs(found.largest))
        recipe = Recipe(partial(SigmoidLink.of, mean, error + 2 * UNIT_ROUNDOFF * abs(mean)))
        return ChunkedSum("SquaredCovariance", self.A, self.v, None, recipe, scale=1 / n, named="v")

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        c, grad = self.inner.value_and_grad(x)
        return c * c, 2 * c * grad

    def rounding(self, x: Vector) -> tuple[float, float]:
        found = self.inner.evaluated(self._point(x))
        c, error, size = abs(found.value), found.value_error, length(found.grad)
        value_error = (2 * c + error) * error + 4 * UNIT_ROUNDOFF * c * c
        grad_error = 2 * (c * found.grad_error + error * (size + found.grad_error)) + 8 * UNIT_ROUNDOFF * c * size
        return value_error, 1.01 * grad_error

    @cached_property
    def smoothness(self) -> float | None:
        """As for ``SquaredCovariance``, with one pass over v and one for a Gram matrix."""
        inner = self.inner
        total = inner.scale * float(inner.target.reduce(Sizes(inner.own), float.__add__))
        steep = inner.smoothness
        assert steep is not None
        return total * (1 / 8 + STEEPEST) * steep / STEEPEST * (1 + 1e-10)


@dataclass(frozen=True)
class Sizes:
    """The sum of abs(w)."""

    recipe: Recipe

    def __call__(self, k: int, v: Vector) -> float:
        link: Any = self.recipe.link(v)
        return float(np.abs(link.w).sum())
