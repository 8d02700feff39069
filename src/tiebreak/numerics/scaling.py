"""How large variables are likely to be, from the coefficients and right-hand sides alone.

Bounds say how large a variable may be, not how large it is: nothing here grows with a bound that does not bind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Matrix, Vector
from .deadline import check
from .extended import is_sparse
from .rows import Rows, power_of_two

SWEEPS = 8


def ends(rows: Rows) -> Vector:
    """The size of each row's right-hand side: the smaller of its finite ends that are not zero, 0 without any."""
    sizes = np.stack([np.abs(rows.low), np.abs(rows.high)])
    sizes = np.where(np.isfinite(sizes) & (sizes > 0), sizes, np.inf).min(axis=0)
    return np.where(np.isfinite(sizes), sizes, 0.0)


def variable_sizes(blocks: Sequence[tuple[Matrix, Vector]], box: Rows) -> Vector:
    """A size s_j > 0 of each variable, a power of two, that balances a_ij s_j and b_i; no larger than its box.

    Least squares for the logarithms of s_j and of row scales (Curtis and Reid 1972), by a few sweeps over the rows of
    all blocks (matrix, size of the right-hand side). A variable in no row has the size of its box.
    """
    check()
    n = box.lower.size
    limit = np.maximum(np.abs(box.lower), np.abs(box.upper))
    limit = np.where(limit > 0, limit, 1.0)
    bounded = np.isfinite(limit)
    size = np.zeros(n)
    used = np.zeros(n, dtype=bool)
    parts = [_entries(A, b) for A, b in blocks if A.shape[0]]
    if parts:
        offsets = np.cumsum([0] + [len(part[3]) for part in parts])
        i = np.concatenate([part[0] + start for part, start in zip(parts, offsets[:-1], strict=True)])
        j, a, b = (np.concatenate([part[k] for part in parts]) for k in (1, 2, 3))
        known = b > 0
        log_b = np.log2(np.where(known, b, 1.0))
        in_row = np.bincount(i, minlength=b.size)
        weight = np.where(known, np.maximum(in_row, 1), 0)  # so that a long row does not drown its end
        in_column = np.bincount(j, minlength=n)
        used = in_column > 0
        for _ in range(SWEEPS):
            row = -(np.bincount(i, a + size[j], b.size) + weight * log_b) / np.maximum(in_row + weight, 1)
            size = -np.bincount(j, a + row[i], n) / np.maximum(in_column, 1)
        if not known.any() and (used & bounded).any():  # the smallest bound says how large a solution may be
            size += (np.log2(limit) - size)[used & bounded].min()
    size = np.ldexp(1.0, np.clip(np.round(size), -1000, 1000).astype(int))
    most = power_of_two(np.where(bounded, limit, 1.0))
    size = np.where(used, np.where(bounded, np.minimum(size, most), size), most)
    least = np.maximum(np.maximum(box.lower, -box.upper), 0.0)
    return np.maximum(size, np.where(least > 0, power_of_two(least), 0.0))


def _entries(A: Matrix, b: Vector) -> tuple[Any, Any, Vector, Vector]:
    """Row and column numbers and logarithms of the entries that are not zero, with b."""
    if is_sparse(A) and A.format == "csr" and A.has_canonical_format:  # what ``find`` does, without its copies
        used = A.data != 0
        rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))[used]
        return rows, A.indices[used], np.log2(np.abs(A.data[used])), b
    if is_sparse(A):
        i, j, data = sp.find(A)
        return i, j, np.log2(np.abs(data)), b
    rows, columns = np.nonzero(A)
    return rows, columns, np.log2(np.abs(A[rows, columns])), b
