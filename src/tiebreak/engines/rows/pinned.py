"""Columns that a face leaves no room to move, although no multiplier of a level has fixed them.

At any true solution x + d of the levels before, |E d_S| <= missed. If c = E'y on the columns S, with c_j > 0 where d_j
can be no less than -room_j, c_j < 0 where it can be no more than room_j, and no part elsewhere, then the products
c_j d_j add up to <y, E d_S> <= |y| missed while none of them is below -|c_j| room_j: so |d_j| is at most
(|y| missed + sum |c_i| room_i)/|c_j|. Such a y is what proves that a corner of a face is a corner.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...numerics.extended import Ext, ExtMatrix, dense, double, ext
from ..interrupt import remaining
from .held import Held

TIGHT = 1e-9
"""Columns closer to a bound than this, in units of their sizes, are at it."""
LARGEST = 1e3  # multiplier, in the units of E
SHARE = 1e-3  # of the largest c_j that others need


def pinned(held: Held, x: Ext) -> Vector | None:
    """How far columns can move that cannot move, inf for the others; None without any."""
    from scipy.optimize import linprog

    given, S = held.face.given, held.columns
    below, above = double(x - given.lower)[S] / held.scale, double(given.upper - x)[S] / held.scale
    room, side = np.minimum(below, above), np.where(below <= above, 1.0, -1.0)
    at = np.flatnonzero(room <= TIGHT * held.face.scale[S] / held.scale)
    inside = np.setdiff1d(np.arange(S.size), at)
    if not at.size or not held.E.shape[0]:
        return None
    E = dense(held.E)
    toward = E[:, at] * side[at]
    k = E.shape[0]
    # As many c_j as possible of size 1, the others of size 0.
    found = linprog(
        np.append(np.zeros(k), -np.ones(at.size)),
        A_ub=np.hstack([-toward.T, np.eye(at.size)]),
        b_ub=np.zeros(at.size),
        A_eq=np.hstack([E[:, inside].T, np.zeros((inside.size, at.size))]) if inside.size else None,
        b_eq=np.zeros(inside.size) if inside.size else None,
        bounds=[(-LARGEST, LARGEST)] * k + [(0, 1)] * at.size,
        options={"time_limit": min(10.0, remaining())},
    )
    if found.x is None or not (found.x[k:] > SHARE).any():
        return None
    return _limits(held, x, found.x[:k], at, inside, room, side)


def _limits(
    held: Held, x: Ext, start: Vector, at: NDArray[np.intp], inside: NDArray[np.intp], room: Vector, side: Vector
) -> Vector | None:
    E, S = ExtMatrix(dense(held.E)), held.columns
    y = ext(start)
    if inside.size:  # a linear programme has its tolerance; what is left elsewhere has to be paid for
        project = np.linalg.pinv(E.A[:, inside].T)
        for _ in range(3):
            y = y - ext(project @ double(E.transpose_times(y)[inside]))
    whole, error = double(E.transpose_times(y)), E.transpose_times_error(y)
    c = whole * np.where(np.isin(np.arange(S.size), at), side, 0.0)
    rest = np.abs(whole) * np.isin(np.arange(S.size), inside)
    box = held.face.box
    width = (box.upper - box.lower)[S] / held.scale
    certain = c > SHARE
    loose = np.flatnonzero(~certain)
    paid = float(np.linalg.norm(double(y))) * held.missed(x) + float(
        np.maximum(c, 0)[c > 0] @ np.maximum(room, 0)[c > 0]
    )
    paid += float(rest[loose] @ width[loose] + error @ width) + float(np.maximum(-c, 0)[loose] @ width[loose])
    limits = np.full(S.size, np.inf)
    limits[certain] = (1.01 * paid / c[certain] + room[certain]) * held.scale[certain]
    return limits if certain.any() else None
