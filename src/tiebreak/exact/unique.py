"""Is one point left, and does the next level have a say at all?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from ..arrays import Matrix, Vector
from .extended import double
from .face import Face
from .level import Level
from .lp_level import MOVED, FaceProgram
from .reduce import Reduced, reduce_rows

RANK = 1e-10
"""Singular values below this, relative to the largest, count as zero."""
MANY = 1500
"""Beyond this many movable columns no rank is computed."""


def is_single(face: Face, programme: Callable[[], FaceProgram]) -> bool | None:
    """Whether the point is the only one of the face; None where that is not decided."""
    reduced = reduce_rows(*face.step_rows())
    inside = np.flatnonzero((reduced.lower < 0) & (reduced.upper > 0))
    tight = np.flatnonzero((reduced.low == 0) | (reduced.high == 0))
    if reduced.columns.size == 0:
        return True
    held = reduced.G.A[tight][:, inside]
    if inside.size > tight.size:
        return False
    if inside.size > MANY:
        return None
    if _null_dimension(held) > 0:
        return False
    loose = tight[reduced.low[tight] < reduced.high[tight]]
    if loose.size == 0 and inside.size == reduced.columns.size:
        return True
    return _departure(reduced, loose, face.scale, programme()) <= MOVED


def constant_on(face: Face, level: Level) -> bool | None:
    """True where the level depends on x only through what is the same on the whole face."""
    reduced = reduce_rows(*face.step_rows())
    columns = reduced.columns
    second = level.rows[:, columns] if not level.linear else np.zeros((0, columns.size))
    grad = double(level.at(face.x).grad)
    size = float(np.abs(grad).max(initial=0.0))
    if columns.size > MANY or columns.size == 0:
        return True if columns.size == 0 else None
    N = _null_basis(_dense(reduced.G.A[reduced.low == reduced.high]), columns.size)
    flat = float(np.abs(_dense(second) @ N).max(initial=0.0)) <= RANK * float(abs(second).max() if second.shape[0] else 0.0)
    return True if flat and float(np.abs(grad[columns] @ N).max(initial=0.0)) <= RANK * size else None


def _departure(reduced: Reduced, loose: Vector, scale: Vector, programme: FaceProgram) -> float:
    """How far the face leaves the bounds and rows that are tight at the point, added up."""
    columns = reduced.columns
    slope = np.where(reduced.lower == 0, 1.0, np.where(reduced.upper == 0, -1.0, 0.0)) / scale[columns]
    G = reduced.G.A[loose]
    size = np.asarray(abs(G) @ scale[columns])
    slope = slope + G.T @ (np.where(reduced.low[loose] == 0, 1.0, -1.0) / size)
    cost = np.zeros(scale.size)
    cost[columns] = -slope
    return -float(cost @ programme.lowest(cost))


def _dense(M: Matrix) -> Matrix:
    return M.toarray() if sp.issparse(M) else M


def _null_dimension(M: Matrix) -> int:
    if min(M.shape) == 0:
        return int(M.shape[1])
    values = np.linalg.svd(_dense(M), compute_uv=False)
    return int(M.shape[1] - np.sum(values > RANK * values[0]))


def _null_basis(M: Matrix, n: int) -> Matrix:
    if M.shape[0] == 0:
        return np.eye(n)
    _, values, right = np.linalg.svd(M)
    return right[np.sum(values > RANK * values[0]) :].T
