"""What multipliers prove about all levels of a chain over cones, whatever the faces were taken to be.

Let x' be a solution of the levels before, and z, w any multipliers of a level f at x: with r = grad f(x) + A'z + B'w,
    f(x') >= f(x) + <r, x' - x> - <w, B (x' - x)> - <z, s> + <z, s'>,
by convexity. For the first level <z, s'> >= 0 as z is in the dual cones. So a solution of the first level, whose value
is known from above, has a small <z1, s'> and small differences of the images B x': for a later level a multiple of z1
can be added to z until it is in the dual cones, or hardly outside of them, and that costs little (nothing but rounding
where z1 and z are strictly complementary and the cone is a polyhedron; a square root of it in general).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Vector, length
from ...numerics.conic_rows import ConicRows
from ...numerics.extended import UNIT, Ext, double, ext, sum_units, total
from ..cones.level import Level, Local
from .face import Face
from .polish import Solved

GRID = 10.0 ** np.arange(-2, 15)
"""Multiples of the multipliers of earlier levels that are tried, beside the ratio of their sizes."""

MOST_ROUNDS = 2


@dataclass(frozen=True)
class Reach:
    """No solution is farther than ``far`` from the points looked at, and <e, s> is at most ``most``."""

    far: float
    most: float


@dataclass
class Record:
    """A level at its point: multipliers of all slacks and of held images, with what is known of all solutions.

    ``touch`` is at least <z, s'> + 1/2 |x' - x|^2 in the norm of the level, for all solutions x' of the level, and
    ``bend`` at least the second part alone; inf until there is a bound on the optimal value from above.
    """

    level: Level
    x: Ext
    here: Local
    z: Ext
    w: list[Ext]
    base: np.longdouble
    """A number that f(x') - <z, s'> is at least, but for what images may differ by."""
    touch: float = np.inf
    bend: float = np.inf


def record(face: Face, level: Level, solved: Solved, reach: Reach) -> Record:
    """The level at its point; without earlier levels ``base`` is all there is to say."""
    rows, x = face.rows, solved.x
    here = level.at(x)
    z = np.zeros(rows.b.size, dtype=np.longdouble)
    for block, part in zip(face.blocks, solved.z, strict=True):
        z = z + ext(block.T.T) @ part
    mu = face.prices(here.grad + rows.wide.transpose_times(z))
    count = face.E.shape[0]
    z = z + ext(face.E.T) @ mu[:count]
    w, start = [], count
    for B in face.images:
        w.append(mu[start : start + B.shape[0]])
        start += B.shape[0]
    s, off = rows.slacks(x)
    r = here.grad + rows.wide.transpose_times(z)
    error = here.grad_error + length(rows.wide.transpose_times_error(z)) + 2 * UNIT * length(double(r))
    for B, part in zip(face.images, w, strict=True):
        r = r + ext(B.T) @ part
        error += (B.shape[0] + 4) * UNIT * length(np.abs(B.T) @ np.abs(double(part)))
    lost = (length(double(r)) + error) * reach.far
    at = total(z * s)
    rounding = (sum_units(s.size) + 4) * UNIT * float(np.abs(double(z)) @ np.abs(double(s))) + length(double(z)) * off
    base = here.value - at
    slip = 1.01 * (here.value_error + lost + rounding) + 4 * UNIT * (abs(float(here.value)) + abs(float(at)))
    return Record(level, x, here, z, w, np.longdouble(base - slip))


def lower_bound(rows: ConicRows, own: Record, before: Sequence[Record], reach: Reach) -> float:
    """At most the optimal value of the level, given those before it."""
    images = sum(_images(own, k, one) for k, one in enumerate(before))
    slip = (images + _negative(rows, own, before, reach)) * (1 + 1e-12)
    return float(np.nextafter(float(own.base - slip), -np.inf))


def upper_bound(rows: ConicRows, level: Level, x: Ext, here: Local) -> np.longdouble:
    """At least the minimum over the set, by a point of it: x, mixed with one that has room where it misses a cone."""
    s, off = rows.slacks(x)
    beside = rows.beside(s, off)
    margin = rows.margin(s, off + rows.size * beside)
    slip = here.value_error + 4 * UNIT * abs(float(here.value)) + level.rise(here, x, beside)
    value = here.value + slip * (1 + 1e-12)
    if margin >= 0:
        return np.longdouble(value)
    center, room = ext(rows.middle.x), rows.middle.room
    if not room > 0:  # what is missed by rounding counts as inside: that is what every proof rests on
        return np.longdouble(value)
    there = level.at(center)
    share = -margin / (room - margin) * (1 + 1e-12)
    aside = rows.beside(*rows.slacks(center))
    more = there.above + level.rise(there, center, aside) - here.below
    return np.longdouble(value + share * max(more, 0.0))


def close(rows: ConicRows, own: Record, before: Sequence[Record], above: np.longdouble, reach: Reach) -> None:
    """What a bound from above on the optimal value says of all solutions of the level."""
    images = sum(_images(own, k, one) for k, one in enumerate(before))
    apart = float(above - own.base) + 4 * UNIT * float(abs(above) + abs(own.base))
    own.touch = max(apart + images, 0.0) * (1 + 1e-12)
    own.bend = own.touch + _negative(rows, own, before, reach)


def _images(own: Record, k: int, earlier: Record) -> float:
    """At least <w, B (x' - x)> for the images of an earlier level."""
    w, B = double(own.w[k]), earlier.level.images
    if not w.any():
        return 0.0
    apart = double(ext(B) @ (earlier.x - own.x))
    error = (B.shape[1] + 4) * UNIT * (np.abs(B) @ np.abs(double(earlier.x - own.x)))
    return float(
        length(earlier.level.image_units * w) * np.sqrt(2 * earlier.bend) + np.abs(w) @ (np.abs(apart) + error)
    )


def _negative(rows: ConicRows, own: Record, before: Sequence[Record], reach: Reach) -> float:
    """At least -<z, s'>: over multiples of the multipliers before, what these cost and what is still outside."""
    if not before:
        return max(0.0, -rows.dual_margin(own.z)) * reach.most
    if not all(np.isfinite(one.touch) for one in before):
        return np.inf
    sizes = [length(double(one.z)) for one in before]
    used = [k for k, size in enumerate(sizes) if size > 0]
    own_size = length(double(own.z))
    units = [own_size / size if size else 0.0 for size in sizes]
    shares = np.zeros(len(before))

    def cost(trial: Vector) -> float:
        u = own.z.copy()
        price = 0.0
        for share, one in zip(trial, before, strict=True):
            if share:
                u = u + np.longdouble(share) * one.z
                price += share * one.touch
        rounding = (len(before) + 2) * UNIT * float(sum(share * size for share, size in zip(trial, sizes, strict=True)))
        short = max(0.0, -rows.dual_margin(u)) + rows.thick * (rounding + UNIT * own_size)
        return float(price + short * reach.most)

    best = cost(shares)
    for _ in range(MOST_ROUNDS if len(used) > 1 else 1):
        start = best
        for k in reversed(used):
            for factor in GRID:
                trial = shares.copy()
                trial[k] = factor * units[k]
                value = cost(trial)
                if value < best:
                    best, shares = value, trial
        if best > 0.5 * start:
            break
    return best
