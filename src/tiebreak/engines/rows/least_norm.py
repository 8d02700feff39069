"""The point nearest to a center among the least-squares solutions over the whole space, by one decomposition.

With A the matrix, b the target, c the center and s a bound from below on the smallest nonzero singular value of A, let
x be any point, rho = A'(Ax - b), and x = c + A'w + e for any w. The solution x* has A'(Ax* - b) = 0 and is of the form
c + A'w*, so that for the step d = x - x*

    A'A d = rho,  |A d| <= |rho|/s,  |d| <= |A d|/s + |e|,
    f(x*) = f(x) - <w, A d> - <e, d> + |d|^2/2  is between  f(x) - <w, A d> - |e|^2/2
                                                    and  f(x) - <w, A d> + |e||d| + |d|^2/2,
    g(x*) = g(x) - |A d|^2/2.

Where A has full row rank, A d = Ax - b, which is known; else <w, A d> is at most |w||rho|/s in size. The point comes
from a complete orthogonal decomposition A = U T Z' (Householder, with column pivots), and is corrected by its residuals
in extended precision (Bjorck 1967).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Matrix, Vector
from ...numerics.deadline import affordable
from ...numerics.extended import EXTENDED, UNIT, Ext, ExtMatrix, dense, double, ext, sum_units
from ...numerics.rank import EPS, exact_rank, resolved
from ...objectives.base import Objective
from ...sets.base import Domain
from ..answer import Answer
from ..interrupt import check
from .level import Level, Square

CORRECTIONS = 6
MOST_ENTRIES = 8_000_000
"""Up to this many entries a matrix is decomposed as a dense one."""
BY_PRIME = "matrices have the rank that they have modulo a random prime of 31 bits, where rounding leaves it open"


def least_norm(levels: Sequence[Objective], domain: Domain) -> list[Answer] | None:
    """The answers of two levels, least squares and a squared distance; None where this is not the way.

    Examples
    --------
    >>> import tiebreak as tb
    >>> levels = [tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.SquaredNorm(dim=2)]
    >>> [round(answer.f_upper, 12) for answer in least_norm(levels, tb.Space(2))]
    [0.0, 0.25]
    >>> least_norm(levels, tb.Box(0, 1, dim=2))
    """
    task = _Task.of(levels, domain)
    if task is None:
        return None
    parts = _decomposed(task.A, task.squares[0].F)
    return None if parts is None else _answers(task, parts)


@dataclass(frozen=True)
class _Task:
    """Both levels, the square of the first and that of the second, which has no matrix."""

    g: Level
    f: Level
    squares: tuple[Square, Square]

    @classmethod
    def of(cls, levels: Sequence[Objective], domain: Domain) -> _Task | None:
        rows = domain.rows
        if len(levels) != 2 or rows is None or rows.A.shape[0] or domain.dim is None:
            return None
        if not (np.isinf(rows.lower).all() and np.isinf(rows.upper).all()):
            return None
        g, f = (Level.of(level.form, domain.dim) for level in levels)
        plain = all(len(one.squares) == 1 and not one.bends and not one.q.any() for one in (g, f))
        if not plain or f.squares[0].F is not None or g.squares[0].F is None or np.ndim(g.squares[0].scale):
            return None
        m, n = g.squares[0].F.shape
        fits = m * n <= MOST_ENTRIES and affordable(8.0 * m * n * min(m, n))
        return cls(g, f, (g.squares[0], f.squares[0])) if fits else None

    @property
    def A(self) -> Matrix:
        assert self.squares[0].F is not None
        return dense(self.squares[0].F.A)

    @property
    def b(self) -> Vector:
        target = self.squares[0].b
        return np.zeros(self.A.shape[0]) if target is None else target

    @property
    def center(self) -> Vector:
        target = self.squares[1].b
        return np.zeros(self.f.dim) if target is None else target


@dataclass(frozen=True)
class _Parts:
    """U T Z' with orthonormal columns of U and Z, and a bound from below on the least nonzero singular value."""

    U: Matrix
    T: Matrix
    Z: Matrix
    least: float
    by_prime: bool  # whether the rank is the one modulo a prime

    @property
    def rank(self) -> int:
        return len(self.T)

    def solve(self, v: Vector) -> Vector:
        """T^-1 v."""
        from scipy.linalg import solve_triangular

        found: Any = solve_triangular(self.T, v, lower=True, check_finite=False)
        return np.asarray(found)

    def solve_transposed(self, v: Vector) -> Vector:
        """T^-T v."""
        from scipy.linalg import solve_triangular

        found: Any = solve_triangular(self.T, v, lower=True, trans="T", check_finite=False)
        return np.asarray(found)


def _decomposed(A: Matrix, data: ExtMatrix | None) -> _Parts | None:
    """The decomposition; None where the rank of A hangs on rounding."""
    from scipy.linalg import qr

    check()
    m, n = A.shape
    Q, R, order = qr(A, mode="economic", pivoting=True, check_finite=False)
    size = np.abs(np.diag(R))
    rank = int(np.sum(size > 4 * resolved(size, A.shape)))
    if rank == 0:
        return None
    Zt, Tt = np.linalg.qr(R[:rank].T)
    Z = np.empty_like(Zt)
    Z[order] = Zt
    values = np.linalg.svd(Tt, compute_uv=False)
    least = float(values[-1]) - 8 * resolved(values, A.shape) - float(np.linalg.norm(R[rank:]))
    if not least > 0:
        return None
    full = rank == min(m, n)
    if not full and exact_rank(A) != rank:
        return None
    return _Parts(Q[:, :rank], np.ascontiguousarray(Tt.T), Z, least, not full)


def _answers(task: _Task, parts: _Parts) -> list[Answer]:
    A = task.squares[0].F
    assert A is not None
    x, w = _solved(task, parts, A)
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
    first = Answer(double(x), lower, upper, lower, upper, lower_unique=single, assumes=assumes)
    second = Answer(
        double(x), lower, upper, f_lower, (float(f.value) + above) * task.f.unit, lower_unique=single,
        upper_constant=single or None, notes=notes, assumes=assumes, moves=np.full(x.size, step),
    )  # fmt: skip
    return [first, second]


def _wide(parts: _Parts) -> str:
    return f"the smallest singular value that counts is {parts.least:.1e}: what rounding leaves is divided by it"


def _solved(task: _Task, parts: _Parts, A: ExtMatrix) -> tuple[Ext, Ext]:
    """x, and w with x near c + A'w, each by its residuals, as long as corrections get smaller."""
    U, Z = parts.U, parts.Z
    x, r = ext(task.center), ext(np.zeros(A.shape[0]))  # r is the residual b - Ax
    last = np.inf
    for _ in range(CORRECTIONS):
        check()
        short, slope = double(task.b - r - A.times(x)), double(-A.transpose_times(r))
        inside = U.T @ short - parts.solve_transposed(Z.T @ slope)
        change = Z @ parts.solve(inside)
        size = float(np.linalg.norm(change))
        if size > last / 2:
            break
        x, r, last = x + change, r + short - U @ inside, size
    w, last = ext(np.zeros(A.shape[0])), np.inf
    for _ in range(CORRECTIONS):
        check()
        change = U @ parts.solve_transposed(Z.T @ double(x - task.center - A.transpose_times(w)))
        size = float(np.linalg.norm(change))
        if size > last / 2:
            break
        w, last = w + change, size
    return x, w


def _length(v: Ext) -> float:
    """The Euclidean norm, rounded up."""
    return float(np.sqrt((v * v).sum())) * (1 + sum_units(v.size) * UNIT + 1e-15)
