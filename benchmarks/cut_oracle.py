"""The cut oracle of every set against an independent reference, and the l1 ball against scipy's linprog in time.

    python benchmarks/cut_oracle.py [--instances 1210] [--set "l1 ball"] [--no-times]

Each set meets the same families of instances: random ones, ties, duplicates, a parallel to c, a = 0, c = 0,
sparse ones, entries over sixteen orders of magnitude, b at the minimum of <c, .> and just above, and
infeasible ones; a and c are scaled by 1e-8 to 1e8 independently. Errors are relative to the range of <a +
multiplier c, .> over the set.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from tiebreak.sets.base import Domain
from tiebreak.sets.birkhoff import Birkhoff
from tiebreak.sets.box import Box
from tiebreak.sets.columns import Columns
from tiebreak.sets.group import GroupBall
from tiebreak.sets.ksparse import KSparse
from tiebreak.sets.l1 import L1Ball
from tiebreak.sets.l2 import L2Ball
from tiebreak.sets.lp import LpBall
from tiebreak.sets.polyhedron import Polyhedron
from tiebreak.sets.product import Product
from tiebreak.sets.simplex import Simplex
from tiebreak.sets.spectral import NuclearBall, Spectrahedron

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "sets"))
import references
import structured


class Entry(NamedTuple):
    """How to make a set of some dimension, what to compare it with, in which dimensions, and how closely."""

    make: Callable[[np.random.Generator, int], Domain]
    reference: references.Reference
    dims: tuple[int, ...]
    tolerance: float


def size(rng: np.random.Generator) -> float:
    return float(10.0 ** rng.integers(-3, 4))


def random_box(rng: np.random.Generator, dim: int) -> Box:
    ends = size(rng) * rng.integers(-2, 3, (2, dim))  # some coordinates fixed
    return Box(ends.min(axis=0), ends.max(axis=0))


def random_polyhedron(rng: np.random.Generator, dim: int) -> Polyhedron:
    """Rows through and around a point, one of them twice; half of the variables have no bounds of their own."""
    scale = size(rng)
    inside = scale * rng.uniform(0.1, 0.9, dim)
    A = rng.normal(size=(dim, dim)).round(1)
    room = rng.choice([0.0, 0.3, 1.0], dim)
    b = A @ inside + scale * room
    walls = np.vstack([np.eye(dim), -np.eye(dim)])
    A, b = np.vstack([A, A[:1], walls]), np.concatenate([b, b[:1], walls @ inside + 0.5 * scale])
    A_eq = rng.normal(size=(dim // 5, dim)).round(1)
    bounds = [(0.0, scale) if j % 2 else (None, None) for j in range(dim)]
    return Polyhedron(A, b, A_eq, A_eq @ inside, bounds)


def random_groups(rng: np.random.Generator, dim: int) -> GroupBall:
    return GroupBall(rng.integers(0, max(1, dim // 3), dim), size(rng))


def random_product(rng: np.random.Generator, dim: int) -> Product:
    return Product(
        {
            "D": Columns(L2Ball(size(rng)), (3, dim)),
            "X": Columns(L1Ball(size(rng)), (dim, 4)),
            "p": (Simplex(size(rng)), dim),
            "q": (L2Ball(size(rng)), dim),
        }
    )


SETS = {
    "l1 ball": Entry(lambda rng, d: L1Ball(size(rng)), references.l1_ball, (1, 2, 5, 40), 1e-9),
    "weighted l1 ball": Entry(
        lambda rng, d: L1Ball(size(rng), 10 ** rng.uniform(-2, 2, d)), references.l1_ball, (1, 2, 5, 40), 1e-9
    ),
    "simplex": Entry(lambda rng, d: Simplex(size(rng)), references.simplex, (1, 2, 5, 40), 1e-9),
    "box": Entry(random_box, references.box, (1, 2, 5, 40), 1e-9),
    "k-sparse polytope": Entry(
        lambda rng, d: KSparse(int(rng.integers(1, d + 1)), size(rng)), references.k_sparse, (1, 2, 5, 40), 1e-9
    ),
    "l2 ball": Entry(
        lambda rng, d: L2Ball(size(rng), rng.choice([0.0, 1.0]) * rng.normal(size=d)),
        references.l2_ball,
        (1, 2, 5, 40),
        1e-9,
    ),
    "lp ball": Entry(
        lambda rng, d: LpBall(rng.choice([1.1, 1.5, 2.0, 3.0, 10.0]), size(rng)),
        references.lp_ball,
        (1, 2, 5, 40),
        1e-9,
    ),
    "polyhedron": Entry(random_polyhedron, structured.polyhedron, (2, 5, 10), 1e-9),
    "Birkhoff polytope": Entry(lambda rng, n: Birkhoff(n), structured.birkhoff, (1, 2, 3, 6), 1e-9),
    "group ball": Entry(random_groups, structured.by_formula, (1, 2, 7, 30), 1e-9),
    "columns in l2 balls": Entry(
        lambda rng, d: Columns(L2Ball(size(rng), rng.choice([0.0, 1.0]) * rng.normal(size=3)), (3, d)),
        structured.by_formula,
        (1, 2, 10),
        1e-9,
    ),
    "columns in l1 balls": Entry(
        lambda rng, d: Columns(L1Ball(size(rng)), (4, d)), structured.by_formula, (1, 2, 10), 1e-9
    ),
    "columns in simplices": Entry(
        lambda rng, d: Columns(Simplex(size(rng)), (4, d)), structured.by_formula, (1, 2, 10), 1e-9
    ),
    "product": Entry(random_product, structured.by_formula, (1, 3, 6), 1e-9),
    "nuclear norm ball": Entry(
        lambda rng, d: NuclearBall((d, d + int(rng.integers(3))), size(rng)), structured.nuclear_ball, (1, 2, 6), 1e-7
    ),
    "spectrahedron": Entry(lambda rng, n: Spectrahedron(n, size(rng)), structured.spectrahedron, (1, 2, 6), 1e-7),
}


def compare(entry: Entry, count: int) -> tuple[int, int, float, float, float, int]:
    """Numbers compared and infeasible, worst error, violation and overclaim, and number of wrong statuses."""
    rng = np.random.default_rng(0)
    compared = infeasible = wrong = 0
    worst = np.zeros(3)
    while compared + infeasible < count:
        dim = int(rng.choice(entry.dims))
        domain = entry.make(rng, dim)
        for instance in references.instances(domain, domain.dim or dim, len(references.FAMILIES), rng):
            warm = float(rng.choice([0.0, rng.exponential()]))
            cut = domain.lmo_cut(instance.a, instance.c, instance.b, warm=warm)
            verdict = references.judge(domain, entry.reference, instance, cut)
            worst = np.maximum(worst, verdict[:3])
            wrong += not verdict.status_is_right
            infeasible += instance.infeasible
            compared += not instance.infeasible
    return compared, infeasible, *map(float, worst), wrong


def best_time(repeat: int, function: Callable[..., object], *args: object, **options: object) -> float:
    function(*args, **options)
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function(*args, **options)
        times.append(time.perf_counter() - start)
    return min(times)


def print_times() -> None:
    """Mean over a few instances of the best time of several; linprog on split variables, not run at 1e6."""
    print("\n| l1 ball, d | oracle, µs | warm start, µs | linprog (HiGHS), ms | ratio |")
    print("|---|---|---|---|---|")
    rng = np.random.default_rng(1)
    ball = L1Ball(1.0)
    for dim, tries, repeat, lp_repeat in ((730, 5, 300, 5), (10**4, 3, 100, 3), (10**5, 1, 30, 1), (10**6, 1, 10, 0)):
        times = []
        for _ in range(tries):
            a, c = rng.normal(size=dim), rng.normal(size=dim)
            b = -0.3 * float(np.abs(c).max())
            guess = 1.01 * ball.lmo_cut(a, c, b).multiplier
            split_a, split_c = np.concatenate([a, -a]), np.concatenate([c, -c])
            rows = np.array([np.ones(2 * dim), split_c])
            cold = best_time(repeat, ball.lmo_cut, a, c, b)
            warm = best_time(repeat, ball.lmo_cut, a, c, b, warm=guess)
            lp = best_time(lp_repeat, linprog, split_a, rows, [1.0, b], method="highs") if lp_repeat else np.nan
            times.append((cold, warm, lp))
        cold, warm, lp = np.mean(times, axis=0)
        compared = f"{1e3 * lp:.3g} | {lp / cold:.0f}" if lp_repeat else "not run |"
        print(f"| {dim} | {1e6 * cold:.1f} | {1e6 * warm:.1f} | {compared} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=1210, help="how many for each set")
    parser.add_argument("--set", choices=SETS, action="append", help="only this set (may be repeated)")
    parser.add_argument("--no-times", action="store_true", help="accuracy only")
    arguments = parser.parse_args()
    print("| set | compared | worst error | tolerance | worst violation | gap overclaims | infeasible | wrong status |")
    print("|---|---|---|---|---|---|---|---|")
    failed = False
    for name in arguments.set or SETS:
        entry = SETS[name]
        compared, infeasible, error, violation, overclaim, wrong = compare(entry, arguments.instances)
        print(
            f"| {name} | {compared} | {error:.1e} | {entry.tolerance:.0e} | {violation:.1e} | {overclaim:.1e} "
            f"| {infeasible} | {wrong} |",
            flush=True,
        )
        failed |= error > entry.tolerance or violation > entry.tolerance or wrong > 0
    if not arguments.no_times and (arguments.set is None or "l1 ball" in arguments.set):
        print_times()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
