"""The data matrix of an objective: dense, sparse or a LinearOperator, behind two products."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector, as_real_array, as_sparse, length
from ..kernels import NotCompiled, flat, wanted
from ..kernels.dense_rows import fast_column_norms
from ..numerics.deadline import afford, check
from ..numerics.spectrum import krylov_bound, largest_eigenvalue

MANY = 1_000_000  # entries: a pass over so many saves enough to be worth compiling
EXACT_SIDE = 500  # up to this many rows or columns an eigenvalue decomposition of the Gram matrix is cheap


def gamma(terms: int) -> float:
    """The relative error of a sum of ``terms`` products in any order, with a few operations to spare."""
    unit = (terms + 8) * UNIT_ROUNDOFF
    return unit / (1 - unit)


class DataMatrix:
    """An n x d matrix A with the products A x and A'u, and bounds on its norms.

    ``raw`` is a float64 array (C or Fortran order), a ``csr_array``, a ``csc_array`` or a LinearOperator.
    What is float64 already is not copied: changing it later changes the objective, but not its cached facts.
    """

    def __init__(self, A: Any, name: str = "A") -> None:
        self.raw: Matrix
        if sparse.issparse(A):
            self.raw, self.kind = _checked_sparse(A, name), "sparse"
        elif hasattr(A, "matvec") and hasattr(A, "rmatvec"):
            self.raw, self.kind = _checked_operator(A, name), "operator"
        else:
            self.raw, self.kind = _checked_dense(A, name), "dense"
        self.shape: tuple[int, int] = (int(self.raw.shape[0]), int(self.raw.shape[1]))

    @classmethod
    def trusted(cls, A: Matrix) -> DataMatrix:
        """Of what has been checked before, or computed from it: a contiguous array, or a sparse one."""
        data = cls.__new__(cls)
        data.raw, data.kind, data.shape = A, "sparse" if sparse.issparse(A) else "dense", A.shape
        return data

    def times(self, x: Vector) -> Vector:
        """A x; where x has few nonzeros, only their columns are touched."""
        if self.kind == "operator":
            return np.asarray(self.raw.matvec(x), dtype=np.float64)
        support = np.flatnonzero(x)
        if self._column_cost * support.size >= x.size:
            return np.asarray(self.raw @ x)
        if self.kind == "sparse":
            return _combine_columns(self._by_columns, support, x[support])
        return np.asarray(self.raw[:, support] @ x[support])

    def transpose_times(self, u: Vector) -> Vector:
        """A'u."""
        if self.kind == "operator":
            return np.asarray(self.raw.rmatvec(u), dtype=np.float64)
        return np.asarray(self._transposed @ u)

    def squares(self, x: Vector, b: Vector) -> tuple[float, Vector] | None:
        """||A x - b||^2 and A'(A x - b) in one pass over sparse rows; None where there is no such pass, or no need."""
        if self.kind != "sparse" or self.raw.format != "csr" or not wanted():
            return None
        if self._column_cost * np.count_nonzero(x) < x.size:
            return None
        from ..kernels.sparse_rows import fast_squares_by_rows as kernel  # its module asks numba for an instruction

        if self.entries >= MANY:
            kernel.group.allow()
        grad = np.empty(x.size)
        try:
            value = kernel.compiled(self.raw.data, self._unsigned, self.raw.indptr, flat(x), flat(b), grad)
        except NotCompiled:
            return None
        return value, grad

    def scattered_columns(self, index: NDArray[np.intp], factors: Vector) -> NDArray[np.float64]:
        """Columns of a sparse matrix times their factors, as the rows of a dense one."""
        A = self._by_columns
        starts = A.indptr[index]
        counts = A.indptr[index + 1] - starts
        entries = np.arange(counts.sum()) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
        rows = np.zeros((index.size, self.shape[0]))
        places = np.repeat(np.arange(index.size), counts), A.indices[entries]
        rows[places] = A.data[entries] * np.repeat(factors, counts)
        return rows

    def squared_norm(self, weights: Vector | float = 1.0) -> float:
        """An upper bound on the largest eigenvalue of A' diag(weights) A, weights >= 0.

        Exact (up to a factor 1 + 1e-10) where the smaller side has at most 500 entries; otherwise the least
        of three bounds, one of which may fail with probability 1e-12 (see ``krylov_bound``). For a
        LinearOperator it is that one.
        """
        root = np.sqrt(np.broadcast_to(weights, (self.shape[0],)))
        if self.kind == "operator":
            return self._krylov_bound(root)
        rows = sparse.diags_array(root) @ self.raw if self.kind == "sparse" else root[:, None] * self.raw
        if min(self.shape) <= EXACT_SIDE:
            afford(0.25 * min(self.shape) ** 2 * max(self.shape))  # a product of matrices is the fastest of all
            gram = rows @ rows.T if self.shape[0] <= self.shape[1] else rows.T @ rows
            return largest_eigenvalue(gram.toarray() if self.kind == "sparse" else gram)
        sizes = abs(rows)
        frobenius, by_sums = (sizes * sizes).sum(), sizes.sum(axis=0).max() * sizes.sum(axis=1).max()
        return min(float(min(frobenius, by_sums)) * (1 + 1e-10), self._krylov_bound(root))

    def _krylov_bound(self, root: Vector) -> float:
        n, d = self.shape

        def gram_times(v: Vector) -> Vector:
            check()
            if n <= d:
                return root * self.times(self.transpose_times(root * v))
            return self.transpose_times(root * root * self.times(v))

        return krylov_bound(gram_times, min(n, d))

    @property
    def entries(self) -> int:
        """How many numbers are stored; not for operators."""
        return int(self.raw.nnz if self.kind == "sparse" else self.raw.size)

    @cached_property
    def frobenius(self) -> float:
        """An upper bound on the Frobenius norm."""
        if self.kind == "operator":
            return float(np.sqrt(min(self.shape) * self.squared_norm()))
        entries = self.raw.data if self.kind == "sparse" else self.raw
        return float(np.linalg.norm(entries)) * (1 + 1e-8)

    @cached_property
    def column_norms(self) -> Vector:
        """||A_j||; not for operators."""
        raw = self.raw
        if self.kind == "sparse":
            return np.asarray(np.sqrt((raw * raw).sum(axis=0))).ravel()
        if raw.flags.c_contiguous:
            norms = np.zeros(raw.shape[1])
            fast_column_norms(flat(raw), norms)
            return norms
        return np.asarray(np.sqrt(np.einsum("ij,ij->j", raw, raw)))

    def product_error(self, x: Vector) -> float:
        """A bound on the Euclidean error of the computed A x (an operator counts as a dense product)."""
        terms = x.size if self.kind == "operator" else int(np.count_nonzero(x))
        return gamma(min(terms, self._longest_row)) * self.frobenius * length(x)

    @cached_property
    def _longest_row(self) -> int:
        """The most entries of a row."""
        if self.kind != "sparse":
            return self.shape[1]
        raw = self.raw
        counts = np.diff(raw.indptr) if raw.format == "csr" else np.bincount(raw.indices, minlength=1)
        return int(counts.max(initial=0))

    @cached_property
    def _column_cost(self) -> int:
        """How many times its share of a full product one column costs; those of C order are strided."""
        return 16 if self.kind == "dense" and not self.raw.flags.f_contiguous else 8

    @cached_property
    def _unsigned(self) -> NDArray[np.unsignedinteger[Any]]:
        """The indices of sparse data, as numbers that cannot be negative."""
        indices = self.raw.indices
        return np.asarray(indices.view(np.uint32 if indices.itemsize == 4 else np.uint64))

    @cached_property
    def _by_columns(self) -> Matrix:
        return self.raw.tocsc()

    @cached_property
    def _transposed(self) -> Matrix:
        return self.raw.T


def _combine_columns(A: Matrix, columns: NDArray[np.intp], factors: Vector) -> Vector:
    """The sum of the given columns of a CSC matrix times their factors, in time proportional to their entries."""
    starts = A.indptr[columns]
    counts = A.indptr[columns + 1] - starts
    ends = np.cumsum(counts)
    entries = np.arange(ends[-1] if ends.size else 0) + np.repeat(starts - (ends - counts), counts)
    weights = A.data[entries] * np.repeat(factors, counts)
    total = np.bincount(A.indices[entries], weights=weights, minlength=A.shape[0])
    return np.asarray(total, dtype=np.float64)


def _checked_dense(A: Any, name: str) -> Matrix:
    array = as_real_array(A, name)
    _check_shape(array.shape, name)
    return array if array.flags.c_contiguous or array.flags.f_contiguous else np.ascontiguousarray(array)


def _checked_sparse(A: Any, name: str) -> Matrix:
    _check_shape(A.shape, name)
    matrix = as_sparse(A, name)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.data = as_real_array(matrix.data, name)
    return matrix


def _checked_operator(A: Any, name: str) -> Matrix:
    from scipy.sparse.linalg import aslinearoperator

    _check_shape(A.shape, name)
    operator = aslinearoperator(A)
    if operator.dtype is not None and np.dtype(operator.dtype).kind not in "biuf":
        raise TypeError(f"{name} must be a real operator, got dtype {operator.dtype}")
    try:
        operator.rmatvec(np.zeros(operator.shape[0]))
    except NotImplementedError:
        raise TypeError(f"{name} has no rmatvec; build the LinearOperator with rmatvec=, the product A'u") from None
    return operator


def _check_shape(shape: tuple[int, ...], name: str) -> None:
    if len(shape) == 1:
        raise ValueError(
            f"{name} must be a 2-D matrix, got shape {shape}; use {name}.reshape(1, -1) for a single row"
            f" or {name}.reshape(-1, 1) for a single column"
        )
    if len(shape) != 2:
        raise ValueError(f"{name} must be a 2-D matrix, got shape {shape}")
    if 0 in shape:
        raise ValueError(f"{name} is empty: shape {shape}")
