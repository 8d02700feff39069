"""Bounds on variables that nobody wants to be large, over cones: those of epigraphs, t >= |F x - g| and the like.

A column that no objective rewards, and along which all its cones are left to their inside, may be made as small as
these cones allow: that raises no objective. What they ask for at most, over what the other cones leave to the other
columns, is a bound that changes no optimal value of a chain of convex levels, as a solution of the chain is left.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from .cone_kinds import cone_of
from .cones import Cone
from .conic_rows import ConicError, ConicRows, NoPoint
from .extended import double, ext
from .upward import ROOM

Index = NDArray[np.intp]

INSIDE = 1e-6
"""Directions that leave a cone to its inside by less, relative to their length, do not count."""


def least_needed(A: Matrix, b: Vector, cones: list[tuple[str, float]], unrewarded: NDArray[np.bool_]) -> Vector:
    """For each unrewarded column a number that it need not exceed; inf where none is known, and for all others.

    Examples
    --------
    t >= |x| for -2 <= x <= 3, x and t the columns:

    >>> A = sp.csr_array([[1.0, 0.0], [-1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]])
    >>> cones = [("nonnegative", 2), ("second-order", 2)]
    >>> needed = least_needed(A, np.array([3.0, 2.0, 0.0, 0.0]), cones, np.array([False, True]))
    >>> bool(needed[0] == np.inf), bool(3 <= needed[1] < 10)
    (True, True)
    """
    found = np.full(A.shape[1], np.inf)
    blocks, fixed = _blocks(cones)
    by_column = sp.csc_array(A)
    of_row: Index = np.full(A.shape[0], -1, dtype=np.intp)
    for k, (_, rows) in enumerate(blocks):
        of_row[rows] = k
    upward: dict[int, dict[int, float]] = {}
    for j in np.flatnonzero(unrewarded).tolist():
        at = slice(by_column.indptr[j], by_column.indptr[j + 1])
        if own := _inside(by_column.indices[at].astype(np.intp), -by_column.data[at], of_row, blocks):
            upward[j] = own
    shared = [k for own in upward.values() for k in own]
    upward = {j: own for j, own in upward.items() if all(shared.count(k) == 1 for k in own)}
    if not upward:
        return found
    rest = np.setdiff1d(np.arange(A.shape[1]), list(upward))
    gone = {k for own in upward.values() for k in own}
    kept = [k for k in range(len(blocks)) if k not in gone]
    alive = np.concatenate([fixed, *(blocks[k][1] for k in kept)]).astype(np.intp)
    left = [("zero", float(fixed.size))] * bool(fixed.size) + [blocks[k][0].named for k in kept]
    others = sp.csr_array(sp.csr_array(A)[:, rest])
    middle, radii, far = _ranges(others[alive], b[alive], left)
    for j, own in upward.items():
        needs = [_need(others[blocks[k][1]], b[blocks[k][1]], middle, radii, far) / own[k] for k in own]
        found[j] = max(needs) * (1 + ROOM) + ROOM
    return found


def _blocks(cones: list[tuple[str, float]]) -> tuple[list[tuple[Cone, Index]], Index]:
    """Cones with their rows, each inequality for itself; and the rows of equalities."""
    blocks: list[tuple[Cone, Index]] = []
    fixed, start = [np.zeros(0, dtype=np.intp)], 0
    for kind, size in cones:
        cone = cone_of(kind, size)
        count = int(size) if cone is None else cone.size
        rows = np.arange(start, start + count)
        if cone is None:
            fixed.append(rows)
        elif kind == "nonnegative":
            one = cone_of(kind, 1.0)
            assert one is not None
            blocks += [(one, rows[i : i + 1]) for i in range(count)]
        else:
            blocks.append((cone, rows))
        start += count
    return blocks, np.concatenate(fixed)


def _inside(rows: Index, values: Vector, of_row: Index, blocks: list[tuple[Cone, Index]]) -> dict[int, float]:
    """By block, how far the direction goes inside; nothing where it does not in all of them."""
    found: dict[int, float] = {}
    if not rows.size or (of_row[rows] < 0).any():
        return {}
    for k in np.unique(of_row[rows]).tolist():
        cone, place = blocks[k]
        direction = np.zeros(place.size)
        mine = of_row[rows] == k
        direction[rows[mine] - place[0]] = values[mine]
        margin = float(cone.margin(ext(direction))) / (1 + 1e-9)
        if not margin > INSIDE * float(np.linalg.norm(direction)):
            return {}
        found[int(k)] = margin
    return found


def _ranges(A: Matrix, b: Vector, cones: list[tuple[str, float]]) -> tuple[Vector, Vector, float]:
    """A point of the set, how far each column is from it at most, and all of them together."""
    n = A.shape[1]
    if not A.shape[0]:
        return np.zeros(n), np.full(n, np.inf), np.inf
    try:
        rows = ConicRows(A, b, tuple(cones))
        middle = rows.middle.x
        far = np.inf if rows.bounds is None else rows.bounds.diameter * (1 + ROOM)
    except (NoPoint, ConicError, np.linalg.LinAlgError, IndexError):
        return np.zeros(n), np.full(n, np.inf), np.inf
    radii = np.full(n, far)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    start = 0
    for kind, size in cones:
        count = int(size) if kind == "zero" else cone_of(kind, size).size  # type: ignore[union-attr]
        if kind == "nonnegative":
            for i in range(start, start + count):
                at = slice(A.indptr[i], A.indptr[i + 1])
                if A.indptr[i + 1] - A.indptr[i] == 1 and A.data[at][0]:
                    j, end = A.indices[at][0], b[i] / A.data[at][0]
                    if A.data[at][0] > 0:
                        high[j] = min(high[j], end)
                    else:
                        low[j] = max(low[j], end)
        start += count
    box = np.maximum(np.abs(high - middle), np.abs(low - middle)) * (1 + ROOM)
    return middle, np.minimum(radii, box), far


def _need(A: Matrix, b: Vector, middle: Vector, radii: Vector, far: float) -> float:
    """At least minus the margin of the slacks b - A x, for all x of the set."""
    used = np.unique(A.indices)
    slack = double(ext(b) - ext(A @ middle))
    by_columns = float(np.linalg.norm(abs(A)[:, used] @ radii[used])) if used.size else 0.0
    together = float(np.linalg.norm(A.data)) * far if used.size else 0.0
    terms = float(np.linalg.norm(np.abs(b) + abs(A) @ np.abs(middle)))
    return sqrt(2) * (float(np.linalg.norm(slack)) + min(by_columns, together) + ROOM * terms)
