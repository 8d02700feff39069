"""Many updates of CG-BiO, or of its anytime variant, at once, for the kinds of problems with a loop:
``gram_loop.py``, ``fair_loop.py``, ``factor_loop.py``.

Their iterates are those of ``advance`` up to rounding. Gradients and values follow by recurrences that contract
their errors; a state carries all of them, so that a run does not depend on where its chunks end, and every REFRESH
updates they are computed afresh. What a loop cannot do safely it leaves to ``advance``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Vector
from ...kernels import flat
from ...objectives.base import Objective
from ...objectives.covariance import FairRows
from ...points import REFRESH, place
from ...problem import Problem
from ...sets.rows import Axes
from ...steps import Constant, Harmonic, InverseSqrt, StepRule
from .factor_loop import Factors, factor_radius, fast_factor_updates
from .fair_loop import Fair, fast_fair_updates
from .gram_loop import FINISHED, MISSING, Fixed, Gram, Numbers, fast_gram_updates
from .lower_level import LowerRule
from .vertex_data import data_rows, gram_columns

if TYPE_CHECKING:
    from .cut_state import CutState

NO_CUT = np.array([-1.0, 0.0, -1.0, 0.0])
"""In the place of the vertices and signs of the last cut, where there was none."""

LARGEST = 4000
"""Up to this many variables, all Gram columns of a problem may be kept (128 MB for each objective at most)."""


def chunk(
    problem: Problem, state: CutState, rule: StepRule, lower: LowerRule, tolerances: tuple[float, float], count: int
) -> CutState | None:
    """The state after up to ``count`` updates; None where there is no loop for the problem or the step rule."""
    f, g = _plain(problem.upper), _plain(problem.lower)
    axes, steps, run = None if problem.domain.by_user else problem.domain.axes, _steps(rule), state.run
    if steps is None or state.point is None:
        return None
    if axes is None:
        advanced = _factor_chunk(problem, state, steps, tolerances, count)
        if advanced is not None:
            _count(problem, advanced.k - state.k, anytime=False)
        return advanced
    fixed = Fixed(*steps, axes.signed, run is not None, lower == "exact", problem.slack, *map(float, tolerances))
    own = f.claims or g.claims  # of a user's class only its values are known
    fair = None if own or run else f.fair_rows(g)
    if fair is not None:
        advanced = _fair_chunk(f, g, fair, state, axes, fixed, count)
    elif (
        (f.quadratic and f.convex and g.quadratic and not own and problem.dim <= LARGEST)
        and lower != "backtracking"
        and (run is None or run.j == state.k - state.first)
    ):
        advanced = _gram_chunk(f, g, state, axes, fixed, count)
    else:
        return None
    if advanced is not None:
        _count(problem, advanced.k - state.k, run is not None)
    return advanced


def _gram_chunk(f: Objective, g: Objective, state: CutState, axes: Axes, fixed: Fixed, count: int) -> CutState | None:
    extent = axes.extents
    F, G = gram_columns(f, extent), gram_columns(g, extent)
    n, moving = extent.size, 0 if state.run is None else extent.size
    memory = _remembered(state, extent, (n, n, n, moving, moving, 5 + NO_CUT.size))
    if not memory:
        state = _refreshed(g, state)
        memory = _gram_memory(f, g, state, extent)
    y, a, c, z, cz, values = memory
    run, anchor = state.run, np.empty(extent.size)
    vectors = Gram(y, a, c, z, cz, values, F.at_zero, G.at_zero, F.columns, G.columns, F.known, G.known, anchor)
    numbers, done, reason = _numbers(state), 0, MISSING
    while reason == MISSING:
        more, reason, column, found = fast_gram_updates(
            count - done, state.k - state.first + done, fixed, vectors, numbers
        )
        done, numbers = done + more, Numbers(*found)
        if reason == MISSING:
            for columns, objective in ((F, f), (G, g)):
                if not columns.known[column]:
                    columns.find(objective, column)
    if not np.isfinite(values).all():
        return None
    if run is not None and done:
        point = place([g], extent * z)
        run = replace(run, point=point, value=numbers.run_value, gap=numbers.run_gap, j=run.j + done)
    if numbers.level < state.level:
        state = replace(state, anchor=extent * anchor, level=numbers.level)
    state = replace(state, run=run, f_lower=numbers.f_lower)
    return _moved(state, (f, g), extent * y, done, reason, numbers, memory)


def _fair_chunk(
    f: Objective, g: Objective, fair: FairRows, state: CutState, axes: Axes, fixed: Fixed, count: int
) -> CutState | None:
    extent, here, start = axes.extents, state.point, _numbers(state)
    assert here is not None
    if start.best_lower > start.level + fixed.slack + fixed.tol_lower / 2:
        return None
    memory = _remembered(state, extent, (extent.size, fair.y.size, NO_CUT.size))
    memory = memory or (here.x / extent, here.images[1].copy(), NO_CUT.copy())
    best = np.zeros(extent.size)
    y, t, similar = memory
    rows = data_rows(g, fair.A, extent)
    vectors = Fair(y, t, similar, rows, flat(fair.y), flat(fair.weights), fair.w, best)
    done, reason, _, found = fast_fair_updates(count, state.k - state.first, fixed, vectors, start)
    numbers = Numbers(*found)
    if not np.isfinite(t).all():
        return None
    if numbers.best_gap < start.best_gap:
        state = replace(state, best_gap=numbers.best_gap, best_lower=numbers.best_lower, best_x=extent * best)
    return _moved(state, (f, g), extent * y, done, reason, numbers, memory)


def _factor_chunk(
    problem: Problem,
    state: CutState,
    steps: tuple[float, float, float],
    tolerances: tuple[float, float],
    count: int,
) -> CutState | None:
    f, g, start = _plain(problem.upper), _plain(problem.lower), _numbers(state)
    given = f.dictionary(g)
    radius = None if given is None else factor_radius(problem.domain, given)
    if given is None or radius is None or state.run:
        return None
    if start.best_lower > start.level + problem.slack + tolerances[1] / 2:
        return None
    x, best = state.x.copy(), np.zeros(state.x.size)
    D, X = given.blocks(x)
    vectors = Factors(x, D, X, given.data, given.old, given.codes, given.constant, radius, best)
    fixed = Fixed(*steps, False, False, False, problem.slack, *map(float, tolerances))
    done, reason, _, found = fast_factor_updates(count, state.k - state.first, fixed, vectors, start)
    numbers = Numbers(*found)
    if not np.isfinite(x).all():
        return None
    if numbers.best_gap < start.best_gap:
        state = replace(state, best_gap=numbers.best_gap, best_lower=numbers.best_lower, best_x=best)
    return _moved(state, (f, g), x, done, reason, numbers, ())


def _remembered(state: CutState, extent: Vector, sizes: tuple[int, ...]) -> tuple[Vector, ...]:
    """Copies of what the loop left behind; nothing where there is none, or not of this problem, or it is time to begin
    afresh: always at the same updates, wherever the chunks end."""
    memory = state.memory
    if [vector.shape for vector in memory] != [(size,) for size in sizes] or not _vertices(memory[-1], extent.size):
        return ()
    if state.k % REFRESH == 0 or not np.array_equal(extent * memory[0], state.x):
        return ()
    return tuple(vector.copy() for vector in memory)


def _vertices(numbers: Vector, count: int) -> bool:
    """Whether the last cut is between vertices that there are: a state may be from a file, and the loop believes it."""
    vertices = numbers[-NO_CUT.size :: 2]
    return bool(((vertices >= -1) & (vertices < count)).all())


def _refreshed(g: Objective, state: CutState) -> CutState:
    """Values that followed by recurrence, computed again."""
    if state.run is None or state.anchor is None:
        return state
    run = replace(state.run, value=g.value_at(state.run.x, state.run.point.images[0]))
    return replace(state, run=run, level=min(run.value, g.value(state.anchor)))


def _gram_memory(f: Objective, g: Objective, state: CutState, extent: Vector) -> tuple[Vector, ...]:
    here, run, z, cz = state.point, state.run, np.empty(0), np.empty(0)
    assert here is not None
    f_value, a = f.value_and_grad_at(here.x, here.images[0])
    g_value, c = g.value_and_grad_at(here.x, here.images[1])
    if run is not None:
        z, cz = run.x / extent, extent * g.value_and_grad_at(run.x, run.point.images[0])[1]
    y, a, c = here.x / extent, extent * a, extent * c
    return y, a, c, z, cz, np.array([f_value, g_value, a @ y, c @ y, cz @ z, *NO_CUT])


def _moved(
    state: CutState,
    levels: tuple[Objective, Objective],
    x: Vector,
    done: int,
    reason: int,
    numbers: Numbers,
    memory: tuple[Vector, ...],
) -> CutState:
    """The state at x, ``done`` updates later."""
    if done:
        state = replace(
            state, k=state.k + done, x=x, point=place(levels, x), multiplier=numbers.multiplier, memory=memory
        )
    return replace(state, finished=True) if reason == FINISHED else state


def _numbers(state: CutState) -> Numbers:
    value, gap = (np.inf, np.inf) if state.run is None else (state.run.value, state.run.gap)
    return Numbers(state.level, state.multiplier, state.f_lower, value, gap, state.best_gap, state.best_lower)


def _steps(rule: StepRule) -> tuple[float, float, float] | None:
    """Scale, shift and power of the rule, where it is scale / (k + shift)**power."""
    if type(rule) is Harmonic:
        return float(rule.a), float(rule.shift), 1.0
    if type(rule) is InverseSqrt:
        return float(rule.c), 1.0, 0.5
    if type(rule) is Constant:
        return float(rule.c), 1.0, 0.0
    return None


def _plain(part: Any) -> Any:
    """The objective or set itself, where a run watches it."""
    return getattr(part, "watched", part)


def _count(problem: Problem, updates: int, anytime: bool) -> None:
    """Put down the oracle calls that so many updates stand for, where a run counts them."""
    calls = [(problem.upper, "grad"), (problem.lower, "grad"), (problem.domain, "lmo_cut")]
    if anytime:
        calls += [(problem.lower, "grad"), (problem.lower, "value"), (problem.domain, "lmo")]
    for part, oracle in calls:
        note = getattr(part, "note_calls", None)
        if note is not None:
            note(oracle, updates)
