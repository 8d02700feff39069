"""Minimisers up to the tolerance of an interior-point method: where charts begin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...arrays import Matrix, Vector
from ...numerics.clarabel import solve_conic
from ...numerics.deadline import check, remaining
from ...numerics.extended import double, ext
from ...sets.round.description import Conic, Round
from .level import Level

TOLERANCE = 1e-10
MOST_MODELS = 40
"""Quadratic models at most, for a level that is none itself."""


class Held(NamedTuple):
    """Rows E with E x = t."""

    E: Matrix
    t: Vector


class Approximate(NamedTuple):
    """A point, and the prices of the rows that are held."""

    x: Vector
    w: Vector


def approximate(level: Level, shape: Round, conic: Conic, held: Held | None = None,
                start: Vector | None = None) -> Approximate | None:  # fmt: skip
    """A minimiser of the level over the set, with the rows held; None where the solver fails."""
    x = shape.middle if start is None else start
    if level.quadratic:
        zero = np.zeros(level.dim)
        return _model(level.hessian(zero), double(level.at(ext(zero)).grad), shape, conic, held)
    found = None
    value = float(level.at(ext(x)).value)
    for _ in range(MOST_MODELS):
        check()
        grad, H = double(level.at(ext(x)).grad), level.hessian(x)
        found = _model(H, grad - H @ x, shape, conic, held)
        if found is None:
            return None
        step, share = found.x - x, 1.0
        slope = float(grad @ step)
        while share > 1e-6:
            reached = float(level.at(ext(x + share * step)).value)
            if reached <= value + 0.1 * share * slope + 1e-13 * (1 + abs(value)):
                break
            share /= 2
        x, value = x + share * step, reached
        if abs(slope) <= 1e-12 * (1 + abs(value)) or share <= 1e-6:
            break
    return None if found is None else Approximate(x, found.w)


def _model(H: Matrix, q: Vector, shape: Round, conic: Conic, held: Held | None) -> Approximate | None:
    """The minimiser of 1/2 x'Hx + <q, x>, in units in which set and level are of size one."""
    M, size = conic.M, shape.size
    shifted = q + H @ conic.origin
    P, c = size**2 * (M.T @ (M.T @ H).T), size * (M.T @ shifted)
    scale = max(float(np.abs(P).max(initial=0.0)), float(np.abs(c).max(initial=0.0))) or 1.0
    A, b, cones = conic.A, conic.b / size, list(conic.cones)
    rows = 0
    if held is not None:
        rows = held.t.size
        A = sp.vstack([sp.csc_array(M.T @ held.E.T).T, A], format="csc")
        b = np.concatenate([(held.t - held.E @ conic.origin) / size, b])
        cones = [("zero", rows), *cones]
    found = solve_conic(P / scale, c / scale, A, b, cones, tolerance=TOLERANCE, seconds=remaining(), patient=True)
    x = conic.origin + size * (M @ found.x)
    if not np.isfinite(x).all() or found.word not in ("Solved", "AlmostSolved", "InsufficientProgress"):
        return None
    return Approximate(x, found.z[:rows] * (scale / size))
