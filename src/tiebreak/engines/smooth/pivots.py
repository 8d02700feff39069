"""A few rows of a level's data that say as much as all of them: later levels hold these, and nothing else.

Rows whose losses bend the most are the best known, so they come first (pivots of the weighted rows). They do for all
others where they have the rank of these, for certain: of the data as they are stored, not of weighted ones,
whose small weights might hide a direction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix
from ...numerics.deadline import affordable
from ...numerics.extended import dense
from ...numerics.rank import exact_rank, resolved
from ...numerics.rows import power_of_two
from .images import Images

FEW = 8
"""So many rows for each column are enough as a rule."""
LARGEST = 20_000_000
"""Up to this many entries rows are made dense for it."""


def pivots(images: Images, columns: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """Which rows of P to keep; None where fewer than all of them do not, or where that is not certain."""
    height, n = images.rows.shape[0], columns.size
    if images.bends or height <= n:
        return None
    if (few := _among_few(images, columns)) is not None:
        return few
    if height * n > LARGEST or not affordable(4.0 * height * n * n):
        return None
    from scipy.linalg import qr

    rows = dense(images.rows[:, columns])
    rows = rows[:, rows.any(axis=0)]
    n = rows.shape[1]
    scaled = np.sqrt(images.given)[:, None] * rows
    scaled = scaled / power_of_two(np.linalg.norm(scaled, axis=0))
    kept = _by_elimination(scaled)
    if _has_rank(rows[kept], n):
        return kept
    R, order = qr(scaled.T, mode="r", pivoting=True, check_finite=False)
    sizes = np.abs(R.diagonal())
    rank = int(np.sum(sizes > 4 * resolved(sizes[:1], scaled.shape)))
    kept = np.sort(order[:rank])
    if not _has_rank(rows[kept], rank) or (rank < n and exact_rank(rows) != rank):
        return None
    return np.asarray(kept, dtype=np.intp)


def _among_few(images: Images, columns: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """As many rows as columns among those whose losses bend the most, where these have full rank for certain."""
    n = columns.size
    if images.rows.shape[0] < 4 * FEW * n or not n:
        return None
    most = np.argpartition(-images.given, FEW * n)[: FEW * n]
    rows = dense(images.rows[most][:, columns])
    sizes = np.linalg.norm(rows, axis=0)
    if not (sizes > 0).all():
        return None
    kept = _by_elimination(np.sqrt(images.given[most])[:, None] * rows / power_of_two(sizes))
    return np.sort(most[kept]) if _has_rank(rows[kept], n) else None


def _by_elimination(rows: Matrix) -> NDArray[np.intp]:
    """As many rows as columns, the pivots of Gaussian elimination: faster, and good enough where the rank is full."""
    from scipy.linalg.lapack import dgetrf

    order = np.arange(rows.shape[0])
    for k, p in enumerate(dgetrf(rows)[1]):
        order[k], order[p] = order[p], order[k]
    return np.sort(order[: rows.shape[1]])


def _has_rank(rows: Matrix, rank: int) -> bool:
    """Whether as many singular values are not zero for certain."""
    if rank == 0:
        return True
    rows = rows / power_of_two(np.abs(rows).max(axis=1))[:, None]
    rows = rows / power_of_two(np.linalg.norm(rows, axis=0))
    values = np.linalg.svd(rows, compute_uv=False)
    return bool(values[rank - 1] > 2 * resolved(values, rows.shape))
