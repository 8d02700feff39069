"""The cut oracle of sets with vertices on the coordinate axes.

The one-dimensional dual of ``sets/cuts/crossing.py``, where the mathematics are, with an oracle that is one pass over
the lines that the passes before have left in play, so that a whole cut costs a few passes over a and c.
"""

from __future__ import annotations

from math import inf

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from .registry import Group, Kernel, loop, twin

SHORTFALL = 1e-12
"""b may lie below min <c, .> by this much, relative to the terms of <c, s>, and count as a rounding of it."""

EXACT = 4e-15
"""The tolerance for oracles that are exact up to the rounding of a short sum."""

MAX_CALLS = 200

FEW = 1024
"""Up to this many lines, a pass over all of them costs less than sorting out the ones that still matter."""

BLOCK = 128  # lines of which the least is found before its place is looked for

INACTIVE, ACTIVE, BOUNDARY, INFEASIBLE = range(4)
"""The members of ``CutStatus``, by their places."""

Places = NDArray[np.int64]
AxisVertex = tuple[float, float, float, int, float]
"""lam, <a, s>, <c, s>, and s itself: its place and its sign."""

AxisCut = tuple[int, float, int, float, int, float, float, float]
"""The status, the weight of ``low``, its place and sign, those of ``high``, the multiplier and the gap."""


def lowest(a: Vector, c: Vector, signed: bool, lam: float) -> tuple[int, float, float]:
    """The vertex with the least <a + lam c, s> (lam = inf: <c, s>): its place, its sign, that number."""
    if lam == 0:
        v = a
    elif lam == inf:
        v = c
    else:
        v = lam * c
        v += a
    i = int(v.argmin())
    least = v.item(i)
    if signed:
        j = int(v.argmax())
        greatest = v.item(j)
        if -greatest <= least:
            return j, -1.0, -greatest
    return i, 1.0, least


@twin(lowest)
def _lowest(a: Vector, c: Vector, signed: bool, lam: float) -> tuple[int, float, float]:
    """In blocks, so that the search for the place costs little."""
    least, greatest, low_block, high_block, size = inf, -inf, 0, 0, a.size
    for start in range(0, size, BLOCK):
        low, high = extremes(a, c, lam, start, min(start + BLOCK, size))
        if low < least:
            least, low_block = low, start
        if high > greatest:
            greatest, high_block = high, start
    if signed and -greatest <= least:
        return find(a, c, lam, high_block, min(high_block + BLOCK, size), greatest), -1.0, -greatest
    return find(a, c, lam, low_block, min(low_block + BLOCK, size), least), 1.0, least


@loop()
def extremes(a: Vector, c: Vector, lam: float, start: int, stop: int) -> tuple[float, float]:
    """The least and the greatest entry of a + lam c (lam = inf: of c) between two places."""
    least, greatest = inf, -inf
    if lam == inf:
        for i in range(start, stop):
            least, greatest = min(least, c[i]), max(greatest, c[i])
    else:
        for i in range(start, stop):
            v = lam * c[i] + a[i]
            least, greatest = min(least, v), max(greatest, v)
    return least, greatest


@loop()
def find(a: Vector, c: Vector, lam: float, start: int, stop: int, value: float) -> int:
    """The first place between two where a + lam c has that value."""
    for i in range(start, stop):
        if (c[i] if lam == inf else lam * c[i] + a[i]) == value:
            return i
    return start


def keep(a: Vector, c: Vector, index: Places, signed: bool, lam: float, height: float) -> tuple[Vector, Vector, Places]:
    """The lines of size |a_i + lam c_i| (or -a_i - lam c_i) above ``height``, and their places among all."""
    v = lam * c + a
    kept = np.flatnonzero((np.abs(v) if signed else -v) > height)
    return a[kept], c[kept], index[kept] if index.size else kept


@twin(keep)
def _keep(
    a: Vector, c: Vector, index: Places, signed: bool, lam: float, height: float
) -> tuple[Vector, Vector, Places]:
    count = 0
    for i in range(a.size):
        v = lam * c[i] + a[i]
        count += (abs(v) if signed else -v) > height
    new_a, new_c, places = np.empty(count), np.empty(count), np.empty(count, dtype=np.int64)
    k = 0
    for i in range(a.size):
        v = lam * c[i] + a[i]
        if (abs(v) if signed else -v) > height:
            new_a[k], new_c[k], places[k] = a[i], c[i], index[i] if index.size else i
            k += 1
    return new_a, new_c, places


def at_least(a: Vector, c: Vector, signed: bool, lam: float, height: float) -> int:
    """How many lines of size |a_i + lam c_i| (or -a_i - lam c_i) reach ``height``."""
    v = lam * c + a
    return int(np.count_nonzero((np.abs(v) if signed else -v) >= height))


@twin(at_least)
def _at_least(a: Vector, c: Vector, signed: bool, lam: float, height: float) -> int:
    count = 0
    for i in range(a.size):
        v = lam * c[i] + a[i]
        count += (abs(v) if signed else -v) >= height
    return count


@loop()
def axis_vertex(a: Vector, c: Vector, extent: float, signed: bool, lam: float) -> AxisVertex:
    """The lowest vertex at a multiplier."""
    i, sign, _ = lowest(a, c, signed, lam)
    return lam, sign * extent * float(a[i]), sign * extent * float(c[i]), i, sign


@loop()
def between(low: float, high: float, unit: float) -> float:
    """The midpoint of two multipliers in 0..inf, on the scale lam / (unit + lam)."""
    top = 1.0 if high == inf else high / (unit + high)
    rest = 0.0 if high == inf else unit / (unit + high)
    return unit * (low / (unit + low) + top) / (unit / (unit + low) + rest)


@loop()
def axis_cut(a: Vector, c: Vector, b: float, extent: float, signed: bool, warm: float) -> AxisCut:
    """Minimise <a, s> over the hull of the points extent * e_i (and their negatives if ``signed``) and <c, s> <= b.

    Examples
    --------
    >>> axis_cut(np.array([-2.0, -1.0]), np.array([1.0, 0.0]), 0.25, 1.0, True, 0.0)
    (1, 0.25, 0, 1.0, 1, 1.0, 1.0, 0.0)
    """
    low = high = (0.0, 0.0, 0.0, -1, 0.0)
    if 0.0 < warm < inf:
        first = axis_vertex(a, c, extent, signed, warm)
        if first[2] <= b:
            high = first
        else:
            low = first
    if low[3] < 0:
        low = axis_vertex(a, c, extent, signed, 0.0)
        if low[2] <= b:
            return INACTIVE, 1.0, low[3], low[4], low[3], low[4], 0.0, 0.0
    boundary = False
    if high[3] < 0:
        high = axis_vertex(a, c, extent, signed, inf)
        if high[2] > b + max(EXACT, SHORTFALL) * (max(abs(low[2]), abs(high[2])) + abs(b)):
            return INFEASIBLE, 0.0, low[3], low[4], high[3], high[4], inf, inf
        boundary, b = high[2] > b, max(b, high[2])
    size_a, size_c = max(abs(low[1]), abs(high[1])), max(abs(low[2]), abs(high[2])) + abs(b)
    while low[2] <= b + EXACT * size_c:  # low satisfies the cut after all, up to rounding
        if low[0] == 0.0:
            unknown = inf if boundary else 0.0
            return BOUNDARY if boundary else INACTIVE, 1.0, low[3], low[4], low[3], low[4], unknown, unknown
        low, high = axis_vertex(a, c, extent, signed, 0.0), low

    index = np.empty(0, dtype=np.int64)
    best, multiplier, unit, mark, patience, gap, weight = -inf, 0.0, 0.0, inf, 3, inf, 0.0
    for call in range(MAX_CALLS):
        run = low[2] - high[2]
        weight = max((b - high[2]) / run, 0.0)
        value = weight * low[1] + (1.0 - weight) * high[1]
        lam = min(max((high[1] - low[1]) / run, low[0]), high[0])
        unit = unit or lam
        bisect = patience == 0
        if bisect:
            lam = between(low[0], high[0], unit or 1.0)
        level = min(low[1] + lam * low[2], high[1] + lam * high[2])
        i, sign, least = lowest(a, c, signed, lam)
        found = bisect or extent * least < level
        place = int(index[i]) if index.size else i
        new = (lam, sign * extent * float(a[i]), sign * extent * float(c[i]), place, sign)
        if found and not bisect and a.size > FEW:
            a, c, index = keep(a, c, index, signed, lam, -level / extent)
        bound = (min(level, new[1] + lam * new[2]) if found else level) - lam * b
        if bound > best:
            best, multiplier = bound, lam
        gap = value - best
        if not found or call == MAX_CALLS - 1:
            break
        size_a, size_c = max(size_a, abs(new[1])), max(size_c, abs(new[2]))
        if gap <= EXACT * (size_a + lam * size_c):
            break
        if gap <= mark / 2:
            mark, patience = gap, 3
        else:
            patience = patience - 1 if patience else 3
        if new[2] <= b + EXACT * size_c:
            high = new
        else:
            low = new
    if boundary:
        return BOUNDARY, weight, low[3], low[4], high[3], high[4], inf, inf
    return ACTIVE, weight, low[3], low[4], high[3], high[4], multiplier, max(gap, 0.0)


@loop()
def next_axis_cut(
    a: Vector, c: Vector, b: float, signed: bool, warm: float, i1: int, s1: float, i2: int, s2: float
) -> AxisCut:
    """``axis_cut`` for extent 1, given the two vertices of a similar cut (or -1): mostly they, or one of them, stay.

    Where the answer is not unique up to rounding, it is that of ``axis_cut``.
    """
    if warm > 0.0 and i1 >= 0 and s1 * c[i1] > b >= s2 * c[i2]:
        for _ in range(8):
            low_a, low_c = s1 * float(a[i1]), s1 * float(c[i1])
            high_a, high_c = s2 * float(a[i2]), s2 * float(c[i2])
            run = low_c - high_c
            lam = (high_a - low_a) / run
            if not lam > 0.0:
                break
            level = min(low_a + lam * low_c, high_a + lam * high_c)
            i, sign, least = lowest(a, c, signed, lam)
            rounding = EXACT * (abs(low_a) + abs(high_a) + lam * (abs(low_c) + abs(high_c) + abs(b)))
            if least >= level - rounding:
                if i1 == i2 or at_least(a, c, signed, lam, -level - 4.0 * rounding) != 2:
                    break
                weight = max((b - high_c) / run, 0.0)
                value = weight * low_a + (1.0 - weight) * high_a
                return ACTIVE, weight, i1, s1, i2, s2, lam, max(value - (min(level, least) - lam * b), 0.0)
            if sign * c[i] <= b:
                i2, s2 = i, sign
            else:
                i1, s1 = i, sign
    return axis_cut(a, c, b, 1.0, signed, warm)


fast_axis_cut = Kernel(axis_cut, Group("the cut oracle of l1 balls and simplices", 2.0))
