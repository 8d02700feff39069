"""Arithmetic beyond double precision: long double where the machine has a wider one, double-double products elsewhere.

Vectors in extended precision are ``np.longdouble`` arrays, called ``Ext`` here. Where long double is no more than
double (MSVC, Apple silicon) products are accumulated in double-double and rounded once, so residuals are still
right to the last bit of a double; ``UNIT`` then says that nothing better was stored.
"""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ..arrays import Matrix, Vector
from .csr import absolute, as_csr, largest_in_rows, row_numbers, turned, with_data
from .deadline import check

Ext: TypeAlias = NDArray[np.longdouble]

UNIT = float(np.finfo(np.longdouble).eps) / 2
EXTENDED = "extended-precision arithmetic follows the standard rounding model"
LONG = 4_000_000
"""Products with so many entries take long enough to look at the clock before."""
MANY = 65_536
"""Dense matrices with more entries are taken in blocks of rows: temporary arrays that do not fit into the cache cost
more than the arithmetic."""
IN_CACHE, TERMS = 32_768, 32
"""So many entries of a block, and so many terms that are added one after another."""
WIDE = np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant


def ext(values: ArrayLike) -> Ext:
    """The same numbers in extended precision."""
    return np.asarray(values, dtype=np.longdouble)


def double(values: Ext) -> Vector:
    """Rounded to double precision."""
    return np.asarray(values, dtype=np.float64)


def sum_units(terms: int) -> float:
    """How many units of roundoff NumPy's pairwise sum of ``terms`` products may lose."""
    return terms + 2.0 if terms <= 16 else 24.0 + float(np.log2(terms))


def total(terms: Ext) -> np.longdouble:
    """The sum of the entries, pairwise."""
    return np.longdouble(np.add.reduce(terms))


def is_sparse(M: Matrix) -> bool:
    """Whether it is a SciPy matrix rather than an array."""
    return bool(sp.issparse(M))


def dense(M: Matrix) -> Matrix:
    """As an array."""
    return M.toarray() if is_sparse(M) else M


def between(left: Vector, M: Matrix, right: Vector) -> Matrix:
    """M with its rows and columns multiplied."""
    if not is_sparse(M):
        return left[:, None] * M * right
    M = as_csr(M)
    return with_data(M, M.data * np.repeat(left, np.diff(M.indptr)) * right[M.indices])


def column_squares(M: Matrix, weight: Vector) -> Vector:
    """The sums of the weighted squares of each column."""
    if not is_sparse(M):
        return np.asarray(weight @ (M * M))
    M = as_csr(M)
    squares = M.data**2 * np.repeat(weight, np.diff(M.indptr))
    return np.asarray(np.bincount(M.indices, squares, minlength=M.shape[1]), dtype=np.float64)


def row_sizes(M: Matrix) -> Vector:
    """The largest absolute value of each row, 0 without any."""
    if not M.shape[0] or not M.shape[1]:
        return np.zeros(M.shape[0])
    return largest_in_rows(as_csr(M)) if is_sparse(M) else np.abs(M).max(axis=1)


class ExtMatrix:
    """A matrix of doubles with products in extended precision and bounds on their rounding errors."""

    def __init__(self, A: Matrix) -> None:
        self.sparse = is_sparse(A)
        self.A: Matrix = as_csr(A) if self.sparse else np.ascontiguousarray(A)
        self.shape: tuple[int, int] = (int(A.shape[0]), int(A.shape[1]))

    def times(self, x: Ext) -> Ext:
        """A x."""
        self._check()
        if self._in_blocks:
            return _product_in_blocks(self.A, x)
        return _product(self._wide, x, self.sparse)

    def transpose_times(self, y: Ext) -> Ext:
        """A'y."""
        self._check()
        if self._in_blocks:
            return _product_in_blocks(self.A.T, y)
        return _product(self._wide_transposed, y, self.sparse)

    def _check(self) -> None:
        """Stop here where no time is left for a product that takes long itself."""
        if self.shape[0] * self.shape[1] > LONG and not self.sparse:
            check()

    def times_error(self, x: Ext) -> Vector:
        """A bound on the error of each entry of ``times(x)``."""
        return self._units * UNIT * np.asarray(self.size @ np.abs(double(x)))

    def transpose_times_error(self, y: Ext) -> Vector:
        """A bound on the error of each entry of ``transpose_times(y)``."""
        return self._transposed_units * UNIT * np.asarray(self.size_transposed @ np.abs(double(y)))

    @property
    def _in_blocks(self) -> bool:
        """Whether no wide copies are kept."""
        return WIDE and not self.sparse and self.shape[0] * self.shape[1] > MANY

    @cached_property
    def _wide(self) -> Matrix:
        return with_data(self.A, self.A.data.astype(np.longdouble)) if self.sparse else self.A.astype(np.longdouble)

    @cached_property
    def _wide_transposed(self) -> Matrix:
        if not self.sparse:
            return np.ascontiguousarray(self.A.T).astype(np.longdouble)
        T = as_csr(self.A.T)
        return with_data(T, T.data.astype(np.longdouble))

    @cached_property
    def size(self) -> Matrix:
        """The absolute values of the entries."""
        return absolute(self.A) if self.sparse else np.abs(self.A)

    @cached_property
    def entries(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Vector]:
        """Row, column and size of each entry that is not zero."""
        if not self.sparse:
            rows, columns = np.nonzero(self.A)
            return rows, columns, self.size[rows, columns]
        used = self.A.data != 0
        return row_numbers(self.A)[used], self.A.indices[used], self.size.data[used]

    @cached_property
    def size_transposed(self) -> Matrix:
        """The same of the transpose, for products."""
        return turned(self.size) if self.sparse else self.size.T

    @cached_property
    def _units(self) -> Vector | float:
        return _units_in_blocks(self.shape[1]) if self._in_blocks else _rounding_units(self.A, self.sparse)

    @cached_property
    def _transposed_units(self) -> Vector | float:
        if self._in_blocks:
            return _units_in_blocks(self.shape[0])
        return _rounding_units(self._wide_transposed if self.sparse else self.A.T, self.sparse)


def product(A: Matrix, x: Ext) -> Ext:
    """A x from one wide copy of A; each entry is off by ``product_units`` of the sum of the sizes of its terms."""
    if not WIDE:
        return ext(double_double_product(sp.csr_array(A) if is_sparse(A) else A, double(x)))
    return np.asarray(A.astype(np.longdouble) @ x)


def product_units(terms: int) -> float:
    """The relative error of ``product`` with so many terms, added in any order."""
    return (terms + 8) * UNIT if WIDE else 3 * UNIT  # rounded once, and x before


def _rounding_units(A: Matrix, sparse: bool) -> Vector | float:
    if sparse:  # SciPy adds the products of a row one after another
        return np.asarray(np.diff(A.indptr) + 4.0)
    return 2.0 + sum_units(A.shape[1])


def _product(A: Matrix, x: Ext, sparse: bool) -> Ext:
    if not WIDE:
        return ext(double_double_product(sp.csr_array(A) if sparse else A, double(x)))
    if sparse:
        return np.asarray(A @ x)
    return np.asarray(np.add.reduce(A * x, axis=1)) if A.size else np.zeros(A.shape[0], dtype=np.longdouble)


def _product_in_blocks(A: Matrix, x: Ext) -> Ext:
    """A x without a wide copy of A: row by row, sums of a few terms one after another, and their sum pairwise."""
    n = A.shape[1]
    found = np.empty(A.shape[0], dtype=np.longdouble)
    count, sums = max(1, IN_CACHE // max(n, 1)), n // TERMS
    few = sums * TERMS
    for start in range(0, A.shape[0], count):
        rows = A[start : start + count].astype(np.longdouble, order="C")
        terms = rows[:, :few].reshape(len(rows), sums, TERMS)
        parts = np.einsum("rsk,sk->rs", terms, x[:few].reshape(sums, TERMS))
        found[start : start + count] = np.add.reduce(parts, axis=1) + rows[:, few:] @ x[few:]
    return found


def _units_in_blocks(terms: int) -> float:
    """The rounding of that."""
    return TERMS + 4.0 + sum_units(terms // TERMS + 1)


def double_double_product(A: Matrix, x: Vector) -> Vector:
    """A x as if computed with twice the precision of a double and rounded once (A dense or CSR)."""
    dense = not sp.issparse(A)
    rows = A.shape[0]
    data = np.asarray(A, dtype=np.float64).ravel() if dense else A.data.astype(np.float64)
    factors = np.tile(x, rows) if dense else x[A.indices]
    row_of = np.repeat(np.arange(rows), A.shape[1] if dense else np.diff(A.indptr))
    high = data * factors
    low = _product_error(data, factors, high)
    largest = np.zeros(rows)
    np.maximum.at(largest, row_of, np.abs(high))
    count = max(1, int(np.bincount(row_of, minlength=1).max(initial=1)))
    parts = []
    # Adding and subtracting sigma cuts each product at one common bit, so that the parts cut off sum exactly.
    for _ in range(3):
        sigma = np.where(largest > 0, np.ldexp(1.0, np.frexp(largest)[1] + int(np.ceil(np.log2(count + 2)))), 0.0)
        part = (sigma[row_of] + high) - sigma[row_of]
        parts.append(np.bincount(row_of, weights=part, minlength=rows))
        high = high - part
        largest = sigma * 2.0**-52
    rest = np.bincount(row_of, weights=high + low, minlength=rows)
    return np.asarray(parts[0] + (parts[1] + (parts[2] + rest)))


def _product_error(a: Vector, b: Vector, product: Vector) -> Vector:
    """a b - product, exactly (Veltkamp and Dekker; no overflow below 1e300)."""
    a_high, b_high = _upper_half(a), _upper_half(b)
    a_low, b_low = a - a_high, b - b_high
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _upper_half(a: Vector) -> Vector:
    scaled = 134217729.0 * a  # 2^27 + 1
    return scaled - (scaled - a)
