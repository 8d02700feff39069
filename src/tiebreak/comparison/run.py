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

from ..problem import Problem
from ..solvers import Solver, State
from ..watch import NonFiniteError, watched
from .families import FAMILIES, Family
from .settings import solver_for

ACCURACIES = (1e-2, 1e-4, 1e-6)
"""A run has reached an accuracy at the first look where |f - f*| and g - g* are at most that, in their units."""

GROWTH = 1.05
"""One looks at every iterate at first, then whenever k has grown by this factor."""


@dataclass
class Clock:
    """Processor time of this process that can be stopped."""

    read: Callable[[], float] = time.process_time
    elapsed: float = 0.0

    @contextmanager
    def running(self) -> Iterator[None]:
        started = self.read()
        try:
            yield
        finally:
            self.elapsed += self.read() - started


@dataclass
class Record:
    """What a run showed: its looks (k, seconds, oracle calls, both gaps), and how it ended."""

    looks: list[tuple[int, float, float, float, float]] = field(default_factory=list)
    status: str = "time"

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
    make = FAMILIES[family_name]
    with _silence():
        refusal = _warm_up(make(), method, setting)
        if refusal:
            return Record(status=refusal)
        return timed(make(), method, setting, limit)  # made anew: what it remembers of the warm-up is gone


def timed(family: Family, method: str, setting: str, limit: float, clock: Clock | None = None) -> Record:
    """The run itself; everything but ``start`` and ``advance`` happens while the clock stands."""
    clock = clock or Clock()
    record, calls = Record(), Counter[str]()
    solver = solver_for(method, setting, family)
    problem = watched(family.problem, calls) if solver.needs else family.problem
    try:
        with clock.running():
            state = solver.start(problem, family.x0)
        next_look = 0
        while True:
            if state.k >= next_look or state.finished:
                next_look = max(state.k + 1, int(GROWTH * state.k))
                if _look(family, solver, state, record, clock, calls):
                    record.status = "reached"
                    break
                if state.finished:
                    record.status = "done"
                    break
            if clock.elapsed >= limit:
                break
            count = _count(state, next_look, clock.elapsed, limit)
            with clock.running():
                state = solver.advance_many(problem, state, count)
    except NonFiniteError as error:
        record.status = f"failed: {error}"
    return record


def _look(family: Family, solver: Solver[Any], state: State, record: Record, clock: Clock, calls: Counter[str]) -> bool:
    """Note the gaps; whether the last accuracy is reached."""
    f, g = family.gaps(solver.solution(state))
    record.looks.append((state.k, clock.elapsed, float(sum(calls.values())), f, g))
    return max(abs(f), g) <= ACCURACIES[-1]


def _count(state: State, next_look: int, elapsed: float, limit: float) -> int:
    """Updates until the next look, but no more than take a tenth of the limit at the pace so far."""
    if state.k == 0 or elapsed == 0:
        return 1
    return max(1, min(next_look - state.k, int(0.1 * limit * state.k / elapsed)))


def _warm_up(family: Family, method: str, setting: str) -> str:
    """A few updates that are not counted, for imports and compilation; why the method does not apply, if so."""
    problem = family.problem
    solver = solver_for(method, setting, family)
    missing = solver.needs - _oracles(problem)
    if missing:
        return f"not applicable: needs {', '.join(sorted(missing))}"
    try:
        state = solver.start(problem, family.x0)
        for count in (1, 1, 30):
            if not state.finished:
                state = solver.advance_many(problem, state, count)
    except ValueError as error:
        return f"not applicable: {error}"
    except ArithmeticError as error:
        return f"failed: {error}"
    return ""


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
