"""Active-set polish: from a solver's guess to the last digit, or back to the guess where that is better."""

from __future__ import annotations

import numpy as np

from ..interrupt import OutOfTime, remaining
from .descend import descended
from .sides import corrected, downhill, meets_rows, noise, on_sides, sharpened, suggested
from .step import State, Step

SET_CHANGES = 10


def polished(step: Step, guess: State) -> State:
    """The better of the guess and the solutions of the equality problems on the sets that it suggests."""
    try:
        return _polished(step, guess)
    except np.linalg.LinAlgError:  # a decomposition that does not exist or does not converge
        return guess


def _polished(step: Step, guess: State) -> State:
    best, sides, rounding = guess, suggested(step, guess), noise(step, guess)
    seen = set()
    for _ in range(SET_CHANGES):
        if sides.key in seen or remaining() == 0:
            break
        seen.add(sides.key)
        try:
            state = on_sides(step, best, sides)
        except OutOfTime:
            return best
        if state.residual < best.residual:
            best = state
        after = corrected(step, sides, state, rounding)
        if after.key == sides.key and downhill(step, sides, state.slope, rounding) is None:
            done = sharpened(step, state, sides)
            if meets_rows(step, sides, done) and done.residual <= max(
                best.residual, float((rounding * step.give[0]).max(initial=0.0))
            ):
                return done
            break  # more is held than can be: the face is narrow beside what solvers see
        sides = after
    return descended(step, best, rounding) if step.small else best
