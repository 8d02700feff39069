"""What a run sees of the points it has reached: values and bounds there, and whether they show a solution."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .arrays import Vector
from .bounds import Bounds
from .callbacks import Trace
from .certificate import Certificate, Level
from .methods import State
from .problem import Problem
from .resume import INSIDE


class Seen(NamedTuple):
    """What the bounds said of x, through the point that stands for it (with slack: a feasible one)."""

    x: Vector
    point: Vector
    f: float
    g: float
    certificate: Certificate


@dataclass
class Sight:
    """The bounds of a run, what they said last, and of which point.

    ``stationarity`` is that of the point looked at last, for an f that is not convex; ``outside`` how far that point
    was from Z, at most.
    """

    problem: Problem
    bounds: Bounds
    tol_upper: float
    tol_lower: float
    trace: Trace = field(default_factory=Trace)
    stationarity: float | None = None
    last: Seen | None = None
    outside: float = 0.0

    def look(self, state: State, x: Vector, elapsed: float) -> bool:
        """Whether fresh bounds at x, which a method would return in this state, show a solution; they are recorded."""
        seen, shown = None, False
        if state.answer is not None:
            # An exact method's own proof is enough where it shows the tolerances; the oracles could not sharpen it.
            f, (g, g_error) = self.values(x)
            self.bounds.adopt(state.answer, f, g)
            if state.answer.stationarity is not None:
                self.stationarity = state.answer.stationarity
            seen = Seen(x, x, f, g, self.bounds.certificate(f, g, g_error, self.stationarity))
            shown = self.shows(seen)
        if seen is None or not shown:
            self.stationarity = self.bounds.observe(x, state.anchor, state.multiplier)
            seen = self.read(x, self.feasible(x))
            shown = self.shows(seen)
        self.last = seen
        self.record(state, seen, elapsed)
        return shown

    def look_back(self, state: State, x: Vector, elapsed: float, looked: bool) -> bool:
        """Whether the bounds that an earlier run had at this state are enough now; that run had ``looked``, or not."""
        feasible = self.bounds.feasible(x) if self.problem.slack > 0 else None
        seen = self.read(x, x if feasible is None else feasible)
        self.record(state, seen, elapsed)
        shown = self.shows(seen)
        self.last = seen if shown or looked else None
        return shown

    def record(self, state: State, seen: Seen, elapsed: float) -> None:
        """Note what was seen in the trace."""
        self.trace.record(state.k, elapsed, seen.f, seen.g, seen.certificate)

    def feasible(self, x: Vector) -> Vector:
        """With slack, the point to return for x: one that is proved feasible, where there is one."""
        y = self.bounds.feasible(x) if self.problem.slack > 0 else x
        if y is None or y is x:
            return x
        if not self.problem.upper.convex:
            self.stationarity = self.bounds.observe(y)
        return y

    def read(self, x: Vector, point: Vector) -> Seen:
        """The bounds as they are, read for the point that stands for x."""
        f, (g, g_error) = self.values(point)
        return Seen(x, point, f, g, self.bounds.certificate(f, g, g_error, self.stationarity))

    def values(self, x: Vector) -> tuple[float, tuple[float, float]]:
        """f(x), and g(x) with its error."""
        problem = self.bounds.problem
        return problem.upper.value(x), problem.lower.value_and_error(x)

    def shows(self, seen: Seen) -> bool:
        """Whether the certificate shows a solution, and the point is one of Z."""
        if not seen.certificate.shows(self.tol_upper, self.tol_lower, self.problem.slack):
            return False
        if self.problem.before and not self._shows_before(seen.point):
            return False
        size = float(np.linalg.norm(seen.point)) or min(self.problem.domain.diameter, 1.0)
        self.outside = self.problem.domain.distance_outside(seen.point)
        return self.outside <= INSIDE * size

    def _shows_before(self, x: Vector) -> bool:
        """Whether the levels before the last two are proved to the tolerance, and not contradicted."""
        values = [level.value(x) for level in self.problem.before]
        levels = self.bounds.levels([*values, np.nan, np.nan])
        return all(abs(level.gap) <= self.tol_lower for level in levels[:-2])

    def below(self, x: Vector) -> bool:
        """Whether x, where it is what was seen last, has its lower level proved, yet is known not to be a solution."""
        if self.last is None or self.last.x is not x:
            return False
        known = self.last.certificate
        gap = known.upper_gap if known.stationarity is None else known.stationarity
        return gap < -self.tol_upper and known.lower_gap <= self.tol_lower + self.problem.slack

    def levels(self, seen: Seen) -> tuple[Level, ...]:
        """Every level at the point."""
        x = seen.point
        known = bool(np.isfinite(x).all())
        values = [level.value(x) if known else np.nan for level in self.problem.before]
        return self.bounds.levels([*values, seen.g, seen.f][-len(self.problem.levels) :])
