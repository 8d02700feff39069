"""The command line, run as a user runs it."""

from __future__ import annotations

import subprocess
import sys

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
    assert "cg-bio" in out and "AISTATS 2023" in out


def test_module_entry_point_and_unknown_command() -> None:
    done = subprocess.run([sys.executable, "-m", "tiebreak", "nonsense"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "invalid choice" in done.stderr
