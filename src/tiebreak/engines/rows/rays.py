"""Directions in which a level falls for ever on the face of those before it.

Linear and convex quadratic functions that are bounded below on a polyhedron attain their minimum there (Frank and
Wolfe 1956). They are not bounded if and only if some direction d leads on for ever, changes nothing of their
second-order part, and falls: one linear programme over the directions of length 1, with the images of all levels before
held.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ...arrays import Vector
from ...numerics.deadline import OutOfTime, check, limited
from ...numerics.extended import Ext, dense, double, ext
from ...numerics.failures import LinearProgramError
from ...numerics.rank import EPS
from ...numerics.rows import Rows
from .face import Face, Record
from .held import FEW, LARGEST
from .level import Level
from .linear_level import SOUND, FaceProgram

FALLS = 1e-9
"""A direction falls, or rises, where its slope is more than this part of the terms that it, or a gradient, sums up."""

LEFT = 1e-9
"""Where less of a solver's direction is left once it changes no image, that is rounding, and no direction."""

SECONDS = 10.0
"""So long a ray is looked for: over badly conditioned rows HiGHS may go on for ever."""


def falling_ray(face: Face, level: Level) -> Vector | None:
    """A direction without end along which the level falls without end, in units of the face; None: none was found.

    All levels before are constant along it: those with multipliers that fixed nothing, being in doubt, have rows.
    """
    if face.cut is None or face.single or np.isfinite(level.lower_bound):
        return None
    slope = level.grad(face.x)
    before: list[Vector] = []
    while True:
        ray = _ray(face, level, slope, before)
        if ray is None:
            return None
        rising = [double(slope) for slope in map(steady, face.records) if share(slope, ray) > FALLS]
        rising = [grad for grad in rising if not any(grad is one or np.array_equal(grad, one) for one in before)]
        if not rising:
            return double(ray)
        before += rising


def steady(record: Record) -> Ext:
    """What a level before changes by along a ray that changes none of its images.

    Its gradient may vanish but for rounding, which points anywhere.
    """
    return record.level.q if record.level.quadratic and record.P is not None else record.grad


def _ray(face: Face, level: Level, slope: Ext, before: list[Vector]) -> Ext | None:
    rows = _directions(face, level, before)
    try:
        with limited(SECONDS):
            vertex = FaceProgram(rows, face.scale).minimise(slope)
            vertex = vertex._replace(x=_extreme(rows, face.scale, slope, vertex.x)) if vertex.x.any() else vertex
    except (LinearProgramError, OutOfTime):
        check()
        return None
    if vertex.outside > SOUND or not vertex.x.any():
        return None
    ray = _held_exactly(face, level, rows, vertex.x)
    length, was = (float((np.abs(double(d)) / face.scale).max()) for d in (ray, vertex.x))
    if not length > LEFT * was or _leaves(rows, double(ray), length * face.scale):
        return None
    falls = -float((slope * ray).sum()) > FALLS * length * level.grad_size(face.x, face.scale)
    return ray if falls and share(slope, ray) < -FALLS else None


def _leaves(rows: Rows, ray: Vector, sizes: Vector) -> bool:
    """Whether a direction whose entries have these sizes leaves the rows by more than rounding."""
    along, terms = rows.A @ ray, abs(rows.A) @ sizes
    return bool((np.maximum(rows.low - along, along - rows.high) > SOUND * terms).any())


def _extreme(rows: Rows, scale: Vector, slope: Ext, ray: Ext) -> Ext:
    """A ray that is no sum of others, among those with the signs of this one: it moves fewer variables.

    One more linear programme, over rays whose entries, in units of the sizes, add up to 1.
    """
    size = np.abs(double(ray)) / scale
    moving = np.flatnonzero(size > 1e-9 * size.max())
    signs = np.sign(double(ray))[moving]
    total = sp.csr_array((signs / scale[moving])[None])
    low, high = np.append(rows.low, -np.inf), np.append(rows.high, 1.0)
    lower, upper = np.minimum(signs, 0) * scale[moving], np.maximum(signs, 0) * scale[moving]
    A = sp.csr_array(sp.vstack([rows.A[:, moving], total]))
    try:
        vertex = FaceProgram(Rows(A, low, high, lower, upper), scale[moving]).minimise(slope[moving])
    except LinearProgramError:
        return ray
    if vertex.excess > SOUND or not float((slope[moving] * vertex.x).sum()) < 0:
        return ray
    found = ext(np.zeros(ray.size))
    found[moving] = vertex.x / (np.abs(vertex.x) / scale[moving]).max()
    return found


def _held_exactly(face: Face, level: Level, rows: Rows, ray: Ext) -> Ext:
    """The ray without what changes an image: singular values count by what the arithmetic resolves.

    A solver takes what is below its tolerance for zero: along such a direction a level rises slowly, and for certain.
    """
    movable = np.flatnonzero(rows.lower < rows.upper)
    images = [P.A for _, P in face.predictors] + ([] if level.linear else [level.rows])
    count = sum(image.shape[0] for image in images)
    if not count or movable.size > FEW or count * movable.size > LARGEST:
        return ray
    M = np.vstack([dense(image[:, movable]) for image in images]) * face.scale[movable]
    sizes = np.abs(M).max(axis=1)
    M = M[sizes > 0] / sizes[sizes > 0, None]
    d = double(ray)[movable] / face.scale[movable]
    for _ in range(3):
        d = d - np.linalg.lstsq(M, M @ d, rcond=4 * (10 + max(M.shape)) * EPS)[0]
    held = ext(np.zeros(ray.size))
    held[movable] = np.clip(d * face.scale[movable], rows.lower[movable], rows.upper[movable])
    return held


def _directions(face: Face, level: Level, before: list[Vector]) -> Rows:
    """The directions, up to the sizes of the variables, that lead on for ever and change nothing that is held."""
    given = face.given
    images = [sp.csr_array(P.A) for _, P in face.predictors]
    images += [] if level.linear else [sp.csr_array(level.rows)]
    blocks = [given.A, *images, *(sp.csr_array(grad[None]) for grad in before)]
    held = np.zeros(sum(image.shape[0] for image in images))
    free_rows, free_columns = face.row_side == 0, face.column_side == 0
    return Rows(
        sp.csr_array(sp.vstack(blocks)),
        np.concatenate([np.where(np.isinf(given.low) & free_rows, -np.inf, 0.0), held, np.full(len(before), -np.inf)]),
        np.concatenate([np.where(np.isinf(given.high) & free_rows, np.inf, 0.0), held, np.zeros(len(before))]),
        np.where(np.isinf(given.lower) & free_columns, -face.scale, 0.0),
        np.where(np.isinf(given.upper) & free_columns, face.scale, 0.0),
    )


def share(slope: Ext, ray: Ext) -> float:
    """<slope, ray>, relative to the terms it is a sum of."""
    terms = ext(slope) * ext(ray)
    size = float(np.abs(terms).sum())
    return float(terms.sum()) / size if size > 0 else 0.0
