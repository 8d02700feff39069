"""Two-sided bounds on f* around the point of the column engine, rounding included.

With t* = F x* the image all lower solutions share, h mu-strongly convex, and r = grad g(x):

* ||F x - t*|| <= delta. From the value: delta = sqrt(2 (g(x) - g*) / mu); from the slopes: ``slope_bound.py``.
* f* >= f(x) - max <c, x - s> - ||y|| delta with c = grad f(x) + F'y for any y; over Z one may add lam r to c, because
  <r, x* - x> <= g* - g(x) <= 0; over the face no lam is needed.
* f* <= f(x) + ||y|| delta + curvature: moving the basic weights by P [0, t* - F x] makes x a lower solution if they
  stay nonnegative and the face is spanned for certain; or x* is this point itself, if it is the only solution.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...arrays import UNIT_ROUNDOFF, Vector, length
from ...objectives.matrix import gamma
from ...problem import Problem
from .atoms import OnAxes
from .evaluated import evaluated, largest, lowest
from .face import VertexFace, optimal_face
from .level import Smooth
from .linear_face import LinearFace
from .master import Master
from .slope_bound import SlopeBound, Twins
from .solutions import Solutions, codes_of

ENOUGH = 1e-12  # ||F x - t*|| relative to the size of the images, below which nothing better is to be had


@dataclass
class Bracket:
    """The bounds, and what the face says about the solutions of the lower level; ``sharp``: in extended precision."""

    problem: Problem
    lower: Smooth
    upper: Smooth
    master: Master
    lam: float
    sharp: bool = False
    x: Vector = field(init=False)

    def __post_init__(self) -> None:
        v, master = self.master.v, self.master
        v.w[: v.count] /= v.w[: v.count].sum()
        master.evaluate()
        self.x = v.point()
        self.sizes, self.products = np.abs(self.x), gamma(int(np.count_nonzero(self.x)))
        self.y, self.count = master.multiplier(), v.count
        self.f = evaluated(self.problem.upper, self.upper, self.x, self.sharp)
        self.g = evaluated(self.problem.lower, self.lower, self.x, self.sharp)
        # x is a rounded mix of its vertices, each entry this near to the exact one, relative to the sum of sizes
        self.drift = 2 * (v.count + 4) * UNIT_ROUNDOFF
        self.f_error = self.f.value_error + self.drift * self._largest(np.abs(self.f.grad))
        self.g_error = self.g.value_error + self.drift * self._largest(np.abs(self.g.grad))
        self.r = self.g.grad
        self.r_error = self._largest(self.g.grad_error)
        self._lower_level()
        self.linear = LinearFace(v.atoms, self.problem.domain, self.g) if self.lower.data is None else None
        self.unlike = self.lower.inexact * self.problem.domain.diameter  # what F stands for may differ by this
        self._delta()

    def _largest(self, size: Vector) -> float:
        return largest(self.master.v.atoms, self.problem.domain, size)

    def _lowest(self, c: Vector) -> float:
        return lowest(self.master.v.atoms, self.problem.domain, c)

    def _dot_error(self, c: Vector) -> float:
        """What rounding can do to <c, x>; zeros of x do nothing."""
        return self.products * float(np.abs(c) @ self.sizes)

    # -- g -----------------------------------------------------------------------------------------------------

    def _lower_level(self) -> None:
        lower, at_x, g = self.problem.lower, float(self.r @ self.x), self.g.value
        least = self._lowest(self.r) - self.r_error
        error = self.g_error + self.r_error + self._dot_error(self.r)
        tangent = g - at_x + least - error - 4 * UNIT_ROUNDOFF * (abs(g) + abs(at_x) + abs(least))
        self.g_upper = g + self.g_error
        self.gap = at_x - least + error
        bound = max(lower.lower_bound, tangent)
        # a scaled dual point gains gap^2 / 4g, next to nothing near a minimum above zero
        if self.g_upper - bound > 4 * self.g_error and self.gap > 1e-3 * abs(g):
            bound = max(bound, lower.scaled_dual_bound(self.x, least))
        self.g_lower = min(bound, self.g_upper)

    # -- delta -------------------------------------------------------------------------------------------------

    def _delta(self) -> None:
        v, lower, mu, bend = self.master.v, self.lower, 1.0, 1.0
        if not lower.quadratic:
            least, most = lower.near(self.g.image, self.gap)
            mu, bend = float(least.min()), float(most.max())
        delta, row_error, self.by_rank = 0.0, 0.0, False
        self.twins: Twins | None = None
        if lower.data is not None:
            value_gap = max(self.g_upper - self.g_lower, 0.0)
            delta = (float(np.sqrt(2 * value_gap / mu)) if mu > 0 else np.inf) + self.unlike
            terms = 1 if isinstance(v.atoms, OnAxes) else lower.dim
            row_error = gamma(terms + 2) * (2 * self._largest(lower.column_norms) + length(v.t_star)) + self.unlike
        face = self._face(bend * delta)
        if lower.data is not None and face is not None and mu > 0 and delta > ENOUGH * v.s0:
            slopes = self._slopes(bend)
            by_slopes = slopes.delta(face, row_error, mu) + self.unlike
            if by_slopes < delta:
                delta, face = by_slopes, self._face(bend * by_slopes)
                self.by_rank, self.basis, self.twins = slopes.by_rank, slopes.basis, slopes.twins
        self.solutions = Solutions(self.master, lower, self.upper, None if self.linear else face, row_error)
        self.delta = delta + self.g.image_error + (0.0 if lower.data is None else self.drift * v.s0)
        P, s = self.master.t.P[: self.master.r], self.solutions
        self.row_norms = np.sqrt(np.einsum("ij,ij->i", P, P)) * (s.stretch / length(P)) * (1 + 1e-6)
        weights = v.w[self.master.t.basic[: self.master.r]]
        self.inside = s.spanned and bool(np.all(weights > self.row_norms * self.delta + self.drift))
        if self.linear is not None:
            self.linear.describe(s, self.upper)
        else:
            s.look_further(self.inside)

    def _face(self, change: float) -> VertexFace | None:
        if self.linear is not None:
            return self.linear.face
        data = self.lower.data
        error = self.g.grad_error + (0.0 if data is None else self.unlike * data.frobenius)
        return optimal_face(self.master.v.atoms, self.problem.domain, self.lower, self.r, error, change)

    def _slopes(self, bend: float) -> SlopeBound:
        noise = 2 * (self.r_error + self._dot_error(self.r) + 16 * UNIT_ROUNDOFF * self._largest(np.abs(self.r)))
        steep = length(self.lower.at(self.g.image)[1]) * (1 + 1e-6) + bend * self.g.image_error
        reach = self._largest(self.lower.column_norms) * (1 + 1e-10)
        return SlopeBound(self.master, self.lower, self.r, float(self.r @ self.x), noise, steep, reach, bend)

    # -- f -----------------------------------------------------------------------------------------------------

    def f_lower(self) -> float:
        """The better of the bounds over Z, with lam, and over the face, without."""
        f, c, c_error = self.f.value, self.f.grad, self.f.grad_error
        y, data = self.y[1:], self.lower.data
        if data is not None:
            c = c + data.transpose_times(y)
            c_error = c_error + gamma(y.size) * self.lower.sizes_pulled(np.abs(y))
        c_error = c_error + 4 * UNIT_ROUNDOFF * np.abs(c)
        best = self.problem.upper.lower_bound
        paid = self.f_error + length(y) * self.delta * (1 + 1e-12) + 8 * UNIT_ROUNDOFF * abs(f)
        face = self.solutions.face if self.linear is None else self.linear.loose
        if face is not None:
            least = face.least(c) - float(c @ self.x)
            error = 2 * self._largest(c_error) + self._dot_error(c) + gamma(c.size) * self._largest(np.abs(c))
            best = max(best, f + least - paid - error)
            if least >= -error or (self.linear is not None and self.linear.tied):
                return float(best)  # but for rounding f(x) itself, or the other answer of a tie: no more over Z
        for lam in {self.lam, 0.0}:
            slope = c + lam * self.r
            error = self._largest(c_error + lam * self.g.grad_error + 4 * UNIT_ROUNDOFF * np.abs(slope))
            least = self._lowest(slope) - float(slope @ self.x)
            best = max(best, f + least - paid - 2 * error - self._dot_error(slope))
        return float(best)

    def _one_solution(self) -> bool:
        """Whether x* mixes basic vertices and their twins only, as x does the basic ones."""
        master, face = self.master, self.solutions.face
        if master.v.w[master.t.free[: master.q]].any():
            return False
        if self.twins is None:
            return self.solutions.shown
        return face is not None and bool(
            np.isin(codes_of(face, master), np.concatenate([self.basis, self.twins.codes])).all()
        )

    def f_upper(self) -> float:
        """f at a lower solution near x, if there is one for certain."""
        v, master = self.master.v, self.master
        if self.linear is not None:
            rise = 0.0 if self.linear.holds(v) else np.inf
        elif self.inside or self._one_solution():
            y, twins = self.y, self.twins
            if v.count > self.count:  # the basis has been completed since
                master.evaluate()
                y = master.multiplier()
            delta = self.delta + (0.0 if twins is None else twins.apart)
            move = length(master.t.FB[: master.r]) * length(self.row_norms) * delta
            rise = length(y[1:]) * delta * (1 + 1e-6)
            if twins is not None and not self.inside:
                tilts = v.atoms.dots(self.f.grad, twins.codes) - v.atoms.dots(self.f.grad, twins.of)
                turns = v.candidates(twins.codes).F - v.candidates(twins.of).F
                rise += float(np.abs(tilts).max()) + 2 * self._largest(self.f.grad_error)
                rise += 8 * UNIT_ROUNDOFF * self._largest(np.abs(self.f.grad))
                move += float(np.linalg.norm(turns, axis=1).max()) * (1 + 1e-10)
                move += 8 * UNIT_ROUNDOFF * self._largest(self.upper.column_norms)
            rise += 0.5 * self.upper.bend(self.f.image, move) * move**2
        else:
            rise = np.inf
        return float(self.f.value + self.f_error + rise + 8 * UNIT_ROUNDOFF * abs(self.f.value))
