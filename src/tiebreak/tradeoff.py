"""The trade-off curve v(eps) = min { f(z) : z in Z, g(z) <= g* + eps }: what lower-level loss buys, at which price."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import UNIT_ROUNDOFF, Vector, as_positive, as_real_array
from .kernels import clock
from .plan import plan
from .problem import Problem
from .result import Result, Status
from .solve import Method, solve


@dataclass(frozen=True)
class Tradeoff:
    """Points of v, each with its bracket.

    Attributes
    ----------
    slacks : array
        The values of eps.
    f : array
        f at the point found for each.
    f_lower, f_upper : array
        v(eps) lies between them. v is convex and falls, so a bracket at one eps sharpens those of the others.
    multipliers : array
        The price of lower-level loss, -dv/deps.
    results : tuple of Result
        The runs.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> curve = tb.tradeoff(problem, slacks=[0.005, 0.02])
    >>> curve.f.round(4), curve.multipliers.round(3), curve.proved
    (array([0.2025, 0.16  ]), array([4.5, 2. ]), array([ True,  True]))
    """

    slacks: Vector
    f: Vector
    f_lower: Vector
    f_upper: Vector
    multipliers: Vector
    results: tuple[Result, ...]

    def __repr__(self) -> str:
        head = f"  {'slack':>10}  {'f':>14}  {'v from':>14}  {'to':>14}  {'price':>10}"
        columns = (self.slacks, self.f, self.f_lower, self.f_upper, self.multipliers, self.proved)
        rows = [
            f"  {slack:10.3g}  {f:14.8g}  {low:14.8g}  {high:14.8g}  {price:10.3g}{'' if proved else '  not proved'}"
            for slack, f, low, high, price, proved in zip(*columns, strict=True)
        ]
        return "\n".join(["Tradeoff", head, *rows])

    @property
    def proved(self) -> np.ndarray:
        """Which of the points are proved to be solutions to the tolerances; the brackets hold for all."""
        return np.array([result.success for result in self.results])

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve with its bracket; returns the matplotlib axes."""
        from .pictures import BLUE, RED, pyplot

        plt = pyplot("Tradeoff.plot")
        if ax is None:
            _, ax = plt.subplots(figsize=(6, 4), layout="constrained")
        width = self.f_upper - self.f_lower
        finite = np.isfinite(width)
        label = f"proved bracket, at most {width[finite].max():.1g} wide" if finite.all() else "proved bracket"
        ax.fill_between(
            self.slacks, self.f_lower, self.f_upper, where=finite, color=BLUE, alpha=0.3, linewidth=0, label=label
        )
        ax.plot(self.slacks, self.f, color=BLUE, marker="o", markersize=4, label="point found")
        doubtful = ~self.proved
        if doubtful.any():
            ax.plot(self.slacks[doubtful], self.f[doubtful], "x", color=RED, markersize=9, label="not proved")
        ax.set_xscale("log")
        ax.set_xlabel("slack: lower-level loss allowed above g*")
        ax.set_ylabel("upper objective f")
        ax.set_title("What lower-level loss buys")
        ax.legend()
        ax.grid(alpha=0.3)
        return ax


def tradeoff(
    problem: Problem,
    slacks: Sequence[float] | Vector | None = None,
    method: Method = "auto",
    *,
    max_time: float | None = 60.0,
    **options: Any,
) -> Tradeoff:
    """Solve the problem for several slacks.

    Parameters
    ----------
    problem : Problem
        Its own slack is ignored; of several lower levels, that of the last one is varied.
    slacks : sequence of float, optional
        Positive. Default: ten values from 1e-6 of the largest that matters (the loss at which f is free) up to it.
    method : str or solver
        As for ``solve``.
    max_time : float or None
        Most seconds for the whole curve: a point gets up to half of what is left, the last one all of it.
    **options
        Passed on to ``solve``. Ctrl-C raises, with the points that are done as the attribute ``result`` of the
        KeyboardInterrupt.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> curve = tb.tradeoff(problem, slacks=[0.005, 0.02, 0.08])  # v(eps) = (1 - sqrt(2 eps))^2 / 4
    >>> curve.f.round(6)
    array([0.2025, 0.16  , 0.09  ])
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a tiebreak.Problem, got {type(problem).__name__}")
    limit = np.inf if max_time is None else as_positive(max_time, "max_time")
    made = plan(problem.with_slack(problem.slack or 1.0), method)
    if made.engine:  # planned once: what is found for one slack helps with the others
        method = made.solver
    solved = _within(limit, method, options)
    grid = _default_slacks(problem, solved) if slacks is None else as_real_array(slacks, "slacks")
    if grid.ndim != 1 or grid.size == 0 or not (grid > 0).all():
        raise ValueError("slacks must be one positive number or more")
    grid = np.sort(grid)
    results: list[Result] = []
    for left, slack in zip(range(grid.size - 1, -1, -1), grid, strict=True):
        try:
            results.append(solved(problem.with_slack(float(slack)), left))
        except KeyboardInterrupt as stop:
            if results:
                stop.result = curve_of(grid[: len(results)], results)  # type: ignore[attr-defined]
            raise
    return curve_of(grid, results)


def _within(limit: float, method: Method, options: dict[str, Any]) -> Callable[[Problem, int], Result]:
    """Solves problems one after the other within the limit; the number is that of the problems still to come."""
    ends = clock() + limit

    def solved(problem: Problem, to_come: int) -> Result:
        rest = max(ends - clock(), 1e-3)
        share = rest / 2 if to_come else rest
        limited = None if share == np.inf else share
        return solve(problem, method, **{**options, "max_time": limited, "on_interrupt": "raise"})

    return solved


def curve_of(grid: Vector, results: Sequence[Result]) -> Tradeoff:
    """The curve through these points, whose brackets sharpen each other."""
    lower = np.array([result.certificate.f_lower for result in results])
    upper = np.array([result.certificate.f_upper for result in results])
    prices = np.array([result.certificate.multiplier for result in results])
    f_lower, f_upper = _sharpened(grid, lower, upper, prices)
    return Tradeoff(grid, np.array([result.f for result in results]), f_lower, f_upper, prices, tuple(results))


def _sharpened(slacks: Vector, lower: Vector, upper: Vector, prices: Vector) -> tuple[Vector, Vector]:
    """Each lower bound is a line of slope -price below v; v is below its chords and never rises."""
    rises = prices[:, None] * (slacks[None, :] - slacks[:, None])
    lines = lower[:, None] - rises - 4 * UNIT_ROUNDOFF * (np.abs(lower)[:, None] + np.abs(rises))
    np.fill_diagonal(lines, lower)
    better_lower = np.max(lines, axis=0)
    better_upper = np.minimum.accumulate(upper)
    for i in range(1, slacks.size - 1):
        share = (slacks[i] - slacks[i - 1]) / (slacks[i + 1] - slacks[i - 1])
        chord = (1 - share) * better_upper[i - 1] + share * better_upper[i + 1]
        better_upper[i] = min(better_upper[i], chord)
    crossed = better_lower > better_upper + 1e-9 * (1 + np.abs(better_upper))
    if crossed.any():
        raise ArithmeticError(
            f"the brackets contradict the convexity of v at slack {slacks[crossed][0]:g}: "
            "one of the objectives is not convex, or its gradient is wrong"
        )
    return better_lower, better_upper


def _default_slacks(problem: Problem, solved: Callable[[Problem, int], Result]) -> Vector:
    """Geometric, up to the loss at which the upper level is free to take its own minimum."""
    if not problem.upper.convex:
        raise ValueError("the upper level is not convex, so what slack matters cannot be found out: pass slacks=")
    strict = solved(problem.with_slack(0.0), 2)
    free = solved(Problem(problem.lower, [*problem.before, problem.upper], problem.domain), 1)
    if Status.UNBOUNDED in (strict.status, free.status):
        raise ValueError("one of the levels falls for ever over this domain: pass slacks=, or bound the domain")
    most = problem.lower.value(free.x) - strict.certificate.g_lower if np.isfinite(free.x).all() else np.nan
    if not np.isfinite(most):
        raise ValueError("what lower-level loss matters was not found out within max_time: raise it, or pass slacks=")
    if most <= 0:
        raise ValueError("f is as small at the lower solutions as anywhere: there is nothing to trade; pass slacks=")
    resolution = max(strict.certificate.lower_gap, 1e-6 * most)
    return np.geomspace(min(resolution, most / 10), most, 10)
