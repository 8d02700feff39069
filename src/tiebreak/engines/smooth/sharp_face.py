"""Columns and rows that all minimisers of a smooth level have at their ends, exactly, where there are rows.

Let x be the level's point, c its gradient there, and let columns F and rows with multipliers be those that x has at
their ends. Over the points that keep them there, some minimiser p is near x (``reach``, ``nearby``), and if no other
bound or row is in its way, its gradient is c* = E'w* on the other columns S, E the rows that are kept. As |c* - c| is
bounded by the reach, so is some w* - w, by (E_S')^+, and with it what E'w* leaves of c* on F. Where no sign can change,
p satisfies the conditions of optimality without having been kept anywhere: it is a minimiser among all points, its
multipliers are those of all minimisers, and these have the columns and rows with multipliers at their ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...numerics.extended import dense, double
from ...numerics.rank import exact_rank
from ..rows.face import Face
from ..rows.held import Held
from ..rows.left import Left, at_ends, held_after, open_rows, to_the_ends, with_ends
from ..rows.nearby import Near, pseudo_inverse
from ..rows.quadratic_level import Solved
from ..rows.reach import reach
from ..rows.slope import slope_left
from .level import SmoothLevel

TIGHT = 2.0**-46
"""Rows with multipliers are at their ends up to this, in units of their sizes."""


class Claim(NamedTuple):
    """What is to be shown: the columns and rows, all that is left of the gradient, and how far it may be off."""

    left: Left
    held: Held
    slope: Vector
    off: Vector
    y: Vector


def claimed(face: Face, level: SmoothLevel, solved: Solved) -> Claim | None:
    """All columns and rows with a multiplier of the right sign; None where those do not even keep minimisers near."""
    y = with_ends(face, solved.y)
    slope = slope_left(face, level, solved.x, y, solved.w)
    error = slope.error + np.sqrt(level.diagonal) * slope.image_error
    columns = np.flatnonzero(at_ends(face, solved.x, slope.left) & (np.abs(slope.left) > 2 * error))
    rows = np.flatnonzero((y != 0) & open_rows(face))
    ends = np.where(y > 0, face.given.low, face.given.high)[rows]
    apart = np.abs(double(ends - face.A.times(solved.x)[rows]))
    if not (apart <= TIGHT * np.maximum(np.abs(ends), face.row_size[rows])).all():
        return None
    left = Left(np.zeros(0, np.intp), rows, np.zeros(0), np.zeros(rows.size), columns)
    held = held_after(face, left, slope.left, y)
    if not held.small(level):
        return None
    shift = solved.near.shift + to_the_ends(face, level, solved, held)  # x may miss them by rounding
    found = reach(held, level, slope, shift, 0.0)
    if found is None or not (found.certain and found.exact and np.isfinite(found.grown)):
        return None
    left.reach = found.length
    off = error + np.where(level.diagonal > 0, np.sqrt(level.diagonal), 0.0) * found.grown
    return Claim(left, held, slope.left, off * (1 + 1e-9), double(y))


def shown(face: Face, claim: Claim, near: Near) -> bool:
    """Whether the claim holds: with a minimiser of the points that keep to it as near as this."""
    held, left = claim.held, claim.left
    if near.moves is None or not np.isfinite(near.shift) or not _nothing_in_the_way(face, held, near.moves):
        return False
    moved, turned = np.zeros(face.x.size), np.zeros(0)
    if held.E.shape[0]:
        inverse = pseudo_inverse(dense(held.E), held.rank) if held.certain else None
        if inverse is None:
            return False
        off = (np.abs(claim.slope) + claim.off)[held.columns] * held.scale
        turned = np.abs(inverse.left @ inverse.right.T) @ off + inverse.lost * float(np.linalg.norm(off))
        turned = turned * (1 + 1e-9) / held.factors
        count = held.rows.size
        moved = np.asarray(face.A.size[held.rows].T @ turned[:count])
        start = count
        for _, P in face.predictors[:-1]:  # the last one is the level's own
            moved = moved + np.asarray(P.size.T @ turned[start : start + P.shape[0]])
            start += P.shape[0]
    fixed = left.proved
    if not (np.abs(claim.slope)[fixed] > (claim.off + moved)[fixed]).all():
        return False
    turned_rows = np.zeros(face.given.low.size)
    turned_rows[held.rows] = turned[: held.rows.size]
    return bool((np.abs(claim.y)[left.rows] > turned_rows[left.rows]).all())


def _nothing_in_the_way(face: Face, held: Held, moves: Vector) -> bool:
    """Whether no bound and no row that is not kept is met nearby, but for those that what is kept keeps as well."""
    given, S = face.given, held.columns
    room = double(np.minimum(face.x - given.lower, given.upper - face.x))[S]
    met = np.flatnonzero(room <= moves[S])
    other = np.setdiff1d(np.arange(given.low.size), held.rows)
    activity = face.A.times(face.x)[other]
    slack = double(np.minimum(activity - given.low[other], given.high[other] - activity))
    change = np.asarray(face.A.size @ moves + face.A.times_error(face.x))[other]
    rows = other[slack <= change]
    if not met.size and not rows.size:
        return True
    if not held.certain:
        return False
    units = np.zeros((met.size, S.size))
    units[np.arange(met.size), met] = 1.0
    more = np.vstack([dense(held.E), units, dense(face.A.A[rows][:, S]) * held.scale])
    return exact_rank(more) == held.rank


def keep(face: Face, rows: NDArray[np.intp]) -> None:
    """Rows that all solutions have at their ends are equalities."""
    ends = np.where(face.row_side < 0, face.given.low, face.given.high)
    low, high = face.given.low.copy(), face.given.high.copy()
    low[rows] = high[rows] = ends[rows]
    face.given, face.box = face.given._replace(low=low, high=high), face.box._replace(low=low, high=high)
