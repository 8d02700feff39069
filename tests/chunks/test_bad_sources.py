"""Wrong sources of chunks, and wrong arguments beside them (``benchmarks/bad_inputs_doors.py``)."""

from __future__ import annotations

from pathlib import Path

import bad_inputs
import bad_inputs_doors


def test_every_wrong_input_is_refused_in_words(tmp_path: Path) -> None:
    known = bad_inputs.names(tmp_path) | bad_inputs_doors.names(tmp_path, ("dask",))
    rows = bad_inputs_doors.TABLES["dask"]
    lines = [(template.replace("{}", value, 1), word) for template, word, values in rows for value in values]
    assert not {line: why for line, word in lines if (why := bad_inputs.judge(line, word, known))}
