"""Functions h of the data, with the second derivatives that Newton steps and the bracket of the column engine need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Vector
from ..objectives import Huber, Logistic

TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Link:
    """A separable h: value, slope and curvature at t; bounds on the curvature near t; the most anywhere."""

    at: Callable[[Vector], tuple[float, Vector, Vector]]
    near: Callable[[Vector, float], tuple[Vector, Vector]]
    most: float


def logistic_link(term: Logistic, factor: float) -> Link:
    """That of a multiple of the logistic loss."""
    weights = factor * term.weights

    def bend(t: Vector) -> Vector:
        decay = np.exp(-np.abs(t))
        return np.asarray(weights * decay / (1 + decay) ** 2)

    def at(t: Vector) -> tuple[float, Vector, Vector]:
        value, slope = term.link(t)
        return factor * value, factor * slope, bend(t)

    def near(t: Vector, gap: float) -> tuple[Vector, Vector]:
        # The third derivative of the logistic loss is at most the second in size, so that
        # h(t + s) - h(t) - h'(t) s >= h''(t) (e^-|s| + |s| - 1); this is at least h''(t) s^2 / 3 for |s| <= 1 and at
        # least h''(t) (|s| - 1) anywhere.
        here = bend(t)
        ratio = max(gap, 0.0) / np.maximum(here, TINY)
        step = np.where(ratio <= 1 / 3, np.sqrt(3 * ratio), ratio + 1)
        return bend(np.abs(t) + step), np.minimum(here * np.exp(np.minimum(step, 700.0)), weights / 4)

    return Link(at, near, float(weights.max()) / 4)


def huber_link(term: Huber, factor: float) -> Link:
    """That of a multiple of the Huber loss, which is flat in places."""

    def at(t: Vector) -> tuple[float, Vector, Vector]:
        value, slope = term.link(t)
        return factor * value, factor * slope, np.where(np.abs(t - term.b) <= term.delta, factor, 0.0)

    return Link(at, lambda t, gap: (np.zeros(t.size), np.full(t.size, factor)), factor)
