"""Trade-off curves of twenty points over round sets: seconds, widths of brackets, and prices held to differences of v.

``python benchmarks/round_tradeoff.py [seeds]``. The first seconds are those of the processor for the two answers that
say which slacks matter, the second ones those of the curve. Prices are held to central differences of v over a
hundredth and a thousandth of each slack to either side (with one Richardson step), from solves of their own, and the
one that agrees better counts: one is coarse where something else becomes active, the other drowns in rounding at small
slacks.
"""

from __future__ import annotations

import harness  # isort: skip  (before NumPy: one thread)

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import tiebreak as tb

POINTS, STEPS = 20, (0.01, 0.001)
LABELS = np.repeat(np.arange(24), 5)
FAMILIES: dict[str, tuple[Callable[[], Any], int, int, float]] = {
    "L2 boundary": (lambda: tb.L2Ball(0.5), 60, 100, 10.0),
    "L2 interior": (lambda: tb.L2Ball(5.0), 120, 40, 1.0),
    "group boundary": (lambda: tb.GroupBall(LABELS, 3.0), 120, 60, 10.0),
    "group interior": (lambda: tb.GroupBall(LABELS, 30.0), 120, 60, 1.0),
    "nuclear boundary": (lambda: tb.NuclearBall((12, 10), 2.0), 120, 150, 10.0),
    "nuclear interior": (lambda: tb.NuclearBall((12, 10), 20.0), 120, 40, 1.0),
}


def squares(rng: np.random.Generator, rows: int, dim: int, size: float = 1.0) -> tb.LeastSquares:
    return tb.LeastSquares(rng.standard_normal((rows, dim)), size * rng.standard_normal(rows))


def measured(name: str, seed: int) -> tuple[float, float, float, float, int]:
    """Seconds before and of the curve, the widest bracket, the worst price, and how many points are proved."""
    make, dim, rows, size = FAMILIES[name]
    rng = np.random.default_rng([13, seed, *map(ord, name)])
    problem = tb.Problem(squares(rng, dim + 10, dim), squares(rng, rows, dim, size), make())
    began = time.process_time()
    strict = tb.solve(problem, tol_upper=1e-9, tol_lower=1e-9)
    free = tb.solve(tb.Problem(problem.lower, problem.upper, problem.domain))
    before = time.process_time() - began
    most = problem.lower.value(free.x) - strict.certificate.g_upper
    slacks = np.geomspace(1e-6 * most, 0.9 * most, POINTS)
    began = time.process_time()
    curve = tb.tradeoff(problem, slacks=slacks, max_time=None)
    taken = time.process_time() - began
    widths = (curve.f_upper - curve.f_lower) / (1 + np.abs(curve.f))
    off = np.min([_off(problem, curve, step) for step in STEPS], axis=0)
    return before, taken, float(widths.max()), float(off.max()), int(curve.proved.sum())


def _off(problem: tb.Problem, curve: tb.Tradeoff, step: float) -> np.ndarray:
    """How far prices are from differences of v, relative to them."""
    beside = np.ravel(curve.slacks[:, None] * (1 + step * np.array([-1.0, -0.5, 0.5, 1.0])))
    values = tb.tradeoff(problem, slacks=beside, max_time=None).f.reshape(POINTS, 4)
    wide = (values[:, 0] - values[:, 3]) / (2 * step * curve.slacks)
    narrow = (values[:, 1] - values[:, 2]) / (step * curve.slacks)
    return np.abs(curve.multipliers / ((4 * narrow - wide) / 3) - 1)


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print(f"{'family':18} proved   s before   s of the curve: median (worst)   widest bracket   worst price, relative")
    for name in FAMILIES:
        found = [measured(name, seed) for seed in range(seeds)]
        before, taken, widths, prices, proved = zip(*found, strict=True)
        print(
            f"{name:18} {sum(proved):3}/{POINTS * seeds}  {np.median(before):6.2f}     {np.median(taken):6.2f}"
            f" ({max(taken):.2f})                    {max(widths):.1e}          {max(prices):.1e}",
            flush=True,
        )


if __name__ == "__main__":
    assert harness
    main()
