"""Active-set polish: from a solver's guess to the last digit, or back to the guess where that is better."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from .extended import UNIT, Ext, dense, double, is_sparse
from .interrupt import remaining
from .step import State, Step

SET_CHANGES = 10
CORRECTIONS = 12
DENSE_SCHUR = 1500
"""Up to this many rows their Gram matrix is factorised as a dense one."""
DENSE_SYSTEM = 300
"""Up to this many unknowns a dense factorisation is faster."""


def polished(step: Step, guess: State) -> State:
    """The better of the guess and the solutions of the equality problems on the sets that it suggests."""
    face = step.face
    best = guess
    column_side = _sides(guess.d, face.lower, face.upper, guess.slope)
    row_side = _sides(guess.activity, face.low, face.high, guess.y)
    noise = 256 * UNIT * step.level.grad_size(step.origin, np.ones(step.origin.size))  # of multipliers that are zero
    seen = set()
    for _ in range(SET_CHANGES):
        key = column_side.tobytes() + row_side.tobytes()
        if key in seen or remaining() == 0:
            break
        seen.add(key)
        state = _on_sides(step, best, column_side, row_side)
        if state.residual < best.residual:
            best = state
        size = 1e-15 * (1 + float(np.abs(state.d).max(initial=0)))
        column_side = _corrected(column_side, state.d, face.lower, face.upper, state.slope, size, noise)
        row_side = _corrected(row_side, state.activity, face.low, face.high, state.y, size, noise)
    return best


def _sides(value: Ext, low: Ext, high: Ext, multiplier: Ext) -> NDArray[np.int8]:
    """-1 or 1 where the multiplier of that end exceeds the distance to it."""
    side = np.where(multiplier > value - low, -1, np.where(-multiplier > high - value, 1, 0))
    return np.where(low == high, 1, side).astype(np.int8)


def _corrected(
    side: NDArray[np.int8], value: Ext, low: Ext, high: Ext, multiplier: Ext, size: float, noise: float
) -> NDArray[np.int8]:
    """Ends that are crossed join, ends that push the wrong way leave."""
    wrong = side * multiplier > noise
    kept = np.where(wrong, 0, side)
    moved = np.where(value > high + size, 1, np.where(value < low - size, -1, kept))
    return np.where(low == high, 1, moved).astype(np.int8)


def _on_sides(step: Step, start: State, column_side: NDArray[np.int8], row_side: NDArray[np.int8]) -> State:
    """The minimiser with columns and rows at the given sides: one factorisation, corrections until they stall."""
    face = step.face
    free, active = np.flatnonzero(column_side == 0), np.flatnonzero(row_side)
    ends = np.where(row_side < 0, face.low, face.high)
    d = np.where(column_side < 0, face.lower, np.where(column_side > 0, face.upper, start.d))
    best = state = step.state(d, np.where(row_side == 0, 0, start.y))
    solve = _kkt(step, free, active)
    least = np.inf
    for _ in range(CORRECTIONS):
        stationary, short = state.slope[free], (ends - state.activity)[active]
        size = max(float(np.abs(stationary).max(initial=0)), float(np.abs(short).max(initial=0)))
        if size < least:
            best = state
        if size == 0 or size > 0.5 * least:
            break
        least = size
        move, turn = solve(double(-stationary), double(short))
        d, y = state.d.copy(), state.y.copy()
        d[free] += move
        y[active] += turn
        state = step.state(d, y)
    return best


def _kkt(
    step: Step, free: NDArray[np.intp], active: NDArray[np.intp]
) -> Callable[[Vector, Vector], tuple[Vector, Vector]]:
    """Solves with [[H, F', G'], [F, -1/weight, 0], [G, 0, 0]], slightly regularised, on the free columns."""
    F, weight = step.lifted
    H, F, G = step.curvature[free][:, free], F[:, free], step.face.G.A[active][:, free]
    n, k, m = free.size, weight.size, active.size
    largest = _row_size(G)
    row_scale = np.where(largest > 0, np.ldexp(1.0, -np.frexp(largest)[1]), 1.0)
    size = max(float(abs(H).max()) if n else 0.0, float(abs(F).max()) if n and k else 0.0) or 1.0
    mu = step.level.strong_convexity
    thin = _few(step, n, k, m)
    soft = 1e-6 if thin and mu == 0 else 1e-9  # Gram matrices of rows cannot do with less
    rho = 0.0 if mu > 0 else soft * size
    below = np.concatenate([-1 / weight, np.full(m, -soft / size)])
    solve: Callable[[Vector], Vector]
    if thin:
        rows = np.vstack([F, row_scale[:, None] * G]) if step.thin else sp.vstack([F, sp.diags_array(row_scale) @ G])
        solve = _schur(np.full(n, mu + rho), rows, -below)
    elif step.dense or step.thin or n + k + m <= DENSE_SYSTEM:
        K = np.diag(np.append(np.full(n, rho), below))
        H, F, G = dense(H), dense(F), row_scale[:, None] * dense(G)
        K[:n, :n] += H
        K[n : n + k, :n], K[n + k :, :n] = F, G
        K[:n, n : n + k], K[:n, n + k :] = F.T, G.T
        solve = _dense_solver(K)
    else:
        from scipy.sparse.linalg import splu

        rows = sp.vstack([F, sp.diags_array(row_scale) @ G])
        K = sp.block_array([[H, rows.T], [rows, None]]) + sp.diags_array(np.append(np.full(n, rho), below))
        solve = splu(sp.csc_array(K), permc_spec="MMD_AT_PLUS_A").solve

    def corrections(stationary: Vector, short: Vector) -> tuple[Vector, Vector]:
        answer = solve(np.concatenate([stationary, np.zeros(k), short * row_scale]))
        return answer[:n], -answer[n + k :] * row_scale

    return corrections


def _few(step: Step, n: int, k: int, m: int) -> bool:
    """Whether the rows are few beside the free columns, and the rest of the Hessian is a diagonal."""
    if step.dense or step.level.forms or not n:
        return False
    if step.level.strong_convexity > 0 and k == 0:
        return True
    return k + m <= DENSE_SCHUR and 2 * (k + m) <= n  # beyond, FF' would be larger than F'F, and worse


def _schur(H: Vector, G: Matrix, delta: Vector) -> Callable[[Vector], Vector]:
    """Solves with [[H, G'], [G, -delta]] for a positive diagonal H, through G H^-1 G' + delta."""
    from scipy.linalg import cho_factor, cho_solve
    from scipy.sparse.linalg import splu

    n = H.size
    inner = (G @ sp.diags_array(1 / H) if is_sparse(G) else G / H) @ G.T
    back: Callable[[Vector], Vector]
    if delta.size <= DENSE_SCHUR:
        factor = cho_factor(dense(inner) + np.diag(delta), lower=True)
        back = lambda right: np.asarray(cho_solve(factor, right))  # noqa: E731
    else:
        back = splu(sp.csc_array(inner + sp.diags_array(delta)), permc_spec="MMD_AT_PLUS_A").solve

    def solve(right: Vector) -> Vector:
        turn = back(G @ (right[:n] / H) - right[n:])
        return np.concatenate([(right[:n] - G.T @ turn) / H, turn])

    return solve


def _row_size(G: Matrix) -> Vector:
    if not G.shape[0] or not G.shape[1]:
        return np.zeros(G.shape[0])
    return np.asarray(dense(abs(G).max(axis=1))).ravel()


def _dense_solver(K: Matrix) -> Callable[[Vector], Vector]:
    if K.shape[0] > DENSE_SYSTEM:
        from scipy.linalg import lu_factor, lu_solve

        factor = lu_factor(K, check_finite=False)
        return lambda right: np.asarray(lu_solve(factor, right))
    inverse = np.linalg.inv(K)  # for small ones, products are faster than triangular solves
    return lambda right: np.asarray(inverse @ right)
