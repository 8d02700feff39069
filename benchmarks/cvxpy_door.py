"""The CVXPY door on random hierarchies, against rational arithmetic and beside the hand-made way.

    python benchmarks/cvxpy_door.py [--count 120] [--first 0] [--cones]

Hierarchies of two to four linear, piecewise linear and quadratic levels (see ``cvxpy_models``), with ties, free and
epigraph variables. *Wrong* is a bracket that misses the exact optimum of its level, a status that says "optimal" with a
value that is off by more than 1e-6 of 1 + |value|, or one that says "unbounded", or does not, where that is not so.
With ``--cones`` they have second-order and semidefinite levels and constraints as well (see ``cvxpy_cones``), and
brackets are given 1e-13 of 1 + |value|: CVXPY's canonical problem has a rounded sqrt(2) in it.

By hand: each level is solved by CVXPY with Clarabel under rows that hold those before, objective <= optimum + eps.
*Failed* is any status other than "optimal" at some level, an error, or a panic of the solver; *off* are answers called
optimal of which some level is off by that much. Times are those of the processor, medians: for CVXPY's part of the door
at the first solve (canonicalisation) and at a second one with other weights only, for tiebreak's part, and for all
levels by hand.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

import cvxpy as cp
import numpy as np

from cvxpy_cones import ConicHierarchy, conic_hierarchy
from cvxpy_models import Hierarchy, hierarchy
from tiebreak.cvxpy import Lexicographic

EPS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 0.0)
WRONG = 1e-6
ROUNDED = Fraction(1, 10**13)
"""What a bracket over cones may be off by, beside 1 + |value|."""

Model = Hierarchy | ConicHierarchy


@dataclass
class ByHand:
    """What became of one eps."""

    failed: int = 0
    errors: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)


def error(value: float, star: Fraction) -> float:
    return abs(value - float(star)) / (1 + abs(float(star)))


def as_minima(h: Model, values: tuple[float, ...]) -> list[float]:
    pairs = zip(values, h.objectives, strict=True)
    return [value if isinstance(one, cp.Minimize) else -value for value, one in pairs]


def by_hand(h: Model, eps: float) -> tuple[float, ...] | None:
    """The values of all levels at the last answer; None where some solve failed."""
    held = list(h.constraints)
    for one in h.objectives:
        problem = cp.Problem(one, held)
        try:
            problem.solve(cp.CLARABEL)
        except cp.error.SolverError:
            return None
        except BaseException as panic:  # Clarabel is written in Rust
            if type(panic).__name__ != "PanicException":
                raise
            return None
        if problem.status != cp.OPTIMAL:
            return None
        e = one.args[0]
        held.append(e <= problem.value + eps if isinstance(one, cp.Minimize) else e >= problem.value - eps)
    return tuple(float(one.value) for one in h.objectives)


def mistakes(p: Lexicographic, h: Model, truth: list[Fraction]) -> list[str]:
    """What is wrong with an answer."""
    found = []
    bounded = len(truth) == len(h.levels)
    if (p.status == cp.UNBOUNDED) == bounded:
        found.append(f"status {p.status}")
    assert p.result is not None
    for k, (level, star) in enumerate(zip(p.result.levels, truth, strict=False)):
        low, high = level.lower, level.upper
        off = ROUNDED * (1 + abs(star)) if isinstance(h, ConicHierarchy) else Fraction(0)
        if (np.isfinite(low) and Fraction(low) > star + off) or (np.isfinite(high) and Fraction(high) < star - off):
            found.append(f"level {k + 1} is {float(star):.17g}, not in [{low:.17g}, {high:.17g}]")
    if p.status == cp.OPTIMAL and p.values is not None:
        errors = [error(*pair) for pair in zip(as_minima(h, p.values), truth, strict=True)]
        if max(errors) > WRONG:
            found.append(f"off by {max(errors):.1e}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--cones", action="store_true")
    options = parser.parse_args()
    make = conic_hierarchy if options.cones else hierarchy
    warnings.filterwarnings("ignore", "Solution may be inaccurate")
    statuses: Counter[str] = Counter()
    wrong, errors, open_errors, compiled, again, proved = 0, [], [], [], [], []
    hand = {eps: ByHand() for eps in EPS}
    for seed in range(options.first, options.first + options.count):
        h: Model = make(seed)
        truth = h.truth()
        p = Lexicographic(h.objectives, h.constraints)
        start = time.process_time()
        p.problem  # noqa: B018 - CVXPY's part, and the polyhedron
        compiled.append(time.process_time() - start)
        start = time.process_time()
        p.solve()
        proved.append(time.process_time() - start)
        start = time.process_time()
        p._canonical.standard()
        again.append(time.process_time() - start)
        statuses[str(p.status)] += 1
        for mistake in mistakes(p, h, truth):
            wrong += 1
            print(f"seed {seed} {h.kinds}: {mistake}")
        if len(truth) < len(h.levels) or p.values is None:
            continue
        worst = max(error(*pair) for pair in zip(as_minima(h, p.values), truth, strict=True))
        (errors if p.status == cp.OPTIMAL else open_errors).append(worst)
        for eps, one in hand.items():
            start = time.process_time()
            values = by_hand(h, eps)
            one.times.append(time.process_time() - start)
            if values is None:
                one.failed += 1
            else:
                one.errors.append(max(error(*pair) for pair in zip(as_minima(h, values), truth, strict=True)))
    print(f"{options.count} hierarchies, wrong {wrong}; {dict(statuses)}")
    print(f"values of those that are optimal are off by at most {max(errors):.1e}", end="")
    print(f", of those that are not proved by at most {max(open_errors, default=0.0):.1e}")
    ms = [1000 * float(np.median(one)) for one in (compiled, again, proved)]
    print(f"median ms: canonicalisation {ms[0]:.0f}, the same at a second solve {ms[1]:.0f}, solve {ms[2]:.0f}")
    print(f"\nby hand, of {len(hand[EPS[0]].times)} that have an answer:")
    print("|  eps  | failed | off > 1e-6 | off > 1e-3 | off > 10 % |  worst  | median ms |")
    print("|---|---|---|---|---|---|---|")
    for eps, one in hand.items():
        off = [sum(e > limit for e in one.errors) for limit in (1e-6, 1e-3, 0.1)]
        row = (f"{eps:.0e}", one.failed, *off, f"{max(one.errors):.1e}", f"{1000 * np.median(one.times):.0f}")
        print("| " + " | ".join(map(str, row)) + " |")


if __name__ == "__main__":
    main()
