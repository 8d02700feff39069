"""The relaxed problem, min f over g <= g* + slack, through its multiplier.

v(eps) = max over lam of min over X of f + lam (g - g* - eps), X the solutions of the levels before g (all of Z where
there are none). For each lam the inner problem is an ordinary convex one that an exact engine solves; g at its solution
falls as lam grows, and a root search finds the lam at which it meets g* + slack. Two solutions on either side of the
root give, mixed, a feasible point, and f there is within the duality gap of optimal. The gap ends the search. Over Z
the proof of the answer is left to the bounds; after other levels it is the best dual, by the engine's brackets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Vector
from ..objectives.base import Objective
from .answer import Answer
from .choice import Choice, Task
from .interrupt import OutOfTime, keeping

GAP = 1e-13
"""Duality gap, relative to the values it is the difference of, at which the search ends."""

NEAR = 1e-2
"""From an end so much nearer to the level than the other one, the next multiplier is put on the other side."""

MOST = 80
"""Inner problems solved at most."""


class Relaxed(NamedTuple):
    """The answer: x, a lower solution z, the multiplier, and what is proved where the bounds cannot."""

    x: Vector
    z: Vector
    multiplier: float
    answer: Answer | None = None


class _Corner(NamedTuple):
    """The solution of the inner problem for one multiplier; ``least`` is below its optimal value."""

    lam: float
    x: Vector
    f: float
    g: float
    least: float


@dataclass
class Path:
    """The solutions of the inner problem found so far: they are the same for every slack, so that a curve shares them.

    ``lowest`` is the answer for g itself: a bracket for each level up to g, and a point z that solves them.
    """

    choice: Choice
    corners: list[_Corner] = field(default_factory=list)  # by their multipliers

    def __post_init__(self) -> None:
        assert self.choice.engine is not None
        levels = self.choice.reduced.levels
        self.g, self.f = levels[-2:] if len(levels) > 1 else (levels[0], levels[0])
        before = Task(levels[:-2], self.choice.reduced.domain)
        self._minimise = self.choice.engine.minimiser(before)
        self.lowest = self._minimise(self.g)
        self.z = self.lowest.x
        self.least = self.g.value(self.z)

    def corner(self, lam: float) -> _Corner:
        """Solve for one more multiplier."""
        mixed: Objective = self.f + lam * self.g if lam > 0 else self.f
        answer = self._minimise(mixed)
        found = _Corner(lam, answer.x, self.f.value(answer.x), self.g.value(answer.x), answer.f_lower)
        self.corners = sorted([*self.corners, found], key=lambda one: one.lam)
        return found

    def level(self, slack: float) -> float:
        """What g may be: after other levels, so little that g(x) <= g* + slack can be proved, rounding included."""
        if len(self.choice.reduced.levels) == 2:  # then the bounds see to it
            return self.least + slack
        allowed = min(self.least, self.lowest.f_lower) + slack
        return allowed - 2 * self.g.rounding(self.z)[0] - 8 * UNIT_ROUNDOFF * (abs(self.least) + slack)

    def beside(self, level: float) -> tuple[_Corner | None, _Corner | None]:
        """The nearest known corners whose g is above the level, and at most the level."""
        above = [one for one in self.corners if one.g > level]
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
    if len(choice.reduced.levels) > 2:
        answer = choice.inverted(_proved(path, found, slack))
    return Relaxed(point(found.x), point(path.z), found.multiplier, answer)


def _proved(path: Path, found: Relaxed, slack: float) -> Answer:
    """The best dual bound of all corners, by the brackets of the engine: v(eps) >= least - lam (g* + eps).

    As g* is at most ``g_upper``, which the bound takes in its place, it holds for every corner.
    """
    lowest = path.lowest
    g_lower, g_upper = lowest.f_lower, lowest.f_upper
    bounds = [path.f.lower_bound]
    for corner in path.corners:
        price = corner.lam * (g_upper + slack)
        bounds.append(corner.least - price - 4 * UNIT_ROUNDOFF * (abs(corner.least) + 2 * abs(price)))
    f_lower = max((bound for bound in bounds if not np.isnan(bound)), default=-np.inf)
    return Answer(
        found.x,
        g_lower,
        g_upper,
        f_lower,
        np.inf,
        multiplier=found.multiplier,
        well_posed=lowest.well_posed,
        notes=lowest.notes,
        assumes=lowest.assumes,
        brackets=(*lowest.brackets, (f_lower, np.inf)),
    )


def _search(path: Path, slack: float) -> Relaxed:
    """The multiplier at which the solution of the inner problem meets the slack."""
    f, z = path.f, path.z
    level = path.level(slack)
    free = path.corners[0] if path.corners else path.corner(0.0)
    if free.g <= level:
        return Relaxed(free.x, z, 0.0)
    # v is convex, so its slope at the slack is at most that of the chord to v(0) <= f(z)
    steep = max((f.value(z) - free.f) / slack, 0.0)
    if steep == 0.0:  # a lower solution already minimises f
        return Relaxed(z, z, 0.0)
    below, above = path.beside(level)
    assert below is not None  # at least the free one
    above = above or path.corner(2 * steep)
    older, newer = below, above
    dual = max(_dual(below, level), _dual(above, level))
    rounds = 3
    while rounds < MOST and above.g <= level:
        primal = f.value(_mixed(below, above, level))
        if primal - dual <= GAP * (abs(primal) + above.lam * abs(level) + abs(free.f)):
            break
        lam = _secant(older, newer, path.least, slack)
        far = above if newer.g > level else below
        if abs(newer.g - level) < NEAR * min(slack, abs(far.g - level)):
            lam += lam - newer.lam  # as far beyond the root, so that both ends are near it
        slow = rounds % 3 == 2 and abs(newer.g - level) > 0.1 * abs(older.g - level)
        if slow or not below.lam < lam < above.lam:
            lam = (above.f - below.f) / (below.g - above.g)  # where the duals of the two ends cross
        if not below.lam < lam < above.lam:
            break
        try:
            older, newer = newer, path.corner(lam)
        except OutOfTime:  # the mixture is feasible
            break
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
