"""What multipliers leave of a level's gradient, so that next to nothing is lost where large terms cancel.

A gradient F'(Fx - b) has two errors. That of the residual Fx - b is one of the image: it moves a minimiser's image by
as much, however badly F is conditioned. That of the product with F' would be divided by F's smallest singular value;
it is made to vanish here, by products in twice the precision of a double, whose sums cancel exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Matrix, Vector
from ...numerics.extended import Ext, dense, double, double_double_product, ext
from .bracket import left_over
from .face import Face
from .level import DENSE, Level

LARGEST = 400_000
"""Up to this many entries of all matrices the products of twice the precision are taken."""


class Slope(NamedTuple):
    """The left-over of a gradient, a bound on its error apart from that of the image, and that one's in |.|_H."""

    left: Vector
    error: Vector
    image_error: float


def slope_left(face: Face, level: Level, x: Ext, y: Ext, w: list[Ext], rough: bool = False) -> Slope:
    """grad - A'y - sum of P_k'w_k at x."""
    n = x.size
    count = level.height + face.given.A.shape[0] + sum(P.shape[0] for _, P in face.predictors)
    if rough or level.bends or n > DENSE or count * n > LARGEST:
        f = level.at(x)
        left, error = left_over(face, f.grad, f.grad_error, y, w, np.zeros(len(face.records)))
        return Slope(double(left), error, 0.0)
    blocks: list[Matrix] = [double(level.q), double(level.q - double(level.q))]
    factors = [ext(np.ones(2)), -y]
    image_error, own_error = 0.0, np.zeros(n)
    for pull in level.pulls(x):
        image_error += pull.image_error
        own_error += pull.error
        blocks.append(np.eye(n) if pull.F is None else dense(pull.F.A))
        factors.insert(-1, pull.factors)
    blocks += [dense(face.A.A), *(dense(P.A) for _, P in face.predictors)]
    factors += [-part for record, part in zip(face.records, w, strict=True) if record.P is not None]
    rows, multipliers = np.vstack(blocks), np.concatenate(factors)
    high = double(multipliers)
    low = double(multipliers - high)
    columns = np.ascontiguousarray(rows.T)
    parts = double_double_product(columns, high), double_double_product(columns, low)
    size = np.abs(columns) @ np.abs(high)
    error = own_error + 2.0**-51 * (np.abs(parts[0]) + np.abs(parts[1])) + 2.0**-97 * size
    return Slope(parts[0] + parts[1], error, image_error)
