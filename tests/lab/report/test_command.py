"""``tiebreak reproduce``, run as a user runs it: flags, mistakes, interrupts, what is said at the end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import slow_experiment

from tiebreak.cli import main as tiebreak
from tiebreak.lab.progress import Progress
from tiebreak.lab.report import command

START = """
import sys, slow_experiment
from tiebreak.lab.report import command
if __name__ == "__main__":
    sys.exit(command.main(sys.argv[1:], {"slow": lambda: slow_experiment}))
"""


def absent() -> ModuleType:
    raise ModuleNotFoundError("No module named 'absent'")


EXPERIMENTS = {
    "broken": lambda: SimpleNamespace(OPTIONS=(), run=lambda request: 1 / 0),
    "slow": lambda: slow_experiment,
    "absent": absent,
}


@pytest.fixture(autouse=True)
def no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIEBREAK_DATA", raising=False)


def begun(marks: Path) -> list[int]:
    return sorted(int(path.name.split("-")[1]) for path in marks.glob("begun-*"))


def test_claims_files_and_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--quick", "--seed", "5", "--out", str(tmp_path / "out"), "--data", str(tmp_path)]
    assert command.main(["slow", *flags, "--marks", str(tmp_path)], EXPERIMENTS) == 0
    said = capsys.readouterr()
    assert "✓ holds" in said.out and "? undecided" in said.out and "1 hold, 0 do not hold, 1 undecided" in said.out
    assert str(tmp_path / "out" / "slow" / "report.html") in said.out
    assert said.err == ""  # no terminal, not verbose
    content = json.loads((tmp_path / "out" / "slow" / "outcome.json").read_text("utf-8"))
    assert (content["seed"], content["size"]) == (5, "quick")
    assert content["parameters"] == {"size": "quick", "data": str(tmp_path)}


def test_all_goes_on_after_a_failure_and_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["all", "--out", str(tmp_path), "--marks", str(tmp_path), "--verbose"], EXPERIMENTS) == 1
    said = capsys.readouterr()
    assert "broken did not run: ZeroDivisionError" in said.err and "absent did not run: ModuleNotFoundError" in said.err
    assert "Traceback" in said.err and "slow (2 of 3): 4 of 4, piece 3 took 0.0 s" in said.err
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "There are four" in page and "broken did not run:" in page


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["toi"], "invalid choice: 'toi'"),
        (["slow", "--quick", "--full"], "not allowed with"),
        (["slow", "--jobs", "0"], "--jobs: must be at least 1"),
        (["slow", "--seed", "-1"], "--seed"),
        (["slow", "--data", "/no/such/folder"], "there is no /no/such/folder"),
        (["broken", "--marks", "x"], "unrecognized arguments: --marks"),
        ([], "required: NAME"),
    ],
)
def test_mistakes_are_named(flags: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        command.main(flags, EXPERIMENTS)
    assert exit_.value.code == 2
    assert words in capsys.readouterr().err


def test_help_shows_the_flags_of_the_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        command.main(["slow", "--help"], EXPERIMENTS)
    assert exit_.value.code == 0
    assert "--long-wait" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        tiebreak(["reproduce", "regression", "--help"])
    assert "--download" in capsys.readouterr().out


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path, jobs: str) -> None:
    out, marks = tmp_path / "out", tmp_path / "marks"
    marks.mkdir()
    line = [sys.executable, "-c", START, "slow", "--out", str(out), "--marks", str(marks), "--jobs", jobs]
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    with subprocess.Popen(
        [*line, "--long-wait"],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in the background of a shell
    ) as running:
        kept_before = {"1": 2, "2": 3}[jobs]  # with two workers the last piece is done beside the long one
        deadline = time.monotonic() + 60
        while len(list((out / "cache").glob("*.npz"))) < kept_before or 2 not in begun(marks):
            assert time.monotonic() < deadline and running.poll() is None
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does: the workers get it, too
        _, said = running.communicate(timeout=30)
    assert running.returncode == command.INTERRUPTED
    assert "Interrupted. What is done is kept" in said and f"tiebreak reproduce slow --out {out}" in said
    assert len(said.split("\n")) == 4  # nothing of the workers
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert begun(marks) == [0, 1, 2, 2, 3]  # only the third was begun twice
    assert "✓ holds" in done.stdout


class Terminal:
    """A stream that remembers what stands on its line."""

    def __init__(self) -> None:
        self.line, self.ended = "", 0

    def write(self, text: str) -> None:
        self.ended += text.count("\n")
        for part in text.split("\r"):
            self.line = part + self.line[len(part) :] if part else self.line

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return True


def test_progress_tells_the_time_left_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setenv("COLUMNS", "100")
    stream = Terminal()
    progress = Progress(stream, 3, now=lambda: clock.now)  # type: ignore[arg-type]
    progress.begin("first")
    clock.now = 10.0
    progress.tell(1, 4, "a", 10.0)
    assert progress.seconds_left(3) == pytest.approx(30 + 2 * 40)  # three pieces like it, two experiments like this
    assert stream.line.startswith("first (1 of 3): 1 of 4, a took 10 s, about 1 min 50 s left")
    clock.now = 40.0
    progress.end()
    progress.begin("second")
    clock.now = 60.0
    progress.tell(1, 1, "b", 20.0)
    assert progress.seconds_left(0) == pytest.approx((40 + 20) / 2)
    assert stream.line.startswith("second (2 of 3): 1 of 1, b took 20 s, about 30 s left")
    assert stream.ended == 0
    progress.clear()
    assert stream.line.strip() == ""
