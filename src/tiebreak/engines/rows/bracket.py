"""Two-sided bounds on a level's optimal value: weak duality with the multipliers of all levels, in extended precision.

For a true solution x of the levels before, and any multipliers y of the rows, w_k of P_k x and lam_k >= 0 of level k,

    f(x) >= f(xh) + <r, x - xh> + mu/2 |x - xh|^2 + <y, Ax - A xh>
                  + sum_k <w_k, P_k (x - xh)> - sum_k lam_k <c_k, x - xh>,
    r = grad f(xh) - A'y - sum_k P_k'w_k + sum_k lam_k c_k,

where c_k is the gradient of level k at its point x_k, so that <c_k, x - x_k> <= allowance_k, and
|<w_k, P_k (x - x_k)>| <= |w_k| reach_k. The rest is a minimum over the bounds of Z as they were given: a face that
was fixed wrongly makes the bound weak, never wrong. Rounding is given away term by term.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Vector
from ...numerics.extended import UNIT, Ext, double, ext, sum_units, total
from .face import FEASIBLE, Face
from .level import Level
from .sharp import sharpened

OUTSIDE = 1e-9
"""A point with a worse value of a level before than this, relative to 1 + |value|, bounds nothing from above."""


NOISE = 1e-15
"""What rounding of the columns may cost, relative to 1 + |value|, before it is worth more digits."""


@dataclass
class Bracket:
    """What is proved about a level at a point, and the multipliers that prove it."""

    value: np.longdouble
    value_error: float
    grad: Ext
    grad_error: Vector
    lower: float
    upper: float
    gap: float
    allowance: float
    inherited: float  # the part of both that is due to the levels before
    left_error: Vector
    violation: float
    prices: Vector  # lam_k, one a level before
    columns_cost: float = 0.0  # the part of the gap that is due to the columns

    @property
    def width(self) -> float:
        """upper - lower, relative to 1 + |value|."""
        return (self.upper - self.lower) / (1 + abs(float(self.value)))


def bracket(face: Face, level: Level, x: Ext, y: Ext, w: list[Ext]) -> Bracket:
    """The bounds from the point x and the multipliers y, w of its own solve on the face."""
    f = level.at(x)
    y, w, prices = _with_prices(face, f.grad, y.copy(), [part.copy() for part in w])
    given, box = face.given, face.box
    y[((y > 0) & np.isinf(given.low)) | ((y < 0) & np.isinf(given.high))] = 0
    r, r_error = left_over(face, f.grad, f.grad_error, y, w, prices)

    # The columns: where r has its sign for certain and x is at that bound, nothing is lost.
    mu = level.strong_convexity
    below, above = ext(box.lower) - x, ext(box.upper) - x
    least = _column_minima(double(r), r_error, below, above, mu)
    cost = 0.0
    if mu == 0 and face.generous and -float(least.sum()) > NOISE * (1 + abs(float(f.value))):
        sharp = sharpened(face, level, x, y, w, prices, r_error)
        if sharp is not None:
            again = _column_minima(sharp.left, sharp.error, below, above, mu)
            if sharp.cost - float(again.sum()) < -float(least.sum()):
                r, r_error, least, cost = ext(sharp.left), sharp.error, again, sharp.cost
    activity, activity_error = face.A.times(x), face.A.times_error(x)
    distance = np.where(y > 0, given.low, np.where(y < 0, given.high, 0.0)) - activity
    row_terms = np.where(y == 0, 0, y * distance)
    row_error = np.abs(double(y)) * (activity_error + UNIT * np.abs(double(activity)))
    gap = cost - float(least.sum()) - float(total(row_terms)) + float(row_error.sum()) * 1.01
    gap += sum_units(x.size + y.size) * UNIT * float(np.abs(least).sum() + np.abs(row_terms).sum())

    # The levels before.
    loss = inherited = 0.0
    trusted = face.certain or bool(face.single)
    for record, lam, part in zip(face.records, prices, w, strict=True):
        step = record.x - x
        units = (sum_units(x.size) + 4) * UNIT
        there = record.level.at(x)
        excess = max(0.0, float(there.value - record.value) + record.gap + 2 * there.value_error)
        trusted &= excess <= OUTSIDE * (1 + abs(float(record.value)))
        if lam > 0:
            products = record.grad * step
            gap += lam * (record.allowance + float(total(products)) + units * float(np.abs(products).sum()))
            gap += lam * float(record.grad_error @ np.abs(double(step)))
            loss += lam * excess
        if record.P is not None and part.any():
            image = record.P.times(step)
            products = part * image
            reach = record.dual_size(part) * record.reach
            gap += reach - float(total(products)) + units * float(np.abs(products).sum())
            gap += float(np.abs(double(part)) @ record.P.times_error(step))
            loss += reach + float(np.abs(products).sum())
            inherited += reach

    outside_rows = np.maximum(np.maximum(given.low - activity, activity - given.high) + activity_error, 0)
    outside = np.maximum(np.maximum(given.lower - x, x - given.upper), 0)
    loss += float(total(np.maximum(np.abs(y), _prices(face, f.grad)) * outside_rows))
    loss += float(total(np.maximum(np.abs(r), np.abs(f.grad)) * outside))
    if not level.linear and (outside_rows.any() or outside.any()):  # on the way back a level bends, too
        back = float((double(outside_rows) / face.row_size).sum()) * face.scale + double(outside)
        loss += level.bend(x, back) / 2
    violation = face.missed(x)
    rounding = f.value_error + float(np.finfo(np.float64).eps) * abs(float(f.value))
    lower = float(max(float(f.value) - gap - rounding, level.lower_bound))
    trusted &= violation <= FEASIBLE
    # By the multipliers found, twice, as those of the true problem differ. How values are rounded has no part in it.
    allowance = 2 * loss if trusted else np.inf
    upper = float(float(f.value) + allowance + 2 * f.value_error + rounding)
    return Bracket(
        f.value,
        f.value_error,
        f.grad,
        f.grad_error,
        lower,
        upper,
        gap + f.value_error,
        allowance,
        inherited,
        r_error,
        violation,
        prices,
        cost - float(least.sum()),
    )


def _prices(face: Face, grad: Ext) -> Vector:
    """What a row missed by 1 may cost even where its multiplier is zero: the slope on the way back to it."""
    return float((np.abs(double(grad)) * face.scale).max(initial=0.0)) / face.row_size


def _with_prices(face: Face, grad: Ext, y: Ext, w: list[Ext]) -> tuple[Ext, list[Ext], Vector]:
    """The least lam_k that give all columns and rows fixed by level k the right sign, from the last level to the first.

    Signs are settled only here: a row fixed by an earlier level may have any sign until that level's turn.
    """
    prices = np.zeros(len(face.records))
    r, _ = left_over(face, grad, None, y, w, prices)
    for k in range(len(face.records) - 1, -1, -1):
        record = face.records[k]
        z, rows = record.z[record.columns], record.y[record.rows]
        short = np.append(-r[record.columns] / z, -y[record.rows] / rows)
        lam = max(0.0, float(short.max(initial=0)))
        if lam > 0 and np.isfinite(record.allowance):  # what a level leaves is no bound where its point is none
            lam *= 1 + 1e-13  # so that rounding of the multipliers does not turn a sign
            prices[k] = lam
            r = r + lam * record.z
            y = y + lam * record.y
            w = [part + lam * own for part, own in zip(w, record.w, strict=False)] + w[len(record.w) :]
    w = [part if np.isfinite(record.reach) else 0 * part for record, part in zip(face.records, w, strict=True)]
    return y, w, prices


def left_over(
    face: Face, grad: Ext, grad_error: Vector | None, y: Ext, w: list[Ext], prices: Vector
) -> tuple[Ext, Vector]:
    """r, evaluated afresh, and a bound on its rounding error (zeros where ``grad_error`` is not given)."""
    r = grad - face.A.transpose_times(y)
    count = 4.0 + 2 * len(w)
    error = np.zeros(r.size)
    size = np.abs(double(grad)) + np.abs(double(r))
    if grad_error is not None:
        error = grad_error + face.A.transpose_times_error(y)
    for record, part, lam in zip(face.records, w, prices, strict=True):
        if record.P is not None and part.any():
            image = record.P.transpose_times(part)
            r = r - image
            size += np.abs(double(image))
            if grad_error is not None:
                error = error + record.P.transpose_times_error(part)
        if lam > 0:
            r = r + lam * record.grad
            size += lam * np.abs(double(record.grad))
            error = error + lam * record.grad_error
    return r, (error + count * UNIT * size if grad_error is not None else error)


def _column_minima(r: Vector, error: Vector, below: Ext, above: Ext, mu: float) -> Vector:
    """A lower bound on min over s in [below, above] of r s + mu/2 s^2, for each column and any r within its error."""
    least = np.zeros(r.size)
    for slope, end in ((np.maximum(-(r - error), 0), double(above)), (np.maximum(r + error, 0), -double(below))):
        reach = np.maximum(end, 0) * (1 + 1e-15)  # the farthest s in the direction that pays
        best = np.minimum(reach, slope / mu) if mu > 0 else reach
        least = np.minimum(least, (mu / 2 * best - slope) * best)
    return least * (1 + 1e-14)
