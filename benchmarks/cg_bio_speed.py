"""One update of CG-BiO: as in a textbook, with tiebreak on NumPy alone, and with tiebreak and numba.

    python benchmarks/cg_bio_speed.py [--rounds 7] [--updates 60]

The textbook computes both gradients in full and solves the linear programme of the paper's appendix, in split
variables, with scipy's linprog (HiGHS). All three start from the same point, run in the same process on one BLAS
thread, and take turns; each time is the least of several averages, warm-up excluded. The problems are the paper's:
over-parameterised regression (1068 x 730, generated page visits) and fair classification (2000 x 51: generated, or
the Adult sample adult.npz in the folder that TIEBREAK_DATA names).
"""

# ruff: noqa: E402 (the number of threads is read when NumPy is imported)
from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

import tiebreak as tb
from tiebreak.lab.experiments.regression import stand_in

NEVER = 1e-30
"""A tolerance that no stopping test meets."""


def regression(seed: int = 0) -> tb.Problem:
    """One day from all others; 60 % of the pages for training, 20 % for validation, 20 % unused here."""
    return stand_in(seed).problem()


def people(seed: int = 0, n: int = 2000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features of people (6 numbers, 44 indicators), what they earn, and a sex that goes with some of the features."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    numbers = rng.random((n, 6)) + 0.2 * sex[:, None]
    groups = [rng.choice(11, n, p=rng.dirichlet(np.ones(11))) for _ in range(4)]
    X = np.hstack([numbers, *(np.eye(11)[group] for group in groups)])
    chance = 1 / (1 + np.exp(-(X @ rng.normal(0, 1.5, X.shape[1]) + sex - 1)))
    return X, np.where(rng.random(n) < chance, 1.0, -1.0), sex.astype(float)


def fairness() -> tuple[str, tb.Problem]:
    folder = os.environ.get("TIEBREAK_DATA")
    file = None if folder is None else Path(folder) / "adult.npz"
    if file is not None and file.exists():
        data = np.load(file)
        rows = np.random.default_rng(0).permutation(len(data["X"]))[:2000]
        name, X, y, sex = "Adult sample", data["X"].astype(float), data["y"][rows], data["sex"][rows]
        low, high = X.min(axis=0), X.max(axis=0)
        X = ((X - low) / np.where(high > low, high - low, 1.0))[rows]
    else:
        name, (X, y, sex) = "generated", people()
    X = np.column_stack([X, np.ones(len(X))])
    problem = tb.Problem(tb.SquaredCovariance(X, sex), tb.Logistic(X, y), tb.L1Ball(100.0))
    return f"fairness {X.shape[0]} x {X.shape[1]}, {name}", problem


@dataclass
class Textbook:
    """Algorithm 1 with dense gradients and a linear programme an update."""

    problem: tb.Problem
    step: tb.steps.StepRule
    x: np.ndarray
    k: int = 0

    def __post_init__(self) -> None:
        self.level = self.problem.lower.value(self.x)

    def run(self, updates: int) -> np.ndarray:
        use_numba(False)
        d, radius = self.x.size, self.problem.domain.radius
        for _ in range(updates):
            a = self.problem.upper.grad(self.x)
            g, c = self.problem.lower.value_and_grad(self.x)
            rows = np.vstack([np.ones(2 * d), np.concatenate([c, -c])])
            right = [radius, c @ self.x + self.level - g]
            split = linprog(np.concatenate([a, -a]), A_ub=rows, b_ub=right, bounds=(0, None), method="highs").x
            gamma = self.step(self.k)
            self.x = (1 - gamma) * self.x + gamma * (split[:d] - split[d:])
            self.k += 1
        return self.x


class Library:
    """The same updates by tiebreak, with or without numba."""

    def __init__(self, problem: tb.Problem, step: tb.steps.StepRule, x: np.ndarray, numba: bool) -> None:
        self.problem, self.numba = problem, numba
        self.solver = tb.CGBiO(step, tol_upper=NEVER, tol_lower=NEVER)
        self.state = self.solver.start(problem, x)

    def run(self, updates: int) -> np.ndarray:
        use_numba(self.numba)
        self.state = self.solver.advance_many(self.problem, self.state, updates)
        return self.state.x


def use_numba(wanted: bool) -> None:
    if wanted:
        os.environ.pop("TIEBREAK_NO_NUMBA", None)
    else:
        os.environ["TIEBREAK_NO_NUMBA"] = "1"


def seconds(run: Callable[[int], np.ndarray], updates: int) -> float:
    start = time.process_time()
    run(updates)
    return (time.process_time() - start) / updates


def compare(name: str, problem: tb.Problem, step: tb.steps.StepRule, rounds: int, updates: int) -> list[str]:
    near = tb.solve(problem, tb.AnytimeCGBiO(), max_iter=300, tol_upper=NEVER, tol_lower=NEVER).state.anchor
    runs: dict[str, Textbook | Library] = {
        "textbook": Textbook(problem, step, near.copy()),
        "tiebreak, NumPy": Library(problem, step, near, numba=False),
    }
    if find_spec("numba") is not None:
        runs["tiebreak, numba"] = Library(problem, step, near, numba=True)
    points = {label: run.run(updates) for label, run in runs.items()}  # the warm-up
    lengths = {"textbook": updates // 3, "tiebreak, NumPy": 256, "tiebreak, numba": 2048}
    times = dict.fromkeys(runs, np.inf)
    for _ in range(rounds):
        for label, run in runs.items():
            times[label] = min(times[label], seconds(run.run, lengths[label]))
    book = times["textbook"]
    apart = {label: float(np.abs(x - points["textbook"]).max()) for label, x in points.items()}
    if max(apart.values()) > 1e-8 * problem.domain.radius:
        raise SystemExit(f"{name}: the iterates differ: {apart}")
    return [
        f"| {name} | {label} | {1e6 * one:,.1f} | {book / one:,.0f}x | {apart[label]:.1e} |"
        for label, one in times.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--updates", type=int, default=60)
    options = parser.parse_args()
    label, fair = fairness()
    print(f"| problem | method | us an update | ratio | largest difference of x after {options.updates} updates |")
    print("|---|---|---:|---:|---:|")
    for name, problem, step in (
        ("regression 1068 x 730", regression(), tb.steps.Harmonic(2, 12)),
        (label, fair, tb.steps.InverseSqrt(0.005)),
    ):
        print("\n".join(compare(name, problem, step, options.rounds, options.updates)), flush=True)


if __name__ == "__main__":
    main()
