"""Which first-order method ``auto`` should take where no exact one applies: processor time until both are proved.

    python benchmarks/auto_choice.py [--seconds 2]

Random problems with known answers (tests/problems.py) over sets that are no polytopes, four kinds of levels each; a
method has --seconds for each. Prints a Markdown table: how many it proves to 1e-4 on both levels, and the geometric
mean of its times, a failure counting as five times the limit.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import problems
import tiebreak as tb
from known.bounds import Inaccurate
from tiebreak.methods import SOLVERS

SETS = ["l2", "lp-3", "groups", "columns-l2", "nuclear", "spectrahedron", "product"]
LEVELS = [
    ("least-squares", "squared-norm"),
    ("least-squares", "least-squares"),
    ("logistic-face", "squared-norm"),
    ("linear", "squared-norm"),
]
METHODS = {
    "cg-bio-anytime": tb.AnytimeCGBiO(),
    "cg-bio-anytime, Adaptive": tb.AnytimeCGBiO(step=tb.steps.Adaptive()),
    **{name: SOLVERS[name]() for name in ("pb-apg", "apb-apg", "fbi-pg", "agm-bio", "bi-fista", "r-apm")},
}


def seconds_to_proof(problem: tb.Problem, method: tb.Solver, limit: float) -> float:
    """Processor time, or infinity where the proof was not reached."""
    started = time.process_time()
    try:
        result = tb.solve(problem, method, max_time=limit, max_iter=1_000_000)
    except ValueError:  # the method refuses the problem
        return np.inf
    return time.process_time() - started if result.success else np.inf


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=2.0, help="limit for each run")
    limit = parser.parse_args().seconds
    logging.disable(logging.WARNING)
    instances = []
    for kind in SETS:
        for lower, upper in LEVELS:
            for seed in range(3, 8):  # a reference that misses its accuracy is no instance
                try:
                    instances.append(problems.instance(seed, kind, lower, upper, 0.0).problem)
                    break
                except Inaccurate:
                    continue
    print(f"{len(instances)} problems, {limit:g} s for each run\n")
    print("| method | proved | geometric mean, s |\n|---|---|---|")
    for name, method in METHODS.items():
        times = np.array([seconds_to_proof(problem, method, limit) for problem in instances])
        mean = np.exp(np.mean(np.log(np.minimum(times, 5 * limit) + 1e-3)))
        print(f"| {name} | {int(np.isfinite(times).sum())} | {mean:.2g} |", flush=True)


if __name__ == "__main__":
    main()
