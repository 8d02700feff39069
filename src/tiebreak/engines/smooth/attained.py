"""Rays along which a level with losses falls, so that it has no minimum: for ever, or towards a value it never takes.

Far out, a loss grows like a line on either side, with the slopes h'(-inf) and h'(inf), which may be infinite. A level
that falls far out along a ray d is not bounded below. One that neither rises nor falls there has no minimiser either,
if d moves the prediction of a loss that bends everywhere: along the ray from a minimiser the level would be constant,
and so each of its convex terms a line (Rockafellar 1970, Theorem 27.3). Flat losses take their least value.

A linear programme proposes the ray. What moves along it must have the right sign with room to spare; what must not move
does not move exactly along another ray, so near that no sign changes: by rows E of a certain rank, and their inverse.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.deadline import OutOfTime, check, limited
from ...numerics.extended import dense, double, ext
from ...numerics.failures import LinearProgramError
from ...numerics.rank import EPS, exact_rank, resolved
from ...numerics.rows import Rows, power_of_two
from ..rows.face import Face
from ..rows.linear_level import FaceProgram
from ..rows.nearby import pseudo_inverse
from ..rows.rays import FALLS, share, steady
from .level import SmoothLevel

SECONDS = 10.0
"""So long a ray is looked for."""
FAR = 20.0
"""Predictions beyond this, in units of 1/M, are where losses that bend everywhere are all but straight."""
LONG = 1e3
"""How far directions go, in units of the sizes of the variables."""
STILL = 1e-5
"""What moves by less than this, relative to its size, is not to move at all."""
MOST_ENTRIES = 4_000_000


class Ray(NamedTuple):
    """A direction, and whether the level falls for ever along it; else towards a value that it does not take."""

    direction: Vector
    for_ever: bool


class Slopes(NamedTuple):
    """The rows of all losses, their slopes far out on both sides, which of them bend everywhere, and their groups.

    Of a group, whose slopes far below are zero, the row that rises the most counts.
    """

    rows: Matrix
    below: Vector
    above: Vector
    strict: NDArray[np.bool_]
    group: NDArray[np.intp]

    @classmethod
    def of(cls, face: Face, level: SmoothLevel) -> Slopes:
        """In units of the level, and of the sizes of the variables."""
        rows = [np.zeros((0, level.dim))]
        parts, groups = [(np.zeros(0), np.zeros(0), np.zeros(0, bool), np.zeros(0, np.intp))], 0
        for F, loss, scale in level.curves:
            below, above = (float(scale) * np.broadcast_to(end, (F.shape[0],)) for end in loss.far_slopes)
            rows.append(dense(F.A) * face.scale)
            group = groups + np.arange(below.size) // loss.group
            groups = int(group[-1]) + 1 if group.size else groups
            parts.append((below, above, (below < above) & (loss.self_concordance > 0), group))
        below, above, strict, group = (np.concatenate(part) for part in zip(*parts, strict=True))
        if not level.q.any():  # then no term makes up for one that rises
            below, above = np.where(below < 0, -np.inf, 0.0), np.where(above > 0, np.inf, 0.0)
        return cls(np.vstack(rows), below, above, strict, group)

    @property
    def finite(self) -> Vector:
        """The slope on the side where it is finite (on both: below; on none: 0)."""
        return np.where(np.isfinite(self.below), self.below, np.where(np.isfinite(self.above), self.above, 0.0))


def is_far(level: SmoothLevel) -> bool:
    """Whether some losses that bend everywhere are all but straight at the level's point."""
    pairs = zip(level.curves, level.settled, strict=True)
    return any(float(np.abs(there.t).max(initial=0.0)) * curve.loss.self_concordance > FAR for curve, there in pairs)


def ray_without_minimum(face: Face, level: SmoothLevel) -> Ray | None:
    """A ray that shows that the level has no minimum on the face, in units of the face; None where none is shown."""
    if face.cut is None or face.single or not face.certain or not all(record.exact for record in face.records):
        return None
    if sum(curve.F.A.size for curve in level.curves) > MOST_ENTRIES:
        return None
    if not level.q.any() and not any(curve.loss.self_concordance > 0 for curve in level.curves):
        return None
    far = Slopes.of(face, level)
    cone = _directions(face, level, far)
    try:
        with limited(SECONDS):
            v = _proposed(face, level, far, cone)
    except (LinearProgramError, OutOfTime):
        check()
        return None
    ray = _shown(face, level, far, cone, v) if v.any() else None
    if ray is None or any(share(slope, ext(ray.direction)) > FALLS for slope in map(steady, face.records)):
        return None
    return ray


def _directions(face: Face, level: SmoothLevel, far: Slopes) -> Rows:
    """What rays satisfy: rows and bounds whose ends are 0 or none, in units of the sizes of the variables."""
    given, n = face.given, level.dim
    images = [dense(P.A) for _, P in face.predictors]
    images += [np.eye(n) if square.F is None else dense(square.F.A) for square in level.squares]
    images += [dense(bend.Q.A) for bend in level.bends]
    held = np.zeros(sum(image.shape[0] for image in images))
    free_rows, free = face.row_side == 0, face.column_side == 0
    ends = (
        (np.where(np.isinf(given.low) & free_rows, -np.inf, 0.0), np.where(np.isinf(far.below), 0.0, -np.inf)),
        (np.where(np.isinf(given.high) & free_rows, np.inf, 0.0), np.where(np.isinf(far.above), 0.0, np.inf)),
    )
    low, high = (np.concatenate([rows, held, losses]) for rows, losses in ends)
    limits = (low == 0) | (high == 0)
    rows = np.vstack([np.vstack([dense(face.A.A), *images]) * face.scale, far.rows])[limits]
    return Rows(
        sp.csr_array(rows / power_of_two(np.abs(rows).max(axis=1, initial=0.0))[:, None]),
        low[limits],
        high[limits],
        np.where(np.isinf(given.lower) & free, -LONG, 0.0),
        np.where(np.isinf(given.upper) & free, LONG, 0.0),
    )


def _proposed(face: Face, level: SmoothLevel, far: Slopes, cone: Rows) -> Vector:
    """A ray along which the level falls the most; or that moves as many losses as there are, each by as much as 1.

    A further variable for each loss with two slopes (one a group): what it costs; or how far it moves, up to 1.
    """
    falling = bool(level.q.any())
    if falling:
        more = np.flatnonzero(np.isfinite(far.below) & np.isfinite(far.above) & (far.below < far.above))
        _, first, place = np.unique(far.group[more], return_index=True, return_inverse=True)
        sign, cost = np.ones(more.size), double(level.q) * face.scale + far.finite @ far.rows
    else:
        more = np.flatnonzero(far.strict & (np.isinf(far.below) != np.isinf(far.above)))
        first = place = np.arange(more.size)
        sign, cost = np.where(np.isinf(far.below[more]), -1.0, 1.0), np.zeros(level.dim)
    sizes = np.zeros(first.size)
    np.maximum.at(sizes, place, np.abs(far.rows[more]).max(axis=1, initial=0.0))
    sizes = power_of_two(sizes)
    price = (far.above - far.below)[more[first]] * sizes if falling else -np.ones(first.size)
    if not more.size and not cost.any():
        return np.asarray(cost)
    moved = sp.csr_array((sign / sizes[place])[:, None] * far.rows[more])
    ones = np.full(more.size, -1.0 if falling else 1.0), (np.arange(more.size), place)
    one = sp.csr_array(ones, shape=(more.size, first.size))
    own = sp.hstack([moved, one])
    none = sp.csr_array((cone.A.shape[0], first.size))
    programme = Rows(
        sp.csr_array(sp.vstack([sp.hstack([cone.A, none]), own])),
        np.append(cone.low, np.full(more.size, -np.inf)),
        np.append(cone.high, np.zeros(more.size)),
        np.append(cone.lower, np.zeros(first.size)),
        np.append(cone.upper, np.full(first.size, 2 * LONG * level.dim if falling else 1.0)),
    )
    scale = np.append(np.full(level.dim, LONG), np.ones(first.size))
    return double(FaceProgram(programme, scale).minimise(ext(np.append(cost, price))).x)[: level.dim]


def _shown(face: Face, level: SmoothLevel, far: Slopes, cone: Rows, v: Vector) -> Ray | None:
    """The ray, if another one that is very near to it is what was looked for, exactly."""
    limited_columns = (cone.lower == 0) | (cone.upper == 0)
    S = np.flatnonzero(~limited_columns | (np.abs(v) > STILL * np.abs(v).max()))
    rows = dense(cone.A)[:, S]
    still = (cone.low == cone.high) | (np.abs(rows @ v[S]) <= STILL * (np.abs(rows) @ np.abs(v[S])))
    near = _not_moving(rows[still], v[S])
    if near is None:
        return None
    w, moves = near
    moves = moves + (S.size + 8) * EPS * np.abs(w)  # and the rounding of products with w
    right = ((w > moves) | (cone.lower[S] < 0)).all() and ((-w > moves) | (cone.upper[S] > 0)).all()
    t, off = rows @ w, np.abs(rows) @ moves
    if not right or not ((t > off) | np.isinf(cone.low) | still).all():
        return None
    if not ((-t > off) | np.isinf(cone.high) | still).all():
        return None
    direction = np.zeros(level.dim)
    direction[S] = w * face.scale[S]
    t, off = far.rows[:, S] @ w, np.abs(far.rows[:, S]) @ moves
    if not level.q.any():
        return Ray(direction, False) if (np.abs(t) > off)[far.strict].any() else None
    q, least = (double(level.q) * face.scale)[S], far.finite
    most = np.where(np.isfinite(far.above), far.above, least)
    risen = np.full(far.group.max(initial=-1) + 1, -np.inf)
    np.maximum.at(risen, far.group, np.where(t > 0, most, least) * t)
    terms = np.append(q * w, risen)
    lost = float(np.abs(q) @ moves) + float(np.maximum(np.abs(most), np.abs(least)) @ off)
    lost += (terms.size + 8) * EPS * float(np.abs(terms).sum())
    return Ray(direction, True) if float(terms.sum()) + lost < -FALLS * float(np.abs(terms).sum()) else None


def _not_moving(E: Matrix, v: Vector) -> tuple[Vector, Vector] | None:
    """v without what E moves, and how far an exact one is, by columns; None where the rank of E is not certain."""
    E = E[E.any(axis=1)]
    if not E.size:
        return v, np.zeros(v.size)
    values = np.linalg.svd(E, compute_uv=False)
    rank = int(np.sum(values > 2 * resolved(values, E.shape)))
    inverse = pseudo_inverse(E, rank) if exact_rank(E) == rank else None
    if inverse is None:
        return None
    for _ in range(3):
        v = v - inverse.right @ (inverse.left.T @ (E @ v))
    missed = np.abs(E @ v) + (v.size + 8) * EPS * (np.abs(E) @ np.abs(v))
    return v, inverse.moves(float(np.linalg.norm(missed)))
