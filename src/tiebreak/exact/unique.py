"""Is one point left, and does the next level have a say at all?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from .extended import dense
from .held import FEW, RANK, Held
from .level import Level
from .lp_level import MOVED, FaceProgram
from .reduce import Reduced, reduce_rows


def is_single(held: Held, programme: Callable[[], FaceProgram]) -> bool | None:
    """Whether the point is the only one of the face; None where that is not decided."""
    face = held.face
    if held.columns.size == 0 or (held.small() and held.null.shape[1] == 0):
        return True
    reduced = reduce_rows(*face.step_rows())
    inside = np.flatnonzero((reduced.lower < 0) & (reduced.upper > 0))
    tight = np.flatnonzero((reduced.low == 0) | (reduced.high == 0))
    if reduced.columns.size == 0:
        return True
    if inside.size > tight.size:
        return False
    if inside.size > FEW:
        return None
    kept = dense(reduced.G.A[tight][:, inside]) * face.scale[reduced.columns[inside]]
    values = np.linalg.svd(kept, compute_uv=False) if kept.size else np.zeros(0)
    if np.sum(values > RANK * values.max(initial=0.0)) < inside.size:
        return False
    loose = tight[reduced.low[tight] < reduced.high[tight]]
    if loose.size == 0 and inside.size == reduced.columns.size:
        return True
    return _departure(reduced, loose, face.scale, programme()) <= MOVED


def constant_on(held: Held, level: Level) -> bool | None:
    """True where the level depends on x only through what is the same on the whole face."""
    return True if held.small(level) and held.flat(level) else None


def _departure(reduced: Reduced, loose: NDArray[np.intp], scale: Vector, programme: FaceProgram) -> float:
    """How far the face leaves the bounds and rows that are tight at the point, added up."""
    columns = reduced.columns
    slope = np.where(reduced.lower == 0, 1.0, np.where(reduced.upper == 0, -1.0, 0.0)) / scale[columns]
    G = reduced.G.A[loose]
    size = np.asarray(abs(G) @ scale[columns])
    slope = slope + G.T @ (np.where(reduced.low[loose] == 0, 1.0, -1.0) / size)
    cost = np.zeros(scale.size)
    cost[columns] = -slope
    return -float(cost @ programme.lowest(cost))
