"""A release needs one version everywhere, and a test for every extra."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tiebreak.cli import main

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def same_version(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, HERE / "same_version.py", *arguments], capture_output=True, text=True)


def test_the_version_is_the_same_everywhere() -> None:
    assert same_version().returncode == 0, same_version().stderr
    other = same_version("99.0.0")
    assert other.returncode == 1
    assert "99.0.0" in other.stderr


def test_every_extra_is_tried() -> None:
    extras = set(PROJECT["optional-dependencies"]) - {"all"}
    tried = {
        one.name for one in ast.parse((HERE / "try_extra.py").read_text()).body if isinstance(one, ast.FunctionDef)
    }
    named = re.search(r"^EXTRAS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert extras == tried == set(named[1].split() if named else [])
    assert set(re.findall(r"\w+", PROJECT["optional-dependencies"]["all"][0])) - {"tiebreak"} == extras


def test_the_command_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert re.fullmatch(r"tiebreak \d+\.\d+\.\d+\n", capsys.readouterr().out)
