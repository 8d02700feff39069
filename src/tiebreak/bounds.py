"""Bounds that hold whatever the method did: proved lower bounds on g* and f*, from a few points of Z.

All of them are convexity plus a linear minimisation over Z. Notation as in the paper; u is any number known to be
at least g*, and D the diameter of Z. With every bound the floating-point error of what it is made of is given away.

* g* >= g(y) + min over s in Z of <grad g(y), s - y>: the Frank-Wolfe bound; also for an average of such
  linearisations, and, for least squares, with the dual point rescaled.
* f* >= f(x) + min over s in Z of <grad f(x), s - x> + lam (g(y) + <grad g(y), s - y> - u) for each lam >= 0,
  because a solution x* has g(x*) <= u. The best lam is the multiplier of the cut oracle.
* Norms stay as they are in both: only the smooth parts are linearised, and the minimum is that of a linear function
  plus norms (``composite.LinearMinimum``).
* With slack > 0, a point of Z with g <= g_lower + slack is feasible for certain, so its f is an upper bound.
* Given an error bound of g, f* <= f(x) + M dist(x, X_g*): Proposition 1 of the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .arrays import Vector
from .certificate import Certificate, Level
from .engines.answer import Answer
from .engines.standing import unusual
from .linear_bounds import LinearBounds, averaged
from .linearisation import Linearisation, ulps
from .numerics.failures import LinearProgramError
from .objectives.base import Objective
from .objectives.gradient_check import ConvexityError
from .origin import Average, Known, Proved
from .problem import Problem
from .usercode import OracleError


@dataclass
class Bounds:
    """The best bounds seen. ``observe`` adds a point; ``certificate`` says what they mean for a point."""

    problem: Problem
    g_lower: float = field(init=False)
    f_lower: float = field(init=False)
    g_upper: float = field(default=np.inf, init=False)
    f_upper: float = field(default=np.inf, init=False)
    multiplier: float = field(default=0.0, init=False)
    _best_lower: Vector | None = field(default=None, init=False)
    _average: Average | None = field(default=None, init=False)
    _seen: int = field(default=0, init=False)
    _answer: Answer | None = field(default=None, init=False)
    _shown_before: Proved | None = field(default=None, init=False)
    _linear: LinearBounds = field(init=False)

    def __post_init__(self) -> None:
        self._linear = LinearBounds(self.problem)
        self.g_lower = self.problem.lower.lower_bound
        self.f_lower = self.problem.upper.lower_bound

    def observe(self, x: Vector, anchor: Vector | None = None, multiplier: float = 0.0) -> float | None:
        """Improve the bounds with x (and the anchor); returns the stationarity bound of a nonconvex f at x.

        What a point of Z shows is about its first level: with more than two, engines alone prove something.
        """
        if self.problem.before:
            return None
        g = Linearisation.of(self.problem.lower, x)
        if "lmo" not in self.problem.domain.oracles or not self.problem.domain.bounded:
            return self._attained(g, anchor)
        try:
            return self._with_linear_minima(g, anchor, multiplier)
        except LinearProgramError:  # one that is beyond the solver: it shows nothing
            return self._attained(g, anchor)

    def _with_linear_minima(self, g: Linearisation, anchor: Vector | None, multiplier: float) -> float | None:
        """What linear minima over the set show of both levels."""
        x = g.x
        cuts = [g]
        if anchor is not None and not np.array_equal(anchor, x):
            cuts.append(Linearisation.of(self.problem.lower, anchor))
        for cut in cuts:
            self.g_lower = max(self.g_lower, self._linear.on_lower(cut))
            self._reached(cut)
        self._average_in(cuts[-1])
        if self.g_lower > self.g_upper:
            raise ConvexityError(
                f"the lower level cannot be convex with the gradient it gives: its minimum over the domain is at "
                f"least {self.g_lower:.12g} by linearisation, yet a point has the value {self.g_upper:.12g}; "
                "check lower with tiebreak.check_gradient and its convexity"
            )
        f = Linearisation.of(self.problem.upper, x)
        level, guesses = self.g_upper + self.problem.slack, (self.multiplier or multiplier, multiplier)
        best, lam = max(self._linear.on_upper(f, cut, level, guesses) for cut in cuts)
        self._upper_bounds(f, g)
        if self.problem.upper.convex:
            if best > self.f_lower:
                self.f_lower, self.multiplier = best, lam
            self._check_error_bound(f)
            return None
        self.multiplier = lam
        return float(f.value + f.value_error - best)

    def _attained(self, g: Linearisation, anchor: Vector | None) -> float | None:
        """What points alone show, where linear functions have no minimum: bounds from above, no bound from below."""
        points = [g] if anchor is None else [Linearisation.of(self.problem.lower, anchor), g]
        for point in points:
            self._reached(point)
        self._upper_bounds(Linearisation.of(self.problem.upper, g.x), g)
        return None if self.problem.upper.convex else np.inf

    def _check_error_bound(self, f: Linearisation) -> None:
        """f_upper may rest on the user's word; what is proved without it must not contradict that."""
        bound = self.problem.error_bound
        if bound is not None and self.f_lower > self.f_upper + 1e-9 * (abs(f.value) + abs(self.f_upper)):
            raise OracleError(
                f"error_bound: with {bound} f* would be at most {self.f_upper:.9g}, but it is at least "
                f"{self.f_lower:.9g}; lower alpha, or correct r and gradient_bound"
            )

    def adopt(self, answer: Answer, f: float, g: float) -> None:
        """Take over what an exact method has proved about a point of Z with the values f and g, unless they contradict.

        A contradiction: brackets that do not meet those known already, a value of g below g*, or a value of f below f*
        at a point whose g is at most g*, for certain where the answer hangs on rounding. (After other levels, values at
        a point that misses those by rounding may well be below; then it is just no success.)
        """
        g_lower, g_upper = max(self.g_lower, answer.g_lower), min(self.g_upper, answer.g_upper)
        f_lower, f_upper = max(self.f_lower, answer.f_lower), min(self.f_upper, answer.f_upper)
        noise, g_error = 1e-9 * (1 + abs(f) + abs(g)), 0.0
        if g_lower > g + noise or f_lower > f + noise:  # far out, values may be no better than this
            g_error = self.problem.lower.rounding(answer.x)[0]
            noise += self.problem.upper.rounding(answer.x)[0] + g_error
        optimal = g + (0.0 if answer.well_posed else g_error) <= g_lower + self.problem.slack
        first = np.isfinite(answer.g_upper) and not self.problem.before  # else not even the engine takes x for feasible
        attained = g if first else np.inf
        if (
            g_lower > min(g_upper, attained) + noise
            or (
                self.problem.upper.convex
                and f_lower > min(f_upper, f if optimal and attained < np.inf else np.inf) + noise
            )
            or np.isnan([answer.g_lower, answer.g_upper, answer.f_lower, answer.f_upper]).any()
        ):
            raise ArithmeticError(
                f"the exact method puts g* into [{answer.g_lower:.12g}, {answer.g_upper:.12g}] and f* into "
                f"[{answer.f_lower:.12g}, {answer.f_upper:.12g}], which contradicts f(x) = {f:.12g}, g(x) = {g:.12g} "
                f"or the bounds [{self.g_lower:.12g}, {self.g_upper:.12g}] on g* and [{self.f_lower:.12g}, "
                f"{self.f_upper:.12g}] on f*; please report this problem"
            )
        self.g_lower, self.g_upper, self.f_lower, self.f_upper = g_lower, g_upper, f_lower, f_upper
        self.multiplier = answer.multiplier
        self._answer = answer

    def levels(self, values: Sequence[float]) -> tuple[Level, ...]:
        """All levels, with these values at a point: the last two as bounded here, those before as the engine has."""
        best, count = self.proved(), len(values)
        last = [(best.g_lower, best.g_upper), (best.f_lower, best.f_upper)][-count:]
        earlier = [(level.lower_bound, np.inf) for level in self.problem.levels[: count - len(last)]]
        if self._answer is not None and len(self._answer.brackets) == count:
            earlier = list(self._answer.brackets[: len(earlier)])
        duals = () if self._answer is None else self._answer.duals
        own = duals if len(duals) == count else (None,) * count
        return tuple(Level(value, *ends, one) for value, ends, one in zip(values, [*earlier, *last], own, strict=True))

    def certificate(self, f: float, g: float, g_error: float, stationarity: float | None = None) -> Certificate:
        """The bounds, read for a point with the values f and g, the latter with this error."""
        answer, best = self._answer, self.proved()
        return Certificate(
            g_lower=best.g_lower,
            g_upper=best.g_upper,
            lower_gap=g + g_error - best.g_lower,
            f_lower=best.f_lower,
            f_upper=best.f_upper,
            upper_gap=f - best.f_lower,
            stationarity=stationarity,
            multiplier=self.multiplier,
            lower_unique=None if answer is None else answer.lower_unique,
            upper_constant=None if answer is None else answer.upper_constant,
            well_posed=answer is None or answer.well_posed,
            assumes=unusual(assumptions(self.problem) + (() if answer is None else answer.assumes)),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What an exact method wants a user to know about its answer."""
        return () if self._answer is None else tuple(dict.fromkeys(self._answer.notes))

    # -- a run that goes on ------------------------------------------------------------------------------------

    def proved(self) -> Proved:
        """The best bounds, also of the run that this one goes on from."""
        now = Proved(self.g_lower, self.g_upper, self.f_lower, self.f_upper)
        return now if self._shown_before is None else now.together(self._shown_before)

    def known(self) -> Known:
        """All that is needed to go on."""
        own = Proved(self.g_lower, self.g_upper, self.f_lower, self.f_upper)
        return Known(own, self.multiplier, self._best_lower, self._average, self._seen, self._answer)

    def resume(self, known: Known, shown: Proved) -> None:
        """Go on from what bounds of the same problem knew, and had shown in the end."""
        own = known.best
        self.g_lower, self.g_upper, self.f_lower, self.f_upper = own.g_lower, own.g_upper, own.f_lower, own.f_upper
        self.multiplier, self._answer, self._shown_before = known.multiplier, known.answer, shown
        self._best_lower, self._average, self._seen = known.best_lower, known.average, known.seen

    # -- what points show ---------------------------------------------------------------------------------------

    def _average_in(self, g: Linearisation) -> None:
        """The same bound for an average of the linearisations seen, the later ones weighing more."""
        first = self._average is None
        self._average = averaged(self._average, g, 2.0 / (self._seen + 2))
        self._seen += 1
        if not first:
            self.g_lower = max(self.g_lower, self._linear.on_average(self._average, g))

    def _reached(self, g: Linearisation) -> None:
        """A point of Z with a value of g."""
        level = self._most(g, self.problem.lower)
        if self._best_lower is None or level < self.g_upper:
            self._best_lower = g.x
        self.g_upper = min(self.g_upper, level)

    def _upper_bounds(self, f: Linearisation, g: Linearisation) -> None:
        problem, bound = self.problem, self.problem.error_bound
        if bound is not None and problem.slack == 0 and problem.upper.convex:
            outside = problem.domain.distance_outside(g.x)  # x is so near to a point of Z, for which the bound holds
            delta = outside + bound.distance(self._most(g, problem.lower) - self.g_lower)
            rises = []
            if bound.gradient_bound is not None:
                rises.append(bound.gradient_bound * delta)
            if problem.upper.smoothness is not None:
                slope = float(np.linalg.norm(f.grad)) + f.grad_error
                rises.append(slope * delta + 0.5 * problem.upper.smoothness * delta**2)
            if rises:
                self.f_upper = min(self.f_upper, f.value + f.value_error + min(rises))
        if problem.slack > 0 and problem.upper.convex and (y := self.feasible(g.x)) is not None:
            there = f if y is g.x else Linearisation.of(problem.upper, y)
            self.f_upper = min(self.f_upper, self._most(there, problem.upper))

    def feasible(self, x: Vector) -> Vector | None:
        """With slack: x if it is feasible for certain, else the point nearest to it that is, on the way to the best
        lower-level point; None where no feasible point is known.

        By convexity g at the mix is at most the mix of the two values; what rounding adds there is checked afresh.
        """
        allowed = self.g_lower + self.problem.slack
        allowed -= ulps(self.g_lower) + ulps(self.problem.slack)
        top, best = self._level_at(x), self._best_lower
        if top <= allowed:
            return x
        least = np.inf if best is None else self._level_at(best)
        if best is None or not least <= allowed:
            return None
        most = (allowed - least) / (top - least) if np.isfinite(top) else 0.0
        for held_back in (0.0, 1e-14, 1e-11, 1e-8, 1e-5, 1e-2):
            mixed = best + most * (1 - held_back) * (x - best)
            if self._level_at(mixed) <= allowed:
                return mixed
        return best

    def _level_at(self, x: Vector) -> float:
        return self._most(Linearisation.of(self.problem.lower, x), self.problem.lower)

    def _most(self, h: Linearisation, objective: Objective) -> float:
        """At least the least value of the objective among the points of Z nearest to x: a value that Z attains."""
        outside = self.problem.domain.distance_outside(h.x)
        if outside == 0 or not np.isfinite(outside):
            return h.value + h.value_error + outside
        bend = objective.smooth_part.curvature_within(h.x, outside) or 0.0
        return h.value + h.value_error + (h.slope + 0.5 * bend * outside) * outside


def assumptions(problem: Problem) -> tuple[str, ...]:
    """What the bounds of this problem take for granted beyond what all do (``engines/standing.py``), in words."""
    found: list[str] = []
    for name, objective in (("lower", problem.lower), ("upper", problem.upper)):
        if claims := objective.claims:
            found.append(f"{name} level: {claims}")
    if not problem.upper.convex:
        found.append("upper level is not convex: only stationarity is bounded")
    if problem.domain.assumes:
        found.append(f"domain: {problem.domain.assumes}")
    if problem.error_bound is not None:
        found.append("the error bound of the lower level holds as given")
    return tuple(found)
