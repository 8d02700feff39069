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

from ..arrays import UNIT_ROUNDOFF, Vector
from ..problem import Problem
from .master import Master
from .smooth import Smooth
from .solutions import Solutions
from .vertex_face import screened


@dataclass
class Bracket:
    """The bounds, and what the face says about the solutions of the lower level."""

    problem: Problem
    lower: Smooth
    upper: Smooth
    master: Master
    lam: float
    x: Vector = field(init=False)

    def __post_init__(self) -> None:
        v, master = self.master.v, self.master
        v.w[: v.count] /= v.w[: v.count].sum()
        master.evaluate()
        self.x = v.point()
        self.y = master.multiplier()
        self.g, self.r = self.problem.lower.value_and_grad(self.x)
        self.f, self.grad_f = self.problem.upper.value_and_grad(self.x)
        self.g_error, self.r_error = self.problem.lower.rounding(self.x)
        self.f_error, self.grad_f_error = self.problem.upper.rounding(self.x)
        s = self.problem.domain.lmo(self.r)
        self.reach = float(np.linalg.norm(s)) + self.problem.domain.diameter
        # x is a rounded mix of its vertices: this far from the exact one, in units of the size of Z
        self.drift = 2 * (v.count + 4) * UNIT_ROUNDOFF
        self.g_error += float(np.linalg.norm(self.r)) * self.drift * self.reach
        self.f_error += float(np.linalg.norm(self.grad_f)) * self.drift * self.reach
        self.least_r = self.problem.domain.lmo_bound(self.r, s) - self.r_error * self.reach
        self._lower_level()
        self._delta()

    # -- g -----------------------------------------------------------------------------------------------------

    def _lower_level(self) -> None:
        lower, at_x = self.problem.lower, float(self.r @ self.x)
        error = self.g_error + self.r_error * self.reach + _dot_error(self.r, self.x)
        tangent = self.g - at_x + self.least_r - error - 4 * UNIT_ROUNDOFF * (abs(self.g) + abs(at_x))
        self.g_upper = self.g + self.g_error
        self.g_lower = max(lower.lower_bound, tangent, lower.scaled_dual_bound(self.x, self.least_r))
        self.g_lower = min(self.g_lower, self.g_upper)

    # -- delta -------------------------------------------------------------------------------------------------

    def _delta(self) -> None:
        v, master, lower, domain = self.master.v, self.master, self.lower, self.problem.domain
        mu, bend = lower.curvatures(domain)
        value_gap = max(self.g_upper - self.g_lower, 0.0)
        delta = 0.0 if lower.data is None else float(np.sqrt(2 * value_gap / mu)) if mu > 0 else np.inf
        r_norm = float(np.linalg.norm(self.r))
        slope_error = (self.r_error + (self.x.size + 8) * UNIT_ROUNDOFF * r_norm) * self.reach
        face = screened(domain, lower, self.r, slope_error, delta, bend)
        self.solutions = Solutions(master, lower, self.upper, face)
        P = master.P[: master.r]
        self.row_norms = np.sqrt(np.einsum("ij,ij->i", P, P)) * (1 + 1e-6)
        if lower.data is not None and self.solutions.spanned and mu > 0:
            slopes = v.dot(self.r)[master.basic[: master.r]] - float(self.r @ self.x)
            noise = 2 * slope_error * np.sqrt(master.r) * float(np.linalg.norm(self.row_norms))
            delta = min(delta, (float(np.linalg.norm(slopes @ P)) + noise) / mu)
        image_error = 0.0 if lower.data is None else lower.data.product_error(self.x) + self.drift * v.s0
        self.delta = delta + image_error

    # -- f -----------------------------------------------------------------------------------------------------

    def f_lower(self) -> float:
        """The better of the bounds over Z, with lam, and over the face, without."""
        price = np.zeros(self.x.size) if self.lower.data is None else self.lower.data.transpose_times(self.y[1:])
        size = float(np.linalg.norm(self.y[1:]))
        c = self.grad_f + price
        c_error = self.grad_f_error + UNIT_ROUNDOFF * float(np.linalg.norm(c)) * 4
        if self.lower.data is not None:
            c_error += (self.y.size + 8) * UNIT_ROUNDOFF * self.lower.data.frobenius * size
        best = self.problem.upper.lower_bound
        paid = self.f_error + size * self.delta * (1 + 1e-12) + 8 * UNIT_ROUNDOFF * abs(self.f)
        domain = self.problem.domain
        for lam in {self.lam, 0.0}:
            slope = c + lam * self.r
            error = c_error + lam * self.r_error + 4 * UNIT_ROUNDOFF * float(np.linalg.norm(slope))
            s = domain.lmo(slope)
            least = domain.lmo_bound(slope, s) - float(slope @ self.x)
            best = max(best, self.f + least - paid - 2 * error * self.reach - _dot_error(slope, self.x))
        face = self.solutions.face
        if face is not None:
            values = face.dot(c)
            least = float(values.min()) - float(c @ self.x)
            error = 2 * c_error * self.reach + _dot_error(c, self.x) + 4 * UNIT_ROUNDOFF * abs(float(values.min()))
            best = max(best, self.f + least - paid - error)
        return float(best)

    def f_upper(self) -> float:
        """f at a feasible point near x, if there is one for certain."""
        v, master = self.master.v, self.master
        shift = self.row_norms * self.delta
        weights = v.w[master.basic[: master.r]]
        inside = self.solutions.spanned and bool(np.all(weights > shift + self.drift))
        if not (inside or self.solutions.unique or self.lower.data is None):
            return np.inf
        master.evaluate()
        y = master.multiplier()
        bend = self.upper.curvatures(self.problem.domain)[1]
        move = float(np.linalg.norm(master.FB[: master.r])) * float(np.linalg.norm(self.row_norms)) * self.delta
        rise = float(np.linalg.norm(y[1:])) * self.delta * (1 + 1e-6) + 0.5 * bend * move**2
        return float(self.f + self.f_error + rise + 8 * UNIT_ROUNDOFF * abs(self.f))


def _dot_error(c: Vector, x: Vector) -> float:
    return (x.size + 2) * UNIT_ROUNDOFF * float(np.abs(c) @ np.abs(x))
