"""What multipliers prove about all levels of a chain over cones, whatever the faces were taken to be.

Let x' be a solution of the levels before, and z, w any multipliers of a level f at x: with r = grad f(x) + A'z + B'w,
    f(x') >= f(x) + <r, x' - x> - <w, B (x' - x)> - <z, s> + <z, s'>,
by convexity. For the first level <z, s'> >= 0 as z is in the dual cones. So a solution of the first level, whose value
is known from above, has a small <z1, s'> and small differences of the images B x': for a later level a multiple of z1
can be added to z until it is in the dual cones, or hardly outside of them, and that costs little (nothing but rounding
where z1 and z are strictly complementary and the cone is a polyhedron; a square root of it in general, which is why all
of this is computed without rounding).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import Vector, length
from ...numerics.conic_rows import ConicRows
from ...numerics.deadline import check
from ...numerics.exact import Exact
from .face import Face
from .level import ExactLevel
from .polish import Solved, lifted

GRID = 2.0 ** np.arange(-4, 120, 4)
"""Multiples of the multipliers of earlier levels that are tried, beside the ratio of their sizes."""

FACTORS = 2.0 ** np.array([-32, -8, -2, 2, 8, 32])
"""What the best multiples are multiplied by in turn, each alone and the first ones together."""

MOST_ROUNDS = 16
MARGIN = 1 + 1e-12
"""Sums and norms in double precision are off by less."""


@dataclass(frozen=True)
class Reach:
    """No solution is farther than ``far`` from the points looked at, and <e, s> is at most ``most``."""

    far: float
    most: float


class Mended(NamedTuple):
    """Multiples of earlier multipliers added to those of a level: what they and what is still outside cost.

    Later levels begin with multiples of the sum: the multipliers of a second level are in no dual cone, and more of
    them alone would be farther outside.
    """

    shares: Vector
    cost: float


@dataclass
class Record:
    """A level at its point: multipliers of all slacks and of held images, with what is known of all solutions.

    f(x') - <z, s'> >= ``base`` - ``lost``, but for what images may differ by. ``touch`` is at least
    <z, s'> + 1/2 |x' - x|^2 in the norm of the level, for all solutions x' of the level, and ``bend`` at least the
    second part alone; inf until there is a bound on the optimal value from above.
    """

    level: ExactLevel
    x: Exact
    value: Exact
    slope: Vector
    z: Exact
    w: list[Exact]
    base: Exact
    lost: float
    touch: float = np.inf
    bend: float = np.inf
    mended: Mended | None = None


def record(face: Face, level: ExactLevel, solved: Solved, reach: Reach) -> Record:
    """The level at its point."""
    rows, x = face.rows, solved.x
    value, slope = level.exactly(x)
    z = lifted(face, solved.z)
    mu = face.prices(slope + rows.exact[0].T @ z)
    more, w, _ = face.pulled(mu)
    z = z + more
    r = slope + rows.exact[0].T @ z
    for earlier, part in zip(face.images, w, strict=True):
        r = r + Exact.of(earlier).T @ part
    base = value - z @ rows.exact_slacks(x)
    return Record(level, x, value, slope.double(), z, w, base, length(r.double()) * reach.far * MARGIN)


def lower_bound(rows: ConicRows, own: Record, before: Sequence[Record], reach: Reach) -> float:
    """At most the optimal value of the level, given those before it."""
    images = sum(_images(own, k, one) for k, one in enumerate(before))
    slip = (own.lost + images + _negative(rows, own, before, reach)) * MARGIN
    return (own.base - slip).below() if np.isfinite(slip) else -np.inf


def upper_bound(rows: ConicRows, level: ExactLevel, x: Exact) -> Exact:
    """At least the minimum over the set, by a point of it: x, mixed with one that has room where it misses a cone."""
    s = rows.exact_slacks(x)
    beside = rows.beside(s)
    margin = rows.margin(s, rows.size * beside)
    value, slope = level.exactly(x)
    value = value + _rise(level, slope.double(), x.double(), beside)
    center, room = Exact.of(rows.middle.x), rows.middle.room
    if margin >= 0 or not room > 0:  # what is missed by rounding counts as inside: that is what every proof rests on
        return value
    there, steep = level.exactly(center)
    aside = rows.beside(rows.exact_slacks(center))
    share = -margin / (room - margin) * MARGIN
    more = (there - level.exactly(x)[0]).above() + _rise(level, steep.double(), center.double(), aside)
    return value + share * max(more, 0.0) * MARGIN


def close(rows: ConicRows, own: Record, before: Sequence[Record], above: Exact, reach: Reach) -> None:
    """What a bound from above on the optimal value says of all solutions of the level.

    After other levels it is the value at x that is taken for one. x meets what they leave to rounding only, so that its
    value may be below the optimum, by about as much as the multipliers of what is held say; twice that is allowed for.
    """
    images = sum(_images(own, k, one) for k, one in enumerate(before))
    gap = (above - own.base).above()
    own.touch = (max(gap, -2.0 * gap if before else 0.0) + own.lost + images) * MARGIN
    own.bend = own.touch + _negative(rows, own, before, reach)


def _rise(level: ExactLevel, slope: Vector, x: Vector, radius: float) -> float:
    """At least what the level can be higher within this distance."""
    if not radius:
        return 0.0
    return float(length(slope) * radius + level.steepness(x, radius) * radius**2 / 2) * MARGIN


def _images(own: Record, k: int, earlier: Record) -> float:
    """At least <w, B (x' - x)> for the images of an earlier level."""
    w, B = own.w[k].double(), Exact.of(earlier.level.images)
    if not w.any():
        return 0.0
    apart = abs((own.w[k] @ (B @ (earlier.x - own.x))).double())
    return float(length(earlier.level.image_units * w) * np.sqrt(2 * earlier.bend) + apart) * MARGIN


def _negative(rows: ConicRows, own: Record, before: Sequence[Record], reach: Reach) -> float:
    """At least -<z, s'>."""
    if own.mended is None:
        own.mended = _mended(rows, own, before, reach)
    return own.mended.cost


def _mended(rows: ConicRows, own: Record, before: Sequence[Record], reach: Reach) -> Mended:
    """The multiples that cost least, of those that are tried: the cost is convex in them, over many sizes."""
    count = len(before)
    touches = np.array([one.touch for one in before])
    if not np.isfinite(touches).all():
        return Mended(np.zeros(count), np.inf)

    def summed(shares: Vector, z: Exact) -> Exact:
        for share, one in zip(shares, before, strict=True):
            z = z + float(share) * one.z if share else z
        return z

    def tried(shares: Vector) -> Mended:
        check()
        price = float(shares @ touches)
        short = max(0.0, -rows.dual_margin(summed(shares, own.z))) * reach.most if price < best.cost else 0.0
        return Mended(shares, (price + short) * MARGIN)

    best = Mended(np.zeros(count), np.inf)
    best = tried(best.shares)
    size, none = length(own.z.double()), Exact.of(np.zeros(rows.b.size))
    ways = [np.eye(count)[k] for k in range(count)]
    for k, one in enumerate(before):
        if one.mended is not None:
            ways[k][:k] = one.mended.shares
    ways = [way / unit for way in ways if (unit := length(summed(way, none).double())) > 0]
    if not ways or not size > 0:
        return best
    for way in (sum(ways[1:], ways[0]), *ways[::-1]):  # none may be enough alone
        start = best.shares
        for factor in size * GRID:
            best = min(best, tried(start + factor * way), key=lambda one: one.cost)
    together = [np.arange(count) == k for k in range(count)]
    together += [np.arange(count) <= k for k in range(1, count)]
    for _ in range(MOST_ROUNDS if best.shares.any() else 0):
        cost = best.cost
        for some in together:
            for factor in FACTORS:
                best = min(best, tried(np.where(some, factor, 1.0) * best.shares), key=lambda one: one.cost)
        if best.cost > 0.5 * cost:
            break
    return best
