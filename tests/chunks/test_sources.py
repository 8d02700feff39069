"""Where chunks come from, and every way in which they can be no data: a sentence each."""

from __future__ import annotations

from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pyarrow
import pyarrow.parquet as parquet
import pytest
import scipy.sparse as sp
import zarr

import tiebreak as tb
import tiebreak.dask as td

rng = np.random.default_rng(0)
A = rng.standard_normal((100, 3))
b = rng.standard_normal(100)
X = np.array([0.5, -1.0, 2.0])
EXPECTED = tb.LeastSquares(A, b).value(X)


def zarr_array(path: Path, values: np.ndarray, rows: int = 30) -> str:
    chunks = (rows, *values.shape[1:])
    array = zarr.open_array(str(path), mode="w", shape=values.shape, chunks=chunks, dtype=values.dtype)
    array[:] = values
    return str(path)


def table(path: Path, rows: int = 40, **changed: object) -> str:
    columns = {"a": A[:, 0], "b": A[:, 1], "c": A[:, 2], "y": b, **changed}
    parquet.write_table(pyarrow.table(columns), path, row_group_size=rows)
    return str(path)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_files_give_what_memory_gives(tmp_path: Path, scheduler: str) -> None:
    np.save(tmp_path / "A.npy", A)
    np.save(tmp_path / "b.npy", b)
    path = table(tmp_path / "t.parquet")
    pairs = [
        (td.from_zarr(zarr_array(tmp_path / "A.zarr", A), chunk_rows=40, scheduler=scheduler), b),
        (td.from_memmap(tmp_path / "A.npy", chunk_rows=33, scheduler=scheduler), td.from_memmap(tmp_path / "b.npy")),
        (td.from_parquet(path, ["a", "b", "c"], scheduler=scheduler), td.from_parquet(path, "y")),
    ]
    for data, target in pairs:
        assert tb.LeastSquares(data, target).value(X) == pytest.approx(EXPECTED, rel=1e-14)
        assert data.chunk_count > 1


def test_part_of_a_mapped_file_is_that_part(tmp_path: Path) -> None:
    mapped = np.memmap(tmp_path / "raw", dtype="f4", mode="w+", shape=(100, 3), offset=64)
    mapped[:] = A
    mapped.flush()
    part = td.from_memmap(mapped[10:60], chunk_rows=20)
    assert tb.LeastSquares(part, b[10:60]).value(X) == pytest.approx(
        tb.LeastSquares(A[10:60].astype("f4"), b[10:60]).value(X), rel=1e-14
    )


def test_frames_are_split_in_the_task() -> None:
    dd = pytest.importorskip("dask.dataframe")
    import pandas as pd

    frame = dd.from_pandas(pd.DataFrame({"a": A[:, 0], "b": A[:, 1], "c": A[:, 2], "y": b}), npartitions=4)
    data, target = td.from_frame(frame, ["a", "b", "c"]), td.from_frame(frame, "y")
    assert tb.LeastSquares(data, target).value(X) == pytest.approx(EXPECTED, rel=1e-14)
    with pytest.raises(ValueError, match="the frame has no column 'z'; it has a, b, c, y"):
        td.from_frame(frame, ["z"])
    with pytest.raises(TypeError, match="from_frame"):
        tb.LeastSquares(frame[["a", "b"]], frame["y"])
    with pytest.raises(ValueError, match="the rows of A are not counted, so b in memory"):
        tb.LeastSquares(data, b)


def refused(make: object, kind: type[Exception], match: str) -> None:
    with pytest.raises(kind, match=match):
        objective = make()  # type: ignore[operator]
        objective.value(np.zeros(objective.dim))


def test_what_is_no_data_is_refused_with_a_sentence() -> None:
    dA, db = da.from_array(A, chunks=(30, 3)), da.from_array(b, chunks=30)
    spoiled = A.copy()
    spoiled[65, 2] = np.nan
    infinite = A.copy()
    infinite[99, 0] = np.inf
    labels = (b > 0).astype(float)
    refused(lambda: tb.LeastSquares(dA, db[:90]), ValueError, "b has 90 rows, A has 100")
    refused(lambda: tb.LeastSquares(dA, b[:90]), ValueError, "b has length 90, expected 100")
    refused(lambda: tb.LeastSquares(dA.rechunk((30, 2)), db), ValueError, r"cut between columns .*rechunk\(\{1: -1\}\)")
    refused(lambda: tb.LeastSquares(da.from_array(spoiled, chunks=(30, 3)), db), ValueError,
            "NaN in chunk 2, row 5, column 2 of the chunk")  # fmt: skip
    refused(lambda: tb.LeastSquares(da.from_array(infinite, chunks=(30, 3)), db), ValueError,
            "an infinity in chunk 3, row 9, column 0 of the chunk")  # fmt: skip
    holed = da.from_array(spoiled[:, 2], chunks=30)
    refused(lambda: tb.LeastSquares(dA, holed), ValueError, "b holds NaN in chunk 2, row 5")
    refused(lambda: tb.LeastSquares(dA.astype(object), db), TypeError, "real numbers, got dtype object")
    refused(lambda: tb.LeastSquares(dA.astype(complex), db), TypeError, "real numbers, got dtype complex")
    refused(lambda: tb.LeastSquares(dA[:0], db[:0]), ValueError, r"is empty: shape \(0, 3\)")
    refused(lambda: tb.LeastSquares(dA, dA), ValueError, "b must be a 1-D array")
    refused(lambda: tb.LeastSquares(db, db), ValueError, "A must be a 2-D matrix")
    refused(lambda: tb.Logistic(dA, db), ValueError, "y must hold two classes")
    refused(lambda: tb.Logistic(dA, 0 * labels), ValueError, "y must hold two classes.* it holds 0$")
    refused(lambda: tb.Poisson(dA, db), ValueError, "y must not be negative")
    refused(lambda: tb.Logistic(dA, labels, weights=-labels), ValueError, "weights must not be negative")
    refused(lambda: tb.LeastSquares(dA, db, weights=0 * labels), ValueError, "weights are all zero")
    other = "chunk 2: .* has 13 rows, b has 17 rows; rechunk them alike"
    refused(lambda: tb.LeastSquares(dA[db > 0], db[db < 0]), ValueError, other)
    refused(lambda: tb.LeastSquares(dA[db > 99], db[db > 99]), ValueError, "holds no rows")
    longer = da.from_array(b, chunks=70)
    unknown = "b has 2 chunks and A has 4, of unknown lengths"
    refused(lambda: tb.LeastSquares(dA[db > 0], longer[longer > 0]), ValueError, unknown)


def test_nothing_pulls_chunks_into_memory_silently() -> None:
    dA, data = da.from_array(A, chunks=(30, 3)), td.chunked(A, chunk_rows=30)
    for given in (dA, data):
        for make in (
            lambda given: tb.Softmax(given, np.arange(100) % 3),
            lambda given: tb.MaxAffine(given, b),
            lambda given: tb.Quadratic(given, X),
            lambda given: tb.SquaredNorm(given),
            lambda given: tb.LeastSquares(A, given),
            lambda given: tb.Polyhedron(given, b),
            lambda given: tb.L1Norm(A=given, b=b),
        ):
            with pytest.raises(TypeError, match=r"in chunks|needs its rows on one machine"):
                make(given)
    with pytest.raises(TypeError, match="never pulled into memory"):
        np.asarray(data)


def test_an_unreadable_chunk_is_named(tmp_path: Path) -> None:
    path = tmp_path / "A.npy"
    np.save(path, A)
    data = td.from_memmap(path, chunk_rows=30, scheduler="synchronous")
    with open(path, "r+b") as file:
        file.truncate(128 + 8 * 3 * 70)
    with pytest.raises(td.ChunkError, match=r"chunk 2 \(rows 60 to 89 of .*A.npy\) cannot be read: OSError"):
        tb.LeastSquares(data, b).value(X)

    def broken(block: np.ndarray, block_info: object = None) -> np.ndarray:
        if block_info[0]["chunk-location"][0] == 1:  # type: ignore[index]
            raise RuntimeError("bad sector")
        return block

    mapped = da.from_array(A, chunks=(30, 3)).map_blocks(broken, meta=A[:0])
    with dask.config.set(scheduler="threads"), pytest.raises(td.ChunkError, match=r"chunk 1 .*bad sector"):
        tb.LeastSquares(mapped, b).value(X)


def test_a_reading_error_that_passes_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tiebreak.dask import blocks

    np.save(tmp_path / "A.npy", A)
    data, failures = td.from_memmap(tmp_path / "A.npy", chunk_rows=30, scheduler="synchronous"), [OSError("busy")] * 2
    real = blocks.MemmapRows.read

    def sometimes(self: blocks.MemmapRows) -> object:
        if failures:
            raise failures.pop()
        return real(self)

    monkeypatch.setattr(blocks.MemmapRows, "read", sometimes)
    assert tb.LeastSquares(data, b).value(X) == pytest.approx(EXPECTED, rel=1e-14)
    assert not failures


def test_missing_values_and_columns_of_parquet(tmp_path: Path) -> None:
    holes = A[:, 0].tolist()
    holes[45] = None
    path = table(tmp_path / "t.parquet", a=holes, c=[f"{i}" for i in range(100)])
    target = td.from_parquet(path, "y")
    holed, words = td.from_parquet(path, ["b", "a"]), td.from_parquet(path, ["b", "c"])
    refused(lambda: tb.LeastSquares(holed, target), ValueError, "NaN in chunk 1, row 5, column 1 of")
    refused(lambda: tb.LeastSquares(words, target), TypeError, "'c' holds string")
    with pytest.raises(ValueError, match=r"has no column 'z'; it has a, b, c, y"):
        td.from_parquet(path, ["z"])
    other = table(tmp_path / "u.parquet", rows=50)
    target = td.from_parquet(other, "y")
    refused(lambda: tb.LeastSquares(td.from_parquet(path, ["b"]), target), ValueError, "other chunks than A")


def test_sparse_chunks_of_memory() -> None:
    data = td.chunked(sp.random_array((100, 3), density=0.4, rng=1, format="csc"), chunk_rows=30)
    dense = td.chunked(sp.random_array((100, 3), density=0.4, rng=1).toarray(), chunk_rows=30)
    assert tb.LeastSquares(data, b).value(X) == pytest.approx(tb.LeastSquares(dense, b).value(X), rel=1e-13)
