"""A level at a point, with bounds on what rounding has done to each number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import UNIT_ROUNDOFF, Vector, length
from ...kernels.dense_rows import fast_squares_with_errors
from ...numerics.extended import UNIT, double, ext, product, product_units, total
from ...objectives.base import Objective
from ...objectives.losses.base import LINK_UNITS
from ...objectives.matrix import gamma
from ...sets.base import Domain
from .atoms import Atoms, OnAxes
from .level import Smooth

SHARP = 2_000_000  # entries of the data: products with more take too long and too much memory in extended precision


@dataclass(frozen=True)
class Evaluated:
    """Value and gradient, how far off each may be (the gradient entry by entry), and the image F x and its error."""

    value: float
    grad: Vector
    image: Vector
    value_error: float
    grad_error: Vector
    image_error: float


def evaluated(objective: Objective, level: Smooth, x: Vector, sharp: bool = False) -> Evaluated:
    """The objective at x, with ``sharp`` in extended precision where that is to be had. The errors are those of inner
    products in any order, entry by entry where the rows of the level are the objective's own; a factorised Q falls back
    on the objective's bound in norm."""
    if sharp and sharpens(level):
        return _sharply(level, x)
    if level.data is None or not level.own_rows:
        value, grad = objective.value_and_grad(x)
        value_error, norm_error = objective.rounding(x)
        norm = 0.0 if level.data is None else level.data.product_error(x)
        return Evaluated(value, grad, level.image(x), value_error, np.full(x.size, norm_error), norm)
    if level.own and level.quadratic and level.data.kind == "dense" and level.data.raw.flags.c_contiguous:
        support, n = np.flatnonzero(x), level.size
        link = LINK_UNITS * UNIT_ROUNDOFF
        units = gamma(support.size), gamma(n), link, gamma(n + LINK_UNITS), UNIT_ROUNDOFF
        grad, t, grad_error = np.empty(x.size), np.empty(n), np.empty(x.size)
        given = level.by_rows, support, x[support], level.b, level.column_norms, units
        value, value_error, image_norm = fast_squares_with_errors(*given, grad, t, grad_error)
        return Evaluated(value, grad, t, value_error, grad_error, image_norm)
    t, sizes = level.times_with_sizes(x)
    value, slope, _ = level.at(t)
    most = 1.01 * (1.0 if level.quadratic else level.near(t, 0.0)[1])  # rounding moves t too little for a hundredth
    image_error = gamma(int(np.count_nonzero(x))) * sizes
    steep, (size, added) = np.abs(slope), level.sizes(t, value, slope)
    slope_error = LINK_UNITS * UNIT_ROUNDOFF * added + most * image_error
    value_error = float(steep @ image_error) + float((most * image_error) @ image_error) / 2
    value_error += gamma(t.size + LINK_UNITS) * size
    grad_error = level.sizes_pulled(gamma(t.size) * steep + slope_error)
    if level.own:
        grad = level.data.transpose_times(slope)
    else:
        value, grad = objective.value_and_grad(x)
    if level.p is not None:
        value_error += gamma(x.size) * float(np.abs(level.p) @ np.abs(x))
    grad_error = 1.01 * (grad_error + 4 * UNIT_ROUNDOFF * np.abs(grad))
    return Evaluated(value, grad, t, 1.01 * value_error, grad_error, 1.01 * length(image_error))


def sharpens(level: Smooth) -> bool:
    """Whether it can be evaluated in extended precision: least squares with data of moderate size."""
    return level.data is not None and level.own and level.quadratic and level.data.entries <= SHARP


def _sharply(level: Smooth, x: Vector) -> Evaluated:
    """1/2 ||F x - b||^2 in extended precision, rounded to double precision at the end."""
    assert level.data is not None
    raw, support = level.data.raw, np.flatnonzero(x)
    t = product(raw[:, support], ext(x[support]))
    image_error = product_units(support.size) * level.times_with_sizes(x)[1]
    slope = t - ext(level.b)
    steep = np.abs(double(slope)) * (1 + 4 * UNIT_ROUNDOFF)
    slope_error = 1.01 * image_error + 2 * UNIT * steep
    value, grad = 0.5 * total(slope * slope), product(raw.T, slope)
    value_error = float(steep @ slope_error) + float(slope_error @ slope_error)
    value_error += (product_units(t.size) + UNIT_ROUNDOFF) * float(value)
    grad_error = level.sizes_pulled(product_units(t.size) * steep + slope_error)
    grad_error += 2 * UNIT_ROUNDOFF * np.abs(double(grad))
    image_error += UNIT_ROUNDOFF * np.abs(double(t))
    return Evaluated(float(value), double(grad), double(t), 1.01 * value_error, 1.01 * grad_error,
                     1.01 * length(image_error))  # fmt: skip


def largest(atoms: Atoms, domain: Domain, size: Vector) -> float:
    """The maximum of <size, |s|> over the domain, for a nonnegative vector, or somewhat more."""
    if isinstance(atoms, OnAxes):
        return float((size * atoms.extents).max()) * (1 + 4 * UNIT_ROUNDOFF)
    return domain.largest(size)


def lowest(atoms: Atoms, domain: Domain, c: Vector) -> float:
    """A number that is at most <c, s> for all s in the domain."""
    if isinstance(atoms, OnAxes):
        slopes = c * atoms.extents
        least = -float(np.abs(slopes).max()) if atoms.signed else float(slopes.min())
        return least - 4 * UNIT_ROUNDOFF * abs(least)
    return domain.lmo_bound(c, domain.lmo(c))
