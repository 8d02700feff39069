"""A quadratic level in the step d, without the columns that cannot move and the rows that are bounds in disguise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix
from ...numerics.csr import as_csr, part
from ...numerics.extended import Ext, ExtMatrix, ext, is_sparse


class Singleton(NamedTuple):
    """A row with one movable column left, turned into bounds of that column; which of them are its own."""

    row: int
    column: int
    entry: float
    owns_lower: bool
    owns_upper: bool


@dataclass
class Reduced:
    """low <= G d <= high, lower <= d <= upper over some columns and rows of the whole problem."""

    columns: NDArray[np.intp]
    rows: NDArray[np.intp]
    G: ExtMatrix
    low: Ext
    high: Ext
    lower: Ext
    upper: Ext
    whole: Matrix
    removed: list[Singleton]

    def expand(self, d: Ext) -> Ext:
        """The step of all columns."""
        full = ext(np.zeros(self.whole.shape[1]))
        full[self.columns] = d
        return full

    def expand_multipliers(self, y: Ext, grad: Ext) -> Ext:
        """Multipliers of all rows: those of removed rows take what is left of the gradient, last removed first."""
        full = ext(np.zeros(self.whole.shape[0]))
        full[self.rows] = y
        if not self.removed:
            return full
        left = grad - self.whole.T @ full
        for row, column, entry, owns_lower, owns_upper in reversed(self.removed):
            if (left[column] > 0 and owns_lower) or (left[column] < 0 and owns_upper):
                full[row] = left[column] / entry
                if is_sparse(self.whole):
                    part = slice(self.whole.indptr[row], self.whole.indptr[row + 1])
                    left[self.whole.indices[part]] -= full[row] * self.whole.data[part]
                else:
                    left -= full[row] * self.whole[row]
        return full


def reduce_rows(rows: Matrix, low: Ext, high: Ext, lower: Ext, upper: Ext) -> Reduced:
    """Remove fixed columns, empty rows, and rows with one movable column, until none is left."""
    lower, upper = lower.copy(), upper.copy()
    m = rows.shape[0]
    movable = lower < upper
    kept = np.ones(m, dtype=bool)
    row_of, column_of, entries = _nonzeros(rows)
    removed: list[Singleton] = []
    while True:
        live = movable[column_of] & kept[row_of]
        count = np.bincount(row_of[live], minlength=m)
        kept &= count > 0
        single = live & (count[row_of] == 1)
        if not single.any():
            break
        for i, j, a in zip(row_of[single], column_of[single], entries[single], strict=True):
            ends = sorted((low[i] / a, high[i] / a))
            owns = bool(ends[0] > lower[j]), bool(ends[1] < upper[j])
            lower[j], upper[j] = max(lower[j], ends[0]), min(upper[j], ends[1])
            removed.append(Singleton(int(i), int(j), float(a), *owns))
            kept[i] = False
        movable &= lower < upper
    columns, remaining = np.flatnonzero(movable), np.flatnonzero(kept)
    G = part(as_csr(rows), remaining, columns) if is_sparse(rows) else rows[remaining][:, columns]
    return Reduced(
        columns,
        remaining,
        ExtMatrix(G),
        low[remaining],
        high[remaining],
        lower[columns],
        upper[columns],
        rows,
        removed,
    )


def _nonzeros(rows: Matrix) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    if not is_sparse(rows):
        i, j = np.nonzero(rows)
        return i, j, rows[i, j]
    i = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    used = rows.data != 0
    return i[used], rows.indices[used], rows.data[used]
