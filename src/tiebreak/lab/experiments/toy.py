"""The two-dimensional example of the CG-BiO paper (Appendix D.1).

Minimise 1/2 x1^2 - 1/2 x1 + x2/10 over the minimisers of -z1 - z2 over {z >= 0, z1 + z2 <= 1, 4 z1 + 6 z2 <= 5}.
The lower level has a whole edge of minimisers, from (1/2, 1/2) to (1, 0); the answer is (3/5, 2/5).
"""

from __future__ import annotations

import numpy as np

from ...objectives import Linear, Quadratic
from ...problem import Problem
from ...sets import Polyhedron

SOLUTION = np.array([0.6, 0.4])
F_STAR = -0.08
G_STAR = -1.0

AUTHORS_START = np.array([1 - 2 / (632 * 633), 0.0])
"""Where the authors' run starts: 631 steps 2/(j+2), j = 1, 2, ..., of conditional gradient on g from 0, all towards
the vertex (1, 0), which ties with (1/2, 1/2); the remaining distance is the product of the j/(j+2)."""


def problem() -> Problem:
    """The toy problem.

    Examples
    --------
    >>> toy = problem()
    >>> round(toy.upper.value(SOLUTION), 12), toy.lower.value(SOLUTION)
    (-0.08, -1.0)
    """
    return Problem(
        upper=Quadratic(np.diag([1.0, 0.0]), [-0.5, 0.1]),
        lower=Linear([-1.0, -1.0]),
        domain=Polyhedron(A_ub=[[1.0, 1.0], [4.0, 6.0]], b_ub=[1.0, 5.0], bounds=(0, None)),
    )
