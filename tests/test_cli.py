"""The command line, run as a user runs it."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import redirect_stderr
from pathlib import Path

import pytest

from tiebreak.cli import main


def test_run_shows_both_levels_the_bracket_what_it_assumes_and_what_it_means(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run"]) == 0
    out = capsys.readouterr().out
    for words in ("f* in [", "g* in [", "What is proved", "It assumes", "[0.6 0.4]", "no say"):
        assert words in out


def test_methods_lists_every_method_with_its_reference(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods"]) == 0
    out = capsys.readouterr().out
    assert "cg-bio-anytime" in out and "AISTATS 2023" in out


def test_module_entry_point_and_unknown_command() -> None:
    done = subprocess.run([sys.executable, "-m", "tiebreak", "nonsense"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "invalid choice" in done.stderr


class Pressed(io.StringIO):
    """Standard error of someone who presses Ctrl-C once these words appear."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words, self.done = words, False

    def write(self, text: str) -> int:
        written = super().write(text)
        if not self.done and self.words in text:
            self.done = True
            raise KeyboardInterrupt
        return written


def test_an_interrupted_comparison_says_so_and_keeps_nothing_that_is_not_whole(tmp_path: Path) -> None:
    with redirect_stderr(Pressed("runs to make")) as said:
        assert main(["bench", "methods", "--quick", "--out", str(tmp_path)]) == 130
    assert "tiebreak: interrupted" in said.getvalue() and not list(tmp_path.iterdir())


def test_an_interrupted_run_shows_what_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    with redirect_stderr(Pressed("upper gap")) as said:
        assert main(["run", "--verbose"]) == 130
    assert "tiebreak: interrupted" in said.getvalue()
    assert "interrupted (success: False)" in capsys.readouterr().out
