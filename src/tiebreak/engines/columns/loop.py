"""The loop of column generation, for any way to price vertices and to let them enter."""

from __future__ import annotations

from typing import Protocol

from ...arrays import Vector
from ...kernels import twin
from ...kernels.leading_parts import assign
from . import sweep
from .sweep import Offer, no_offer

NEAR = 1e-5  # below this gap, relative to the scale, the master problem is solved with a second, refining step

OPTIMAL, REPEATED, CROWDED, LIMIT, STALE, FULL, PAUSED = range(7)
"""How the loop ends. After the last three it goes on: with a refresh, more room, a look at the clock."""

Ended = tuple[int, int, float, float, int, int]
"""Steps taken, how the loop ended, the price of the lower level, the scale of the last offer, ``full``, ``repeats``."""


class Steps(Protocol):
    """What the loop does: price all vertices; minimise over those in use, and let new ones enter."""

    def price(self, lam: float) -> Offer: ...
    def proceed(self, offer: Offer, settled: bool, full: int, most: int) -> int: ...
    def interrupted(self, entered: int) -> bool: ...


def price(S: Steps, lam: float) -> Offer:
    return S.price(lam)


def proceed(S: Steps, offer: Offer, settled: bool, full: int, most: int) -> int:
    return S.proceed(offer, settled, full, most)


def interrupted(S: Steps, entered: int) -> bool:
    return S.interrupted(entered)


for _step, _of_a_sweep in ((price, sweep.price), (proceed, sweep.proceed), (interrupted, sweep.interrupted)):
    twin(_step)(_of_a_sweep)


def loop(S: Steps, lam: float, full: int, repeats: int, most: int, crowd: int, slope: Vector) -> Ended:
    """Add vertices until none helps, starting with the price ``lam`` of the lower level.

    The slope of the last offer is written into ``slope``.

    Compiled for a ``Sweep``, where numba is there: in the place of the three functions above, those of ``sweep.py``.
    """
    step, settled, offer = 0, False, no_offer(lam)
    while step < most:
        entered = proceed(S, offer, settled, full, most - step)
        if entered < 0:
            return step, FULL, offer.lam, offer.scale, full, repeats
        step += entered
        if interrupted(S, entered):
            return step, PAUSED, offer.lam, offer.scale, full, repeats
        offer = price(S, offer.lam)
        assign(slope, offer.slope)
        if offer.stale:
            return step, STALE, offer.lam, offer.scale, full, repeats
        none = offer.gap <= offer.noise
        if none and (full == 2 or offer.exact):
            return step, OPTIMAL, offer.lam, offer.scale, full, repeats
        if none:  # once more, with a refining step
            offer, full, settled = no_offer(offer.lam), 2, False
            continue
        if offer.known:  # the price of one in use should be 0: factors have drifted, or it is mere rounding
            repeats += 1
            end = REPEATED if repeats == 3 else STALE
            return step + 1, end, offer.lam, offer.scale, 2, repeats
        if offer.used >= crowd:
            return step, CROWDED, offer.lam, offer.scale, full, repeats
        full = 2 if offer.gap <= NEAR * offer.scale else 1
        settled = True
    return most, LIMIT, offer.lam, offer.scale, full, repeats
