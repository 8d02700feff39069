"""Ctrl-C at random moments: every run ends with KeyboardInterrupt and a result, or was done before. No crash, no hang.

    python benchmarks/interrupts.py [--count 40] [--seed 0]

Each run is a process that solves one problem after another in a script; SIGINT comes at a random moment after the
first solve (with numba, after what it compiles). It must exit with 130, having said that the solve after was not begun
and that the interrupted one left a result, unless the interrupt fell between two solves. Commands (``tiebreak solve``)
take turns with scripts. Exits with 1 where something else happened.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SCRIPT = """
import sys
import numpy as np
import tiebreak as tb

kind, small = sys.argv[1], 40
r = np.random.default_rng(3)

def problem(n):
    if kind == "columns":
        lower, upper = (tb.LeastSquares(r.standard_normal((n // 4, n)), r.standard_normal(n // 4)) for _ in range(2))
        return tb.Problem(upper, lower, tb.L1Ball(5.0)), "exact"
    if kind == "logistic":
        lower = tb.Logistic(r.standard_normal((n // 2, n)), np.sign(r.standard_normal(n // 2)))
        return tb.Problem(tb.SquaredNorm(dim=n), lower, tb.L1Ball(5.0)), "exact"
    if kind == "rows":
        Z = tb.Polyhedron(A_ub=-r.uniform(size=(n // 4, n)), b_ub=-np.full(n // 4, n / 5), bounds=(0, 1))
        return tb.Problem(tb.SquaredNorm(dim=n), tb.Linear(np.round(5 * r.uniform(size=n))), Z), "exact"
    lower, upper = (tb.LeastSquares(r.standard_normal((n // 4, n)), r.standard_normal(n // 4)) for _ in range(2))
    return tb.Problem(upper, lower, tb.L1Ball(5.0)), "cg-bio-anytime"

warm, method = problem(small)
tb.solve(warm, method, max_iter=200)
large, _ = problem(600)
print("ready", flush=True)
begun = 0
try:
    while True:
        begun += 1
        tb.solve(large, method, max_iter=10**7, max_time=None, tol_upper=1e-14, tol_lower=1e-14)
except KeyboardInterrupt as stop:
    result = getattr(stop, "result", None)
    if result is not None:
        assert result.status is tb.Status.INTERRUPTED and np.isfinite(result.x).all()
        assert result.certificate.g_lower <= result.g + 1e-9 and not result.success
    print("result" if result is not None else "between", begun, flush=True)
    sys.exit(130)
"""

PROBLEM = """
method = "cg-bio-anytime"
upper = { type = "SquaredNorm", dim = 3 }
lower = { type = "LeastSquares", A = [[1.0, 2.0, 3.0]], b = [1.0] }
domain = { type = "L2Ball", radius = 1.0 }
[limits]
max_iter = 1000000000
tol_upper = 1e-15
tol_lower = 1e-15
"""


def hear() -> None:
    """Where this runs in the background of a shell, children would ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(command: list[str], wait: float, wait_for: str) -> tuple[int | None, str]:
    """Send SIGINT after ``wait`` seconds; the exit code (None for a hang) and what was said."""
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=hear)
    assert run.stdout is not None
    if wait_for == "line":
        run.stdout.readline()
    else:
        run.stdout.read(4)  # of the progress
    time.sleep(wait)
    run.send_signal(signal.SIGINT)
    try:
        said = run.communicate(timeout=60)[0]
    except subprocess.TimeoutExpired:
        run.kill()
        return None, run.communicate()[0]
    return run.returncode, said


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    rng = np.random.default_rng(chosen.seed)
    counts = dict.fromkeys(("with a result", "between solves", "wrong"), 0)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "problem.toml"
        file.write_text(PROBLEM)
        for i in range(chosen.count):
            kind = ("columns", "rows", "cg-bio-anytime", "logistic", "command")[i % 5]
            if kind == "command":
                command = [sys.executable, "-m", "tiebreak", "solve", str(file), "--verbose"]
            else:
                command = [sys.executable, "-X", "faulthandler", "-c", SCRIPT, kind]
            code, said = interrupted(command, float(rng.uniform(0, 1.5)), "progress" if kind == "command" else "line")
            if code != 130:
                counts["wrong"] += 1
                print(f"run {i} ({kind}): {'hung' if code is None else f'exit code {code}'}\n{said[-2000:]}")
            else:
                counts["between solves" if "between" in said or "nothing is written" in said else "with a result"] += 1
    print(", ".join(f"{number} {what}" for what, number in counts.items()))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
