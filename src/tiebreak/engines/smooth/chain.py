"""A chain some of whose levels are smooth: those fix columns, and hold images, by how far their minimisers can be."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...numerics.extended import Ext, ExtMatrix, double, ext
from ..rows.bracket import Bracket
from ..rows.chain import Chain, Outcome
from ..rows.left import Left, left_by_gradient
from ..rows.level import Level
from ..rows.nearby import NOWHERE, near
from ..rows.quadratic_level import Solved
from .constant import ConstantLevel
from .level import SmoothLevel
from .smooth_level import solve_smooth

MANY = 20_000
"""With more entries, products of twice the precision are taken only where extended precision leaves too much."""
CLOSE = 1e-13
"""A reach that is small enough."""
STILL = 2e-3
"""Predictions of a true solution of the levels before may differ by this from those of the point, in units of 1/M."""


@dataclass
class SmoothChain(Chain):
    """A chain of linear, quadratic and smooth levels."""

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
        solved, count = solve_smooth(self.face, level, self.tol)
        self.steps += count
        return solved

    def _shrink(self, level: Level, solved: Solved, P: ExtMatrix | None, last: bool) -> Bracket:
        found = super()._shrink(level, solved, P, last)
        if isinstance(level, SmoothLevel) and P is not None:
            self._stay_on_tails(level)
        return found

    def _stay_on_tails(self, level: SmoothLevel) -> None:
        """Losses that are straight at the point stay on the same straight piece at all minimisers.

        With each loss continued as it is around the point (a parabola, or a straight line) the level is a quadratic q,
        whose minimisers are known by what they share. One of those at which every loss is on the same piece still
        minimises the level itself, as its gradient is that of q; and as slopes are the same at all minimisers of a
        level, so are the pieces on which a loss is straight.
        """
        face, record = self.face, self.face.records[-1]
        tails = level.tails()
        if not tails or not np.isfinite(record.reach):
            return
        moves = near(self.held, level, face.x).moves if self.held.small(level) else None
        shown = moves is not None and all(
            bool((np.asarray(abs(rows) @ moves) * (1 + 1e-12) < room * (1 - 1e-12)).all()) for rows, _, _, room in tails
        )
        if not shown:
            record.reach, face.certain = np.inf, False
            self._doubt("on which side of a kink some losses of a level are hangs on rounding")
        for rows, low, high, _ in tails:
            face.add(rows, low, high)
        self._held = None

    def _left(self, level: Level, solved: Solved, z: Ext, last: bool) -> Left:
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
        if not left.certain:
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
