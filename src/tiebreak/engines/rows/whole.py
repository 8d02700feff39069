"""Whether the answer of a chain over a part of an unbounded set is one over the whole: three grades.

* A level is strongly convex: its minimisers, and so the solutions of the chain, are near its point.
* All solutions x over the part have <c_k, x - x_k> <= allowance_k for each level, and images of quadratic levels near
  those of its point. If the points of Z with that are in a box, and the box inside the part, so are the solutions.
* The set of solutions itself has no end, or is too large to look at: then it is assumed that the part holds one, and
  that is said. Not so where a level is not known well over the part: what it tells of the solutions is too little then,
  and nothing is claimed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...arrays import Matrix, Vector
from ...numerics.deadline import OutOfTime, affordable, check, limited
from ...numerics.extended import double
from ...numerics.failures import LinearProgramError, NoBox
from ...numerics.outer_box import loose_box
from ...numerics.rows import Rows
from .face import Face, Record
from .open_box import around

ROOM = 1e-3
"""How much room the rows of a level get for the box of the solutions, relative to their sizes."""
NO_SLOPE = 1e-9
"""A gradient below this part of what it is a sum of is nothing but rounding, and no row."""
INSIDE = 4.0
"""A point is well inside a part that is so many times as far out."""
WELL = 1e-6
"""A level is known well whose bracket is no wider than this, relative to 1 + |value|."""
SECONDS = 3.0
"""So long a box of the solutions is looked for: without one there is an assumption."""
MOST_COLUMNS = 1500
"""Up to this many variables a box of the solutions is looked for: it takes a dense decomposition."""


class Verdict(NamedTuple):
    """Whether the part holds a solution for certain; else another part to try, or none."""

    shown: bool
    part: tuple[Vector, Vector] | None = None


def judged(face: Face) -> Verdict:
    """What there is to say of the part that a chain was solved over."""
    x = double(face.x)
    distance = min((record.distance for record in face.records), default=np.inf)
    if np.isfinite(distance) and _within(face, x - distance, x + distance):
        return Verdict(True)
    if not well_inside(face, x):
        return Verdict(False, around(face.scale, x))
    if np.isfinite(distance):
        return Verdict(False, around(np.maximum(face.scale, distance), x))
    try:
        with limited(SECONDS):
            box = _box_of_solutions(face)
    except (NoBox, LinearProgramError, OutOfTime):
        box = None
    check()
    if box is None:
        return Verdict(False)
    if _within(face, *box):
        return Verdict(True)
    far = 2 * np.maximum(np.abs(box[0]), np.abs(box[1]))
    return Verdict(False, (-far, far))


def well_inside(face: Face, x: Vector) -> bool:
    """Whether the part goes on far beyond the point, in units of the face."""
    return _within(face, x - (INSIDE - 1) * np.abs(x), x + (INSIDE - 1) * np.abs(x))


def known_well(face: Face) -> bool:
    """Whether all levels are, so that the part is all that the answer over the whole hangs on."""
    return all(
        record.exact and record.gap + record.allowance <= WELL * (1 + abs(float(record.value)))
        for record in face.records
    )


def assumption(face: Face, length: float) -> str:
    """In words, in the user's units."""
    assert face.cut is not None
    free = face.box.lower < face.box.upper
    ends = np.concatenate([-face.box.lower[face.cut.below & free], face.box.upper[face.cut.above & free]]) * length
    least, most = float(ends.min()), float(ends.max())
    reach = f"{most:.1e}" if least == most else f"R, from {least:.1e} to {most:.1e} for the different variables"
    return f"the domain is unbounded: some solution has no entry beyond {reach}"


def _within(face: Face, lower: Vector, upper: Vector) -> bool:
    """Whether numbers between these are away from the ends where the set was cut off."""
    cut, box = face.cut, face.box
    assert cut is not None
    free = box.lower < box.upper  # the others are at a given bound, for certain
    return bool((lower > box.lower)[cut.below & free].all() and (upper < box.upper)[cut.above & free].all())


def _box_of_solutions(face: Face) -> tuple[Vector, Vector] | None:
    """Bounds on all entries of all solutions over the part; None where what is known of them is too little."""
    n = face.x.size
    height = face.given.low.size + n + sum(1 + (0 if r.level.linear else r.level.height) for r in face.records)
    if n > MOST_COLUMNS or not affordable(4.0 * (height + n) * n**2):
        return None
    blocks: list[Matrix] = [face.given.A]
    low, high = [face.given.low], [face.given.high]
    for record in face.records:
        rows = _rows_of(face, record)
        if rows is None:
            return None
        for block, least, most in rows:
            blocks.append(sp.csr_array(block))
            low.append(least)
            high.append(most)
    pinned = face.box.lower == face.box.upper
    lower, upper = (
        np.where(pinned, own, given)
        for own, given in ((face.box.lower, face.given.lower), (face.box.upper, face.given.upper))
    )
    all_rows = Rows(sp.csr_array(sp.vstack(blocks)), np.concatenate(low), np.concatenate(high), lower, upper)
    box = loose_box(all_rows, double(face.x))
    return box.lower, box.upper


def _rows_of(face: Face, record: Record) -> list[tuple[Matrix, Vector, Vector]] | None:
    """What all solutions over the part satisfy because of a level, with room; None where that is not known."""
    grad, x = double(record.grad), double(record.x)
    steepest = float((np.abs(grad) * face.scale).max(initial=0.0))
    room = ROOM * steepest
    slack = 2 * record.allowance + 1e-12 * float(np.abs(grad) @ np.abs(x))
    if not np.isfinite(slack):
        return None
    at = float(grad @ x)
    found: list[tuple[Matrix, Vector, Vector]] = []
    if steepest > NO_SLOPE * record.level.grad_size(record.x, face.scale):
        found.append((grad[None], np.array([-np.inf]), np.array([at + max(room, slack)])))
    if record.level.linear:
        return found
    level = record.level
    length = level.image_moves(record.gap + record.allowance)
    image, size = double(level.image.times(record.x)), np.asarray(level.image.size @ np.maximum(face.scale, np.abs(x)))
    around_it = np.maximum(ROOM * size, 2 * length + 1e-12 * size)
    known = np.isfinite(around_it)
    found.append((level.image.A[known], (image - around_it)[known], (image + around_it)[known]))
    return found
