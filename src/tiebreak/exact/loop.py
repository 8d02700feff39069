"""The loop of column generation, for any way to price vertices and to let them enter."""

from __future__ import annotations

from typing import Protocol

from .sweep import Offer, no_offer

NEAR = 1e-5  # below this gap, relative to the scale, the master problem is solved with a second, refining step

OPTIMAL, REPEATED, CROWDED, LIMIT, STALE, FULL = range(6)
"""How the loop ends. The last two want something done before it goes on: a refresh, more room."""


class Steps(Protocol):
    """What the loop does: price all vertices; minimise over those in use, and let new ones enter."""

    def price(self, lam: float) -> Offer: ...
    def proceed(self, offer: Offer, settled: bool, full: int, most: int) -> int: ...


def price(S: Steps, lam: float) -> Offer:
    return S.price(lam)


def proceed(S: Steps, offer: Offer, settled: bool, full: int, most: int) -> int:
    return S.proceed(offer, settled, full, most)


def loop(S: Steps, offer: Offer, full: int, repeats: int, most: int, crowd: int) -> tuple[int, int, Offer, int, int]:
    """Add vertices until none helps; returns the steps taken, how it ended, the last offer, full and repeats.

    ``offer`` has the price of the lower level to start with and no vertices. Compiled for a ``Sweep``, where numba is
    there, with the functions of ``sweep.py`` in the place of those above.
    """
    step, settled = 0, False
    while step < most:
        entered = proceed(S, offer, settled, full, most - step)
        if entered < 0:
            return step, FULL, offer, full, repeats
        step += entered
        offer = price(S, offer.lam)
        if offer.stale:
            return step, STALE, offer, full, repeats
        none = offer.gap <= offer.noise
        if none and (full == 2 or offer.exact):
            return step, OPTIMAL, offer, full, repeats
        if none:  # once more, with a refining step
            offer, full, settled = no_offer(offer.lam), 2, False
            continue
        if offer.known:  # the price of one in use should be 0: factors have drifted, or it is mere rounding
            repeats += 1
            return step + 1, REPEATED if repeats == 3 else STALE, offer, 2, repeats
        if offer.used >= crowd:
            return step, CROWDED, offer, full, repeats
        full = 2 if offer.gap <= NEAR * offer.scale else 1
        settled = True
    return most, LIMIT, offer, full, repeats
