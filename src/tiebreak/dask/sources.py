"""Where chunks come from: dask arrays and frames, Zarr, Parquet, files of plain numbers, arrays in memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import as_count, as_path
from .blocks import MemmapRows, ParquetRows, Selected, ZarrRows
from .matrix import ChunkedMatrix

CHUNK_BYTES = 2**26
"""Of a chunk, where the source leaves the choice: small enough for memory, large enough for a kernel."""


def chunked(array: Any, *, chunk_rows: int | None = None, scheduler: str | None = None) -> ChunkedMatrix:
    """A dask array as a chunked matrix; one of NumPy as well, to try things out.

    Objectives make one of a dask array by themselves; levels that are given the same chunked matrix also share passes
    over it. Blocks should be able to be computed again: read from files, or persisted on a cluster. Blocks that were
    NumPy arrays when the dask array was made travel with every pass.

    Parameters
    ----------
    array : dask array, or array
        A matrix or a vector of numbers. float32 and integers are converted in the chunk. Blocks may be sparse.
    chunk_rows : int, optional
        Of an array in memory: the rows of a chunk.
    scheduler : str, optional
        "threads", "processes" or "synchronous": passes run on this machine. By default on the cluster of the current
        ``distributed.Client``; without one, on threads.

    Examples
    --------
    >>> import dask.array as da, tiebreak as tb, tiebreak.dask
    >>> tiebreak.dask.chunked(da.ones((10, 2), chunks=(4, 2)), scheduler="threads")
    ChunkedMatrix(10 x 2 in 3 chunks, the dask array)
    """
    if not hasattr(array, "__dask_graph__"):
        return _in_memory(array, chunk_rows, scheduler)
    if hasattr(array, "columns") or not hasattr(array, "chunks"):
        raise TypeError(
            f"a dask {type(array).__name__} is no matrix of numbers yet: tiebreak.dask.from_frame(frame, columns) "
            "takes its columns"
        )
    if array.dtype is not None and np.dtype(array.dtype).kind not in "biuf":
        raise TypeError(
            f"the dask array must hold real numbers, got dtype {array.dtype}; convert it with astype(float)"
        )
    if array.ndim not in (1, 2):
        raise ValueError(f"the dask array must be a matrix or a vector, got shape {array.shape}")
    if array.ndim == 2 and len(array.chunks[1]) > 1:
        raise ValueError(
            f"the dask array is cut between columns ({len(array.chunks[1])} blocks a row), and a chunk needs its rows "
            "whole: use array.rechunk({1: -1})"
        )
    dim = None if array.ndim == 1 else int(array.shape[1])
    counted = not np.isnan(np.asarray(array.chunks[0], dtype=float)).any()
    pieces = list(array.to_delayed().ravel())
    rows = array.chunks[0] if counted else None
    return ChunkedMatrix(pieces, dim, rows, "the dask array", scheduler=scheduler, origin=array)


def from_memmap(source: Any, *, chunk_rows: int | None = None, scheduler: str | None = None) -> ChunkedMatrix:
    """The numbers of a file, in chunks.

    Parameters
    ----------
    source : np.memmap or path
        A file that is mapped into memory, or the path of one in the format .npy; in C order.
    chunk_rows : int, optional
        The rows of a chunk; by default as many as 64 MB hold.
    scheduler : str, optional
        As for ``chunked``.

    Examples
    --------
    >>> import numpy as np, tempfile, os, tiebreak.dask
    >>> path = os.path.join(tempfile.mkdtemp(), "A.npy")
    >>> np.save(path, np.ones((6, 2)))
    >>> tiebreak.dask.from_memmap(path, chunk_rows=4).shape
    (6, 2)
    """
    mapped = source if isinstance(source, np.memmap) else _mapped(as_path(source, "source"))
    if not isinstance(mapped, np.memmap) or mapped.filename is None:
        raise TypeError("source must be a np.memmap of a file, or the path of a .npy file")
    if not mapped.flags.c_contiguous or mapped.ndim not in (1, 2):
        raise ValueError(f"source must be a whole matrix or vector in C order, got shape {mapped.shape}")
    path, dtype, shape = os.path.abspath(mapped.filename), mapped.dtype.str, mapped.shape
    offset = _offset(mapped)

    def reader(first: int, last: int) -> MemmapRows:
        return MemmapRows(path, dtype, shape, offset, first, last)

    return _sliced(reader, shape, mapped.dtype, chunk_rows, 1, scheduler, path)


def from_zarr(
    path: Any, name: str | None = None, *, chunk_rows: int | None = None, scheduler: str | None = None
) -> ChunkedMatrix:
    """An array in Zarr's format, in chunks of whole rows.

    Parameters
    ----------
    path : str, path or store
        What ``zarr.open_array`` takes; every worker must be able to open it.
    name : str, optional
        Of the array within a group.
    chunk_rows : int, optional
        The rows of a chunk; by default about 64 MB, and a multiple of Zarr's own.
    scheduler : str, optional
        As for ``chunked``.

    Examples
    --------
    >>> import numpy as np, os, tempfile, tiebreak.dask, zarr
    >>> path = os.path.join(tempfile.mkdtemp(), "A.zarr")
    >>> zarr.open_array(path, mode="w", shape=(6, 2), chunks=(3, 2), dtype="f8")[:] = 1.0
    >>> tiebreak.dask.from_zarr(path)
    ChunkedMatrix(6 x 2 in 1 chunks, A.zarr)
    """
    try:
        import zarr
    except ImportError:
        raise ImportError('from_zarr needs the package zarr: pip install "zarr>=3"') from None
    try:
        array = zarr.open_array(path, path=name, mode="r")
    except Exception as error:  # of Zarr and of what its stores are made of
        raise ValueError(f"{path} cannot be opened as an array in Zarr's format: {error}") from None
    if array.ndim not in (1, 2):
        raise ValueError(f"{path} must hold a matrix or a vector, got shape {array.shape}")

    def reader(first: int, last: int) -> ZarrRows:
        return ZarrRows(path, name, first, last)

    label = os.path.basename(str(path).rstrip("/")) + (f"/{name}" if name else "")
    return _sliced(reader, array.shape, array.dtype, chunk_rows, int(array.chunks[0]), scheduler, label)


def from_parquet(path: Any, columns: str | Sequence[str], *, scheduler: str | None = None) -> ChunkedMatrix:
    """Columns of Parquet files, a chunk for each row group: a list of names is a matrix, one name a vector.

    Parameters
    ----------
    path : path, or a sequence of such
        A file, or several in the order of their rows; a folder stands for its ``*.parquet`` files by name.
    columns : str or sequence of str
        The columns of A, or the name of the target.
    scheduler : str, optional
        As for ``chunked``.

    Examples
    --------
    >>> import os, pyarrow, pyarrow.parquet, tempfile, tiebreak.dask
    >>> path = os.path.join(tempfile.mkdtemp(), "t.parquet")
    >>> pyarrow.parquet.write_table(pyarrow.table({"a": [1.0, 2.0], "y": [0.0, 1.0]}), path)
    >>> tiebreak.dask.from_parquet(path, ["a"]).shape, tiebreak.dask.from_parquet(path, "y").shape
    ((2, 1), (2,))
    """
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise ImportError("from_parquet needs the package pyarrow: pip install pyarrow") from None
    alone, names = isinstance(columns, str), (columns,) if isinstance(columns, str) else tuple(columns)
    pieces, rows, files = [], [], _files(path)
    for file in files:
        with _parquet(parquet, file) as opened:
            missing = [name for name in names if name not in opened.schema_arrow.names]
            if missing:
                raise ValueError(f"{file} has no column {missing[0]!r}; it has {', '.join(opened.schema_arrow.names)}")
            for group in range(opened.num_row_groups):
                pieces.append(ParquetRows(file, group, names, alone))
                rows.append(opened.metadata.row_group(group).num_rows)
    label = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return ChunkedMatrix(pieces, None if alone else len(names), rows, f"{label} of {files[0]}", scheduler=scheduler)


def from_frame(frame: Any, columns: Any, *, scheduler: str | None = None) -> ChunkedMatrix:
    """Columns of a dask frame, a chunk for each partition: a list of names is a matrix, one name a vector.

    The frame goes into the task whole and is split there, so that A and b of one frame lie in the same chunks.

    Parameters
    ----------
    frame : dask DataFrame
        The frame itself, not a selection of its columns: those may be read in other partitions.
    columns : name or sequence of names
        The columns of A, or the name of the target.
    scheduler : str, optional
        As for ``chunked``.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd, tiebreak.dask
    >>> frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "y": [0.0, 1.0]}), npartitions=2)
    >>> tiebreak.dask.from_frame(frame, ["a"]).shape, tiebreak.dask.from_frame(frame, "y").shape
    ((None, 1), (None,))
    """
    if not hasattr(frame, "to_delayed") or not hasattr(frame, "columns"):
        raise TypeError(f"frame must be a dask DataFrame, got {type(frame).__name__}")
    alone = not isinstance(columns, (list, tuple))
    names = (columns,) if alone else tuple(columns)
    for name in names:
        if name not in list(frame.columns):
            raise ValueError(f"the frame has no column {name!r}; it has {', '.join(map(str, frame.columns))}")
        if np.dtype(getattr(frame.dtypes[name], "numpy_dtype", frame.dtypes[name])).kind not in "biuf":
            raise TypeError(f"column {name!r} must hold real numbers, got dtype {frame.dtypes[name]}")
    label = ", ".join(map(str, names[:3])) + (", ..." if len(names) > 3 else "")
    pieces, dim = list(frame.to_delayed()), None if alone else len(names)
    chosen = Selected(names, alone)
    return ChunkedMatrix(pieces, dim, None, f"{label} of the frame", scheduler=scheduler, selected=chosen)


def cut(origin: Any, to: ChunkedMatrix, name: str, prepare: Any = None) -> ChunkedMatrix:
    """A vector in the chunks of a matrix whose rows are counted: from memory, a dask array, or a file."""
    rows = to.rows
    assert rows is not None
    ends = np.cumsum([0, *rows])
    if origin is None:
        raise ValueError(
            f"{name} lies in other chunks than A, and its source cannot be read in those of A: write both with "
            "the same row groups, or take both from one frame with tiebreak.dask.from_frame"
        )
    if hasattr(origin, "rechunk"):
        pieces = list(origin.rechunk((rows,)).to_delayed().ravel())
    elif callable(origin):
        pieces = [origin(int(first), int(last)) for first, last in pairwise(ends)]
    else:
        pieces = [origin[first:last] for first, last in pairwise(ends)]
    return ChunkedMatrix(pieces, None, rows, name, scheduler=to.scheduler, origin=origin, prepare=prepare)


def _in_memory(array: Any, chunk_rows: int | None, scheduler: str | None) -> ChunkedMatrix:
    given: Any = array.tocsr() if hasattr(array, "tocsr") else np.asarray(array)
    if given.ndim not in (1, 2):
        raise ValueError(f"the array must be a matrix or a vector, got shape {given.shape}")
    return _sliced(
        lambda first, last: given[first:last], given.shape, given.dtype, chunk_rows, 1, scheduler, "the array"
    )


def _sliced(
    reader: Any,
    shape: tuple[int, ...],
    dtype: Any,
    chunk_rows: int | None,
    multiple: int,
    scheduler: str | None,
    label: str,
) -> ChunkedMatrix:
    """Chunks of rows that a source reads wherever they begin."""
    if np.dtype(dtype).kind not in "biuf":
        raise TypeError(f"{label} must hold real numbers, got dtype {dtype}; convert it to float64 first")
    n, dim = shape[0], shape[1] if len(shape) == 2 else None
    if chunk_rows is None:
        chunk_rows = max(1, CHUNK_BYTES // (8 * max(dim or 1, 1)))
        chunk_rows = max(multiple, chunk_rows // multiple * multiple)
    step = as_count(chunk_rows, "chunk_rows")
    firsts = range(0, n, step)
    rows = [min(step, n - first) for first in firsts]
    pieces = [reader(first, first + count) for first, count in zip(firsts, rows, strict=True)]
    return ChunkedMatrix(pieces, dim, rows, label, scheduler=scheduler, origin=reader)


def _mapped(path: Path) -> Any:
    try:
        return np.load(path, mmap_mode="r")
    except (ValueError, EOFError) as error:  # NumPy takes what is none of its formats for a pickle
        why = "it may be no .npy file" if "pickle" in str(error) else str(error)
        raise ValueError(f"{path} cannot be mapped into memory: {why}") from None


def _parquet(parquet: Any, file: str) -> Any:
    os.stat(file)  # the system's own error where there is none
    try:
        return parquet.ParquetFile(file)
    except (ValueError, OSError) as error:
        raise ValueError(f"{file} cannot be read as a Parquet file: {error}") from None


def _offset(mapped: np.memmap[Any, Any]) -> int:
    """Where the first number of a mapping lies in its file; of a part of a mapping, where that begins."""
    base: Any = mapped
    while isinstance(base.base, np.memmap):
        base = base.base
    return int(base.offset + mapped.ctypes.data - base.ctypes.data)


def _files(path: Any) -> list[str]:
    if isinstance(path, (list, tuple)):
        found = [os.fspath(as_path(one, "path")) for one in path]
    else:
        only = as_path(path, "path")
        found = sorted(map(str, only.glob("*.parquet"))) if only.is_dir() else [str(only)]
    if not found:
        raise ValueError(f"there is no Parquet file in {path}")
    return [os.path.abspath(one) for one in found]


__all__ = ["chunked", "from_frame", "from_memmap", "from_parquet", "from_zarr"]
