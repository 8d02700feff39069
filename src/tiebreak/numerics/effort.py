"""What a factorisation will cost, before it is begun: nothing can stop it once it runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Matrix
from .deadline import afford, affordable

PIVOTING = 4.0
"""So many times the work of a symmetric factorisation one with pivots may take."""


def system_work(H: Matrix, G: Matrix | None = None, times: float = 1.0) -> float:
    """A bound on the multiplications that factorise the symmetric matrix H, or [[H, G'], [G, -D]], so many ``times``.

    D is a diagonal. A dense matrix takes N^3 / 3. Where that does not fit into the time left, the entries of the
    factor L in the ordering of Clarabel are counted, which takes no arithmetic. A column of L with c entries has an
    ancestor with c - 1, that one an ancestor with c - 2, and so on, hence c^2 <= 2 nnz(L), and the work, the sum of
    all c^2, is at most sqrt(2) nnz(L)^1.5.
    """
    n, m = H.shape[0], 0 if G is None else G.shape[0]
    most = times * (n + m) ** 3 / 3
    if G is not None and sp.issparse(H) and not sp.issparse(G):  # H is a diagonal then
        return float(min(most, times * (n + m * m * (n + m))))
    if affordable(most) or not sp.issparse(H):
        return float(most)
    from .clarabel import factor_entries

    entries = factor_entries(H, sp.csr_array((0, n)) if G is None else G)
    return float(min(most, times * np.sqrt(2) * entries**1.5))


def sparse_lu(K: Any) -> Any:
    """SuperLU's factors of a symmetric matrix, or ``OutOfTime`` where that takes longer than is left."""
    from scipy.sparse.linalg import splu

    afford(system_work(K, times=PIVOTING))
    return splu(sp.csc_array(K), permc_spec="MMD_AT_PLUS_A")
