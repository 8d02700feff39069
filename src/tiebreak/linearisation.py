"""An objective at a point, as the bounds use it: its linear model, its norms, and what rounding may have done."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import UNIT_ROUNDOFF, Vector
from .objectives.base import Objective
from .objectives.norms import Norm


class Linearisation(NamedTuple):
    """An objective at a point: a linear model of all but its norms there, these norms, and how far rounding may go.

    ``value`` is that of the objective, ``smooth`` that without its norms; ``slope`` bounds how fast it changes at x. Of
    pieces the model has a subgradient, which is below them everywhere.
    """

    x: Vector
    value: float
    smooth: float
    grad: Vector
    value_error: float
    grad_error: float
    slope: float
    norms: tuple[Norm, ...] = ()

    @classmethod
    def of(cls, objective: Objective, x: Vector) -> Linearisation:
        """Evaluated afresh, not from anything a solver carries along."""
        value, grad = objective.smooth_part.value_and_grad(x)
        value_error, grad_error = objective.smooth_part.rounding(x)
        norms, slope = objective.norms, float(np.linalg.norm(grad))
        for piece in objective.pieces:
            own, steep = piece.value_and_grad(x)
            errors = piece.rounding(x)
            value, grad = value + own, grad + steep
            value_error += errors[0] + ulps(value) + ulps(own)
            grad_error += errors[1] + ulps(float(np.linalg.norm(grad))) + ulps(float(np.linalg.norm(steep)))
            slope += piece.steepest(x.size)
        if not norms:
            return cls(x, value, value, grad, value_error, grad_error, slope)
        slope += sum(norm.steepest(x.size) for norm in norms)
        value_error = max(value_error, objective.rounding(x)[0])
        return cls(x, objective.value(x), value, grad, value_error, grad_error, slope, norms)


def dot_error(c: Vector, x: Vector) -> float:
    """What rounding may do to <c, x>."""
    return (x.size + 2) * UNIT_ROUNDOFF * float(np.abs(c) @ np.abs(x))


def ulps(value: float) -> float:
    """A few units in the last place."""
    return 4 * UNIT_ROUNDOFF * abs(value)
