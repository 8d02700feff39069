"""The same problem said in two ways takes the same time: pairs of problems with one answer, solved side by side.

    python benchmarks/metamorphic.py [--rounds 3] [--only TEXT]

Each pair is one problem: a set as a ball, a box or a polyhedron; a ball that does not bind, and none; an objective in
another form; variables in another order or in other units. Times are the least of several, in turn, in one process.
Ends with code 1 where a ratio is above 3 or the answers differ.
"""

from __future__ import annotations

import harness  # noqa: F401  first of all: before NumPy

# isort: split
import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

import tiebreak as tb

MOST = 3.0
SECONDS = 60.0
TOLERANCE = 1e-6


@dataclass(frozen=True)
class Pair:
    """One problem, said in two ways."""

    name: str
    first: Callable[[], tb.Problem]
    second: Callable[[], tb.Problem]


def draws(seed: int, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Data that can be fitted by a point with entries of size 1/sqrt(columns), and the targets."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((rows, columns))
    return A, A @ (rng.standard_normal(columns) / np.sqrt(columns))


def norm_among_fits(A: np.ndarray, b: np.ndarray, domain: tb.Domain) -> tb.Problem:
    return tb.Problem(tb.SquaredNorm(dim=A.shape[1]), tb.LeastSquares(A, b), domain)


def simplex_rows(n: int, total: float = 1.0) -> tb.Polyhedron:
    return tb.Polyhedron(A_eq=sp.csr_array(np.ones((1, n))), b_eq=[total], bounds=(0, total))


def ball_rows(n: int, radius: float) -> tb.Polyhedron:
    """The l1 ball of few variables by all its facets."""
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * n)).reshape(n, -1).T
    return tb.Polyhedron(A_ub=signs, b_ub=np.full(len(signs), radius), bounds=(-radius, radius))


def tied(n: int) -> tb.Linear:
    """Costs with many ties."""
    return tb.Linear(np.random.default_rng(n).integers(1, 4, n).astype(float))


def fit_on_simplex(n: int, seed: int) -> tuple[tb.Objective, tb.Objective]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((40, n))
    return tb.LeastSquares(A, A @ rng.dirichlet(np.ones(n))), tb.SquaredNorm(dim=n)


def pairs() -> list[Pair]:
    A, b = draws(1, 200, 2000)
    B, c = draws(2, 60, 200)
    C, d = draws(3, 400, 120)
    D, e = draws(4, 30, 5)
    order = np.random.default_rng(5).permutation(200)
    g, f = fit_on_simplex(400, 6)
    h, k = fit_on_simplex(5000, 7)
    cost = tied(5000)
    spread = tb.SquaredNorm(dim=5000)
    n = 1500
    return [
        Pair("l1 ball that does not bind / box, 200 x 2000",
             lambda: norm_among_fits(A, b, tb.L1Ball(100.0)), lambda: norm_among_fits(A, b, tb.Box(-100.0, 100.0))),
        Pair("l1 ball that does not bind / larger one, 200 x 2000",
             lambda: norm_among_fits(A, b, tb.L1Ball(100.0)), lambda: norm_among_fits(A, b, tb.L1Ball(1e6))),
        Pair("l1 ball that does not bind / box, 60 x 200",
             lambda: norm_among_fits(B, c, tb.L1Ball(50.0)), lambda: norm_among_fits(B, c, tb.Box(-50.0, 50.0))),
        Pair("l1 ball that does not bind / box, 400 x 120",
             lambda: norm_among_fits(C, d, tb.L1Ball(50.0)), lambda: norm_among_fits(C, d, tb.Box(-50.0, 50.0))),
        Pair("l1 ball that binds / its facets, 30 x 5",
             lambda: norm_among_fits(D, e, tb.L1Ball(0.5)), lambda: norm_among_fits(D, e, ball_rows(5, 0.5))),
        Pair("box / polyhedron without rows, 60 x 200",
             lambda: norm_among_fits(B, c, tb.Box(-1.0, 1.0)),
             lambda: norm_among_fits(B, c, tb.Polyhedron(bounds=[(-1.0, 1.0)] * 200))),
        Pair("box / the same in another order, 60 x 200",
             lambda: norm_among_fits(B, c, tb.Box(-1.0, 1.0)),
             lambda: norm_among_fits(B[:, order], c, tb.Box(-1.0, 1.0))),
        Pair("box 1 / box 1e9, neither binds, 60 x 200",
             lambda: norm_among_fits(B, c, tb.Box(-1.0, 1.0)), lambda: norm_among_fits(B, c, tb.Box(-1e9, 1e9))),
        Pair("l2 ball that does not bind / none, 60 x 200",
             lambda: norm_among_fits(B, c, tb.L2Ball(100.0)), lambda: norm_among_fits(B, c, None)),
        Pair("l2 ball that does not bind / box, 400 x 120",
             lambda: norm_among_fits(C, d, tb.L2Ball(100.0)), lambda: norm_among_fits(C, d, tb.Box(-50.0, 50.0))),
        Pair("l2 ball that binds / lp ball with p = 2, 30 x 5",
             lambda: norm_among_fits(D, e, tb.L2Ball(0.5)), lambda: norm_among_fits(D, e, tb.LpBall(2.0, 0.5))),
        Pair("weights / rows twice, 60 x 200",
             lambda: tb.Problem(tb.SquaredNorm(dim=200), tb.LeastSquares(B, c, weights=np.full(60, 2.0)),
                                tb.Box(-1.0, 1.0)),
             lambda: norm_among_fits(np.vstack([B, B]), np.concatenate([c, c]), tb.Box(-1.0, 1.0))),
        Pair("levels / the same times 1e6, 60 x 200",
             lambda: norm_among_fits(B, c, tb.Box(-1.0, 1.0)),
             lambda: norm_among_fits(1e3 * B, 1e3 * c, tb.Box(-1.0, 1.0))),
        Pair("simplex / polyhedron, linear then spread, 5000",
             lambda: tb.Problem(spread, cost, tb.Simplex()), lambda: tb.Problem(spread, cost, simplex_rows(5000))),
        Pair("simplex / polyhedron, fit then spread, 40 x 5000",
             lambda: tb.Problem(k, h, tb.Simplex()), lambda: tb.Problem(k, h, simplex_rows(5000))),
        Pair("simplex / polyhedron, fit then spread, 40 x 400",
             lambda: tb.Problem(f, g, tb.Simplex()), lambda: tb.Problem(f, g, simplex_rows(400))),
        Pair("simplex / polyhedron, linear levels, 1500",
             lambda: tb.Problem(tb.Linear(np.arange(n) % 7.0), tied(n), tb.Simplex()),
             lambda: tb.Problem(tb.Linear(np.arange(n) % 7.0), tied(n), simplex_rows(n))),
        Pair("least squares / the same as a Quadratic, 400 x 120",
             lambda: norm_among_fits(C, d, tb.Box(-1.0, 1.0)),
             lambda: tb.Problem(tb.SquaredNorm(dim=120), tb.Quadratic(C.T @ C, -C.T @ d, d @ d / 2),
                                tb.Box(-1.0, 1.0))),
        Pair("dense / sparse data, 60 x 200",
             lambda: norm_among_fits(B, c, tb.Box(-1.0, 1.0)),
             lambda: tb.Problem(tb.SquaredNorm(dim=200), tb.LeastSquares(sp.csr_array(B), c), tb.Box(-1.0, 1.0))),
        Pair("problem / chain with a level twice, 60 x 200",
             lambda: norm_among_fits(B, c, tb.Box(-1.0, 1.0)),
             lambda: tb.Problem(tb.SquaredNorm(dim=200), [tb.LeastSquares(B, c), tb.SquaredNorm(dim=200)],
                                tb.Box(-1.0, 1.0))),
    ]  # fmt: skip


def timed(make: Callable[[], tb.Problem]) -> tuple[float, tb.Result]:
    problem = make()
    started = time.process_time()
    result = tb.solve(problem, tol_upper=TOLERANCE, tol_lower=TOLERANCE, max_time=SECONDS)
    return time.process_time() - started, result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    bad = 0
    print(f"{'the same problem':<52} {'first':>9} {'second':>9} {'ratio':>6}  engines, f")
    for pair in pairs():
        if asked.only not in pair.name:
            continue
        least, results = [np.inf, np.inf], []
        for _ in range(asked.rounds):
            results = []
            for i, make in enumerate((pair.first, pair.second)):
                seconds, result = timed(make)
                least[i] = min(least[i], seconds)
                results.append(result)
            if max(least) > 5:
                break
        ratio = max(least) / min(least)
        same = abs(results[0].f - results[1].f) <= 2 * TOLERANCE * (1 + abs(results[0].f))
        solved = all(result.success for result in results)
        fine = ratio <= MOST and same and solved
        bad += not fine
        how = "/".join(f"{result.method}" for result in results)
        mark = "" if fine else "  <-- " + ("another answer" if not same else "not proved" if not solved else "too slow")
        times = f"{1e3 * least[0]:7.1f}ms {1e3 * least[1]:7.1f}ms {ratio:6.2f}"
        print(f"{pair.name:<52} {times}  {how} {results[0].f:.8g}{mark}", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
