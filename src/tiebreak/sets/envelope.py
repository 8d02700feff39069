"""Vertices along the coordinate axes: at a multiplier, the lowest of one or two lines per coordinate."""

from __future__ import annotations

from math import inf

import numpy as np

from ..arrays import Vector
from .crossing import Oracle, Vertex

FEW = 1024
"""Up to this many lines, a pass over all of them costs less than sorting out the ones that still matter."""


def axis_vertices(a: Vector, c: Vector, extent: float | Vector, signed: bool) -> Oracle:
    """The oracle of the points extent_i e_i, or +-extent_i e_i if ``signed``, given as pairs (i, entry).

    Every call is one pass over the lines that the earlier calls have left in play, so that a whole cut
    costs a few passes over a and c.
    """
    index: np.ndarray | None = None
    size = 1.0
    if isinstance(extent, np.ndarray):
        a, c = a * extent, c * extent
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
        least, sign = v.item(i), 1.0
        if signed:
            j = int(v.argmax())
            if -v.item(j) <= least:
                i, least, sign = j, -v.item(j), -1.0
        if size * least >= level:
            return None
        a_i, c_i = sign * size * a.item(i), sign * size * c.item(i)
        place = i if index is None else index.item(i)
        entry = sign * (extent.item(place) if isinstance(extent, np.ndarray) else extent)
        if level < inf and v.size > FEW:
            keep = np.flatnonzero((np.abs(v) if signed else -v) > -level / size)
            a, c, index = a[keep], c[keep], keep if index is None else index[keep]
        return Vertex(lam, a_i, c_i, abs(a_i), abs(c_i), (place, entry))

    return oracle
