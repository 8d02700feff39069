"""What is wrong with a file is said with its key and its line, and what to do about it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bad_data import CASES as BAD_DATA
from bad_problems import CASES as BAD_PROBLEMS
from bad_problems import GOOD

from tiebreak.cli import main
from tiebreak.files import FileProblem, read_task
from tiebreak.files.build import blamed
from tiebreak.files.errors import ModelProblem

CASES = {**BAD_PROBLEMS, **BAD_DATA}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from scipy import sparse

    path = tmp_path_factory.mktemp("bad")
    texts = {
        "data.csv": "name,x,y,z\nfirst,1,2,3\nsecond,4,5,n/a\n",
        "gap.csv": "x,y\n,2\n",
        "nan.csv": "x,y\nNaN,2\n",
        "short.csv": "x,y\n1,2\n3\n",
        "plain.csv": "1,1,1\n",
        "semicolons.csv": "x;y\n1;2\n",
        "empty.csv": "",
        "double.csv": "x,y,x\n1,2,3\n",
        "b.csv": "b\n1.5\n",
        "data.txt": "1 2 3",
        "fake.npz": "no archive",
    }
    for name, text in texts.items():
        (path / name).write_text(text)
    np.savez(path / "data.npz", A=np.ones((1, 3)), b=np.ones(1), bad=np.array([[1.0, np.nan]]))
    sparse.save_npz(path / "sparse.npz", sparse.csr_array(np.eye(3)))
    return path


@pytest.mark.parametrize("name", CASES)
def test_message_names_key_and_line(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new, key, words = CASES[name]
    assert GOOD.count(old) == 1
    text = GOOD.replace(old, new)
    file = folder / "problem.toml"
    file.write_text(text)
    with pytest.raises(FileProblem) as caught:
        read_task(file)
    problem = caught.value
    for word in words:
        assert word in str(problem)
    assert main(["solve", str(file)]) == 2
    said = capsys.readouterr().err
    if isinstance(problem, ModelProblem):  # one of several mistakes
        assert f": {key}: " in said
        return
    assert problem.key == key
    marked = [i for i, line in enumerate(text.splitlines(), 1) if "# here" in line]
    if marked and key not in ("lower", "upper", "upper.lower"):
        assert problem.line == marked[0]
    elif key:
        assert text.splitlines()[problem.line - 1].startswith((f"[{key}]", f"{key.split('.')[-1]} ="))
    assert f"problem.toml, line {problem.line}: {key}" in said


def test_the_good_file_is_good(folder: Path) -> None:
    (folder / "problem.toml").write_text(GOOD)
    assert read_task(folder / "problem.toml").problem is not None


def test_the_key_that_a_message_is_about() -> None:
    assert blamed("b has length 2, expected 1", ["A", "b"]) == ("b",)
    assert blamed("give it a shape or a radius", ["a", "radius", "shape"]) == ("shape",)
    assert blamed("nothing that is known", ["A", "is_known"]) == ()


def test_cases_are_many() -> None:
    assert len(CASES) >= 80


def test_all_mistakes_are_told_at_once(folder: Path) -> None:
    text = """lower = { type = "LeastSquares", A = [[1.0, 2.0]], b = [1.0, 2.0] }
upper = { type = "Sum", terms = 3 }
slak = 3
[domain]
type = "Product"
blocks = { w = { type = "Box", lower = "abc", upper = 1 }, p = { type = "Simplx", shape = 3 } }
[limits]
max_time = -1
tol = 2
"""
    file = folder / "many.toml"
    file.write_text(text)
    with pytest.raises(ModelProblem) as caught:
        read_task(file)
    assert [line for line, _ in caught.value.mistakes] == [1, 2, 3, 6, 6, 8, 9]
    for word in ("lower.b", "upper.type", "slak", "domain.blocks.w.lower", "domain.blocks.p.type", "limits.tol"):
        assert word in str(caught.value)
