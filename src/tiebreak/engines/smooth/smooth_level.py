"""A smooth level on its face: Newton's method proposes, the polish sharpens, the bracket decides."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...arrays import Vector
from ...numerics.extended import double, ext
from ...numerics.quadratic_programme import by_clarabel, by_highs, by_piqp
from ..interrupt import OutOfTime, remaining
from ..rows.bracket import bracket
from ..rows.face import Face
from ..rows.polish import polished
from ..rows.quadratic_level import FIX_QUADRATIC, POLISHED, Solved, accepted, worth
from ..rows.reduce import Reduced, reduce_rows
from ..rows.step import State, Step
from .kinks import away_from_kinks
from .level import SmoothLevel
from .newton import newton
from .pivots import pivots

REFRESHED = 3
"""How often second derivatives are taken anew at the polished point."""
SAME = 1e-6
"""Predictions that moved by less have the same second derivatives, for a polish whose corrections are repeated."""


def solve_smooth(face: Face, level: SmoothLevel, tol: float) -> tuple[Solved, int]:
    """The best of what Newton's method and the polish find, and how many models were minimised.

    One solver for the models is enough as a rule; where a set has no inside, another one may do better.
    """
    reduced = reduce_rows(*face.step_rows())
    best: Solved | None = None
    count = 0
    for method in (by_piqp, by_clarabel, by_highs) if reduced.columns.size else (by_piqp,):
        if best is not None and remaining() == 0:
            break
        try:
            d, y, steps = newton(level, face.x, reduced, face.scale[reduced.columns], method)
        except OutOfTime:
            continue
        count += steps
        for solved in _polished(face, level, reduced, d, y, tol):
            if best is None or worth(solved) < worth(best):
                best = solved
        if best is not None and accepted(best.bracket, tol):
            break
    if best is None:
        raise OutOfTime
    level.settle(best.x)
    level.images.keep(pivots(level.images, np.flatnonzero(face.column_side == 0)))
    return best, count


def _polished(face: Face, level: SmoothLevel, reduced: Reduced, d: Vector, y: Vector, tol: float) -> Iterator[Solved]:
    """The guess polished, and where that does not do, the guess itself."""
    d = away_from_kinks(level, face.x, reduced, d, y, face.scale[reduced.columns])
    raw_d = np.clip(ext(d), reduced.lower, reduced.upper)
    level.settle(face.x + reduced.expand(raw_d))
    step = Step(level, face.x, reduced)
    raw = step.state(raw_d, ext(y))
    state = raw
    for _ in range(REFRESHED):
        before = [there.t for there in level.settled]
        state = polished(step, state)
        if remaining() == 0:
            break
        level.settle(face.x + reduced.expand(state.d))
        moved = [float(np.abs(there.t - t).max(initial=0.0)) for there, t in zip(level.settled, before, strict=True)]
        if max(moved, default=0.0) <= SAME:
            break
        step = Step(level, face.x, reduced)
        state = step.state(state.d, state.y)
    first = _judged(face, step, state)
    yield first
    if not accepted(first.bracket, tol) or first.threshold == np.inf:
        yield _judged(face, step, raw)


def _judged(face: Face, step: Step, state: State) -> Solved:
    x = face.snapped(face.x + step.face.expand(state.d))
    y, w = face.split(step.face.expand_multipliers(state.y, step.level.grad(x)))
    believed = state.residual <= POLISHED * (1 + float(np.abs(double(x)).max(initial=0.0)))
    threshold = FIX_QUADRATIC * step.level.grad_size(x, face.scale) if believed else np.inf
    return Solved(x, y, w, bracket(face, step.level, x, y, w), threshold)
