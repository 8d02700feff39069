"""Passes over tall data in blocks of rows that stay in the cache: nothing of their size is made on the way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from .extended import dense, is_sparse

BLOCK = 200_000
"""So many entries of a dense block."""


def chosen(A: Matrix, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Matrix:
    """These rows and columns, each in their order; no copy where they are all."""
    A = A if rows.size == A.shape[0] else A[rows]
    return A if columns.size == A.shape[1] else A[:, columns]


def weighted_gram(A: Matrix, weights: Vector) -> Matrix:
    """A' diag(weights) A as a dense matrix, weights not negative."""
    n = A.shape[1]
    K = np.zeros((n, n))
    for part in _blocks(A):
        rows = A[part]
        if is_sparse(rows):
            K += dense(rows.T @ rows.multiply(weights[part, None]))
        else:
            root = np.sqrt(weights[part])[:, None] * rows
            K += root.T @ root
    return K


def row_lengths(A: Matrix, B: Matrix) -> Vector:
    """The norms of the rows of A B, B dense."""
    found = np.empty(A.shape[0])
    for part in _blocks(A, B.shape[1]):
        image = np.asarray(A[part] @ B)
        found[part] = np.sqrt(np.einsum("ij,ij->i", image, image))
    return found


def _blocks(A: Matrix, width: int = 0) -> Iterator[slice]:
    """Blocks of rows with about as many entries, of A or of a product of so many columns."""
    entries = A.nnz / max(A.shape[0], 1) if is_sparse(A) else A.shape[1]
    count = max(64, int(BLOCK / max(entries, width, 1)))
    for start in range(0, A.shape[0], count):
        yield slice(start, min(start + count, A.shape[0]))
