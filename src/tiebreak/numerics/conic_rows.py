"""The set {x : b - A x in a product of cones}: points of it with room around them, bounds on it, weak duality."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector, length
from .clarabel import Point, rows_of, solve_conic
from .cone_kinds import cone_of
from .cones import Cone, Nonnegative
from .deadline import OutOfTime, check, remaining
from .exact import Exact
from .extended import UNIT, Ext, ExtMatrix, dense, double, ext, sum_units, total
from .rows import Rows

TOLERANCE = 1e-10
FAR = 1e-9
"""A set whose points all miss a cone by more than this, relative to its data, is empty."""

NEAREST = ((1e-7, False), (1e-8, True), (0.0, True))
"""How much points with the most room are drawn towards zero, where there are many, and whether in units of the columns;
each is tried if the one before finds no room, at last without that pull."""

SVD_UNITS = 16
MOST_ENTRIES = 4_000_000
"""Sets with more dense entries have no bounds here: they cost a decomposition."""

FOUND = ("Solved", "AlmostSolved", "InsufficientProgress")


class NoPoint(ValueError):
    """No point of the set is there, or none is found."""


class ConicError(ArithmeticError):
    """The interior-point method ends without an answer."""


class Middle(NamedTuple):
    """A point; all slacks are at least ``room`` times the unit of their cone."""

    x: Vector
    room: float


class Bounds(NamedTuple):
    """<e, s> <= ``most`` for all slacks of the set, and two points are no farther apart than ``diameter``."""

    most: float
    diameter: float


class ConicRows:
    """A x + s = b with s in the cones, by pairs of kind and size."""

    def __init__(self, A: Matrix, b: Vector, cones: tuple[tuple[str, float], ...]) -> None:
        self.A, self.b, self.cones = A, b, cones
        ends = np.cumsum([0] + [rows_of(kind, size) for kind, size in cones])
        if ends[-1] != A.shape[0]:
            raise ValueError(f"the cones have {ends[-1]} rows, but A has {A.shape[0]}")
        places = [slice(int(low), int(high)) for low, high in pairwise(ends)]
        made = [(cone_of(kind, size), place) for (kind, size), place in zip(cones, places, strict=True)]
        self.blocks: list[tuple[Cone, slice]] = [(cone, place) for cone, place in made if cone is not None]
        fixed = [np.arange(place.start, place.stop) for cone, place in made if cone is None]
        self.zero = np.concatenate([np.zeros(0, dtype=np.intp), *fixed])
        self.symmetric = all(cone.symmetric for cone, _ in self.blocks)

    @cached_property
    def wide(self) -> ExtMatrix:
        """A with products in extended precision."""
        return ExtMatrix(self.A)

    @cached_property
    def exact(self) -> tuple[Exact, Exact]:
        """A and b."""
        return Exact.of(self.A), Exact.of(self.b)

    def exact_slacks(self, x: Exact) -> Exact:
        """b - A x, without rounding."""
        A, b = self.exact
        return b - A @ x

    @cached_property
    def unit(self) -> Vector:
        """The units of all cones; zero in the rows of equalities."""
        e = np.zeros(self.b.size)
        for cone, place in self.blocks:
            e[place] = cone.unit
        return e

    @cached_property
    def size(self) -> float:
        """That of A, as a map."""
        return float(sp.linalg.norm(self.A)) * (1 + 1e-12)

    @cached_property
    def scale(self) -> float:
        """A length over which slacks change by as much as they are at the middle."""
        return max(length(double(self.slacks(ext(self.middle.x))[0])) / max(self.size, 1e-300), 1e-300)

    @cached_property
    def thick(self) -> float:
        """The worst of all cones."""
        return max((cone.thick for cone, _ in self.blocks), default=1.0)

    def slacks(self, x: Ext) -> tuple[Ext, float]:
        """b - A x, and at least the length of what rounding does to it."""
        s = ext(self.b) - self.wide.times(x)
        return s, 1.01 * length(self.wide.times_error(x)) + 2 * UNIT * length(double(s))

    def margin(self, s: Ext | Exact, off: float = 0.0) -> float:
        """A t with s - t e in all cones, for slacks that may be off by this length."""
        return min((cone.margin(s[place]) - cone.thick * off for cone, place in self.blocks), default=np.inf)

    # -- the equalities ------------------------------------------------------------------------------------------------

    @cached_property
    def _equal(self) -> tuple[Matrix, float]:
        """The pseudo-inverse of their rows, and at most its least singular value (of those that are not rounding)."""
        E = dense(self.A[self.zero])
        if not E.shape[0]:
            return np.zeros((E.shape[1], 0)), np.inf
        left, values, right = np.linalg.svd(E, full_matrices=False)
        noise = SVD_UNITS * sum(E.shape) * UNIT_ROUNDOFF * values[0]
        kept = values > max(noise, 1e-11 * values[0])
        if not kept.any():
            return np.zeros((E.shape[1], E.shape[0])), np.inf
        return (right[kept].T / values[kept]) @ left[:, kept].T, float(values[kept][-1] - noise)

    def beside(self, s: Ext | Exact, off: float = 0.0) -> float:
        """How far the equalities may be from a point with these slacks (rows that follow from others agree)."""
        missed = s[self.zero].double() if isinstance(s, Exact) else double(s[self.zero])
        return (length(missed) * (1 + 1e-12) + off) / self._equal[1] * (1 + 1e-12) if self.zero.size else 0.0

    def on_equalities(self, x: Ext) -> Ext:
        """The point on them next to x, up to rounding."""
        for _ in range(2 if self.zero.size else 0):
            x = x + ext(self._equal[0] @ double(self.slacks(x)[0][self.zero]))
        return x

    # -- points ------------------------------------------------------------------------------------------------------

    @cached_property
    def middle(self) -> Middle:
        """The point with the most room, up to a room of the size of the data; ``NoPoint`` where the set is empty."""
        found: Point | None = None
        best: Middle | None = None
        for tiny, by_columns in NEAREST:
            found = self._roomiest(tiny, by_columns)
            if found.word == "MaxTime":
                raise OutOfTime
            if found.word in FOUND and np.isfinite(found.x).all():
                x = double(self.on_equalities(ext(found.x[:-1])))
                s, off = self.slacks(ext(x))
                tried = Middle(x, self.margin(s, off + self.size * self.beside(s, off)))
                best = tried if best is None or tried.room > best.room else best
                if best.room > 0:
                    return best
        assert found is not None
        if found.word == "PrimalInfeasible":
            raise NoPoint("the set is empty: its equalities contradict each other (A, b in the rows of zero cones)")
        if best is None:
            raise NoPoint(
                f"no point of the set was found: the interior-point method ends with {found.word}; "
                "rows of A and b in one unit may help"
            )
        self._refuse_far(best, float(found.x[-1]) if found.word == "Solved" else 0.0)
        return best

    def _roomiest(self, tiny: float, by_columns: bool) -> Point:
        """The point with the most room, which is the last variable; of several, one near zero where ``tiny`` is not."""
        size, n = float(np.abs(self.b).max()) or 1.0, self.A.shape[1]
        columns = np.sqrt(np.asarray(self.A.multiply(self.A).sum(axis=0), dtype=np.float64)).ravel()
        columns[(columns == 0) | (not by_columns)] = 1.0
        scaled = self.A @ sp.diags_array(1 / columns)
        A = sp.vstack([sp.hstack([scaled, sp.csr_array(self.unit[:, None])]), sp.eye_array(1, n + 1, k=n)])
        cost, right = np.append(np.zeros(n), -1.0), np.append(self.b / size, 1.0)
        cones = [*self.cones, ("nonnegative", 1.0)]
        P = tiny * sp.eye_array(n + 1)
        found = solve_conic(P, cost, A, right, cones, tolerance=1e-9, seconds=remaining(), patient=True)
        return found._replace(x=size * found.x / np.append(columns, 1.0))

    def _refuse_far(self, best: Middle, room: float) -> None:
        """Raise where the best point that was found, for a room that is the most there is, is none of the set."""
        size = float(np.abs(self.b).max()) or 1.0
        s = self.slacks(ext(best.x))[0]
        scale = max(size, float(np.abs(self.b - double(s)).max(initial=0.0)))
        missed = float(np.abs(double(s[self.zero])).max(initial=0.0))
        if missed > 1e-6 * scale:
            raise NoPoint(f"the set is empty: every point misses a row of a zero cone by {missed:.1e} or more")
        if room < -FAR * size and best.room < -FAR * size:
            raise NoPoint(
                f"the set is empty: at every point of the equalities some slack misses its cone by about {-room:.1e}"
            )
        if best.room < -1e-6 * scale:
            raise NoPoint(
                f"no point of the set was found: the best one misses a cone by {-best.room:.1e}; "
                "rows of A and b in one unit may help"
            )

    def minimise(
        self, P: Matrix | None, c: Vector, around: tuple[Vector, float] | None = None
    ) -> tuple[Vector, Vector]:
        """A minimiser of 1/2 x'Px + <c, x> over the set, and multipliers.

        Around (o, unit), the variables are those of o + unit x.
        """
        check()
        origin, unit = around or (np.zeros(c.size), 1.0)
        b = double(self.slacks(ext(origin))[0]) / unit
        P = sp.csc_array((c.size, c.size)) if P is None else P
        found = solve_conic(P, c, self.A, b, self.cones, tolerance=TOLERANCE, seconds=remaining(), patient=True)
        if found.word == "MaxTime":
            raise OutOfTime
        if found.word not in FOUND or not np.isfinite(found.x).all():
            raise ConicError(
                f"the interior-point method ends with {found.word}; is the function bounded below on the set?"
            )
        return found.x, found.z

    def pulled_inside(self, x: Vector) -> Vector:
        """A point of the set near one that misses it by the tolerance of a solver."""
        x = double(self.on_equalities(ext(x)))
        s, off = self.slacks(ext(x))
        room, here = self.middle.room, self.margin(s, off)
        if here >= 0 or not room > 0:
            return x
        share = min(-here / (room - here), 1.0)
        return x + share * (self.middle.x - x)

    def missed(self, x: Vector) -> float:
        """The worst that a cone is missed by, relative to b and to what its rows make of vectors of the size of x.

        Of x as a whole, not of its entries: where a slack is zero, the entries it is made of are rounding.
        """
        s = self.b - self.A @ x
        terms = np.abs(self.b) + sp.linalg.norm(self.A, axis=1) * max(length(x), self.scale)
        worst = 0.0
        if self.zero.size:
            worst = float((np.abs(s[self.zero]) / np.maximum(terms[self.zero], 1e-300)).max())
        for cone, place in self.blocks:
            short = -cone.margin(ext(s[place]))
            if short > 0:
                worst = max(worst, short / max(float(terms[place].max()), 1e-300))
        return worst

    def distance_outside(self, x: Vector) -> float:
        """At least the distance from the set, by the way to the point with room; inf without one."""
        s, off = self.slacks(ext(x))
        beside = self.beside(s, off)
        here = self.margin(s, off + self.size * beside)
        if here >= 0:
            return beside
        center, room = self.middle
        if not room > 0:
            return np.inf
        share = -here / (room - here)
        return float((beside + share * (length(x - center) + 2 * beside)) * (1 + 1e-12))

    # -- bounds --------------------------------------------------------------------------------------------------------

    @cached_property
    def bounds(self) -> Bounds | None:
        """By multipliers with a margin in all dual cones; None where there are none, or they are not found."""
        m, n = self.A.shape
        if (m + n) * n > MOST_ENTRIES:
            return None
        A = dense(self.A)
        values = np.linalg.svd(A, compute_uv=False)
        noise = SVD_UNITS * (m + n) * UNIT_ROUNDOFF * float(values[0])
        sigma = float(values[-1]) - noise if m >= n else 0.0
        if not sigma > 1e-10 * float(values[0]):
            return None
        if not self.blocks:
            return Bounds(0.0, 0.0)
        middle = self.middle.x
        try:
            _, found = self.minimise(None, A.T @ self.unit, (middle, float(np.abs(self.b).max()) or 1.0))
        except ConicError:
            return None
        z = ext(found) + self.unit
        least = self.dual_margin(z)
        pull = length(double(self.wide.transpose_times(z))) + length(self.wide.transpose_times_error(z))
        s = double(self.slacks(ext(middle))[0])
        # <z, s> = <z, s_c> - <A'z, x - x_c>, and |x - x_c| <= (|s| + |s_c|) / sigma
        long = max(cone.long for cone, _ in self.blocks)
        at_center = abs(float(total(z * ext(s)))) + UNIT_ROUNDOFF * m * length(double(z)) * length(s)
        left = least - pull * long / sigma
        if not left > 0:
            return None
        most = (at_center + pull * length(s) / sigma) / left * (1 + 1e-9)
        return Bounds(most, 2 * long * most / sigma * (1 + 1e-9))

    def dual_margin(self, z: Ext | Exact) -> float:
        """A t with z - t e in all dual cones."""
        return min((cone.dual_margin(z[place]) for cone, place in self.blocks), default=np.inf)

    def dual_bound(self, c: Vector, z: Vector, bounds: Bounds) -> float:
        """At most min <c, .> over the set, from multipliers that may be off.

        <c, x> = <c + A'z, x> - <z, b> + <z, s>, and z + t e is in the dual cones.
        """
        wide, center = ext(z), ext(self.middle.x)
        slope = ext(c) + self.wide.transpose_times(wide)
        error = length(self.wide.transpose_times_error(wide)) + 2 * UNIT * length(double(slope))
        s, off = self.slacks(center)
        short = max(0.0, -self.dual_margin(wide))
        # around the middle: <c, x> = <c, x_c> + <slope, x - x_c> + <z, s - s_c>
        at = total(ext(c) * center) - total(wide * s)
        terms = float(np.abs(c) @ np.abs(self.middle.x)) + float(np.abs(z) @ np.abs(double(s)))
        rounding = UNIT_ROUNDOFF * abs(float(at)) + (sum_units(z.size + c.size) + 4) * UNIT * terms + length(z) * off
        reach = length(double(slope)) + error
        return float(float(at) - rounding - reach * bounds.diameter - short * bounds.most)

    def as_rows(self) -> Rows | None:
        """Rows with two ends, where no cone is curved; None where one is."""
        if any(not isinstance(cone, Nonnegative) for cone, _ in self.blocks):
            return None
        low = np.full(self.b.size, -np.inf)
        low[self.zero] = self.b[self.zero]
        n = self.A.shape[1]
        return Rows(sp.csr_array(self.A), low, self.b.copy(), np.full(n, -np.inf), np.full(n, np.inf))
