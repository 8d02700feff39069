"""Arrays that a problem file takes from CSV, Parquet and NPZ files."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Matrix, as_sparse
from ..disk import UNPACKED, Archive, ArchiveError
from .errors import KeyProblem, suggestion
from .locate import KeyPath
from .tables import CSVTable, ParquetTable, Table, first_nan

KEYS = ("file", "column", "columns", "without", "header", "array", "flatten")
TABLES: dict[str, type[CSVTable] | type[ParquetTable]] = {".csv": CSVTable, ".parquet": ParquetTable}


SPARSE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("csr", "csc", "bsr"), ("indices", "indptr")),
    "coo": ("row", "col"),
    "dia": ("offsets",),
}
"""The formats of sparse matrices, and the names of their indices in a file."""


class Data:
    """The data files of one problem file, each read once; ``files`` are those it has read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files: set[Path] = set()
        self._tables: dict[tuple[Path, bool | None], Table] = {}

    def array(self, source: dict[str, Any], at: KeyPath) -> Matrix:
        """What the table ``source`` (at the key ``at``) describes: ``{ file = "data.csv", column = "y" }``."""
        for key in source:
            if key not in KEYS:
                raise KeyProblem((*at, key), f"data has no key {key!r}; {suggestion(key, KEYS)}")
        path = self._path(source["file"], (*at, "file"))
        if path.suffix == ".npz":
            array = _from_npz(path, source, at)
        elif path.suffix in TABLES:
            array = self._from_table(path, source, at)
        else:
            raise KeyProblem((*at, "file"), f"{path.name} must end in .csv, .parquet or .npz")
        flatten = _flag(source, "flatten", at)
        if not flatten:
            return array
        if not isinstance(array, np.ndarray):
            raise KeyProblem((*at, "flatten"), "a sparse matrix cannot be flattened; save it as a dense array")
        return array.ravel()

    def _path(self, name: Any, at: KeyPath) -> Path:
        if not isinstance(name, str):
            raise KeyProblem(at, f"must be the name of a file, got {name!r}")
        path = self.folder / name
        if not path.is_file():
            raise KeyProblem(at, f"there is no file {name!r} in {self.folder.resolve()}")
        self.files.add(path.resolve())
        return path

    def _from_table(self, path: Path, source: dict[str, Any], at: KeyPath) -> Matrix:
        if "array" in source:
            raise KeyProblem((*at, "array"), f"array is for NPZ files; choose columns of {path.name} with columns")
        chosen = [key for key in ("column", "columns", "without") if key in source]
        if len(chosen) > 1:
            raise KeyProblem((*at, chosen[1]), f"give {chosen[0]} or {chosen[1]}, not both")
        header = _flag(source, "header", at) if "header" in source else None
        try:
            if (path, header) not in self._tables:
                self._tables[path, header] = TABLES[path.suffix](path, header)
            table = self._tables[path, header]
        except (ValueError, csv.Error, OSError, ImportError, OverflowError) as error:
            raise KeyProblem((*at, "file"), f"cannot read {path.name}: {error}") from error
        except MemoryError:
            raise KeyProblem((*at, "file"), f"{path.name} is too large for the memory") from None
        wanted, where = _columns(table, source, at)
        try:
            values = table.numbers(wanted)
        except ValueError as error:
            raise KeyProblem(where, str(error)) from None
        return values[:, 0] if "column" in source else values


def _columns(table: Table, source: dict[str, Any], at: KeyPath) -> tuple[list[int], KeyPath]:
    """The positions of the chosen columns, and the key that chose them."""
    if "column" in source:
        return [_position(table, source["column"], (*at, "column"))], (*at, "column")
    key = next((key for key in ("columns", "without") if key in source), None)
    if key is None:
        return list(range(len(table.names))), (*at, "file")
    if not isinstance(source[key], list) or not source[key]:
        raise KeyProblem((*at, key), f"must be a list of columns, got {source[key]!r}")
    named = [_position(table, name, (*at, key, i)) for i, name in enumerate(source[key])]
    if len(set(named)) < len(named):
        raise KeyProblem((*at, key), "a column is named twice")
    if key == "columns":
        return named, (*at, key)
    rest = [i for i in range(len(table.names)) if i not in set(named)]
    if not rest:
        raise KeyProblem((*at, key), "no column is left")
    return rest, (*at, key)


def _position(table: Table, name: Any, at: KeyPath) -> int:
    if isinstance(name, str):
        if name not in table.names:
            raise KeyProblem(at, f"there is no column {name!r}; {suggestion(name, table.names)}")
        return table.names.index(name)
    if isinstance(name, bool) or not isinstance(name, int):
        raise KeyProblem(at, f"a column is chosen by its name or its position 0, 1, ..., got {name!r}")
    if not 0 <= name < len(table.names):
        raise KeyProblem(at, f"there is no column {name}: the positions are 0 to {len(table.names) - 1}")
    return name


def _from_npz(path: Path, source: dict[str, Any], at: KeyPath) -> Matrix:
    for key in ("column", "columns", "without", "header"):
        if key in source:
            raise KeyProblem((*at, key), f"{key} is for CSV and Parquet files; choose from an NPZ file with array")
    try:
        with Archive(path) as file:
            if {"format", "shape", "data"} <= set(file.names):
                return _sparse(file, path, source, at)
            array = file.array(_array_name(file.names, source.get("array"), at))
    except ArchiveError as error:
        raise KeyProblem((*at, "file"), f"{path.name} is not an NPZ file of numbers: {error}") from None
    except OSError as error:
        raise KeyProblem((*at, "file"), f"cannot read {path.name}: {error}") from None
    if array.dtype.kind == "f" and (bad := first_nan(array)) is not None:
        raise KeyProblem(at, f"the array of {path.name} holds NaN at {list(bad)}; remove or impute it first")
    return array


def _array_name(names: list[str], name: Any, at: KeyPath) -> str:
    if name is None:
        if len(names) != 1:
            raise KeyProblem((*at, "file"), f"which array? Say array = one of {', '.join(names)}")
        return names[0]
    if name not in names:
        raise KeyProblem((*at, "array"), f"there is no array {name!r}; {suggestion(str(name), names)}")
    return str(name)


def _sparse(file: Archive, path: Path, source: dict[str, Any], at: KeyPath) -> Matrix:
    """A matrix as ``scipy.sparse.save_npz`` writes it; nothing is made of it before its indices have been checked."""
    if "array" in source:
        raise KeyProblem((*at, "array"), f"{path.name} holds one sparse matrix; leave array out")
    kind = file.word("format")
    if kind not in SPARSE:
        raise ArchiveError(f"it has the format {kind!r}, which is not one of {', '.join(SPARSE)}")
    sides = file.array("shape").ravel()
    shape = tuple(map(int, sides)) if sides.dtype.kind in "iu" else ()
    if len(shape) != 2 or min(shape) < 1 or 8 * max(shape) > UNPACKED:
        raise ArchiveError(f"it claims the shape {shape}")
    data, index = file.array("data"), [file.array(name) for name in SPARSE[kind]]
    try:
        matrix = _made(kind, data, index, (shape[0], shape[1]))
    except (ValueError, TypeError) as error:
        raise ArchiveError(str(error)) from None
    if matrix.data.dtype.kind == "f" and np.isnan(matrix.data).any():
        raise KeyProblem(at, f"the matrix of {path.name} holds NaN; remove or impute it first")
    return matrix


def _made(kind: str, data: Matrix, index: list[Matrix], shape: tuple[int, int]) -> Matrix:
    """The matrix of a format, with its indices checked."""
    from scipy import sparse

    if any(one.ndim != 1 or one.dtype.kind not in "iu" for one in index):
        raise ValueError("its indices are no lists of whole numbers")
    if kind == "coo":
        return as_sparse(sparse.coo_array((data, (index[0], index[1])), shape=shape), "the matrix")
    if kind == "dia":
        return as_sparse(sparse.dia_array((data, index[0]), shape=shape), "the matrix")
    make = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}[kind]
    return as_sparse(make((data, index[0], index[1]), shape=shape), "the matrix")


def _flag(source: dict[str, Any], key: str, at: KeyPath) -> bool:
    value = source.get(key, False)
    if not isinstance(value, bool):
        raise KeyProblem((*at, key), f"must be true or false, got {value!r}")
    return value
