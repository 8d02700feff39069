"""Vertices along the coordinate axes: at a multiplier, the lowest of one or two lines per coordinate."""

from __future__ import annotations

from math import inf

import numpy as np

from ..arrays import Vector
from ..kernels import compiled, flat
from .base import Cut, CutStatus
from .crossing import EXACT, Crossing, Oracle, Vertex, cross
from .cut import sparse_cut

STATUSES = tuple(CutStatus)

FEW = 1024
"""Up to this many lines, a pass over all of them costs less than sorting out the ones that still matter."""


def axis_vertices(a: Vector, c: Vector, extent: float | Vector, signed: bool) -> Oracle:
    """The oracle of the points extent_i e_i, or +-extent_i e_i if ``signed``, given as pairs (i, entry).

    Every call is one pass over the lines that the earlier calls have left in play, so that a whole cut
    costs a few passes over a and c.
    """
    index: np.ndarray | None = None
    size = 1.0
    entries: Vector | None = None
    if isinstance(extent, np.ndarray):
        a, c, entries = a * extent, c * extent, extent
    else:
        size = extent

    def oracle(lam: float, level: float) -> Vertex | None:
        nonlocal a, c, index
        if lam == 0:
            v = a
        elif lam == inf:
            v = c
        else:
            v = lam * c
            v += a
        i = int(v.argmin())
        least, signed_size = v.item(i), size
        if signed:
            j = int(v.argmax())
            most = v.item(j)
            if -most <= least:
                i, least, signed_size = j, -most, -size
        if size * least >= level:
            return None
        a_i, c_i = signed_size * a.item(i), signed_size * c.item(i)
        place = i if index is None else index.item(i)
        entry = signed_size if entries is None else signed_size * entries.item(place)
        if level < inf and v.size > FEW:
            keep = np.flatnonzero((np.abs(v) if signed else -v) > -level / size)
            a, c, index = a[keep], c[keep], keep if index is None else index[keep]
        return Vertex(lam, a_i, c_i, abs(a_i), abs(c_i), (place, entry))

    return oracle


AxisCut = tuple[int, float, int, float, int, float, float, float]
"""The status as a place in ``CutStatus``, the weight of ``low``, its place and sign, those of ``high``, the multiplier
and the gap."""


def axis_cut(a: Vector, c: Vector, b: float, extent: float, signed: bool, warm: float) -> AxisCut:
    """Minimise <a, s> over the hull of the points extent * e_i (and their negatives if ``signed``) and <c, s> <= b.

    The compiled kernel of this name has the same arguments and, to the last bit, the same answer.

    Examples
    --------
    >>> axis_cut(np.array([-2.0, -1.0]), np.array([1.0, 0.0]), 0.25, 1.0, True, 0.0)
    (1, 0.25, 0, 1.0, 1, 1.0, 1.0, 0.0)
    """
    weight, low, high, multiplier, gap, status = cross(axis_vertices(a, c, extent, signed), b, warm, EXACT)
    (i, low_entry), (j, high_entry) = low.point, high.point
    return STATUSES.index(status), weight, i, low_entry / extent, j, high_entry / extent, multiplier, gap


def cut_axes(a: Vector, c: Vector, b: float, extent: float | Vector, signed: bool, warm: float) -> Cut:
    """``lmo_cut`` of the set with the vertices extent_i e_i (and their negatives if ``signed``)."""
    kernel = compiled("axis_cut")
    if kernel is None:
        return sparse_cut(a.size, cross(axis_vertices(a, c, extent, signed), b, warm, EXACT))
    if isinstance(extent, np.ndarray):
        place, weight, i, low, j, high, multiplier, gap = kernel(a * extent, c * extent, b, 1.0, signed, float(warm))
        low, high = low * extent.item(i), high * extent.item(j)
    else:
        place, weight, i, low, j, high, multiplier, gap = kernel(flat(a), flat(c), b, extent, signed, float(warm))
        low, high = low * extent, high * extent
    first, second = (Vertex(0.0, 0.0, 0.0, 0.0, 0.0, point) for point in ((i, low), (j, high)))
    return sparse_cut(a.size, Crossing(weight, first, second, multiplier, gap, STATUSES[place]))
