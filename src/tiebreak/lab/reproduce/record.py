"""A run of a method with both objectives, and whatever else is asked for, along the way; the clock stops meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...methods import Solver, State
from ...problem import Problem
from ...solve import iterate
from ...states import Clock

Metric = Callable[[Vector], float]


def moments(updates: int, points: int = 200) -> NDArray[np.int_]:
    """0, the first updates one by one, then evenly on a log scale, and the last.

    Examples
    --------
    >>> moments(1000, 10)
    array([   0,    1,    2,    5,   10,   22,   46,  100,  215,  464, 1000])
    """
    spread = np.unique(np.geomspace(1, max(updates, 1), points).round().astype(int))
    return np.concatenate([[0], spread]) if updates else np.zeros(1, dtype=int)


def record(
    problem: Problem,
    solver: Solver[Any],
    *,
    x0: Vector | None = None,
    updates: int,
    at: NDArray[np.int_] | None = None,
    metrics: Mapping[str, Metric] | None = None,
    keep_points: bool = False,
    iterates: bool = False,
    seed: int | None = None,
    seconds: float = inf,
) -> dict[str, NDArray[Any]]:
    """Run ``updates`` updates (fewer where the method's own test ends it) and look at what it would return.

    ``iterates`` looks at x_k instead, where the two differ: an average, a projection, the best point so far.
    ``seconds`` ends it sooner. Seconds are those of the processor, so that runs beside each other share no time.

    Returns
    -------
    dict of arrays
        ``updates``, ``seconds`` (without the evaluations), ``f``, ``g``, one array a metric, and ``x`` (every recorded
        point if ``keep_points``, otherwise the last one).

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> run = record(problem, tb.AnytimeCGBiO(), updates=100)
    >>> int(run["updates"][-1]), float(run["f"][-1]) <= 0.25  # from below: f* = 1/4
    (100, True)
    """
    wanted = set((moments(updates) if at is None else at).tolist()) | {updates}
    rows: list[list[float]] = []
    points: list[Vector] = []
    clock = Clock(process_time)

    def look(state: State) -> None:
        x = state.x if iterates else solver.solution(state)
        rows.append([state.k, clock.elapsed, problem.upper.value(x), problem.lower.value(x)])
        rows[-1] += [metric(x) for metric in (metrics or {}).values()]
        points.append(x.copy())

    for state in clock.over(iterate(problem, solver, x0=x0, seed=seed)):
        if state.k in wanted:
            look(state)
        if state.k >= updates or clock.elapsed >= seconds:
            break
    if state.k != rows[-1][0]:  # the method ended between two moments
        look(state)
    table = np.array(rows)
    names = ["updates", "seconds", "f", "g", *(metrics or {})]
    result: dict[str, NDArray[Any]] = {name: table[:, i] for i, name in enumerate(names)}
    result["updates"] = result["updates"].astype(int)
    result["x"] = np.array(points) if keep_points else points[-1]
    return result
