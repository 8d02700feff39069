"""A chain some of whose levels are smooth: those fix columns, and hold images, by how far their minimisers can be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...numerics.extended import Ext, ExtMatrix, double, ext
from ...numerics.rows import Rows
from ..answer import Unbounded
from ..rows.bracket import Bracket
from ..rows.chain import Chain, Outcome
from ..rows.face import Face, Record
from ..rows.left import Left, left_by_gradient
from ..rows.level import Level
from ..rows.nearby import NOWHERE, near
from ..rows.quadratic_level import Solved, accepted
from ..rows.whole import well_inside
from .attained import is_far, ray_without_minimum
from .constant import ConstantLevel
from .level import SmoothLevel
from .sharp_face import Claim, claimed, keep, shown
from .smooth_level import solve_smooth

MANY = 20_000
"""With more entries, products of twice the precision are taken only where extended precision leaves too much."""
CLOSE = 1e-13
"""A reach that is small enough."""
STILL = 2e-3
"""Predictions of a true solution of the levels before may differ by this from those of the point, in units of 1/M."""


class Snapshot(NamedTuple):
    """What shrinking changes of a face."""

    x: Ext
    given: Rows
    box: Rows
    column_side: NDArray[np.int8]
    row_side: NDArray[np.int8]

    @classmethod
    def of(cls, face: Face) -> Snapshot:
        """As it is."""
        return cls(face.x, face.given, face.box, face.column_side.copy(), face.row_side.copy())

    def restore(self, face: Face) -> None:
        """As it was."""
        face.x, face.given, face.box = self.x, self.given, self.box
        face.column_side, face.row_side = self.column_side.copy(), self.row_side.copy()


@dataclass
class SmoothChain(Chain):
    """A chain of linear, quadratic and smooth levels."""

    _claim: Claim | None = None

    def solve(self, level: Level, last: bool = False) -> Outcome:
        return self._constant(level) if isinstance(level, ConstantLevel) else super().solve(level, last)

    def _constant(self, level: ConstantLevel) -> Outcome:
        """A level that all solutions of those before agree on: its value at one of them, by one near the point."""
        face = self.face
        self.settle()
        x = ext(double(face.x))
        here = level.at(x)
        found = near(self.held, level, x) if self.held.small(level) else NOWHERE
        record = face.records[-1]
        by_gap = level.by_probabilities(float(here.value), record.gap * record.level.unit)
        apart = np.abs(double(face.x - x))  # the gap is that of a point with more digits
        by_gap += float(np.abs(double(here.grad)) @ apart) + level.bend(x, apart)
        if by_gap < found.rise and np.isfinite(by_gap):
            self.notes.append("the last level is known by the gap of the one before, which bounds all probabilities")
        own = level.known(here, min(found.rise, by_gap), len(face.records))
        return Outcome(own, self.told(x), True, found.moves)

    def _quadratic(self, level: Level) -> Solved:
        if not isinstance(level, SmoothLevel):
            return super()._quadratic(level)
        if not np.isfinite(level.lower_bound):
            self._refuse_ray(level)
        solved, count = solve_smooth(self.face, level, self.tol)
        self.steps += count
        inside = self.face.cut is None or well_inside(self.face, double(solved.x))
        if not (inside and accepted(solved.bracket, self.tol)) or is_far(level):
            self._refuse_ray(level)
        return solved

    def _refuse_ray(self, level: Level) -> None:
        if not isinstance(level, SmoothLevel):
            super()._refuse_ray(level)
        elif (ray := ray_without_minimum(self.face, level)) is not None:
            raise Unbounded(len(self.face.records), ray.direction, double(self.face.x), for_ever=ray.for_ever)

    def _shrink(self, level: Level, solved: Solved, P: ExtMatrix | None, last: bool) -> Bracket:
        if not isinstance(level, SmoothLevel) or P is None:
            return super()._shrink(level, solved, P, last)
        before = Snapshot.of(self.face)
        found = self._sharply(level, solved, P) or super()._shrink(level, solved, P, last)
        if not self._stay_on_tails(level):
            before.restore(self.face)  # nothing that was fixed is known to be
            record = self.face.records[-1]
            record.reach, record.columns, record.rows = np.inf, np.zeros(0, np.intp), np.zeros(0, np.intp)
            record.column_spread, record.row_spread = np.zeros(0), np.zeros(0)
            self.face.x, self.face.certain, self._held = solved.x, False, None
            self._doubt("on which side of a kink some losses of a level are hangs on rounding")
        return found

    def _sharply(self, level: SmoothLevel, solved: Solved, P: ExtMatrix) -> Bracket | None:
        """Shrink to columns and rows that are at their ends for certain; None where that is not shown."""
        face = self.face
        known = all(record.level.linear or not _spreads(record) for record in face.records)
        if not known or (not face.given.low.size and not face.records):  # then ``left_by_gradient`` does as much
            return None
        moves = solved.near.moves
        self._claim = None if moves is not None and level.moved(moves) > STILL else claimed(face, level, solved)
        if self._claim is None:
            return None
        before = Snapshot.of(face)
        found = super()._shrink(level, solved, P, False)
        claim, self._claim = self._claim, None
        if self.held.small(level) and shown(face, claim, near(self.held, level, face.x)):
            keep(face, claim.left.rows)
            self._held = None
            return found
        before.restore(face)
        face.records.pop()
        self._held = None
        return None

    def _stay_on_tails(self, level: SmoothLevel) -> bool:
        """Losses that are straight at the point stay on the same straight piece at all minimisers: whether that is so.

        With each loss continued as it is around the point (a parabola, or a straight line) the level is a quadratic q,
        whose minimisers are known by what they share. One of those at which every loss is on the same piece still
        minimises the level itself, as its gradient is that of q; and as slopes are the same at all minimisers of a
        level, so are the pieces on which a loss is straight.
        """
        face, tails = self.face, level.tails()
        if not tails or not np.isfinite(face.records[-1].reach):
            return True
        moves = near(self.held, level, face.x).moves if self.held.small(level) else None
        if moves is None:
            return False
        for rows, _, _, room in tails:
            if not (np.asarray(abs(rows) @ moves) * (1 + 1e-12) < room * (1 - 1e-12)).all():
                return False
        for rows, low, high, _ in tails:
            face.add(rows, low, high)
        self._held = None
        return True

    def _left(self, level: Level, solved: Solved, z: Ext, last: bool) -> Left:
        if self._claim is not None:
            return self._claim.left
        if not isinstance(level, SmoothLevel) or self.face.single or last:
            return super()._left(level, solved, z, last)
        moves = solved.near.moves
        left = Left.nothing()
        left.reach = np.inf
        if moves is None or level.moved(moves) <= STILL:
            many = level.images.rows.shape[0] * level.dim > MANY
            left = left_by_gradient(self.face, level, solved, np.inf, rough=many)
            if many and not left.reach <= CLOSE:
                left = left_by_gradient(self.face, level, solved, np.inf)
        if left.by_value and not self.held.small(level):
            self._doubt("how far the minimisers of a smooth level can be takes longer to find out than there is time")
        elif not left.certain:
            self._doubt("the rank of the data of a smooth level hangs on rounding")
        elif not np.isfinite(left.reach):
            self._doubt(
                "how far the minimisers of a smooth level can be is not known: some of its losses are too flat there, "
                "as where classes are all but separated"
            )
        elif not left.exact:
            self._doubt("the linear part of a smooth level cannot be told from one that vanishes where it is flat")
        if not np.isfinite(left.reach):
            self.face.certain = False
            return replace(Left.nothing(), reach=np.inf, exact=False, certain=False)
        return left


def _spreads(record: Record) -> bool:
    """Whether some columns or rows that a level fixed may be away from their ends."""
    return bool(record.column_spread.any() or record.row_spread.any())
