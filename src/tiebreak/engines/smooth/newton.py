"""Newton's method on a face: each step minimises the second-order model over the face, by an interior-point method.

What it finds is a guess in double precision: nothing is proved here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.extended import Ext, dense, double
from ...numerics.passes import chosen, weighted_gram
from ...numerics.quadratic_programme import QP, Guess, Method
from ...numerics.rows import power_of_two
from ..interrupt import OutOfTime, check, remaining
from ..rows.reduce import Reduced
from .level import SmoothLevel

STEPS = 100
FALLS = 1e-17
"""Newton's method ends where the model promises to fall by less, relative to the value."""
FLAT = 1e-13
"""Curvature that is added to columns, relative to their own, so that models are never linear."""
ROUNDING = 1e-14
"""Values that differ by less, relative, are the same."""
SINGULAR = 1e-9
"""Pivots of the Hessian below this, columns in units where its diagonal is about 1, are as good as zero."""
INSIDE = 0.1
"""Steps that leave as much of their length to every bound need no constraints."""
LAST = 2
"""Steps after the values stop falling: they still bring the point nearer. One does where all losses bend everywhere."""


class Local(NamedTuple):
    """A level at a point: value, gradient and Hessian on the columns of a face, all rounded."""

    value: float
    grad: Vector
    hessian: Matrix


class Smooth:
    """A level on the columns of a face, in double precision."""

    def __init__(self, level: SmoothLevel, origin: Ext, columns: NDArray[np.intp]) -> None:
        self.level, self.origin, self.columns = level, double(origin), columns
        everywhere = [np.arange(c.F.shape[0]) for c in level.curves]
        parts = zip(level.curves, everywhere, strict=True)
        self._parts = [(chosen(c.F.A, rows, columns), c.loss, float(c.scale)) for c, rows in parts]
        self._start = [np.asarray(c.F.A @ self.origin) for c in level.curves]
        self._rest = np.zeros((columns.size, columns.size))
        for F, _, scale, _ in level.squares:
            if F is None:
                self._rest += float(scale) * np.eye(columns.size)
            else:
                part = dense(F.A[:, columns])
                self._rest += part.T @ (np.asarray(scale, dtype=np.float64).reshape(-1, 1) * part)
        for Q, scale in level.bends:
            self._rest += float(scale) * dense(Q.A[columns][:, columns])
        self._slope = double(_without_curves(level, origin))[columns]

    def value(self, d: Vector) -> float:
        """The level at origin + d, less a constant."""
        value = float(d @ (self._slope + 0.5 * (self._rest @ d)))
        with np.errstate(over="ignore", invalid="ignore"):
            for (F, loss, scale), t in zip(self._parts, self._start, strict=True):
                value += scale * loss.value(t + F @ d)
        return value if np.isfinite(value) else np.inf

    def at(self, d: Vector) -> Local:
        """With derivatives."""
        value, grad, H = 0.0, self._slope + self._rest @ d, self._rest.copy()
        value = 0.5 * float(d @ (self._slope + grad))
        for (F, loss, scale), start in zip(self._parts, self._start, strict=True):
            t = start + F @ d
            own, slope = loss.value_and_slope(t)
            value, grad = value + scale * own, grad + scale * (F.T @ slope)
            H += weighted_gram(F, scale * np.asarray(loss.curvature(t)))
        return Local(value, grad, H)


def _without_curves(level: SmoothLevel, x: Ext) -> Ext:
    """The gradient at x of all but the losses."""
    grad = level.q
    for F, b, scale, _ in level.squares:
        residual = (x if F is None else F.times(x)) - (0 if b is None else b)
        grad = grad + (scale * residual if F is None else F.transpose_times(scale * residual))
    for Q, scale in level.bends:
        grad = grad + scale * Q.times(x)
    return grad


def newton(level: SmoothLevel, origin: Ext, face: Reduced, sizes: Vector, method: Method) -> tuple[Vector, Vector, int]:
    """A step d of the face's columns, multipliers of its rows, and how many models were minimised."""
    smooth = Smooth(level, origin, face.columns)
    G, ends = dense(face.G.A), [double(end) for end in (face.low, face.high, face.lower, face.upper)]
    d, y = np.zeros(face.columns.size), np.zeros(face.rows.size)
    if not d.size:
        return d, y, 0
    most = 1 if all(curve.loss.self_concordance > 0 for curve in level.curves) else LAST
    count, last = 0, 0
    here = smooth.at(d)
    while count < STEPS and last < most:
        check()
        if count and remaining() == 0:
            break
        try:
            guess, fall = _model(here, G, ends, d, sizes, method)
        except OutOfTime:
            if count:
                break
            raise
        count += 1
        if guess is None:
            break
        y = guess.y
        step = np.clip(d + guess.v, ends[2], ends[3]) - d
        share = _searched(smooth, here, d, step)
        if share == 0.0 or fall <= FALLS * (1e-3 + abs(here.value)):
            last += 1
        if share == 0.0 and smooth.value(d + step) > here.value + ROUNDING * (1e-3 + abs(here.value)):
            break
        d = d + (share or 1.0) * step
        here = smooth.at(d)
    return d, y, count


def _searched(smooth: Smooth, here: Local, d: Vector, step: Vector) -> float:
    """How far to go along the step: 1, a half, ..., by Armijo's rule; 0 where nothing falls any more."""
    slope = float(here.grad @ step)
    noise = ROUNDING / 10 * (abs(here.value) + 1e-3)
    if not slope < 0:
        return 0.0
    share = 1.0
    while share > 1e-10:
        change = smooth.value(d + share * step) - here.value
        if change <= 1e-4 * share * slope or (share == 1.0 and -slope < 1e-9 and change <= noise):
            return share
        share *= 0.5
    return 0.0


def _inside(qp: QP) -> Guess | None:
    """The minimiser without constraints, where it meets them all with room to spare."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    if (qp.low == qp.high).any():
        return None
    try:
        factor = cho_factor(qp.H, check_finite=False)
    except LinAlgError:
        return None
    if float(np.square(factor[0].diagonal()).min(initial=np.inf)) < SINGULAR:
        return None  # of many minimisers, interior-point methods find one in the middle
    step = -cho_solve(factor, qp.c, check_finite=False)
    activity = qp.G @ step
    spare = INSIDE * np.abs(step)
    inside = (qp.lower + spare < step).all() and (step < qp.upper - spare).all()
    inside = inside and (qp.low < activity).all() and (activity < qp.high).all()
    return Guess(step, np.zeros(qp.low.size)) if inside and np.isfinite(step).all() else None


def _model(
    here: Local, G: Matrix, ends: list[Vector], d: Vector, sizes: Vector, method: Method
) -> tuple[Guess | None, float]:
    """The step that minimises the second-order model, and by how much it falls."""
    bend = here.hessian.diagonal()
    largest = float((bend * sizes**2).max(initial=0.0)) or 1.0
    unit = 1 / power_of_two(np.sqrt(np.maximum(bend, 1e-12 * largest / sizes**2)))
    slope = here.grad * unit
    size = float(power_of_two(np.array([np.abs(slope).max(initial=0.0)]))[0])
    H = unit[:, None] * here.hessian * unit
    H[np.diag_indices_from(H)] += np.where(bend > 0, FLAT, 1.0)  # without any, it takes more to stay where they are
    rows = power_of_two(np.abs(G * unit).max(axis=1, initial=0.0))
    activity = G @ d
    low, high, lower, upper = ends
    qp = QP(
        H,
        slope / size,
        G * unit / rows[:, None],
        (low - activity) / (rows * size),
        (high - activity) / (rows * size),
        np.minimum(lower - d, 0) / (unit * size),
        np.maximum(upper - d, 0) / (unit * size),
    )
    guess = _inside(qp) or method(qp)
    if guess is None:
        return None, 0.0
    step = guess.v * unit * size
    fall = -float(step @ (here.grad + 0.5 * (here.hessian @ step)))
    return Guess(step, guess.y * size / rows), fall
