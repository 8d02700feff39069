"""What multipliers leave of a gradient, once more, to twice the precision of a double.

The bound of ``row_bracket`` loses |r_j| times the width of the box for each variable that is away from its bounds. In
exact arithmetic r_j would be zero; rounding of the gradient and of the multipliers leaves 1e-19, which a box of 1e12
makes 1e-7. But the bound holds for any multipliers, and in place of the gradient it takes any slope of a minorant:

    s/2 |Fx - b|^2 >= s/2 |rho|^2 + s <u, F(x - xh)> - s/2 |u - rho|^2,    rho = F xh - b, any u,
    1/2 x'Qx       >= 1/2 xh'Q xh + <Qv, x - xh> - 1/2 (v - xh)'Q(v - xh),  any v.

So u, v and the multipliers y of rows and w of images are corrected by as little as it takes to make r_j vanish, and
kept as sums of doubles, so that their products with the matrices cancel exactly, not to rounding. What the corrections
cost is their square, or their product with what is missed by rounding: next to nothing, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.extended import UNIT, Ext, dense, double, double_double_product, ext
from .face import Face, Record
from .level import Level

MOST_ENTRIES = 200_000
"""Up to this many entries of all matrices it is worth its time."""
ZERO = 1e-9
"""What is left counts as meant to be zero below this, relative to the terms it is a sum of."""
NOISE = 2.0**20
"""So many times the error of what is left is that of a point and multipliers solved for in extended precision."""
CORRECTIONS = 3
TRIES = 3
"""So often multipliers of rows that may not be corrected, being too small for that, are found out."""


class Sharp(NamedTuple):
    """r, a bound on its error, and what the corrections cost."""

    left: Vector
    error: Vector
    cost: float


@dataclass
class _Sum:
    """M' t for rows M and factors t, each factor a sum of doubles; some of the factors may be corrected."""

    rows: list[Matrix] = field(default_factory=list)
    factors: list[list[Vector]] = field(default_factory=list)
    movable: list[NDArray[np.bool_]] = field(default_factory=list)

    def add(self, rows: Matrix, factors: Ext, movable: NDArray[np.bool_] | bool = True) -> None:
        high = double(factors)
        self.rows.append(rows)
        self.factors.append([high, double(factors - high)])
        self.movable.append(np.broadcast_to(movable, high.shape))

    def solve(
        self, noise: Vector, may_rise: NDArray[np.bool_], may_fall: NDArray[np.bool_]
    ) -> tuple[Vector, Vector, Vector]:
        """What is left after the corrections, a bound on its error, and the corrections (zero where not movable)."""
        M, may = np.vstack(self.rows), np.concatenate(self.movable)
        parts = [np.concatenate([factor[k] for factor in self.factors]) for k in (0, 1)]
        size = np.abs(M).T @ np.abs(parts[0])
        moved = np.zeros(may.size)
        left = _product(M, parts)
        zero = (np.abs(left) <= ZERO * size + noise) & ~(may_rise & (left > 0)) & ~(may_fall & (left < 0))
        inverse = np.linalg.pinv(M[np.ix_(may, zero)].T, rcond=1e-14) if may.any() and zero.any() else None
        for _ in range(CORRECTIONS if inverse is not None else 0):
            assert inverse is not None
            step = np.zeros(may.size)
            step[may] = -inverse @ left[zero]
            trial = _product(M, [*parts, step])
            if np.abs(trial[zero]).max() >= np.abs(left[zero]).max():
                break
            parts, left, moved = [*parts, step], trial, moved + np.abs(step)
        error = 2.0**-51 * np.abs(left) + (M.shape[0] * len(parts) + 16) * 2.0**-104 * size
        return left, error, moved * (1 + 1e-12)


def sharpened(face: Face, level: Level, x: Ext, y: Ext, w: list[Ext], prices: Vector, off: Vector) -> Sharp | None:
    """r at the point x with these multipliers, known up to ``off``, corrected; None where that takes too long.

    Of quadratic and linear levels only: the slopes of other losses are no sums of stored numbers.
    """
    active = np.flatnonzero((y != 0) | (face.given.low == face.given.high))
    levels = [(level, x, 1.0), *((record.level, record.x, lam) for record, lam in _priced(face, prices))]
    if not all(one.quadratic or one.linear for one, _, _ in levels):
        return None
    held = [(record, part) for record, part in zip(face.records, w, strict=True) if part.any()]
    count = active.size + sum(one.height + 2 for one, _, _ in levels) + sum(part.size for _, part in held)
    if count * x.size > MOST_ENTRIES:
        return None
    terms = _Sum()
    error = np.zeros(x.size)
    for one, at, factor in levels:
        _add_slope(terms, one, at, factor)
        error += 4 * UNIT * factor * np.abs(double(one.q)) if one.rounded else 0.0
    own_rows = len(terms.rows)
    terms.add(dense(face.A.A[active]), -y[active])
    for record, part in held:
        assert record.P is not None
        terms.add(dense(record.P.A), -part)
    # At a bound a sign is as good as zero.
    may_rise, may_fall = double(x) <= face.box.lower, double(x) >= face.box.upper
    first = sum(one.height + 2 for one, _, _ in levels)
    for _ in range(TRIES):
        left, own_error, moved = terms.solve(NOISE * off, may_rise, may_fall)
        turned = _may_turn(face, y, active, moved[first : first + active.size])
        if not turned.any():
            break
        terms.movable[own_rows] = terms.movable[own_rows] & ~turned
    else:
        return None
    start, cost = 0, 0.0
    for one, at, factor in levels:
        size = one.height + 2
        cost += _slope_cost(one, at, factor, moved[start + 2 : start + size])
        start += size
    for record, lam in _priced(face, prices):  # the bracket has its gradient, not the slope, at the point itself
        off = record.grad_error + 8 * UNIT * np.abs(double(record.grad))
        cost += lam * float(off @ np.abs(double(record.x - x)))
    cost += _row_cost(face, x, y, active, moved[start : start + active.size])
    start += active.size
    for record, part in held:
        step = moved[start : start + part.size]
        start += part.size
        assert record.P is not None
        image = np.abs(double(record.P.times(record.x - x))) + record.P.times_error(record.x - x)
        cost += record.dual_size(ext(step)) * record.reach + float(step @ image)
    return Sharp(left, own_error + error, cost) if np.isfinite(cost) else None


def _priced(face: Face, prices: Vector) -> list[tuple[Record, float]]:
    return [(record, float(lam)) for record, lam in zip(face.records, prices, strict=True) if lam > 0]


def _add_slope(terms: _Sum, level: Level, x: Ext, factor: float) -> None:
    """The slope of a minorant of factor times the level at x."""
    high = double(level.q)
    terms.add(np.vstack([high, double(level.q - high)]), ext(np.full(2, factor)), False)
    for F, b, scale, _ in level.squares:
        residual = (x if F is None else F.times(x)) - (0 if b is None else b)
        terms.add(np.eye(level.dim) if F is None else dense(F.A), factor * scale * residual)
    for Q, scale in level.bends:
        terms.add(dense(Q.A), factor * scale * x)


def _slope_cost(level: Level, x: Ext, factor: float, moved: Vector) -> float:
    """What it costs that u and v are not Fx - b and x, by rounding and by their corrections."""
    cost, start = 0.0, 0
    for F, b, scale, doubt in level.squares:
        image = x if F is None else F.times(x)
        residual = np.abs(double(image - (0 if b is None else b)))
        off = 4 * UNIT * residual + (0.0 if F is None else F.times_error(x))
        weight = factor * np.asarray(scale, dtype=np.float64)
        off = off + moved[start : start + residual.size] / weight
        cost += float((weight * off) @ off)
        if doubt is not None:  # the true F x - b is as much farther from u
            away = doubt.at(image)[0]
            cost += float(weight) * away * (2 * float(np.linalg.norm(off)) + away) * (1 + 1e-12)
        start += residual.size
    for Q, scale in level.bends:
        off = 4 * UNIT * np.abs(double(x)) + moved[start : start + x.size] / (factor * float(scale))
        cost += factor * float(scale) * float(off @ (Q.size @ off))
        start += x.size
    return cost


def _may_turn(face: Face, y: Ext, active: NDArray[np.intp], moved: Vector) -> NDArray[np.bool_]:
    """Which multipliers, being next to nothing, a correction may have given another sign."""
    return np.asarray((moved > np.abs(double(y[active])) / 2) & (face.given.low < face.given.high)[active])


def _row_cost(face: Face, x: Ext, y: Ext, active: NDArray[np.intp], moved: Vector) -> float:
    """The corrections times what is missed of the ends."""
    given = face.given
    activity = face.A.times(x)[active]
    ends = np.where(y[active] > 0, given.low[active], given.high[active])
    off = np.abs(double(ends - activity)) + face.A.times_error(x)[active] + UNIT * np.abs(double(activity))
    return float(moved @ off)


def _product(M: Matrix, parts: list[Vector]) -> Vector:
    columns = np.ascontiguousarray(M.T)
    return double_double_product(np.hstack([columns] * len(parts)), np.concatenate(parts))
