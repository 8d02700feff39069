"""Is one point left, and does the next level have a say at all? True or False where that is proved, else None.

The directions in which the face can be left at its point, a cone, are those of the rows and bounds that are tight there
to rounding: neither the length of an edge nor a bound that is far away has a part in it. Let ``departure`` be the sum
of all that a direction moves away from what is tight, in units of the variables' sizes.

* Weak duality bounds the departure of all directions up to length 1. If that bound, times the largest norm of a
  direction per unit of what it moves, is below 1, there is no direction of length 1, and so none at all: True.
* A direction, solved for to extended precision, leads to a second point. If that is in the face to rounding, and
  differs from the first by more than rounding: False.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import UNIT_ROUNDOFF, Matrix, Vector
from ...numerics.deadline import affordable
from ...numerics.extended import UNIT, Ext, dense, double, ext
from ...numerics.failures import LinearProgramError
from ...numerics.rows import Rows, power_of_two
from .face import FEASIBLE, Face
from .held import FEW, LARGEST, Held
from .level import Level
from .linear_level import FaceProgram
from .reduce import Reduced, reduce_rows

DISTINCT = 64 * UNIT_ROUNDOFF
"""Two points whose entries differ by no more than this, relative to their sizes, may be one."""
MOST = 1e-3
"""A bound on the length of all directions of length 1 that is a contradiction, with room to spare."""
LEAST = 1e-6
"""A departure in units of the variables' sizes that is worth a look."""


class Cone(NamedTuple):
    """The directions of a face at its point, on the columns that can move."""

    rows: Rows
    departure: Vector
    inside: NDArray[np.intp]  # columns away from both bounds
    tight: NDArray[np.intp]  # rows that are not free


def is_single(held: Held, programme: FaceProgram | None) -> bool | None:
    """Whether the point is the only one of the face, ``programme`` having found it as its last vertex."""
    face = held.face
    if held.columns.size == 0 or (programme is not None and programme.settled()):
        return True
    reduced = reduce_rows(*face.step_rows())
    if reduced.columns.size == 0:
        return True
    if _more_columns_than_rows(face, reduced):
        return False
    cone = _cone(reduced, face.scale[reduced.columns])
    norm = _inverse_norm(cone, face.scale[reduced.columns])
    if norm is None:
        return None
    if np.isinf(norm):
        direction = _kernel(cone, face.scale[reduced.columns])
        return False if direction is not None and leads_elsewhere(face, reduced.expand(direction)) else None
    try:
        vertex = FaceProgram(cone.rows, face.scale[reduced.columns]).minimise(ext(-cone.departure))
    except LinearProgramError:
        return None
    if float(double(vertex.x) @ cone.departure) > LEAST:
        return False if leads_elsewhere(face, reduced.expand(vertex.x)) else None
    most = _most(cone, vertex.y)
    return True if most * norm <= MOST else None


def _more_columns_than_rows(face: Face, reduced: Reduced) -> bool:
    """Whether the tight rows are too few to hold all columns that are away from their bounds, with room to move.

    Then some direction d, |d_j| at most the size of x_j and equal to it once, moves nothing tight.
    """
    inside = (reduced.lower < 0) & (reduced.upper > 0)
    loose = (reduced.low < 0) & (reduced.high > 0)
    if int(inside.sum()) <= loose.size - int(loose.sum()):
        return False
    scale = face.scale[reduced.columns]
    room = double(np.minimum(-reduced.lower, reduced.upper))[inside] / scale[inside]
    rows = double(np.minimum(-reduced.low, reduced.high))[loose] / np.maximum(reduced.G.size @ scale, 1e-300)[loose]
    step = min(float(room.min()), float(rows.min(initial=np.inf)))
    largest = float((np.abs(double(face.x[reduced.columns])) / scale).max())
    return step > 2 * DISTINCT * (1 + largest) and face.missed(face.x) <= FEASIBLE


def leads_elsewhere(face: Face, d: Ext) -> bool:
    """Whether a step along d ends at another point of the face, beyond rounding of both."""
    size = np.abs(double(d))
    noise = size <= 1e-17 * face.scale * float((size / face.scale).max(initial=0.0))
    d = np.where(noise, 0, d)
    given, x = face.given, face.x
    slope, activity = face.A.times(d), face.A.times(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = [
            np.where(move > 0, (high - value) / move, np.where(move < 0, (low - value) / move, np.inf))
            for value, move, low, high in ((x, d, given.lower, given.upper), (activity, slope, given.low, given.high))
        ]
    off = face.A.times_error(d) * 4
    steps[1] = np.where(np.abs(double(slope)) <= off, np.inf, steps[1])
    step = min(float(part.min(initial=np.inf)) for part in steps)
    if step == np.inf and d.any():  # no end is on the way
        step = 1 / float((np.abs(double(d)) / face.scale).max())
    if not np.isfinite(step) or step <= 0:
        return False
    held = all(bool((np.abs(double(P.times(d))) <= 4 * P.times_error(d)).all()) for _, P in face.predictors)
    held &= not d[face.column_side != 0].any() and bool((np.abs(double(slope)) <= off)[face.row_side != 0].all())
    other = x + step * d
    return held and distinct(x, other) and max(face.missed(x), face.missed(other)) <= FEASIBLE


def distinct(a: Ext, b: Ext) -> bool:
    """Whether two points differ by more than the rounding of their entries."""
    return bool((np.abs(double(a - b)) > DISTINCT * np.maximum(np.abs(double(a)), np.abs(double(b)))).any())


def constant_on(held: Held, level: Level) -> bool | None:
    """True where the level depends on x only through what is the same on the whole face."""
    fits = held.small(level) and level.looks_at.shape[0] * held.columns.size <= LARGEST
    return True if fits and held.flat(level) else None


def _cone(reduced: Reduced, scale: Vector) -> Cone:
    at_lower, at_upper = double(reduced.lower) == 0, double(reduced.upper) == 0
    at_low, at_high = double(reduced.low) == 0, double(reduced.high) == 0
    tight = np.flatnonzero(at_low | at_high)
    G = sp.csr_array(reduced.G.A)[tight]
    rows = Rows(
        G,
        np.where(at_low, 0.0, -np.inf)[tight],
        np.where(at_high, 0.0, np.inf)[tight],
        np.where(at_lower, 0.0, -scale),
        np.where(at_upper, 0.0, scale),
    )
    size = np.maximum(np.asarray(abs(G) @ scale), 1e-300)
    leaves = np.where(at_low[tight] & at_high[tight], 0.0, np.where(at_low[tight], 1.0, -1.0))
    departure = np.where(at_lower, 1.0, np.where(at_upper, -1.0, 0.0)) / scale + G.T @ (leaves / size)
    return Cone(rows, np.asarray(departure), np.flatnonzero(~at_lower & ~at_upper), tight)


def _inverse_norm(cone: Cone, scale: Vector) -> float | None:
    """A bound on the length of a direction per unit of departure: inf where tight rows do not determine it."""
    if cone.inside.size == 0:
        return 1.0
    if cone.inside.size > cone.tight.size:
        return np.inf
    if cone.inside.size > FEW or not affordable(float(cone.inside.size) ** 2 * cone.tight.size):
        return None
    values = np.linalg.svd(_held_inside(cone, scale), compute_uv=False)
    if values[-1] <= 1e-13 * values[0]:
        return np.inf
    return float(scale.size / values[-1])


def _held_inside(cone: Cone, scale: Vector) -> Matrix:
    """The tight rows on the inner columns, both scaled by powers of two."""
    kept = dense(cone.rows.A[:, cone.inside]) * scale[cone.inside]
    return kept / power_of_two(np.abs(kept).max(axis=1, initial=0.0))[:, None]


def _kernel(cone: Cone, scale: Vector) -> Ext | None:
    """A direction on the inner columns that moves nothing tight, refined to extended precision."""
    if cone.inside.size > FEW:
        return None
    kept = _held_inside(cone, scale)
    short = kept if kept.shape[0] <= kept.shape[1] else np.linalg.qr(kept, mode="r")  # rows squared are no size to hold
    right = np.linalg.svd(short)[2] if kept.size else np.eye(cone.inside.size)
    wide, d = ext(kept), ext(right[-1])
    for _ in range(3):
        d = d - np.linalg.lstsq(kept, double(wide @ d), rcond=1e-13)[0] if kept.size else d
    whole = ext(np.zeros(scale.size))
    whole[cone.inside] = d * scale[cone.inside]
    return whole


def _most(cone: Cone, y: Ext) -> float:
    """A bound on the departure of any direction in the box of sizes: weak duality with the multipliers -y."""
    rows = cone.rows
    y = -np.where(((y > 0) & np.isinf(rows.low)) | ((y < 0) & np.isinf(rows.high)), 0, y)
    A = rows.A.astype(np.longdouble)
    left = double(ext(cone.departure) - A.T @ y)
    size = np.abs(cone.departure) + abs(rows.A).T @ np.abs(double(y))
    off = 2 * (rows.A.shape[0] + 8) * UNIT * size + 2 * UNIT_ROUNDOFF * np.abs(left)
    ends = [(left + sign * off) * end for sign in (1, -1) for end in (rows.lower, rows.upper)]
    return float(np.maximum.reduce(ends).sum())
