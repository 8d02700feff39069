"""Which columns and rows of a quadratic level are held at their ends, and the minimiser that they leave."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...numerics import active_set
from ...numerics.extended import UNIT, Ext, double
from .equality import Equality
from .kkt import kkt_solver
from .step import State, Step

CORRECTIONS = 12


class Sides(NamedTuple):
    """-1 the low end, 1 the high one, 0 none."""

    columns: NDArray[np.int8]
    rows: NDArray[np.int8]

    @property
    def key(self) -> bytes:
        """To tell two of them apart."""
        return self.columns.tobytes() + self.rows.tobytes()

    def ends(self, step: Step) -> Ext:
        """What the rows that are held are held at."""
        return np.where(self.rows < 0, step.face.low, step.face.high)


def suggested(step: Step, state: State) -> Sides:
    """Those ends whose multiplier would push farther than they are away."""
    face = step.face
    return Sides(
        _suggested(state.d, face.lower, face.upper, state.slope * step.give[0]),
        _suggested(state.activity, face.low, face.high, state.y * step.give[1]),
    )


def _suggested(value: Ext, low: Ext, high: Ext, push: Ext) -> NDArray[np.int8]:
    side = np.where(push > value - low, -1, np.where(-push > high - value, 1, 0))
    return np.where(low == high, 1, side).astype(np.int8)


def noise(step: Step, state: State) -> Vector:
    """What the slopes of columns may be off by."""
    x = step.origin.copy()
    x[step.face.columns] += state.d
    lost = step.face.G.transpose_times_error(state.y)
    return 4 * (step.level.at(x).grad_error[step.face.columns] + lost)


def corrected(step: Step, sides: Sides, state: State, noise: Vector) -> Sides:
    """Ends that are crossed join, ends that push the wrong way leave."""
    face = step.face
    size = 256 * UNIT * (1 + float(np.abs(state.d).max(initial=0)))
    rough = 64 * float(noise.max(initial=0.0))  # for multipliers of rows, which are not sums of the same terms
    return Sides(
        active_set.corrected(sides.columns, state.d, face.lower, face.upper, state.slope, crossed=size, noise=noise),
        active_set.corrected(sides.rows, state.activity, face.low, face.high, state.y, crossed=size, noise=rough),
    )


def equality(step: Step, sides: Sides) -> Equality:
    """The decomposition for these sides, made once."""
    key = sides.key
    if key not in step.solvers:
        step.solvers[key] = Equality(step, np.flatnonzero(sides.columns == 0), np.flatnonzero(sides.rows))
    found: Equality = step.solvers[key]
    return found


def downhill(step: Step, sides: Sides, slope: Ext, noise: Vector) -> Vector | None:
    """A step of the free columns without curvature along which the level falls; None where there is none to be seen."""
    free = sides.columns == 0
    return equality(step, sides).downhill(double(slope[free]), noise[free]) if step.small else None


def on_sides(step: Step, start: State, sides: Sides) -> State:
    """The minimiser with columns and rows at the given sides: one factorisation, corrections until they stall."""
    face = step.face
    free, active = np.flatnonzero(sides.columns == 0), np.flatnonzero(sides.rows)
    ends = sides.ends(step)
    d = np.where(sides.columns < 0, face.lower, np.where(sides.columns > 0, face.upper, start.d))
    best = state = step.state(d, np.where(sides.rows == 0, 0, start.y))
    solve = equality(step, sides).correct if step.small else kkt_solver(step, free, active)
    least = np.inf
    for _ in range(CORRECTIONS):
        slope, short = state.slope[free], (ends - state.activity)[active]
        size = max(float(np.abs(slope).max(initial=0)), float(np.abs(short).max(initial=0)))
        if size < least:
            best = state
        if size == 0 or not size <= 0.5 * least:
            break
        least = size
        move, turn = solve(double(slope), double(short))
        d, y = state.d.copy(), state.y.copy()
        d[free] += move
        y[active] += turn
        state = step.state(d, y)
    return best


def meets_rows(step: Step, sides: Sides, state: State) -> bool:
    """Whether the rows that are held are at their ends: not where columns are held that they would have to move."""
    if not step.small or not sides.rows.any():
        return True
    short = np.abs(np.where(sides.rows == 0, 0, sides.ends(step) - state.activity))
    terms = np.asarray(step.face.G.size @ np.abs(double(state.d)))
    return bool((short <= 2.0**-20 * terms + 2.0**-50 * step.give[1] ** 0.5).all())


def sharpened(step: Step, state: State, sides: Sides) -> State:
    """The same point with images that are right to the last digit, where those hang on a condition number."""
    if not step.small or not equality(step, sides).worth_refining():
        return state
    d, y = equality(step, sides).refined(state.d, state.y, sides.ends(step))
    return step.state(np.clip(d, step.face.lower, step.face.upper), y)
