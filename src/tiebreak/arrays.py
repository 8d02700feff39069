"""Array types, and the checks every user-supplied number goes through."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = Any  # a 2-D NDArray[np.float64], a SciPy sparse array or matrix, or a LinearOperator

UNIT_ROUNDOFF = float(np.finfo(np.float64).eps) / 2


def length(v: NDArray[np.float64]) -> float:
    """The Euclidean norm of all entries: ``numpy.linalg.norm`` without its questions."""
    flat = v.ravel()
    return math.sqrt(flat @ flat)


def as_numbers(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """``values`` as a float64 array (not copied where it already is one), or an error that names ``name``."""
    if hasattr(values, "__dask_graph__") or hasattr(values, "chunk_count"):
        raise TypeError(
            f"{name} is in chunks, which are never pulled into memory silently: where it fits, give {name}.compute(); "
            "LeastSquares, Logistic, Poisson, Huber, SquaredHinge and SquaredCovariance take their data as chunks"
        )
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        raise ValueError(f"{name} is a masked array with masked entries; fill or remove them first")
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be an array whose rows have one length, got a ragged sequence") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got dtype {array.dtype}; convert it to float64 first")
    return np.asarray(array, dtype=np.float64)


def as_real_array(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """``values`` as a finite float64 array (not copied where it already is one), or an error that names ``name``."""
    array = as_numbers(values, name)
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds NaN or infinite entries; remove or impute them first")
    return array


def as_vector(values: ArrayLike, name: str, dim: int | None = None) -> Vector:
    """A finite, nonempty 1-D float64 array, of length ``dim`` where that is given."""
    vector = as_real_array(values, name)
    if vector.ndim != 1:
        raise ValueError(f"{name} must be a 1-D array, got shape {vector.shape}")
    if vector.size == 0:
        raise ValueError(f"{name} is empty")
    if dim is not None and vector.size != dim:
        raise ValueError(f"{name} has length {vector.size}, expected {dim}")
    return vector


def as_scalar(value: Any, name: str) -> float:
    """A finite real number."""
    if (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < 2**63):
        return float(value)
    array = as_real_array(value, name)
    if array.ndim != 0:
        raise ValueError(f"{name} must be a single number, got shape {array.shape}")
    return float(array)


def as_positive(value: Any, name: str) -> float:
    """A finite number above zero."""
    number = as_scalar(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be positive, got {number:g}")
    return number


def as_count(value: Any, name: str) -> int:
    """A whole number of at least one."""
    number = as_scalar(value, name)
    if number != int(number) or number < 1:
        raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
    return int(number)


def as_flag(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def as_seed(value: Any, name: str = "seed") -> int | None:
    """A whole number of at least zero, or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise ValueError(f"{name} must be None or a whole number of at least 0, got {value!r}")
    return int(value)


def as_names(names: Sequence[str], dim: int) -> tuple[str, ...]:
    """One name for each of ``dim`` variables, all different."""
    if isinstance(names, str) or not np.iterable(names) or not all(isinstance(name, str) for name in names):
        raise TypeError("names must be a sequence of strings")
    if len(names) != dim or len(set(names)) != dim:
        raise ValueError(f"names must be {dim} different strings, got {len(names)}")
    return tuple(names)


def as_path(value: Any, name: str = "path") -> Path:
    """The path of a file."""
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name} must be the path of a file, got {type(value).__name__}")
    return Path(value)


def as_group_labels(groups: Any) -> NDArray[np.intp]:
    """The label 0, 1, ... of the group of each position, from index arrays or from labels."""
    if not np.iterable(groups):
        raise TypeError(f"groups must be a sequence of index arrays, or of labels, got {type(groups).__name__}")
    members = [np.asarray(group) for group in groups]
    if not members:
        raise ValueError("groups is empty")
    if all(group.ndim == 0 for group in members):
        given = np.asarray(groups)
        if given.dtype.kind not in "iu":
            raise TypeError(f"groups must hold integer labels or index arrays, got dtype {given.dtype}")
        return np.unique(given, return_inverse=True)[1]
    for k, group in enumerate(members):
        if group.ndim != 1 or group.size == 0 or group.dtype.kind not in "iu":
            raise ValueError(f"groups[{k}] must be a nonempty 1-D array of integer positions, got {group!r}")
    positions = np.concatenate(members)
    if not np.array_equal(np.sort(positions), np.arange(positions.size)):
        raise ValueError(
            f"groups must hold each of the positions 0, ..., {positions.size - 1} exactly once; "
            "give positions that belong to no group a group of their own"
        )
    labels = np.empty(positions.size, dtype=np.intp)
    labels[positions] = np.repeat(np.arange(len(members)), [group.size for group in members])
    return labels


def same_groups(first: NDArray[np.intp], second: NDArray[np.intp]) -> bool:
    """Whether two label arrays make the same groups, by whatever names."""
    if first.size != second.size:
        return False
    pairs = np.unique(np.stack([first, second]), axis=1).shape[1]
    return bool(pairs == np.unique(first).size == np.unique(second).size)


def as_sparse(A: Any, name: str) -> Matrix:
    """A SciPy sparse matrix of finite numbers as a ``csr_array``, or as a ``csc_array`` where it is one by columns.

    SciPy does not look at the indices when a matrix is made from them, and its products read wherever they point.
    """
    from scipy import sparse

    if A.ndim != 2:
        raise ValueError(f"{name} must be a 2-D matrix, got shape {A.shape}")
    if np.dtype(A.dtype).kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got dtype {A.dtype}; convert it to float64 first")
    try:
        if A.format not in ("csr", "csc", "bsr"):
            A = A.tocoo()
        if not _points_inside(A):
            raise ValueError(f"its indices point outside of its shape {A.shape}")
        matrix: Matrix = sparse.csc_array(A) if A.format == "csc" else sparse.csr_array(A)
    except (ValueError, TypeError, IndexError, AttributeError, RuntimeError, OverflowError) as error:
        raise ValueError(f"{name} is a malformed sparse matrix: {error}") from None
    matrix.data = as_real_array(matrix.data, name)
    return matrix


def _points_inside(A: Any) -> bool:
    """Whether a matrix in one of SciPy's formats coo, csr, csc and bsr refers to nothing but its own entries."""
    rows, columns = A.shape
    if A.format == "coo":
        sizes = {np.size(A.row), np.size(A.col), np.size(A.data)}
        return len(sizes) == 1 and _within(A.row, rows) and _within(A.col, columns)
    if A.format == "csc":
        return _sound(A.indptr, A.indices, len(A.data), columns, rows)
    height, width = A.blocksize if A.format == "bsr" else (1, 1)
    return _sound(A.indptr, A.indices, len(A.data), rows // height, columns // width)


def _sound(starts: NDArray[Any], indices: NDArray[Any], entries: int, major: int, minor: int) -> bool:
    """Whether compressed rows (or columns) lie one after the other within the entries, and point to what is there."""
    if starts.ndim != 1 or starts.dtype.kind not in "iu" or starts.size != major + 1 or indices.size < entries:
        return False
    rising = starts[0] == 0 and starts[-1] <= min(entries, indices.size) and (starts[1:] >= starts[:-1]).all()
    return bool(rising) and _within(indices[: starts[-1]], minor)


def _within(indices: NDArray[Any], count: int) -> bool:
    return indices.dtype.kind in "iu" and (indices.size == 0 or (indices.min() >= 0 and indices.max() < count))
