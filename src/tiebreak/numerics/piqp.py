"""PIQP (R. Schwan, Y. Jiang, D. Kuhn, C. Jones, 2023): a proximal interior-point method. The only file to know it."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Matrix, Vector
from .deadline import SPEED, OutOfTime
from .effort import system_work
from .extended import is_sparse
from .foreign import FEWEST_ITERATIONS, TOLERANCE, Found

INFINITE = 1e30
"""PIQP takes larger ends for none."""

KEPT_BACK = 0.8
"""The part of the time left that its factorisations may take."""


def solve(
    H: Matrix,
    c: Vector,
    G: Matrix,
    low: Vector,
    high: Vector,
    lower: Vector,
    upper: Vector,
    *,
    seconds: float = inf,
) -> Found:
    """A quadratic programme (see ``foreign``): on dense factors for arrays, on sparse ones for sparse matrices.

    PIQP cannot be stopped: it is told how often it may factorise, and ``OutOfTime`` says that this is not enough.
    """
    import piqp

    form: Callable[[Matrix], Matrix] = sp.csc_matrix if is_sparse(H) else np.asfortranarray
    solver: Any = piqp.SparseSolver() if is_sparse(H) else piqp.DenseSolver()
    for name in ("eps_abs", "eps_rel", "eps_duality_gap_abs", "eps_duality_gap_rel"):
        setattr(solver.settings, name, TOLERANCE)
    if np.isfinite(seconds):
        each = system_work(H, G, FEWEST_ITERATIONS) / FEWEST_ITERATIONS
        most = int(KEPT_BACK * SPEED * seconds / each)
        if most < FEWEST_ITERATIONS:
            raise OutOfTime
        solver.settings.max_iter = min(solver.settings.max_iter, most)
    equal = low == high
    ended = ~equal & ((low > -INFINITE) | (high < INFINITE))  # of a row without ends it warns on the terminal
    tied, ranged = form(G if equal.all() else G[equal]), form(G[ended])
    solver.setup(form(H), c, tied, low[equal], ranged, low[ended], high[ended], lower, upper)
    word = str(solver.solve())
    result = solver.result
    y = np.zeros(low.size)
    y[equal], y[ended] = -np.array(result.y), np.array(result.z_l) - np.array(result.z_u)
    return Found(np.array(result.x), y, word)
