"""The relaxed problem, min f over g <= g* + slack, through its multiplier.

v(eps) = max over lam of min over X of f + lam (g - g* - eps), X the solutions of the levels before g (all of Z where
there are none). For each lam the inner problem is an ordinary convex one that an exact engine solves; g at its solution
falls as lam grows, and a root search finds the lam at which it meets g* + slack. Two solutions on either side of the
root give, mixed, a feasible point, and f there is within the duality gap of optimal. The gap ends the search. Over a
bounded Z the proof of the answer is left to the bounds; after other levels, and over unbounded sets, it is the best
dual, by the engine's brackets.

Over an unbounded set f + lam g may have no minimum for small lam: it falls along a ray, on which g rises, as else f
would have none over the solutions either. A point far out on the ray stands for the solution then.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Vector
from ..linearisation import Linearisation
from ..objectives.base import Objective
from ..objectives.form import Scale
from ..objectives.quadratic import constant
from ..sets.base import Domain
from .answer import Answer, Unbounded
from .choice import Choice
from .interrupt import OutOfTime, keeping
from .offered import Steered
from .task import Task

GAP = 1e-13
"""Duality gap, relative to the values it is the difference of, at which the search ends."""

NEAR = 1e-2
"""From an end so much nearer to the level than the other one, the next multiplier is put on the other side."""

CLOSER, MOST_GUESSES = 0.5, 4
"""The engine is asked for the multiplier again where its last word has brought the level so much nearer; so often."""

MOST = 80
"""Inner problems solved at most."""

FARTHEST = 2.0**200
"""How far out on a ray a point is looked for, in units of the solution."""


class Relaxed(NamedTuple):
    """The answer: x, a lower solution z, the multiplier, and what is proved where the bounds cannot."""

    x: Vector
    z: Vector
    multiplier: float
    answer: Answer | None = None


class _Corner(NamedTuple):
    """The solution of the inner problem for one multiplier; ``least`` is below its optimal value less ``taken``."""

    lam: float
    x: Vector
    f: float
    g: float
    least: float
    taken: float = 0.0


@dataclass
class Path:
    """The solutions of the inner problem found so far: they are the same for every slack, so that a curve shares them.

    ``lowest`` is the answer for g itself: a bracket for each level up to g, and a point z that solves them.
    """

    choice: Choice
    corners: list[_Corner] = field(default_factory=list)  # by their multipliers
    rays: dict[float, Vector] = field(default_factory=dict)  # by the multipliers for which there is no solution

    def __post_init__(self) -> None:
        assert self.choice.engine is not None
        levels, domain = self.choice.reduced.levels, self.choice.reduced.domain
        self.g, self.f = levels[-2:] if len(levels) > 1 else (levels[0], levels[0])
        self._minimise = self.choice.engine.minimiser(Task(levels[:-2], domain))
        self.open = domain.rows is not None and not np.isfinite(domain.outer_box).all()
        self.by_engine = self.open or len(levels) > 2
        self.lowest = self._before_f() if self.open else self._minimise(self.g)
        self.z = self.lowest.x
        self.least = self.g.value(self.z)
        self.sharp = self.choice.engine.sharp_minima and bool(np.isfinite(self.lowest.f_lower))
        self.by_engine = self.by_engine or self.sharp

    def _before_f(self) -> Answer:
        """The answer for g, found with f as the level after it: that often shows where in the set solutions are."""
        assert self.choice.engine is not None
        task = self.choice.reduced
        try:
            answer = self.choice.engine.minimiser(Task(task.levels[:-1], task.domain))(self.f)
        except Unbounded as stop:
            self.choice.take_back(stop)
            raise
        brackets = answer.brackets[: max(1, len(task.levels) - 1)]
        duals = answer.duals[: len(brackets)]
        return replace(answer, f_lower=brackets[-1][0], f_upper=brackets[-1][1], brackets=brackets, duals=duals)

    def reached(self, lam: float, level: float) -> _Corner:
        """The corner for one more multiplier; where there is none, a point above the level on the ray."""
        if lam not in self.rays:
            try:
                return self.corner(lam)
            except Unbounded as stop:
                self.rays[lam] = stop.ray
        return self._on_ray(lam, level)

    def _on_ray(self, lam: float, level: float) -> _Corner:
        ray = self.rays[lam]
        step = (1 + float(np.abs(self.z).max())) / float(np.abs(ray).max())
        far = FARTHEST * step
        while not (high := self.g.value(x := self.z + step * ray)) > level:
            step *= 4
            if not step < far:
                raise Unbounded(len(self.choice.reduced.levels) - 1, ray, self.z, ())
        return _Corner(lam, x, self.f.value(x), high, -np.inf)

    def corner(self, lam: float) -> _Corner:
        """Solve for one more multiplier."""
        mixed: Objective = self.f + lam * self.g if lam > 0 else self.f
        taken = lam * self.least if self.sharp and lam > 0 else 0.0
        if taken:  # so that what is proved is of the size of f, not of lam g
            mixed = mixed + constant(-taken, self.z.size)
        answer = self._minimise(mixed)
        found = _Corner(lam, answer.x, self.f.value(answer.x), self.g.value(answer.x), answer.f_lower, taken)
        self.corners = sorted([*self.corners, found], key=lambda one: one.lam)
        return found

    def level(self, slack: float) -> float:
        """What g may be: after other levels, so little that g(x) <= g* + slack can be proved, rounding included."""
        if not self.by_engine:  # then the bounds see to it
            return self.least + slack
        allowed = min(self.least, self.lowest.f_lower) + slack
        allowed -= 2 * self.g.rounding(self.z)[0] + 8 * UNIT_ROUNDOFF * (abs(self.least) + slack)
        return allowed - 8 * _beyond(self.g, self.choice.reduced.domain, self.z) if self.sharp else allowed

    def guess(self, level: float, start: _Corner) -> float:
        """About the multiplier at which the level is met; nan where the engine cannot tell."""
        if not isinstance(self._minimise, Steered) or not start.lam > 0:
            return np.nan
        try:
            return self._minimise.meeting(self.f, self.g, level, start.x, start.lam)
        except OutOfTime:  # the search will see that, too
            return np.nan

    def beside(self, level: float) -> tuple[_Corner | None, _Corner | None]:
        """The nearest known corners whose g is above the level, and at most the level."""
        above = [one for one in self.corners if one.g > level]
        if self.rays and not above:
            above = [self._on_ray(max(self.rays), level)]
        below = [one for one in self.corners if one.g <= level]
        return (above[-1] if above else None), (below[0] if below else None)


def solve_relaxed(path: Path, slack: float) -> Relaxed:
    """Minimise f over {z in X : g(z) <= g* + slack}, slack > 0.

    Examples
    --------
    Least norm with x1 + x2 within 0.1 of 1:

    >>> import tiebreak as tb
    >>> from tiebreak.engines import choose_engine
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0), slack=0.005)
    >>> solve_relaxed(Path(choose_engine(problem)), 0.005).x.round(12)
    array([0.45, 0.45])
    """
    choice, point = path.choice, path.choice.point
    with keeping(lambda: Answer(point(path.z), -np.inf, np.inf, -np.inf, np.inf)):
        found = _search(path, slack)
    answer = None
    if path.by_engine:
        found = found._replace(x=_feasible(path, found.x, slack))
        answer = choice.inverted(_proved(path, found, slack))
    return Relaxed(point(found.x), point(path.z), found.multiplier if answer is None else answer.multiplier, answer)


def _proved(path: Path, found: Relaxed, slack: float) -> Answer:
    """The best dual bound of all corners, by the brackets of the engine: v(eps) >= least - lam (g* + eps).

    As g* is at most ``g_upper``, which the bound takes in its place, it holds for every corner.
    """
    lowest = path.lowest
    g_lower, g_upper = lowest.f_lower, lowest.f_upper
    level = path.level(slack)
    bounds = [(path.f.lower_bound, 0.0, 0.0, np.inf)]
    for corner in path.corners:
        away = abs(corner.g - level)
        if corner.lam == 0:  # whatever is known of g*
            bounds.append((corner.least - 4 * UNIT_ROUNDOFF * abs(corner.least), 0.0, 0.0, away))
            continue
        exact = Scale(corner.lam) * (Scale(g_upper) + Scale(slack)) - Scale(corner.taken)
        price = float(exact)
        rounding = 4 * UNIT_ROUNDOFF * (abs(corner.least) + 2 * abs(price))
        rounding += 4 * float(np.finfo(Scale).eps) * corner.lam * (abs(g_upper) + slack)
        bounds.append((corner.least - price - rounding, corner.lam, rounding, away))
    bounds = [bound for bound in bounds if not np.isnan(bound[0])]
    best = max(bounds)
    # of multipliers whose bounds differ by rounding only, that of the corner next to the level is the price
    equal = [bound for bound in bounds if bound[0] >= best[0] - best[2]]
    f_lower, multiplier = min(equal, key=lambda bound: bound[3])[:2]
    f_upper = _attained(path, found.x, slack)
    return Answer(
        found.x,
        g_lower,
        g_upper,
        f_lower,
        f_upper,
        multiplier=multiplier,
        well_posed=lowest.well_posed,
        notes=lowest.notes,
        assumes=lowest.assumes,
        brackets=(*lowest.brackets, (f_lower, f_upper)),
        duals=(*lowest.duals, None),
    )


def _feasible(path: Path, x: Vector, slack: float) -> Vector:
    """x, or a point beside it on the way to z, with g at most g* + slack for certain, rounding included, if there is.

    By convexity g at a mix is at most the mix of the two values.
    """
    for held_back in (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-8):
        mixed = path.z + (1 - held_back) * (x - path.z) if held_back else x
        if _allows(path, mixed, slack):
            return mixed
    return x


def _allows(path: Path, x: Vector, slack: float) -> bool:
    g, error = path.g.value_and_error(x)
    if path.sharp:  # there may be points of Z that miss it by rounding
        error += _beyond(path.g, path.choice.reduced.domain, x)
    allowed = path.lowest.f_lower + slack
    return g + error <= allowed - 4 * UNIT_ROUNDOFF * (abs(path.lowest.f_lower) + slack)


def _attained(path: Path, x: Vector, slack: float) -> float:
    """f(x), rounded up, where x is feasible for certain; inf where that is not known.

    After other levels it never is: x need not be one of their solutions to the last digit.
    """
    if len(path.choice.reduced.levels) > 2 or not _allows(path, x, slack):
        return float(np.inf)
    value = path.f.value(x)
    error = path.f.rounding(x)[0] + UNIT_ROUNDOFF * abs(value)
    return value + error + _beyond(path.f, path.choice.reduced.domain, x)


def _beyond(objective: Objective, domain: Domain, x: Vector) -> float:
    """At least what the objective rises from x to the nearest point of Z."""
    outside = domain.distance_outside(x)
    if outside == 0 or not np.isfinite(outside):
        return outside
    here, bend = Linearisation.of(objective, x), objective.smooth_part.curvature_within(x, outside) or 0.0
    return float((here.slope + here.grad_error + bend * outside) * outside) * (1 + 1e-12)


def _search(path: Path, slack: float) -> Relaxed:
    """The multiplier at which the solution of the inner problem meets the slack."""
    f, z = path.f, path.z
    level = path.level(slack)
    free = path.corners[0] if path.corners and not path.rays else path.reached(0.0, level)
    if free.g <= level:
        return Relaxed(free.x, z, 0.0)
    # v is convex, so its slope at the slack is at most that of the chord to v(0) <= f(z)
    steep = max((f.value(z) - free.f) / slack, 0.0)
    if steep == 0.0:  # a lower solution already minimises f
        return Relaxed(z, z, 0.0)
    below, above = path.beside(level)
    assert below is not None  # at least the free one
    above = above or path.reached(2 * steep, level)
    while path.open and above.g > level and above.lam < FARTHEST * steep:
        below, above = above, path.reached(8 * above.lam, level)
    older, newer = below, above
    guess, guesses = path.guess(level, above), 1
    dual = max(_dual(below, level), _dual(above, level))
    rounds = 3
    while rounds < MOST and above.g <= level:
        primal = f.value(_mixed(below, above, level))
        if primal - dual <= GAP * (abs(primal) + above.lam * abs(level) + abs(free.f)):
            break
        lam, guess = (_secant(older, newer, path.least, slack), guess) if np.isnan(guess) else (guess, np.nan)
        far = above if newer.g > level else below
        if abs(newer.g - level) < NEAR * min(slack, abs(far.g - level)):
            lam += lam - newer.lam  # as far beyond the root, so that both ends are near it
        slow = rounds % 3 == 2 and abs(newer.g - level) > 0.1 * abs(older.g - level)
        if slow or not below.lam < lam < above.lam:
            lam = (above.f - below.f) / (below.g - above.g)  # where the duals of the two ends cross
        if not below.lam < lam < above.lam:
            break
        try:
            older, newer = newer, path.reached(lam, level)
        except OutOfTime:  # the mixture is feasible
            break
        if NEAR * NEAR * slack < abs(newer.g - level) < CLOSER * abs(older.g - level) and guesses < MOST_GUESSES:
            guess, guesses = path.guess(level, newer), guesses + 1  # as the last may not have known what is active here
        dual = max(dual, _dual(newer, level))
        below, above = (newer, above) if newer.g > level else (below, newer)
        rounds += 1
    x = _mixed(below, above, level) if above.g <= level else above.x
    return Relaxed(x, z, above.lam)


def _dual(corner: _Corner, level: float) -> float:
    return corner.f + corner.lam * (corner.g - level)


def _mixed(below: _Corner, above: _Corner, level: float) -> Vector:
    """The point between the two whose g is at most the level, by convexity."""
    share = (level - above.g) / (below.g - above.g)
    return (1 - share) * above.x + share * below.x


def _secant(older: _Corner, newer: _Corner, lowest: float, slack: float) -> float:
    """The multiplier at which g - g* should be the slack: for quadratics, log(g - g*) is nearly linear in log lam."""
    losses = (older.g - lowest, newer.g - lowest)
    if min(losses) <= 0 or min(older.lam, newer.lam) <= 0 or losses[0] == losses[1]:
        return np.nan
    slope = np.log(newer.lam / older.lam) / np.log(losses[1] / losses[0])
    rise = slope * np.log(slack / losses[1])
    return float(newer.lam * np.exp(rise)) if abs(rise) < 500 else np.nan  # losses that differ by rounding alone
