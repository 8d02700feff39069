"""A chain of levels: each is solved on the face of those before it and leaves its own face, point and record."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ...arrays import Vector
from ...numerics.extended import Ext, ExtMatrix, double, ext
from ...numerics.failures import LinearProgramError
from ...numerics.rank import EPS
from ...numerics.rows import Rows
from ..answer import Unbounded
from ..interrupt import check
from .bracket import Bracket, bracket
from .degenerate import beside_all, images_tell_all, tight_for_certain
from .face import Face, Record
from .held import Held
from .left import (
    SHORT,
    Left,
    Sizes,
    independent_rows,
    left_by_costs,
    left_by_gradient,
    left_by_vertex,
    multiplier_sizes,
    without_end,
)
from .level import Level
from .linear_level import SOUND, TIE, FaceProgram
from .nearby import NOWHERE, Near, by_rounding, near, several
from .quadratic_level import Solved, accepted, solve_quadratic
from .rays import falling_ray
from .unique import constant_on, is_single, leads_elsewhere

NEAR = 2.0**6
"""Multipliers larger than those of a tie by no more than this factor are reported as well."""

FALL = 1e-9
"""A level that falls by more than this on a face, relative to 1 + |value|, has a choice there."""

BY_MULTIPLIERS = (
    "with so many free variables upper bounds take twice the multipliers at the point for those of the true problem"
)


FREE_COSTS = (
    "what {count} variables without a bound there would gain is zero: it is no more than the rounding of the data "
    "explains, and the level would have no minimum else"
)


class Outcome(NamedTuple):
    """What a level's solve says: its bounds, whether the levels before had one solution, and left it no choice."""

    bracket: Bracket
    unique: bool | None
    constant: bool | None
    moves: Vector | None = None  # how far a true solution of the levels before is from the point, by columns, if known


@dataclass
class Chain:
    """The levels solved so far; ``face`` holds their minimisers."""

    face: Face
    tol: float
    sharp: bool = False  # whether multipliers that rounding of the data explains count as nonzero
    notes: list[str] = field(default_factory=list)
    assumes: list[str] = field(default_factory=list)  # beside what every chain does
    ambiguous: int | None = None  # after which level: a multiplier below its threshold that is no rounding error
    well_posed: bool = True
    steps: int = 0
    _undecided: bool = False  # whether the face is a single point has not been asked yet
    _several: bool = False  # whether two points of the face are proved to be there
    _held: Held | None = None
    _programme: FaceProgram | None = None  # kept hot from one linear level to the next
    _origin: Ext | None = None  # the variable of the programme is x - origin
    _asked: tuple[Ext, int, bool] | None = None  # the last point and level, and whether what is tight is so for certain

    def solve(self, level: Level, last: bool = False) -> Outcome:
        """Minimise the level over the face, and shrink the face to its minimisers (not all the way after the last)."""
        check()
        face = self.face
        if level.linear and self._programme is None:  # else another vertex is found at once, and shows a second point
            self.settle()
        by_vertex = level.linear or bool(face.single)
        solved = (self._at_point(level) or self._linear(level)) if by_vertex else self._quadratic(level)
        solved = self._proved(level, solved, last)
        on_face = np.isfinite(solved.bracket.upper)
        if self._undecided and on_face and leads_elsewhere(face, solved.x - face.x):
            face.single, self._undecided = False, False
        self.settle()
        constant = self._has_no_say(level, solved)
        unique = face.single
        if unique and not accepted(solved.bracket, self.tol):
            other = self._at_point(level) or (None if by_vertex else self._linear(level))
            solved = self._proved(level, other, last) if other else solved
        told = self.told(solved.x)
        moves = self._moves(level, solved)
        holds = not level.linear and not unique  # on a single point there is no image left to hold
        found = self._shrink(level, solved, level.image if holds and not last else None, last)
        if not (level.linear or unique or accepted(found, self.tol)):
            self.notes.append(f"a quadratic level is known to a relative width of {found.width:.1e} only")
        if holds:
            self._programme = None  # its rows lack those of this level
        if last:
            self._undecided = not unique
        elif not unique:
            self._look(level)
        constant = constant and face.resolved and self._reached and self._is_tight(solved.x)
        return Outcome(found, told, constant or told or None, moves)

    @property
    def held(self) -> Held:
        """What the points of the face have in common."""
        if self._held is None:
            self._held = Held(self.face)
        return self._held

    def told(self, x: Ext) -> bool | None:
        """What may be said of uniqueness: where images are held, only what their rank and a second solution prove."""
        single, held = self.face.single, self.held
        if not self.face.resolved or not self._reached:
            return None
        if any(record.level.strong_convexity > 0 for record in self.face.records):
            return True
        if not self.face.predictors:
            return (self._is_tight(x) or None) if single else (single if self.well_posed else None)
        if not held.knows():
            return None
        if held.rank == held.columns.size:
            return images_tell_all(self.face) or self._is_tight(x) or None
        return False if self._several or (not single and several(held, x)) else None

    def _is_tight(self, x: Ext) -> bool:
        """Whether what is tight at the point is so for the data as stored: otherwise rounding may hide another face."""
        if not self.face.given.low.size:
            return True
        count = len(self.face.records)
        if self._asked is None or self._asked[1] != count or (self._asked[0] != x).any():
            programme, origin = self._programme, self._origin
            ordinary = programme is not None and origin is not None and not origin.any() and programme.is_ordinary(x)
            self._asked = x, count, ordinary or tight_for_certain(self.face, x)
        return self._asked[2]

    def _has_no_say(self, level: Level, solved: Solved) -> bool | None:
        """Whether the face leaves the level no choice: not asked where it fell, as that takes a decomposition."""
        face = self.face
        if not face.records or face.single:
            return None
        fall = float(level.at(face.x).value - solved.bracket.value)
        return constant_on(self.held, level) if fall <= FALL * (1 + abs(float(solved.bracket.value))) else None

    @property
    def _reached(self) -> bool:
        """Whether the true minimisers of all levels are near those found: otherwise their face may be another one."""
        return all(record.reach < np.inf for record in self.face.records)

    def _in_doubt(self, level: Level, x: Ext) -> Near:
        """Where rounding of the data may hide another face: what all true solutions of the levels before may cost."""
        face, held = self.face, self.held
        pinned = not (face.records and face.single) or (held.knows() and held.rank == held.columns.size)
        if pinned and self._is_tight(x):
            return NOWHERE
        if not (face.certain and all(record.exact for record in face.records)):
            return NOWHERE
        moves = beside_all(face, x)
        if moves is None:
            return NOWHERE
        at, bend = level.at(x), level.bend(x, moves)
        rise = float((np.abs(double(at.grad)) + at.grad_error) @ moves) * (1 + 1e-12) + bend / 2
        return Near(rise, float(np.sqrt(bend)), False, moves)

    def settle(self) -> None:
        """Decide whether the face is a single point, where that is still open."""
        if self._undecided:
            self.face.single, self._undecided = self._is_single(), False

    def _look(self, level: Level) -> None:
        """Whether a level leaves a single point, if that costs little; else it stays open until it matters."""
        self.face.single = True if level.strong_convexity > 0 else None
        if self._programme is not None:
            if self._programme.settled():
                self.face.single = True
            self._undecided = not self.face.single
        elif not self.face.single:
            self._undecided = True
            self.settle()

    # -- linear levels, and any level on a single point, where only its gradient matters -------------------------

    def _linear(self, level: Level) -> Solved:
        face = self.face
        if self._programme is None:
            self._programme = self._build()
        programme, origin = self._programme, self._origin
        assert origin is not None
        slope, costs = level.grad(face.x), level.slopes if level.linear else None
        try:
            vertex = programme.minimise(slope, falls=face.cut is not None, costs=costs)
        except LinearProgramError:
            if face.cut is None:
                raise
            self._refuse_ray(level)
            vertex = programme.minimise(slope, costs=costs)
        self.steps += 1
        if vertex.excess > SOUND:
            self._refuse_ray(level)
            self.well_posed = face.certain = False
            self.notes.append(f"the basis of a linear level misses a bound or a sign by {vertex.excess:.1e} (relative)")
        y, w = face.split(vertex.y)
        x = face.x if face.single else face.snapped(origin + vertex.x)
        solved = Solved(x, y, w, bracket(face, level, x, y, w), TIE, z=vertex.z if vertex.settled else None)
        if not (self.sharp and vertex.settled and self._hangs_on_rounding(solved, vertex.z)):
            return solved
        if vertex.wrong > 0 or not (face.predictors or programme.is_feasible(vertex)):
            raise LinearProgramError("which multipliers of a linear level are zero is not settled", "not settled")
        return solved._replace(solution=not face.predictors)  # images are held but for their rounding

    def _hangs_on_rounding(self, solved: Solved, z: Ext) -> bool:
        """Whether the face does: on multipliers that rounding of the data explains."""
        sizes = multiplier_sizes(self.face, solved, z)
        return any((part.nonzero(True) & ~part.nonzero(False)).any() for part in sizes)

    def _at_point(self, level: Level) -> Solved | None:
        """On a single point: multipliers by least squares, if those prove enough."""
        face, held = self.face, self.held
        if not face.single or not held.knows():
            return None
        if held.large and held.rank == held.columns.size:  # the only true solution is near the point, by ``nearby``
            y, w = face.split(ext(np.zeros(face.given.A.shape[0] + sum(P.shape[0] for _, P in face.predictors))))
            return Solved(face.x, y, w, bracket(face, level, face.x, y, w), np.inf)
        y, w = held.multipliers(level.grad(face.x))
        found = bracket(face, level, face.x, y, w)
        return Solved(face.x, y, w, found, np.inf) if accepted(found, self.tol) else None

    def _build(self) -> FaceProgram:
        """The face as rows of a linear programme: in x at first, in the step from the point once images are held."""
        face = self.face
        if not face.records:
            self._origin = ext(np.zeros(face.x.size))
            return FaceProgram(face.given, face.scale)
        self._origin = face.x
        A, low, high, lower, upper = face.step_rows()
        rows = Rows(sp.csr_array(A), double(low), double(high), double(lower), double(upper))
        return FaceProgram(rows, face.scale)

    def _refuse_ray(self, level: Level) -> None:
        """``Unbounded`` where the level falls for ever on the face."""
        ray = falling_ray(self.face, level)
        if ray is not None:
            raise Unbounded(len(self.face.records), ray, double(self.face.x))

    def _quadratic(self, level: Level) -> Solved:
        self._refuse_ray(level)
        solved, asked = solve_quadratic(self.face, level, self.tol)
        self.steps += asked
        return solved

    # -- what a level leaves ---------------------------------------------------------------------------------------

    def _proved(self, level: Level, solved: Solved, last: bool) -> Solved:
        """The bounds with a true solution of the levels before in place of the point, where images are held."""
        own, held = solved.bracket, self.held
        asked = bool(self.face.predictors) or (self.face.given.low.size and self._is_charged(level, solved))
        if not asked or not held.knows(level):
            if self.face.predictors and BY_MULTIPLIERS not in self.assumes:
                self.assumes.append(BY_MULTIPLIERS)
            return solved
        if not self.face.predictors:  # what is missed by rounding counts as feasible, and is given away
            found = self._in_doubt(level, solved.x)
            if found is NOWHERE and held.rows.size and not (last or level.linear):
                found = near(held, level, solved.x)
            if not np.isfinite(found.shift):
                found = by_rounding(held, level, solved.x)
            upper = float(own.value) + found.rise + own.value_error + EPS * abs(float(own.value))
            charged = replace(own, upper=max(own.upper, upper), allowance=max(own.allowance, found.rise))
            return solved._replace(bracket=charged, near=found)
        found = self._in_doubt(level, solved.x)
        found = near(held, level, solved.x) if found is NOWHERE else found
        if not np.isfinite(found.rise) and not held.small(level):
            self.assumes += [BY_MULTIPLIERS] if BY_MULTIPLIERS not in self.assumes else []
            return solved
        value, rise = float(own.value), found.rise + own.value_error
        proved = replace(own, upper=value + rise + EPS * abs(value), allowance=found.rise)
        if found.single:
            lower = max(own.lower, value - rise - EPS * abs(value))
            proved = replace(proved, lower=lower, gap=min(own.gap, rise))
        return solved._replace(bracket=proved, near=found)

    def _is_charged(self, level: Level, solved: Solved) -> bool:
        """Whether a level over rows pays for the way back to them: a linear one does where its vertex misses some."""
        if not level.linear:
            return True
        given, activity = self.face.given, self.face.A.times(solved.x)
        return bool(((activity < given.low) | (activity > given.high)).any()) or not self._is_tight(solved.x)

    def _moves(self, level: Level, solved: Solved) -> Vector | None:
        """How far a true solution of the levels before is, by columns: one near the point or, by its values, the best.

        With half of its strong convexity kept, the level at a true solution x is at least that at the point less twice
        the gap, plus mu/4 |x - point|^2; and the best of them is no higher than the upper bound.
        """
        own, mu = solved.bracket, level.strong_convexity
        if self.face.predictors and solved.near.moves is not None:
            return solved.near.moves
        if not (self.face.records and mu > 0 and np.isfinite(own.upper)):
            return None
        square = 4 / mu * (own.upper - float(own.value) + 2 * own.gap + own.value_error)
        return np.full(level.dim, 1.01 * np.sqrt(max(0.0, square)))

    def _left(self, level: Level, solved: Solved, z: Ext, last: bool) -> Left:
        """What the level fixes, and how far its minimisers are."""
        face, own = self.face, solved.bracket
        if face.single or (last and not level.linear):
            return Left.nothing()
        if level.linear:
            if not face.records and not face.given.low.size:
                return left_by_costs(face, z)
            sizes = multiplier_sizes(face, solved, z)
            self._weigh(*sizes)
            if (count := without_end(face, solved, z)) and face.cut is not None:
                self.assumes.append(FREE_COSTS.format(count=count))
            return left_by_vertex(face, solved, z, sizes, self.sharp)
        shift = solved.near.shift
        fall = own.gap - own.value_error + 4 * EPS * own.gap  # how values are rounded has no part in it
        by_value = np.sqrt(2 * max(0.0, fall + own.allowance)) + shift
        if level.lower_bound >= 0 and not level.q.any() and not level.bends:
            value = float(own.value) + own.value_error
            by_value = min(by_value, 2 * np.sqrt(2 * max(0.0, value + own.allowance)) + shift)
        left = left_by_gradient(face, level, solved, float(by_value))
        if left.by_value and left.reach > SHORT:
            self.notes.append(
                f"with {self.held.columns.size} free variables what a quadratic level leaves is bounded by its value "
                "alone: the brackets of later levels are wide"
            )
        if not left.certain:
            self._doubt(
                "the rank of a quadratic level hangs on rounding: some of its singular values cannot be told from zero"
            )
        elif not left.exact:
            self._doubt("the linear part of a quadratic level cannot be told from one that vanishes where it is flat")
        return left

    def _doubt(self, why: str) -> None:
        self.well_posed = False
        self.notes.append(f"{why}; a slack would be safer")

    def _shrink(self, level: Level, solved: Solved, P: ExtMatrix | None, last: bool) -> Bracket:
        """Fix columns and rows with a nonzero multiplier at their bounds, and record the level; its bounds after that.

        Over bounds alone the point is feasible, and a first level falls by less than the square of its reach.
        """
        face, own = self.face, solved.bracket
        z = own.grad - face.held_part(solved.y, solved.w) if solved.z is None else solved.z
        left = self._left(level, solved, z, last)
        if P is not None and not face.records and not face.given.low.size:
            value = float(own.value)
            gap = left.reach**2 + own.value_error
            own = replace(own, gap=min(own.gap, gap), lower=max(own.lower, value - gap - EPS * abs(value)))
        kept = independent_rows(face, P, left) if P is not None and level.quadratic else None
        P = P if kept is None or P is None else ExtMatrix(P.A[kept])
        sides = -np.sign(double(z[left.fixed])).astype(np.int8)
        face.column_side[left.fixed] = sides
        face.row_side[left.fixed_rows] = -np.sign(double(solved.y[left.fixed_rows]))
        face.records.append(
            Record(
                level,
                solved.x,
                own.grad,
                own.grad_error,
                solved.y,
                z,
                solved.w,
                left.columns,
                left.rows,
                own.value,
                own.lower,
                own.gap,
                own.allowance,
                P,
                left.reach if P is not None else 0.0,
                left.column_spread,
                left.row_spread,
                left.exact,
                _distance(level, own),
                kept,
            )
        )
        face.x = solved.x
        self._several = False
        if left.proved.size:
            face.pin(left.proved)
        if left.proved_rows.size:
            face.pin_rows(left.proved_rows)
        self._held = None
        if self._programme is not None and self._origin is not None:
            self._programme.fix(left.fixed, left.fixed_rows, face.x - self._origin)
        return own

    def _weigh(self, *sizes: Sizes) -> None:
        """Say so where the face hangs on which of the multipliers count as nonzero."""
        if self.ambiguous is None and any((part.nonzero(True) & ~part.nonzero(False)).any() for part in sizes):
            self.ambiguous = len(self.face.records) + 1
        close = sum(
            int((part.nonzero(True) & (np.minimum(part.own, part.common) < TIE * NEAR)).sum()) for part in sizes
        )
        if close:
            self._doubt(
                f"{close} multipliers of a linear level are below {TIE * NEAR:.0e}, relative to its costs: "
                "whether there is a tie hangs on the rounding of the data"
            )

    def _is_single(self) -> bool | None:
        held = self.held
        if self.face.predictors and held.knows():  # singular values say it best
            if held.rank == held.columns.size:
                return True
            if several(held, self.face.x):
                self._several = True
                return False
        return is_single(self.held, self._programme)


def _distance(level: Level, own: Bracket) -> float:
    """A bound on the distance of the level's minimisers from its point, by its strong convexity; inf without.

    With half of it kept, columns cost at most twice as much, and the level at a minimiser x is at least its value at
    the point less the gap and that cost, plus mu/4 |x - point|^2; it is no higher than the upper bound.
    """
    mu = level.strong_convexity
    if not (mu > 0 and np.isfinite(own.upper)):
        return float(np.inf)
    rise = own.upper - float(own.value) + own.gap + own.columns_cost + own.value_error
    return 1.01 * float(np.sqrt(4 / mu * max(0.0, rise)))
