"""Tables of numbers: CSV and Parquet files, from which columns are chosen by name or position."""

from __future__ import annotations

import csv
from array import array
from collections import Counter
from collections.abc import Iterator
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TextIO

import numpy as np

from ..arrays import Matrix
from ..disk import EXPANSION, UNPACKED


class Table(Protocol):
    """Columns with names (the positions 0, 1, ... where the file has none)."""

    names: list[str]

    def numbers(self, columns: list[int]) -> Matrix:
        """These columns as a 2-D array of numbers; ValueError names the cell that is none."""


class BadCell(NamedTuple):
    line: int
    text: str


class CSVTable:
    """A CSV file, read once, row by row, into numbers: what else a cell holds matters only if its column is asked for.

    Memory is taken for 8 bytes a cell, so at most for four times the size of the file.
    """

    def __init__(self, path: Path, header: bool | None) -> None:
        self.file = path.name
        self.names: list[str] = []
        self._bad: dict[int, BadCell] = {}  # the first cell of each column that is no number
        numbers = array("d")
        with open(path, newline="", encoding="utf-8-sig") as file:
            for line, cells in self._rows(file):
                if not self.names:
                    self.names, is_data = self._head(cells, header)
                    if not is_data:
                        continue
                if len(cells) != len(self.names):
                    first = len(self.names)
                    raise ValueError(f"line {line} of {self.file} has {len(cells)} cells, the first has {first}")
                numbers.extend(self._numbers(line, cells))
        if not self.names:
            raise ValueError(f"{self.file} is empty")
        if not numbers:
            raise ValueError(f"{self.file} has a header but no data")
        self._check_names()
        self._values = np.frombuffer(numbers).reshape(-1, len(self.names))

    @staticmethod
    def _rows(file: TextIO) -> Iterator[tuple[int, list[str]]]:
        reader = csv.reader(file, strict=True)
        for cells in reader:
            if cells:
                yield reader.line_num, cells

    def _head(self, cells: list[str], header: bool | None) -> tuple[list[str], bool]:
        """The names of the columns, and whether the first line is data."""
        if header is None and all(map(_is_number, cells)):
            raise ValueError(
                f"the first line of {self.file} holds nothing but numbers: say header = true if they are the "
                "names of the columns, header = false if they are data"
            )
        if header is False:
            return [str(i) for i in range(len(cells))], True
        return [name.strip() for name in cells], False

    def _check_names(self) -> None:
        names = self.names
        if len(set(names)) < len(names):
            twice = min(name for name, count in Counter(names).items() if count > 1)
            raise ValueError(f"{self.file} has the column {twice!r} twice")
        if len(names) == 1 and (";" in names[0] or "\t" in names[0]):
            raise ValueError(f"{self.file} is not separated by commas")

    def _numbers(self, line: int, cells: list[str]) -> list[float]:
        try:
            values = [float(cell) for cell in cells]
            if "_" in "".join(cells):  # which Python takes for a space between digits
                raise ValueError
        except ValueError:
            values = [float(cell) if _is_number(cell) else np.nan for cell in cells]
        if any(map(isnan, values)):
            for i, value in enumerate(values):
                if isnan(value):
                    self._bad.setdefault(i, BadCell(line, cells[i]))
        return values

    def numbers(self, columns: list[int]) -> Matrix:
        bad = [(self._bad[i].line, order, i) for order, i in enumerate(columns) if i in self._bad]
        if bad:
            line, _, column = min(bad)
            raise ValueError(
                f"line {line} of {self.file} has {self._bad[column].text!r} in column {self.names[column]!r}, "
                "which is no number; remove or impute it first"
            )
        values = self._values[:, columns]
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
            found = parquet.read_metadata(path)
            size = 8 * found.num_rows * found.num_columns
            if size > max(UNPACKED, EXPANSION * path.stat().st_size):
                raise ValueError(f"{path.name} claims to hold {size} bytes of numbers, which is too much for it")
            self._table: Any = parquet.read_table(path)
        except (ArrowException, OSError) as error:
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
        return not isnan(float(cell)) and "_" not in cell
    except ValueError:
        return False
