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
from dataclasses import dataclass, field, replace

import numpy as np

from .arrays import UNIT_ROUNDOFF, Vector
from .composite import LinearMinimum
from .engines.answer import Answer, Duals
from .engines.standing import unusual
from .linearisation import Linearisation, dot_error, ulps
from .numerics.concave import maximise_concave
from .numerics.failures import LinearProgramError
from .objectives.base import Objective
from .objectives.gradient_check import ConvexityError
from .origin import Average, Known, Proved
from .problem import Problem
from .usercode import OracleError


@dataclass(frozen=True)
class Level:
    """One level of a problem: its value at x, and a bracket around its optimal value given the levels before it.

    Attributes
    ----------
    value : float
        At x.
    lower, upper : float
        The least value among the solutions of the levels before lies between them.
    duals : Duals or None
        Multipliers of the constraints at that optimum, ``rows`` and ``columns``, where an exact solve has them.

    Examples
    --------
    >>> import tiebreak as tb
    >>> plans = tb.Polyhedron(A_eq=[[1.0, 1.0, 1.0]], b_eq=[2.0], bounds=(0, 1))
    >>> result = tb.lexicographic([tb.Linear([1.0, 1.0, 3.0]), tb.SquaredNorm()], plans)
    >>> [level.lower <= level.value <= level.upper + 1e-9 for level in result.levels]
    [True, True]
    >>> print(f"{result.levels[0].value:.6f}, {result.levels[1].value:.6f}")
    2.000000, 1.000000
    """

    value: float
    lower: float
    upper: float
    duals: Duals | None = field(default=None, repr=False, compare=False)

    @property
    def gap(self) -> float:
        """At least the value minus the optimal value."""
        return self.value - self.lower

    def __neg__(self) -> Level:
        """The same level for who maximises: what is minimised is minus what is wanted."""
        return replace(self, value=0.0 - self.value, lower=0.0 - self.upper, upper=0.0 - self.lower)


@dataclass(frozen=True)
class Certificate:
    """What is proved about a point x of Z.

    Attributes
    ----------
    g_lower, g_upper : float
        g* lies between them.
    lower_gap : float
        At least g(x) - g*.
    f_lower : float
        At most f*, the optimal value of the problem (with its slack).
    f_upper : float
        At least f*; inf unless proved.
    upper_gap : float
        f(x) - f_lower, at least f(x) - f*. Negative: x is super-optimal, that is, not optimal for the lower level.
    stationarity : float or None
        For a nonconvex f: at least the Frank-Wolfe gap of f at x over the lower solutions.
    multiplier : float
        The weight of the lower level behind f_lower: the price of lower-level loss.
    lower_unique : bool or None
        Whether the lower level has one solution only; None where that is not known.
    upper_constant : bool or None
        True where f is proved to be constant on the lower solutions.
    well_posed : bool
        False where an exact method met a decision on a rank, a face or a tie that hangs on rounding: the brackets hold,
        but a small change of the data may change the answer a lot. ``Result.notes`` says which.
    assumes : tuple of str
        What the bounds take for granted and the library cannot check: only what is particular to this problem; what
        all proofs rest on is in docs/certificates.md.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> c = tb.solve(problem).certificate
    >>> round(c.f_lower, 9), round(c.f_upper, 9), c.two_sided
    (0.25, 0.25, True)
    >>> c.lower_unique, c.upper_constant, c.assumes
    (False, None, ())
    """

    g_lower: float
    g_upper: float
    lower_gap: float
    f_lower: float
    f_upper: float
    upper_gap: float
    stationarity: float | None = None
    multiplier: float = 0.0
    lower_unique: bool | None = None
    upper_constant: bool | None = None
    well_posed: bool = True
    assumes: tuple[str, ...] = ()

    @property
    def two_sided(self) -> bool:
        """Whether f* is bounded from both sides."""
        return bool(np.isfinite(self.f_lower) and np.isfinite(self.f_upper))

    @property
    def super_optimal(self) -> bool:
        """Whether f(x) is below f* for certain, so that x cannot be optimal for the lower level."""
        return self.upper_gap < 0

    def shows(self, tol_upper: float, tol_lower: float, slack: float = 0.0) -> bool:
        """Whether both tolerances are proved and nothing known contradicts that x is a solution.

        Proved: f(x) - f* (or stationarity) <= tol_upper, and g(x) - g* <= tol_lower; with slack, that x is feasible:
        g(x) - g* <= slack. Contradicted: by an upper gap (or stationarity) that is negative by more than tol_upper, or
        by a lower gap that is negative by more than tol_lower.
        """
        upper = self.upper_gap if self.stationarity is None else min(self.stationarity, self.upper_gap)
        return bool(-tol_upper <= upper <= tol_upper and -tol_lower <= self.lower_gap <= (slack or tol_lower))


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
    _minimum: LinearMinimum = field(init=False)

    def __post_init__(self) -> None:
        self._minimum = LinearMinimum(self.problem)
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
        self._lower_level(g)
        cuts = [g]
        if anchor is not None and not np.array_equal(anchor, x):
            cuts.append(Linearisation.of(self.problem.lower, anchor))
            self._lower_level(cuts[-1])
        self._averaged_bound(cuts[-1])
        if self.g_lower > self.g_upper:
            raise ConvexityError(
                f"the lower level cannot be convex with the gradient it gives: its minimum over the domain is at "
                f"least {self.g_lower:.12g} by linearisation, yet a point has the value {self.g_upper:.12g}; "
                "check lower with tiebreak.check_gradient and its convexity"
            )
        f = Linearisation.of(self.problem.upper, x)
        best, lam = max(self._upper_level(f, cut, multiplier) for cut in cuts)
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
        at a point whose g is at most g*. (After other levels, values at a point that misses those by rounding may
        well be below; then it is just no success.)
        """
        g_lower, g_upper = max(self.g_lower, answer.g_lower), min(self.g_upper, answer.g_upper)
        f_lower, f_upper = max(self.f_lower, answer.f_lower), min(self.f_upper, answer.f_upper)
        noise = 1e-9 * (1 + abs(f) + abs(g))
        if g_lower > g + noise or f_lower > f + noise:  # far out, values may be no better than this
            noise += self.problem.upper.rounding(answer.x)[0] + self.problem.lower.rounding(answer.x)[0]
        optimal = g <= g_lower + self.problem.slack
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

    # -- lower level -------------------------------------------------------------------------------------------

    def _lower_level(self, g: Linearisation) -> None:
        minimum = self._minimum.below(g.grad, g.grad_error, [(1.0, norm) for norm in g.norms])
        self.g_lower = max(
            self.g_lower,
            self._model_minimum(g, minimum),
            -np.inf if g.norms else self.problem.lower.scaled_dual_bound(g.x, minimum),
        )
        self._reached(g)

    def _reached(self, g: Linearisation) -> None:
        """A point of Z with a value of g."""
        level = self._most(g, self.problem.lower)
        if self._best_lower is None or level < self.g_upper:
            self._best_lower = g.x
        self.g_upper = min(self.g_upper, level)

    def _averaged_bound(self, g: Linearisation) -> None:
        """The same bound for an average of the linearisations seen, the later ones weighing more."""
        weight = 2.0 / (self._seen + 2)
        self._seen += 1
        new = Average(
            constant=g.smooth - float(g.grad @ g.x),
            grad=g.grad,
            error=g.value_error + g.grad_error * float(np.linalg.norm(g.x)) + dot_error(g.grad, g.x),
            grad_error=g.grad_error,
        )
        if self._average is None:
            self._average = new
            return
        old = self._average
        self._average = average = Average(
            (1 - weight) * old.constant + weight * new.constant,
            (1 - weight) * old.grad + weight * new.grad,
            (1 - weight) * old.error + weight * new.error + ulps(old.constant) + ulps(new.constant),
            (1 - weight) * old.grad_error + weight * new.grad_error + ulps(float(np.linalg.norm(old.grad))),
        )
        minimum = self._minimum.below(average.grad, average.grad_error, [(1.0, norm) for norm in g.norms])
        bound = average.constant + minimum - average.error - ulps(average.constant) - ulps(minimum)
        self.g_lower = max(self.g_lower, bound)

    # -- upper level -------------------------------------------------------------------------------------------

    def _upper_level(self, f: Linearisation, g: Linearisation, multiplier: float) -> tuple[float, float]:
        """The best Lagrangian bound, near the multiplier of the cut or the given one, and the multiplier it has."""
        level = self.g_upper + self.problem.slack
        if not np.isfinite(level):
            return self._lagrangian(f, g, 0.0, 0.0), 0.0
        warm = self.multiplier or multiplier
        if f.norms or g.norms:
            return self._best_multiplier(f, g, [warm, multiplier], level)
        cut = self.problem.domain.lmo_cut(f.grad, g.grad, float(g.grad @ g.x) + level - g.value, warm=warm)
        first = cut.multiplier if np.isfinite(cut.multiplier) else max(10 * warm, 1.0)
        best, best_at = -np.inf, 0.0
        for lam in dict.fromkeys((first, multiplier or first)):
            bound = self._lagrangian(f, g, lam, level)
            # Where rounding of the lower level, times lam, outweighs what lam is for, a smaller one is better.
            while lam * (g.value_error + g.grad_error) > UNIT_ROUNDOFF * (1 + abs(f.value)):
                smaller = self._lagrangian(f, g, 0.1 * lam, level)
                if not smaller > bound:
                    break
                lam, bound = 0.1 * lam, smaller
            if bound > best:
                best, best_at = bound, lam
        return best, best_at

    def _best_multiplier(
        self, f: Linearisation, g: Linearisation, guesses: list[float], level: float
    ) -> tuple[float, float]:
        """The best bound over all multipliers, by a search: it is concave in them, whatever the norms."""
        return maximise_concave(
            lambda lam: self._lagrangian(f, g, lam, level),
            guesses if any(guesses) else [(1 + f.slope) / (1 + g.slope)],
            lambda best: max(0.1 * abs(f.value - best), 4 * UNIT_ROUNDOFF * abs(f.value)),
        )

    def _lagrangian(self, f: Linearisation, g: Linearisation, lam: float, level: float) -> float:
        slope = f.grad + lam * g.grad
        slope_error = f.grad_error + lam * g.grad_error + UNIT_ROUNDOFF * float(np.linalg.norm(slope)) * 2
        parts = [(1.0, norm) for norm in f.norms] + [(lam, norm) for norm in g.norms]
        minimum = self._minimum.below(slope, slope_error, parts)
        terms = (f.smooth, -float(f.grad @ f.x), lam * (g.smooth - level), -lam * float(g.grad @ g.x), minimum)
        error = (
            f.value_error
            + lam * g.value_error
            + f.grad_error * float(np.linalg.norm(f.x))
            + lam * g.grad_error * float(np.linalg.norm(g.x))
            + dot_error(f.grad, f.x)
            + lam * dot_error(g.grad, g.x)
            + 8 * UNIT_ROUNDOFF * sum(map(abs, terms))
            + 4 * UNIT_ROUNDOFF * lam * (abs(g.smooth) + abs(level))
        )
        return sum(terms) - error

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

    # -- shared ------------------------------------------------------------------------------------------------

    def _model_minimum(self, g: Linearisation, minimum: float) -> float:
        at_x = float(g.grad @ g.x)
        error = g.value_error + g.grad_error * float(np.linalg.norm(g.x)) + dot_error(g.grad, g.x)
        return g.smooth - at_x + minimum - error - 4 * UNIT_ROUNDOFF * (abs(g.smooth) + abs(at_x) + abs(minimum))

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
