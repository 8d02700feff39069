"""Solve a problem: what a user asks for is prepared here and handed to the loop."""

from __future__ import annotations

import logging
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .arrays import as_count, as_flag, as_positive, as_seed
from .callbacks import Callback, Progress, Trace, as_callbacks
from .earlier_slack import Staged, has_earlier_slack
from .ending import result_of
from .examination import by_user, examine
from .loop import Run
from .methods import State
from .numerics.deadline import OutOfTime, limited
from .numerics.failures import ARITHMETIC, out_of_range
from .plan import Plan, plan
from .problem import Problem, share_of
from .result import Result, Status
from .resume import Method as Method
from .resume import Start, first_state, origin_of, starting_point, taken_up
from .states import states_of
from .watch import Witnesses, watched

logger = logging.getLogger("tiebreak")

GRACE = 0.5
"""Most seconds, besides a twentieth of the limit, for a last look at the bounds after the time is up."""

NEARLY = 1e-6
"""A bracket on f* this narrow, relative to 1 + |f|, is not left to a first-order method to improve."""

OnInterrupt = Literal["auto", "return", "raise"]


def solve(
    problem: Problem,
    method: Method = "auto",
    *,
    x0: Start = None,
    tol_upper: float = 1e-4,
    tol_lower: float = 1e-4,
    max_iter: int | None = None,
    max_time: float | None = 60.0,
    callback: Callback | Iterable[Callback] | None = None,
    seed: int | None = None,
    verbose: bool = False,
    on_interrupt: OnInterrupt = "auto",
) -> Result:
    """Find the minimiser of the upper objective among the minimisers of the lower one.

    Parameters
    ----------
    problem : Problem
        What to solve.
    method : str or solver, default "auto"
        A name from ``tiebreak.methods()``, or a solver object such as ``tiebreak.CGBiO()``.
    x0 : array, Result, State or path, optional
        Where to start: at a point, or at the x of a Result. A point outside the domain is projected, with a warning.
        A State (``result.state``), or a file that ``Result.save`` or ``Checkpoint`` has written, goes on exactly where
        that run stopped, with the bounds it had; it must be of the same problem and method ("auto" is that method).
    tol_upper, tol_lower : float
        Absolute tolerances, in the units of the objectives: success means that f(x) - f* <= tol_upper and
        g(x) - g* <= tol_lower are proved, and that f(x) is not known to be below f* by more than tol_upper. With slack,
        g(x) - g* <= slack is proved instead. An objective that is measured in other units asks for other tolerances.
    max_iter : int, optional
        Most updates; by default the time alone is the limit.
    max_time : float or None
        Most seconds; None for no limit. What user code is at is not cut short.
    callback : callable or several, optional
        Called with an event (x, k, f, g, time, certificate) at the first iterate, at those where bounds are computed
        (each of the first updates, then whenever k has grown by a tenth) and at the last one; updates in between may
        be made many at a time. ``tiebreak.Every(n, callback)``, and any callback with an attribute ``every`` = n, is
        called at every n-th update instead. Returning True or raising StopIteration stops the run; that is not a
        success.
    seed : int, optional
        For methods that draw random numbers; recorded in the result.
    verbose : bool
        Show a progress line on standard error.
    on_interrupt : {"auto", "return", "raise"}
        What Ctrl-C does: "return" the best state with the status INTERRUPTED, or "raise" the KeyboardInterrupt, with
        that result as its attribute ``result``, so that a loop over solves stops. "auto" returns at a prompt or in a
        notebook and raises in a script.

    Returns
    -------
    Result
        The point, both objectives and the certificate. Where not even a point of the domain was found in time, x is
        NaN.

    Examples
    --------
    The smallest vector with x1 + x2 = 1:

    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> result = tb.solve(problem, tol_upper=1e-3, tol_lower=1e-3)
    >>> result.status
    <Status.CONVERGED: 'converged'>
    >>> result.certificate.f_lower <= 0.25  # f* = 1/4, at (1/2, 1/2)
    True
    """
    tol_upper, tol_lower = as_positive(tol_upper, "tol_upper"), as_positive(tol_lower, "tol_lower")
    most, seed, verbose = _most_updates(max_iter), as_seed(seed), as_flag(verbose, "verbose")
    limit = np.inf if max_time is None else as_positive(max_time, "max_time")
    callbacks = as_callbacks(callback)
    returns = returns_interrupted(on_interrupt)
    if isinstance(problem, Problem) and has_earlier_slack(problem):
        options = {"x0": x0, "callback": callback, "seed": seed, "verbose": verbose, "on_interrupt": on_interrupt}
        options |= {"tol_upper": tol_upper, "max_iter": max_iter}
        return _in_stages(problem, method, tol_lower, limit, options).belonging_to(problem)
    asked = problem
    x0, method, seed = taken_up(x0, method, seed)
    if isinstance(problem, Problem) and problem.relative_slack > 0:
        started = time.perf_counter()
        problem = _with_absolute_slack(problem, tol_lower, max_time)
        limit = max(limit - (time.perf_counter() - started), 1e-3)
    made, tol_lower, free = _prepare(problem, method, tol_upper, tol_lower, seed)
    progress = Progress(tol_upper, tol_lower) if verbose else None
    if progress is not None:
        callbacks.append(progress)
    started = time.perf_counter()
    try:
        result, interrupt = _run(made, tol_upper, tol_lower, free, x0, callbacks, most, limit, seed)
        if result.status is Status.STALLED and made.otherwise is not None and _may_gain(result):
            left = max(limit - (time.perf_counter() - started), 1e-3)
            then, tol_lower, free = _prepare(problem, made.otherwise, tol_upper, tol_lower, seed)
            result, interrupt = _run(then, tol_upper, tol_lower, free, result.x, callbacks, most, left, seed)
    finally:
        if progress is not None:
            progress.close()
    if interrupt is not None and not returns:
        interrupt.result = result  # type: ignore[attr-defined]
        raise interrupt
    return result.belonging_to(asked)


def _may_gain(result: Result) -> bool:
    """Whether there is a point to begin at, and f* is not known so well that no first-order method would add to it."""
    known = result.certificate
    return bool(np.isfinite(result.x).all() and not known.f_upper - known.f_lower <= NEARLY * (1 + abs(result.f)))


def _run(
    made: Plan,
    tol_upper: float,
    tol_lower: float,
    free: bool,
    x0: ArrayLike | Result | State | None,
    callbacks: list[Callback],
    max_iter: int,
    limit: float,
    seed: int | None,
) -> tuple[Result, BaseException | None]:
    """A run of the method that was planned: its result, and what interrupted it."""
    problem, solver, reason = made.problem, made.solver, made.because
    logger.debug("%s: %s", solver.info.name, reason)
    run = Run(problem, solver, tol_upper, tol_lower, free)
    try:
        with limited(limit):
            start = run.begin(x0, seed)
            examine(problem, run.witnesses, seed)
            status, detail = run.through(start, callbacks, max_iter, limit)
    except OutOfTime:
        status, detail = Status.MAX_TIME, f"the limit of {limit:g} s was reached before the first update"
    except ARITHMETIC as error:
        status, detail = Status.NONFINITE, out_of_range(error)
    trace = next((one for one in callbacks if isinstance(one, Trace)), run.sight.trace)
    with limited(min(GRACE, limit) + 0.05 * limit):
        return result_of(run, status, detail, reason, trace, seed), run.interrupt


def _in_stages(problem: Problem, method: Method, tol_lower: float, limit: float, options: dict[str, Any]) -> Result:
    """The problem with rows in the place of earlier levels that have slack."""
    ends = time.perf_counter() + limit

    def left() -> float | None:
        return None if limit == np.inf else max(ends - time.perf_counter(), 1e-3)

    staged = Staged.of(problem, lambda one: solve(one, tol_upper=tol_lower, tol_lower=tol_lower, max_time=left()))
    try:
        return staged.completed(solve(staged.problem, method, tol_lower=tol_lower, max_time=left(), **options))
    except KeyboardInterrupt as stop:
        if isinstance(found := getattr(stop, "result", None), Result):
            stop.result = staged.completed(found)  # type: ignore[attr-defined]
        raise


def _most_updates(max_iter: int | None) -> int:
    """A number of updates that no run reaches, where there is no limit."""
    return sys.maxsize if max_iter is None else as_count(max_iter, "max_iter")


def _with_absolute_slack(problem: Problem, tol_lower: float, max_time: float | None) -> Problem:
    """The problem with its share of abs(g*) as a slack: of the smaller end of the bracket, which it does not exceed."""
    lowest = Problem(problem.lower, problem.before, problem.domain)
    level = solve(lowest, tol_upper=tol_lower, tol_lower=tol_lower, max_time=max_time).levels[-1]
    if not np.isfinite([level.lower, level.upper]).all():
        raise ValueError("relative_slack needs g*, which was not found out within the limits: give slack, or more time")
    return problem.with_slack(share_of(problem.relative_slack, level.lower, level.upper))


def returns_interrupted(on_interrupt: OnInterrupt) -> bool:
    """Whether Ctrl-C ends in a result: by default where someone sits at a prompt or in a notebook to look at it."""
    if on_interrupt not in ("auto", "return", "raise"):
        raise ValueError(f'on_interrupt must be "auto", "return" or "raise", got {on_interrupt!r}')
    prompt = hasattr(sys, "ps1") or bool(sys.flags.interactive)
    return prompt if on_interrupt == "auto" else on_interrupt == "return"


def iterate(
    problem: Problem,
    method: Method = "auto",
    *,
    x0: Start = None,
    tol_upper: float = 1e-4,
    tol_lower: float = 1e-4,
    seed: int | None = None,
) -> Iterator[State]:
    """The states of a method, one an update, k = 0 first; for those who want to own the loop.

    It ends only where the method's own stopping test does.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    >>> for state in tb.iterate(problem, "cg-bio-anytime"):
    ...     if state.k == 100:
    ...         break
    >>> state.x.round(1)
    array([0.5, 0.5])
    """
    tol_upper, tol_lower = as_positive(tol_upper, "tol_upper"), as_positive(tol_lower, "tol_lower")
    seed = as_seed(seed)
    x0, method, seed = taken_up(x0, method, seed)
    solver = _prepare(problem, method, tol_upper, tol_lower, seed)[0].solver
    origin = origin_of(problem, solver, seed)
    start = first_state(problem, solver, x0, origin) if isinstance(x0, State) else starting_point(problem, x0)
    witnesses = Witnesses(problem)
    examine(problem, witnesses, seed)
    states = states_of(
        watched(problem, Counter(), "", witnesses) if by_user(problem) else problem, solver, start, origin=origin
    )
    return _one_a_count(states)


def _one_a_count(states: Iterator[State]) -> Iterator[State]:
    """Without the last state of a method whose own test ended it: that repeats the one before, but for the mark."""
    last = -1
    for state in states:
        if state.k > last:
            last = state.k
            yield state


def _prepare(
    problem: Problem, method: Method | Plan, tol_upper: float, tol_lower: float, seed: int | None
) -> tuple[Plan, float, bool]:
    """The plan, its method with tolerances and seed of the run where it wants them; the lower tolerance to reach; and
    whether the run may lower that of the method further.
    """
    made = method if isinstance(method, Plan) else plan(problem, method)
    if problem.error_bound is not None and problem.slack == 0:  # Corollary 1: makes the upper guarantee two-sided
        tol_lower = min(tol_lower, problem.error_bound.lower_tolerance(tol_upper, problem.upper))
    wanted = {"tol_upper": tol_upper, "tol_lower": tol_lower, "seed": seed}
    open_fields = {name: value for name, value in wanted.items() if getattr(made.solver, name, 0.0) is None}
    if open_fields:
        made = replace(made, solver=replace(made.solver, **open_fields))
    return made, tol_lower, "tol_lower" in open_fields
