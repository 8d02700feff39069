"""The relaxed problem, min f over g <= g* + slack, through its multiplier.

v(eps) = max over lam of min over Z of f + lam (g - g* - eps). For each lam the inner problem is an ordinary convex one
that an exact engine solves; g at its solution falls as lam grows, and a root search finds the lam at which it meets
g* + slack. Two solutions on either side of the root give, mixed, a feasible point, and f there is within the duality
gap of optimal. The gap ends the search; the proof of the answer is left to the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np

from ..arrays import Vector
from ..objectives import Objective
from ..problem import Problem
from ..sets import Box, Polyhedron, Product
from .answer import Answer
from .atoms import atoms_of
from .generation import generate, start
from .interrupt import OutOfTime, keeping
from .lifted import Lift, is_lifted
from .master import Master
from .rows import solve_rows
from .smooth import Smooth, check_scale
from .vertices import Vertices

GAP = 1e-13
"""Duality gap, relative to the values it is the difference of, at which the search ends."""

NEAR = 1e-2
"""From an end so much nearer to the level than the other one, the next multiplier is put on the other side."""

MOST = 80
"""Inner problems solved at most."""


class Relaxed(NamedTuple):
    """The answer: x, a lower solution z, the multiplier, and the inner problems solved."""

    x: Vector
    z: Vector
    multiplier: float
    steps: int


class _Corner(NamedTuple):
    """The solution of the inner problem for one multiplier."""

    lam: float
    x: Vector
    f: float
    g: float


def solve_relaxed(problem: Problem) -> Relaxed:
    """Minimise f over {z in Z : g(z) <= g* + slack}, slack > 0.

    Examples
    --------
    Least norm with x1 + x2 within 0.1 of 1:

    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0), slack=0.005)
    >>> solve_relaxed(problem).x.round(12)
    array([0.45, 0.45])
    """
    if is_lifted(problem):
        lift = Lift.of((problem.lower, problem.upper), problem.domain)
        found = solve_relaxed(lift.problem(problem))
        return found._replace(x=lift.point(found.x), z=lift.point(found.z))
    path = _path(problem)
    with keeping(lambda: Answer(path.z, -np.inf, np.inf, -np.inf, np.inf)):
        return _search(problem, path)


class _Path:
    """The solutions of the inner problem found so far: they are the same for every slack."""

    def __init__(self, problem: Problem) -> None:
        self.upper, self.lower, self.domain = problem.upper, problem.lower, problem.domain
        self._minimise = _minimiser(problem)
        self.z = self._minimise(problem.lower)
        self.least = problem.lower.value(self.z)
        self.known: list[_Corner] = []  # by their multipliers

    def corner(self, lam: float) -> _Corner:
        f, g = self.upper, self.lower
        x = self._minimise(f + lam * g if lam > 0 else f)
        found = _Corner(lam, x, f.value(x), g.value(x))
        self.known = sorted([*self.known, found], key=lambda one: one.lam)
        return found

    def beside(self, level: float) -> tuple[_Corner | None, _Corner | None]:
        """The nearest known corners whose g is above the level, and at most the level."""
        above = [one for one in self.known if one.g > level]
        below = [one for one in self.known if one.g <= level]
        return (above[-1] if above else None), (below[0] if below else None)


_paths: ContextVar[list[_Path] | None] = ContextVar("paths", default=None)


@contextmanager
def shared_paths() -> Iterator[None]:
    """Inside, problems that differ in their slack only share what is found for one of them."""
    token = _paths.set([])
    try:
        yield
    finally:
        _paths.reset(token)


def _path(problem: Problem) -> _Path:
    shared = _paths.get()
    for path in shared or ():
        if path.upper is problem.upper and path.lower is problem.lower and path.domain is problem.domain:
            return path
    path = _Path(problem)
    if shared is not None:
        shared.append(path)
    return path


def _search(problem: Problem, path: _Path) -> Relaxed:
    """The multiplier at which the solution of the inner problem meets the slack."""
    f, z, solved = problem.upper, path.z, len(path.known)
    level = path.least + problem.slack
    free = path.known[0] if path.known else path.corner(0.0)
    if free.g <= level:
        return Relaxed(free.x, z, 0.0, 2)
    # v is convex, so its slope at the slack is at most that of the chord to v(0) <= f(z)
    steep = max((f.value(z) - free.f) / problem.slack, 0.0)
    if steep == 0.0:  # a lower solution already minimises f
        return Relaxed(z, z, 0.0, 2)
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
        lam = _secant(older, newer, path.least, problem.slack)
        far = above if newer.g > level else below
        if abs(newer.g - level) < NEAR * min(problem.slack, abs(far.g - level)):
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
    return Relaxed(x, z, above.lam, len(path.known) - solved + 1)


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


def _minimiser(problem: Problem) -> Callable[[Objective], Vector]:
    """Exact minimisation of one objective over the domain."""
    domain = problem.domain
    if isinstance(domain, (Polyhedron, Box, Product)):
        return lambda objective: solve_rows([objective], domain)[-1].x

    atoms = atoms_of(domain, problem.dim)
    for name, objective in (("upper", problem.upper), ("lower", problem.lower)):
        check_scale(Smooth(objective, problem.dim), name, atoms.reach)
    used: list[Vertices] = []  # the vertices of the last solution: where the next one starts

    def by_columns(objective: Objective) -> Vector:
        level = Smooth(objective, problem.dim)
        vertices = _carried(used.pop(), level) if used else start(atoms, level)
        used.append(vertices)
        generate(Master(vertices, rank_tol=1e-9), None, 50_000, 50_000)
        return vertices.point()

    return by_columns


def _carried(old: Vertices, level: Smooth) -> Vertices:
    """The same mix of vertices, for another objective."""
    new = Vertices(old.atoms, level)
    new.add(old.code[: old.count], old.w[: old.count])
    return new
