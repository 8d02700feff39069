"""A level over a face: by the interior-point method, then Newton's method on complementarity, in extended precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...arrays import Matrix, Vector, length
from ...numerics.clarabel import solve_conic
from ...numerics.deadline import OutOfTime, check, remaining
from ...numerics.extended import Ext, double, ext
from ..cones.level import Level
from .face import Face

TOLERANCE = 1e-10
NOISE = 1e-14
"""Slopes and second derivatives along what is left that are below this, relative to all, are rounding."""

MOST_STEPS = 14
WORTH = 0.5
"""A step that leaves more than this of the residual is the last."""


class NoMinimum(Exception):
    """The level falls for ever along a direction."""

    def __init__(self, direction: Vector) -> None:
        super().__init__("the level falls for ever")
        self.direction = direction


@dataclass(frozen=True)
class Units:
    """Sizes of steps of x, of slacks, of slopes and of multipliers."""

    x: float
    s: float
    slope: float
    z: float

    @classmethod
    def of(cls, face: Face, level: Level, x: Ext, z: list[Ext]) -> Units:
        """Those at a point."""
        rows = face.rows
        s = length(double(rows.slacks(x)[0])) or 1.0
        slope = length(double(level.at(x).grad)) + level.steepness(double(x), 0.0) * length(double(x))
        pull = max((length(double(part)) for part in z), default=0.0)
        slope = max(slope, pull * rows.size, 1e-300)
        return cls(s / max(rows.size, 1e-300), s, slope, slope / max(rows.size, 1e-300))


@dataclass(frozen=True)
class Solved:
    """A point with multipliers of the blocks, and what the optimality conditions are missed by, relative to units."""

    x: Ext
    z: list[Ext]
    residual: float
    units: Units


def solve_level(face: Face, level: Level) -> Solved | None:
    """A minimiser of the level over the face; None where the interior-point method fails."""
    found = _interior(face, level)
    if found is None:
        return None
    x, z = found
    units = Units.of(face, level, x, z)
    best = Solved(x, z, _residual(face, level, x, z, units)[2], units)
    for _ in range(MOST_STEPS):
        check()
        step = _newton(face, level, best)
        if not np.isfinite(step.residual) or step.residual >= best.residual:
            break
        small = step.residual > WORTH * best.residual
        best = step
        if small:
            break
    return best


def _interior(face: Face, level: Level) -> tuple[Ext, list[Ext]] | None:
    """The point and multipliers of the interior-point method, in the directions that are left."""
    N, A = face.free, face.A
    if not N.shape[1]:
        return face.x, [np.zeros(block.cone.size, dtype=np.longdouble) for block in face.blocks]
    s = face.rows.slacks(face.x)[0]
    H, grad = level.hessian(double(face.x)), double(level.at(face.x).grad)
    noise = NOISE * (length(grad) + float(np.linalg.norm(H)) * length(double(face.x)))
    P, q = N.T @ H @ N, N.T @ grad
    q[np.abs(q) <= noise] = 0.0
    bent = float(np.abs(P).max()) > NOISE * float(np.abs(H).max())
    if not face.blocks or not (q.any() or bent):  # constant on what is left, or without limits
        y = -np.linalg.lstsq(P, q, rcond=1e-13)[0] if bent else 0 * q
        return face.back(face.x + ext(N @ y)), [np.zeros(one.cone.size, dtype=np.longdouble) for one in face.blocks]
    T = np.vstack([block.T for block in face.blocks])
    G, right = T @ A @ N, double(ext(T) @ s)
    told = _row_space(G, P, q)
    N, G, P, q = N @ told, G @ told, told.T @ P @ told, told.T @ q
    size = (length(right) or 1.0) / (float(np.linalg.norm(G)) or 1.0) * np.sqrt(N.shape[1])
    scale = max(float(np.abs(P).max()) * size**2, float(np.abs(q).max()) * size) or 1.0
    cones = [block.cone.named for block in face.blocks]
    found = solve_conic(
        sp.csc_array(P * (size**2 / scale)), q * (size / scale), sp.csc_array(G), right / size, cones,
        tolerance=TOLERANCE, seconds=remaining(), patient=True,
    )  # fmt: skip
    if found.word == "MaxTime":
        raise OutOfTime
    if found.word in ("DualInfeasible", "AlmostDualInfeasible"):
        raise NoMinimum(N @ found.x)
    if found.word not in ("Solved", "AlmostSolved", "InsufficientProgress") or not np.isfinite(found.x).all():
        return None
    z, start, parts = found.z * (scale / size), 0, []
    for block in face.blocks:
        parts.append(ext(z[start : start + block.cone.size]))
        start += block.cone.size
    return face.back(face.x + ext(N @ (size * found.x))), parts


def _row_space(G: Matrix, P: Matrix, q: Vector) -> Matrix:
    """A basis of the directions in which a slack or the level changes: along others nothing does."""
    parts = [part / size for part in (G, P, q[None, :]) if (size := float(np.abs(part).max(initial=0.0)))]
    if not parts:
        return np.eye(q.size)
    _, values, right = np.linalg.svd(np.vstack(parts), full_matrices=False)
    return right[values > 1e-12 * values[0]].T


def _residual(face: Face, level: Level, x: Ext, z: list[Ext], units: Units) -> tuple[Vector, Vector, float]:
    """What both conditions are missed by, in their units."""
    s = face.rows.slacks(x)[0]
    slope = level.at(x).grad
    for block, part in zip(face.blocks, z, strict=True):
        slope = slope + face.rows.wide.transpose_times(ext(block.T.T) @ part)
    along = double(ext(face.free.T) @ slope) / units.slope
    products = [block.cone.circ(ext(block.T) @ s, part) for block, part in zip(face.blocks, z, strict=True)]
    circ = double(np.concatenate([np.zeros(0, dtype=np.longdouble), *products])) / (units.s * units.z)
    return along, circ, float(np.hypot(length(along), length(circ)))


def _newton(face: Face, level: Level, here: Solved) -> Solved:
    """One step."""
    N, units = face.free, here.units
    along, circ, _ = _residual(face, level, here.x, here.z, units)
    J = _jacobian(face, level, here)
    step = -np.linalg.lstsq(J, np.concatenate([along, circ]), rcond=1e-14)[0]
    p = N.shape[1]
    x = face.back(here.x + ext(N @ (units.x * step[:p])))
    z, start = [], p
    for part in here.z:
        z.append(part + ext(units.z * step[start : start + part.size]))
        start += part.size
    return Solved(x, z, _residual(face, level, x, z, units)[2], units)


def _jacobian(face: Face, level: Level, here: Solved) -> Matrix:
    N, A, units = face.free, face.A, here.units
    H = N.T @ level.hessian(double(here.x)) @ N
    top, left, right = [H * (units.x / units.slope)], [], []
    s = double(face.rows.slacks(here.x)[0])
    for block, part in zip(face.blocks, here.z, strict=True):
        G = block.T @ A @ N
        top.append(G.T * (units.z / units.slope))
        left.append(-block.cone.arrow_dual(double(part)) @ G * (units.x / (units.s * units.z)))
        right.append(block.cone.arrow(block.T @ s) / units.s)
    corner = sp.block_diag(right).toarray() if right else np.zeros((0, 0))
    return np.vstack([np.hstack(top), np.hstack([np.vstack([np.zeros((0, N.shape[1])), *left]), corner])])
