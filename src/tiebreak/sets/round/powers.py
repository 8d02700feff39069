"""Balls of the lp norms, 1 < p < inf, around a centre: the Euclidean ball is the one with p = 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

from ...arrays import UNIT_ROUNDOFF, Matrix, Vector, length
from ...numerics.clarabel import Cones
from ...numerics.extended import UNIT, Ext, double, ext, sum_units, total
from .description import Chart, Conic, Growth, Round
from .inside import Inside

FLAT = 1e-5
"""Entries below this, relative to the radius, of a ball with p > 2: there the boundary hardly bends along them."""

POWER_UNITS = 64
"""Units of roundoff that a power in extended precision may be off by."""


class PowerBall(Round):
    """{center + s : |s|_p <= radius}."""

    def __init__(self, p: float, radius: float, center: Vector, outside: Callable[[Vector], float]) -> None:
        self.p, self.size, self.center, self._outside = p, radius, center, outside
        n, self.middle, self.sphere = center.size, center, p == 2
        self.work = float(n) ** 3 / 3 if p == 2 else (3.0 * n) ** 3 / 3

    def conic(self) -> Conic:
        n, R = self.center.size, self.size
        eye = sp.eye_array(n, format="csc")
        if self.p == 2:
            A = sp.vstack([sp.csc_array((1, n)), -eye], format="csc")
            return Conic(eye, self.center, A, np.append(R, np.zeros(n)), [("second-order", n + 1)])
        # |s_i| <= t_i^(1/p) R^(1 - 1/p) and the sum of t at most R
        M = sp.hstack([eye, sp.csc_array((n, n))], format="csc")
        row, column = np.arange(n), np.arange(n)
        entries = sp.coo_array(
            (np.full(2 * n, -1.0), (np.concatenate([3 * row, 3 * row + 2]), np.concatenate([n + column, column]))),
            shape=(3 * n, 2 * n),
        )
        last = sp.csc_array(np.concatenate([np.zeros(n), np.ones(n)])[None, :])
        b = np.zeros(3 * n + 1)
        b[1 : 3 * n : 3] = b[-1] = R
        cones: Cones = [("power", 1 / self.p)] * n + [("nonnegative", 1)]
        return Conic(M, self.center, sp.vstack([entries, last], format="csc"), b, cones)

    def charts(self, x: Vector, c: Vector) -> Iterator[Chart]:
        if (x != self.center).any():
            yield PowerChart(self, x)

    def inside(self, x: Vector) -> Chart:
        return Inside(x, self._outside)

    def room(self, x: Vector) -> float:
        norm = float(np.linalg.norm(x - self.center, self.p)) * (1 + (x.size + 8) * UNIT_ROUNDOFF)
        norm += UNIT_ROUNDOFF * length(x - self.center)
        return max(self.size - norm, 0.0) * float(min(1.0, x.size ** (0.5 - 1 / self.p))) * (1 - 1e-14)


class PowerChart(Chart):
    """The sphere of the norm. With v = (x - center) / radius, the normal is sign(v) |v|^(p-1).

    For p < 2 the unknown u is the normal, else v: each is a smooth function of u then, also where entries vanish.
    """

    def __init__(self, ball: PowerBall, x: Vector) -> None:
        self.ball, self.dual = ball, ball.p < 2
        self.p = np.longdouble(ball.p)
        v = (ext(x) - ext(ball.center)) / np.longdouble(ball.size)
        v = v / _norm(v, self.p)
        self.start = _power(v, self.p - 1) if self.dual else v

    def _v(self, u: Ext) -> Ext:
        return _power(u, 1 / (self.p - 1)) if self.dual else u

    def point(self, u: Ext) -> Ext:
        return ext(self.ball.center) + np.longdouble(self.ball.size) * self._v(u)

    def pull(self, u: Ext, c: Ext) -> Ext:
        return c

    def pulled(self, u: Ext, M: Matrix) -> Matrix:
        return M

    def normal(self, u: Ext) -> Ext:
        return u if self.dual else _power(u, self.p - 1)

    def gauge(self, u: Ext) -> np.longdouble:
        return total(np.abs(self._v(u)) ** self.p)

    def gauge_slope(self, u: Ext) -> Vector:
        p = self.ball.p
        return double(p / (self.p - 1) * self._v(u)) if self.dual else p * double(_power(u, self.p - 1))

    def jacobian(self, u: Ext) -> Matrix:
        if not self.dual:
            return self.ball.size * np.eye(u.size)
        q = 1 / (self.ball.p - 1)
        return np.diag(self.ball.size * q * np.abs(double(u)) ** (q - 1))

    def bend(self, u: Ext, c: Ext, lam: float) -> Matrix:
        if self.dual:
            return lam * np.eye(u.size)
        p = self.ball.p
        return lam * (p - 1) * np.diag(np.abs(double(u)) ** (p - 2))

    def growth(self, u: Ext, c: Ext, c_error: float) -> Growth | None:
        """With n = -lam sign(v)|v|^(p-1): the gap <n, y - x> is at least lam radius times the Bregman distances of
        |.|^p / p between the entries, as no y has a larger norm than x."""
        p, R = self.ball.p, self.ball.size
        v, normal = self._v(u), self.normal(u)
        norm = float(_norm(v, self.p))
        lam = -float(total(c * v)) / norm**p
        if not lam > 0 or not 0.5 < norm < 2:
            return None
        off = (
            abs(float(_norm(v, self.p) - 1)) + (sum_units(v.size) + POWER_UNITS) * UNIT
        )  # of the sphere, relative to its size
        r = c + np.longdouble(lam) * normal
        rounding = POWER_UNITS * UNIT * (length(double(c)) + lam * length(double(normal)))
        residual = length(double(r)) * (1 + 1e-14) + c_error + rounding + 2 * p * off * lam * length(double(normal))
        shift = 2 * R * off * length(double(v)) + 8 * UNIT * length(double(self.point(u)))
        if p <= 2:
            # the second derivative (p-1)|s|^(p-2) is least at the largest |s|, which is 1
            bend = np.full(v.size, lam / R * (p - 1) / 2)
        else:
            # D(z, 1) >= (1/2 - 1/(4p)) (z - 1)^2 for all z, and D is homogeneous
            bend = lam / R * (0.5 - 0.25 / p) * np.abs(double(v)) ** (p - 2)
        power = None
        if p > 2 and (flat := np.abs(double(v)) < FLAT).any():
            # |y|^p >= |x|^p + p x|x|^(p-2) (y - x) + |y - x|^p / (2^(p-1) - 1) (P. Lindqvist, 1990)
            power = p, lam * R ** (1 - p) / (p * (2 ** (p - 1) - 1)) * (1 - 1e-12), flat
        return Growth(residual, shift, bend=bend * (1 - 1e-12), power=power, steady=lam * length(double(normal)) / 2)

    def outside(self, u: Ext) -> float:
        v, R = self._v(u), self.ball.size
        beyond = max(float(_norm(v, self.p) - 1), 0.0) + (sum_units(v.size) + POWER_UNITS) * UNIT
        return R * beyond * length(double(v)) * (1 + 1e-14) + 8 * UNIT * length(double(self.point(u)))


def _norm(v: Ext, p: np.longdouble) -> np.longdouble:
    most = np.abs(v).max()
    return np.longdouble(most * total((np.abs(v) / most) ** p) ** (1 / p)) if most else np.longdouble(0)


def _power(v: Ext, exponent: np.longdouble) -> Ext:
    return np.asarray(np.sign(v) * np.abs(v) ** exponent) if exponent != 1 else v
