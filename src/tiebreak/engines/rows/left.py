"""What a solved level leaves: columns and rows fixed at their ends, how far they may be from them, and the reach.

At a true minimiser x the terms of <z, x - xh> + <y, A(x - xh)> add up to at most what the level can still fall by, and
all of them are nonnegative but for rounding: so none is larger than that, and a column is within (that sum)/|z_j| of
its bound. Over bounds alone, more is true of a first level: its gradient is the same at all minimisers and differs by
at most sqrt(H_jj) reach from that at xh, so that a column with a larger one is at its bound exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...numerics.extended import UNIT, Ext, ExtMatrix, dense, double, row_sizes
from ...numerics.rank import exact_rank
from ...numerics.rows import power_of_two
from .face import Face
from .held import LONG, Held
from .level import Level
from .linear_level import NEGLIGIBLE, TIE, ZERO
from .nearby import by_rounding
from .quadratic_level import Solved
from .reach import Reach, reach
from .sharp import Sharp, sharpened
from .slope import Slope, slope_left
from .terms import column_terms, natural_prices

CLOSE = 1e-9
"""A column or row is fixed by a quadratic level where it is known to be this close to its end, in units of its size."""
TIGHT = 1e-13
"""What is farther from its end than this is worth more digits: it makes the brackets of later levels wide."""
SHORT = 1e-12
"""A reach below this, in units where values have size 1, makes no bracket wide."""
TRIES = 4
MANY = 20_000
"""Matrices with fewer entries are held whole."""


@dataclass
class Left:
    """Fixed columns and rows with their spreads; ``proved`` columns and rows are at their ends for certain."""

    columns: NDArray[np.intp]
    rows: NDArray[np.intp]
    column_spread: Vector
    row_spread: Vector
    proved: NDArray[np.intp]
    proved_rows: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    reach: float = 0.0
    exact: bool = True
    certain: bool = True
    by_value: bool = False  # whether the reach is no better than the level's values give it
    rank: int | None = None  # of the level's images, where it is known and nothing else is held

    @classmethod
    def nothing(cls) -> Left:
        """For a face with a single point."""
        none = np.zeros(0, np.intp)
        return cls(none, none, np.zeros(0), np.zeros(0), none)

    @property
    def fixed(self) -> NDArray[np.intp]:
        """All fixed columns."""
        return np.union1d(self.columns, self.proved) if self.proved.size else self.columns

    @property
    def fixed_rows(self) -> NDArray[np.intp]:
        """All fixed rows."""
        return np.union1d(self.rows, self.proved_rows)


class Sizes(NamedTuple):
    """Multipliers of columns and rows beside the costs they are made of, and beside the largest of all costs."""

    own: Vector
    common: Vector
    settled: bool  # whether those that are zero are all that vanish

    def nonzero(self, sharp: bool) -> NDArray[np.bool_]:
        """Those that are not zero: by arithmetic alone, or beyond what rounding of the data explains."""
        if sharp and self.settled:
            return np.asarray(self.own > 0)
        if sharp:
            return np.asarray((self.own > ZERO) & (self.common > NEGLIGIBLE))
        return np.asarray(np.minimum(self.own, self.common) > TIE)


def multiplier_sizes(face: Face, solved: Solved, z: Ext) -> tuple[Sizes, Sizes]:
    """Those of columns and rows; zero where nothing is left to fix.

    A column's is a sum of terms. Changing the costs of all columns of a row in proportion to its entries changes its
    own: so it is compared with the least of their terms per unit of the entry.
    """
    grad = solved.bracket.grad
    terms = column_terms(face.A, grad, solved.y)
    for record, part in zip(face.records, solved.w, strict=True):
        if record.P is not None and part.any():
            terms = terms + np.asarray(record.P.size_transposed @ np.abs(double(part)))
    y = np.abs(double(solved.y))
    largest = float((np.abs(double(grad)) * face.scale).max(initial=0.0)) or 1.0
    columns, rows = np.abs(double(z)) * (_open_columns(face) & _has_end(face, double(z))), y * open_rows(face)
    units = natural_prices(face.A, terms, y)
    return (
        Sizes(columns / np.where(terms > 0, terms, 1.0), columns * face.scale / largest, solved.z is not None),
        Sizes(rows / np.where(units > 0, units, 1.0), rows * face.row_size / largest, solved.z is not None),
    )


def left_by_vertex(face: Face, solved: Solved, z: Ext, sizes: tuple[Sizes, Sizes], sharp: bool) -> Left:
    """A linear level: what has a multiplier that is not zero is fixed."""
    columns, rows = (np.flatnonzero(part.nonzero(sharp)) for part in sizes)
    if solved.solution:
        none = np.zeros(0, np.intp)
        return Left(none, none, np.zeros(0), np.zeros(0), columns, rows)
    left = Left(columns, rows, np.zeros(0), np.zeros(0), np.zeros(0, np.intp))
    return _with_spreads(face, solved, double(z), solved.bracket.grad_error, left)


def left_by_costs(face: Face, z: Ext) -> Left:
    """A first linear level over bounds alone: every cost that is not zero fixes its column."""
    none = np.zeros(0, np.intp)
    return Left(none, none, np.zeros(0), np.zeros(0), np.flatnonzero((double(z) != 0) & _open_columns(face)))


def left_by_gradient(face: Face, level: Level, solved: Solved, by_value: float, rough: bool = False) -> Left:
    """A quadratic level with its reach; columns whose multipliers the reach does not cover stay unfixed.

    A column at its bound with a multiplier of the right sign pushes no minimiser away, fixed or not, but for how far
    the true solution nearby may be from that bound. A ``rough`` slope is that of extended precision.
    """
    y = with_ends(face, solved.y)
    slope = slope_left(face, level, solved.x, y, solved.w, rough)
    error = slope.error + np.sqrt(level.diagonal) * slope.image_error
    at = at_ends(face, solved.x, slope.left)
    sharp = _Sharpening(face, level, solved, y, error)
    left = _fixed(face, solved, slope, error, at & (np.abs(slope.left) > 2 * error), sharp)
    found = Reach(by_value, False, False)
    moves = np.zeros(solved.x.size) if solved.near.moves is None else solved.near.moves
    for _ in range(TRIES):
        held = held_after(face, left, slope.left, solved.y)
        bent = level.diagonal > 0
        by_image = level.quadratic and not level.q.any()  # to have the image of a minimiser is to be one
        if by_image and by_value <= SHORT and float(level.height) * held.columns.size**2 > LONG:
            bound = None
        else:
            signed = at & (np.abs(slope.left) > error)  # at their bounds: no minimiser lies beyond
            signed[left.fixed] = False
            pushed = float(np.abs(slope.left) @ (signed * moves)) * (1 + 1e-12)
            own = slope._replace(left=np.where(signed, 0.0, slope.left))
            shift = solved.near.shift + to_the_ends(face, level, solved, held)
            loose = _loose(face, solved, y, held)
            bound = reach(held, level, own, shift, loose + pushed, whole=not signed.any())
            if bound is not None and signed.any():  # as good a bound, and better where the gradient is next to nothing
                bound = _shorter(bound, reach(held, level, slope, shift, loose))
            if bound is not None and loose and bound.length > SHORT:  # and where those multipliers are
                alone = np.zeros_like(y)
                alone[held.rows] = y[held.rows]
                slope_alone = slope_left(face, level, solved.x, alone, solved.w, rough)
                bound = _shorter(bound, reach(held, level, slope_alone, shift, 0.0))
        covered = error.copy()
        if bound is None:
            covered[bent] += np.sqrt(level.diagonal[bent]) * (by_value if level.quadratic else np.inf)
            left = _fixed(face, solved, slope, error, at & (np.abs(slope.left) > 2 * covered), sharp)
            return replace(left, reach=by_value, exact=by_image, by_value=True)
        found = bound
        covered[bent] += np.sqrt(level.diagonal[bent]) * min(found.grown, by_value)
        kept = np.abs(slope.left) > 2 * covered
        if kept[left.fixed].all():
            break
        left = _fixed(face, solved, slope, error, at & kept, sharp)
    else:
        return replace(Left.nothing(), reach=by_value, exact=False, by_value=True)
    return replace(left, reach=min(found.length, by_value), exact=found.exact, certain=found.certain, rank=found.rank)


def _shorter(bound: Reach, other: Reach | None) -> Reach:
    return other if other is not None and other.length < bound.length else bound


def independent_rows(face: Face, P: ExtMatrix, left: Left) -> NDArray[np.intp] | None:
    """Which rows of P to hold where it has many more than its rank: others are combinations of them, for certain.

    On the columns that are not fixed, that is. None where all of them stay.
    """
    if left.rank is None or not left.exact or P.shape[0] < 2 * left.rank or P.shape[0] * P.shape[1] < MANY:
        return None
    from scipy.linalg import qr

    open_ = _open_columns(face)
    open_[left.fixed] = False
    columns = dense(P.A[:, np.flatnonzero(open_)])
    units = power_of_two(row_sizes(columns))
    kept = np.sort(qr((columns / units[:, None]).T, mode="r", pivoting=True, check_finite=False)[1][: left.rank])
    return kept if exact_rank(columns[kept]) == left.rank else None


@dataclass
class _Sharpening:
    """What the multipliers of a level leave of its gradient, to twice the precision of a double: made where asked."""

    face: Face
    level: Level
    solved: Solved
    y: Ext
    error: Vector

    @cached_property
    def found(self) -> Sharp | None:
        """None where it takes too long, or cannot be had."""
        prices = np.zeros(len(self.face.records))
        return sharpened(self.face, self.level, self.solved.x, self.y, self.solved.w, prices, self.error)


def _fixed(
    face: Face, solved: Solved, slope: Slope, error: Vector, wide: NDArray[np.bool_], sharp: _Sharpening
) -> Left:
    """Columns and rows that are near their ends at all minimisers: in a large set rounding may hide that they are."""
    columns = np.flatnonzero(wide)
    none = np.zeros(0, np.intp)
    if not face.records and not face.given.low.size:
        return Left(none, none, np.zeros(0), np.zeros(0), columns)
    rows = np.flatnonzero((solved.y != 0) & open_rows(face))
    left = _with_spreads(face, solved, slope.left, error, Left(columns, rows, np.zeros(0), np.zeros(0), none))
    if not all(near.all() for near in _near_ends(face, left, TIGHT)) and sharp.found is not None:
        left = _with_spreads(face, solved, sharp.found.left, sharp.found.error, left, sharp.found.cost)
    near_columns, near_rows = _near_ends(face, left, CLOSE)
    return Left(
        columns[near_columns], rows[near_rows], left.column_spread[near_columns], left.row_spread[near_rows], none
    )


def _near_ends(face: Face, left: Left, share: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which columns and rows are known to be so close to their ends, in units of their sizes."""
    near_columns = left.column_spread <= share * face.scale[left.columns]
    return near_columns, left.row_spread <= share * face.row_size[left.rows]


def _with_spreads(face: Face, solved: Solved, z: Vector, error: Vector, left: Left, moved: float | None = None) -> Left:
    """How far fixed columns and rows may be from their ends at true minimisers.

    Where it has cost ``moved`` to correct multipliers, those of rows may be half as large as they are here.
    """
    given, box, own = face.given, face.box, solved.bracket
    x, y = double(solved.x), double(solved.y)
    room = own.allowance + 2 * (moved or 0.0)
    for record, part in zip(face.records, solved.w, strict=True):
        if record.P is not None and part.any():
            apart = float(np.linalg.norm(double(record.P.times(solved.x - record.x))))
            room += record.dual_size(part) * record.reach + float(np.linalg.norm(double(part))) * apart
    below, above = box.lower - x, box.upper - x
    lowest = np.minimum(np.minimum(z * below - error * np.abs(below), z * above - error * np.abs(above)), 0)
    lowest[face.column_side != 0] = 0
    activity, widest = double(face.A.times(solved.x)), np.asarray(face.A.size @ (box.upper - box.lower))
    ends = np.where(y > 0, given.low, given.high) - activity
    lowest_rows = np.minimum(y * np.where(np.isfinite(ends), ends, -np.sign(y) * widest), 0)
    for record in face.records:  # what is fixed already cannot be far from its end
        lowest[record.columns] = -_lost(z[record.columns], record.column_spread)
        lowest_rows[record.rows] = -_lost(y[record.rows], record.row_spread)
    room += -float(lowest.sum()) - float(lowest_rows.sum())
    room = 1.01 * max(room, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # multipliers may underflow: those say nothing
        prices = np.abs(y[left.rows]) * (1.0 if moved is None else 0.5)
        return replace(left, column_spread=room / np.abs(z[left.columns]), row_spread=room / prices)


def _lost(price: Vector, spread: Vector) -> Vector:
    """What it may cost that columns or rows are not at their ends; of no price it is so certain that it is zero."""
    return np.where(np.isfinite(spread), np.abs(price) * np.where(np.isfinite(spread), spread, 0.0), np.inf)


def with_ends(face: Face, y: Ext) -> Ext:
    """Without the multipliers of ends that are not there, and those that are rounding of the others."""
    noise = np.abs(y) * face.row_size <= UNIT * (np.abs(y) * face.row_size).max(initial=0)
    return np.where(noise | ((y > 0) & np.isinf(face.given.low)) | ((y < 0) & np.isinf(face.given.high)), 0, y)


def _loose(face: Face, solved: Solved, y: Ext, held: Held) -> float:
    """What the multipliers of rows that are not held gain as the true solution nearby is not at their ends."""
    size = np.abs(double(y))
    size[held.rows] = 0
    if not size.any():
        return 0.0
    ends = np.where(y > 0, face.given.low, np.where(y < 0, face.given.high, 0.0))
    apart = np.where(size > 0, np.abs(double(ends - face.A.times(solved.x))), 0.0) + face.A.times_error(solved.x)
    if solved.near.moves is not None:
        apart = apart + np.asarray(face.A.size @ solved.near.moves)
    return float(size @ apart) * (1 + 1e-12)


def to_the_ends(face: Face, level: Level, solved: Solved, held: Held) -> float:
    """How far a point is from x, in the level's norm, that has all rows which are to be held at their ends."""
    if not held.rows.size or not held.columns.size:
        return 0.0
    side = np.where(face.row_side != 0, face.row_side, -np.sign(double(solved.y))).astype(np.int8)
    return by_rounding(held, level, solved.x, side).shift


def held_after(face: Face, left: Left, z: Vector, y: Ext) -> Held:
    """What the face will hold once these are fixed."""
    columns, rows = face.column_side.copy(), face.row_side.copy()
    columns[left.fixed] = -np.sign(z[left.fixed])
    rows[left.rows] = -np.sign(double(y[left.rows]))
    return Held(face, columns, rows)


def at_ends(face: Face, x: Ext, z: Vector) -> NDArray[np.bool_]:
    at = np.where(z > 0, x == face.given.lower, x == face.given.upper) & (z != 0)
    return np.asarray(at & _open_columns(face))


def _has_end(face: Face, z: Vector) -> NDArray[np.bool_]:
    """Whether there is a bound at which such a multiplier would hold the column."""
    return np.isfinite(np.where(z > 0, face.given.lower, face.given.upper))


def without_end(face: Face, solved: Solved, z: Ext) -> int:
    """How many free columns have a cost left that is no rounding of the arithmetic: as data are rounded, it is zero."""
    terms = column_terms(face.A, solved.bracket.grad, solved.y)
    left = np.abs(double(z)) > ZERO * terms
    return int((left & _open_columns(face) & ~_has_end(face, double(z))).sum())


def _open_columns(face: Face) -> NDArray[np.bool_]:
    return np.asarray((face.column_side == 0) & (face.given.lower < face.given.upper))


def open_rows(face: Face) -> NDArray[np.bool_]:
    return np.asarray((face.row_side == 0) & (face.given.low < face.given.high))
