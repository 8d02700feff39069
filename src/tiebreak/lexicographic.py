"""Chains of objectives: each is minimised over the minimisers of all before it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .arrays import Vector, as_positive
from .deadline import OutOfTime, limited
from .exact import why_not_exact
from .exact.answer import Answer
from .exact.interrupt import levels_kept
from .objectives import Objective
from .problem import Problem
from .result import Status
from .sets import Domain
from .solve import OnInterrupt, returns_interrupted, solve

if TYPE_CHECKING:
    from .verify import Verification


@dataclass(frozen=True)
class Level:
    """One level of a chain: its value at x, and the bracket of its optimal value given the levels before it."""

    value: float
    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """At least value minus the optimal value."""
        return self.value - self.lower


@dataclass(frozen=True)
class Chain:
    """The outcome of ``lexicographic``.

    Attributes
    ----------
    x : array
        The point.
    levels : tuple of Level
        The most important first.
    success : bool
        Whether every level is proved optimal to the tolerance.
    message : str
        In words, with what decided.
    unique : bool or None
        Whether the chain determines x; None where that is not known.
    time : float
        Seconds.
    well_posed : bool
        False where a decision on a rank, a face or a tie hangs on rounding.
    notes : tuple of str
        What else one should know, such as which decision that was.
    tol : float
        The tolerance that ``success`` is about.
    """

    x: Vector
    levels: tuple[Level, ...]
    success: bool
    message: str
    unique: bool | None
    time: float
    well_posed: bool = True
    notes: tuple[str, ...] = ()
    tol: float = np.inf

    def verify(self, levels: Sequence[Objective], domain: Domain) -> Verification:
        """Recompute everything from x alone, by other code, and compare."""
        from .verify import verify_chain

        return verify_chain(levels, _sized(domain, levels), self)

    def __repr__(self) -> str:
        rows = [
            f"  level {i + 1}  {level.value:.10g}   optimum in [{level.lower:.10g}, {level.upper:.10g}]"
            for i, level in enumerate(self.levels)
        ]
        x = np.array2string(self.x, precision=6, threshold=8, edgeitems=3)
        rows += [f"  x        {x}", *(f"  note     {note}" for note in self.notes)]
        return "\n".join([f"Chain (success: {self.success}, {self.time:.3g} s)", *rows])


class _Found(NamedTuple):
    """What an engine has found: the point, a bracket for each level, and what there is to say."""

    x: Vector
    brackets: list[tuple[float, float]]
    notes: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    unique: bool | None = None
    well_posed: bool = True
    interrupt: KeyboardInterrupt | None = None


def lexicographic(
    levels: Sequence[Objective],
    domain: Domain,
    *,
    tol: float = 1e-6,
    max_time: float | None = 60.0,
    on_interrupt: OnInterrupt = "auto",
) -> Chain:
    """Minimise the first objective over the domain, the second over its minimisers, the third over theirs, and so on.

    Parameters
    ----------
    levels : sequence of objectives
        The most important first: any number of linear, quadratic and least-squares levels, with l1 norms or without,
        over Polyhedron, Box, Simplex, L1Ball, KSparse, Birkhoff and products of these; two levels, also over what
        else ``solve`` takes for an exact method.
    domain : set
        Where.
    tol : float
        Success means that each level is proved to be within this of optimal, relative to 1 + its size, and that none is
        known to be below its optimum by more.
    max_time : float or None
        Most seconds; None for no limit. When they are over, x solves the levels that were finished by then.
    on_interrupt : {"auto", "return", "raise"}
        What Ctrl-C does, as in ``solve``.

    Examples
    --------
    Serve all demand, then as cheaply as possible, then as evenly as possible:

    >>> import tiebreak as tb
    >>> served, cost, spread = tb.Linear([-1.0, -1.0, -1.0]), tb.Linear([1.0, 1.0, 2.0]), tb.SquaredNorm(dim=3)
    >>> supply = tb.Polyhedron(A_ub=[[1.0, 1.0, 1.0]], b_ub=[2.0], bounds=(0, 2))
    >>> tb.lexicographic([served, cost, spread], supply).x
    array([1., 1., 0.])
    """
    tol = as_positive(tol, "tol")
    limit = np.inf if max_time is None else as_positive(max_time, "max_time")
    returns = returns_interrupted(on_interrupt)
    if not isinstance(domain, Domain):
        raise TypeError(f"domain must be a set such as tiebreak.Polyhedron, got {type(domain).__name__}")
    levels = list(levels) if np.iterable(levels) else []
    if not levels or not all(isinstance(level, Objective) for level in levels):
        raise TypeError("levels must be one objective or more, such as tiebreak.Linear(c)")
    started = time.perf_counter()
    domain = _sized(domain, levels)
    try:
        with limited(limit):
            found = _found(levels, domain, max_time)
    except OutOfTime as stop:
        found = _unfinished(levels, domain, stop, f"the limit of {limit:g} s was reached")
    except KeyboardInterrupt as stop:
        found = _unfinished(levels, domain, stop, "interrupted")._replace(interrupt=stop)
    known = bool(np.isfinite(found.x).all())
    reports = tuple(
        Level(objective.value(found.x) if known else np.nan, low, high)
        for objective, (low, high) in zip(levels, found.brackets, strict=True)
    )
    proved = [abs(report.gap) <= tol * (1 + abs(report.value)) for report in reports]
    doubtful = [str(i + 1) for i, fine in enumerate(proved) if not fine]
    verdict = "Every level is proved optimal" if all(proved) else f"Not proved optimal: level {', '.join(doubtful)}"
    message = "; ".join([verdict, *found.said]) + "."
    took, notes = time.perf_counter() - started, tuple(dict.fromkeys(found.notes))
    chain = Chain(found.x, reports, all(proved), message, found.unique, took, found.well_posed, notes, tol)
    if found.interrupt is not None and not returns:
        found.interrupt.result = chain  # type: ignore[attr-defined]
        raise found.interrupt
    return chain


def _found(levels: list[Objective], domain: Domain, max_time: float | None) -> _Found:
    """The chain by the engine that takes it."""
    from .exact.lifted import Lift, why_not_lifted
    from .exact.rows import rows_apply

    why_not = rows_apply(levels, domain)
    two = len(levels) == 2 and not why_not_exact(Problem(levels[1], levels[0], domain))
    by_columns = two and all(level.differentiable for level in levels)
    if not why_not:
        return _by_rows(levels, domain)
    if not by_columns and not (why_not := why_not_lifted(levels, domain, chain=True)):
        lift = Lift.of(levels, domain, chain=True)
        if not (why_not := rows_apply(lift.levels, lift.domain)):
            return _by_rows(lift.levels, lift.domain, lift.point)
    if two:
        return _by_solve(levels, domain, max_time)
    raise ValueError(f"this chain has no exact method: {why_not}; two levels can be given to solve as a Problem")


def _by_rows(levels: Sequence[Objective], domain: Domain, point: Callable[[Vector], Vector] = lambda x: x) -> _Found:
    from .exact.rows import solve_rows

    def found(answers: Sequence[Answer]) -> _Found:
        brackets = [(answer.f_lower, answer.f_upper) for answer in answers]
        notes = answers[-1].notes
        well_posed = all(answer.well_posed for answer in answers)
        return _Found(point(answers[-1].x), brackets, notes, notes, None, well_posed)

    try:
        return found(solve_rows(levels, domain))
    except (OutOfTime, KeyboardInterrupt) as stop:
        if finished := levels_kept(stop):
            stop.found = found(finished)  # type: ignore[union-attr]
        raise


def _by_solve(levels: list[Objective], domain: Domain, max_time: float | None) -> _Found:
    result = solve(Problem(levels[1], levels[0], domain), "exact", max_time=max_time, on_interrupt="return")
    c = result.certificate
    return _Found(
        result.x,
        [(c.g_lower, c.g_upper), (c.f_lower, c.f_upper)],
        result.notes,
        (result.message,),
        True if c.lower_unique else None,
        c.well_posed,
        KeyboardInterrupt() if result.status is Status.INTERRUPTED else None,
    )


def _unfinished(levels: list[Objective], domain: Domain, stop: BaseException, why: str) -> _Found:
    """What the levels that were finished have left; without any, some point of the domain, or NaN."""
    found = getattr(stop, "found", None)
    if not isinstance(found, _Found):
        try:
            with limited(0.0):  # only where that takes no work
                x = domain.lmo(np.zeros(domain.dim or 0))
        except OutOfTime:
            x = np.full(domain.dim or 0, np.nan)
        found = _Found(x, [], well_posed=False)
    more = [(level.lower_bound, np.inf) for level in levels[len(found.brackets) :]]
    return found._replace(brackets=found.brackets + more, said=(*found.said, why), unique=None)


def _sized(domain: Domain, levels: Sequence[Objective]) -> Domain:
    """The domain with the number of variables that the levels tell."""
    dims = {level.dim for level in levels if level.dim} | ({domain.dim} if domain.dim else set())
    if len(dims) != 1:
        raise ValueError(f"levels and domain must have one number of variables, got {sorted(dims)}")
    return domain.with_dim(dims.pop())
