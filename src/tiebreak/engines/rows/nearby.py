"""A true solution of the levels before, close to a point that only nearly is one.

With S the columns that are not fixed, and E the rows that all true solutions x* share (``Held``), the step d from the
point x to any of them has |E d_S| <= missed. Two theorems:

* E has full column rank: there is one true solution only, x + d with d_S = E^+ (E d_S), whatever is tight at x.
* E has rank r, exactly, and so has E on the columns that are away from their bounds: the shortest d on those columns
  with the same E d leads to a point that shares the images P_k x* and the fixed rows with x*, so that it is a true
  solution too if no bound and no other row is crossed on the way.

Either way the entries of d are at most missed times the norms of the rows of E^+, f rises by at most
|E^+' grad f| missed + <d, Hd>/2, and rounding of E^+ is bounded by its perturbation theory (Wedin 1973): two matrices
of one rank, eps apart, have pseudo-inverses that are 2 eps/(sigma - eps)^2 apart.

Where the point has no room, one that is a little nearer to the point of a level before may have it; and a row that is
crossed is kept by a column that nothing shared knows and no other row minds (an epigraph, before its own level).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.deadline import affordable
from ...numerics.definite import least_singular_value
from ...numerics.extended import UNIT, Ext, between, column_squares, dense, double, row_sizes
from ...numerics.rank import resolved
from .held import LARGEST, Decomposed, Held
from .level import Level
from .pinned import pinned

CONSISTENT = 1e-3
"""Changes of rows that a step cannot make all, but for this part of them, contradict each other."""

LONG_SVD = 1e9
"""Multiplications of a decomposition beyond which a proof of full rank is looked for first."""

STEPS = tuple(2.0**-k for k in (60, 56, 52, 48, 44, 40, 36, 32, 28, 24, 20, 16, 12, 8))
"""How far to go, relative, to the point of a level before for more room."""


class Near(NamedTuple):
    """How much more than at the point the level may be at a true solution, how far it is, if it is the only one."""

    rise: float
    shift: float  # sqrt(<d, Hd>), H the Hessian of the level
    single: bool
    moves: Vector | None = None  # the same by columns; None where it is the point itself


HERE = Near(0.0, 0.0, False)
NOWHERE = Near(np.inf, np.inf, False)


class Inverse(NamedTuple):
    """What is known of E^+ on some columns."""

    left: Matrix  # U and V/sigma of those singular values that count
    right: Matrix
    lost: float  # a bound on the error of E^+

    def moves(self, missed: float) -> Vector:
        """Bounds on the entries of E^+ e for |e| <= missed."""
        return np.asarray(missed * (np.linalg.norm(self.right, axis=1) + self.lost) * (1 + 1e-12))


def near(held: Held, level: Level, x: Ext) -> Near:
    """What is proved about a true solution of the levels before near x."""
    found = _near(held, level, x)
    if found is NOWHERE and held.small():
        limits = pinned(held, x)
        if limits is not None:
            found = _near(held.without(limits), level, x)
    return found


def _near(held: Held, level: Level, x: Ext) -> Near:
    face = held.face
    if held.rank == held.columns.size:
        inverse = whole_inverse(held)
        assert inverse is not None
        return _judged(held, level, x, x, np.arange(held.columns.size), inverse)._replace(single=True)
    if not (held.certain and face.certain and all(record.exact for record in face.records)):
        return NOWHERE
    inverses: dict[bytes, Inverse | None] = {}
    for base in _bases(held, x):
        way = _way(held, base, inverses)
        if way is not None:
            return _judged(held, level, x, base, *way)
        if not held.small():  # each of them may be another factorisation
            break
    return NOWHERE


def by_rounding(held: Held, level: Level, x: Ext, side: NDArray[np.int8] | None = None) -> Near:
    """Where no true point of Z can be shown: the distance to one that has the held rows at their ends, on these sides.

    As if the rows that x misses or might come to miss on the way, and are not independent, had one in common: no
    theorem, but the price of the assumption that a point which misses rows by rounding counts as one of Z.
    """
    face, given, S = held.face, held.face.given, held.columns
    activity, error = face.A.times(x), face.A.times_error(x)
    below, above = double(given.low - activity), double(activity - given.high)
    side = face.row_side if side is None else side
    ends = np.where((side > 0) | np.isinf(given.low), given.high, given.low)
    change = np.where(below > 0, below, np.where(above > 0, -above, 0.0))  # of each row, so that none is missed
    change[held.rows] = double(ends - activity)[held.rows]
    nearby, room = np.maximum(below, above) + error > 0, double(np.minimum(x - given.lower, given.upper - x))
    nearby[held.rows] = True
    if not nearby.any() or not S.size:
        return HERE
    moves, inside, wider = np.zeros(x.size), S[room[S] > 0], S
    while True:
        unit = face.row_size[nearby]
        wanted = change[nearby] / unit
        rows = face.A.A[np.flatnonzero(nearby)][:, inside]
        found = _sizes_of_inverse(between(1 / unit, rows, face.scale[inside]), wanted)
        if found is None:
            return NOWHERE
        sizes, short = found
        if short > CONSISTENT * float(np.linalg.norm(wanted)) and inside.size < wider.size:
            inside = wider  # without the others what is wanted of the rows contradicts itself
            continue
        missed = 2 * float(np.linalg.norm(np.abs(wanted) + error[nearby] / unit))
        moves[:] = 0
        moves[inside] = missed * sizes * face.scale[inside]
        more = ~nearby & (-np.maximum(below, above) < np.asarray(face.A.size @ moves))
        free = inside[room[inside] >= moves[inside]]
        fewer = wider is not inside and free.size < inside.size
        if not (more.any() or fewer) or nearby.sum() * inside.size > LARGEST:
            break
        nearby, inside, wider = nearby | more, free if fewer else inside, inside
    bend = level.bend(x, moves)
    rise = float(np.abs(double(level.grad(x))) @ moves) + bend / 2
    return Near(rise, float(np.sqrt(bend)), False, moves)


def _sizes_of_inverse(G: Matrix, wanted: Vector) -> tuple[Vector, float] | None:
    """At least the norms of the rows of G^+, and how much of ``wanted`` G cannot make; None where that takes too long.

    Of a large one with independent rows all norms are at most one over its least singular value.
    """
    used = row_sizes(G) > 0
    left_out = float(np.linalg.norm(wanted[~used]))
    G, wanted = G[np.flatnonzero(used)], wanted[used]
    work = float(G.shape[0]) * G.shape[1] * min(G.shape)
    if work > LONG_SVD:
        least = least_singular_value(G) if G.shape[0] <= G.shape[1] else 0.0
        if least > 0:
            return np.full(G.shape[1], 1 / least), left_out
        if not affordable(4 * work):
            return None
    left, values, right = np.linalg.svd(dense(G), full_matrices=False)
    kept = values > 2 * resolved(values, G.shape)
    short = np.hypot(left_out, np.linalg.norm(wanted - left[:, kept] @ (left[:, kept].T @ wanted)))
    return np.linalg.norm(right[kept] / values[kept, None], axis=0), float(short)


def several(held: Held, x: Ext) -> bool:
    """Whether there are two true solutions of the levels before, for certain."""
    face = held.face
    if not (held.certain and face.certain and all(record.exact for record in face.records)):
        return False
    inverses: dict[bytes, Inverse | None] = {}
    there: list[tuple[Ext, float]] = []
    for base in (x, x + np.longdouble(STEPS[-1]) * (face.x - x)):
        way = _way(held, base, inverses)
        if way is None:
            continue
        inside, inverse, aside = way
        if inside.size > held.rank and _has_room(held, base, inside, inverse):
            return True  # whatever the way, a step that changes nothing held leads on
        moved = inverse.moves(held.missed(base)) * held.scale[inside]
        there.append((base, max(float(moved.max(initial=0.0)), float(aside.max(initial=0.0)))))
    return len(there) == 2 and float(np.abs(there[1][0] - there[0][0]).max()) > 2 * (there[0][1] + there[1][1])


def _has_room(held: Held, base: Ext, inside: NDArray[np.intp], inverse: Inverse) -> bool:
    """Whether the true solution beside ``base`` can be left in every direction of these columns.

    Not where a row that they enter is tight: a degenerate vertex may be the only solution.
    """
    face, S = held.face, held.columns[inside]
    moves = np.zeros(base.size)
    moves[S] = inverse.moves(held.missed(base)) * held.scale[inside]
    lower, upper = face.limits
    if not (double(np.minimum(base - lower, upper - base))[S] > moves[S]).all():
        return False
    other = np.setdiff1d(np.arange(face.given.low.size), held.rows)
    entered = other[np.asarray(face.A.size[other][:, S].sum(axis=1)).ravel() > 0]
    activity, change = face.A.times(base), np.asarray(face.A.size @ moves + face.A.times_error(base))
    slack = double(np.minimum(activity - face.given.low, face.given.high - activity))
    return bool((slack[entered] > change[entered]).all())


def by_norm(shape: tuple[int, ...], least: float) -> Inverse:
    """E^+ of a matrix of full rank, by a number that no singular value is below."""
    return Inverse(np.zeros((shape[0], 0)), np.zeros((shape[1], 0)), 1 / least)


def whole_inverse(held: Held) -> Inverse | None:
    """E^+ from what ``held`` has found out about E."""
    if held.least > 0:
        return by_norm(held.E.shape, held.least)
    return pseudo_inverse(held.E, held.rank, held.decomposed)


def pseudo_inverse(E: Matrix, rank: int, decomposed: Decomposed | None = None) -> Inverse | None:
    """E^+ if it has this rank for certain; no larger one is asked about."""
    if rank == 0:
        return Inverse(np.zeros((E.shape[0], 0)), np.zeros((E.shape[1], 0)), 0.0)
    if min(E.shape) < rank:
        return None
    left, values, right = decomposed or np.linalg.svd(E, full_matrices=False)
    error, least = resolved(values, E.shape), float(values[rank - 1])
    if least <= 2 * error:
        return None
    return Inverse(left[:, :rank], right[:rank].T / values[:rank], 2 * error / (least - error) ** 2)


def _inverse_on(held: Held, inside: NDArray[np.intp]) -> Inverse | None:
    """E^+ on some of the columns, if they have the rank of all."""
    if inside.size == held.columns.size:
        return whole_inverse(held)
    part = held.E[:, inside]
    if not held.large:
        return pseudo_inverse(part, held.rank)
    if min(part.shape) == held.rank and (least := least_singular_value(part)) > 0:
        return by_norm(part.shape, least)
    return pseudo_inverse(dense(part), held.rank) if held.small() else None


def _bases(held: Held, x: Ext) -> Iterator[Ext]:
    """The point itself, and points a little nearer to that of the level before."""
    yield x
    if (held.face.x != x).any():
        for share in STEPS:
            yield x + np.longdouble(share) * (held.face.x - x)


def _way(
    held: Held, base: Ext, inverses: dict[bytes, Inverse | None]
) -> tuple[NDArray[np.intp], Inverse, Vector] | None:
    """Columns that are away from their bounds and lead to a true solution, those with too little room left out.

    With them, how far columns go that make way for rows which would be crossed.
    """
    face, S = held.face, held.columns
    given = face.given
    lower, upper = face.limits
    room = double(np.minimum(base - lower, upper - base))[S]
    missed = held.missed(base)
    inside = np.flatnonzero(room > 0)
    while True:
        key = inside.tobytes()
        if key not in inverses:
            inverses[key] = _inverse_on(held, inside)
        inverse = inverses[key]
        if inverse is None:
            return None
        enough = room[inside] >= inverse.moves(missed) * held.scale[inside]
        if enough.all():
            break
        inside = inside[enough]
    moves = np.zeros(base.size)
    moves[S[inside]] = inverse.moves(missed) * held.scale[inside]
    other = np.setdiff1d(np.arange(given.low.size), held.rows)
    activity, change = face.A.times(base)[other], np.asarray(face.A.size @ moves + face.A.times_error(base))[other]
    slack = double(np.minimum(activity - given.low[other], given.high[other] - activity))
    if (slack >= change).all():
        return inside, inverse, np.zeros(base.size)
    aside = _aside(held, base, other, change - slack, double(activity - given.low[other]) == slack)
    return None if aside is None else (inside, inverse, aside)


def _aside(held: Held, base: Ext, rows: NDArray[np.intp], short: Vector, below: NDArray[np.bool_]) -> Vector | None:
    """How far columns have to go so that the rows which are short are kept; ``below``: at their lower ends.

    These columns are in no row of E, and further in that direction no row is worse off. None where a row has none.
    """
    face, S = held.face, held.columns
    lower, upper = face.limits
    idle = S[column_squares(held.E, np.ones(held.E.shape[0])) == 0]
    A = sp.csc_array(face.A.A)[:, idle].tocoo()
    worse_up = np.zeros(idle.size, dtype=bool)
    worse_down = np.zeros(idle.size, dtype=bool)
    low, high = np.isfinite(face.given.low[A.row]), np.isfinite(face.given.high[A.row])
    np.logical_or.at(worse_up, A.col, ((A.data > 0) & high) | ((A.data < 0) & low))
    np.logical_or.at(worse_down, A.col, ((A.data < 0) & high) | ((A.data > 0) & low))
    entries = sp.csr_array(A)
    moves, room = np.zeros(base.size), np.zeros(base.size)
    for i in np.flatnonzero(short > 0):
        own = slice(entries.indptr[rows[i]], entries.indptr[rows[i] + 1])
        columns, values = entries.indices[own], entries.data[own]
        up = (values > 0) == below[i]
        free = np.flatnonzero((values != 0) & ~np.where(up, worse_up[columns], worse_down[columns]))
        if not free.size:
            return None
        j = idle[columns[free[0]]]
        room[j] = double(upper - base)[j] if up[free[0]] else double(base - lower)[j]
        moves[j] = max(moves[j], 1.01 * short[i] / abs(values[free[0]]))
    return moves if (moves <= room).all() else None


def _judged(
    held: Held,
    level: Level,
    x: Ext,
    base: Ext,
    inside: NDArray[np.intp],
    inverse: Inverse,
    aside: Vector | None = None,
) -> Near:
    """What the level may gain on the way from x by ``base`` to the true solution beside it."""
    missed, S = held.missed(base), held.columns[inside]
    if not np.isfinite(missed):
        return NOWHERE
    moves = held.beside(base)
    if aside is not None:
        moves = moves + aside
    here = level.at(base)
    slope = float(np.abs(double(here.grad)) @ moves)
    grad = double(here.grad)[S] * held.scale[inside]
    slope += missed * (float(np.linalg.norm(inverse.right.T @ grad)) + inverse.lost * float(np.linalg.norm(grad)))
    slope += float(here.grad_error[S] @ moves[S])
    moves[S] += inverse.moves(missed) * held.scale[inside]
    bend = level.bend(base, moves)
    rise = slope * (1 + 1e-12) + bend / 2
    shift = np.sqrt(bend)
    if base is not x:
        there = level.at(x)
        rise += float(here.value - there.value) + here.value_error + there.value_error
        apart = np.abs(double(base - x)) * (1 + UNIT)
        shift += np.sqrt(level.bend(base, apart))
        moves = moves + apart
    return Near(max(0.0, rise), float(shift), False, moves) if np.isfinite(rise + shift) else NOWHERE
