"""How a run ends: everything recomputed at the final point, and said in words."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np

from .arrays import Vector
from .callbacks import Trace
from .loop import Run
from .methods import State
from .numerics.deadline import OutOfTime, limited
from .numerics.failures import ARITHMETIC, EmptySet, out_of_range
from .origin import Ledger
from .problem import start_point
from .result import Result, Status, explain
from .resume import INSIDE
from .sight import Seen
from .watch import NonFiniteError

logger = logging.getLogger("tiebreak")


def result_of(run: Run, status: Status, detail: str, reason: str, trace: Trace, seed: int | None) -> Result:
    """Everything recomputed at the final point, and said in words."""
    x, nit = _final(run)
    ledger, seen = run.ledger(), run.sight.last
    if not np.isfinite(x).all():
        seen = Seen(x, x, np.nan, np.nan, run.bounds.certificate(np.nan, np.nan, 0.0))
        detail += "" if status is Status.INFEASIBLE else "; not even a point of the domain was found"
    elif seen is None or seen.x is not x:
        status, detail, point = _look_again(run, x, status, detail)
        f, (g, g_error) = run.problem.upper.value(point), run.problem.lower.value_and_error(point)
        seen = Seen(x, point, f, g, run.bounds.certificate(f, g, g_error, run.sight.stationarity))
    nothing = status in (Status.UNBOUNDED, Status.INFEASIBLE)
    if not nothing:
        seen, status, detail = _not_worse_than_start(run, seen, status, detail)
    words = "" if nothing else explain(seen.certificate, run.problem, run.sight.tol_upper)
    if status is not Status.CONVERGED and run.sight.outside > INSIDE:
        detail = f"{detail}; a point that the method found is outside the domain, by {run.sight.outside:.3g} at most"
    split = getattr(run.problem.domain, "split", None)
    sentences = f"{detail[0].upper()}{detail[1:]}", words.rstrip("."), reason and f"Method: {reason}"
    return Result(
        x=seen.point,
        f=seen.f,
        g=seen.g,
        success=status is Status.CONVERGED,
        status=status,
        message=" ".join(f"{sentence}." for sentence in sentences if sentence),
        method=run.solver.info.name,
        nit=nit,
        time=run.elapsed(),
        calls=dict(run.calls),
        certificate=seen.certificate,
        trace=trace,
        seed=seed,
        blocks=None if split is None else split(seen.point),
        state=_put_aside(run, ledger),
        notes=run.bounds.notes,
        tol_upper=run.sight.tol_upper,
        tol_lower=run.sight.tol_lower,
        levels=run.sight.levels(seen),
        names=run.problem.names,
    )


def _not_worse_than_start(run: Run, seen: Seen, status: Status, detail: str) -> tuple[Seen, Status, str]:
    """The given start in the place of what a run without success has reached, where it is the better point.

    That is: where the bounds show by now that it is a solution; where no level is higher there and one is lower;
    and, with slack, where it is feasible for certain and the other is not, or has the higher f.
    """
    x0, c = run.given, seen.certificate
    if x0 is None or status is Status.CONVERGED or x0.shape != seen.point.shape:
        return seen, status, detail
    try:
        f, (g, g_error) = run.sight.values(x0)
        values = [(level.value(x0), level.value(seen.point)) for level in run.problem.before]
    except (NonFiniteError, OutOfTime):  # the limit may leave no time for it
        return seen, status, detail
    own = None if run.problem.upper.convex else np.inf
    first = Seen(x0, x0, f, g, run.bounds.certificate(f, g, g_error, own))
    if run.sight.shows(first):
        return first, Status.CONVERGED, "both tolerances are proved at the start x0, which is returned"
    values += [(g, seen.g), (f, seen.f)]
    better = all(one <= other for one, other in values) and any(one < other for one, other in values)
    slack = run.problem.slack
    if slack > 0 and not run.problem.before and first.certificate.lower_gap <= slack:
        better = c.lower_gap > slack or f < seen.f
    if not (better or np.isnan(seen.point).any()):
        return seen, status, detail
    return first, status, f"{detail}; the start x0 is better than what was reached, and is returned"


def _final(run: Run) -> tuple[Vector, int]:
    """What the method would return, and the updates made; NaN where there was not even time to find a point."""
    if run.state is not None:
        return run.solver.solution(run.state), run.state.k
    try:
        with limited(0.0):  # only where that takes no work: the run has tried already
            return start_point(run.problem), 0
    except (OutOfTime, EmptySet):
        pass
    except ARITHMETIC as error:
        logger.debug("no start: %s", out_of_range(error))
    return np.full(run.problem.dim, np.nan), 0


def _put_aside(run: Run, ledger: Ledger) -> State | None:
    """The state with where the run stood before the last look, and what that look has shown beside it."""
    if run.state is None or run.origin is None:
        return None
    ledger = replace(ledger, shown=run.bounds.proved())
    return replace(run.state, origin=replace(run.origin, ledger=ledger))


def _look_again(run: Run, x: Vector, status: Status, detail: str) -> tuple[Status, str, Vector]:
    """Let the bounds see the final point, unless no time was left for an update; the point to return after."""
    if run.solver.works_on_data and (run.state is None or run.state.k == 0):
        return status, detail, x  # no oracle of such a method is called now
    run.sight.stationarity = None if run.problem.upper.convex else np.inf  # what was known belongs to another point
    try:
        run.sight.stationarity = run.bounds.observe(x, None if run.state is None else run.state.anchor)
        return status, detail, run.sight.feasible(x)
    except NonFiniteError as error:
        return Status.NONFINITE, f"{error}; this is the last complete state", x
    except ARITHMETIC as error:
        return Status.NONFINITE, f"{out_of_range(error)}; this is the last complete state", x
    except OutOfTime:
        logger.debug("no time for a last look at the bounds")
    return status, detail, x
