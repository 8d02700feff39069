"""Points away from the kinks of flat losses, where minimisers leave room for that.

Newton's method comes to the minimisers of a squared hinge from outside, and ends where losses are just about flat: on
their kinks, whose sides rounding decides. Where all of these can be flat at once, a point well inside shows it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.extended import Ext, dense, double
from ..interrupt import remaining
from ..rows.reduce import Reduced
from .curves import Curve
from .level import SmoothLevel

NEAR = 1e-6
"""Predictions closer to a kink than this, relative to their typical size, are at it."""
FIXED = 1e-9
"""Columns and rows with larger multipliers than this, relative to the largest slope that losses can add up to near
their kinks, stay where they are: beside each other multipliers would all count where all of them are rounding."""
WORTH = 1e-5
"""A move that leads as far beyond all kinks, relative to typical predictions, is worth it."""


def away_from_kinks(level: SmoothLevel, origin: Ext, face: Reduced, d: Vector, y: Vector, sizes: Vector) -> Vector:
    """The step d, or one to another minimiser (as far as doubles tell) at which losses near kinks are flat."""
    if all(np.isinf(curve.loss.room(np.zeros(curve.F.shape[0]))).all() for curve in level.curves):
        return d
    whole = double(origin).copy()
    whole[face.columns] += d
    held, ways, room, at = [], [], [], False
    for F, loss, _ in level.curves:
        t, rows = np.asarray(F.A @ whole), dense(F.A[:, face.columns])
        apart, far = loss.room(t), np.isinf(loss.room(t))
        near = (apart <= NEAR * loss.typical) & ~far
        at |= bool(near.any())
        # towards the flat side of a kink: there the second derivative is the smaller one
        nudge = 2 * NEAR * loss.typical
        rising = loss.curvature(t + nudge) < loss.curvature(t - nudge)
        flat = (loss.curvature(t) == 0) & ~near & ~far
        low, _ = loss.flat_ends(t)
        sign = np.where(near, np.where(rising, 1.0, -1.0), np.where(np.isfinite(low), 1.0, -1.0))
        used = near | flat
        held.append(rows[~used])
        ways.append(sign[used, None] * rows[used] / loss.typical)
        room.append(np.where(near, 0.0, apart)[used] / loss.typical)
    if not at:
        return d
    held += [dense(square.F.A[:, face.columns]) for square in level.squares if square.F is not None]
    slope = double(level.grad(origin + face.expand(d.astype(np.longdouble))))[face.columns] - dense(face.G.A).T @ y
    counted = FIXED * max(float((_steepest(curve, face) * sizes).max(initial=0.0)) for curve in level.curves)
    fixed = np.abs(slope) * sizes > counted
    fixed &= np.minimum(d - double(face.lower), double(face.upper) - d) <= 1e-9 * sizes
    tied = np.abs(y) * (np.abs(dense(face.G.A)) * sizes).max(axis=1, initial=0.0) > counted
    return d + _moved(face, d, np.vstack(held), np.vstack(ways), np.concatenate(room), fixed, tied)


def _steepest(curve: Curve, face: Reduced) -> Vector:
    """The sizes of what the slopes of a loss add up to, by columns, at a typical distance from all of its kinks."""
    F, loss, scale = curve
    steep = float(scale) * np.broadcast_to(np.asarray(loss.most, dtype=np.float64), (F.shape[0],)) * loss.typical
    return np.asarray(np.where(np.isfinite(steep), steep, 0.0) @ np.abs(dense(F.A[:, face.columns])))


def _moved(
    face: Reduced,
    d: Vector,
    held: Matrix,
    ways: Matrix,
    room: Vector,
    fixed: NDArray[np.bool_],
    tied: NDArray[np.bool_],
) -> Vector:
    """The step that goes farthest along all ways at once, moving nothing held; none where that is not far."""
    from scipy.optimize import linprog

    n, G = d.size, dense(face.G.A)
    activity = G @ d
    high, low = double(face.high) - activity, double(face.low) - activity
    ups, downs = np.isfinite(high) & ~tied, np.isfinite(low) & ~tied
    bounds = [
        (0.0, 0.0) if stays else (min(float(below), 0.0), max(float(above), 0.0))
        for stays, below, above in zip(fixed, double(face.lower) - d, double(face.upper) - d, strict=True)
    ]
    equal = _with_column(np.vstack([held, G[tied]]), 0.0)
    below = [_with_column(-ways, 1.0), _with_column(G[ups], 0.0), _with_column(-G[downs], 0.0)]
    found = linprog(  # type: ignore[call-overload]
        np.append(np.zeros(n), -1.0),
        A_ub=np.vstack(below),
        b_ub=np.concatenate([room, np.maximum(high[ups], 0.0), np.maximum(-low[downs], 0.0)]),
        A_eq=equal if equal.shape[0] else None,
        b_eq=np.zeros(equal.shape[0]) if equal.shape[0] else None,
        bounds=np.array([*bounds, (0.0, 1.0)]),
        options={"time_limit": min(10.0, remaining())},
    )
    if found.x is None or found.x[-1] < WORTH:
        return np.zeros(n)
    return 0.5 * np.asarray(found.x[:-1])  # half of the way: ends of the set that it leads to are not touched


def _with_column(rows: Matrix, entry: float) -> Matrix:
    return np.hstack([rows, np.full((rows.shape[0], 1), entry)])
