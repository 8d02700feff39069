"""A level at a point, with bounds on what rounding has done to each number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Vector
from ..objectives.base import Objective
from ..objectives.linked import LINK_UNITS
from ..objectives.matrix import gamma
from ..sets import Box
from ..sets.base import Domain
from .atoms import Axes, atoms_of
from .smooth import Smooth


@dataclass(frozen=True)
class Evaluated:
    """Value and gradient, how far off each may be (the gradient entry by entry), and the image F x and its error."""

    value: float
    grad: Vector
    image: Vector
    value_error: float
    grad_error: Vector
    image_error: float


def evaluated(objective: Objective, level: Smooth, x: Vector) -> Evaluated:
    """The objective at x. The errors are those of inner products in any order, entry by entry where the rows of the
    level are the objective's own; a factorised Q falls back on the objective's bound in norm."""
    own = objective.image(x)
    value, grad = objective.value_and_grad_at(x, own)
    t = own if level.data is not None and level.data.raw is getattr(objective, "A", None) else level.image(x)
    if level.data is None or not level.own_rows:
        value_error, norm_error = objective.rounding(x)
        norm = 0.0 if level.data is None else level.data.product_error(x)
        return Evaluated(value, grad, t, value_error, np.full(x.size, norm_error), norm)
    h, slope, _ = level.at(t)
    most = 1.01 * level.near(t, 0.0)[1]  # rounding moves t too little to change h'' by a hundredth
    image_error = gamma(int(np.count_nonzero(x))) * level.sizes_times(x)
    slope_error = LINK_UNITS * UNIT_ROUNDOFF * np.abs(slope) + most * image_error
    value_error = float(np.abs(slope) @ image_error) + float(most @ image_error**2) / 2
    value_error += gamma(t.size + LINK_UNITS) * h
    grad_error = level.sizes_mixed(gamma(t.size) * np.abs(slope) + slope_error) + 4 * UNIT_ROUNDOFF * np.abs(grad)
    if level.p is not None:
        value_error += gamma(x.size) * float(np.abs(level.p) @ np.abs(x))
    norm = 1.01 * float(np.linalg.norm(image_error))
    return Evaluated(value, grad, t, 1.01 * value_error, 1.01 * grad_error, norm)


def largest(domain: Domain, size: Vector) -> float:
    """The maximum of <size, |s|> over the domain, for a nonnegative vector; every set but the box is nonnegative or
    contains |s| with s."""
    axes = atoms_of(domain, size.size)
    if isinstance(axes, Axes):
        return float(np.max(size * axes.extents)) * (1 + 4 * UNIT_ROUNDOFF)
    if isinstance(domain, Box):
        return float(np.sum(size * np.maximum(np.abs(domain.lower), np.abs(domain.upper)))) * (1 + 1e-10)
    return -domain.lmo_bound(-size, domain.lmo(-size))


def dot_error(c: Vector, x: Vector) -> float:
    """What rounding can do to <c, x>; zeros of x do nothing."""
    return gamma(int(np.count_nonzero(x))) * float(np.abs(c) @ np.abs(x))
