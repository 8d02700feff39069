"""Files made to break the reader: each is refused with its key, before memory is taken."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bad_problems import GOOD, A
from scipy import sparse

from tiebreak.cli import main
from tiebreak.files import FileProblem, read_task
from tiebreak.files.tables import CSVTable

TEXTS = {
    "deep list": "x0 = " + "[" * 3000 + "]" * 3000,
    "a list of 80 levels": "x0 = " + "[" * 80 + "]" * 80,
    "deep table": "x0 = " + "{a=" * 2000 + "1" + "}" * 2000,
    "long key": ".".join("a" * 100_000) + " = 1",
    "long header": "[" + " . ".join(["'a'"] * 100_000) + "]",
    "many digits": "slack = " + "9" * 5000,
    "huge number": "slack = " + "9" * 400,
    "huge count": "[limits]\nmax_iter = " + "9" * 30,
    "huge in a list": "x0 = [1, 2, " + "9" * 400 + "]",
    "huge dim": '[upper]\ntype = "SquaredNorm"\ndim = 1_000_000_000_000',
    "huge set": '[domain]\ntype = "Birkhoff"\nn = 100_000',
    "huge matrices": '[domain]\ntype = "NuclearBall"\nshape = [100_000, 100_000]\nradius = 1',
    "nul": 'x0 = { file = "a\\u0000b.csv" }',
    "date": "slack = 1979-05-27T07:32:00Z",
    "infinite slack": "slack = inf",
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = TEXTS[name]
    good = GOOD.replace('[upper]\ntype = "SquaredNorm"\n', "") if "[upper]" in text else GOOD
    good = re.sub(r"\[domain\]\n(\w+ = .*\n)+", "", good) if "[domain]" in text else good
    file = tmp_path / "problem.toml"
    file.write_text(f"{good}\n{text}\n" if text.startswith("[") else f"{text}\n{good}")
    with pytest.raises(FileProblem) as caught:
        read_task(file)
    assert len(str(caught.value)) < 1000
    assert main(["solve", str(file)]) == 2 and "error:" in capsys.readouterr().err


def saved(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def sparse_file(**changes: Any) -> bytes:
    file = io.BytesIO()
    sparse.save_npz(file, sparse.csr_array(np.ones((1, 3))))
    file.seek(0)
    with np.load(file) as found:
        return saved(**{**{name: found[name] for name in found.files}, **changes})


def bomb() -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, A=np.zeros((1, 4 * 10**7)))
    return file.getvalue()


def claim(shape: str) -> bytes:
    """An array of three numbers that claims another shape."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("A.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(24))
    return file.getvalue()


NPZ = {
    "bomb": (bomb, "claims to hold 320"),
    "claim": (lambda: claim("(1, 300000000)"), "claims the shape"),
    "negative claim": (lambda: claim("(-1, -3)"), "claims the shape"),
    "claim beyond all": (lambda: claim("(4611686018427387904, 4)"), "claims the shape"),
    "objects": (lambda: saved(A=np.array([[1, 2, None]], dtype=object)), "holds no numbers"),
    "half": (lambda: saved(A=np.ones((1, 3)))[:150], "not all of it is there"),
    "index far away": (lambda: sparse_file(indices=np.array([0, 1, 2**30])), "point outside"),
    "index negative": (lambda: sparse_file(indices=np.array([0, -5, 1])), "point outside"),
    "starts fall": (lambda: sparse_file(indptr=np.array([3, 0])), "malformed|should start with 0"),
    "starts far away": (lambda: sparse_file(indptr=np.array([0, 2**30])), "malformed|should be less than"),
    "indices no numbers": (lambda: sparse_file(indices=np.array([0.5, 1.0, 2.0])), "no lists of whole numbers"),
    "huge shape": (lambda: sparse_file(shape=np.array([1, 2**40])), "claims the shape"),
    "three sides": (lambda: sparse_file(shape=np.array([1, 3, 1])), "claims the shape"),
    "format": (lambda: sparse_file(format=np.array("pickle")), "the format 'pickle'"),
    "format no text": (lambda: sparse_file(format=np.array(3)), "no short text"),
}


@pytest.mark.parametrize("name", NPZ)
def test_archives(name: str, tmp_path: Path) -> None:
    make, words = NPZ[name]
    (tmp_path / "data.npz").write_bytes(make())
    (tmp_path / "problem.toml").write_text(GOOD.replace(A, 'A = { file = "data.npz" }'))
    with pytest.raises(FileProblem, match=words) as caught:
        read_task(tmp_path / "problem.toml")
    assert caught.value.key == "lower.A.file" and "data.npz" in str(caught.value)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_sparse_files_in_all_formats(kind: str, tmp_path: Path) -> None:
    sparse.save_npz(tmp_path / "data.npz", getattr(sparse, f"{kind}_array")(np.ones((1, 3))))
    (tmp_path / "problem.toml").write_text(GOOD.replace(A, 'A = { file = "data.npz" }'))
    problem = read_task(tmp_path / "problem.toml").problem
    assert problem is not None and problem.lower.value(np.zeros(3)) == 0.5


def test_a_wide_table_is_read_in_linear_time_and_little_memory(tmp_path: Path) -> None:
    import tracemalloc

    path, width = tmp_path / "wide.csv", 60_000
    path.write_text(",".join(f"c{i}" for i in range(width)) + "\n" + (",".join(["1.5"] * width) + "\n") * 4)
    table = CSVTable(path, None)
    assert table.numbers([0, width - 1]).shape == (4, 2)
    path.write_text("x,y\n" + "1.5,2.5\n" * 100_000)
    tracemalloc.start()
    CSVTable(path, None)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 6 * path.stat().st_size


def test_digits_with_a_line_between_them_are_no_number(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x,y\n1,2\n1_0,3\n")
    table = CSVTable(path, None)
    assert table.numbers([1]).tolist() == [[2], [3]]
    with pytest.raises(ValueError, match=r"line 3 of data\.csv has '1_0' in column 'x'"):
        table.numbers([0, 1])
