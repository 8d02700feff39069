"""Squares that stand for data nobody has as a whole: what their target, Hessian and value may be off by.

A level whose rows A lie elsewhere is known by few rows F with the same null space: at every x its gradient is
F'(F x - b + z) with |z| <= image + share |F x - centre|, its Hessian lies between F'F and (1 + share) F'F, and its
value is off by at most value + (image + share |F x - centre|) |F x - centre|. A share below 2.1e-3 is within the
percent by which ``reach`` lengthens steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.extended import Ext


class Doubt(NamedTuple):
    """The numbers above, for 1/2 |F x - b|^2."""

    centre: Ext
    image: float
    share: float
    value: float

    def in_units(self, length: float) -> Doubt:
        """For variables in units of ``length``."""
        return Doubt(self.centre / length, self.image / length, self.share, self.value / length**2)

    def at(self, image: Ext) -> tuple[float, float]:
        """Bounds on |z|, and on what the value is off by, where F x is ``image``."""
        away = float(np.linalg.norm(np.asarray(image - self.centre, dtype=np.float64))) * (1 + 1e-12)
        off = (self.image + self.share * away) * (1 + 1e-12)
        return off, (self.value + off * away) * (1 + 1e-12)
