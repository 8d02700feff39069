"""The loops of the column engine, compiled where numba is there."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from ..kernels import compiled_loops
from . import dense, descent, loop, sweep, tableau
from .loop import Ended

LOOPS = (
    tableau.insert, tableau.drop, tableau.pivot, tableau.leave, tableau.curves, tableau.prices, tableau.write_prices,
    tableau.stale, tableau.paused, tableau.follow, descent.evaluate, descent.newton, descent.descend, descent.enter,
    descent.rounds, sweep.lower_scale, sweep.upper_scale, sweep.price, sweep.no_offer, sweep.proceed,
    sweep.interrupted, loop.loop,
)  # fmt: skip
KERNELS = (
    dense.dots, dense.mix, dense.rank_one, dense.factorise, dense.solve_factored, dense.put, dense.put_column,
    dense.gather, dense.scatter, dense.steepest, dense.assign, dense.advance, dense.highest, dense.ratio,
    dense.gains, dense.short_list, dense.columns, dense.fresh_codes, dense.norms,
    dense.bends, dense.on_face, dense.entries,
    dense.picked, dense.lay, dense.product,
)  # fmt: skip


class Loops(NamedTuple):
    """Those that are called from elsewhere."""

    insert: Callable[..., None]
    follow: Callable[..., None]
    write_prices: Callable[..., None]
    evaluate: Callable[..., None]
    rounds: Callable[..., int]
    loop: Callable[..., Ended]


def loops() -> Loops:
    """As they are now: with numba, if it is there and not switched off."""
    return _loops(os.environ.get("TIEBREAK_NO_NUMBA"))


@cache
def _loops(switched_off: str | None) -> Loops:
    ready = compiled_loops(*LOOPS, **{kernel.__name__: kernel.__name__ for kernel in KERNELS})
    called = (tableau.insert, tableau.follow, tableau.write_prices, descent.evaluate, descent.rounds, loop.loop)
    return Loops(*(ready[LOOPS.index(one)] for one in called))
