"""The command line, run as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tiebreak import CGBiO, cli, solve
from tiebreak.cli import main
from tiebreak.comparison import suite


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


def test_interrupted_commands_say_so_and_exit_with_130(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(suite, "perform_all", pressed)
    assert main(["bench", "methods", "--quick", "--out", str(tmp_path)]) == 130
    assert "interrupted" in capsys.readouterr().err and not list(tmp_path.iterdir())
    monkeypatch.setattr(CGBiO, "advance", pressed)
    monkeypatch.setattr(cli, "solve", partial(solve, method="cg-bio"))
    assert main(["run"]) == 130
    said = capsys.readouterr()
    assert "interrupted" in said.err and "interrupted (success: False)" in said.out


def test_an_interrupted_run_of_the_comparison_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(suite.run, "run", pressed)
    with pytest.raises(KeyboardInterrupt):
        suite.perform(suite.tasks(0.1, ["toy"], ["cg-bio"])[0], tmp_path)
    assert not list(tmp_path.iterdir())
