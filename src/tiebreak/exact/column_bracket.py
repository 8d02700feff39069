"""Two-sided bounds on f* around the point of the column engine, rounding included.

With t* = F x* the image all lower solutions share, h mu-strongly convex, and r = grad g(x):

* ||F x - t*|| <= delta. From the value: delta = sqrt(2 (g(x) - g*) / mu). From the slope: for x, x* in one face with
  vertices v, mu ||F x - t*||^2 <= <r, x - x*> = sum (w - w*)_v (<r, v> - level), and where the rows
  E_v = [s0, F v - t*] of the basis span those of the face this is at most ||zeta|| ||F x - t*||
  with E_B zeta = (<r, v> - level)_B.
* f* >= f(x) - max <c, x - s> - ||y|| delta with c = grad f(x) + F'y for any y; over Z one may add lam r to c, because
  <r, x* - x> <= g* - g(x) <= 0; over the face no lam is needed.
* f* <= f(x) + ||y|| delta + curvature: moving the basic weights by P [0, t* - F x] makes x feasible, if they stay
  nonnegative, or if the vertices of the face are independent, since then no other weights exist.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Vector, length
from ..objectives.matrix import gamma
from ..problem import Problem
from .evaluated import evaluated, largest, lowest
from .master import Master
from .smooth import Smooth
from .solutions import Solutions
from .vertex_face import optimal_face


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
        v, master, lower, domain = self.master.v, self.master, self.lower, self.problem.domain
        mu = bend = 1.0
        if not lower.quadratic:
            least, most = lower.near(self.g.image, self.gap)
            mu, bend = float(least.min()), float(most.max())
        value_gap = max(self.g_upper - self.g_lower, 0.0)
        delta = 0.0 if lower.data is None else float(np.sqrt(2 * value_gap / mu)) if mu > 0 else np.inf
        slope_error = self.r_error + self._dot_error(self.r) + 16 * UNIT_ROUNDOFF * self._largest(np.abs(self.r))
        face = optimal_face(v.atoms, domain, lower, self.r, self.g.grad_error, bend * delta)
        self.solutions = Solutions(master, lower, self.upper, face, domain)
        P = master.t.P[: master.r]
        self.row_norms = np.sqrt(np.einsum("ij,ij->i", P, P)) * (1 + 1e-6)
        if lower.data is not None and self.solutions.spanned and mu > 0:
            slopes = v.dot(self.r)[master.t.basic[: master.r]] - float(self.r @ self.x)
            noise = 2 * slope_error * np.sqrt(master.r) * length(self.row_norms)
            delta = min(delta, (length(slopes @ P) * (1 + 1e-6) + noise) / mu)
        self.delta = delta + self.g.image_error + (0.0 if lower.data is None else self.drift * v.s0)

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
        face = self.solutions.face
        if face is not None and face.complete:
            least = float(np.min(face.dots(c))) - float(c @ self.x)
            error = 2 * self._largest(c_error) + self._dot_error(c)
            best = max(best, f + least - paid - error)
            if least >= -error:  # but for rounding f(x) itself: nothing is to be gained over Z
                return float(best)
        for lam in {self.lam, 0.0}:
            slope = c + lam * self.r
            error = self._largest(c_error + lam * self.g.grad_error + 4 * UNIT_ROUNDOFF * np.abs(slope))
            least = self._lowest(slope) - float(slope @ self.x)
            best = max(best, f + least - paid - 2 * error - self._dot_error(slope))
        return float(best)

    def f_upper(self) -> float:
        """f at a feasible point near x, if there is one for certain."""
        v, master = self.master.v, self.master
        shift = self.row_norms * self.delta
        weights = v.w[master.t.basic[: master.r]]
        inside = self.solutions.spanned and bool(np.all(weights > shift + self.drift))
        if not (inside or self.solutions.unique or self.lower.data is None):
            return np.inf
        y = self.y
        if v.count > self.count:  # the basis has been completed since
            master.evaluate()
            y = master.multiplier()
        move = length(master.t.FB[: master.r]) * length(self.row_norms) * self.delta
        rise = length(y[1:]) * self.delta * (1 + 1e-6) + 0.5 * self.upper.most * move**2
        return float(self.f.value + self.f_error + rise + 8 * UNIT_ROUNDOFF * abs(self.f.value))
