"""Two levels over round sets: how many combinations of set and levels get a bracket, how narrow, and how fast.

``python benchmarks/round_sets.py`` prints one line a combination (medians over the seeds), and compares the sixteen
families of least squares with the usual way in CVXPY: solve the lower level, then the upper one with g <= g* + eps.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tiebreak as tb
from tiebreak.engines.choice import choose_engine

Make = Callable[[np.random.Generator], tb.Problem]


def squares(rng: np.random.Generator, rows: int, dim: int, size: float = 1.0) -> tb.LeastSquares:
    return tb.LeastSquares(rng.standard_normal((rows, dim)), size * rng.standard_normal(rows))


def signs(rng: np.random.Generator, rows: int) -> Any:
    return np.where(rng.random(rows) < 0.5, 1.0, -1.0)


def sets() -> dict[str, tuple[Callable[[float], Any], int]]:
    labels = np.repeat(np.arange(10), 3)
    return {
        "L2": (lambda R: tb.L2Ball(R).with_dim(30), 30),
        "l1.5": (lambda R: tb.LpBall(1.5, R, dim=30), 30),
        "l3": (lambda R: tb.LpBall(3, R, dim=30), 30),
        "groups": (lambda R: tb.GroupBall(labels, R), 30),
        "nuclear": (lambda R: tb.NuclearBall((6, 5), R), 30),
        "spectrahedron": (lambda R: tb.Spectrahedron(6, R), 36),
    }


def lowers(rng: np.random.Generator, dim: int) -> dict[str, tb.Objective]:
    Q = rng.standard_normal((dim, dim))
    return {
        "squares, boundary": squares(rng, dim + 5, dim, 10.0),
        "squares, many": squares(rng, dim // 3, dim, 0.05),
        "quadratic": tb.Quadratic(Q @ Q.T, 10 * rng.standard_normal(dim)),
        "logistic": tb.Logistic(rng.standard_normal((3 * dim, dim)), signs(rng, 3 * dim)),
        "Poisson": tb.Poisson(0.3 * rng.standard_normal((3 * dim, dim)), rng.poisson(2.0, 3 * dim).astype(float)),
        "linear": tb.Linear(rng.standard_normal(dim)),
        "squares + linear": squares(rng, dim + 5, dim) + tb.Linear(rng.standard_normal(dim)),
    }


def uppers(rng: np.random.Generator, dim: int) -> dict[str, tb.Objective]:
    return {
        "squares": squares(rng, dim + 2, dim),
        "norm": tb.SquaredNorm(dim=dim),
        "linear": tb.Linear(rng.standard_normal(dim)),
        "logistic": tb.Logistic(rng.standard_normal((2 * dim, dim)), signs(rng, 2 * dim)),
        "Huber": tb.Huber(rng.standard_normal((2 * dim, dim)), rng.standard_normal(2 * dim), 0.5),
    }


def coverage(seeds: int) -> None:
    """Each set with each pair of levels."""
    print(f"{'set':14} {'lower':18} {'upper':9} bracket  median width  max width  median s")
    total = found = 0
    for name, (make, dim) in sets().items():
        for g in lowers(np.random.default_rng(0), dim):
            for f in uppers(np.random.default_rng(0), dim):
                widths, seconds = [], []
                for seed in range(seeds):
                    rng = np.random.default_rng([seed, dim])
                    domain = make(2.0)
                    problem = tb.Problem(uppers(rng, dim)[f], lowers(rng, dim)[g], domain)
                    started = time.process_time()
                    answer = choose_engine(problem).solve()
                    seconds.append(time.process_time() - started)
                    widths.append(answer.width)
                good = [width for width in widths if width <= 1e-6]
                total, found = total + seeds, found + len(good)
                median = np.median(good) if good else np.inf
                most = max(good, default=np.inf)
                spread = f"{median:.1e}      {most:.1e}    {np.median(seconds):.3f}"
                print(f"{name:14} {g:18} {f:9} {len(good)}/{seeds}      {spread}")
    print(f"{found} of {total} with a bracket up to 1e-6 wide, relative to 1 + |f|")


def families() -> Iterator[tuple[str, Make]]:
    """The sixteen families of least squares."""
    labels = np.repeat(np.arange(24), 5)

    def bounded(make: Callable[[], Any], dim: int, rows: int, size: float) -> Make:
        return lambda rng: tb.Problem(squares(rng, dim + 10, dim), squares(rng, rows, dim, size), make())

    def planted(n: int) -> Make:
        def problem(rng: np.random.Generator) -> tb.Problem:
            X = rng.standard_normal((n, n))
            X = X @ X.T / np.trace(X @ X.T)
            A = rng.standard_normal((2 * n, n * n))
            return tb.Problem(squares(rng, n * n + 4, n * n), tb.LeastSquares(A, A @ X.ravel()), tb.Spectrahedron(n))

        return problem

    def near_least_norm(factor: float) -> Make:
        def problem(rng: np.random.Generator) -> tb.Problem:
            A, b = rng.standard_normal((40, 120)), rng.standard_normal(40)
            R = factor * float(np.linalg.norm(np.linalg.pinv(A) @ b))
            return tb.Problem(squares(rng, 130, 120), tb.LeastSquares(A, b), tb.L2Ball(R))

        return problem

    def completion(rng: np.random.Generator) -> tb.Problem:
        X = rng.standard_normal((12, 2)) @ rng.standard_normal((2, 10))
        seen = np.sort(rng.permutation(120)[:70])
        g = tb.LeastSquares(np.eye(120)[seen], X.ravel()[seen] + 0.1 * rng.standard_normal(70))
        return tb.Problem(squares(rng, 130, 120), g, tb.NuclearBall((12, 10), 5.0))

    yield "L2 boundary", bounded(lambda: tb.L2Ball(0.5), 60, 100, 10.0)
    yield "L2 interior", bounded(lambda: tb.L2Ball(5.0), 120, 40, 1.0)
    yield "L2 R = 0.999 least", near_least_norm(0.999)
    yield "L2 R = 1.001 least", near_least_norm(1.001)
    yield "L2 around a point", bounded(lambda: tb.L2Ball(0.5, center=np.ones(60)), 60, 100, 10.0)
    yield "group boundary", bounded(lambda: tb.GroupBall(labels, 3.0), 120, 60, 10.0)
    yield "group interior", bounded(lambda: tb.GroupBall(labels, 30.0), 120, 60, 1.0)
    yield "l1.5 boundary", bounded(lambda: tb.LpBall(1.5, 1.0), 50, 80, 10.0)
    yield "l1.5 interior", bounded(lambda: tb.LpBall(1.5, 10.0), 50, 20, 1.0)
    yield "l3 boundary", bounded(lambda: tb.LpBall(3, 1.0, dim=50), 50, 80, 10.0)
    yield "l3 interior", bounded(lambda: tb.LpBall(3, 5.0, dim=50), 50, 20, 1.0)
    yield "nuclear boundary", bounded(lambda: tb.NuclearBall((12, 10), 2.0), 120, 150, 10.0)
    yield "nuclear interior", bounded(lambda: tb.NuclearBall((12, 10), 20.0), 120, 40, 1.0)
    yield "completion", completion
    yield "PSD boundary", bounded(lambda: tb.Spectrahedron(12), 144, 160, 10.0)
    yield "PSD interior", planted(12)


def two_stage(problem: tb.Problem, eps: float) -> tuple[float, str, float]:
    """The usual way: a value row; its f, its status, its seconds."""
    import cvxpy as cp

    started = time.process_time()
    x = cp.Variable(problem.dim)
    domain: Any = problem.domain
    text = repr(domain)
    if text.startswith("L2Ball"):
        rows = [cp.norm(x - domain.center) <= domain.radius]
    elif text.startswith("LpBall"):
        rows = [cp.pnorm(x, domain.p) <= domain.radius]
    elif text.startswith("GroupBall"):
        rows = [sum(cp.norm(x[5 * k : 5 * k + 5]) for k in range(24)) <= domain.radius]
    elif text.startswith("NuclearBall"):
        rows = [cp.normNuc(cp.reshape(x, domain.shape, order="C")) <= domain.radius]
    else:
        X = cp.Variable(domain.shape, PSD=True)
        rows = [cp.trace(X) == domain.trace, x == cp.vec(X, order="C")]

    def squared(objective: Any) -> Any:
        return cp.sum_squares(objective.data.raw @ x - objective.b) / 2

    try:
        lower = cp.Problem(cp.Minimize(squared(problem.lower)), rows)
        lower.solve(solver=cp.CLARABEL)
        level = lower.value * (1 + eps) + eps
        upper = cp.Problem(cp.Minimize(squared(problem.upper)), [*rows, squared(problem.lower) <= level])
        upper.solve(solver=cp.CLARABEL)
        return float(upper.value), str(upper.status), time.process_time() - started
    except cp.error.SolverError:
        return np.nan, "failed", time.process_time() - started


def against_value_rows(seeds: int) -> None:
    """Widths and seconds of the engine; how far the usual way is off, and its seconds."""
    print(f"{'family':20} width: median, max   s      | value row 1e-8: error  optimal  s")
    for name, make in families():
        widths, seconds, errors, optimal, others = [], [], [], 0, []
        for seed in range(seeds):
            problem = make(np.random.default_rng(7000 + seed))
            started = time.process_time()
            answer = choose_engine(problem).solve()
            seconds.append(time.process_time() - started)
            widths.append(answer.width)
            value, status, other = two_stage(problem, 1e-8)
            errors.append(abs(value - answer.f_lower) / (1 + abs(answer.f_lower)))
            optimal += status == "optimal"
            others.append(other)
        print(
            f"{name:20} {np.median(widths):.1e}  {max(widths):.1e}    {np.median(seconds):.3f}  | "
            f"{np.nanmedian(errors):.1e}               {optimal}/{seeds}      {np.median(others):.3f}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    against_value_rows(arguments.seeds)
    coverage(min(arguments.seeds, 3))
