"""Arrays from files: what is chosen, in which order and shape."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tiebreak.files.data import Data
from tiebreak.files.errors import KeyProblem

TABLE = 'name,x,"y, scaled",z\n"Ann, B",1,2.5,3\nBo,-4e1,5,inf\n'


def read(folder: Path, **source: Any) -> Any:
    return Data(folder).array(source, ("A",))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "table.csv").write_text(TABLE)
    return tmp_path


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"column": "x"}, [1, -40]),
        ({"column": 1}, [1, -40]),
        ({"columns": ["z", "x"]}, [[3, 1], [np.inf, -40]]),
        ({"columns": ["y, scaled"]}, [[2.5], [5]]),
        ({"without": ["name"]}, [[1, 2.5, 3], [-40, 5, np.inf]]),
        ({"without": [0, "z"], "flatten": True}, [1, 2.5, -40, 5]),
    ],
)
def test_columns_of_csv(folder: Path, choice: dict[str, Any], expected: Any) -> None:
    array = read(folder, file="table.csv", **choice)
    assert array.tolist() == expected


def test_blank_lines_byte_order_mark_and_spaces_do_no_harm(folder: Path) -> None:
    (folder / "marked.csv").write_text("\ufeffx, y\r\n\r\n1, 2\r\n", encoding="utf-8")
    assert read(folder, file="marked.csv", columns=["y", "x"]).tolist() == [[2, 1]]


def test_whole_numbers_may_be_labels(folder: Path) -> None:
    (folder / "labels.csv").write_text("group\n3\n1\n3\n")
    assert read(folder, file="labels.csv", column="group").dtype.kind == "i"
    assert read(folder, file="table.csv", columns=["x", "y, scaled"]).dtype == np.float64


def test_a_file_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Data(folder)
    data.array({"file": "table.csv", "column": "x"}, ("A",))
    (folder / "table.csv").write_text("gone")
    assert data.array({"file": "table.csv", "column": "x"}, ("b",)).tolist() == [1, -40]
    assert data.files == {(folder / "table.csv").resolve()}


def test_npz_dense_and_sparse(folder: Path) -> None:
    A = np.arange(6.0).reshape(2, 3)
    np.savez(folder / "two.npz", A=A, b=A[:, 0])
    np.savez(folder / "one.npz", A)
    sparse.save_npz(folder / "sparse.npz", sparse.csc_array(A))
    assert read(folder, file="two.npz", array="b").tolist() == [0, 3]
    assert read(folder, file="one.npz", flatten=True).tolist() == [0, 1, 2, 3, 4, 5]
    found = read(folder, file="sparse.npz")
    assert sparse.issparse(found) and (found.toarray() == A).all()


def test_objects_in_npz_are_refused(folder: Path) -> None:
    np.savez(folder / "objects.npz", A=np.array([{"no": "pickle"}], dtype=object))
    with pytest.raises(KeyProblem, match="not an NPZ file of numbers"):
        read(folder, file="objects.npz")


def test_csv_that_is_not_text(folder: Path) -> None:
    (folder / "latin.csv").write_bytes("größe\n1\n".encode("latin-1"))
    with pytest.raises(KeyProblem, match=r"cannot read latin\.csv"):
        read(folder, file="latin.csv")


def test_parquet_without_pyarrow_names_the_pip_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (folder / "table.parquet").write_bytes(b"PAR1")
    with pytest.raises(KeyProblem, match="pip install pyarrow"):
        read(folder, file="table.parquet")


def test_parquet(folder: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    columns = {"name": ["a", "b"], "x": [1, 2], "y": [0.5, -1.0], "gap": [1.0, None]}
    parquet.write_table(pyarrow.table(columns), folder / "table.parquet")
    assert read(folder, file="table.parquet", columns=["y", "x"]).tolist() == [[0.5, 1], [-1, 2]]
    assert read(folder, file="table.parquet", column="x").dtype.kind == "i"
    for choice, words in [
        ({"column": "name"}, "'name' of table.parquet holds string, not numbers"),
        ({"column": "gap"}, "row 1 of table.parquet has no value in column 'gap'"),
        ({"column": "z"}, "no column 'z'"),
        ({"column": "x", "header": True}, "header is for CSV files"),
    ]:
        with pytest.raises(KeyProblem, match=words):
            read(folder, file="table.parquet", **choice)
    (folder / "fake.parquet").write_text("no table")
    with pytest.raises(KeyProblem, match=r"cannot read fake\.parquet"):
        read(folder, file="fake.parquet")
