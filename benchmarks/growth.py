"""How the cost of exact solves grows: with the number of variables at a fixed support, and with the support.

    python benchmarks/growth.py [--quick]

Exponents are slopes of least-squares lines in logarithms.
"""

from __future__ import annotations

import harness  # first of all: before NumPy

# isort: split
import argparse
import sys

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
    parser.add_argument("--quick", action="store_true", help="the smaller half of the sizes")
    quick = parser.parse_args().quick
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
    harness.save("growth", [by_d, by_support, fits])
    return 0


if __name__ == "__main__":
    sys.exit(main())
