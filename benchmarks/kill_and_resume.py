"""Runs that are killed at random moments and go on from their checkpoint, compared with one that was never interrupted.

    python benchmarks/kill_and_resume.py --count 40 --seed 1

Each case takes a method, starts a process with a ``Checkpoint``, kills it (SIGKILL) after a random time, perhaps more
than once, and lets it go on until it has made its updates. The point, the certificate and the number of updates must be
those of an uninterrupted run, to the last bit. Ends with code 1 if one is not.
"""

from __future__ import annotations

import harness  # noqa: F401  first of all: before NumPy

# isort: split
import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

import tiebreak as tb
from tiebreak.methods import SOLVERS

METHODS = [name for name in SOLVERS if name != "exact"]
UPDATES = 600
LIMITS = {"tol_upper": 1e-14, "tol_lower": 1e-14, "max_time": None, "max_iter": UPDATES, "seed": 7}


def problem(seed: int) -> tb.Problem:
    """Many lower solutions, a curved upper level, sums over rows: every method takes it."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((20, 30))
    upper = tb.SquaredNorm(center=rng.standard_normal(30))
    return tb.Problem(upper, tb.LeastSquares(A, 0.1 * A.sum(axis=1)), tb.L2Ball(1.5))


def run(method: str, seed: int, path: Path, every: int) -> tb.Result:
    """Begin, or go on where the checkpoint is."""
    start = path if path.exists() else None
    return tb.solve(problem(seed), method, x0=start, callback=tb.Checkpoint(path, every), **LIMITS)


def killed(method: str, seed: int, folder: Path, rng: np.random.Generator) -> tuple[tb.Result, int]:
    """The result of a run that was killed, and how many times that happened."""
    every, kills = int(rng.integers(5, 80)), 0
    command = [sys.executable, __file__, "--child", method, str(seed), str(folder / "run.npz"), str(every)]
    while True:
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.read(1)  # it has begun
        try:
            process.wait(timeout=float(rng.uniform(0.0, 1.0)) if kills < 2 else None)
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.communicate()
            kills += 1
    if process.returncode:
        raise RuntimeError(f"{method}: the run ended with code {process.returncode}")
    return tb.Result.load(folder / "run.result.npz"), kills


def child(method: str, seed: str, path: str, every: str) -> None:
    """One process: it says that it has begun, runs, and saves its result."""
    sys.stdout.write(".")
    sys.stdout.flush()
    run(method, int(seed), Path(path), int(every)).save(Path(path).with_name("run.result.npz"))


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng, outcomes, kills, started = np.random.default_rng(asked.seed), Counter[str](), 0, time.perf_counter()
    for number in range(asked.count):
        method, seed = METHODS[number % len(METHODS)], asked.seed + number
        with tempfile.TemporaryDirectory() as folder:
            resumed, times = killed(method, seed, Path(folder), rng)
            whole = run(method, seed, Path(folder) / "whole.npz", UPDATES)
            left = [path.name for path in Path(folder).iterdir() if path.name.endswith(".part")]
        kills += times
        equal = resumed.x.tobytes() == whole.x.tobytes() and (
            (resumed.certificate, resumed.nit, resumed.status) == (whole.certificate, whole.nit, whole.status)
        )
        outcomes["equal" if equal else "different"] += 1
        print(f"{number + 1} of {asked.count}", end="\r", file=sys.stderr)
        if not equal:
            print(f"case {number}, {method}: differs after {times} kills ({resumed.nit} and {whole.nit} updates)")
        if len(left) > times:
            print(f"case {number}, {method}: left behind {left}")
    print(f"{asked.count} runs, {kills} kills: {outcomes['equal']} equal, {outcomes['different']} different")
    print(f"{time.perf_counter() - started:.0f} s")
    return 1 if outcomes["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
