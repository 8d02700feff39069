"""The set around one that limits absolute values: without those limits."""

from __future__ import annotations

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Vector
from ..numerics.rows import Rows
from .base import Domain
from .box import Box
from .polyhedron import Polyhedron

AWAY = 1e-6
"""Rows count as met with room to spare if they are by this part of their end."""


def around(domain: Domain) -> Domain:
    """The points that satisfy all rows and bounds of a domain but those on absolute values.

    Examples
    --------
    >>> from tiebreak.sets.l1 import L1Ball
    >>> around(L1Ball(2.0).with_dim(3)).lmo(np.array([1.0, -1.0, 3.0]))
    array([-2.,  2., -2.])
    """
    Z = domain.rows
    assert Z is not None
    assert Z.B is not None
    kept = np.flatnonzero(np.diff(Z.B.indptr) == 0)
    rows = Rows(Z.A[kept], Z.low[kept], Z.high[kept], Z.lower, Z.upper)
    return Polyhedron.of(rows) if kept.size else Box(Z.lower, Z.upper)


def well_inside(domain: Domain, x: Vector, moves: Vector) -> bool:
    """Whether all points whose entries are no further from those of x than ``moves`` respect the limits on sizes.

    With room to spare: such a point is then in the domain wherever it is in the set around it.
    """
    Z = domain.rows
    assert Z is not None
    assert Z.B is not None
    rows = np.flatnonzero(np.diff(Z.B.indptr))
    A, B, high = Z.A[rows], Z.B[rows], Z.high[rows]
    sizes = B @ (np.abs(x) + moves) + abs(A) @ moves
    terms = sizes + abs(A) @ np.abs(x)
    reached = A @ x + sizes + (x.size + 8) * UNIT_ROUNDOFF * terms
    return bool((reached <= high - AWAY * np.abs(high)).all())
