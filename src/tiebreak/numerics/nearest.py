"""The nearest point of a polyhedron: an interior-point solve finds its face, least squares the point."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

from ..arrays import Vector
from . import clarabel
from .active_set import Sides, corrected
from .deadline import afford, check, remaining
from .rows import Rows

FACE_CORRECTIONS = 20
CROSSED = 1e-12
"""A bound that is missed by more than this, in units of the set, joins the face."""
ALL_IT_CAN = 1e-13
"""A tolerance that asks a solver for all it can reach; what it calls the outcome does not matter."""


def nearest_point(rows: Rows, v: Vector, size: float, lmo: Callable[[Vector], Vector]) -> Vector:
    """The point of ``rows`` nearest to v, given the size of that set and its linear minimisation oracle.

    Both steps run in units of the set's size with rows of norm 1. Of the interior-point answer and the
    projections onto the faces it suggests, the first that is feasible and passes the variational inequality
    ``<v - p, s - p> <= 0 for all s`` to rounding is taken; failing that, the one that comes nearest to it.
    """
    norms = np.sqrt(np.asarray((rows.A.multiply(rows.A)).sum(axis=1)).ravel())
    norms[norms == 0] = 1.0
    unit = Rows(
        sp.csr_array(sp.diags_array(1 / norms) @ rows.A),
        rows.low / (norms * size),
        rows.high / (norms * size),
        rows.lower / size,
        rows.upper / size,
    )
    target = v / size
    best, best_error = target, np.inf
    for p in _candidates(unit, target):
        direction = target - p
        slope = max(0.0, float(direction @ (lmo(-direction) / size - p)))
        error = max(_violation(unit, p), slope / (1 + float(np.linalg.norm(direction))))
        if error < best_error:
            best, best_error = p, error
        if error < 1e-14:
            break
    return np.clip(best * size, rows.lower, rows.upper)


def _violation(rows: Rows, x: Vector) -> float:
    Ax = rows.A @ x
    parts = (rows.low - Ax, Ax - rows.high, rows.lower - x, x - rows.upper)
    return max(0.0, *(float(part.max(initial=0.0)) for part in parts))


def _candidates(rows: Rows, v: Vector) -> Iterator[Vector]:
    x, row_side, column_side = _interior_point(rows, v)
    seen = set()
    for _ in range(FACE_CORRECTIONS):
        key = row_side.tobytes() + column_side.tobytes()
        if key in seen:
            break
        seen.add(key)
        p, row_side, column_side = _on_face(rows, v, row_side, column_side)
        yield p
    yield x


def _on_face(rows: Rows, v: Vector, row_side: Sides, column_side: Sides) -> tuple[Vector, Sides, Sides]:
    """Project v onto the face where rows and columns sit at the given sides.

    Also returns the sides corrected by one primal-dual active-set step: violated bounds join, those with a
    multiplier of the wrong sign leave.
    """
    active = np.flatnonzero(row_side)
    fixed = column_side != 0
    rhs = np.where(row_side > 0, rows.high, rows.low)[active]
    A = rows.A[active]
    A_free = A @ sp.diags_array((~fixed).astype(float))
    x = np.where(fixed, np.where(column_side > 0, rows.upper, rows.lower), v)
    mu = np.zeros(len(active))
    if len(active):
        afford(10.0 * len(active) ** 3)  # of the least squares
        gram = (A_free @ A_free.T).toarray()
        for _ in range(3):  # the first solve squares the condition number, the refinements win it back
            step = np.linalg.lstsq(gram, A @ x - rhs, rcond=1e-13)[0]
            mu += step
            x = x - A_free.T @ step
    pull = v - x - A.T @ mu  # on fixed columns: the multiplier of the bound
    multiplier = np.zeros(len(row_side))
    multiplier[active] = mu
    next_rows = corrected(row_side, rows.A @ x, rows.low, rows.high, -multiplier, crossed=CROSSED)
    return x, next_rows, corrected(column_side, x, rows.lower, rows.upper, -pull, crossed=CROSSED)


def _interior_point(rows: Rows, v: Vector) -> tuple[Vector, Sides, Sides]:
    """Clarabel's answer, with the side of each row and column: held where the multiplier beats the slack."""
    m, n = rows.A.shape
    weight = 1 / max(1.0, float(np.linalg.norm(v)))
    H = weight * sp.eye_array(n)
    found, side = clarabel.solve(H, -weight * v, *rows, tolerance=ALL_IT_CAN, seconds=remaining())
    check()
    return np.nan_to_num(found.x), side[:m], side[m:]
