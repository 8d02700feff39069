"""Where a chain stands: the point reached, the face it may still move on, and a record of each level solved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.csr import columns_times, largest_in_rows
from ...numerics.definite import fits_in_memory
from ...numerics.extended import UNIT, Ext, ExtMatrix, double, ext
from ...numerics.rows import Rows, power_of_two
from ...objectives.base import Objective
from ...sets.base import Domain
from .level import DENSE, Level, stack
from .open_box import Cut, around
from .refuses import LEAST
from .sizes import sizes_by_data, sizes_by_point
from .terms import LITTLE, natural_sizes, ratio, row_terms

FILLED = 0.25
"""Rows of the domain with this part of their entries are dense: next to dense data they would make those sparse."""
NARROW = 1e-8
"""Bounds that are nearer to each other than this, relative to their sizes, are near the tolerances of solvers."""
FEASIBLE = 2.0**-46
"""A point that misses a row or bound by more than this, relative to the terms of the row, is none: rounding is less."""


@dataclass
class Record:
    """A solved level: its point, its multipliers there, and what it fixed.

    The gradient c of the level at x is A'y + z + sum over earlier levels of P_k'w_k. All its minimisers (among those
    of the levels before) lie at the bounds where z and y are not zero, and have the same P x.
    """

    level: Level
    x: Ext
    grad: Ext
    grad_error: Vector
    y: Ext
    z: Ext
    w: list[Ext]
    columns: NDArray[np.intp]
    rows: NDArray[np.intp]
    value: np.longdouble
    lower: float  # below the optimal value of the level
    gap: float  # value - lower, computed without cancellation
    allowance: float  # the level at the point is less than its optimal value by no more than this
    P: ExtMatrix | None  # the rows of its second-order part; None for a linear level
    reach: float  # a bound on sqrt(<d, Hessian d>) for the step d from x to any true minimiser
    column_spread: Vector  # how far its fixed columns and rows may be from their ends at true minimisers
    row_spread: Vector
    exact: bool = True  # whether the points of the face with the image P x are all minimisers, for certain
    distance: float = np.inf  # a bound on |x* - x| for its minimisers x*, where it is strongly convex
    kept: NDArray[np.intp] | None = None  # which of the level's rows P has, where the others follow from these

    def dual_size(self, w: Ext) -> float:
        """The norm of w with |<w, P d>| <= dual_size(w) * sqrt(<d, Hessian d>)."""
        if self.kept is None:
            return self.level.dual_size(w)
        whole = ext(np.zeros(self.level.height))
        whole[self.kept] = w
        return self.level.dual_size(whole)


@dataclass
class Face:
    """The minimisers of the levels so far: {x in Z : fixed columns and rows at their sides, P_k x as at the point}."""

    given: Rows
    box: Rows  # the same set, with finite bounds on every variable; of an unbounded set, a part of it
    x: Ext
    column_side: NDArray[np.int8]  # -1 fixed at the lower bound, 1 at the upper one, 0 not fixed
    row_side: NDArray[np.int8]
    scale: Vector  # the size of each variable, a power of two
    records: list[Record] = field(default_factory=list)
    single: bool | None = None  # whether the point is all there is
    certain: bool = True  # False once a level could not be solved well enough to tell its face
    cut: Cut | None = None  # where the box is a part of the set only

    @classmethod
    def of(
        cls,
        domain: Domain,
        levels: Sequence[Objective] = (),
        point: Vector | None = None,
        part: tuple[Vector, Vector] | None = None,
    ) -> tuple[Face, float]:
        """The whole domain in units of the typical size of a variable, a power of two, and that unit.

        Sizes are those that the data of rows and levels suggest, or, with a ``point`` solved for before, its own.
        Bounds only limit them: a generous one has no part in the arithmetic. Of an unbounded domain the box is the
        ``part`` between these bounds, or what is likely to hold a solution: see ``open_box``.
        """
        given, box, start = domain.polyhedral
        m, n = given.A.shape
        sizes = sizes_by_data([level.form for level in levels if level.form is not None], box)
        if point is not None:
            sizes = sizes_by_point(sizes, point)
        own = np.maximum(np.abs(given.lower), np.abs(given.upper))  # rows may fix variables at zero but for rounding
        sizes = np.maximum(sizes, power_of_two(np.where(np.isfinite(own) & (own > 0), own, 1.0)) * 2.0**-120)
        cut = Cut.of(box)
        if cut is not None:
            box = cut.between(box, *(part or around(sizes, start if point is None else point)))
        unit = float(power_of_two(np.median(sizes, keepdims=True))[0]) / 2
        if not LEAST <= unit <= 1 / LEAST:
            raise ValueError(
                f"the variables have sizes near {unit:.0e}, whose squares are no numbers: choose other units for them"
            )
        given, box = (Rows(rows.A, *(end / unit for end in rows[1:])) for rows in (given, box))
        face = cls(given, box, ext(start / unit), np.zeros(n, np.int8), np.zeros(m, np.int8), sizes / unit, cut=cut)
        if point is not None and face.missed(ext(point / unit)) <= FEASIBLE:
            face.x = ext(point / unit)
        return face, unit

    @property
    def limits(self) -> tuple[Vector, Vector]:
        """The given bounds and, where an unbounded set is cut off, those of the box."""
        given, box, cut = self.given, self.box, self.cut
        if cut is None:
            return given.lower, given.upper
        free = box.lower < box.upper
        below, above = cut.below & free, cut.above & free
        return np.where(below, box.lower, given.lower), np.where(above, box.upper, given.upper)

    @cached_property
    def resolved(self) -> bool:
        """Whether steps within the tolerances of solvers can tell the ends of every column apart."""
        lower, upper = self.given.lower, self.given.upper
        size = np.maximum(np.abs(lower), np.abs(upper))
        narrow = (
            (lower < upper) & np.isfinite(size) & (upper <= lower + NARROW * np.where(np.isfinite(size), size, 0.0))
        )
        return not self.given.low.size or not narrow.any()

    @cached_property
    def A(self) -> ExtMatrix:
        """The rows of the domain: dense for few variables, and where most of their entries are not zero."""
        A = self.given.A
        m, n = A.shape
        few = n <= DENSE and m <= 4 * DENSE
        return ExtMatrix(A.toarray() if few or (A.nnz > FILLED * m * n and fits_in_memory(m, n)) else A)

    @cached_property
    def generous(self) -> bool:
        """Whether some bounds are far beyond the sizes of their variables."""
        return bool((self.box.upper - self.box.lower >= 256 * self.scale).any())

    @cached_property
    def row_size(self) -> Vector:
        """The size of each row, a power of two."""
        if not self.given.A.nnz:
            return np.ones(self.given.A.shape[0])
        return power_of_two(largest_in_rows(columns_times(self.given.A, self.scale)))

    @property
    def predictors(self) -> list[tuple[int, ExtMatrix]]:
        """The quadratic levels so far, with the rows P_k that later steps must not move."""
        return [(k, record.P) for k, record in enumerate(self.records) if record.P is not None]

    def all_rows(self) -> Matrix:
        """A on top of every P_k."""
        return stack([self.A.A, *(P.A for _, P in self.predictors)], self.x.size)

    def split(self, multipliers: Ext) -> tuple[Ext, list[Ext]]:
        """Multipliers of ``all_rows`` as y and one w for each record (empty for linear ones)."""
        m = self.given.A.shape[0]
        w, start = [], m
        for record in self.records:
            size = 0 if record.P is None else record.P.shape[0]
            w.append(multipliers[start : start + size])
            start += size
        return multipliers[:m], w

    def held_part(self, y: Ext, w: list[Ext]) -> Ext:
        """A'y + sum of P_k'w_k."""
        part = self.A.transpose_times(y)
        for record, own in zip(self.records, w, strict=True):
            if record.P is not None:
                part = part + record.P.transpose_times(own)
        return part

    def sizes_at(self, x: Ext) -> tuple[Vector, Vector]:
        """What x is compared with: the terms of each row, and the natural size of each entry (see ``terms``)."""
        rows = row_terms(self.A, x, self.scale, self.given.low, self.given.high)
        return rows, natural_sizes(self.A, rows, np.maximum(np.abs(double(x)), LITTLE * self.scale))

    def pin(self, columns: NDArray[np.intp]) -> None:
        """Columns that are at their bounds at every true solution: no bound needs a price for them."""
        lower, upper = self.box.lower.copy(), self.box.upper.copy()
        lower[columns] = upper[columns] = np.where(self.column_side < 0, self.given.lower, self.given.upper)[columns]
        self.box = self.box._replace(lower=lower, upper=upper)

    def pin_rows(self, rows: NDArray[np.intp]) -> None:
        """Rows that are at their ends at every true solution: they are equations."""
        low, high = self.given.low.copy(), self.given.high.copy()
        low[rows] = high[rows] = np.where(self.row_side < 0, self.given.low, self.given.high)[rows]
        self.given, self.box = self.given._replace(low=low, high=high), self.box._replace(low=low, high=high)

    def add(self, rows: Matrix, low: Vector, high: Vector) -> None:
        """More rows, which no level so far has multipliers for."""
        more = rows.shape[0]
        A = sp.csr_array(sp.vstack([self.given.A, sp.csr_array(rows)]))
        ends = {"low": np.append(self.given.low, low), "high": np.append(self.given.high, high)}
        self.given, self.box = self.given._replace(A=A, **ends), self.box._replace(A=A, **ends)
        self.row_side = np.append(self.row_side, np.zeros(more, np.int8))
        for record in self.records:
            record.y = np.append(record.y, ext(np.zeros(more)))
        for known in ("A", "row_size", "resolved"):
            self.__dict__.pop(known, None)

    def snapped(self, x: Ext) -> Ext:
        """x with entries that miss a bound by rounding put on it, and entries that are far below it put at zero."""
        given = self.given
        x = np.where(np.abs(x) <= UNIT**2 * self.scale, 0, x)
        miss = 128 * UNIT * self.sizes_at(x)[1]
        x = np.where(x - given.lower <= np.maximum(miss, 8 * UNIT * np.abs(x)), given.lower, x)
        return np.where(given.upper - x <= np.maximum(miss, 8 * UNIT * np.abs(x)), given.upper, x)

    def missed(self, x: Ext) -> float:
        """The worst violation of a row or bound, relative to the terms it is made of: some 1e-16 is rounding."""
        given = self.given
        terms, sizes = self.sizes_at(x)
        activity = self.A.times(x)
        rows = ratio(double(np.maximum(given.low - activity, activity - given.high)), terms)
        ends = np.where(x < given.lower, np.abs(given.lower), np.where(x > given.upper, np.abs(given.upper), 0.0))
        return max(rows, ratio(double(np.maximum(given.lower - x, x - given.upper)), np.maximum(sizes, ends)))

    def step_rows(self) -> tuple[Matrix, Ext, Ext, Ext, Ext]:
        """The face in the step d = x - point: rows, their low and high ends, lower and upper bounds of d."""
        rows = self.all_rows()
        activity = self.A.times(self.x)
        given = self.given
        terms, sizes = self.sizes_at(self.x)
        low, high = _ends(activity, given.low, given.high, self.row_side, terms)
        lower, upper = _ends(self.x, given.lower, given.upper, self.column_side, sizes)
        more = ext(np.zeros(rows.shape[0] - low.size))
        return rows, np.append(low, more), np.append(high, more), lower, upper


def is_elsewhere(levels: Sequence[Objective], domain: Domain, x: Vector) -> bool:
    """Whether x is far from where a solve starts, or of another size than it takes for granted."""
    face, unit = Face.of(domain, levels)
    other = sizes_by_point(face.scale, x / unit)
    moved = np.abs(double(face.x) - x / unit) / face.scale
    return bool((np.abs(np.log2(other / face.scale)) >= 6).any() or moved.max() >= 64)


def _ends(value: Ext, low: Vector, high: Vector, side: NDArray[np.int8], size: Vector) -> tuple[Ext, Ext]:
    """Low and high ends of the steps from ``value``: zero where it is at that end up to rounding, or fixed."""
    below, above = ext(low) - value, ext(high) - value
    below[(side != 0) | (np.abs(below) <= 1e-15 * size)] = 0
    above[(side != 0) | (np.abs(above) <= 1e-15 * size)] = 0
    return np.minimum(below, 0), np.maximum(above, 0)
