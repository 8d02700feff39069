"""Losses of linear maps in a level, and how much they bend near a point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import UNIT_ROUNDOFF, Vector
from ...numerics.extended import ExtMatrix
from ...objectives.losses.base import Loss


class Curve(NamedTuple):
    """scale * h(F x)."""

    F: ExtMatrix
    loss: Loss
    scale: np.longdouble


class Settled(NamedTuple):
    """A curve at the level's point: its predictions, second derivatives, the rows that have some, and the others.

    ``least`` times the square of the largest move of a row's group is no more than what the group bends by.
    """

    t: Vector
    curvature: Vector
    least: Vector
    bent: NDArray[np.intp]
    straight: NDArray[np.intp]


def largest_of_group(loss: Loss, sizes: Vector) -> Vector:
    """For each row the largest size of its group."""
    if loss.group == 1:
        return sizes
    return np.repeat(sizes.reshape(-1, loss.group).max(axis=1), loss.group)


def rounded(loss: Loss, off: Vector) -> Vector:
    """How far predictions may be off where those of a group follow from some of them, each off by so much."""
    return off if loss.group == 1 else 2 * largest_of_group(loss, off)


def most_nearby(loss: Loss, t: Vector, moved: Vector) -> Vector:
    """A bound on h'' within these distances of t.

    In a group it is that of products of two probabilities, each of which grows by exp(M s) if no row moves by more
    than s.
    """
    M, most = loss.self_concordance, np.broadcast_to(loss.most, (t.size,))
    if loss.group > 1:
        M, moved = 2 * M, largest_of_group(loss, moved)
    if M == 0:
        return np.asarray(np.where(loss.room(t) <= moved, most, loss.curvature(t)))
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum(loss.curvature(t) * np.exp(np.minimum(M * moved, 1e4)) * (1 + 1e-13), most))


def room_nearby(loss: Loss, t: Vector) -> Vector:
    """How far predictions may move before h'' jumps, for certain: t and the kinks are rounded."""
    return np.asarray(np.maximum(loss.room(t) - 8 * UNIT_ROUNDOFF * (np.abs(t) + loss.typical), 0.0))
