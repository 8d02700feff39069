"""Among all models that minimise the loss, how much larger than the smallest one is scikit-learn's?

    python benchmarks/sklearn_norms.py [--seeds 20]

Wide data, 20 x 50 to 60 x 200, with an intercept, so that many models are best. For each estimator without a penalty:
the norm of its coefficients above the least norm in percent (median and largest over the seeds), how much worse its
loss is, and the seconds of both. The least norm is that of tiebreak.sklearn, whose bracket is shown, and which is
checked against a closed form where there is one (all but positive=True; against CVXPY there).
"""

from __future__ import annotations

import harness  # isort: skip  (before NumPy: one thread)

import argparse
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
from sklearn.linear_model import LinearRegression, PoissonRegressor, Ridge

from tiebreak.sklearn import MinNormRegressor

SHAPES = ((20, 50), (40, 60), (60, 200))


class Case(NamedTuple):
    """An estimator of theirs, ours, the targets both get, and the least norm by other means."""

    theirs: Any
    ours: MinNormRegressor
    targets: Callable[[np.ndarray, np.random.Generator], np.ndarray]
    least: Callable[[np.ndarray, np.ndarray], float]


def numbers(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return X @ rng.normal(size=X.shape[1]) + rng.normal(size=len(X))


def sums(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return X @ np.abs(rng.normal(size=X.shape[1])) + 1.0


def counts(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return 1.0 + rng.poisson(np.exp(X @ rng.normal(size=X.shape[1]) / np.sqrt(X.shape[1])))


def centred(X: np.ndarray, y: np.ndarray) -> float:
    """By the pseudo-inverse of the centred data, of rank n - 1."""
    return float(np.linalg.norm(np.linalg.pinv(X - X.mean(axis=0), rcond=1e-10) @ (y - y.mean())))


def nonnegative(X: np.ndarray, y: np.ndarray) -> float:
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    cp.Problem(cp.Minimize(cp.sum_squares(w)), [X @ w + b == y, w >= 0]).solve(solver=cp.CLARABEL)
    return float(np.linalg.norm(w.value))


CASES = {
    "LinearRegression()": Case(LinearRegression(), MinNormRegressor(), numbers, centred),
    'Ridge(alpha=0, solver="svd")': Case(Ridge(alpha=0, solver="svd"), MinNormRegressor(), numbers, centred),
    "LinearRegression(positive=True)": Case(
        LinearRegression(positive=True), MinNormRegressor(positive=True), sums, nonnegative
    ),
    "PoissonRegressor(alpha=0)": Case(
        PoissonRegressor(alpha=0, max_iter=10_000, tol=1e-8),
        MinNormRegressor("poisson"),
        counts,
        lambda X, y: centred(X, np.log(y)),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    seeds = parser.parse_args().seeds
    print(f"{'':<34}{'norm above the least one, %':>30}{'ours, relative to':>24}{'seconds':>18}")
    print(f"{'estimator':<34}{'median':>15}{'largest':>15}{'closed form':>24}{'theirs':>9}{'ours':>9}{'proved':>9}")
    for name, case in CASES.items():
        above, off, times, proved = [], [], [], 0
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=SHAPES[seed % len(SHAPES)])
            y = case.targets(X, rng)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs_time, theirs = harness.timed(lambda: case.theirs.fit(X, y))  # noqa: B023
                ours_time, ours = harness.timed(lambda: case.ours.fit(X, y))  # noqa: B023
            least = case.least(X, y)
            size = float(np.linalg.norm(ours.coef_))
            above.append(100 * (np.linalg.norm(theirs.coef_) / size - 1))
            off.append(abs(size / least - 1))
            times.append((theirs_time, ours_time))
            proved += ours.result_.success
        seconds = np.median(times, axis=0)
        print(
            f"{name:<34}{np.median(above):>15.2g}{max(above):>15.2g}{max(off):>24.1e}"
            f"{seconds[0]:>9.3f}{seconds[1]:>9.3f}{proved:>6}/{seeds}"
        )


if __name__ == "__main__":
    main()
