"""The basis of a tableau chosen, and all that is kept with it computed afresh.

Compiled where numba is there, as ``tableau.py``.
"""

from __future__ import annotations

import numpy as np

from .dense import dots, gather, mix, pseudo_inverse, scatter
from .tableau import CHANGES, COUNT, DRIFTED, FACTORED, FREE, GAUGED, RANK, Numbers, Tableau, insert


def settle(T: Tableau, rank_tol: float) -> None:
    """Split the vertices in use into independent ones, the heaviest first, and the rest."""
    order = np.argsort(-T.w[: T.n[COUNT]], kind="mergesort")
    if not heaviest_basic(T, order, rank_tol):
        T.n[RANK] = T.n[FREE] = T.n[FACTORED] = T.n[GAUGED] = 0
        for i in range(order.size):
            insert(T, order[i], rank_tol)
        refresh(T)


def heaviest_basic(T: Tableau, order: Numbers, rank_tol: float) -> bool:
    """Make as many vertices basic as E has columns, or all, at once, if their rows are independent."""
    r = min(order.size, T.E.shape[1])
    rows = T.E[order[:r]]
    P, apart = pseudo_inverse(rows)
    for i in range(r):
        if apart[i] <= rank_tol * np.sqrt(np.dot(rows[i], rows[i])):
            return False
    T.n[RANK], T.n[FREE] = r, order.size - r
    for i in range(r):
        T.basic[i], T.place[order[i]] = order[i], i
    for i in range(r, order.size):
        T.free[i - r], T.place[order[i]] = order[i], r - 1 - i
    T.EB[:r] = rows
    T.FB[:r] = T.F[order[:r]]
    T.P[:r] = P
    follow(T)
    return True


def refresh(T: Tableau) -> None:
    """Compute all that is updated afresh, and bring E'w back to e."""
    T.P[: T.n[RANK]] = pseudo_inverse(T.EB[: T.n[RANK]])[0]
    follow(T)


def follow(T: Tableau) -> None:
    """All that follows from P; the basic weights bring E'w back to e."""
    r, q, k, rows = T.n[RANK], T.n[FREE], T.n[COUNT], T.E.shape[1]
    T.n[CHANGES] = T.n[DRIFTED] = T.n[FACTORED] = T.n[GAUGED] = 0
    for _ in range(2):
        gap = -mix(T.w[:k], T.E, rows)
        gap[0] += T.E[0, 0]
        scatter(T.w, T.basic, np.maximum(gather(T.w, T.basic, r) + dots(T.P, gap, r), 0.0), 1.0)
    if q > 0:
        P, left = T.P[:r], T.E[T.free[:q]]
        C = np.dot(left, P.T)
        left = left - np.dot(C, T.EB[:r])
        C = C + np.dot(left, P.T)
        K = T.F[T.free[:q]] - np.dot(C, T.FB[:r])
        T.C[:q, :r] = C
        T.K[:q] = K
        T.H[:q, :q] = np.dot(K, K.T)
