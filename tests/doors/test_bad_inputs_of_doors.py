"""Wrong inputs to the doors: an error of ours, which names what is wrong (``benchmarks/bad_inputs_doors.py``)."""

from __future__ import annotations

from pathlib import Path

import pytest

import bad_inputs
import bad_inputs_doors


@pytest.mark.parametrize("package", ["cobra", "cvxpy", "linopy", "sklearn"])
def test_every_wrong_input_is_refused_in_words(package: str, tmp_path: Path) -> None:
    pytest.importorskip(package)
    known = bad_inputs.names(tmp_path) | bad_inputs_doors.names(tmp_path, (package,))
    rows = bad_inputs_doors.TABLES[package]
    lines = [(template.replace("{}", value, 1), word) for template, word, values in rows for value in values]
    assert not {line: why for line, word in lines if (why := bad_inputs.judge(line, word, known))}
