"""The chart for points that no boundary holds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import Matrix, Vector, length
from ...numerics.extended import UNIT, Ext, double, ext
from .description import Chart, Growth


class Inside(Chart):
    """x(u) = u: nothing is held, and nothing grows but the level itself."""

    bounded = False

    def __init__(self, x: Vector, outside: Callable[[Vector], float]) -> None:
        self.start = ext(x)
        self._outside = outside

    def point(self, u: Ext) -> Ext:
        return u

    def pull(self, u: Ext, c: Ext) -> Ext:
        return c

    def pulled(self, u: Ext, M: Matrix) -> Matrix:
        return M

    def jacobian(self, u: Ext) -> Matrix:
        return np.eye(u.size)

    def bend(self, u: Ext, c: Ext, lam: float) -> Matrix:
        return np.zeros((u.size, u.size))

    def growth(self, u: Ext, c: Ext, c_error: float) -> Growth | None:
        size = length(double(c)) * (1 + (u.size + 8) * UNIT)
        shift = self.outside(u)
        return Growth(size * (1 + 1e-15) + c_error, shift, bend=np.zeros(u.size)) if np.isfinite(shift) else None

    def outside(self, u: Ext) -> float:
        rounded = double(u)
        return self._outside(rounded) + float(np.linalg.norm(double(u - ext(rounded)))) * (1 + 1e-12)
