"""Boxes and simplices as blocks of products with round sets: their charts are faces, their growth is linear."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import UNIT_ROUNDOFF, Matrix, Vector, length
from ...numerics.clarabel import Cones
from ...numerics.extended import UNIT, Ext, double, ext, total
from .description import Chart, Conic, Growth, Round


class FlatChart(Chart):
    """The entries that are free, the others at ``fixed`` values, where those that are ``rising`` can only rise, and
    others only fall; in a simplex, the free ones keep their sum."""

    def __init__(self, x: Vector, free: NDArray[np.bool_], fixed: Vector, rising: NDArray[np.bool_],
                 sum_to: float | None, outside: Callable[[Vector], float]) -> None:  # fmt: skip
        self.free, self.fixed, self.sum_to, self._outside = free, np.where(free, 0.0, fixed), sum_to, outside
        self.bounded, self.rising = sum_to is not None, rising
        self.start = ext(x[free])

    def point(self, u: Ext) -> Ext:
        x = ext(self.fixed)
        x = x.copy()
        x[self.free] = u
        return x

    def pull(self, u: Ext, c: Ext) -> Ext:
        pulled: Ext = c[self.free]
        return pulled

    def pulled(self, u: Ext, M: Matrix) -> Matrix:
        return M[self.free]

    def normal(self, u: Ext) -> Ext:
        return ext(np.ones(u.size))

    def gauge(self, u: Ext) -> np.longdouble:
        assert self.sum_to is not None
        return np.longdouble(total(u) / np.longdouble(self.sum_to))

    def gauge_slope(self, u: Ext) -> Vector:
        assert self.sum_to is not None
        return np.full(u.size, 1 / self.sum_to)

    def jacobian(self, u: Ext) -> Matrix:
        return np.eye(self.free.size)[:, self.free]

    def bend(self, u: Ext, c: Ext, lam: float) -> Matrix:
        return np.zeros((u.size, u.size))

    def growth(self, u: Ext, c: Ext, c_error: float) -> Growth | None:
        """n is c where entries are fixed and one level m where they are free: the gap is at least d times the sum of
        what the fixed ones move."""
        slopes, m = double(c), 0.0
        if self.bounded:
            if not u.size:
                return None
            m = float(total(c[self.free]) / u.size)
        fixed = slopes[~self.free] - m
        inward = np.where(self.rising[~self.free], fixed, -fixed)
        d = float(inward.min(initial=np.inf)) * (1 - 1e-12) - 2 * c_error
        if not d > 0:
            return None
        r = double(c[self.free] - np.longdouble(m))
        units = (u.size + 16) * UNIT
        residual = length(r) * (1 + 1e-14) + c_error + units * (length(slopes) + abs(m) * np.sqrt(max(u.size, 1)))
        return Growth(
            float(residual),
            self.outside(u),
            linear=(1 + 1e-14) / d,
            face=np.eye(self.free.size)[:, self.free],
            trace=np.ones((1, u.size)) if self.bounded else None,
            steady=0.25 * d,
        )

    def outside(self, u: Ext) -> float:
        """In a simplex, to the point of the same face that clipping and scaling leads to."""
        if self.bounded:
            below = float(np.maximum(-double(u), 0.0).sum())
            return 2.1 * (below + (abs(float(self.gauge(u) - 1)) + (u.size + 16) * UNIT) * float(self.sum_to or 0.0))
        x = self.point(u)
        rounded = double(x)
        return self._outside(rounded) + float(np.linalg.norm(double(x - ext(rounded)))) * (1 + 1e-12)


class BoxBlock(Round):
    """{lower <= x <= upper}, finite."""

    def __init__(self, lower: Vector, upper: Vector, outside: Callable[[Vector], float]) -> None:
        self.lower, self.upper, self._outside = lower, upper, outside
        self.middle = (lower + upper) / 2
        self.size = float(np.max(upper - lower)) or 1.0
        self.work = (2.0 * lower.size) ** 3 / 3

    def conic(self) -> Conic:
        eye = sp.eye_array(self.lower.size, format="csc")
        b = np.concatenate([self.upper, -self.lower])
        cones: Cones = [("nonnegative", 2 * self.lower.size)]
        return Conic(eye, np.zeros(self.lower.size), sp.vstack([eye, -eye], format="csc"), b, cones)

    def charts(self, x: Vector, c: Vector) -> Iterator[Chart]:
        steep, width = float(np.abs(c).max(initial=0.0)) or 1.0, np.maximum(self.upper - self.lower, 1e-300)
        low = (x - self.lower) / width < c / steep
        high = (self.upper - x) / width < -c / steep
        yield self._chart(x, ~(low | high), low)

    def inside(self, x: Vector) -> Chart:
        return self._chart(x, np.ones(x.size, dtype=bool), np.zeros(x.size, dtype=bool))

    def _chart(self, x: Vector, free: NDArray[np.bool_], low: NDArray[np.bool_]) -> Chart:
        return FlatChart(x, free, np.where(low, self.lower, self.upper), low, None, self._outside)

    def room(self, x: Vector) -> float:
        room = float(np.minimum(x - self.lower, self.upper - x).min(initial=np.inf))
        return max(room - 4 * UNIT_ROUNDOFF * float(np.abs(x).max(initial=0.0)), 0.0)


class SimplexBlock(Round):
    """{x >= 0 : sum of x = total}."""

    def __init__(self, dim: int, sum_to: float, outside: Callable[[Vector], float]) -> None:
        self.size, self._outside = sum_to, outside
        self.middle = np.full(dim, sum_to / dim)
        self.hull = np.linalg.svd(np.eye(dim) - 1 / dim)[0][:, : dim - 1]
        self.work = (2.0 * dim) ** 3 / 3

    def conic(self) -> Conic:
        dim = self.middle.size
        A = sp.vstack([sp.csc_array(np.ones((1, dim))), -sp.eye_array(dim)], format="csc")
        cones: Cones = [("zero", 1), ("nonnegative", dim)]
        b = np.append(self.size, np.zeros(dim))
        return Conic(sp.eye_array(dim, format="csc"), np.zeros(dim), A, b, cones)

    def charts(self, x: Vector, c: Vector) -> Iterator[Chart]:
        above = c - c.min()
        free = x / self.size > above / (float(above.max()) or 1.0)
        yield FlatChart(x, free if free.any() else above == 0, np.zeros(x.size), x == x, self.size, self._outside)

    def inside(self, x: Vector) -> Chart:
        return FlatChart(x, x == x, np.zeros(x.size), x == x, self.size, self._outside)

    def room(self, x: Vector) -> float:
        return max(float(x.min()) * (1 - 1e-14), 0.0)
