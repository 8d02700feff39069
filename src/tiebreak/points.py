"""A point together with its images A x under the objectives, so that a step costs a few columns, not a pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .arrays import Vector
from .objectives.base import Image, Objective

REFRESH = 512
"""Updates after which images are computed afresh; the recurrence contracts errors, so this only bounds them."""


class Point(NamedTuple):
    """x and, for each objective that is followed, its image of x."""

    x: Vector
    images: tuple[Image, ...]


def place(objectives: Sequence[Objective], x: Vector) -> Point:
    """The point x with freshly computed images."""
    return Point(x, tuple(objective.image(x) for objective in objectives))


def mix(first: Point, second: Point, gamma: float) -> Point:
    """(1 - gamma) first + gamma second, images included."""
    return _combine(first, second, 1 - gamma, gamma)


def difference(first: Point, second: Point) -> Point:
    """first - second, images included."""
    return _combine(first, second, 1.0, -1.0)


def _combine(first: Point, second: Point, alpha: float, beta: float) -> Point:
    def images(a: Image, b: Image) -> Image:
        if a is None:
            return None
        if isinstance(a, tuple):
            return tuple(images(one, other) for one, other in zip(a, b, strict=True))
        return alpha * a + beta * b

    return Point(alpha * first.x + beta * second.x, images(first.images, second.images))
