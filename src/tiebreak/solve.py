"""Solve a problem: what a user asks for is prepared here and handed to the loop."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from .arrays import as_count, as_flag, as_positive, as_seed
from .callbacks import Callback, Progress, Trace, as_callbacks
from .choose import able, choose, unmet
from .deadline import OutOfTime, limited
from .examination import by_user, examine
from .loop import Run, states_of
from .problem import Problem
from .result import Result, Status
from .resume import Method as Method
from .resume import Start, first_state, origin_of, starting_point, taken_up
from .solvers import Solver, State, named
from .watch import Witnesses, watched

logger = logging.getLogger("tiebreak")

GRACE = 0.5
"""Most seconds, besides a twentieth of the limit, for a last look at the bounds after the time is up."""

OnInterrupt = Literal["auto", "return", "raise"]


def solve(
    problem: Problem,
    method: Method = "auto",
    *,
    x0: Start = None,
    tol_upper: float = 1e-4,
    tol_lower: float = 1e-4,
    max_iter: int = 10_000,
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
        A name from ``tiebreak.methods()``, or a solver object such as ``tiebreak.CGBiO(variant="paper")``.
    x0 : array, Result, State or path, optional
        Where to start: at a point, or at the x of a Result. A point outside the domain is projected, with a warning.
        A State (``result.state``), or a file that ``Result.save`` or ``Checkpoint`` has written, goes on exactly where
        that run stopped, with the bounds it had; it must be of the same problem and method ("auto" is that method).
    tol_upper, tol_lower : float
        Absolute tolerances: success means that f(x) - f* <= tol_upper and g(x) - g* <= tol_lower are proved, and that
        f(x) is not known to be below f* by more than tol_upper. With slack, g(x) - g* <= slack is proved instead.
    max_iter : int
        Most updates.
    max_time : float or None
        Most seconds; None for no limit. What user code is at is not cut short.
    callback : callable or several, optional
        Called with an event (x, k, f, g, time, certificate) at every iterate. Returning True or raising
        StopIteration stops the run; that is not a success.
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
    max_iter, seed, verbose = as_count(max_iter, "max_iter"), as_seed(seed), as_flag(verbose, "verbose")
    limit = np.inf if max_time is None else as_positive(max_time, "max_time")
    callbacks = as_callbacks(callback)
    returns = returns_interrupted(on_interrupt)
    x0, method, seed = taken_up(x0, method, seed)
    solver, reason, tol_lower, free = _prepare(problem, method, tol_upper, tol_lower, seed)
    progress = Progress(tol_upper, tol_lower) if verbose else None
    if progress is not None:
        callbacks.append(progress)
    logger.debug("%s: %s", solver.info.name, reason)

    run = Run(problem, solver, tol_upper, tol_lower, free)
    try:
        with limited(limit):
            start = run.begin(x0, seed)
            examine(problem, run.witnesses, seed)
            status, detail = run.through(start, callbacks, max_iter, limit)
    except OutOfTime:
        status, detail = Status.MAX_TIME, f"the limit of {limit:g} s was reached before the first update"
    finally:
        if progress is not None:
            progress.close()
    trace = next((one for one in callbacks if isinstance(one, Trace)), run.trace)
    with limited(min(GRACE, limit) + 0.05 * limit):
        result = run.result(status, detail, reason, trace, seed)
    if run.interrupt is not None and not returns:
        run.interrupt.result = result  # type: ignore[attr-defined]
        raise run.interrupt
    return result


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
    >>> for state in tb.iterate(problem, "cg-bio"):
    ...     if state.k == 100:
    ...         break
    >>> state.x.round(1)
    array([0.5, 0.5])
    """
    tol_upper, tol_lower = as_positive(tol_upper, "tol_upper"), as_positive(tol_lower, "tol_lower")
    seed = as_seed(seed)
    x0, method, seed = taken_up(x0, method, seed)
    solver, _, _, _ = _prepare(problem, method, tol_upper, tol_lower, seed)
    origin = origin_of(problem, solver, seed)
    start = first_state(problem, solver, x0, origin) if isinstance(x0, State) else starting_point(problem, x0)
    witnesses = Witnesses(problem)
    examine(problem, witnesses, seed)
    states = states_of(
        watched(problem, Counter(), "", witnesses) if by_user(problem) else problem, solver, start, origin
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
    problem: Problem, method: Method, tol_upper: float, tol_lower: float, seed: int | None
) -> tuple[Solver[Any], str, float, bool]:
    """The solver, with tolerances and seed of the run where it wants them; why it; the lower tolerance to reach; and
    whether the run may lower that of the method further.
    """
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a tiebreak.Problem, got {type(problem).__name__}")
    if problem.error_bound is not None and problem.slack == 0:  # Corollary 1: makes the upper guarantee two-sided
        tol_lower = min(tol_lower, problem.error_bound.lower_tolerance(tol_upper, problem.upper))
    if isinstance(method, str):
        solver, reason = choose(problem) if method == "auto" else (named(method), "")
    elif isinstance(method, Solver):
        solver, reason = method, ""
    else:
        raise TypeError(f"method must be a name or a solver such as tiebreak.CGBiO(), got {method!r}")
    wanted = {"tol_upper": tol_upper, "tol_lower": tol_lower, "seed": seed}
    open_fields = {name: value for name, value in wanted.items() if getattr(solver, name, 0.0) is None}
    if missing := unmet(problem, solver):
        others = ", ".join(able(problem))
        instead = f"; methods that can do without: {others}" if others else ""
        raise ValueError(f"method {solver.info.name!r} needs {', '.join(missing)}, which the problem lacks{instead}")
    free = "tol_lower" in open_fields
    return replace(solver, **open_fields) if open_fields else solver, reason, tol_lower, free
