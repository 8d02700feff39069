"""Products, updates and factors of the leading parts of small matrices, and prices: what the column engine is made of.

Each has a compiled twin in ``kernels/dense.py`` or ``kernels/sweep.py``; the
loops that call them are written once (see ``compiled_loops``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgeqrf, dorgqr, dpotrf, dpotrs, dtrtri, dtrtrs

from ..arrays import Vector, length

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

WELL = 1e3  # a condition below this is good


def dots(M: Array, x: Vector, rows: int) -> Vector:
    """M x for the first rows of M, and as many of its columns as x has entries."""
    return np.asarray(M[:rows, : x.size] @ x)


def mix(x: Vector, M: Array, columns: int) -> Vector:
    """x M for the first columns of M, and as many of its rows as x has entries."""
    return np.asarray(x @ M[: x.size, :columns])


def rank_one(M: Array, a: Vector, b: Vector) -> None:
    """Subtract a b' from the leading part of M."""
    M[: a.size, : b.size] -= a[:, None] * b


def factorise(H: Array, L: Array, done: int, q: int, ridge: float) -> bool:
    """Rows done .. q of the Cholesky factor of H + ridge; False if that is not positive definite."""
    corner = H[done:q, done:q].copy()
    corner.flat[:: q - done + 1] += ridge
    if done:
        across = dtrtrs(L[:done, :done], H[:done, done:q], lower=1)[0]
        corner -= across.T @ across
        L[done:q, :done] = across.T
    factor, info = dpotrf(corner, lower=1)
    L[done:q, done:q] = factor
    return bool(info == 0)


def solve_factored(L: Array, x: Vector) -> Vector:
    """(L L')^-1 x."""
    return np.asarray(dpotrs(L[: x.size, : x.size], x, lower=1)[0])


def put(M: Array, i: int, x: Vector) -> None:
    """Let row i of M begin with x."""
    M[i, : x.size] = x


def put_column(M: Array, j: int, x: Vector) -> None:
    """Let column j of M begin with x."""
    M[: x.size, j] = x


def gather(x: Vector, index: Numbers, count: int) -> Vector:
    """The entries of x at the first places of ``index``."""
    return np.asarray(x[index[:count]])


def scatter(x: Vector, index: Numbers, values: Vector, factor: float) -> None:
    """Put values times a factor at the first places of ``index``."""
    x[index[: values.size]] = factor * values


def steepest(M: Array, rows: int, j: int) -> int:
    """The row with the largest entry in column j."""
    return int(np.argmax(np.abs(M[:rows, j])))


def assign(x: Vector, values: Vector) -> None:
    """Let x begin with these values."""
    x[: values.size] = values


def advance(w: Vector, step: Vector, length: float) -> None:
    """Move weights along a step, no further than to zero."""
    np.maximum(w[: step.size] + length * step, 0.0, out=w[: step.size])


def highest(M: Array, q: int) -> float:
    """The largest of the first entries of the diagonal."""
    return float(max(M.diagonal()[:q].tolist()))


def ratio(w: Vector, step: Vector) -> tuple[float, int]:
    """How far the step may go (at most 1), and which weight stops it: of several, the steepest."""
    ahead = w + step
    if ahead.min() >= 0:
        return 1.0, -1
    largest = max(float(step.max()), -float(step.min()))
    slots = np.flatnonzero((ahead < 0) & (step < -1e-13 * largest))
    if not slots.size:
        return 1.0, -1
    ratios = w[slots] / -step[slots]
    least = float(ratios.min())
    tied = slots[ratios <= least * (1 + 1e-9) + 1e-15 / largest]
    return least, int(tied[np.argmin(step[tied])])


def gains(c: Vector, lam: float, normal: Vector, extents: Vector, signed: bool) -> Vector:
    """The largest -<c + lam normal, v> over the vertices on each axis."""
    slope = c + lam * normal if lam else c
    return np.asarray(np.abs(slope) * extents if signed else -slope * extents)


def short_list(sizes: Vector, height: float, most: int) -> Numbers:
    """The places of the largest entries, at least ``height``, the largest first, of equal ones the first."""
    if height == -np.inf:
        return np.argsort(-sizes, kind="stable")[:most]
    picked = np.flatnonzero(sizes >= height)
    return picked[np.argsort(-sizes[picked], kind="stable")[:most]]


def columns(M: Array, index: Numbers, factor: Vector, shift: Vector, out: Array, first: int) -> None:
    """Columns of M times their factors, less a shift, as rows of ``out`` from its column ``first`` on."""
    out[:, first:] = M.T[index] * factor[:, None] - shift


def fresh_codes(code: Numbers, where: Numbers) -> Numbers:
    """Those of the vertices that are in no slot."""
    return np.asarray(code[where[code] < 0])


def norms(M: Array) -> Vector:
    """The norms of the rows."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", M, M)))


def bends(G: Array, E: Array, F: Array, order: Numbers) -> Vector:
    """||F - E G||^2 for some of the rows of E and F."""
    moved = F[order] - E[order] @ G
    return np.asarray(np.add.reduce(moved * moved, axis=1))


def on_face(
    places: Numbers, c: Vector, lam: float, normal: Vector, extents: Vector, signed: bool, level: float
) -> Numbers:
    """The numbers of the vertices v on these axes with the least <c + lam normal, v>: the first, and of the others
    those with <normal, v> <= level."""
    slope = normal[places] if lam or level < np.inf else 0.0
    minus = (c[places] + lam * slope >= 0) if signed else np.zeros(places.size, dtype=bool)
    codes = places + minus * extents.size
    if level == np.inf:
        return np.asarray(codes)
    kept = np.where(minus, -slope, slope) * extents[places] <= level
    kept[0] = True
    return np.asarray(codes[kept])


def entries(code: Numbers, extents: Vector) -> Vector:
    """The one nonzero entry of each vertex."""
    entry = extents[code % extents.size]
    return np.where(code < extents.size, entry, -entry)


def picked(M: Array, index: Numbers) -> Array:
    """Rows of M."""
    return np.asarray(M[index])


def lay(M: Array, block: Array) -> None:
    """Let M begin with a block."""
    M[: block.shape[0], : block.shape[1]] = block


def product(A: Array, B: Array) -> Array:
    """A B."""
    return np.asarray(A @ B)


def pseudo_inverse(rows: Array) -> tuple[Array, Vector]:
    """P with P rows' = I, in the span of the rows; the part of each row outside the span of those before it.

    Few long rows through the Cholesky factor of their products, several times as fast as an orthogonal one, where the
    error it makes, the square of the condition times a unit of roundoff, is small; those who use P refine what they get
    by its residual. Library calls, not compiled.
    """
    r, n = rows.shape
    if r == 1:
        return rows / (rows[0] @ rows[0]), np.ones(1)
    if n >= 2 * r:
        squares = rows @ rows.T
        L, failed = dpotrf(squares, lower=1, clean=1)
        if not failed:
            inverse = dtrtri(L, lower=1)[0]
            if length(L) * length(inverse) <= WELL:
                return (inverse.T @ inverse) @ rows, L.diagonal() / np.sqrt(squares.diagonal())
    factor, tau, _, _ = dgeqrf(rows.T)
    P = dtrtrs(factor[:r], dorgqr(factor, tau)[0].T)[0]
    return np.ascontiguousarray(P), np.abs(factor.diagonal()) / norms(rows)
