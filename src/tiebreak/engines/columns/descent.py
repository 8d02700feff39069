"""Minimise 1/2 ||F'w - target||^2 + <p, w> over weights w >= 0 with E'w = e, and let vertices of a short list enter.

A reduced-gradient method: Newton steps in the superbasic weights, a ratio test, and the vertex that stops it leaves.
Compiled where numba is there, as ``tableau.py``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Vector
from ...kernels import loop
from ...kernels.leading_parts import assign, gather, put, scatter
from ...kernels.small_factors import factorise, solve_factored
from ...kernels.small_matrices import advance, dots, highest, mix, ratio
from ...kernels.vertex_prices import short_list
from .tableau import (
    CHANGES,
    COUNT,
    FACTORED,
    FREE,
    LATEST,
    RANK,
    UNDONE,
    WORK,
    Array,
    Numbers,
    Tableau,
    curves,
    insert,
    leave,
    paused,
    prices,
    stale,
)  # fmt: skip

RIDGE = 1e-15  # of the largest curvature: where f is flat, Newton's direction is then the flat one
RIDGE_SLOPE = 1e-9  # the same, of the largest slope
TINY = float(np.finfo(np.float64).tiny)
TESTED = 4  # candidates whose curvature is computed
PROMISING = 0.1  # of the best gap: candidates with less are not among them
FLATTEST = 1e-30  # curvatures below this part of the gap are zero
TOGETHER = 4  # candidates that enter before the weights are moved, at the lower level
ALIKE = 0.5  # of the best gap: candidates with less do not enter together with the best


class Candidates(NamedTuple):
    """Vertices that may enter: the columns of a tableau for them."""

    code: Numbers
    E: Array
    F: Array
    p: Vector
    size: Vector


@loop()
def evaluate(T: Tableau) -> None:
    """The slope of the level and its gradient with respect to the weights: afresh, never updated."""
    k = T.n[COUNT]
    T.n[WORK] -= 2 * k * T.slope.size
    assign(T.slope, mix(T.w[:k], T.F, T.slope.size) - T.target)
    assign(T.gradient, dots(T.F, T.slope, k) + T.p[:k])


@loop()
def newton(T: Tableau, reduced: Vector) -> Vector:
    """(H + ridge)^-1 reduced; the Cholesky factor of the leading superbasics is kept while H is what it was."""
    q = T.n[FREE]
    T.n[WORK] -= q * q
    if T.n[FACTORED] < q:
        T.n[WORK] -= (q - T.n[FACTORED]) * q * q // 3
        # where f is flat H is rounding, whose diagonal may be negative
        ridge = RIDGE * q * abs(highest(T.H, q)) + RIDGE_SLOPE * np.abs(reduced).max() + TINY
        while not factorise(T.H, T.L, T.n[FACTORED], q, ridge):
            T.n[FACTORED], ridge = 0, 100.0 * ridge
            if not ridge < np.inf:  # H is no number
                return np.zeros(q)
        T.n[FACTORED] = q
    return solve_factored(T.L, reduced)


@loop()
def descend(T: Tableau, full_steps: int, enough: float, fresh: bool) -> None:
    """Newton steps, ``full_steps`` of them that meet no bound, or until one promises less than ``enough``.

    ``fresh`` says that slope and gradient are those of the weights. It also ends, unfinished, where a refresh is due or
    the work allowed is done.
    """
    taken, T.n[UNDONE] = 0, 0
    for _ in range(100 + 4 * T.n[COUNT]):
        if not fresh:
            evaluate(T)
        fresh = False
        r, q, k = T.n[RANK], T.n[FREE], T.n[COUNT]
        if q == 0 or taken >= full_steps or T.n[CHANGES] >= 2 * LATEST:
            return
        T.n[WORK] -= 2 * q * r
        reduced = gather(T.gradient, T.free, q) - dots(T.C, gather(T.gradient, T.basic, r), q)
        dz = newton(T, reduced)
        if taken > 0 and np.dot(reduced, dz) <= enough:
            return
        step = np.empty(k)
        scatter(step, T.free, dz, -1.0)
        scatter(step, T.basic, mix(dz, T.C, r), 1.0)
        length, slot = ratio(T.w[:k], step)
        advance(T.w, step, length)
        if slot < 0:
            taken += 1
        else:
            T.w[slot] = 0.0
            leave(T, slot)
            if paused(T):  # not between full steps, of which too few might be made then each time
                T.n[UNDONE] = 1
                return


@loop()
def enter(T: Tableau, new: Candidates, i: int, slope: float, rank_tol: float) -> None:
    """Give a candidate, with this slope of the level along it, the next slot and a place, with weight 0."""
    k = T.n[COUNT]
    T.code[k], T.w[k], T.p[k], T.size[k] = new.code[i], 0.0, new.p[i], new.size[i]
    T.gradient[k], T.where[new.code[i]] = slope, k
    put(T.E, k, new.E[i])
    put(T.F, k, new.F[i])
    T.n[COUNT] = k + 1
    insert(T, k, rank_tol)


@loop()
def rounds(
    T: Tableau, new: Candidates, settled: bool, full_steps: int, least: float, most: int, rank_tol: float
) -> int:
    """Minimise; let candidates enter, one or a few at a time, while their gap is ``least`` or more; how many did.

    The one that promises most goes first: gap^2 over the curvature along its direction. ``settled`` says that the
    weights minimise already, and that the best candidate is to enter in any case.
    """
    entered, listed, enough, fresh = 0, new.code.size, 0.0, False
    gone = np.zeros(listed)
    while True:
        if not settled:
            descend(T, full_steps, enough, fresh)
        if entered in (listed, most) or T.n[UNDONE] or (entered > 0 and (stale(T) or paused(T))):
            return entered
        k = T.n[COUNT]
        slopes = dots(new.F, T.slope, listed) + new.p
        gaps = np.dot(T.w[:k], T.gradient[:k]) - slopes - gone
        if T.E.shape[1] > 1:
            y = prices(T)
            y[0] = 0.0
            gaps = gaps - dots(new.E, y, listed)
        order = short_list(gaps, -np.inf, TESTED)
        best, top, score = order[0], gaps[order[0]], -1.0
        if not settled and not top >= least:
            return entered
        if listed - entered > 1:
            bends = curves(T, new.E, new.F, order)
            for i in range(order.size):
                gap = gaps[order[i]]
                if gap >= PROMISING * abs(top):
                    promise = gap * gap / (bends[i] + gap * FLATTEST + TINY)
                    if promise > score:
                        best, score = order[i], promise
        # Nothing is kept but the sum of the weights at the lower level: several vertices that promise much can enter
        # for one step. At the upper level one changes the prices of the others too much for that.
        together = TOGETHER if T.E.shape[1] == 1 else 1
        enough = 0.0 if full_steps > 1 else 1e-3 * gaps[best]
        for _ in range(together):
            enter(T, new, best, slopes[best], rank_tol)
            gone[best], gaps[best] = np.inf, -np.inf
            entered += 1
            best = np.argmax(gaps)
            if entered in (listed, most) or not gaps[best] >= max(least, ALIKE * top):
                break
        settled, fresh = False, True
