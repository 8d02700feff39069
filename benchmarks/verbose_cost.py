"""What it costs to watch a run: ``verbose=True`` and callbacks against nobody looking.

    python benchmarks/verbose_cost.py [--updates 100000] [--rounds 5]

The anytime variant of CG-BiO on least squares over an l1 ball (20 x 60), whose updates are made many at a time; all
ways take turns, and the least processor time of each counts. Progress goes to a file that nobody reads. The last way, a
callback at every update, is what the others would cost if the loop stopped for them at each one.
"""

from __future__ import annotations

import harness  # isort: skip  (before NumPy: one thread)

import argparse
import contextlib
import importlib.util
import os
from collections.abc import Callable

import numpy as np

import tiebreak as tb

NEVER = 1e-300
"""A tolerance that no run meets."""

ALLOWED = 1.05
"""What ``verbose=True`` may cost, as a multiple."""


def problem(seed: int = 0, rows: int = 20, columns: int = 60) -> tb.Problem:
    """Validation above training, both with more unknowns than equations."""
    rng = np.random.default_rng(seed)
    A, B = rng.standard_normal((2, rows, columns))
    x = np.zeros(columns)
    x[:5] = 0.1
    upper = tb.LeastSquares(B, B @ x + 0.1 * rng.standard_normal(rows))
    return tb.Problem(upper, tb.LeastSquares(A, A @ x), tb.L1Ball(1.0))


def ways(given: tb.Problem, updates: int) -> dict[str, Callable[[], tb.Result]]:
    """The same run, watched in different ways."""

    def run(**how: object) -> tb.Result:
        limits = {"max_iter": updates, "max_time": None, "tol_upper": NEVER, "tol_lower": NEVER}
        with open(os.devnull, "w") as nobody, contextlib.redirect_stderr(nobody):
            return tb.solve(given, "cg-bio-anytime", **limits, **how)  # type: ignore[arg-type]

    return {
        "nobody looks": run,
        "verbose=True": lambda: run(verbose=True),
        "callback": lambda: run(callback=lambda event: event.f),
        "callback at every update": lambda: run(callback=tb.Every(1, lambda event: None)),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--updates", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    compared = ways(problem(), chosen.updates)
    slow = compared.pop("callback at every update")
    times = {
        name: seconds
        for name, (seconds, _) in harness.side_by_side(compared, chosen.rounds, turn=1e-9, budget=1e9).items()
    }
    times["callback at every update"] = harness.timed(slow)[0]
    print(f"{chosen.updates} updates, {'with' if importlib.util.find_spec('numba') else 'without'} numba")
    for name, seconds in times.items():
        print(f"{name:26}{seconds:8.3f} s {seconds / times['nobody looks']:8.3f} x")
    return 0 if times["verbose=True"] <= ALLOWED * times["nobody looks"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
