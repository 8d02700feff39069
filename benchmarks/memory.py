"""How much memory a solve takes, beside the size of its data: sparse problems with a million rows or variables.

    python benchmarks/memory.py [--only WORD] [--size 1000000] [--seconds 60]

Each problem is solved in a process of its own. Peak is the largest resident size of that process during the solve less
that just before it, when the data are already there; data are the bytes of the matrix (values and both index arrays)
and of the vectors of the problem. The time limit is part of the measurement: what does not end in it has its memory
measured up to there.
"""

from __future__ import annotations

import harness  # first of all: before NumPy

# isort: split
import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import tiebreak as tb
from harness import Table

EACH = 5
"""Entries in every row or column of the longer side."""
SHORT = 200
"""The shorter side."""


def _matrix(rng: np.random.Generator, long: int) -> Any:
    """So many rows of ``SHORT`` columns."""
    columns = rng.integers(0, SHORT, (long, EACH)).ravel()
    ends = np.arange(0, EACH * long + 1, EACH)
    A = sparse.csr_array((rng.standard_normal(EACH * long), columns, ends), shape=(long, SHORT))
    A.sum_duplicates()
    return A


def tall(domain: Callable[[int], Any], loss: str, size: int) -> tuple[Any, tb.Problem]:
    rng = np.random.default_rng(0)
    A = _matrix(rng, size)
    t = A @ rng.standard_normal(SHORT)
    lower = tb.Logistic(A, np.sign(t + rng.logistic(size=size))) if loss == "logistic" else tb.LeastSquares(A, t)
    return A, tb.Problem(tb.SquaredNorm(dim=SHORT), lower, domain(SHORT))


def wide(domain: Callable[[int], Any], size: int) -> tuple[Any, tb.Problem]:
    rng = np.random.default_rng(1)
    A = sparse.csr_array(_matrix(rng, size).T)
    x = np.where(rng.random(size) < 0.01, rng.uniform(-1, 1, size), 0.0)
    return A, tb.Problem(tb.SquaredNorm(dim=size), tb.LeastSquares(A, A @ x), domain(size))


def _box(end: float) -> Callable[[int], Any]:
    return lambda dim: tb.Box(-end, end, dim=dim)


PROBLEMS: dict[str, Callable[[int], tuple[Any, tb.Problem]]] = {
    "tall, least squares, box does not bind": lambda size: tall(_box(50.0), "squares", size),
    "tall, least squares, box binds": lambda size: tall(_box(0.5), "squares", size),
    "tall, logistic, box does not bind": lambda size: tall(_box(50.0), "logistic", size),
    "wide, least norm, whole space": lambda size: wide(tb.Space, size),
    "wide, least norm, box does not bind": lambda size: wide(_box(10.0), size),
    "wide, least norm, box binds": lambda size: wide(_box(0.01), size),
    "wide, least norm, l1 ball": lambda size: wide(lambda _: tb.L1Ball(100.0), size),
}


def resident() -> int:
    """The largest resident size so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def work(name: str, size: int, seconds: float) -> None:
    """One problem, after a small one of its kind that loads what is loaded once."""
    tb.solve(PROBLEMS[name](2 * SHORT)[1], max_time=seconds)
    A, problem = PROBLEMS[name](size)
    data = A.data.nbytes + A.indices.nbytes + A.indptr.nbytes + 8 * sum(A.shape)
    before = resident()
    taken, result = harness.timed(lambda: tb.solve(problem, max_time=seconds))
    print(json.dumps([result.status.name, taken, data, resident() - before]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        work(asked.work, asked.size, asked.seconds)
        return 0
    table = Table(f"Memory, {asked.size} rows or variables", ("problem", "status", "time", "data", "peak", "ratio"))
    for name in PROBLEMS:
        if asked.only not in name:
            continue
        command = [sys.executable, str(Path(__file__).resolve()), "--work", name]
        command += ["--size", str(asked.size), "--seconds", str(asked.seconds)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            table.add(name, f"ended with code {done.returncode}", "", "", "", "")
            continue
        status, taken, data, peak = json.loads(done.stdout.splitlines()[-1])
        table.add(name, status, harness.seconds(taken), f"{data / 1e6:.3g} MB", f"{peak / 1e6:.3g} MB", peak / data)
    harness.save("memory", [table])
    return 0


if __name__ == "__main__":
    sys.exit(main())
