"""The point nearest to a center among the least-squares solutions, where the domain does not bind: one decomposition.

With A the matrix, b the target, c the center and s a bound from below on the smallest nonzero singular value of A, let
x be any point, rho = A'(Ax - b), and x = c + A'w + e for any w. The solution x* has A'(Ax* - b) = 0 and is of the form
c + A'w*, so that for the step d = x - x*

    A'A d = rho,  |A d| <= |rho|/s,  |d| <= |A d|/s + |e|,
    f(x*) = f(x) - <w, A d> - <e, d> + |d|^2/2  is between  f(x) - <w, A d> - |e|^2/2
                                                    and  f(x) - <w, A d> + |e||d| + |d|^2/2,
    g(x*) = g(x) - |A d|^2/2.

Where A has full row rank, A d = Ax - b, which is known; else <w, A d> is at most |w||rho|/s in size. The point and s
come from a factorisation (``gram.py``, ``orthogonal.py``).

All this is about the whole space. Where the ball of radius |d| around x is inside a domain, x* is in there too: it
minimises g over the domain, as it does over the whole space, and f over fewer minimisers than all. Other minimisers
are near x*, if there are any, so that x* is the only one here just where it is the only one there. Levels after these
two have no say: they are what they are at x*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...arrays import UNIT_ROUNDOFF, Vector
from ...numerics.deadline import affordable
from ...numerics.extended import EXTENDED, UNIT, Ext, ExtMatrix, dense, double, sum_units
from ...numerics.rank import EPS
from ...objectives.base import Objective
from ...sets.base import Domain
from ...sets.rows import ByRows
from ..answer import Answer, Duals
from ..interrupt import check
from .gram import Gram
from .level import Level, Square
from .orthogonal import Orthogonal

MANY_COLUMNS = 1500
"""Tall matrices with more columns than this are left to methods that need no dense matrix of their columns."""
FEW = 48
"""Up to so many rows or columns an orthogonal decomposition costs no more than others."""
MOST_ENTRIES = 8_000_000
"""Up to this many entries a matrix is decomposed as a dense one."""
RIDGE = 1e-12
"""What is added to a Gram matrix that may be singular, beside its trace."""
ROUGH = 1e-3
"""How far a point that is found this way may be off, beside its length."""
SHARP = 1e-10
"""A bracket this narrow, relative to 1 + |f|, is kept over bounded sets."""
BY_PRIME = "matrices have the rank that they have modulo a random prime of 31 bits, where rounding leaves it open"


def least_norm(levels: Sequence[Objective], domain: Domain) -> list[Answer] | None:
    """The answers of a chain that begins with least squares and a squared distance; None where this is not the way.

    Examples
    --------
    >>> import tiebreak as tb
    >>> levels = [tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.SquaredNorm(dim=2)]
    >>> [round(answer.f_upper, 12) for answer in least_norm(levels, tb.Space(2))]
    [0.0, 0.25]
    >>> least_norm(levels, tb.Box(0, 1, dim=2))[-1].x
    array([0.5, 0.5])
    >>> least_norm(levels, tb.Box(0, 0.5, dim=2))
    """
    task = _Task.of(levels[:2], domain)
    factors = None if task is None else _factors(task)
    if task is None or factors is None or not task.holds(factors.rough(task.A, task.b, task.center), 0.0):
        return None
    answers = _answers(task, factors, levels[2:])
    return answers if answers is None or task.open or all(is_sharp(answer) for answer in answers) else None


def is_sharp(answer: Answer) -> bool:
    """Whether no other way would know more: nearly dependent data are better served by a face, where there is one."""
    return answer.f_upper - answer.f_lower <= SHARP * (1 + abs(answer.f_lower))


Factors = Gram | Orthogonal


def _factors(task: _Task) -> Factors | None:
    """The cheapest that will do; None where the rank hangs on rounding, or it would take long."""
    check()
    A, (m, n) = task.A, task.A.shape
    if min(m, n) > FEW and (m <= n or n <= MANY_COLUMNS):
        found = Gram.of(A.A, A.A.nnz if A.sparse else m * n)
        if found is not None:
            return found
    fits = m * n <= MOST_ENTRIES and affordable(8.0 * m * n * min(m, n))
    return Orthogonal.of(dense(A.A)) if fits and (task.open or _may_hold(task)) else None


def _may_hold(task: _Task) -> bool:
    """Whether the solution of the nearest problem of full rank is in the domain: that is no proof, but soon known."""
    A, (m, n) = dense(task.A.A), task.A.shape
    if min(m, n) <= FEW:
        return True
    K = A @ A.T if m <= n else A.T @ A
    K[np.diag_indices(len(K))] += RIDGE * float(np.trace(K)) + np.finfo(float).tiny
    short = task.b - A @ task.center
    step = A.T @ np.linalg.solve(K, short) if m <= n else np.linalg.solve(K, A.T @ short)
    return task.holds(np.asarray(task.center + step), -ROUGH * float(np.linalg.norm(step)))


@dataclass(frozen=True)
class _Task:
    """Both levels, the square of the first and that of the second, which has no matrix, and the rows of the domain."""

    g: Level
    f: Level
    squares: tuple[Square, Square]
    A: ExtMatrix
    rows: ByRows

    @classmethod
    def of(cls, levels: Sequence[Objective], domain: Domain) -> _Task | None:
        rows = domain.rows
        if len(levels) != 2 or rows is None or domain.dim is None:
            return None
        if rows.limits_sizes or not (rows.low < rows.high).all() or not (rows.lower < rows.upper).all():
            return None
        forms = [level.form for level in levels]
        if any(form is None or len(form.losses) != 1 or form.bends or form.linear for form in forms):
            return None
        g, f = (Level.of(form, domain.dim) for form in forms)
        A = g.squares[0].F
        if f.squares[0].F is not None or A is None or np.ndim(g.squares[0].scale):
            return None
        return cls(g, f, (g.squares[0], f.squares[0]), A, rows)

    @cached_property
    def b(self) -> Vector:
        target = self.squares[0].b
        return np.zeros(self.A.shape[0]) if target is None else target

    @cached_property
    def center(self) -> Vector:
        target = self.squares[1].b
        return np.zeros(self.f.dim) if target is None else target

    @cached_property
    def open(self) -> bool:
        """Whether the domain is the whole space."""
        bounded = np.isfinite(self.rows.lower).any() or np.isfinite(self.rows.upper).any()
        return not (bounded or self.rows.A.shape[0])

    def holds(self, x: Vector, radius: float) -> bool:
        """Whether the ball around x is inside the domain."""
        if self.open:
            return True
        rows, far = self.rows, radius + 4 * UNIT_ROUNDOFF * np.abs(x)
        if not ((x - far > rows.lower).all() and (x + far < rows.upper).all()):
            return False
        if not rows.A.shape[0]:
            return True
        activity, size = np.asarray(rows.A @ x), abs(rows.A)
        lengths = np.sqrt(np.asarray((size * size) @ np.ones(x.size)))
        terms = np.diff(rows.A.indptr) + 4
        far = radius * lengths * (1 + terms * UNIT_ROUNDOFF)
        far = far + terms * UNIT_ROUNDOFF * (np.asarray(size @ np.abs(x)) + np.abs(activity))
        return bool((activity - far > rows.low).all() and (activity + far < rows.high).all())


def _answers(task: _Task, parts: Factors, later: Sequence[Objective]) -> list[Answer] | None:
    """What the factors prove; None where that does not show the solution to be inside the domain."""
    A = task.A
    x, w = parts.solved(A, task.b, task.center)
    g, f = task.g.at(x), task.f.at(x)
    away, residual = x - task.center, A.times(x) - task.b
    e = away - A.transpose_times(w)
    lost = _length(e) + float(np.linalg.norm(A.transpose_times_error(w) + 4 * UNIT * np.abs(double(away))))
    scale = float(task.squares[0].scale)
    rho = (_length(g.grad) + float(np.linalg.norm(g.grad_error))) / scale * (1 + 1e-14)
    image = rho / parts.least * (1 + 1e-14)
    falls, along = 0.0, _length(w) * image * (1 + 1e-14)
    if parts.rank == len(residual):
        error = A.times_error(x) + UNIT * np.abs(double(residual))
        image = min(image, _length(residual) + float(np.linalg.norm(error)))
        falls = float((w * residual).sum())
        along = float(np.abs(double(w)) @ (error + 2 * sum_units(len(w)) * UNIT * np.abs(double(residual)))) * (
            1 + 1e-14
        )
    step = image / parts.least * (1 + 1e-14) + lost
    if not task.holds(double(x), step * (1 + 1e-12)):
        return None
    own = float(task.squares[1].scale)
    rounding = f.value_error + EPS * (abs(float(f.value)) + own * abs(falls))
    below = own * (falls + (along + lost**2 / 2) * (1 + 1e-12)) + rounding
    above = own * (-falls + (along + lost * step + step**2 / 2) * (1 + 1e-12)) + rounding
    off = scale * image**2 / 2 * (1 + 1e-12)
    g_off = g.value_error + EPS * abs(float(g.value))
    lower = max(float(g.value) - off - g_off, task.g.lower_bound) * task.g.unit
    upper = (float(g.value) + g_off) * task.g.unit
    f_lower = max(float(f.value) - below, task.f.lower_bound) * task.f.unit
    single = parts.rank == x.size
    notes = () if below + above <= 1e-6 * (1 + abs(float(f.value))) else (_wide(parts),)
    assumes = (EXTENDED, *((BY_PRIME,) if parts.by_prime else ()))
    free = Duals(np.zeros(task.rows.low.size), np.zeros(x.size))  # the solution is inside
    first = Answer(
        double(x), lower, upper, lower, upper, lower_unique=single, assumes=assumes, own_duals=free
    )  # fmt: skip
    second = Answer(
        double(x), lower, upper, f_lower, (float(f.value) + above) * task.f.unit, lower_unique=single,
        upper_constant=single or None, notes=notes, assumes=assumes, moves=np.full(x.size, step),
        own_duals=free,
    )  # fmt: skip
    answers = [first, second]
    for objective in later:
        assert objective.form is not None  # ``rows_apply`` has seen to it
        answers.append(_settled(Level.of(objective.form, x.size), x, step, answers[-1]))
    return answers


def _settled(level: Level, x: Ext, step: float, before: Answer) -> Answer:
    """The answer to a level over a single point, which is no further than ``step`` from x."""
    here = level.at(x)
    slope = _length(here.grad) + float(np.linalg.norm(here.grad_error))
    value, rounding = float(here.value), here.value_error + EPS * abs(float(here.value))
    fall = slope * step * (1 + 1e-12)
    rise = fall + level.bend(x, np.full(x.size, step)) / 2
    return replace(
        before,
        g_lower=before.f_lower,
        g_upper=before.f_upper,
        f_lower=max(value - fall - rounding, level.lower_bound) * level.unit,
        f_upper=(value + rise + rounding) * level.unit,
        lower_unique=True,
        upper_constant=True,
    )


def _wide(parts: Factors) -> str:
    return f"the smallest singular value that counts is {parts.least:.1e}: what rounding leaves is divided by it"


def _length(v: Ext) -> float:
    """The Euclidean norm, rounded up."""
    return float(np.sqrt((v * v).sum())) * (1 + sum_units(v.size) * UNIT + 1e-15)
