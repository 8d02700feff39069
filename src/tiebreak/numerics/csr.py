"""Sparse matrices made from arrays that are known to be right.

SciPy's constructors check every array they are given, and its indexing and transposing go through them: on small
matrices that takes longer than all the arithmetic. What is made here has the same arrays, and none of the checks.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector

_ROWS, _COLUMNS = sp.csr_array((0, 0)), sp.csc_array((0, 0))


def as_csr(A: Matrix) -> Matrix:
    """A itself where it is in CSR form."""
    return A if isinstance(A, sp.csr_array) else sp.csr_array(A)


def with_data(A: Matrix, data: NDArray[Any]) -> Matrix:
    """Other entries in the same places."""
    other = copy(A)
    other.data = data
    return other


def absolute(A: Matrix) -> Matrix:
    """The absolute values of the entries."""
    return with_data(A, np.abs(A.data))


def rows_of(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]) -> Matrix:
    """The matrix with these entries in CSR form, whose column numbers ascend in every row."""
    return _made(_ROWS, data, indices, indptr, shape)


def turned(A: Matrix) -> Matrix:
    """The transpose of a matrix in CSR form, on the same arrays: in CSC form, for products."""
    return _made(_COLUMNS, A.data, A.indices, A.indptr, (A.shape[1], A.shape[0]))


def row_numbers(A: Matrix) -> NDArray[np.intp]:
    """The row of each entry of a matrix in CSR form."""
    return np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))


def columns_times(A: Matrix, factors: Vector) -> Matrix:
    """A matrix in CSR form with each column multiplied."""
    return with_data(A, A.data * factors[A.indices])


def largest_in_rows(A: Matrix) -> Vector:
    """The largest absolute value in each row of a matrix in CSR form; 0 in an empty one."""
    largest, filled = np.zeros(A.shape[0]), np.diff(A.indptr) > 0
    if filled.any():
        largest[filled] = np.maximum.reduceat(np.abs(A.data), A.indptr[:-1][filled])
    return largest


def part(A: Matrix, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Matrix:
    """A[rows][:, columns] of a matrix in CSR form, for numbers in ascending order.

    Examples
    --------
    >>> A = sp.csr_array(np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0]]))
    >>> part(A, np.array([1]), np.array([0, 2])).toarray()
    array([[0., 4.]])
    """
    m, n = A.shape
    place = np.full(n, -1, dtype=A.indices.dtype)
    place[columns] = np.arange(columns.size)
    kept = np.zeros(m, dtype=bool)
    kept[rows] = True
    at = row_numbers(A)
    used = np.flatnonzero(kept[at] & (place[A.indices] >= 0))
    counts = np.bincount(at[used], minlength=m)[rows]
    indptr = np.zeros(rows.size + 1, dtype=A.indptr.dtype)
    np.cumsum(counts, out=indptr[1:])
    return rows_of(A.data[used], place[A.indices[used]], indptr, (rows.size, columns.size))


def _made(template: Matrix, data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Matrix:
    other = copy(template)
    other.data, other.indices, other.indptr, other._shape = data, indices, indptr, shape
    return other
