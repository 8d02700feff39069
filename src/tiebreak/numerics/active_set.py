"""One correction of an active set: which ends are held, from a point and the multipliers that holding them has."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from .extended import Ext

Sides: TypeAlias = NDArray[np.int8]
"""Of each row or column: -1 at its lower end, 1 at its upper one, 0 inside."""


def corrected(
    side: Sides,
    value: Vector | Ext,
    low: Vector | Ext,
    high: Vector | Ext,
    multiplier: Vector | Ext,
    *,
    crossed: float,
    noise: Vector | float = 0.0,
) -> Sides:
    """Ends that are crossed join, ends that push the wrong way leave; equal ends are always held.

    A multiplier is positive at a lower end that is needed. An end is crossed by more than ``crossed``, and pushes the
    wrong way by more than ``noise``.
    """
    kept = np.where(side * multiplier > noise, 0, side)
    moved = np.where(value > high + crossed, 1, np.where(value < low - crossed, -1, kept))
    return np.where(low == high, 1, moved).astype(np.int8)
