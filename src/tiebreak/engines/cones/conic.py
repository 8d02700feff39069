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
    """Rows E with E x = t, and rows with G x <= h."""

    E: Matrix
    t: Vector
    G: Matrix
    h: Vector


class Approximate(NamedTuple):
    """A point, and multipliers: of the rows that are held, of those with an end, and of the functions of kinks."""

    x: Vector
    w: Vector
    y: Vector
    lam: Vector


def approximate(level: Level, shape: Round, conic: Conic, held: Held | None = None,
                start: Vector | None = None) -> Approximate | None:  # fmt: skip
    """A minimiser of the level over the set, with the rows held; None where the solver fails."""
    x = shape.middle if start is None else start
    model = _Model(level, shape, conic, held)
    if level.quadratic:
        zero = np.zeros(level.dim)
        return model.minimiser(level.hessian(zero), double(level.smooth.at(ext(zero)).grad))
    found = None
    value = float(level.at(ext(x)).value)
    for _ in range(MOST_MODELS):
        check()
        grad, H = double(level.smooth.at(ext(x)).grad), level.hessian(x)
        found = model.minimiser(H, grad - H @ x)
        if found is None:
            return None
        step, share = found.x - x, 1.0
        slope = float(grad @ step)
        if level.kinks is not None:
            slope += float(level.kinks.value(ext(found.x))[0] - level.kinks.value(ext(x))[0])
        while share > 1e-6:
            reached = float(level.at(ext(x + share * step)).value)
            if reached <= value + 0.1 * share * slope + 1e-13 * (1 + abs(value)):
                break
            share /= 2
        x, value = x + share * step, reached
        if abs(slope) <= 1e-12 * (1 + abs(value)) or share <= 1e-6:
            break
    return None if found is None else found._replace(x=x)


class _Model:
    """Quadratic models with the kinks of a level, over the set and rows, in units in which all are of size one."""

    def __init__(self, level: Level, shape: Round, conic: Conic, held: Held | None) -> None:
        self.M, self.size, self.origin = conic.M, shape.size, conic.origin
        self.kinks, self.count = level.kinks, conic.M.shape[1]
        blocks, ends, self.cones = [conic.A], [conic.b / self.size], list(conic.cones)
        self.rows = self.ends = 0
        if held is not None:
            self.rows, self.ends = held.t.size, held.h.size
            for R, end, kind in ((held.G, held.h, "nonnegative"), (held.E, held.t, "zero")):
                blocks.insert(0, sp.csc_array(conic.M.T @ R.T).T)
                ends.insert(0, (end - R @ self.origin) / self.size)
                self.cones.insert(0, (kind, end.size))
        if self.kinks is not None:  # variables above the functions of each group
            A, more = self.kinks.A.A, self.kinks.weights.size
            ends.append((self.kinks.b - A @ self.origin) / self.size)
            own = sp.csc_array((-np.ones(ends[-1].size), (np.arange(ends[-1].size), self.kinks.owner)))
            images = sp.csc_array(conic.M.T @ A.T).T
            blocks = [sp.hstack([block, sp.csc_array((block.shape[0], more))]) for block in blocks]
            blocks.append(sp.hstack([images, own]))
            self.cones.append(("nonnegative", ends[-1].size))
        self.A, self.b = sp.csc_array(sp.vstack(blocks)), np.concatenate(ends)

    def minimiser(self, H: Matrix, q: Vector) -> Approximate | None:
        """The minimiser of 1/2 x'Hx + <q, x> + kinks."""
        M, size, n = self.M, self.size, self.count
        shifted = q + H @ self.origin
        P, c = size**2 * (M.T @ (M.T @ H).T), size * (M.T @ shifted)
        if self.kinks is not None:
            weights = double(self.kinks.weights)
            P = sp.block_diag([P, sp.csc_array((weights.size, weights.size))], format="csc")
            c = np.append(c, size * weights)
        scale = max(float(np.abs(P).max()) if P.shape[0] else 0.0, float(np.abs(c).max(initial=0.0))) or 1.0
        data = P / scale, c / scale, self.A, self.b, self.cones
        found = solve_conic(*data, tolerance=TOLERANCE, seconds=remaining(), patient=True)
        x = self.origin + size * (M @ found.x[:n])
        if not np.isfinite(x).all() or found.word not in ("Solved", "AlmostSolved", "InsufficientProgress"):
            return None
        price = scale / size
        lam = found.z[-self.kinks.owner.size :] * price if self.kinks is not None else np.zeros(0)
        y = found.z[self.rows : self.rows + self.ends] * price
        return Approximate(x, found.z[: self.rows] * price, np.maximum(y, 0.0), lam)
