"""Hierarchies of tasks, prepared once and solved for many right-hand sides, beside DAQP's hierarchical mode.

``python benchmarks/prepared.py [instances] [seed]`` prints, for n = 7, 20, 50: microseconds a solve from the targets to
x (each the least of several rounds, taken in turns), of DAQP also with its arrays ready made; how far x is from that of
``tb.solve`` (proved to 1e-9), whose answers are taken for the truth; and how many points are proved by ``result``.
Rows have norm 1, because DAQP normalises rows; with other rows it solves another problem, and the last lines show it.
"""

from __future__ import annotations

import harness  # isort: skip  (before NumPy: one thread)

import sys
import time
from collections.abc import Callable
from typing import Any

import daqp
import numpy as np

import tiebreak as tb
from families import FAMILIES
from tiebreak.kernels import allow_all

SIZES = ((7, 3), (7, 4), (20, 4), (50, 5))
ROUNDS, CALLS = 15, 20


def microseconds(*runs: Callable[[], Any]) -> list[float]:
    """Of each run, the least mean over a round."""
    least = [np.inf] * len(runs)
    for _ in range(ROUNDS):
        for k, run in enumerate(runs):
            began = time.perf_counter()
            for _ in range(CALLS):
                run()
            least[k] = min(least[k], (time.perf_counter() - began) / CALLS * 1e6)
    return least


def measured(seed: int, size: tuple[int, ...]) -> tuple[list[float], list[float], bool]:
    """Microseconds (prepared, near a solution, DAQP, DAQP with arrays ready), errors of x, and whether it is proved."""
    known = FAMILIES["hierarchy"].generate(seed, size)
    tasks, n = known.levels[:-1], known.levels[-1].dim
    problem = tb.Problem(known.levels[-1], list(tasks), known.domain)
    allow_all()
    prepared = tb.prepare(problem)
    assert not prepared.because, prepared.because
    targets = [task.b for task in tasks]
    sides = [*targets, None]
    moved = [b + 0.01 * np.random.default_rng(seed).standard_normal(b.size) for b in targets]
    A = np.ascontiguousarray(np.vstack([*(task.A for task in tasks), np.eye(n)]))
    sense = np.zeros(2 * n + sum(b.size for b in targets), dtype=np.int32)
    ends = np.concatenate([[n], n + np.cumsum([*(b.size for b in targets), n])]).astype(np.int32)
    low, high, rest = known.domain.lower, known.domain.upper, np.zeros(n)
    ready = np.concatenate([high, *targets, rest]), np.concatenate([low, *targets, rest])

    def other(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
        return daqp.solve(None, None, A, upper, lower, sense, ends)[0]

    answer, true = prepared.solve(sides), tb.solve(problem, tol_upper=1e-9, tol_lower=1e-9).x
    near = prepared.solve([*moved, None]).x
    times = microseconds(
        lambda: prepared.solve(sides).x,
        lambda: prepared.solve(sides, x0=near).x,
        lambda: other(np.concatenate([high, *targets, rest]), np.concatenate([low, *targets, rest])),
        lambda: other(*ready),
    )
    errors = [float(np.abs(x - true).max()) for x in (answer.x, prepared.solve(sides, x0=near).x, other(*ready))]
    return times, errors, answer.result.success


def main() -> None:
    instances, first = int((sys.argv[1:] or ["10"])[0]), int((sys.argv[2:] or ["100"])[0])
    print("median microseconds      | from the targets to x            | arrays ready        | largest error of x")
    print("n, levels         proved | prepared  near   DAQP  prepared/ | DAQP    prepared/   | prepared   DAQP")
    for rows in ("unit", ""):
        for n, levels in SIZES:
            size = (n, levels, rows) if rows else (n, levels)
            found = [measured(first + k, size) for k in range(instances)]
            cold, near, both, ready = np.median([times for times, _, _ in found], axis=0)
            own = max(max(errors[:2]) for _, errors, _ in found)
            theirs = max(errors[2] for _, errors, _ in found)
            proved = sum(success for _, _, success in found)
            label = f"{n:3}, {levels} {rows or 'other rows':>10}"
            print(
                f"{label} {proved:3}/{instances} | {cold:8.1f} {near:6.1f} {both:6.1f}"
                f"  {cold / both:6.2f}   | {ready:5.1f}  {cold / ready:6.2f}      | {own:.0e}      {theirs:.0e}",
                flush=True,
            )


if __name__ == "__main__":
    assert harness
    main()
