"""The first solve of a process: with an empty cache of machine code, with a full one, and without numba.

    python benchmarks/first_solve.py [--rounds 3] [--warm] [--wall]

Every figure is the least of several new processes: the processor time of the first ``tb.solve`` after the import, and
of one after it; ``--wall`` takes the clock instead. An empty cache is a new folder that NUMBA_CACHE_DIR names;
``--warm`` fills one with ``tiebreak warm-up`` first, which takes a minute or more, and measures with that as well.
"""

# ruff: noqa: E402 (the number of threads is read when NumPy is imported)
from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np

import tiebreak as tb
from tiebreak.lab.experiments.regression import stand_in

TOLERANCES = {"tol_upper": 1e-8, "tol_lower": 1e-8}


def two_variables() -> tb.Problem:
    return tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))


def small() -> tb.Problem:
    rng = np.random.default_rng(0)
    upper, lower = (tb.LeastSquares(rng.normal(size=(n, 60)), rng.normal(size=n)) for n in (20, 25))
    return tb.Problem(upper, lower, tb.L1Ball(5.0))


PROBLEMS = {
    "2 variables": two_variables,
    "25 x 60, radius 5": small,
    "641 x 730, radius 1": lambda: stand_in().problem(1.0),
    "641 x 730, radius 5": lambda: stand_in().problem(5.0),
}


def solve_twice(name: str, now: Callable[[], float]) -> None:
    """In a process of its own: both times."""
    problem, times = PROBLEMS[name](), []
    for _ in range(2):
        start = now()
        assert tb.solve(problem, **TOLERANCES).success
        times.append(now() - start)
    print(*times)


def measured(name: str, rounds: int, flags: list[str], **environment: str) -> tuple[float, float]:
    """The least of the first and of the second solve of a process."""
    runs = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as empty:
            given = {"NUMBA_CACHE_DIR": empty, **environment}
            command = [sys.executable, __file__, "--one", name, *flags]
            done = subprocess.run(command, env=os.environ | given, capture_output=True, text=True, check=True)
        runs.append([float(number) for number in done.stdout.split()])
    first, second = np.min(runs, axis=0)
    return float(first), float(second)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm", action="store_true", help="fill a cache and measure with it as well")
    parser.add_argument("--wall", action="store_true", help="the time on the clock, for an idle machine")
    parser.add_argument("--one", choices=PROBLEMS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        solve_twice(chosen.one, time.perf_counter if chosen.wall else time.process_time)
        return
    with tempfile.TemporaryDirectory() as full:
        ways: dict[str, dict[str, str]] = {"without numba": {"TIEBREAK_NO_NUMBA": "1"}, "numba, empty cache": {}}
        if chosen.warm:
            start = time.perf_counter()
            command = [sys.executable, "-m", "tiebreak", "warm-up"]
            subprocess.run(command, env=os.environ | {"NUMBA_CACHE_DIR": full}, check=True)
            print(f"\n`tiebreak warm-up`: {time.perf_counter() - start:.0f} s\n")
            ways["numba, full cache"] = {"NUMBA_CACHE_DIR": full}
        print("| problem | " + " | ".join(f"{way}: first, next solve" for way in ways) + " |")
        print("|---|" + "---:|" * len(ways))
        for name in PROBLEMS:
            times = [
                measured(name, chosen.rounds, ["--wall"] if chosen.wall else [], **given) for given in ways.values()
            ]
            cells = [f"{first:.3f} s, {1e3 * second:.1f} ms" for first, second in times]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
