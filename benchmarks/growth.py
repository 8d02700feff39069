"""How the cost of exact solves grows: with the number of variables at a fixed support, with the support, and in sweeps.

    python benchmarks/growth.py [--quick] [--sweeps-only]

Exponents are slopes of least-squares lines in logarithms. Sweeps cross the sizes at which the engines change their ways
(dense and sparse matrices, singular values and Gram matrices, factorisations and products, columns and rows), in steps
of 1.3: a step that costs more than three times as much is a cliff, is printed, and makes the script end with code 1.
"""

from __future__ import annotations

import harness  # first of all: before NumPy

# isort: split
import argparse
import sys
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

import tiebreak as tb
from harness import Table, best_of, seconds


def sparse_regression(d: int, n: int = 40, m: int = 20, seed: int = 0) -> tb.Problem:
    """Sparse data, about 5 entries a column: n training rows to interpolate in many ways, m to choose by.

    The rows fix the support, which stays below n + m + 1; d only adds columns to choose from.
    """
    rng = np.random.default_rng(seed)
    A, B = (
        sparse.random_array((rows, d), density=5 / rows, rng=rng, data_sampler=rng.standard_normal, format="csc")
        for rows in (n, m)
    )
    b, y = rng.normal(size=n), 3 * rng.normal(size=m)
    least = linprog(np.ones(2 * d), A_eq=sparse.hstack([A, -A]), b_eq=b, method="highs").fun
    return tb.Problem(tb.LeastSquares(B, y), tb.LeastSquares(A, b), tb.L1Ball(1.5 * least))


def dense_support(support: int, seed: int = 0) -> tb.Problem:
    """The nearest point of the simplex to one with ``support`` positive coordinates, among the zero-mean portfolios."""
    rng = np.random.default_rng(seed)
    d, n = 2 * support, max(4, support // 10)
    center = np.concatenate([np.full(support, 1.0 / support), np.full(support, -5.0 / support)])
    R = rng.normal(size=(n, d))
    R -= (R[:, :support].mean(axis=1))[:, None]  # the equal weights on the support are a lower solution
    return tb.Problem(
        tb.SquaredNorm(center + 0.1 / support * rng.normal(size=d)), tb.LeastSquares(R, np.zeros(n)), tb.Simplex()
    )


STEP = 1.3
CLIFF = 3.0
FLOOR = 0.05
"""Seconds below which a step is noise."""


def sparse_data(rng: np.random.Generator, m: int, n: int) -> Any:
    """About four entries in every line of the longer side."""
    A = sparse.random_array((m, n), density=min(1.0, 4 / min(m, n)), rng=rng, data_sampler=rng.standard_normal)
    side = np.arange(max(m, n))
    cover = sparse.coo_array((rng.uniform(1, 2, side.size), (side % m, side % n)), shape=(m, n))
    return sparse.csr_array(A + cover)


def least_norm(A: Any, end: float, noise: float, rng: np.random.Generator) -> tb.Problem:
    m, n = A.shape
    b = A @ rng.uniform(-1, 1, n) + noise * rng.normal(size=m)
    return tb.Problem(tb.SquaredNorm(dim=n), tb.LeastSquares(A, b), tb.Box(-end, end))


def sweep_problem(family: str, size: int) -> tb.Problem:
    """A problem whose longer side grows with ``size``."""
    rng = np.random.default_rng([len(family), size])
    if family == "sparse wide":
        return least_norm(sparse_data(rng, size // 25, size), 10.0, 0.0, rng)
    if family == "sparse wide, box binds":
        return least_norm(sparse_data(rng, size // 25, size), 1.0, 0.0, rng)
    if family == "sparse tall":
        return least_norm(sparse_data(rng, size, size // 4), 50.0, 1.0, rng)
    if family == "sparse tall, box binds":
        return least_norm(sparse_data(rng, size, size // 4), 0.5, 1.0, rng)
    if family == "dense wide":
        return least_norm(rng.normal(size=(max(2, size // 4), size)), 10.0, 0.0, rng)
    if family == "dense tall":
        return least_norm(rng.normal(size=(size, max(2, size // 8))), 10.0, 1.0, rng)
    if family == "simplex":
        R = rng.normal(size=(max(4, size // 10), size)) + 0.05
        return tb.Problem(tb.SquaredNorm(dim=size), tb.LeastSquares(R, np.zeros(R.shape[0])), tb.Simplex())
    A = sparse_data(rng, size // 20, size)  # l1 ball
    x = np.where(rng.random(size) < 0.1, rng.normal(size=size), 0.0)
    radius = 1.5 * float(np.abs(x).sum())
    return tb.Problem(tb.SquaredNorm(dim=size), tb.LeastSquares(A, A @ x), tb.L1Ball(radius))


SWEEPS = {
    "sparse wide": (300, 60_000),
    "sparse wide, box binds": (300, 30_000),
    "sparse tall": (200, 20_000),
    "sparse tall, box binds": (200, 20_000),
    "dense wide": (40, 2000),
    "dense tall": (100, 4000),
    "simplex": (40, 3000),
    "l1 ball": (200, 12_000),
}


def sweep(table: Table, family: str, quick: bool) -> list[str]:
    """One family over its sizes; what was met on the way that costs too much."""
    cliffs: list[str] = []
    size, most = SWEEPS[family]
    before: tuple[int, float] | None = None
    while size <= (most // 10 if quick else most):
        problem = sweep_problem(family, size)
        best, result = best_of(lambda problem=problem: tb.solve(problem, "exact", max_time=120.0))
        c = result.certificate
        width = (c.f_upper - c.f_lower) / (1 + abs(result.f))
        times = best / before[1] if before else 1.0
        table.add(family, size, seconds(best), times, result.status.name, f"{width:.1e}")
        if before and best > FLOOR and times > CLIFF:
            cliffs.append(f"{family}: {before[0]} to {size} costs {times:.1f} times as much")
        before = size, best
        size = int(np.ceil(STEP * size))
    return cliffs


def exponent(sizes: list[float], times: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def measure(table: Table, problems: list[tb.Problem], against: str) -> tuple[list[float], list[float]]:
    sizes, times = [], []
    for problem in problems:
        best, result = best_of(lambda problem=problem: tb.solve(problem, "exact", tol_upper=1e-8, tol_lower=1e-8))
        support = int(np.count_nonzero(np.abs(result.x) > 1e-12))
        c = result.certificate
        width = (c.f_upper - c.f_lower) / (1 + abs(result.f))
        table.add(problem.dim, support, result.nit, seconds(best), result.status.name, f"{width:.1e}")
        sizes.append(float(problem.dim if against == "d" else support))
        times.append(best)
    return sizes, times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the smaller half of the sizes, a tenth of them in sweeps")
    parser.add_argument("--sweeps-only", action="store_true", help="no exponents")
    parser.add_argument("--only", nargs="*", default=list(SWEEPS), help="sweeps to make")
    asked = parser.parse_args()
    quick = asked.quick
    sweeps = Table("Sweeps in steps of 1.3", ("family", "size", "time", "times the one before", "status", "width"))
    cliffs = [cliff for family in asked.only for cliff in sweep(sweeps, family, quick)]
    print("\n" + ("\n".join(cliffs) or "No cliffs."), flush=True)
    if asked.sweeps_only:
        harness.save("growth_sweeps", [sweeps])
        return int(bool(cliffs))
    tb.solve(dense_support(10), "exact")  # warm
    columns = ("variables", "support", "steps", "time", "status", "relative width")
    by_d = Table("Growth with the number of variables, sparse data", columns)
    dims = [10**3, 3 * 10**3, 10**4, 3 * 10**4, 10**5][: 3 if quick else 5]
    across = measure(by_d, [sparse_regression(d) for d in dims], "d")
    by_support = Table("Growth with the support, simplex", columns)
    supports = [25, 50, 100, 200, 400][: 3 if quick else 5]
    up = measure(by_support, [dense_support(k) for k in supports], "support")
    fits = Table("Fitted exponents: time ~ size^p", ("against", "p", "p, larger half"))
    for name, (sizes, times) in (("number of variables", across), ("support", up)):
        half = len(sizes) // 2
        fits.add(name, exponent(sizes, times), exponent(sizes[half:], times[half:]))
    harness.plot(
        "growth",
        "Time of an exact solve",
        {"variables, sparse data": across, "support, simplex": up},
        "size",
        "seconds",
    )
    harness.save("growth", [by_d, by_support, fits, sweeps])
    return int(bool(cliffs))


if __name__ == "__main__":
    sys.exit(main())
