"""A quadratic level in chunks as a few rows with their doubt: a level like any other for the engine by rows.

With A'A = F'(I + E)F, |E| <= e (``frame.py``), and value g0 and gradient r at a point x0 by a pass in extended
precision, the level is, up to that pass's rounding, (1 - e)/2 |F x - t|^2 + constant with (1 - e) F'(F x0 - t) = r: r
lies in the range of F', as it is A'(A x0 - b). So

* its Hessian is between (1 - e) F'F and (1 + 2e/(1 - e)) times that;
* its gradient at x is that of the square, off by (1 - e) F'z with |z| <= |F^+' dr| / (1 - e) + 2e/(1 - e) |F (x - x0)|,
  dr the rounding of r;

which is all that ``rows/doubt.py`` asks for. Nothing hangs on how x0 was found: nearer to the answer the doubt is less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ...arrays import Matrix, Vector, length
from ...numerics.extended import double_double_product
from ...numerics.rows import LONG_ROUNDOFF
from ...objectives.base import Objective
from ...objectives.form import Form, Term
from ...objectives.losses.square import SquareLoss
from ...objectives.matrix import DataMatrix, gamma
from ..rows.doubt import Doubt
from .frame import Frame
from .proof import Level

MOST = 1e-3
"""Of e: what ``rows/doubt.py`` allows."""
CORRECTIONS = 4


@dataclass(frozen=True, eq=False)
class DoubtfulSquare(SquareLoss):
    """1/2 |t - target|^2 with a target in extended precision, and its doubt."""

    doubt: Doubt | None = None
    lower_bound = -np.inf


class Known(Objective):
    """The level, as far as it is known: for engines that look at forms."""

    convex = quadratic = True

    def __init__(self, frame: Frame, loss: DoubtfulSquare, scale: np.longdouble, constant: np.longdouble) -> None:
        self.dim, self.frame, self.loss = frame.rows.shape[1], frame, loss
        self._form = Form((Term(loss, DataMatrix.trusted(frame.rows), scale),), constant=constant)

    @property
    def form(self) -> Form:
        return self._form

    @property
    def smoothness(self) -> float:
        """By the trace."""
        return 1.01 * float(np.sum(self.frame.rows**2))

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        value, grad, _, _ = self.at(x)
        return float(value), np.asarray(grad, dtype=np.float64)

    def rounding(self, x: Vector) -> tuple[float, float]:
        _, _, value_error, grad_error = self.at(x)
        return value_error, length(grad_error)

    def at(self, x: Vector) -> tuple[Any, Any, float, Vector]:
        """Value and gradient in extended precision, and what they may be off by."""
        F, d = self.frame.rows.astype(np.longdouble), x.astype(np.longdouble)
        (_, _, scale), size = self._form.losses[0], np.abs(self.frame.rows)
        image = F @ d
        residual = image - self.loss.target
        assert self.loss.doubt is not None
        off, value_off = self.loss.doubt.at(image)
        units = (x.size + image.size + 8) * LONG_ROUNDOFF
        lost = units * (size @ np.abs(x)) + units * np.abs(residual.astype(np.float64))
        value = scale * (residual @ residual) / 2 + self._form.constant
        value_error = value_off + float((np.abs(residual.astype(np.float64)) + lost) @ lost) * 1.01
        value_error += units * (abs(float(value)) + abs(float(self._form.constant)))
        grad_error = 1.01 * (size.T @ (lost + off + units * np.abs(residual.astype(np.float64))))
        return value, scale * (F.T @ residual), value_error, grad_error


def known(level: Level, frame: Frame, off: float, x: Vector) -> Known | None:
    """The level from what a pass at x has shown; None where that shows too little."""
    if not off <= MOST or not np.isfinite(level.value_error):
        return None
    own = frame.own
    y, short = _solved(frame.rows[:, own], level.slope.high[own], level.slope.low[own])
    error = level.added_error[own] + short
    # (F_J)^-T e = (F_J S)^-T S'e; and A'W^1/2 e is |e| long in the norm dual to |.|_H
    image_error = float(np.linalg.norm(np.abs(frame.inverse).T @ error)) * (1 + gamma(own.size + 8)) / (1 - frame.lost)
    image_error += float(np.sqrt(level.image_square))
    units = (x.size + own.size + 8) * LONG_ROUNDOFF
    scale = np.longdouble(1) - np.longdouble(off)
    centre = frame.rows.astype(np.longdouble) @ x.astype(np.longdouble)
    target = centre - y / scale
    rounding = units * (np.abs(frame.rows) @ np.abs(x) + 2 * _size(y))
    image_error = 1.01 * (image_error + float(np.linalg.norm(rounding)))
    residual = y / scale
    constant = np.longdouble(level.value) - scale * (residual @ residual) / 2
    value_error = level.value_error + units * (abs(float(level.value)) + 2 * float(residual @ residual))
    value_error += float(np.linalg.norm(_size(residual)) * np.linalg.norm(rounding)) * 2
    share = 2.02 * off + 8 * LONG_ROUNDOFF
    doubt = Doubt(centre, image_error / float(scale), share, 1.01 * value_error / float(scale))
    return Known(frame, DoubtfulSquare(target, doubt=doubt), scale, constant)


def _solved(F: Matrix, high: Any, low: Any) -> tuple[Any, Vector]:
    """y with F'y = high + low in extended precision, F a triangle; and a bound on what it misses."""
    columns = np.ascontiguousarray(np.hstack([F.T, F.T, np.stack(_parts(high, low), axis=1)]))
    y = np.zeros(len(F), dtype=np.longdouble)
    for _ in range(CORRECTIONS + 1):
        near = y.astype(np.float64)
        factors = np.concatenate([-near, -(y - near).astype(np.float64), np.ones(3)])
        left = double_double_product(columns, factors)
        size = np.abs(columns) @ np.abs(factors)
        best, y = y, y + solve_triangular(F, left, trans="T")
    return best, np.abs(left) * (1 + 2.0**-51) + 2.0**-97 * size


def _parts(high: Any, low: Any) -> list[Vector]:
    """Three doubles that add up to it but for units of the precision squared."""
    first = high.astype(np.float64)
    rest = (high - first) + low
    second = rest.astype(np.float64)
    return [first, second, (rest - second).astype(np.float64)]


def _size(values: Any) -> Vector:
    return np.abs(np.asarray(values, dtype=np.float64))
