"""The loop: the only place where a method is advanced. Runs, comparisons and experiments look at its states."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .arrays import Vector
from .methods.base import Solver, State
from .origin import Origin
from .problem import Problem


def states_of(
    problem: Problem,
    solver: Solver[Any],
    start: Vector | State | None,
    *,
    origin: Origin | None = None,
    ahead: Callable[[State], int] | None = None,
    redirected: Callable[[State], State] | None = None,
) -> Iterator[State]:
    """The states of a method, the first one first, until its own stopping test ends it.

    Every update is one, unless ``ahead`` says after how many of them the next state is wanted, and the method has a way
    to make them at once; it may stop earlier. What ``redirected`` makes of a state is where the method goes on from.
    Each state is marked with its ``origin``.
    """
    several = ahead if type(solver).advance_many is not Solver.advance_many else None
    state = start if isinstance(start, State) else replace(solver.start(problem, start), origin=origin)
    yield state
    while True:
        state = redirected(state) if redirected else state
        if state.finished:
            return
        before = state.k
        state = solver.advance_many(problem, state, several(state)) if several else solver.advance(problem, state)
        if state.origin is None:  # a method that makes its states from nothing
            state = replace(state, origin=origin)
        if state.k > before or state.finished:
            yield state


@dataclass
class Looks:
    """When to look: at each of the first updates, then whenever k has grown by a factor."""

    growth: float
    next: int = 0

    def due(self, k: int) -> bool:
        """Whether it is time at k; if so, the next time is later."""
        if k < self.next:
            return False
        self.next = max(k + 1, int(self.growth * k))
        return True


@dataclass
class Pace:
    """How many updates may be made at once under a time limit."""

    _last: tuple[int, float] | None = field(default=None, init=False)
    _seconds: float = field(default=np.inf, init=False)

    def updates(self, k: int, now: float, limit: float) -> int:
        """As far as one can tell, so many as take a tenth of the limit and do not go beyond it; at first one."""
        last, self._last = self._last, (k, now)
        if last is None:
            return 1
        latest = max(now - last[1], 1e-9) / max(k - last[0], 1)
        seconds, self._seconds = min(latest, self._seconds), latest  # of the last two: one may have had to compile
        return max(1, int(min((limit - now) / seconds, limit / 10 / seconds, 1e9)))


@dataclass
class Clock:
    """The seconds that a method has used: it stands while others look at the states."""

    read: Callable[[], float] = time.perf_counter
    elapsed: float = 0.0

    def over(self, states: Iterator[State]) -> Iterator[State]:
        """The same states; the clock runs while the next one is made."""
        while True:
            started = self.read()
            try:
                state = next(states, None)
            finally:
                self.elapsed += self.read() - started
            if state is None:
                return
            yield state
