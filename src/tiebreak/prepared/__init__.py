"""Problems that are solved many times with other right-hand sides: what does not change is done once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Vector, as_positive, as_vector
from ..kernels import NotCompiled
from ..problem import Problem
from ..result import Result, Status
from ..solve import solve
from . import hierarchy as loops
from .tasks import Hierarchy, in_rows, why_not, with_side

__all__ = ["Prepared", "PreparedAnswer", "prepare"]

TOLERANCE = 1e-8


def prepare(problem: Problem, *, tol_upper: float = TOLERANCE, tol_lower: float = TOLERANCE) -> Prepared:
    """Prepare a problem for many solves with other right-hand sides.

    Small hierarchies of least squares over a box (the tasks of a robot within its joint limits, in order of rank) are
    solved in compiled loops, in microseconds, with numba; whatever else ``solve`` takes goes to ``solve`` each time. So
    do the first solves where there is no machine code yet, until compiling pays; ``tiebreak warm-up`` makes it ahead.

    Parameters
    ----------
    problem : Problem
        What to solve. Its sets, matrices and weights are those of all solves.
    tol_upper, tol_lower : float
        As for ``solve``.

    Returns
    -------
    Prepared
        Its method ``solve(b=..., x0=...)`` solves the problem once.

    Examples
    --------
    Two tasks for three joints; then as little movement as possible:

    >>> import tiebreak as tb
    >>> hand, look = tb.LeastSquares([[1.0, 1.0, 1.0]], [0.0]), tb.LeastSquares([[1.0, -1.0, 0.0]], [0.0])
    >>> tasks = tb.prepare(tb.Problem(tb.SquaredNorm(dim=3), [hand, look], tb.Box(-1.0, 1.0)))
    >>> tasks.solve(b=[[1.5], [0.5], None]).x.round(6)
    array([0.75, 0.25, 0.5 ])
    >>> tasks.solve(b=[[2.5], [1.0], None]).result.success
    True
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a tiebreak.Problem, got {type(problem).__name__}")
    return Prepared(problem, as_positive(tol_upper, "tol_upper"), as_positive(tol_lower, "tol_lower"))


class Prepared:
    """A problem that is solved many times; made by ``prepare``.

    Attributes
    ----------
    problem : Problem
        As it was given.
    because : str
        Why each solve is a call of ``solve``; empty where it is one of the compiled loops.

    Examples
    --------
    >>> import tiebreak as tb
    >>> tasks = tb.prepare(tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0)))
    >>> tasks.because == "" or "box" in tasks.because or "numba" in tasks.because
    True
    >>> tasks.solve(b=[[0.5], None]).x.round(9)
    array([0.25, 0.25])
    """

    def __init__(self, problem: Problem, tol_upper: float, tol_lower: float) -> None:
        self.problem, self.tol_upper, self.tol_lower = problem, tol_upper, tol_lower
        self.because = why_not(problem)
        self._hierarchy: Hierarchy | None = None
        if not self.because:
            made = self._hierarchy = in_rows(problem)
            self._search: Callable[..., tuple[int, int]] | None = None
            self._rows = int(made.tasks.starts[-1])
            self._start = np.clip(0.0, made.tasks.low, made.tasks.high)
            self._most = 10 * (problem.dim + self._rows) + 50
            self._plain = made.plain

    def solve(self, b: Sequence[ArrayLike | None] | None = None, x0: ArrayLike | None = None) -> PreparedAnswer:
        """Solve the problem with these right-hand sides.

        Parameters
        ----------
        b : sequence, optional
            One entry a level, the most important first: the right-hand side of least squares, the centre of a
            SquaredNorm, or None for that of the problem.
        x0 : array, optional
            Where to start: near the solution, as that of a moment before, it takes fewer steps.
        """
        if self._hierarchy is None:
            return PreparedAnswer(self, b, None, x0)
        try:
            found = self._quick(self._hierarchy, b, x0)
            if found is None and x0 is not None:  # an end that x0 is at, and that nothing pushes against
                found = self._quick(self._hierarchy, b, None)
            return PreparedAnswer(self, b, None, x0) if found is None else found
        except NotCompiled:  # there is no machine code yet: what is spent without it counts for making some
            began = time.perf_counter()
            answer = PreparedAnswer(self, b, None, x0)
            loops.HIERARCHIES.spent += time.perf_counter() - began
            return answer

    def _quick(
        self, made: Hierarchy, b: Sequence[ArrayLike | None] | None, x0: ArrayLike | None
    ) -> PreparedAnswer | None:
        """By the loops; None where a decision hangs on rounding, or they take too long."""
        flat = self._sides((None,) * len(made.sides) if b is None else b)
        x = self._start.copy() if x0 is None else as_vector(x0, "x0", self.problem.dim) * made.roots
        tasks, rows = made.tasks, flat[: self._rows]
        if made.ends_in_norm and b is not None and b[-1] is not None:
            tasks = tasks._replace(center=flat[self._rows :] * made.roots)
        if not self._plain:
            rows = rows * made.scales
        side = np.empty(x.size)
        search = loops.fast_search.compiled if self._search is None else self._search
        ended, steps = search(tasks, rows, x, side, self._most)
        if self._search is None:
            self._search = loops.fast_search.ready()
        if ended != loops.DONE:
            return None
        if not self._plain:
            x = self.problem.domain.project(x / made.roots)
        return PreparedAnswer(self, b, x, x0, steps)

    def _sides(self, b: Sequence[ArrayLike | None]) -> Vector:
        """All right-hand sides one after another."""
        made, parts = self._hierarchy, []
        assert made is not None
        if len(b) != len(made.sides):
            raise ValueError(f"b must have one entry for each of the {len(made.sides)} levels, got {len(b)}")
        for k, (one, own) in enumerate(zip(b, made.sides, strict=True)):
            if one is None:
                parts.append(own)
            elif type(one) is np.ndarray and one.dtype == np.float64 and one.shape == own.shape:
                parts.append(one)  # the loops refuse what is no number
            else:
                parts.append(as_vector(one, f"b[{k}]", own.size))
        return np.concatenate(parts)


class PreparedAnswer:
    """What ``Prepared.solve`` returns: the point at once, what is proved about it when it is asked for.

    Attributes
    ----------
    x : array
        The point. The compiled loops compute it to rounding and check the conditions of all levels; where one of their
        decisions hangs on rounding, it is the x of ``solve``.
    steps : int
        Steps of the compiled loops; 0 where ``solve`` was called.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.Box(-1.0, 1.0))
    >>> answer = tb.prepare(problem).solve(b=[[0.5], None])
    >>> answer.x.round(9), answer.result.success
    (array([0.25, 0.25]), True)
    """

    def __init__(
        self,
        prepared: Prepared,
        b: Sequence[ArrayLike | None] | None,
        x: Vector | None,
        x0: ArrayLike | None,
        steps: int = 0,
    ) -> None:
        self._prepared, self._b, self._x0 = prepared, b, x0
        self.x = self.result.x if x is None else x
        self.steps = steps

    @property
    def problem(self) -> Problem:
        """The problem with the right-hand sides of this solve."""
        problem, given = self._prepared.problem, self._b
        if given is None:
            return problem
        levels = problem.levels
        if len(given) != len(levels):
            raise ValueError(f"b must have one entry for each of the {len(levels)} levels, got {len(given)}")
        levels = tuple(
            level if b is None else with_side(level, b, f"b[{k}]")
            for k, (level, b) in enumerate(zip(levels, given, strict=True))
        )
        if len(levels) == 1:
            return replace(problem, upper=levels[0], lower=levels[0])
        return replace(problem, upper=levels[-1], lower=levels[-2], before=levels[:-2])

    @cached_property
    def result(self) -> Result:
        """What is proved about x: brackets on the optimum of every level, by ``solve``, when it is first asked for."""
        problem, tolerances = self.problem, (self._prepared.tol_upper, self._prepared.tol_lower)
        found = solve(problem, x0=self._x0, tol_upper=tolerances[0], tol_lower=tolerances[1])
        own = self.__dict__.get("x")
        return found if own is None else at(own, found, problem)


def at(x: Vector, found: Result, problem: Problem) -> Result:
    """What the bounds of a result mean for another point of the domain."""
    values = [level.value(x) for level in problem.levels]
    g, g_error = problem.lower.value_and_error(x)
    levels = tuple(replace(level, value=value) for level, value in zip(found.levels, values, strict=True))
    claim = replace(
        found.certificate,
        lower_gap=g + g_error - found.certificate.g_lower,
        upper_gap=values[-1] - found.certificate.f_lower,
    )
    near = all(abs(level.gap) <= found.tol_lower for level in levels[:-1])
    success = found.success and near and claim.shows(found.tol_upper, found.tol_lower)
    status, message = found.status, found.message
    if found.success and not success:
        status = Status.STALLED
        message = f"The point of the prepared loops is not proved: a level misses its tolerance. {message}"
    return replace(
        found, x=x, f=values[-1], g=g, levels=levels, certificate=claim, success=success, status=status,
        message=message, method="prepared", state=None,
    ).belonging_to(problem)  # fmt: skip
