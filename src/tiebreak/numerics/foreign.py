"""What the adapters of quadratic and conic solvers have in common: ``highs``, ``clarabel``, ``piqp``.

    min 1/2 v'Hv + <c, v>   subject to   low <= G v <= high,  lower <= v <= upper

with multipliers y of the rows in the sense H v + c = G'y + (multipliers of the bounds), y >= 0 at a low end. Matrices
are arrays or SciPy's, ends may be infinite, and ``seconds`` limits the time. Each adapter is the only file that knows
its solver: settings, statuses and what differs between versions stay there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Vector

TOLERANCE = 1e-10
"""What solvers are asked for where a polish follows."""
FEWEST_ITERATIONS = 15
"""An interior-point method with time for fewer is not begun."""


class Found(NamedTuple):
    """A point and multipliers of the rows, and the solver's own word for them, which decides nothing."""

    x: Vector
    y: Vector
    word: str

    @property
    def finite(self) -> bool:
        """Whether these are numbers."""
        return bool(np.isfinite(self.x).all() and np.isfinite(self.y).all())
