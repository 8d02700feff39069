"""A proof that a matrix has full rank: a number below its smallest singular value, from one Cholesky factorisation.

Let K be the Gram matrix of the shorter side, as it is computed. If Cholesky's method runs to its end on K - s, its
factor has L L' = K - s + D with a symmetric D, |D_ij| <= gamma / (1 - gamma) sqrt(K_ii K_jj), gamma = (n + 1) u / (1 -
(n + 1) u), whatever the order of its sums (Higham 2002, Theorem 10.3 and what follows it): so |D| is at most that
times the trace of K. What rounding has made of K is bounded by row sums of |M||M'|. The squares of all singular values
are at least s less both. Gram matrices square condition numbers: beyond some 1e6 there is nothing to be proved this
way, and 0 is returned.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector
from .deadline import affordable
from .extended import dense, is_sparse

MOST_BYTES = 2**29
"""Dense matrices that are made for speed alone take no more."""
FASTER = 4.0
"""So many times faster than any dense factorisation that of Cholesky is, at the least."""
SHIFTS = (0.4, 0.04, 1e-3)
"""What to try, as parts of an estimate of the smallest eigenvalue."""
LANCZOS = 60
"""Basis vectors for that estimate."""


def fits_in_memory(rows: int, columns: int) -> bool:
    """Whether a dense matrix of this shape may be made."""
    return 8.0 * rows * columns <= MOST_BYTES


def gram_work(rows: int, columns: int, entries: float) -> float:
    """Multiplications to form and factorise the Gram matrix of the shorter side of a matrix with so many entries."""
    short = min(rows, columns)
    return min(entries * short, entries**2 / max(rows, columns, 1)) + short**3 / 3


def least_singular_value(M: Matrix) -> float:
    """A number below the smallest of the min(M.shape) singular values; 0 where none above zero can be proved soon."""
    if 0 in M.shape:
        return 0.0
    short = M.T if M.shape[0] > M.shape[1] else M  # K = short short'
    n = short.shape[0]
    entries = float(short.nnz if is_sparse(short) else short.shape[0] * short.shape[1])
    if not fits_in_memory(n, n) or not affordable(gram_work(M.shape[0], M.shape[1], entries) / FASTER):
        return 0.0
    K, lost = gram_matrix(short)
    estimate = _least_eigenvalue(short, K)
    for part in SHIFTS:
        if estimate <= 4 * lost or not affordable(n**3 / 3 / FASTER):
            return 0.0
        proved = shifted_factor(K, part * estimate)[1]
        if proved > lost:
            return float(np.sqrt((proved - lost) * (1 - 1e-12)))
    return 0.0


def gram_matrix(M: Matrix) -> tuple[Matrix, float]:
    """The Gram matrix of the shorter side, and a bound on the norm of what rounding has made of it."""
    short = M.T if M.shape[0] > M.shape[1] else M
    short = sp.csr_array(short) if is_sparse(short) else short
    size = abs(short)
    terms = int(np.diff(short.indptr).max(initial=0)) if is_sparse(short) else short.shape[1]
    lost = (terms + 2) * UNIT_ROUNDOFF * 1.01 * float(np.max(size @ (size.T @ np.ones(short.shape[0]))))
    return dense(short @ short.T), lost


def _least_eigenvalue(short: Matrix, K: Matrix) -> float:
    """Near the smallest eigenvalue of K, rather above it; no proof."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    n = K.shape[0]
    if n <= 2 * LANCZOS:
        return float(np.linalg.eigvalsh(K)[0])
    cheap = is_sparse(short) and 2 * short.nnz < n * n
    times = (lambda x: short @ (short.T @ x)) if cheap else (lambda x: K @ x)
    start = np.random.default_rng(0).standard_normal(n)
    try:
        values = eigsh(LinearOperator((n, n), matvec=times, dtype=np.float64), 1, which="SA", ncv=LANCZOS, v0=start,
                       tol=0.2, maxiter=6, return_eigenvectors=False)  # fmt: skip
        return float(values[0])
    except ArpackError:  # it did not get there, as where the smallest ones lie close together
        return _by_inverse_iteration(K, start)


def _by_inverse_iteration(K: Matrix, start: Vector) -> float:
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    if not affordable(K.shape[0] ** 3 / 3 / FASTER):
        return 0.0
    try:
        factor = cho_factor(K, lower=True, check_finite=False)
    except LinAlgError:
        return 0.0
    length = 1.0
    for _ in range(4):
        start = cho_solve(factor, start / np.linalg.norm(start), check_finite=False)
        length = float(np.linalg.norm(start))
    return 1 / length if np.isfinite(length) and length > 0 else 0.0


def shifted_factor(K: Matrix, shift: float, overwrite: bool = False) -> tuple[Matrix, float]:
    """The lower factor of K - shift (above its diagonal there is anything), and a number below the smallest eigenvalue
    of K that follows from it; 0 where there is no factor."""
    from scipy.linalg.lapack import dpotrf

    n = K.shape[0]
    diagonal = np.abs(K.diagonal())
    shifted = (K if overwrite else K.copy()).T  # symmetric, and in Fortran's order
    shifted[np.diag_indices(n)] -= shift
    L, info = dpotrf(shifted, lower=1, overwrite_a=1, clean=0)
    if info != 0 or not np.isfinite(L.diagonal()).all():
        return L, 0.0
    gamma = (n + 1) * UNIT_ROUNDOFF / (1 - (n + 1) * UNIT_ROUNDOFF)
    trace, largest = float(diagonal.sum()), float(diagonal.max())
    return L, float(shift - 1.01 * gamma / (1 - gamma) * trace - 2 * UNIT_ROUNDOFF * (largest + shift))
