"""The equations of a quadratic level with some columns and rows held, for problems too large to decompose."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.conjugate import conjugate_gradients
from ...numerics.csr import above, as_csr, columns_times, part, turned
from ...numerics.deadline import afford
from ...numerics.definite import fits_in_memory
from ...numerics.effort import sparse_lu
from ...numerics.extended import between, column_squares, dense, is_sparse, row_sizes
from ...numerics.rows import power_of_two
from .step import Step

DENSE_SCHUR = 1500
"""Up to this many rows their Gram matrix is factorised as a dense one; beyond, where it has entries enough."""
FILLED = 0.01
"""A larger matrix with this part of its entries would be filled by a sparse factorisation."""
CLOSE = 1e-8
"""How well conjugate gradients solve for a correction."""
DENSE_SYSTEM = 300
"""Up to this many unknowns a dense factorisation is faster."""


def kkt_solver(
    step: Step, free: NDArray[np.intp], active: NDArray[np.intp]
) -> Callable[[Vector, Vector], tuple[Vector, Vector]]:
    """Solves with [[H, F', G'], [F, -1, 0], [G, 0, 0]], slightly regularised, on the free columns.

    Columns get curvature 1 and rows size 1 by powers of two: what is added to the diagonal is small beside them.
    """
    H, F, G, scale, row_scale = _scaled(step, free, active)
    n, k, m = free.size, F.shape[0], active.size
    mu = step.level.ridge
    if not m and k >= n and is_sparse(F) and not step.level.bends:
        return _corrections_by_products(mu * scale**2, F, scale)
    thin = _few(step, n, k, m)
    soft = 1e-6 if thin and mu == 0 else 1e-9  # Gram matrices of rows cannot do with less
    rho = 0.0 if mu > 0 else soft
    below = np.concatenate([-np.ones(k), np.full(m, -soft)])
    solve: Callable[[Vector], Vector]
    if thin:
        rows = np.vstack([F, G]) if step.thin else _stacked(F, G)
        diagonal = mu * scale**2 + rho
        solve = _schur(diagonal, rows, -below) if k + m <= n or is_sparse(rows) else _normal(diagonal, rows, -below)
    elif step.dense and m > n and n + k + m > DENSE_SYSTEM:
        return _shortened(H, F, dense(G), rho, soft, scale, row_scale)
    elif step.dense or step.thin or n + k + m <= DENSE_SYSTEM:
        K = np.diag(np.append(np.full(n, rho), below))
        H, F, G = dense(H), dense(F), dense(G)
        K[:n, :n] += H
        K[n : n + k, :n], K[n + k :, :n] = F, G
        K[:n, n : n + k], K[:n, n + k :] = F.T, G.T
        solve = _dense_solver(K)
    else:
        rows = sp.vstack([F, G])
        K = sp.block_array([[H, rows.T], [rows, None]]) + sp.diags_array(np.append(np.full(n, rho), below))
        solve = _sparse_solver(K)

    def corrections(slope: Vector, short: Vector) -> tuple[Vector, Vector]:
        answer = solve(np.concatenate([-slope * scale, np.zeros(k), short * row_scale]))
        return answer[:n] * scale, -answer[n + k :] * row_scale

    return corrections


def _shortened(
    H: Matrix, F: Matrix, G: Matrix, rho: float, soft: float, scale: Vector, row_scale: Vector
) -> Callable[[Vector, Vector], tuple[Vector, Vector]]:
    """Corrections with more rows than columns: G = QR, and R stands for them; nothing is as large as rows squared."""
    n, k = G.shape[1], F.shape[0]
    afford(4.0 * G.shape[0] * n**2)
    Q, R = np.linalg.qr(G)
    K = np.diag(np.concatenate([np.full(n, rho), -np.ones(k), np.full(n, -soft)]))
    K[:n, :n] += dense(H)
    K[n : n + k, :n], K[n + k :, :n] = dense(F), R
    K[:n, n:] = K[n:, :n].T
    solve = _dense_solver(K)

    def corrections(slope: Vector, short: Vector) -> tuple[Vector, Vector]:
        answer = solve(np.concatenate([-slope * scale, np.zeros(k), Q.T @ (short * row_scale)]))
        return answer[:n] * scale, -(Q @ answer[n + k :]) * row_scale

    return corrections


def _corrections_by_products(H: Vector, F: Matrix, scale: Vector) -> Callable[[Vector, Vector], tuple[Vector, Vector]]:
    """Corrections without rows: conjugate gradients on H + F'F, or its factors where those do not end soon."""
    back = sp.csr_array(F.T)
    diagonal = H + column_squares(F, np.ones(F.shape[0]))
    factors: list[Callable[[Vector], Vector]] = []

    def times(d: Vector) -> Vector:
        return np.asarray(back @ (F @ d)) + H * d

    def corrections(slope: Vector, short: Vector) -> tuple[Vector, Vector]:
        if not factors:
            answer, done = conjugate_gradients(times, -slope * scale, diagonal, tolerance=CLOSE)
            if done:
                return answer * scale, short
            factors.append(_sparse_solver(back @ F + sp.diags_array(H + 1e-9 * diagonal)))
        return factors[0](-slope * scale) * scale, short

    return corrections


def _scaled(
    step: Step, free: NDArray[np.intp], active: NDArray[np.intp]
) -> tuple[Matrix, Matrix, Matrix, Vector, Vector]:
    """H, F and G on the free columns, and the powers of two that their columns and the rows of G are multiplied by."""
    F, weight = step.lifted
    H, F, G = (_part(M, rows, free) for M, rows in ((step.curvature, free), (F, None), (step.face.G.A, active)))
    scale = 1 / power_of_two(np.sqrt(np.maximum(H.diagonal() + column_squares(F, weight), 0)))
    row_scale = 1 / power_of_two(row_sizes(G * scale))
    H, F, G = between(scale, H, scale), between(np.sqrt(weight), F, scale), between(row_scale, G, scale)
    return H, F, G, scale, row_scale


def _part(M: Matrix, rows: NDArray[np.intp] | None, columns: NDArray[np.intp]) -> Matrix:
    """M[rows][:, columns], or all rows."""
    if not is_sparse(M):
        return M[:, columns] if rows is None else M[rows][:, columns]
    M = as_csr(M)
    return part(M, np.arange(M.shape[0]) if rows is None else rows, columns)


def _stacked(F: Matrix, G: Matrix) -> Matrix:
    return above(as_csr(F), as_csr(G))


def _few(step: Step, n: int, k: int, m: int) -> bool:
    """Whether the rows are few beside the free columns, and the rest of the Hessian is a diagonal."""
    if step.dense or step.level.bends or not n:
        return False
    if step.level.ridge > 0 and k == 0:
        return True
    return fits_in_memory(k + m, k + m) and 2 * (k + m) <= n  # beyond, FF' would be larger than F'F, and worse


def _schur(H: Vector, G: Matrix, delta: Vector) -> Callable[[Vector], Vector]:
    """Solves with [[H, G'], [G, -delta]] for a positive diagonal H, through G H^-1 G' + delta."""
    from scipy.linalg import cho_factor, cho_solve

    n = H.size
    if not is_sparse(G):
        afford(float(delta.size) ** 2 * (n + delta.size))
    back_again = turned(G) if is_sparse(G) else G.T
    inner = (columns_times(G, 1 / H) if is_sparse(G) else G / H) @ back_again
    back: Callable[[Vector], Vector]
    filled = not is_sparse(inner) or inner.nnz > FILLED * delta.size**2
    if delta.size <= DENSE_SCHUR or (fits_in_memory(*inner.shape) and filled):
        afford(delta.size**3 / 3)
        factor = cho_factor(dense(inner) + np.diag(delta), lower=True)
        back = lambda right: np.asarray(cho_solve(factor, right))  # noqa: E731
    else:
        back = _sparse_solver(inner + sp.diags_array(delta))

    def solve(right: Vector) -> Vector:
        turn = back(G @ (right[:n] / H) - right[n:])
        return np.concatenate([(right[:n] - back_again @ turn) / H, turn])

    return solve


def _normal(H: Vector, G: Matrix, delta: Vector) -> Callable[[Vector], Vector]:
    """The same through H + G' delta^-1 G, for more (dense) rows than columns."""
    from scipy.linalg import cho_factor, cho_solve

    n = H.size
    afford(float(n) ** 2 * (n + delta.size))
    half = G / np.sqrt(delta)[:, None]
    K = half.T @ half
    K[np.diag_indices(n)] += H
    factor = cho_factor(K, lower=True)

    def solve(right: Vector) -> Vector:
        turn = right[n:] / delta
        move = np.asarray(cho_solve(factor, right[:n] + G.T @ turn))
        return np.concatenate([move, (G @ move) / delta - turn])

    return solve


def _sparse_solver(K: Matrix) -> Callable[[Vector], Vector]:
    try:
        solve: Callable[[Vector], Vector] = sparse_lu(K).solve
    except RuntimeError as error:  # exactly singular: what dense factorisations say by this
        raise np.linalg.LinAlgError(str(error)) from error
    return solve


def _dense_solver(K: Matrix) -> Callable[[Vector], Vector]:
    if K.shape[0] > DENSE_SYSTEM:
        from scipy.linalg import lu_factor, lu_solve

        afford(float(K.shape[0]) ** 3)
        factor = lu_factor(K, check_finite=False)
        return lambda right: np.asarray(lu_solve(factor, right))
    inverse = np.linalg.inv(K)  # for small ones, products are faster than triangular solves
    return lambda right: np.asarray(inverse @ right)
