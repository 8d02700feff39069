"""``tiebreak solve`` as a user runs it: exit codes, where the answer goes, interrupts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from bad_problems import GOOD

import tiebreak as tb
from tiebreak.cli import main
from tiebreak.files import FileProblem, read_task
from tiebreak.methods import SOLVERS

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"

SLOW = """\
[method]
name = "cg"                 # ignores the upper level: it cannot converge

[limits]
tol_upper = 1e-12
tol_lower = 1e-12
max_iter = 1_000_000_000
max_time = inf
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "problem.toml"
    path.write_text(GOOD)
    return path


def test_answer_in_json_and_npz_beside_the_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", str(file)]) == 0
    out = capsys.readouterr().out
    for words in ("f* in [", "g* in [", "What is proved", "It assumes", "problem.result.json"):
        assert words in out
    written = json.loads((file.parent / "problem.result.json").read_text())
    assert written["status"] == "converged" and written["method"] == "exact" and written["f"] == pytest.approx(1 / 6)
    assert written["certificate"]["f_lower"] <= 1 / 6 <= written["certificate"]["f_upper"]
    assert written["limits"]["tol_upper"] == 1e-4 and written["problem"]["domain"] == {"type": "L1Ball", "radius": 2.0}
    assert written["versions"]["numpy"] == np.__version__ and written["versions"]["tiebreak"]
    assert not list(file.parent.glob("*.part"))
    result = tb.Result.load(file.parent / "problem.result.npz")
    np.testing.assert_allclose(result.x, 1 / 3)
    problem = read_task(file).problem
    assert problem is not None and result.verify(problem)


def test_exit_code_1_when_the_tolerances_are_not_proved(file: Path) -> None:
    file.write_text(GOOD + '[method]\nname = "cg-bio-anytime"\n[limits]\nmax_iter = 2\ntol_upper = 1e-9\n')
    assert main(["solve", str(file)]) == 1
    written = json.loads((file.parent / "problem.result.json").read_text())
    assert written["status"] == "max_iter" and written["nit"] == 2 and not written["success"]
    assert written["certificate"]["f_upper"] == "inf"
    assert written["parameters"]["lower_steps"] is None


def test_parameters_reach_the_method(file: Path) -> None:
    step = 'step = { type = "Adaptive", reference = { type = "Harmonic", a = 2, shift = 12 } }'
    file.write_text(GOOD + f'[method]\nname = "cg-bio"\n{step}\n[limits]\nseed = 3\nmax_iter = 20\n')
    task = read_task(file)
    assert task.method == tb.CGBiO(step=tb.steps.Adaptive(reference=tb.steps.Harmonic(2, 12)))
    assert main(["solve", str(file)]) in (0, 1)
    written = json.loads((file.parent / "problem.result.json").read_text())
    assert written["parameters"]["step"]["reference"] == {"type": "Harmonic", "a": 2, "shift": 12}
    assert written["seed"] == 3


@pytest.mark.parametrize("name", SOLVERS)
def test_every_method_can_be_named(name: str, file: Path) -> None:
    file.write_text(f'method = "{name}"\n' + GOOD)
    assert type(read_task(file).method) is SOLVERS[name]


def test_weight_terms_error_bound_and_start(file: Path) -> None:
    upper = '[upper]\nweight = 3\nterms = ["SquaredNorm", { type = "Linear", c = [1, 0, 0], weight = 0.5 }]'
    text = GOOD.replace('[upper]\ntype = "SquaredNorm"', upper)
    file.write_text("x0 = [0, 0, 1]\n" + text + "[error_bound]\nalpha = 3\nr = 2\n")
    task = read_task(file)
    assert task.problem is not None
    assert task.problem.upper.value(np.array([2.0, 0, 1])) == 3 * (2.5 + 0.5 * 2)
    assert task.problem.error_bound == tb.ErrorBound(3, 2) and task.x0.tolist() == [0, 0, 1]


def test_check_solves_nothing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", str(file), "--check", "--out", str(file.parent / "new" / "answer")]) == 0
    assert "is fine: LeastSquares, then SquaredNorm over L1Ball(2), 3 variables" in capsys.readouterr().out
    assert [path.name for path in file.parent.iterdir()] == ["problem.toml"]


@pytest.mark.parametrize("more", [[], ["--check"]])
def test_a_start_that_does_not_fit(file: Path, more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(f"\nx0 = [1, 2]\n{GOOD}")
    assert main(["solve", str(file), *more]) == 2
    assert "problem.toml, line 2: x0: x0 has length 2, expected 3" in capsys.readouterr().err


def test_chain_without_an_exact_method(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chain = '[[levels]]\ntype = "SquaredNorm"\ndim = 3\n' * 3
    file.write_text(chain + '[domain]\ntype = "L2Ball"\nradius = 1\n')
    assert main(["solve", str(file)]) == 2
    assert "problem.toml, line 1: levels: this chain has no exact method" in capsys.readouterr().err


def test_out_names_a_file_or_a_folder(file: Path) -> None:
    folder = file.parent / "answers"
    assert main(["solve", str(file), "--out", str(folder / "mine.json")]) == 0
    assert main(["solve", str(file), "--out", str(folder)]) == 0
    names = {path.name for path in folder.iterdir()}
    assert names == {f"{stem}.{end}" for stem in ("mine", "problem.result") for end in ("json", "npz")}


def test_output_of_the_file_is_relative_to_it(file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file.write_text('output = "answers/v1.2"\n' + GOOD)
    monkeypatch.chdir("/")
    assert main(["solve", str(file)]) == 0
    assert (tmp_path / "answers" / "v1.2.json").is_file() and (tmp_path / "answers" / "v1.2.npz").is_file()


def test_the_answer_never_overwrites_the_data(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(file.parent / "data.npz", np.ones((1, 3)))
    before = (file.parent / "data.npz").read_bytes()
    file.write_text('output = "data"\n' + GOOD.replace("[[1.0, 1.0, 1.0]]", '{ file = "data.npz" }'))
    assert main(["solve", str(file)]) == 2
    assert "would overwrite" in capsys.readouterr().err
    assert (file.parent / "data.npz").read_bytes() == before


def test_a_folder_that_cannot_be_written_is_found_before_the_work(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file.parent / "taken").write_text("a file, not a folder")
    assert main(["solve", str(file), "--out", str(file.parent / "taken" / "answer")]) == 2
    assert "error:" in capsys.readouterr().err


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", str(tmp_path / "none.toml")]) == 2
    assert "none.toml" in capsys.readouterr().err


def test_encodings(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert read_task(file).problem is not None
    file.write_bytes(GOOD.replace("[lower]", "# größer\n[lower]").encode("latin-1"))
    with pytest.raises(FileProblem, match="line 4: is not UTF-8"):
        read_task(file)


def test_progress(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text(GOOD + "[limits]\nverbose = true\n")
    assert main(["solve", str(file)]) == 0
    assert "upper gap" in capsys.readouterr().err
    file.write_text(GOOD)
    assert main(["solve", str(file)]) == 0
    assert not capsys.readouterr().err
    assert main(["solve", str(file), "--verbose"]) == 0
    assert "upper gap" in capsys.readouterr().err


def _hear_interrupts() -> None:
    """Where the tests run in the background of a shell, they and their children ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(os.name == "nt", reason="interrupts are sent by POSIX signals here")
def test_interrupt_keeps_the_best_answer(file: Path) -> None:
    file.write_text(GOOD + SLOW)
    command = [sys.executable, "-m", "tiebreak", "solve", str(file), "--verbose"]
    run = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=_hear_interrupts)
    assert run.stderr is not None
    assert run.stderr.read(4)  # the progress line: the run has begun
    time.sleep(0.1)
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=30)
    assert run.returncode == 130 and b"interrupted" in out
    written = json.loads((file.parent / "problem.result.json").read_text())
    assert written["status"] == "interrupted" and len(written["x"]) == 3
    assert tb.Result.load(file.parent / "problem.result.npz").nit == written["nit"] > 0


@pytest.mark.parametrize("output", ["../out", "/tmp/out", "a/../../out", "link/out", "link", "a\\u0000b"])
def test_the_output_of_a_file_stays_in_its_folder(
    output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, elsewhere = tmp_path / "problem", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "link").symlink_to(elsewhere)
    file = folder / "problem.toml"
    file.write_text(f'output = "{output}"\n' + GOOD)
    assert main(["solve", str(file)]) == 2
    assert "problem.toml, line 1: output:" in capsys.readouterr().err
    assert not list(elsewhere.iterdir()) and {path.name for path in tmp_path.iterdir()} == {"problem", "elsewhere"}
    assert main(["solve", str(file), "--out", str(elsewhere / "asked")]) == 0  # whoever gives the command may
    assert {path.name for path in elsewhere.iterdir()} == {"asked.json", "asked.npz"}


def test_an_answer_that_cannot_be_written_is_printed(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert main(["solve", str(file)]) == 3
    told = capsys.readouterr()
    assert "No space left on device; the answer is printed instead" in told.err
    answer = json.loads(told.out.strip().splitlines()[-1])
    np.testing.assert_allclose(answer["x"], 1 / 3)
    assert [path.name for path in file.parent.iterdir()] == ["problem.toml"]


def answered(folder: Path) -> dict[str, object]:
    return dict(json.loads((folder / "a.json").read_text()))


def test_slack_and_time_on_the_command_line_go_before_the_file(file: Path, tmp_path: Path) -> None:
    solve = ["solve", str(file), "--out", str(tmp_path / "a")]
    assert main(solve) == 0
    strict = answered(tmp_path)["f"]
    file.write_text("slack = 5.0\n" + GOOD + "[limits]\nmax_time = 1e-9\n")
    assert main([*solve, "--slack", "0", "--max-time", "inf"]) == 0
    assert answered(tmp_path)["f"] == pytest.approx(strict) and answered(tmp_path)["problem"]["slack"] == [0.0]  # type: ignore[index]
    assert main([*solve, "--slack", "0.125", "--max-time", "60"]) == 0  # 1/2 (sum x - 1)^2 <= 1/8: the sum is 1/2
    assert answered(tmp_path)["f"] == pytest.approx(1 / 24)
    assert answered(tmp_path)["limits"]["max_time"] == 60  # type: ignore[index]
    assert main(solve) == 1  # the file's own limit


def test_slacks_of_a_chain_and_of_a_model(tmp_path: Path) -> None:
    chain = ["solve", str(EXAMPLES / "chain.toml"), "--out", str(tmp_path / "a")]
    assert main([*chain, "--slack", "1", "--slack", "0.5"]) == 0  # the sum may be 1 now
    assert answered(tmp_path)["f"] == pytest.approx(1 / 6)
    model = tmp_path / "model.lp"
    model.write_text("minimize cost: 3 a + 4 b\nsubject to served: a + b >= 6\nbounds\n a <= 4\nend\n")
    solve = ["solve", str(model), "--then", "min a", "--out", str(tmp_path / "a")]
    for options, a in (([], 4), (["--slack", "2"], 2), (["--relative-slack", "0.05"], 3)):  # the least cost is 20
        assert main([*solve, *options]) == 0
        assert answered(tmp_path)["f"] == pytest.approx(a)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--slack", "1", "--slack", "2"], "one number for each of the lower levels (1), got 2"),
        (["--slack", "nan"], "slack holds NaN"),
        (["--slack", "-1"], "slack must not be negative"),
        (["--slack", "1", "--relative-slack", "0.1"], "slack or relative_slack for a level, not both"),
        (["--max-time", "0"], "max_time must be positive"),
        (["--max-time", "nan"], "max_time"),
    ],
)
def test_bad_options_are_refused(
    options: list[str], words: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", str(file), *options]) == 2
    assert words in capsys.readouterr().err


def test_a_single_objective_takes_no_slack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", str(EXAMPLES / "dispatch.mps"), "--then", "none", "--slack", "1"]) == 2
    assert "no slack has a say" in capsys.readouterr().err
