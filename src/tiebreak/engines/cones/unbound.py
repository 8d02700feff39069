"""Levels that a round set does not bind: solved by rows over a box around it, which is faster and sharper.

Why bounds over the larger set hold is said in ``without_sizes.py``: a solution of the lower level over the box that
lies in the set attains there what is least in the box.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import Vector, length
from ...numerics.extended import double, ext
from ...numerics.failures import LinearProgramError
from ...objectives.base import Objective
from ...problem import Problem
from ...sets.base import Domain
from ...sets.box import Box
from ...sets.round.description import Round
from ..answer import Answer, Elsewhere
from .level import Level

AWAY = 1e-6
"""A solution lies inside if it is away from the boundary by this part of the size of the set."""

LATER, RIDGE = 1e-6, 1e-10
"""Weights of the upper level, and of a ridge, in a guess at the solution."""


def where_it_does_not_bind(
    levels: Sequence[Objective], lower: Level, upper: Level, domain: Domain, shape: Round
) -> Answer | None:
    """The answer, where the solution that proves it lies inside the set; None where that is not shown."""
    from ..choice import choose_engine

    plain = all(level.quadratic and level.kinks is None for level in (lower, upper))
    if shape.hull is not None or not plain or not shape.room(_guess(lower, upper, shape.middle)) > 0:
        return None
    around = Box(shape.middle - domain.diameter, shape.middle + domain.diameter)
    chosen = choose_engine(Problem(levels[-1], levels[0], around))
    if chosen.engine is None or chosen.engine.name != "rows":
        return None
    try:
        answer = chosen.solve()
    except (Elsewhere, LinearProgramError):
        return None
    inside = answer.moves is not None and shape.room(answer.x) > length(answer.moves) + AWAY * shape.size
    return answer if inside else None


def _guess(lower: Level, upper: Level, middle: Vector) -> Vector:
    """About the solution without the set, by one factorisation: whether it lies inside is worth knowing first."""
    H, slope = np.zeros((middle.size, middle.size)), np.zeros(middle.size)
    for level, weight in ((lower, 1.0), (upper, LATER)):
        own = level.hessian(middle)
        unit = weight / (float(np.abs(own).max()) or 1.0)
        H += unit * own
        slope += unit * double(level.at(ext(middle)).grad)
    H[np.diag_indices(middle.size)] += RIDGE
    try:
        found: Vector = middle - np.linalg.solve(H, slope)
    except np.linalg.LinAlgError:
        found = np.full(middle.size, np.inf)
    return found
