"""Chains of objectives: each is minimised over the minimisers of all before it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import Vector, as_positive
from .exact import why_not_exact
from .objectives import Objective
from .problem import Problem
from .sets import Domain
from .solve import solve


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
    """

    x: Vector
    levels: tuple[Level, ...]
    success: bool
    message: str
    unique: bool | None
    time: float
    well_posed: bool = True
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        rows = [
            f"  level {i + 1}  {level.value:.10g}   optimum in [{level.lower:.10g}, {level.upper:.10g}]"
            for i, level in enumerate(self.levels)
        ]
        x = np.array2string(self.x, precision=6, threshold=8, edgeitems=3)
        rows += [f"  x        {x}", *(f"  note     {note}" for note in self.notes)]
        return "\n".join([f"Chain (success: {self.success}, {self.time:.3g} s)", *rows])


def lexicographic(levels: Sequence[Objective], domain: Domain, *, tol: float = 1e-6) -> Chain:
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
        Success means that each level is proved to be within this of optimal, relative to 1 + its size.

    Examples
    --------
    Serve all demand, then as cheaply as possible, then as evenly as possible:

    >>> import tiebreak as tb
    >>> served, cost, spread = tb.Linear([-1.0, -1.0, -1.0]), tb.Linear([1.0, 1.0, 2.0]), tb.SquaredNorm(dim=3)
    >>> supply = tb.Polyhedron(A_ub=[[1.0, 1.0, 1.0]], b_ub=[2.0], bounds=(0, 2))
    >>> tb.lexicographic([served, cost, spread], supply).x
    array([1., 1., 0.])
    """
    from .exact.lifted import Lift, why_not_lifted
    from .exact.rows import rows_apply, solve_rows

    tol = as_positive(tol, "tol")
    levels = list(levels)
    if not levels or not all(isinstance(level, Objective) for level in levels):
        raise TypeError("levels must be one objective or more, such as tiebreak.Linear(c)")
    started = time.perf_counter()
    domain = _sized(domain, levels)
    plain, where, lift = levels, domain, None
    why_not = rows_apply(levels, domain)
    two = len(levels) == 2 and not why_not_exact(Problem(levels[1], levels[0], domain))
    by_columns = two and all(level.differentiable for level in levels)
    if why_not and not by_columns and not (why_not := why_not_lifted(levels, domain, chain=True)):
        lift = Lift.of(levels, domain, chain=True)
        plain, where = list(lift.levels), lift.domain
        why_not = rows_apply(plain, where)
    if not why_not:
        answers = solve_rows(plain, where)
        x = answers[-1].x if lift is None else lift.point(answers[-1].x)
        brackets = [(answer.f_lower, answer.f_upper) for answer in answers]
        notes, unique = answers[-1].notes, None
        said = notes
        well_posed = all(answer.well_posed for answer in answers)
    elif two:
        result = solve(Problem(levels[1], levels[0], domain), "exact")
        c = result.certificate
        x, brackets = result.x, [(c.g_lower, c.g_upper), (c.f_lower, c.f_upper)]
        notes, unique, well_posed = result.notes, True if c.lower_unique else None, c.well_posed
        said = (result.message,)
    else:
        raise ValueError(f"this chain has no exact method: {why_not}; two levels can be given to solve as a Problem")
    reports = tuple(
        Level(objective.value(x), low, high) for objective, (low, high) in zip(levels, brackets, strict=True)
    )
    proved = [report.gap <= tol * (1 + abs(report.value)) for report in reports]
    doubtful = [str(i + 1) for i, fine in enumerate(proved) if not fine]
    verdict = "Every level is proved optimal" if all(proved) else f"Not proved optimal: level {', '.join(doubtful)}"
    message = "; ".join([verdict, *said]) + "."
    took = time.perf_counter() - started
    return Chain(x, reports, all(proved), message, unique, took, well_posed, tuple(dict.fromkeys(notes)))


def _sized(domain: Domain, levels: Sequence[Objective]) -> Domain:
    """The domain with the number of variables that the levels tell."""
    dims = {level.dim for level in levels if level.dim} | ({domain.dim} if domain.dim else set())
    if len(dims) != 1:
        raise ValueError(f"levels and domain must have one number of variables, got {sorted(dims)}")
    return domain.with_dim(dims.pop())
