"""The same problem through all doors that are installed: the same x, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "five_doors.py"


def test_all_doors_agree() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--hours", "3", "--units", "2"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split()[0] for line in done.stdout.splitlines() if "left out" not in line]
    assert {"NumPy", "TOML", "MPS"} <= set(rows)
