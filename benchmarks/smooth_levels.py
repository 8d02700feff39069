"""Smooth lower levels by the exact engine, by two stages of CVXPY with Clarabel, and by scikit-learn.

    python benchmarks/smooth_levels.py [--repeat 3] [--newton]

Least norm among the minimisers of a loss over a box. Two stages: minimise the loss, then the norm with A x held where
the first stage left it. For scikit-learn the box is wide and the loss has one minimiser, so that all it has to find is
that (newton-cholesky, to 1e-10): the time beside it is the price of the proof. The error of f is that
beside the bracket of the exact answer; seconds are of processor time, the best of several runs.
"""

from __future__ import annotations

import harness  # first of all: before NumPy

# isort: split
import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import cvxpy as cp
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression, PoissonRegressor

import tiebreak as tb
from harness import Table, side_by_side, timed
from tiebreak.engines.answer import Answer
from tiebreak.engines.smooth.solve import solve_smooth_chain

Data = tuple[np.ndarray, np.ndarray]
SIZES = ((500, 20), (2000, 50), (10_000, 100), (100_000, 100))


def standardised(loader: Callable[..., Data], classes: Callable[[np.ndarray], np.ndarray]) -> Data:
    A, y = loader(return_X_y=True)
    spread = A.std(axis=0)
    A = (A - A.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.c_[A, np.ones(len(A))], np.where(classes(y), 1.0, -1.0)


def random(n: int, d: int, rank: int, seed: int = 0) -> Data:
    """Integers of low rank, and noisy labels."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d)) if rank == d else rng.integers(-3, 4, (n, rank)) @ rng.integers(-2, 3, (rank, d))
    A = np.asarray(A, dtype=float) / 2 ** np.ceil(np.log2(np.abs(A).max()))
    return A, np.where(A[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)


def two_stages(loss: Callable[[cp.Expression], cp.Expression], A: np.ndarray, size: float) -> float:
    x = cp.Variable(A.shape[1])
    box = [cp.abs(x) <= size]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cp.Problem(cp.Minimize(loss(A @ x)), box).solve(solver="CLARABEL")
        held = A @ x.value
        return float(cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), [*box, A @ x == held]).solve(solver="CLARABEL"))


def row(table: Table, name: str, lower: tb.Objective, loss: Any, A: np.ndarray, size: float, repeat: int) -> None:
    d = A.shape[1]
    levels, domain = [lower, tb.SquaredNorm(dim=d)], tb.Box(-size, size, dim=d)
    seconds, answers = side_by_side({"": lambda: solve_smooth_chain(levels, domain)}, repeat)[""]
    last: Answer = answers[-1]
    middle = 0.5 * (last.f_lower + last.f_upper)
    try:
        other_seconds, other = timed(lambda: two_stages(loss, A, size))
        beside, ratio = f"{abs(other - middle):.0e}", f"{other_seconds / seconds:.1f}"
    except cp.SolverError:
        beside, ratio = "failed", "-"
    gap = last.g_upper - last.g_lower
    table.add(name, f"{middle:.10g}", f"{last.width:.0e}", f"{gap:.0e}", f"{1e3 * seconds:.0f}", beside, ratio)


def fits(sizes: tuple[tuple[int, int], ...]) -> Iterator[tuple[str, tb.Objective, Any, np.ndarray, np.ndarray]]:
    """Name, our loss, their model, and the data for it: one minimiser each, by a ridge where classes are separated."""
    for name, loader, classes in (("breast cancer", load_breast_cancer, 1), ("digits", load_digits, 5)):
        A, y = standardised(loader, lambda y, least=classes: y >= least)
        ridge = 1 / len(A) * tb.SquaredNorm(dim=A.shape[1])
        model = LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-10, fit_intercept=False, max_iter=1000)
        yield f"logistic, {name}, ridge", tb.Logistic(A, y) + ridge, model, A, y
    for n, d in sizes:
        A, y = random(n, d, d, seed=2)
        model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10, fit_intercept=False, max_iter=1000)
        yield f"logistic, {n}x{d}", tb.Logistic(A, y), model, A, y
        rng = np.random.default_rng(3)
        counts = rng.poisson(np.exp(A @ rng.normal(size=d) / np.sqrt(d))).astype(float)
        other = PoissonRegressor(alpha=0.0, solver="newton-cholesky", tol=1e-10, fit_intercept=False, max_iter=1000)
        yield f"Poisson, {n}x{d}", tb.Poisson(A, counts), other, A, counts


def newton_cholesky(repeat: int, sizes: tuple[tuple[int, int], ...] = SIZES) -> Table:
    """All with the least norm above, which has no say: what they find is the loss's own minimiser."""
    columns = ("problem", "ours ms", "scikit-learn ms", "ratio", "relative width", "largest error of x, scikit-learn")
    table = Table("One minimiser inside the box: newton-cholesky to 1e-10, without a proof", columns)
    for name, loss, model, A, y in fits(sizes):
        levels, domain = [loss, tb.SquaredNorm(dim=A.shape[1])], tb.Box(-1e3, 1e3, dim=A.shape[1])
        found = side_by_side(
            {
                "ours": lambda levels=levels, domain=domain: solve_smooth_chain(levels, domain),
                "theirs": lambda model=model, A=A, y=y: model.fit(A, y),
            },
            repeat,
        )
        (own, answers), (theirs, fitted) = found["ours"], found["theirs"]
        apart = np.abs(fitted.coef_.ravel() - answers[-1].x).max()
        table.add(name, f"{1e3 * own:.1f}", f"{1e3 * theirs:.1f}", f"{own / theirs:.1f}",
                  f"{answers[0].width:.0e}", f"{apart:.0e}")  # fmt: skip
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--newton", action="store_true", help="only the table beside newton-cholesky")
    asked = parser.parse_args()
    repeat = asked.repeat
    if asked.newton:
        print(newton_cholesky(repeat))
        return
    named = {
        "breast cancer 569x31": standardised(load_breast_cancer, lambda y: y == 1),
        "digits 1797x65": standardised(load_digits, lambda y: y >= 5),
        "wine 178x14": standardised(load_wine, lambda y: y == 0),
        "rank 20, 400x60": random(400, 60, 20),
        "wide 60x200": random(60, 200, 200),
        "noise 2000x50": random(2000, 50, 50),
    }
    columns = ("problem", "f", "relative width", "gap of g", "ms", "error of f in two stages", "their time / ours")
    tables = [Table("Least norm among the minimisers of a loss", columns)]
    table = tables[0]
    for name, (A, y) in named.items():
        for size in (5.0, 0.5):
            n = len(A)
            loss = lambda t, y=y, n=n: cp.sum(cp.logistic(-cp.multiply(y, t))) / n  # noqa: E731
            row(table, f"{name}, box {size:g}", tb.Logistic(A, y), loss, A, size, repeat)
    A, _ = random(300, 20, 20)
    rng = np.random.default_rng(1)
    counts, b = rng.poisson(np.exp(A @ rng.normal(size=20))).astype(float), 3 * rng.standard_t(2, size=300)
    row(table, "Poisson 300x20", tb.Poisson(A, counts),
        lambda t: cp.sum(cp.exp(t) - cp.multiply(counts, t)) / 300, A, 5.0, repeat)  # fmt: skip
    row(table, "Huber 300x20", tb.Huber(A, b, 0.5), lambda t: cp.sum(cp.huber(t - b, 0.5)) / 2, A, 5.0, repeat)
    row(table, "Huber 15x20", tb.Huber(A[:15], b[:15], 0.5),
        lambda t: cp.sum(cp.huber(t - b[:15], 0.5)) / 2, A[:15], 5.0, repeat)  # fmt: skip
    y = np.where(A[:, 0] + rng.normal(size=300) > 0, 1.0, -1.0)
    row(table, "squared hinge 300x20", tb.SquaredHinge(A, y),
        lambda t: cp.sum_squares(cp.pos(1 - cp.multiply(y, t))) / 300, A, 5.0, repeat)  # fmt: skip
    tables.append(newton_cholesky(repeat))
    harness.save("smooth_levels", tables)


if __name__ == "__main__":
    main()
