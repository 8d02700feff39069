"""The steps of ``generation.py`` where all vertices lie on the coordinate axes and the data are dense.

The prices of all vertices are then two products with the data, and a list of the best serves several steps. Compiled
where numba is there, as ``tableau.py``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...arrays import Vector
from ...kernels import loop
from ...kernels.leading_parts import gather, put_column
from ...kernels.small_matrices import mix
from ...kernels.vertex_prices import columns, entries, fresh_codes, gains, norms, on_face, short_list
from .descent import Candidates, rounds
from .tableau import CHANGES, COUNT, FREE, UNDONE, WORK, Array, Numbers, Tableau, paused, prices, stale

LIST = 32  # candidates kept from one pricing of all vertices
WORTH = 0.1, 0.6  # of the best gap at that pricing, at either level: candidates with less wait for the next one
NOISY = 10.0  # of the noise: candidates with less likewise


class Offer(NamedTuple):
    """Vertices the oracle proposes, the best first.

    Attributes
    ----------
    gap, scale, noise : float
        What the best promises, the size of the terms of that number, and the noise in it.
    lam : float
        The price of the lower level.
    code : array
        The vertices.
    known : bool
        Whether the best is in use already.
    used : int
        How many vertices are.
    stale : bool
        Whether a refresh is due before anything else.
    exact : bool
        Whether there is nothing to refine: no superbasic weights, and nothing updated.
    slope : array
        What vertices are priced by, but for the price of the lower level: at the lower level, the gradient.
    """

    gap: float
    scale: float
    noise: float
    lam: float
    code: Numbers
    known: bool
    used: int
    stale: bool
    exact: bool
    slope: Vector


@loop()
def no_offer(lam: float) -> Offer:
    """Before anything has been priced."""
    return Offer(0.0, 0.0, 0.0, lam, np.zeros(0, dtype=np.int64), False, 0, False, False, np.zeros(0))


class Sweep(NamedTuple):
    """The vertices extent_j e_j, number j, and if ``signed`` their negatives, number j + d, with the data of levels.

    A and t_star are those of the level whose image is kept, B and p those of the one that is minimised; ``push`` is its
    ||h'(0)||. The rest says how the lower level is priced, see ``generation.Normal``.
    """

    T: Tableau
    rank_tol: float
    extents: Vector
    signed: bool
    A: Array
    t_star: Vector
    B: Array
    p: Vector
    push: float
    upper: bool
    normal: Vector
    least: float
    resolution: float
    flat: bool

    def price(self, lam: float) -> Offer:
        return price(self, lam)

    def proceed(self, offer: Offer, settled: bool, full: int, most: int) -> int:
        return proceed(self, offer, settled, full, most)

    def interrupted(self, entered: int) -> bool:
        return interrupted(self, entered)


@loop()
def lower_scale(T: Tableau, bend: float) -> float:
    """The size of the terms of <grad g(x), x - s>."""
    k = T.n[COUNT]
    w, steep = T.w[:k], math.sqrt(np.dot(T.slope, T.slope))
    spread = np.dot(w, T.size[:k])
    return float(spread * (bend * spread + steep) + np.dot(w, np.abs(T.p[:k])))


@loop()
def upper_scale(T: Tableau, value: float, push: float, y: Vector) -> float:
    """The size of the terms of <c, x - s>, c = grad f(x) + A'y."""
    k = T.n[COUNT]
    steep = math.sqrt(np.dot(T.slope, T.slope))
    size = abs(value) + T.size[:k].max() * (push + steep)
    return float(size + math.sqrt(np.dot(y, y)) * T.E[0, 0] + np.abs(T.p[:k]).max())


@loop()
def price(S: Sweep, lam: float) -> Offer:
    """All vertices at the prices of the weights last evaluated."""
    T, d = S.T, S.extents.size
    k = T.n[COUNT]
    T.n[WORK] -= d * (S.A.shape[0] + S.B.shape[0])
    at_x = np.dot(T.w[:k], T.gradient[:k])
    c = mix(T.slope, S.B, d) + S.p
    if S.upper:
        y = prices(T)
        value = 0.5 * np.dot(T.slope, T.slope) + np.dot(T.w[:k], T.p[:k])
        scale = upper_scale(T, value, S.push, y)
        if y.size > 1:
            c = c + mix(y[1:], S.A, d)
            at_x += np.dot(y[1:], S.t_star)
        noise = 1e-14 * scale
    else:
        scale = lower_scale(T, 1.0)
        noise = 1e-15 * scale
    sizes = gains(c, lam, S.normal, S.extents, S.signed)
    j = np.argmax(sizes)
    while S.upper and not S.flat:  # Dinkelbach: the least lam at which no vertex that raises g is worth it
        entry = S.extents[j] if not S.signed or c[j] + lam * S.normal[j] < 0.0 else -S.extents[j]
        gain, loss = at_x - c[j] * entry, S.normal[j] * entry - S.least
        if loss <= S.resolution or gain <= lam * loss * (1.0 + 1e-12):
            break
        lam = gain / loss * (1.0 + 1e-6)
        sizes = gains(c, lam, S.normal, S.extents, S.signed)
        j = np.argmax(sizes)
    gap = at_x + lam * S.least + sizes[j]
    code = short_list(sizes, sizes[j] - (1.0 - WORTH[int(S.upper)]) * max(gap, 0.0), LIST)
    # at this lam vertices may seem to gain that raise g: of those, only the best is kept
    code = on_face(code, c, lam, S.normal, S.extents, S.signed, math.inf if S.flat else S.least + S.resolution)
    noise += 2.0 * lam * S.resolution
    exact = T.n[FREE] == 0 and T.n[CHANGES] == 0
    return Offer(gap, scale, noise, lam, code, T.where[code[0]] >= 0, k, stale(T), exact, c)


@loop()
def proceed(S: Sweep, offer: Offer, settled: bool, full: int, most: int) -> int:
    """Minimise, and let vertices of the offer enter; how many did, or -1 if there is no room for them."""
    T, d = S.T, S.extents.size
    if T.n[COUNT] + offer.code.size > T.free.size:
        return -1
    code = fresh_codes(offer.code, T.where)
    index, entry = code % d, entries(code, S.extents)
    E, F = np.empty((code.size, T.E.shape[1])), np.empty((code.size, T.F.shape[1]))
    put_column(E, 0, np.full(code.size, T.E[0, 0]))
    columns(S.A, index, entry, S.t_star, E, 1)
    columns(S.B, index, entry, np.zeros(F.shape[1]), F, 0)
    new = Candidates(code, E, F, gather(S.p, index, code.size) * entry, norms(F))
    return rounds(T, new, settled, full, max(WORTH[int(S.upper)] * offer.gap, NOISY * offer.noise), most, S.rank_tol)


@loop()
def interrupted(S: Sweep, entered: int) -> bool:
    """Whether the work allowed is done, and something with it, so that the next time does not begin where this did."""
    return bool(S.T.n[UNDONE]) or (entered > 0 and paused(S.T))
