"""The benchopt benchmark that wraps ours, run by benchopt itself ("make benchopt" has it)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("benchopt")
FOLDER = Path(__file__).parents[3] / "benchmarks" / "benchopt_families"


def test_benchopt_runs_methods_on_families_and_finds_their_gaps(tmp_path: Path) -> None:
    import pandas

    chosen = ["-d", "families[family=[toy,hoelder-1]]", "-s", "methods[method=[exact,stabim,bisec-bio]]"]
    options = [
        "--max-runs",
        "30",
        "--n-repetitions",
        "1",
        "--timeout",
        "20",
        "--no-plot",
        "--no-html",
        "--output",
        "here",
    ]
    command = [sys.executable, "-m", "benchopt", "run", str(FOLDER), *chosen, *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (FOLDER / "outputs").glob("here*.parquet")
    try:
        found = pandas.read_parquet(path)
    finally:
        path.unlink()
    best = found.groupby(["p_dataset_family", "p_solver_method"])["objective_value"].min()
    assert best["toy", "exact"] < 1e-9 and best["hoelder-1", "exact"] < 1e-9
    assert best["hoelder-1", "stabim"] < 1e-2
    assert (found["objective_definition_1"] <= found["objective_value"] + 1e-15).all()
    assert (found["objective_lower_gap"] >= -1e-9).all()
