"""How long subgradients are: Lipschitz constants of the levels themselves, not of their gradients."""

from __future__ import annotations

from math import isfinite

import numpy as np

from ...arrays import Vector
from ...composite import Level, bare
from ...objectives.base import Objective
from ...problem import Problem


def by_subgradients(problem: Problem) -> bool:
    """Whether a level has a part that need not be smooth, and whose kinks nobody knows."""
    levels = (bare(problem.upper), bare(problem.lower))
    return any(part.lipschitz is not None for level in levels for _, part in level.parts)


def steepness(problem: Problem, level: Level, x: Vector) -> float:
    """A bound on the norms of the subgradients of one level over Z; x is a point of Z."""
    width = problem.domain.diameter
    if not isfinite(width):
        raise ValueError("subgradients are bounded over bounded sets only: give a domain that is bounded")
    objective: Objective = bare(getattr(problem, level))
    return sum((factor * _steepest(part, x, width, level) for factor, part in objective.parts), 0.0)


def _steepest(part: Objective, x: Vector, width: float, level: Level) -> float:
    if part.lipschitz is not None:
        return part.lipschitz
    smooth = part.smooth_part
    if smooth.smoothness is None:
        raise ValueError(
            f"the steps need a Lipschitz constant of the {level} level, which is unknown: give lipschitz=... (of a "
            "Function itself) or smoothness=... (of its gradient)"
        )
    slope = float(np.linalg.norm(smooth.grad(x))) + smooth.smoothness * width
    norms, pieces = (sum(one.steepest(x.size) for one in kinks) for kinks in (part.norms, part.pieces))
    return slope + norms + pieces
