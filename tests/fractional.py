"""Numbers as the fractions they are, and data that make rounding errors add up instead of cancel."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np

UNIT = 2.0**-53


def fractions(values) -> list[Fraction]:
    """Doubles or long doubles, exactly."""
    return [Fraction(*entry.as_integer_ratio()) for entry in np.asarray(values).ravel()]


def dot(a, b) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def times(A, x) -> list[Fraction]:
    """A x for an array of doubles and a list of fractions."""
    return [dot(fractions(row), x) for row in np.atleast_2d(A)]


def norm_is_at_most(v, bound: float) -> bool:
    """Whether the Euclidean norm of a list of fractions is at most ``bound``, decided without rounding."""
    return dot(v, v) <= Fraction(bound) ** 2


def norm(v) -> float:
    """The Euclidean norm, rounded."""
    square = dot(v, v) * 2**400
    return float(Fraction(isqrt(square.numerator // square.denominator), 2**200))


def lost(count: int, lanes: int = 64, unit: float = UNIT) -> np.ndarray:
    """Ones, then halves of a unit in the last place of one: adding them to a one changes nothing, whatever the order
    within a lane, so that a sum misses nearly all of them."""
    return np.concatenate([np.ones(lanes), np.full(count, unit)])


def gained(count: int, lanes: int = 64) -> np.ndarray:
    """The same with a little more than half a unit, which is rounded up each time: a sum comes out too large."""
    return np.concatenate([np.ones(lanes), np.full(count, UNIT * (1 + 2.0**-12))])
