"""``result.vjp`` against differences of answers found by other means, and its refusals.

``python benchmarks/vjp.py [--count 8] [--first 0]`` prints, for each family, the instances, the derivatives compared
and the worst relative error; then the degenerate instances and how many were refused. Differences are central, of
answers in rational arithmetic (``vjp_rows.py``) or in 50 digits (``vjp_round.py``), neither of which uses the library;
they are as good as 15 digits. A derivative is along a random direction of each datum in turn.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import tiebreak as tb
import vjp_round
import vjp_rows
from vjp_case import Case

STEP = Fraction(1, 2**40)
GOAL = 1e-6


def slope_of(case: Case, i: int, direction: np.ndarray) -> np.ndarray:
    """The derivative of the answer along a direction of the i-th datum."""
    ends = []
    for sign in (1, -1):
        arrays = [case.exact(one) for one in case.data.values()]
        step = case.exact(np.array(STEP, dtype=object)).item() if case.exact is vjp_rows.exact else 1e-20
        arrays[i] = arrays[i] + sign * step * case.exact(direction)
        ends.append(case.truth(*arrays))
    return np.array(((ends[0] - ends[1]) / (2 * step)), dtype=np.float64)


def error(case: Case, seed: int) -> tuple[int, float]:
    """Derivatives compared along random directions of the data, and the worst relative error."""
    rng = np.random.default_rng(seed)
    arrays = [np.asarray(one, dtype=np.float64) for one in case.data.values()]
    result = tb.solve(case.make(*arrays), tol_upper=1e-6, tol_lower=1e-6)
    truth = np.array(case.truth(*map(case.exact, arrays)), dtype=np.float64)
    v = rng.normal(size=truth.size)
    found = result.vjp(v)
    off = float(np.abs(found.x - truth).max()) / (1 + float(np.abs(truth).max()))
    count, worst = 0, off
    for i, (where, name) in enumerate(case.data):
        part = found.domain if where == "domain" else found.levels[int(where)]
        if name in part.refused:
            continue
        direction = rng.normal(size=arrays[i].shape)
        slope = slope_of(case, i, direction)
        ours = float(np.sum(np.ravel(part[name])[: direction.size] * direction.ravel()))
        ours *= case.signs.get((where, name), 1.0)
        scale = np.linalg.norm(v) * (np.linalg.norm(slope) + 1e-3)
        count, worst = count + 1, max(worst, abs(ours - float(v @ slope)) / scale)
    return count, worst


def cases(count: int, first: int = 0) -> Iterator[Case]:
    """So many of each kind."""
    yield from vjp_rows.cases(count, first)
    yield from vjp_round.cases(count, first)


def degenerate(count: int = 10) -> Iterator[tuple[str, tb.Problem]]:
    """Answers without a derivative: a tie that is left, a constraint that touches, dependent constraints."""
    for seed in range(count):
        rng = np.random.default_rng(100 + seed)
        n = 5
        c = rng.normal(size=n)
        first = tb.Linear(np.r_[1.0, np.zeros(n - 1)])
        yield "not unique", tb.Problem(tb.Linear(np.r_[0.0, 1.0, np.zeros(n - 2)]), first, tb.Box(0, 1))
        touching = np.r_[0.0, 0.0, rng.uniform(0.2, 0.8, size=n - 2)]
        yield "touching", tb.Problem(tb.SquaredNorm(touching), first, tb.Box(0, 1))
        row = np.ones((1, n))
        twice = tb.Polyhedron(A_ub=np.vstack([row, 2 * row]), b_ub=[1.0, 2.0], bounds=(0, 1))
        yield "dependent", tb.Problem(tb.SquaredNorm(np.abs(c)), tb.Linear(-row[0]), twice)
        A = rng.normal(size=(2, n))
        yield "no say", tb.Problem(tb.LeastSquares(A[:1], [1.0]), tb.LeastSquares(A, [0.1, 0.2]), tb.Box(-5, 5))
        kink, first_entry = np.r_[rng.uniform(1.5, 2, size=n - 1), 1.0], tb.LeastSquares(np.eye(1, n), [0.5])
        yield "kink", tb.Problem(tb.L1Norm() + tb.SquaredNorm(kink), first_entry, tb.Box(-5, 5))
        yield "ball touches", tb.Problem(tb.SquaredNorm(dim=n), tb.SquaredNorm(c / np.linalg.norm(c)), tb.L2Ball(1.0))
        inside = np.r_[0.5, rng.uniform(0.2, 0.8, size=n - 1)]
        yield "slack just used", tb.Problem(tb.SquaredNorm(inside), first, tb.Box(0, 1), slack=0.5)


def main() -> int:
    """Prints the tables; 1 where the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    found: dict[str, list[tuple[int, float]]] = {}
    without = dict[str, int]()
    for seed, case in enumerate(cases(given.count, given.first)):
        try:
            found.setdefault(case.family, []).append(error(case, seed))
        except ValueError as refusal:
            without[str(refusal)] = without.get(str(refusal), 0) + 1
    print("family      instances  derivatives  worst relative error")
    for name, rows in found.items():
        print(f"{name:<10} {len(rows):>10} {sum(n for n, _ in rows):>12} {max(worst for _, worst in rows):>21.1e}")
    for why, count in without.items():
        print(f"refused {count}: {why}")
    refused, asked = 0, 0
    for name, problem in degenerate():
        asked += 1
        try:
            tb.solve(problem).vjp(np.ones(problem.dim))
            print(f"not refused: {name}")
        except ValueError:
            refused += 1
    print(f"degenerate: {refused} of {asked} refused")
    worst = max(worst for rows in found.values() for _, worst in rows)
    return int(worst > GOAL or refused < asked or sum(map(len, found.values())) < 60)


if __name__ == "__main__":
    sys.exit(main())
