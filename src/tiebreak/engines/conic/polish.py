"""A level over a face: by the interior-point method, then Newton's method on complementarity, with exact residuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ...arrays import Matrix, Vector, length
from ...numerics.clarabel import solve_conic
from ...numerics.deadline import OutOfTime, check, remaining
from ...numerics.exact import Exact, joined
from .face import Face
from .level import ExactLevel

TOLERANCE = 1e-10
NOISE = 1e-14
"""Slopes and second derivatives along what is left that are below this, relative to all, are rounding."""

FALLING = 1e-6
"""Without cones, a level falls along what second derivatives leave of a slope, if that is more than this part of it."""

MOST_STEPS = 16
KEPT = 220
"""Binary digits of what is computed, beside its size."""

ENOUGH = 1e-50
"""A residual below this, relative to its terms, is not made smaller."""

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
    def of(cls, face: Face, level: ExactLevel, x: Exact, z: list[Exact]) -> Units:
        """Those at a point."""
        rows = face.rows
        s, wide = length(rows.exact_slacks(x).double()) or 1.0, x.double()
        slope = length(level.exactly(x)[1].double()) + level.steepness(wide, 0.0) * length(wide)
        pull = max((length(part.double()) for part in z), default=0.0)
        slope = max(slope, pull * rows.size, 1e-300)
        return cls(s / max(rows.size, 1e-300), s, slope, slope / max(rows.size, 1e-300))


@dataclass(frozen=True)
class Solved:
    """A point with multipliers of the blocks, and what the optimality conditions are missed by, relative to units."""

    x: Exact
    z: list[Exact]
    residual: float
    units: Units


def solve_level(face: Face, level: ExactLevel) -> Solved | None:
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
        last = step.residual > WORTH * best.residual or step.residual <= ENOUGH
        best = step
        if last:
            break
    return best


def _interior(face: Face, level: ExactLevel) -> tuple[Exact, list[Exact]] | None:
    """The point and multipliers of the interior-point method, in the directions that are left."""
    N, A = face.free, face.A
    if not N.shape[1]:
        return face.x, [Exact.of(np.zeros(block.cone.size)) for block in face.blocks]
    s = face.rows.exact_slacks(face.x).double()
    H, grad = level.hessian(face.x.double()), level.exactly(face.x)[1].double()
    noise = NOISE * (length(grad) + float(np.linalg.norm(H)) * length(face.x.double()))
    P, q = N.T @ H @ N, N.T @ grad
    q[np.abs(q) <= noise] = 0.0
    bent = float(np.abs(P).max()) > NOISE * float(np.abs(H).max())
    if not face.blocks or not (q.any() or bent):  # constant on what is left, or without limits
        y = -np.linalg.lstsq(P, q, rcond=1e-13)[0] if bent else 0 * q
        left = q + P @ y
        if not face.blocks and length(left) > FALLING * length(q):
            raise NoMinimum(-(N @ left))
        return face.back(face.x + N @ y), [Exact.of(np.zeros(one.cone.size)) for one in face.blocks]
    T = np.vstack([block.T for block in face.blocks])
    G, right = T @ A @ N, T @ s
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
        parts.append(Exact.of(z[start : start + block.cone.size]))
        start += block.cone.size
    return face.back(face.x + N @ (size * found.x)), parts


def _row_space(G: Matrix, P: Matrix, q: Vector) -> Matrix:
    """A basis of the directions in which a slack or the level changes: along others nothing does."""
    parts = [part / size for part in (G, P, q[None, :]) if (size := float(np.abs(part).max(initial=0.0)))]
    if not parts:
        return np.eye(q.size)
    _, values, right = np.linalg.svd(np.vstack(parts), full_matrices=False)
    return right[values > 1e-12 * values[0]].T


def _residual(face: Face, level: ExactLevel, x: Exact, z: list[Exact], units: Units) -> tuple[Vector, Vector, float]:
    """What both conditions are missed by, in their units."""
    s, slope = face.rows.exact_slacks(x), level.exactly(x)[1]
    if face.blocks:
        slope = slope + face.rows.exact[0].T @ lifted(face, z)
    # along the null space but for its rounding: what is left of the slope there belongs to the held rows
    along = face.free.T @ (slope + face.pulled(face.prices(slope))[2]).double() / units.slope
    products = [block.cone.circ(T @ s, part) for block, T, part in zip(face.blocks, face.maps, z, strict=True)]
    circ = joined(products).double() / (units.s * units.z)
    return along, circ, float(np.hypot(length(along), length(circ)))


def _newton(face: Face, level: ExactLevel, here: Solved) -> Solved:
    """One step."""
    N, units = face.free, here.units
    along, circ, _ = _residual(face, level, here.x, here.z, units)
    J = _jacobian(face, level, here)
    step = -np.linalg.lstsq(J, np.concatenate([along, circ]), rcond=1e-14)[0]
    p = N.shape[1]
    x = face.back(here.x + N @ (units.x * step[:p])).trimmed(_digits(units.x))
    z, start = [], p
    for part in here.z:
        z.append((part + units.z * step[start : start + part.size]).trimmed(_digits(units.z)))
        start += part.size
    return Solved(x, z, _residual(face, level, x, z, units)[2], units)


def lifted(face: Face, z: list[Exact]) -> Exact:
    """Multipliers of the blocks as those of all slacks."""
    found = Exact.of(np.zeros(face.rows.b.size))
    for T, part in zip(face.maps, z, strict=True):
        found = found + T.T @ part
    return found


def _digits(unit: float) -> int:
    """Binary digits after the point that are kept of numbers of this size."""
    return int(KEPT - np.floor(np.log2(unit)))


def _jacobian(face: Face, level: ExactLevel, here: Solved) -> Matrix:
    N, A, units = face.free, face.A, here.units
    H = N.T @ level.hessian(here.x.double()) @ N
    top, left, right = [H * (units.x / units.slope)], [], []
    s = face.rows.exact_slacks(here.x).double()
    for block, part in zip(face.blocks, here.z, strict=True):
        G = block.T @ A @ N
        top.append(G.T * (units.z / units.slope))
        in_s, in_z = block.cone.slopes(block.T @ s, part.double())
        left.append(-in_s @ G * (units.x / (units.s * units.z)))
        right.append(in_z / units.s)
    corner = sp.block_diag(right).toarray() if right else np.zeros((0, 0))
    return np.vstack([np.hstack(top), np.hstack([np.vstack([np.zeros((0, N.shape[1])), *left]), corner])])
