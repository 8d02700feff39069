"""Vertices along the coordinate axes: at a multiplier, the lowest of one or two lines per coordinate."""

from __future__ import annotations

import numpy as np

from ...arrays import Vector
from ...kernels import flat
from ...kernels.axis_cut import fast_axis_cut
from ..base import Cut, CutStatus
from .crossing import Crossing, Vertex
from .dual import sparse_cut

STATUSES = tuple(CutStatus)


def cut_axes(a: Vector, c: Vector, b: float, extent: float | Vector, signed: bool, warm: float) -> Cut:
    """``lmo_cut`` of the set with the vertices extent_i e_i (and their negatives if ``signed``)."""
    if isinstance(extent, np.ndarray):
        given = (a * extent, c * extent, float(b), 1.0, signed, float(warm))
    else:
        given = (flat(a), flat(c), float(b), float(extent), signed, float(warm))
    place, weight, i, low, j, high, multiplier, gap = fast_axis_cut(*given)
    size = np.broadcast_to(extent, a.shape)
    first, second = (Vertex(0.0, 0.0, 0.0, 0.0, 0.0, (i, s * size.item(i))) for i, s in ((i, low), (j, high)))
    return sparse_cut(a.size, Crossing(weight, first, second, multiplier, gap, STATUSES[place]))
