"""Spoilt files, a few of those of ``benchmarks/fuzz_files.py``: no error of anyone else's."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from fuzzing.cases import spoil_and_use
from fuzzing.seeds import lay_out


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seeds")
    lay_out(folder)
    return folder


def test_spoilt_files_are_used_or_refused(seeds: Path) -> None:
    outcomes = [spoil_and_use(number, 20, seeds, None) for number in range(80)]
    assert [fault for outcome in outcomes for fault in outcome.faults] == []
    statuses = Counter(outcome.status for outcome in outcomes)
    assert statuses["refused"] > 40 and statuses["used"] > 2
