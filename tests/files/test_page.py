"""docs/solve-a-file.md: its files run, and its tables are those of the classes."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest

from tiebreak.cli import main
from tiebreak.files.build import FILE_KEYS
from tiebreak.files.catalogue import classes, parameters
from tiebreak.objectives import Objective
from tiebreak.sets import Domain
from tiebreak.steps import StepRule

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "solve-a-file.md").read_text()
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", [block for block in BLOCKS if "[domain]" in block], ids=lambda block: block[:20])
def test_files_of_the_page_run(block: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "data", tmp_path / "data")
    (tmp_path / "problem.toml").write_text(block)
    assert main(["solve", str(tmp_path / "problem.toml")]) == 0


def test_other_blocks_are_toml() -> None:
    assert len(BLOCKS) == 4
    for block in BLOCKS:
        tomllib.loads(block)


@pytest.mark.parametrize("base", [Objective, Domain, StepRule])
def test_tables_are_those_of_the_classes(base: type) -> None:
    for name, cls in classes(base).items():
        row = re.search(rf"^\| `{name}` \| (.*) \|$", PAGE, re.MULTILINE)
        assert row, f"docs/solve-a-file.md has no row for {name}"
        expected = [key if required else f"[{key}]" for key, (required, _) in parameters(cls).items()]
        without_notes = re.sub(r" \(.*?\)", "", row[1])
        assert without_notes.replace("`", "").split(", ") == expected, name


def test_every_key_is_described() -> None:
    for key in FILE_KEYS:
        assert re.search(rf"^\| .*`{key}`.* \|", PAGE, re.MULTILINE), key
