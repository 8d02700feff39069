"""Chains of linear and quadratic levels over a polyhedron with rows, solved face by face.

Each level is minimised over the minimisers of those before it, which are never described by a bound on a value: a
linear level fixes the columns and rows with a nonzero multiplier, a quadratic one also the image P x. Later levels
are solved for the step d from the point reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ...arrays import Vector
from ...numerics.extended import double
from ...numerics.failures import LinearProgramError
from ...objectives.base import Objective
from ...sets.base import Domain
from ..answer import Answer, Duals, Elsewhere, Unbounded
from ..interrupt import OutOfTime, keeping, keeping_levels
from ..standing import BY_ROWS
from .chain import Chain
from .face import Face, Record, is_elsewhere
from .least_norm import is_sharp, least_norm
from .level import Level

ASSUMES = BY_ROWS


class Kinds(NamedTuple):
    """What a chain is made of: the chain itself, and how the k-th of its levels is made, see ``Level.of``."""

    chain: type[Chain]
    level: Callable[[Sequence[Objective], int, int, float, Vector], Level]


def _level(levels: Sequence[Objective], k: int, dim: int, length: float, sizes: Vector) -> Level:
    return Level.of(levels[k].form, dim, length, sizes)


QUADRATIC = Kinds(Chain, _level)


MOST_TWICE = 10_000
"""Entries: larger problems that have an answer are not solved once more for a narrower bracket."""
PARTS = 3
"""So many parts of an unbounded set are tried before it is assumed that the last one holds a solution."""


def solve_rows(
    levels: Sequence[Objective], domain: Domain, *, tol: float = 1e-10, kinds: Kinds = QUADRATIC
) -> list[Answer]:
    """Minimise each level over the minimisers of those before it, the first being the most important.

    Parameters
    ----------
    levels : sequence of objectives
        Linear, SquaredNorm, convex Quadratic, LeastSquares, their sums and positive multiples: what ``rows_apply`` has
        passed, which is not asked again.
    domain : set with rows that mention no absolute values, as Polyhedron, Box, Simplex, Birkhoff and products of these
        The set of the first level.
    tol : float
        The relative width of a level's bracket with which a solver's answer is accepted at once.
    kinds : Kinds
        Of levels and chains: quadratic ones, unless an engine has more of them.

    Returns
    -------
    list of Answer
        One a level. Its f is that level and its g the level before (for the first level, itself).

    Examples
    --------
    The point nearest to the origin among those of a triangle with the least x[0] + x[1]:

    >>> import tiebreak as tb
    >>> from tiebreak.engines.rows.solve import solve_rows
    >>> triangle = tb.Polyhedron(A_ub=[[-1.0, -1.0]], b_ub=[-1.0], bounds=(0, 1))
    >>> answers = solve_rows([tb.Linear([1.0, 1.0]), tb.SquaredNorm()], triangle)
    >>> answers[-1].x, answers[-1].lower_unique
    (array([0.5, 0.5]), False)
    """
    dims = {level.dim for level in levels if level.dim} | ({domain.dim} if domain.dim else set())
    if len(dims) != 1:
        raise ValueError(f"levels and domain must have one number of variables, got {sorted(dims)}")
    domain = domain.with_dim(dims.pop())
    if kinds is QUADRATIC and (nearest := least_norm(levels, domain)) is not None:
        return nearest if all(map(is_sharp, nearest)) else _narrower(nearest, levels, domain, tol)
    return _by_faces(levels, domain, tol, kinds)


def _narrower(known: list[Answer], levels: Sequence[Objective], domain: Domain, tol: float) -> list[Answer]:
    """What a decomposition knows, or what the faces know: of nearly dependent data mostly more, for a longer wait."""
    form = levels[0].form
    data = None if form is None else form.losses[0].data
    if data is None or data.shape[0] * data.shape[1] > MOST_TWICE:
        return known
    try:
        found = _by_faces(levels, domain, tol, QUADRATIC)
    except (Elsewhere, OutOfTime, Unbounded, LinearProgramError, ArithmeticError, np.linalg.LinAlgError):
        return known
    return found if found[-1].width < known[-1].width else known


def _by_faces(levels: Sequence[Objective], domain: Domain, tol: float, kinds: Kinds) -> list[Answer]:
    try:
        loose, ambiguous = _solve_in_good_units(levels, domain, tol, False, kinds)
    except Unbounded as stop:
        raise _after_the_levels_before(levels, domain, tol, kinds, stop) from None
    if ambiguous is None:
        return loose
    try:
        sharp, _ = _solve_in_good_units(levels, domain, tol, True, kinds)
        joined = [_joined(*pair) for pair in zip(loose, sharp, strict=True)]
    except LinearProgramError:  # rounding of the data has left no such face: the loose one holds the true one
        joined = [_from_below(answer) if k >= ambiguous else answer for k, answer in enumerate(loose)]
    for k in range(ambiguous + 1, len(joined)):
        before = joined[k - 1]
        f_lower = levels[k].lower_bound
        joined[k] = replace(joined[k], g_lower=before.f_lower, g_upper=before.f_upper, f_lower=f_lower, f_upper=np.inf)
    return joined


def _after_the_levels_before(
    levels: Sequence[Objective], domain: Domain, tol: float, kinds: Kinds, stop: Unbounded
) -> Unbounded:
    """The same, with the answers of the levels before the one that is not bounded."""
    if not stop.level:
        return Unbounded(0, stop.ray, domain.polyhedral.point, for_ever=stop.for_ever)
    before = solve_rows(levels[: stop.level], domain, tol=tol, kinds=kinds)
    return Unbounded(stop.level, stop.ray, before[-1].x, tuple(before), stop.for_ever)


def _joined(a: Answer, b: Answer) -> Answer:
    """What holds with and without a tie that is within rounding of the data, at the point of the data as given.

    The true face of the level in question lies between the loose one, where none of its small multipliers counts, and
    the sharp one, where all do; so the next optimal value is between those on both. Of the levels after that one
    nothing is known: their faces are not between two others.
    """
    return replace(
        b,
        g_lower=min(a.g_lower, b.g_lower),
        g_upper=max(a.g_upper, b.g_upper),
        f_lower=min(a.f_lower, b.f_lower),
        f_upper=max(a.f_upper, b.f_upper),
        lower_unique=a.lower_unique if a.lower_unique == b.lower_unique else None,
        upper_constant=a.upper_constant if a.upper_constant == b.upper_constant else None,
        well_posed=False,
        notes=tuple(dict.fromkeys(a.notes + b.notes)),
        steps=a.steps + b.steps,
    )


def _from_below(answer: Answer) -> Answer:
    """What a face that holds the true one says of a level."""
    notes = (*answer.notes, "with every multiplier that rounding of the data explains the face is empty")
    return replace(
        answer, f_upper=np.inf, lower_unique=None, upper_constant=None, well_posed=False, notes=notes, moves=None
    )


def _unfinished(before: Answer, objective: Objective) -> Answer:
    """What is known while the level after ``before`` is being solved."""
    notes = (*before.notes, "stopped before the last level was solved")
    low, high = before.f_lower, before.f_upper
    return Answer(before.x, low, high, objective.lower_bound, np.inf, well_posed=False, notes=notes, assumes=ASSUMES)


FALLS = "a linear level may fall for ever: so says HiGHS, to its tolerances, but there is no ray to show it"


def _given_up(before: Answer, levels: Sequence[Objective], note: str) -> list[Answer]:
    """Where HiGHS does not solve a level, or says without anything to show it that it has no minimum."""
    low, high, answers = before.f_lower, before.f_upper, []
    for level in levels:
        notes = (*before.notes, note)
        known = replace(before, g_lower=low, g_upper=high, f_lower=level.lower_bound, f_upper=np.inf, moves=None)
        answers.append(replace(known, well_posed=False, lower_unique=None, upper_constant=None, notes=notes))
        low, high = level.lower_bound, np.inf
    return answers


def _solve_in_good_units(
    levels: Sequence[Objective], domain: Domain, tol: float, sharp: bool, kinds: Kinds
) -> tuple[list[Answer], int | None]:
    """``_solve``, and again from its point and in units of its size where that differs and a bracket is wide."""
    found = _solve(levels, domain, tol, sharp, kinds)
    x = found.answers[-1].x
    if _width(found.answers) > tol and is_elsewhere(levels, domain, x):
        again = _solve(levels, domain, tol, sharp, kinds, x)
        found = again if _width(again.answers) < _width(found.answers) else found
    if found.face.cut is None:
        return found.answers, found.ambiguous
    return _over_the_whole(levels, domain, tol, sharp, kinds, found)


def _over_the_whole(
    levels: Sequence[Objective], domain: Domain, tol: float, sharp: bool, kinds: Kinds, found: Solution
) -> tuple[list[Answer], int | None]:
    """The answers over a part of an unbounded set, as answers over all of it: see ``open_box``.

    A larger part costs digits: where it is only by those that a proof is bought, the assumption is the better answer.
    """
    from .whole import assumption, judged, known_well, well_inside

    first = found
    for _ in range(PARTS):
        verdict = judged(found.face)
        if verdict.shown and _width(found.answers) <= max(tol, 64 * _width(first.answers)):
            return found.answers, found.ambiguous
        if verdict.part is None:
            break
        part = (verdict.part[0] * found.length, verdict.part[1] * found.length)
        found = _solve(levels, domain, tol, sharp, kinds, found.answers[-1].x, part)
        first = first if well_inside(first.face, first.answers[-1].x / first.length) else found
    if not known_well(first.face) or len(first.face.records) < len(levels):
        return _nowhere(levels, first.answers), first.ambiguous
    assumed = assumption(first.face, first.length)
    return [replace(one, assumes=(*one.assumes, assumed)) for one in first.answers], first.ambiguous


def _nowhere(levels: Sequence[Objective], answers: list[Answer]) -> list[Answer]:
    """Where neither is shown where in an unbounded set the solutions are, nor are the levels known well: no brackets.

    What the point attains still bounds the first level from above.
    """
    note = "nothing shows where in the unbounded domain the solutions are: they may be far away"
    found: list[Answer] = []
    for level, answer in zip(levels, answers, strict=True):
        low, high = level.lower_bound, np.inf if found else answer.f_upper
        g_low, g_high = (found[-1].f_lower, found[-1].f_upper) if found else (low, high)
        known = replace(answer, g_lower=g_low, g_upper=g_high, f_lower=low, f_upper=high, notes=(*answer.notes, note))
        found.append(replace(known, well_posed=False, lower_unique=None, upper_constant=None, moves=None))
    return found


def _width(answers: list[Answer]) -> float:
    return max(answer.width for answer in answers)


def _duals(record: Record, unit: float) -> Duals:
    """The multipliers of a level, in the units of the values for each unit of the rows."""
    return Duals(double(record.y) * unit, double(record.z) * unit)


class Solution(NamedTuple):
    """The answers, the face that is left, in which unit of length, and after how many of the answers another choice of
    what counts as nonzero might change the rest."""

    answers: list[Answer]
    face: Face
    length: float
    ambiguous: int | None


def _solve(
    levels: Sequence[Objective],
    domain: Domain,
    tol: float,
    sharp: bool,
    kinds: Kinds,
    point: Vector | None = None,
    part: tuple[Vector, Vector] | None = None,
) -> Solution:
    """Level by level, from a point that was found before if there is one; over this part of an unbounded set."""
    face, length = Face.of(domain, levels, point, part)
    chain = kinds.chain(face, tol, sharp)
    answers: list[Answer] = []
    unit_before = 1.0
    for k, objective in enumerate(levels):
        level = kinds.level(levels, k, face.x.size, length, np.maximum(face.scale, np.abs(double(face.x))))
        before = answers[-1] if answers else None
        # over a part of an unbounded set nothing is proved before it is judged
        safe = answers if face.cut is None else _nowhere(levels[:k], answers)
        on_stop = keeping(partial(_unfinished, safe[-1], objective)) if safe else nullcontext()
        try:
            with on_stop, keeping_levels(safe):
                own, unique, constant, moves = chain.solve(level, last=0 < k == len(levels) - 1)
        except LinearProgramError as why:
            if face.cut is None and sharp:
                raise
            low = objective.lower_bound
            known = before or Answer(double(face.x) * length, low, np.inf, low, np.inf, assumes=ASSUMES)
            answers += _given_up(known, levels[k:], FALLS if face.cut is not None else str(why))
            answers[0] = replace(answers[0], lower_unique=None)
            return Solution(answers, face, length, None)
        answers.append(
            Answer(
                x=double(face.x) * length,
                g_lower=before.f_lower if before else own.lower * level.unit,
                g_upper=before.f_upper if before else own.upper * level.unit,
                f_lower=own.lower * level.unit,
                f_upper=own.upper * level.unit,
                multiplier=float(own.prices[-1]) * level.unit / unit_before if before else 0.0,
                lower_unique=unique,
                upper_constant=constant,
                well_posed=chain.well_posed,
                notes=tuple(dict.fromkeys(chain.notes)),
                assumes=(*ASSUMES, *chain.assumes),
                steps=chain.steps,
                moves=None if moves is None else moves * length,
                own_duals=_duals(face.records[-1], level.unit / length),
            )
        )
        unit_before = level.unit
    if len(answers) == 1:
        chain.settle()
    own_unique = chain.told(face.x) if len(answers) == 1 else answers[1].lower_unique
    answers[0] = replace(answers[0], lower_unique=own_unique)
    return Solution(answers, face, length, chain.ambiguous)
