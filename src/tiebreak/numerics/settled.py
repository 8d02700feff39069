"""The signs of what a basis gives, where double and extended precision leave them open.

Data are taken as they are stored, so that a multiplier of 1e-19 that rounding of the data has made is none of zero, and
one of 1e-19 that rounding of the arithmetic has made is zero. Modulo random primes it is told which of both it is (see
``vanishing``); the sign of what is not zero comes from a solution that is a sum of doubles, refined by residuals in
twice their precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..arrays import Vector
from .extended import Ext, double_double_product, ext
from .vanishing import Places, System, vanishing

PARTS = 8
"""So many doubles a solution is the sum of, at most."""
NOISE = 2.0**-98
"""What a residual may be off by, relative to its terms."""
MARGIN = 16.0
"""The last correction times this bounds those that would follow."""


class Settled(NamedTuple):
    """The solution and the values, zero where they are zero; ``certain`` if all other signs are those of the data."""

    u: Ext
    values: Ext
    certain: bool


def settled(system: System, u: Ext, values: Ext, doubt: Places, solve: Callable[[Vector], Vector]) -> Settled | None:
    """u and the values as they were computed, with those in doubt settled; None where the system is too large for that.

    ``solve`` gives approximate solutions with its matrix.
    """
    zeros = vanishing(system, doubt)
    if zeros is None:
        return None
    u, values = np.where(zeros.u, 0, u), np.where(zeros.values, 0, values)
    of_u, of_values = doubt.u & ~zeros.u, doubt.values & ~zeros.values
    if not of_u.any() and not of_values.any():
        return Settled(u, values, True)
    parts, off = _refined(system, solve)
    size = np.abs(parts[0]) + off
    sums = ext(np.sum([ext(part) for part in reversed(parts)], axis=0))
    images = ext(_product([system.out] * len(parts) + [system.more], [*parts, system.known]))
    errors = abs(system.out) @ off + NOISE * (abs(system.out) @ size + abs(system.more) @ np.abs(system.known))
    certain = bool((np.abs(sums) > off)[of_u].all() and (np.abs(images) > errors)[of_values].all())
    return Settled(np.where(of_u, sums, u), np.where(of_values, images, values), certain)


def _refined(system: System, solve: Callable[[Vector], Vector]) -> tuple[list[Vector], Vector]:
    """u as a sum of doubles, and what it may be off by."""
    parts = [solve(_product([system.given], [system.known]))]
    last = np.abs(parts[0])
    while len(parts) < PARTS:
        rest = _product([system.given, *[-system.M] * len(parts)], [system.known, *parts])
        step = solve(rest)
        off = np.abs(step)
        if not off.any():
            return parts, off
        if not np.isfinite(off).all() or off.max() > 0.5 * last.max():
            break
        parts.append(step)
        last = off
    return parts, MARGIN * np.maximum(last, NOISE * np.abs(parts[0]))


def _product(blocks: list[sp.csr_array], factors: list[Vector]) -> Vector:
    return double_double_product(sp.csr_array(sp.hstack(blocks)), np.concatenate(factors))
