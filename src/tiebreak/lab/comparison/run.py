"""One run of one method on one family, against the known answer and under a clock that does not count the watching."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...arrays import Vector
from ...methods import Solver, State
from ...problem import Problem
from ...states import Clock, Looks, Pace, states_of
from ...watch import NonFiniteError, watched
from .families import FAMILIES, Family
from .settings import FIND_THEIR_START, solver_for

ACCURACIES = (1e-2, 1e-4, 1e-6)
"""A run has reached an accuracy at the first look where |f - f*| and g - g* are at most that, in their units."""

GROWTH = 1.05
"""One looks at every iterate at first, then whenever k has grown by this factor."""

WARM_UP = 32
"""So many updates are made before those that count."""


@dataclass
class Record:
    """What a run showed: its looks (k, seconds, oracle calls, both gaps), and how it ended."""

    looks: list[tuple[int, float, float, float, float]] = field(default_factory=list)
    status: str = ""

    def reached(self, limit: float) -> list[tuple[float, float, bool] | None]:
        """Seconds and oracle calls until each accuracy, and whether it lasted; None where it was not reached."""
        found: list[tuple[float, float, bool] | None] = []
        for accuracy in ACCURACIES:
            good = [max(abs(f), g) <= accuracy for _, _, _, f, g in self.looks]
            first = good.index(True) if any(good) else None
            if first is None or self.looks[first][1] > limit:  # an update that took longer than allowed
                found.append(None)
            else:
                found.append((self.looks[first][1], self.looks[first][2], good[-1]))
        return found


def run(family_name: str, method: str, setting: str, limit: float) -> Record:
    """Run until the last accuracy is reached, the method is done, or so many seconds of processor time are over."""
    return run_family(FAMILIES[family_name], method, setting, limit)


def run_family(make: Callable[[], Family], method: str, setting: str, limit: float) -> Record:
    """The same for a family that is in no table."""
    with _silence():
        refusal = _warm_up(make(), method, setting)
        if refusal:
            return Record(status=refusal)
        return timed(make(), method, setting, limit)  # made anew: what it remembers of the warm-up is gone


def timed(family: Family, method: str, setting: str, limit: float, clock: Clock | None = None) -> Record:
    """The run itself, in processor time of this process; the clock stands while one looks."""
    clock = clock or Clock(time.process_time)
    record, calls, looks, pace = Record(), Counter[str](), Looks(GROWTH), Pace()
    solver = solver_for(method, setting, family)
    problem = family.problem if solver.works_on_data else watched(family.problem, calls)

    def ahead(state: State) -> int:
        return min(looks.next - state.k, pace.updates(state.k, clock.elapsed, limit))

    try:
        for state in clock.over(states_of(problem, solver, _given(family, method), ahead=ahead)):
            last = state.finished or clock.elapsed >= limit
            looked = looks.due(state.k) or last
            if looked and _look(family, solver, state, record, clock, calls):
                record.status = "reached"
                break
            if last:
                record.status = "done" if state.finished else "time"
                break
    except NonFiniteError as error:
        record.status = f"failed: {error}"
    return record


def _look(family: Family, solver: Solver[Any], state: State, record: Record, clock: Clock, calls: Counter[str]) -> bool:
    """Note the gaps; whether the last accuracy is reached."""
    f, g = family.gaps(solver.solution(state))
    record.looks.append((state.k, clock.elapsed, float(sum(calls.values())), f, g))
    return max(abs(f), g) <= ACCURACIES[-1]


def _warm_up(family: Family, method: str, setting: str) -> str:
    """A few updates that are not counted, for imports and compilation; why the method does not apply, if so."""
    problem = family.problem
    solver = solver_for(method, setting, family)
    missing = solver.needs - _oracles(problem)
    if missing:
        return f"not applicable: needs {', '.join(sorted(missing))}"
    try:
        for state in states_of(problem, solver, _given(family, method), ahead=lambda state: 1 if state.k < 2 else 30):
            if state.k >= WARM_UP:
                break
    except ValueError as error:
        return f"not applicable: {error}"
    except ArithmeticError as error:
        return f"failed: {error}"
    return ""


def _given(family: Family, method: str) -> Vector | None:
    return None if method in FIND_THEIR_START else family.x0


def _oracles(problem: Problem) -> set[str]:
    return {"upper.grad", "lower.grad"} | {f"domain.{name}" for name in problem.domain.oracles}


@contextmanager
def _silence() -> Iterator[None]:
    """Methods outside their theory say so and may overflow; here both are part of the result."""
    logger = logging.getLogger("tiebreak")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        logger.setLevel(before)
