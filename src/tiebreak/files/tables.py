"""Tables of numbers: CSV and Parquet files, from which columns are chosen by name or position."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..arrays import Matrix


class Table(Protocol):
    """Columns with names (the positions 0, 1, ... where the file has none)."""

    names: list[str]

    def numbers(self, columns: list[int]) -> Matrix:
        """These columns as a 2-D array of numbers; ValueError names the cell that is none."""


class Row(NamedTuple):
    line: int
    cells: list[str]


class CSVTable:
    """A CSV file. The cells become numbers when their column is asked for, so that others may hold text."""

    def __init__(self, path: Path, header: bool | None) -> None:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, strict=True)
            rows = [Row(reader.line_num, cells) for cells in reader if cells]
        if not rows:
            raise ValueError(f"{path.name} is empty")
        if header is None:
            if all(map(_is_number, rows[0].cells)):
                raise ValueError(
                    f"the first line of {path.name} holds nothing but numbers: say header = true if they are the "
                    "names of the columns, header = false if they are data"
                )
            header = True
        first = rows[0].cells
        self.file = path.name
        self.names = [name.strip() for name in first] if header else [str(i) for i in range(len(first))]
        self.rows = rows[1:] if header else rows
        self._check()

    def _check(self) -> None:
        if not self.rows:
            raise ValueError(f"{self.file} has a header but no data")
        for line, cells in self.rows:
            if len(cells) != len(self.names):
                raise ValueError(f"line {line} of {self.file} has {len(cells)} cells, the first has {len(self.names)}")
        twice = {name for name in self.names if self.names.count(name) > 1}
        if twice:
            raise ValueError(f"{self.file} has the column {min(twice)!r} twice")
        if len(self.names) == 1 and (";" in self.names[0] or "\t" in self.names[0]):
            raise ValueError(f"{self.file} is not separated by commas")

    def numbers(self, columns: list[int]) -> Matrix:
        try:
            values = np.array([[float(row.cells[i]) for i in columns] for row in self.rows])
        except ValueError:
            values = np.array([[np.nan if not _is_number(row.cells[i]) else 0.0 for i in columns] for row in self.rows])
        if bad := first_nan(values):
            line, cells = self.rows[bad[0]]
            column = columns[bad[1]]
            raise ValueError(
                f"line {line} of {self.file} has {cells[column]!r} in column {self.names[column]!r}, "
                "which is no number; remove or impute it first"
            )
        whole = np.abs(values) < 2.0**53
        whole &= values == np.rint(values)
        return values.astype(np.int64) if whole.all() else values  # so that labels may come from a file


class ParquetTable:
    """A Parquet file, read by pyarrow."""

    def __init__(self, path: Path, header: bool | None) -> None:
        try:
            from pyarrow import ArrowException, parquet
        except ImportError as error:
            raise ImportError(f"{path.name} needs pyarrow: pip install pyarrow") from error
        try:
            self._table: Any = parquet.read_table(path)
        except ArrowException as error:
            raise ValueError(f"{path.name} is no Parquet file: {error}") from None
        self.file = path.name
        self.names: list[str] = self._table.column_names
        if header is not None:
            raise ValueError("header is for CSV files; Parquet files always name their columns")

    def numbers(self, columns: list[int]) -> Matrix:
        found = []
        for i in columns:
            column = self._table.column(i)
            values = column.to_numpy()
            if values.dtype.kind not in "biuf":
                raise ValueError(f"column {self.names[i]!r} of {self.file} holds {column.type}, not numbers")
            found.append(values)
        together = np.column_stack(found)
        if together.dtype.kind == "f" and (bad := first_nan(together)):
            name = self.names[columns[bad[1]]]
            raise ValueError(f"row {bad[0]} of {self.file} has no value in column {name!r}; remove or impute it first")
        return together


def first_nan(values: Matrix) -> tuple[int, ...] | None:
    """The position of the first NaN, in the order of the rows."""
    places = np.argwhere(np.isnan(values))
    return tuple(map(int, places[0])) if places.size else None


def _is_number(cell: str) -> bool:
    try:
        return not np.isnan(float(cell))
    except ValueError:
        return False
