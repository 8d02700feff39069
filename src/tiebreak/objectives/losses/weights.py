"""Weights of the rows of a loss."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ...arrays import Vector, as_vector


def as_weights(weights: ArrayLike, n: int, name: str = "weights") -> Vector:
    """n weights, not negative and not all zero."""
    given = as_vector(weights, name, n)
    if (given < 0).any():
        raise ValueError(f"{name} must not be negative, got {given.min():g}; a row with weight 0 does not count")
    if not given.any():
        raise ValueError(f"{name} are all zero; at least one row must count")
    return given


def as_shares(weights: ArrayLike | None, n: int) -> Vector:
    """Weights that sum to 1, equal by default, so that a loss is a mean."""
    if weights is None:
        return np.full(n, 1 / n)
    given = as_weights(weights, n)
    given = given / given.max()  # so that the sum cannot overflow
    shares: Vector = given / math.fsum(given)
    return shares


def as_signs(y: ArrayLike, n: int) -> Vector:
    """Labels of two classes, -1 and 1 or 0 and 1, as -1 and 1."""
    given = as_vector(y, "y", n)
    labels = set(np.unique(given).tolist())
    if labels == {-1.0, 1.0}:
        return given
    if labels == {0.0, 1.0}:
        return 2 * given - 1
    found = ", ".join(f"{label:g}" for label in sorted(labels)[:5]) + (", ..." if len(labels) > 5 else "")
    raise ValueError(f"y must hold two classes, labelled -1 and 1 or 0 and 1; it holds {found}")
