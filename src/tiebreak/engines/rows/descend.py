"""Downhill from set to set without leaving the face: for levels whose suggested sets correct each other in circles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...numerics.extended import Ext
from ..interrupt import remaining
from .sides import Sides, downhill, on_sides, sharpened
from .step import State, Step

STEPS = 3
"""How many steps for each column and row, at most."""


class End(NamedTuple):
    """The first end on the way: how far it is, whose it is, which one."""

    share: float
    held: NDArray[np.int8]
    place: int
    side: int


def descended(step: Step, start: State, noise: Vector) -> State:
    """A primal active-set method, from the step of ``start`` or, where that misses a row, from none; else ``start``."""
    face = step.face
    d = np.clip(start.d, face.lower, face.upper)
    size = 1e-15 * (1 + np.abs(d).max(initial=0))
    activity = face.G.times(d)
    if ((activity < face.low - size) | (activity > face.high + size)).any():  # the step that stays is in the face
        d, size = step.zero()[0], 1e-15
        activity = face.G.times(d)
    sides = Sides(_touched(d, face.lower, face.upper, 0.0), _touched(activity, face.low, face.high, size))
    state = step.state(d, np.where(sides.rows == 0, 0, start.y))
    for _ in range(STEPS * (d.size + activity.size) + 10):
        if remaining() == 0:
            break
        goal = on_sides(step, state, sides)
        away = downhill(step, sides, goal.slope, noise)
        move = goal.d - state.d
        if away is not None:
            move[:] = 0
            move[sides.columns == 0] = away
        end = _first_end(step, state, move, np.inf if away is not None else 1.0, sides)
        if end is not None:
            state = step.state(np.clip(state.d + end.share * move, face.lower, face.upper), state.y)
            end.held[end.place] = end.side
            continue
        if away is not None:  # unbounded: no set of ours
            break
        state = goal
        if not _release(step, sides, state, noise):
            done = sharpened(step, state, sides)
            return (
                done if done.residual <= max(start.residual, float((noise * step.give[0]).max(initial=0.0))) else start
            )
    return state if state.residual < start.residual else start


def _touched(value: Ext, low: Ext, high: Ext, size: float) -> NDArray[np.int8]:
    side = np.where(value <= low + size, -1, np.where(value >= high - size, 1, 0))
    return np.where(low == high, 1, side).astype(np.int8)


def _first_end(step: Step, state: State, move: Ext, most: float, sides: Sides) -> End | None:
    face = step.face
    found: End | None = None
    along = face.G.times(move)
    for held, value, change, low, high in (
        (sides.columns, state.d, move, face.lower, face.upper),
        (sides.rows, state.activity, along, face.low, face.high),
    ):
        room = np.where(change > 0, high - value, low - value)
        open_ = (held == 0) & (np.abs(change) > 1e-18 * np.abs(along if change is along else move).max(initial=0))
        shares = np.where(open_, np.maximum(room / np.where(open_, change, 1), 0), np.inf)
        index = int(np.argmin(shares)) if shares.size else -1
        if index >= 0 and shares[index] < most:
            most = float(shares[index])
            found = End(most, held, index, 1 if change[index] > 0 else -1)
    return found


def _release(step: Step, sides: Sides, state: State, noise: Vector) -> bool:
    """Let go of the end that pushes the wrong way the most; False where none does."""
    face = step.face
    rough = np.full(sides.rows.size, 64 * float(noise.max(initial=0.0)))
    wrong_columns = np.where(face.lower < face.upper, sides.columns * state.slope - noise, -1)
    wrong_rows = np.where(face.low < face.high, sides.rows * state.y - rough, -1)
    worst = max(wrong_columns.max(initial=0.0), wrong_rows.max(initial=0.0))
    if worst <= 0:
        return False
    held, wrong = (
        (sides.columns, wrong_columns) if wrong_columns.max(initial=0.0) == worst else (sides.rows, wrong_rows)
    )
    held[int(np.argmax(wrong))] = 0
    return True
