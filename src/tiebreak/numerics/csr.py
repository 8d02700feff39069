"""Sparse matrices made from arrays that are known to be right.

SciPy's constructors check every array they are given, and its indexing and transposing go through them: on small
matrices that takes longer than all the arithmetic. What is made here has the same arrays, and none of the checks.

Some of SciPy's functions (``abs``, ``max``) first put the entries of their matrix in order, in its own arrays. Index
arrays that two matrices share would be changed for both, and the data of one only: they are shared where they are in
order already, and copied where not.
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
    """A itself where it is in CSR form with its entries in order, none of them twice."""
    A = A if isinstance(A, sp.csr_array) else sp.csr_array(A)
    if A.has_canonical_format:
        return A
    A = A.copy()
    A.sum_duplicates()
    return A


def with_data(A: Matrix, data: NDArray[Any]) -> Matrix:
    """Other entries in the same places."""
    other = copy(A)
    other.data = data
    if not A.has_canonical_format:
        other.indices, other.indptr = A.indices.copy(), A.indptr.copy()
    return other


def absolute(A: Matrix) -> Matrix:
    """The absolute values of the entries."""
    return with_data(A, np.abs(A.data))


def rows_of(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]) -> Matrix:
    """The matrix with these entries in CSR form."""
    return _made(_ROWS, data, indices, indptr.astype(indices.dtype, copy=False), shape)


def turned(A: Matrix) -> Matrix:
    """The transpose of a matrix in CSR form, on the same arrays: in CSC form, for products."""
    A = as_csr(A)
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


def diagonal_of(values: Vector) -> Matrix:
    """The diagonal matrix in CSR form."""
    count = values.size
    return rows_of(values, np.arange(count), np.arange(count + 1), (count, count))


def above(A: Matrix, B: Matrix) -> Matrix:
    """A on top of B, both in CSR form."""
    if not A.shape[0] or not B.shape[0]:
        return A if A.shape[0] else B
    indptr = np.concatenate([A.indptr, A.indptr[-1] + B.indptr[1:]])
    indices = np.concatenate([A.indices, B.indices])
    return rows_of(np.concatenate([A.data, B.data]), indices, indptr, (A.shape[0] + B.shape[0], A.shape[1]))


def beside_identity(A: Matrix, factor: float) -> Matrix:
    """[A, factor I] for a matrix in CSR form.

    Examples
    --------
    >>> beside_identity(sp.csr_array(np.array([[0.0, 2.0], [3.0, 0.0]])), -1.0).toarray()
    array([[ 0.,  2., -1.,  0.],
           [ 3.,  0.,  0., -1.]])
    """
    m, n = A.shape
    ends = A.indptr[1:]
    indices = np.insert(A.indices, ends, n + np.arange(m))
    return rows_of(np.insert(A.data, ends, factor), indices, A.indptr + np.arange(m + 1), (m, n + m))


def wider(A: Matrix, columns: int) -> Matrix:
    """The same entries with so many columns."""
    A = as_csr(A)
    return rows_of(A.data, A.indices, A.indptr, (A.shape[0], columns))


def with_columns_before(A: Matrix, count: int) -> Matrix:
    """[0, A] with so many empty columns."""
    A = as_csr(A)
    return rows_of(A.data, A.indices + count, A.indptr, (A.shape[0], A.shape[1] + count))


def _made(template: Matrix, data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Matrix:
    other = copy(template)
    other.data, other.indices, other.indptr, other._shape = data, indices, indptr, shape
    return other
