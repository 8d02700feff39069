"""A run: the states of a method as the loop makes them, with bounds, limits and whoever watches."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from .arrays import Vector
from .bounds import Bounds
from .callbacks import Callback, Event, Trace, every_of
from .certificate import Certificate, Level
from .engines.answer import Unbounded
from .engines.interrupt import kept
from .examination import by_user, confirm
from .kernels import clock
from .methods import Solver, State
from .numerics.deadline import OutOfTime, limited
from .numerics.failures import EmptySet
from .origin import Ledger, Origin
from .problem import Problem, start_point
from .result import Result, Status, explain
from .resume import INSIDE, first_state, origin_of, starting_point
from .states import Looks, Pace, states_of
from .unbounded import unbounded_sentence
from .watch import NonFiniteError, Witnesses, watched

logger = logging.getLogger("tiebreak")

CHECK_GROWTH = 1.1
"""Bounds are computed at each of the first updates and then whenever k has grown by this factor."""

LEAST_SHRINK = 1e-12
"""A method's lower-level tolerance is not made smaller than this share of the run's."""

STALL_CHECKS = 5
"""So many computations of the bounds in a row with nothing changed, over 20 updates and more than went before, are a
stall: steps that shrink may leave x where it is for a while."""


class _Observed(NamedTuple):
    """What the bounds said last: of which x, of which point in its place (with slack: a feasible one), and what."""

    x: Vector
    point: Vector
    f: float
    g: float
    certificate: Certificate


@dataclass
class Run:
    """One run: the bounds, the clock, and the last state that was reached."""

    problem: Problem
    solver: Solver[Any]
    tol_upper: float
    tol_lower: float
    free: bool  # whether the method's own tolerances are the run's to choose
    calls: Counter[str] = field(default_factory=Counter)
    trace: Trace = field(default_factory=Trace)
    state: State | None = None
    started: float = field(default_factory=clock)
    stationarity: float | None = None
    origin: Origin | None = None
    interrupt: KeyboardInterrupt | None = None

    def __post_init__(self) -> None:
        self.witnesses = Witnesses(self.problem)
        self.bounds = Bounds(watched(self.problem, self.calls, "bounds.", self.witnesses))
        self._checks = Looks(
            CHECK_GROWTH, 1 if self.solver.works_on_data else 0
        )  # the start of such a one tells nothing
        self._observed: _Observed | None = None
        self._tightened_at = 0
        self._outside = 0.0
        self._unchanged = 0
        self._changed_at = 0
        self._pace = Pace()
        self._told = False
        self._last: tuple[float, ...] = ()
        self._resumed: State | None = None
        self._looked, self._done_at = False, -1
        self._given: Vector | None = None

    def elapsed(self) -> float:
        return clock() - self.started

    def begin(self, x0: ArrayLike | Result | State | None, seed: int | None) -> Vector | State | None:
        """Where to start; from a state, with what was known there."""
        self.origin = origin_of(self.problem, self.solver, seed)
        if not isinstance(x0, State):
            self._given = starting_point(self.problem, x0)
            return self._given
        state = first_state(self.problem, self.solver, x0, self.origin)
        if x0.origin is not None and (ledger := x0.origin.ledger) is not None:
            self._resumed, self._looked, self._done_at = state, ledger.looked, state.k if x0.finished else -1
            self.bounds.resume(ledger.bounds, ledger.shown)
            self.stationarity = ledger.stationarity
            self._checks.next, self._last = ledger.next_check, ledger.last
            self._unchanged, self._changed_at = ledger.unchanged, ledger.changed_at
            self._tightened_at = ledger.tightened_at
        return state

    def ledger(self) -> Ledger:
        """Where the run stands, for one that goes on from the same state."""
        x = None if self.state is None else self.solver.solution(self.state)
        looked = self._observed is not None and self._observed.x is x
        return Ledger(
            bounds=self.bounds.known(),
            shown=self.bounds.proved(),
            looked=looked,
            stationarity=self.stationarity if looked else None,
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
            self._left_by(stop)
            return Status.UNBOUNDED, unbounded_sentence(self.problem, stop)
        except NonFiniteError as error:
            logger.warning("%s", error)
            return Status.NONFINITE, f"{error}; this is the last complete state"
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
        seen = self._observed
        looked = seen is not None and seen.x is self.solver.solution(state)
        below = looked and seen is not None and self._too_low(seen.certificate)
        wanted = state.finished or (below and state.k >= 20 + 2 * self._tightened_at)
        if not (self.free and wanted and state.shrink > LEAST_SHRINK):
            return state
        tighter: State | None = self.solver.tightened(problem, state)
        if tighter is None:
            return state
        self._tightened_at, self._unchanged = state.k, 0
        return tighter

    def _too_low(self, certificate: Certificate) -> bool:
        """Whether the lower level is proved to its tolerance, yet x is known not to be a solution."""
        known = certificate.upper_gap if certificate.stationarity is None else certificate.stationarity
        return known < -self.tol_upper and certificate.lower_gap <= self.tol_lower + self.problem.slack

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
        x = self.solver.solution(state)  # the run before has looked: are its bounds enough now?
        feasible = self.bounds.feasible(x) if self.problem.slack > 0 else None
        seen = self._read(x, x if feasible is None else feasible)
        self.trace.record(state.k, self.elapsed(), seen.f, seen.g, seen.certificate)
        shown = self._shown(seen)
        self._observed = seen if shown or self._looked else None
        return shown

    def _converged(self, state: State) -> bool:
        shown, b = self._observe(state), self.bounds
        where = crc32(state.x.tobytes() + self.solver.solution(state).tobytes())
        weight = int(np.frexp(state.multiplier)[1])  # a method whose weight still grows may yet move
        now = (b.g_lower, b.g_upper, b.f_lower, b.f_upper, where, weight)
        self._unchanged = self._unchanged + 1 if now == self._last else 0
        self._changed_at = self._changed_at if self._unchanged else state.k
        self._last = now
        return shown

    def _confirm(self) -> None:
        """Before success: what a user wrote must not contradict it."""
        if by_user(self.problem) and self._observed is not None:
            confirm(self.bounds.problem, self._observed.point, self.bounds.f_lower, self.bounds.g_lower)

    def _shown(self, seen: _Observed) -> bool:
        """Whether the certificate shows a solution, and the point is one of Z."""
        if not seen.certificate.shows(self.tol_upper, self.tol_lower, self.problem.slack):
            return False
        if self.problem.before and not self._shown_before(seen.point):
            return False
        size = float(np.linalg.norm(seen.point)) or min(self.problem.domain.diameter, 1.0)
        self._outside = self.problem.domain.distance_outside(seen.point)
        return self._outside <= INSIDE * size

    def _shown_before(self, x: Vector) -> bool:
        """Whether the levels before the last two are proved to the tolerance, and not contradicted."""
        values = [level.value(x) for level in self.problem.before]
        levels = self.bounds.levels([*values, np.nan, np.nan])
        return all(abs(level.gap) <= self.tol_lower for level in levels[:-2])

    def _observe(self, state: State) -> bool:
        """Whether fresh bounds at what the method would return show a solution; they are recorded in the trace."""
        x = self.solver.solution(state)
        seen, shown = None, False
        if state.answer is not None:
            # An exact method's own proof is enough where it shows the tolerances; the oracles could not sharpen it.
            f, (g, g_error) = self._values(x)
            self.bounds.adopt(state.answer, f, g)
            if state.answer.stationarity is not None:
                self.stationarity = state.answer.stationarity
            seen = _Observed(x, x, f, g, self.bounds.certificate(f, g, g_error, self.stationarity))
            shown = self._shown(seen)
        if seen is None or not shown:
            self.stationarity = self.bounds.observe(x, state.anchor, state.multiplier)
            seen = self._read(x, self._feasible(x))
            shown = self._shown(seen)
        self._observed = seen
        self.trace.record(state.k, self.elapsed(), seen.f, seen.g, seen.certificate)
        return shown

    def _feasible(self, x: Vector) -> Vector:
        """With slack, the point to return for x: one that is proved feasible, where there is one."""
        y = self.bounds.feasible(x) if self.problem.slack > 0 else x
        if y is None or y is x:
            return x
        if not self.problem.upper.convex:
            self.stationarity = self.bounds.observe(y)
        return y

    def _read(self, x: Vector, point: Vector) -> _Observed:
        """The bounds as they are, read for the point that stands for x."""
        f, (g, g_error) = self._values(point)
        return _Observed(x, point, f, g, self.bounds.certificate(f, g, g_error, self.stationarity))

    def _values(self, x: Vector) -> tuple[float, tuple[float, float]]:
        problem = self.bounds.problem
        return problem.upper.value(x), problem.lower.value_and_error(x)

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

    def result(self, status: Status, detail: str, reason: str, trace: Trace, seed: int | None) -> Result:
        """Everything recomputed at the final point, and said in words."""
        x, nit = self._final()
        ledger, seen = self.ledger(), self._observed
        if not np.isfinite(x).all():
            seen = _Observed(x, x, np.nan, np.nan, self.bounds.certificate(np.nan, np.nan, 0.0))
            detail += "" if status is Status.INFEASIBLE else "; not even a point of the domain was found"
        elif seen is None or seen.x is not x:
            status, detail, point = self._look_again(x, status, detail)
            f, (g, g_error) = self.problem.upper.value(point), self.problem.lower.value_and_error(point)
            seen = _Observed(x, point, f, g, self.bounds.certificate(f, g, g_error, self.stationarity))
        nothing = status in (Status.UNBOUNDED, Status.INFEASIBLE)
        if not nothing:
            seen, status, detail = self._not_worse_than_start(seen, status, detail)
        words = "" if nothing else explain(seen.certificate, self.problem, self.tol_upper)
        if status is not Status.CONVERGED and self._outside > INSIDE:
            detail = f"{detail}; a point that the method found is outside the domain, by {self._outside:.3g} at most"
        split = getattr(self.problem.domain, "split", None)
        sentences = f"{detail[0].upper()}{detail[1:]}", words.rstrip("."), reason and f"Method: {reason}"
        return Result(
            x=seen.point,
            f=seen.f,
            g=seen.g,
            success=status is Status.CONVERGED,
            status=status,
            message=" ".join(f"{sentence}." for sentence in sentences if sentence),
            method=self.solver.info.name,
            nit=nit,
            time=self.elapsed(),
            calls=dict(self.calls),
            certificate=seen.certificate,
            trace=trace,
            seed=seed,
            blocks=None if split is None else split(seen.point),
            state=self._put_aside(ledger),
            notes=self.bounds.notes,
            tol_upper=self.tol_upper,
            tol_lower=self.tol_lower,
            levels=self._levels(seen),
            names=self.problem.names,
        )

    def _not_worse_than_start(self, seen: _Observed, status: Status, detail: str) -> tuple[_Observed, Status, str]:
        """The given start in the place of what a run without success has reached, where it is the better point.

        That is: where the bounds show by now that it is a solution; where no level is higher there and one is lower;
        and, with slack, where it is feasible for certain and the other is not, or has the higher f.
        """
        x0, c = self._given, seen.certificate
        if x0 is None or status is Status.CONVERGED or x0.shape != seen.point.shape:
            return seen, status, detail
        try:
            f, (g, g_error) = self._values(x0)
            values = [(level.value(x0), level.value(seen.point)) for level in self.problem.before]
        except (NonFiniteError, OutOfTime):  # the limit may leave no time for it
            return seen, status, detail
        own = None if self.problem.upper.convex else np.inf
        first = _Observed(x0, x0, f, g, self.bounds.certificate(f, g, g_error, own))
        if self._shown(first):
            return first, Status.CONVERGED, "both tolerances are proved at the start x0, which is returned"
        values += [(g, seen.g), (f, seen.f)]
        better = all(one <= other for one, other in values) and any(one < other for one, other in values)
        slack = self.problem.slack
        if slack > 0 and not self.problem.before and first.certificate.lower_gap <= slack:
            better = c.lower_gap > slack or f < seen.f
        if not (better or np.isnan(seen.point).any()):
            return seen, status, detail
        return first, status, f"{detail}; the start x0 is better than what was reached, and is returned"

    def _levels(self, seen: _Observed) -> tuple[Level, ...]:
        """Every level at the point."""
        x = seen.point
        known = bool(np.isfinite(x).all())
        values = [level.value(x) if known else np.nan for level in self.problem.before]
        return self.bounds.levels([*values, seen.g, seen.f][-len(self.problem.levels) :])

    def _final(self) -> tuple[Vector, int]:
        """What the method would return, and the updates made; NaN where there was not even time to find a point."""
        if self.state is not None:
            return self.solver.solution(self.state), self.state.k
        try:
            with limited(0.0):  # only where that takes no work: the run has tried already
                return start_point(self.problem), 0
        except (OutOfTime, EmptySet):
            return np.full(self.problem.dim, np.nan), 0

    def _put_aside(self, ledger: Ledger) -> State | None:
        """The state with where the run stood before the last look, and what that look has shown beside it."""
        if self.state is None or self.origin is None:
            return None
        ledger = replace(ledger, shown=self.bounds.proved())
        return replace(self.state, origin=replace(self.origin, ledger=ledger))

    def _look_again(self, x: Vector, status: Status, detail: str) -> tuple[Status, str, Vector]:
        """Let the bounds see the final point, unless no time was left for an update; the point to return after."""
        if self.solver.works_on_data and (self.state is None or self.state.k == 0):
            return status, detail, x  # no oracle of such a method is called now
        self.stationarity = None if self.problem.upper.convex else np.inf  # what was known belongs to another point
        try:
            self.stationarity = self.bounds.observe(x, None if self.state is None else self.state.anchor)
            return status, detail, self._feasible(x)
        except NonFiniteError as error:
            return Status.NONFINITE, f"{error}; this is the last complete state", x
        except OutOfTime:
            logger.debug("no time for a last look at the bounds")
        return status, detail, x
