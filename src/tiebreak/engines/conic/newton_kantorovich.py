"""Existence, uniqueness and distance of the solution of a level over cones, by a fixed point of Newton's method.

The conditions F(x, z) = (f'(x) + A'z, b - A x in the rows of equalities, s o z) are quadratic. With R near the inverse
of J = F' at a point, the map h -> h - R F(point + h) takes a ball of radius r into itself if
Y + Z1 r + Z2 r^2 <= r, with Y = |R F|, Z1 = |1 - R J|, Z2 = |R| times half of what the quadratic part can be; it
contracts if Z1 + 2 Z2 r < 1. Then there is one zero in the ball. If s + z is inside the cones there, by a margin, s and
z are the positive and negative parts of s - z (as s o z = 0): the zero is optimal. It is the only solution, as another
one would make a segment of zeros.
"""

from __future__ import annotations

import numpy as np

from ...arrays import UNIT_ROUNDOFF, Matrix, Vector, length
from ...numerics.conic_rows import ConicRows
from ...numerics.deadline import afford
from ...numerics.exact import Exact, joined
from ...numerics.extended import dense
from .level import ExactLevel
from .polish import Units

MOST_SIZE = 1000
"""Unknowns at most: the proof inverts a dense matrix of this order."""

TOO_LARGE = 1e100
"""Entries of an inverse beyond this are those of no matrix that a proof could use."""


def distance(rows: ConicRows, level: ExactLevel, x: Exact, z: Exact, units: Units) -> float | None:
    """How far from x the only minimiser of a quadratic level over the set can be; None where nothing is shown.

    ``z`` are multipliers of all rows.
    """
    n, m = rows.A.shape[1], rows.b.size
    if n + m > MOST_SIZE:
        return None
    afford(6.0 * (n + m) ** 3)
    J = _jacobian(rows, level, x, z, units)
    try:
        R = np.linalg.inv(J)
    except np.linalg.LinAlgError:
        return None
    if not float(np.abs(R).max()) < TOO_LARGE:
        return None
    size = float(np.linalg.norm(R)) * (1 + 1e-9)
    count = n + m
    here = length(J.ravel())
    # the entries of J are off by rounding: of the sums that make second derivatives, and of products of units
    sums = max([n, *(term.data.shape[0] for term in level.form.losses if term.data is not None)])
    doubt = (sums + 16) * UNIT_ROUNDOFF * (here + level.steepness(x.double(), 0.0) * units.x / units.slope)
    Z1 = float(np.linalg.norm(np.eye(count) - R @ J)) + size * (doubt + (count + 4) * UNIT_ROUNDOFF * here)
    if not Z1 < 0.5:
        return None
    F = _conditions(rows, level, x, z, units)
    error = 4 * UNIT_ROUNDOFF * length(F)
    Y = float(np.linalg.norm(R @ F)) * (1 + 1e-9) + size * (error + (count + 4) * UNIT_ROUNDOFF * length(F))
    bend = max((cone.bend for cone, _ in rows.blocks), default=0.0)
    Z2 = size * bend * (units.x / units.s) * rows.size / 2
    root = (1 - Z1) ** 2 - 4 * Z2 * Y
    if not root > 0:
        return None
    r = 2 * Y / (1 - Z1 + np.sqrt(root)) * (1 + 1e-6)
    if not Z1 + 2 * Z2 * r < 1:
        return None
    s = rows.exact_slacks(x)
    moved = (units.x * rows.size / units.s + 1) * r + 1e-12
    for cone, place in rows.blocks:
        if not cone.sum_margin(s[place] * (1 / units.s), z[place] * (1 / units.z)) > cone.thick * moved:
            return None
    return float(units.x * r * (1 + 1e-9))


def _conditions(rows: ConicRows, level: ExactLevel, x: Exact, z: Exact, units: Units) -> Vector:
    """F in its units: exact, then rounded."""
    s = rows.exact_slacks(x)
    slope = level.exactly(x)[1] + rows.exact[0].T @ z
    products = joined([cone.circ(s[place], z[place]) for cone, place in rows.blocks])
    parts = slope.double() / units.slope, s[rows.zero].double() / units.s, products.double() / (units.s * units.z)
    return np.concatenate(parts)


def _jacobian(rows: ConicRows, level: ExactLevel, x: Exact, z: Exact, units: Units) -> Matrix:
    n, m = rows.A.shape[1], rows.b.size
    A = dense(rows.A)
    J = np.zeros((n + m, n + m))
    J[:n, :n] = level.hessian(x.double()) * (units.x / units.slope)
    J[:n, n:] = A.T * (units.z / units.slope)
    at = n + rows.zero.size
    J[n:at, :n] = -A[rows.zero] * (units.x / units.s)
    s, wide = rows.exact_slacks(x).double(), z.double()
    for cone, place in rows.blocks:
        here = slice(at, at + cone.size)
        J[here, :n] = -cone.arrow_dual(wide[place]) @ A[place] * (units.x / (units.s * units.z))
        J[here, n + place.start : n + place.stop] = cone.arrow(s[place]) / units.s
        at += cone.size
    return J
