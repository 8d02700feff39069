"""A run: the states of a method as the loop makes them, with bounds, limits and whoever watches.

``sight.py`` is what it sees at a state, ``ending.py`` what it becomes: a ``Result``.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Vector
from .bounds import Bounds
from .callbacks import Callback, Event, every_of
from .engines.answer import Unbounded
from .engines.interrupt import kept
from .examination import by_user, confirm
from .kernels import clock
from .methods import Solver, State
from .numerics.deadline import OutOfTime
from .numerics.failures import ARITHMETIC, EmptySet, out_of_range
from .origin import Ledger, Origin
from .problem import Problem
from .result import Result, Status
from .resume import first_state, origin_of, starting_point
from .sight import Sight
from .states import Looks, Pace, states_of
from .watch import NonFiniteError, Witnesses, watched

logger = logging.getLogger("tiebreak")

CHECK_GROWTH = 1.1
"""Bounds are computed at each of the first updates and then whenever k has grown by this factor."""

LEAST_SHRINK = 1e-12
"""A method's lower-level tolerance is not made smaller than this share of the run's."""

STALL_CHECKS = 5
"""So many computations of the bounds in a row with nothing changed, over 20 updates and more than went before, are a
stall: steps that shrink may leave x where it is for a while."""


@dataclass
class Run:
    """One run: the bounds, the clock, and the last state that was reached."""

    problem: Problem
    solver: Solver[Any]
    tol_upper: float
    tol_lower: float
    free: bool  # whether the method's own tolerances are the run's to choose
    calls: Counter[str] = field(default_factory=Counter)
    state: State | None = None
    started: float = field(default_factory=clock)
    origin: Origin | None = None
    interrupt: KeyboardInterrupt | None = None

    def __post_init__(self) -> None:
        self.witnesses = Witnesses(self.problem)
        self.bounds = Bounds(watched(self.problem, self.calls, "bounds.", self.witnesses))
        self.sight = Sight(self.problem, self.bounds, self.tol_upper, self.tol_lower)
        self.given: Vector | None = None
        self._checks = Looks(
            CHECK_GROWTH, 1 if self.solver.works_on_data else 0
        )  # the start of such a one tells nothing
        self._tightened_at = 0
        self._unchanged = 0
        self._changed_at = 0
        self._pace = Pace()
        self._told = False
        self._last: tuple[float, ...] = ()
        self._resumed: State | None = None
        self._looked, self._done_at = False, -1

    def elapsed(self) -> float:
        return clock() - self.started

    def begin(self, x0: ArrayLike | Result | State | None, seed: int | None) -> Vector | State | None:
        """Where to start; from a state, with what was known there."""
        self.origin = origin_of(self.problem, self.solver, seed)
        if not isinstance(x0, State):
            self.given = starting_point(self.problem, x0)
            return self.given
        state = first_state(self.problem, self.solver, x0, self.origin)
        if x0.origin is not None and (ledger := x0.origin.ledger) is not None:
            self._resumed, self._looked, self._done_at = state, ledger.looked, state.k if x0.finished else -1
            self.bounds.resume(ledger.bounds, ledger.shown)
            self.sight.stationarity = ledger.stationarity
            self._checks.next, self._last = ledger.next_check, ledger.last
            self._unchanged, self._changed_at = ledger.unchanged, ledger.changed_at
            self._tightened_at = ledger.tightened_at
        return state

    def ledger(self) -> Ledger:
        """Where the run stands, for one that goes on from the same state."""
        x = None if self.state is None else self.solver.solution(self.state)
        seen = self.sight.last
        looked = seen is not None and seen.x is x
        return Ledger(
            bounds=self.bounds.known(),
            shown=self.bounds.proved(),
            looked=looked,
            stationarity=self.sight.stationarity if looked else None,
            next_check=self._checks.next,
            unchanged=self._unchanged,
            changed_at=self._changed_at,
            tightened_at=self._tightened_at,
            last=self._last,
        )

    def through(
        self, start: Vector | State | None, callbacks: list[Callback], max_iter: int, limit: float
    ) -> tuple[Status, str]:
        """Run until something ends it; returns what did."""
        problem = self.problem
        if not self.solver.works_on_data:
            problem = watched(problem, self.calls, "", self.witnesses)
        wanted = [every for callback in callbacks if (every := every_of(callback)) is not None]
        # who asks for every update sees those of the algorithm itself, not of a faster way to the same
        ahead = None if 1 in wanted else (lambda state: self._ahead(state, wanted, max_iter, limit))
        states = states_of(
            problem,
            self.solver,
            start,
            origin=self.origin,
            ahead=ahead,
            redirected=lambda state: self._redirected(problem, state),
        )
        try:
            for state in states:
                self.state = state
                looked = self._looks_at(state)
                if looked and self._holds(state):
                    self._confirm()
                    self._tell(callbacks, looked)
                    return Status.CONVERGED, "both tolerances are proved"
                over = self._over(state, max_iter, limit)
                if self._tell(callbacks, looked or over is not None):
                    return Status.STOPPED, "a callback stopped the run"
                if over is not None:
                    return over
        except KeyboardInterrupt as stop:
            self.interrupt = stop
            return Status.INTERRUPTED, f"interrupted; {self._left_by(stop)}"
        except OutOfTime as stop:
            return Status.MAX_TIME, f"the limit of {limit:g} s was reached inside an update; {self._left_by(stop)}"
        except EmptySet as error:
            return Status.INFEASIBLE, str(error)
        except Unbounded as stop:
            from .unbounded import unbounded_sentence

            self._left_by(stop)
            return Status.UNBOUNDED, unbounded_sentence(self.problem, stop)
        except NonFiniteError as error:
            logger.warning("%s", error)
            return Status.NONFINITE, f"{error}; this is the last complete state"
        except ARITHMETIC as error:
            return Status.NONFINITE, f"{out_of_range(error)}; this is the last complete state"
        answer = None if self.state is None else self.state.answer
        notes = "" if answer is None or not answer.notes else ": " + "; ".join(answer.notes)
        return Status.STALLED, f"the method is done, but the bounds do not show both tolerances{notes}"

    def _over(self, state: State, max_iter: int, limit: float) -> tuple[Status, str] | None:
        """What ends the run without a proof, if something does."""
        if self._unchanged >= STALL_CHECKS and state.k >= 20 + 2 * self._changed_at:
            return Status.STALLED, "neither the iterate nor any bound changes any more"
        if state.k >= max_iter:
            return Status.MAX_ITER, f"the limit of {max_iter} updates was reached"
        if self.elapsed() >= limit:
            return Status.MAX_TIME, f"the limit of {limit:g} s was reached"
        return None

    def _redirected(self, problem: Problem, state: State) -> State:
        """Where to go on from: here, or with a smaller lower-level tolerance where f(x) is known to be below f*.

        An iterate on the way may be below f* for a while: a method has as long again before it is asked anew.
        """
        below = self.sight.below(self.solver.solution(state))
        wanted = state.finished or (below and state.k >= 20 + 2 * self._tightened_at)
        if not (self.free and wanted and state.shrink > LEAST_SHRINK):
            return state
        tighter: State | None = self.solver.tightened(problem, state)
        if tighter is None:
            return state
        self._tightened_at, self._unchanged = state.k, 0
        return tighter

    def _left_by(self, stop: BaseException) -> str:
        """Take over what an interrupted update has proved, and say where that leaves the run."""
        partial = kept(stop)
        if partial is None or self.state is None or partial.x.shape != self.state.x.shape:
            return "this is the last complete state"
        self.state = replace(self.state, x=partial.x, answer=partial)
        x, problem = partial.x, self.problem
        self.bounds.adopt(partial, problem.upper.value(x), problem.lower.value(x))
        if partial.g_upper - partial.g_lower > self.tol_lower:
            return "this is the best point of the lower level, which was not solved either"
        return "this is a lower solution: the upper level was not finished"

    def _ahead(self, state: State, wanted: list[int], max_iter: int, limit: float) -> int:
        """How many updates to make before the bounds are due, a callback wants to be called, or the time may be up."""
        k = state.k
        room = min(self._checks.next, max_iter, *(k - k % every + every for every in wanted)) - k
        return max(1, min(room, self._pace.updates(k, self.elapsed(), limit)))

    def _looks_at(self, state: State) -> bool:
        """Whether the bounds are computed here, or read where the run before has computed them."""
        if state is self._resumed:
            return True
        if state.finished and state.k == self._done_at:  # the run before ended here
            return False
        return self._checks.due(state.k) or state.settled or state.finished

    def _holds(self, state: State) -> bool:
        """Whether both tolerances are proved at this state."""
        if state is not self._resumed:
            return self._converged(state)
        return self.sight.look_back(state, self.solver.solution(state), self.elapsed(), self._looked)

    def _converged(self, state: State) -> bool:
        shown, b = self.sight.look(state, self.solver.solution(state), self.elapsed()), self.bounds
        where = crc32(state.x.tobytes() + self.solver.solution(state).tobytes())
        weight = int(np.frexp(state.multiplier)[1])  # a method whose weight still grows may yet move
        now = (b.g_lower, b.g_upper, b.f_lower, b.f_upper, where, weight)
        self._unchanged = self._unchanged + 1 if now == self._last else 0
        self._changed_at = self._changed_at if self._unchanged else state.k
        self._last = now
        return shown

    def _confirm(self) -> None:
        """Before success: what a user wrote must not contradict it."""
        if by_user(self.problem) and self.sight.last is not None:
            confirm(self.bounds.problem, self.sight.last.point, self.bounds.f_lower, self.bounds.g_lower)

    def _tell(self, callbacks: list[Callback], looked: bool) -> bool:
        """Show the state to the callbacks that are to see it; whether one of them wants to stop."""
        first, self._told = not self._told, True
        if not callbacks or self.state is None:
            return False
        event = Event(self.problem, self.bounds, self.state, self.elapsed(), self.ledger)
        stop = False
        for callback in callbacks:
            every = every_of(callback)
            if not (first or (looked if every is None else event.k % every == 0)):
                continue
            try:
                stop = callback(event) is True or stop
            except StopIteration:
                stop = True
        return stop
