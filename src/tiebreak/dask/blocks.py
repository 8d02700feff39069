"""A chunk as it comes from its source, as float64 rows; and the sources that read by themselves."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

TRIES = 3


class Reader(Protocol):
    """Some rows of a source that every worker can open: reading them twice gives the same."""

    @property
    def where(self) -> str:
        """In words."""

    def read(self) -> Any:
        """The rows."""


@dataclass(frozen=True)
class MemmapRows:
    """Rows of a file of plain numbers."""

    path: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    first: int
    last: int

    @property
    def where(self) -> str:
        return f"rows {self.first} to {self.last - 1} of {self.path}"

    def read(self) -> Any:
        row = int(np.prod(self.shape[1:], dtype=np.int64))
        start = self.offset + self.first * row * np.dtype(self.dtype).itemsize
        count = (self.last - self.first) * row
        with open(self.path, "rb") as file:  # read, not mapped: pages that are only mapped count against a worker
            file.seek(start)
            values = np.fromfile(file, dtype=self.dtype, count=count)
        if values.size != count:
            raise OSError(f"the file ends after {values.size} of {count} numbers of this chunk")
        return values.reshape(self.last - self.first, *self.shape[1:])


@dataclass(frozen=True)
class ZarrRows:
    """Rows of an array in Zarr's format."""

    path: Any
    name: str | None
    first: int
    last: int

    @property
    def where(self) -> str:
        return f"rows {self.first} to {self.last - 1} of {self.path}"

    def read(self) -> Any:
        import zarr

        return zarr.open_array(self.path, path=self.name, mode="r")[self.first : self.last]


@dataclass(frozen=True)
class ParquetRows:
    """Columns of one row group of a Parquet file; one column alone is a vector."""

    path: str
    group: int
    columns: tuple[str, ...]
    alone: bool

    @property
    def where(self) -> str:
        return f"row group {self.group} of {self.path}"

    def read(self) -> Any:
        import pyarrow.parquet

        with pyarrow.parquet.ParquetFile(self.path) as file:
            table = file.read_row_group(self.group, columns=list(self.columns), use_threads=False)
        found = [_column(table, name) for name in self.columns]
        return found[0] if self.alone else np.stack(found, axis=1)


def _column(table: Any, name: str) -> Any:
    """A column as numbers; a missing value is NaN."""
    column = table.column(name)
    values = column.to_numpy()
    if values.dtype == object:
        raise TypeError(f"column {name!r} holds {column.type}, not numbers")
    return values.astype(np.float64)


@dataclass(frozen=True)
class Selected:
    """Columns of a frame's partition, which the task is given whole."""

    columns: tuple[Any, ...]
    alone: bool

    def of(self, frame: Any) -> Any:
        """As an array."""
        return frame[self.columns[0]].to_numpy() if self.alone else frame[list(self.columns)].to_numpy()


@dataclass(frozen=True)
class WithOnes:
    """Rows with one more column, of ones: for an intercept."""

    def __call__(self, rows: Any) -> Any:
        ones = np.ones((rows.shape[0], 1))
        if not sparse.issparse(rows):
            return np.hstack([rows, ones])
        blocks: list[Any] = [rows, sparse.csr_array(ones)]
        return sparse.csr_array(sparse.hstack(blocks))


@dataclass(frozen=True)
class Signs:
    """1 for one of two classes, -1 for the other."""

    second: float

    def __call__(self, labels: Any) -> Any:
        return np.where(labels == self.second, 1.0, -1.0)


def read(piece: Any) -> Any:
    """A piece as its source gives it: read where it is a reader, with a few tries."""
    if not hasattr(piece, "read"):
        return piece
    for left in reversed(range(TRIES)):
        try:
            return piece.read()
        except OSError:
            if not left:
                raise
            time.sleep(0.05 * (TRIES - left))
    raise AssertionError


def as_rows(piece: Any, dim: int | None, name: str, number: int) -> Any:
    """The numbers of a piece as float64: contiguous rows, or CSR; an error that says which chunk otherwise."""
    block: Any = piece
    if hasattr(block, "to_scipy_sparse"):
        block = block.to_scipy_sparse()
    if not sparse.issparse(block):
        block = np.asarray(block)
    here = f"chunk {number} of {name}"
    if np.dtype(block.dtype).kind not in "biuf":
        raise TypeError(f"{here} must hold real numbers, got dtype {block.dtype}; convert it to float64 first")
    if block.ndim != (1 if dim is None else 2):
        raise ValueError(f"{here} has shape {block.shape}, expected {'a vector' if dim is None else 'a matrix'}")
    if dim is not None and block.shape[1] != dim:
        raise ValueError(f"{here} has {block.shape[1]} columns, expected {dim}")
    if hasattr(block, "tocsr"):
        rows: Any = block.tocsr().astype(np.float64)
        rows.sum_duplicates()
        return rows
    # what came over a network may begin at any byte, where BLAS is not used, and sums round in another way
    return np.require(block, dtype=np.float64, requirements=["C", "ALIGNED"])


def first_not_finite(block: Any, name: str, number: int) -> ValueError | None:
    """Where a chunk holds NaN or an infinity, as a sentence; None where it does not."""
    rows = np.asarray(block.toarray() if hasattr(block, "toarray") else block)
    bad = np.argwhere(~np.isfinite(rows))
    if not len(bad):
        return None
    row, *column = bad[0].tolist()
    place = f"row {row}" + (f", column {column[0]}" if column else "")
    more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
    value = rows[tuple(bad[0])]
    return ValueError(
        f"{name} holds {'NaN' if np.isnan(value) else 'an infinity'} in chunk {number}, {place} of the chunk{more}; "
        "remove or impute such entries first"
    )
