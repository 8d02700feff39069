"""One update of CG-BiO on the dictionary problem: as in a textbook, with tiebreak on NumPy alone, and with numba.

    python benchmarks/dictionary_speed.py [--rounds 7] [--updates 100]

The textbook is the paper in NumPy, all columns at once: both gradients with their products written out, the codes of
the old data extended by zeros to all atoms, and scipy's root finders for the multiplier, whose function evaluates the
25 x 50 dictionary at every trial. Two of them: the bracket is found by doubling from 1 and handed to brentq; or, as
MATLAB's fzero does for the authors, by a search outwards from 0 in both directions, by factors of sqrt(2). All start
from the same point, run in the same process on one BLAS thread, and take turns; each time is the least of several
averages in processor time, warm-up excluded, and the iterates are compared. The instance is generated; or the
authors' where TIEBREAK_DATA names the folder of dictionary_reference.npz.
"""

# ruff: noqa: E402 (the number of threads is read when NumPy is imported)
from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

import tiebreak as tb
from tiebreak.lab.experiments.dictionary import ATOMS, DELTA, generate, learn, problem_from, start

NEVER = 1e-300
"""A tolerance that no stopping test meets."""


class Instance(NamedTuple):
    A_old: np.ndarray
    X_hat: np.ndarray
    A_new: np.ndarray
    problem: tb.Problem
    x0: np.ndarray


def instance() -> tuple[str, Instance]:
    file = Path(os.environ.get("TIEBREAK_DATA", "")) / "dictionary_reference.npz"
    if file.exists():
        with np.load(file) as arrays:
            A_old, X_hat, A_new, D0, X0 = (arrays[name] for name in ("A_old", "X_hat", "A_new", "D0", "X0"))
        problem = problem_from(A_old, X_hat, A_new, DELTA, ATOMS)
        return "the authors' instance", Instance(A_old, X_hat, A_new, problem, problem.domain.join({"D": D0, "X": X0}))
    data = generate()
    found = learn(data.A_old, steps=2000)
    problem = problem_from(data.A_old, found.X, data.A_new, DELTA, ATOMS)
    return "generated", Instance(data.A_old, found.X, data.A_new, problem, start(problem, found.D))


def doubling(excess: Callable[[float], float]) -> float:
    high = 1.0
    while excess(high) > 0:
        high *= 2
    return brentq(excess, 0.0, high, xtol=1e-300, rtol=8.9e-16)


def outwards(excess: Callable[[float], float]) -> float:
    at_zero, step = excess(0.0), 0.02 / 2**0.5
    while True:
        step *= 2**0.5
        if (excess(-step) > 0) != (at_zero > 0):
            return brentq(excess, -step, 0.0, xtol=1e-300, rtol=8.9e-16)
        if (excess(step) > 0) != (at_zero > 0):
            return brentq(excess, 0.0, step, xtol=1e-300, rtol=8.9e-16)


def textbook(given: Instance, updates: int, find_root: Callable[[Callable[[float], float]], float]) -> np.ndarray:
    """Algorithm 1 with the subproblem of the paper's Appendix F.3, its misprints corrected."""
    A_old, X_hat, A_new, problem, x0 = given
    D, X = (block.copy() for block in problem.domain.split(x0).values())
    codes = np.vstack([X_hat, np.zeros((D.shape[1] - len(X_hat), X_hat.shape[1]))])
    level = 0.5 * np.linalg.norm(A_old - D @ codes) ** 2
    for k in range(updates):
        slope_D = (D @ X - A_new) @ X.T
        slope_X = D.T @ (D @ X - A_new)
        cut = (D @ codes - A_old) @ codes.T
        side = level - 0.5 * np.linalg.norm(A_old - D @ codes) ** 2 + np.sum(cut * D)

        def atoms(lam: float, a: np.ndarray = slope_D, c: np.ndarray = cut) -> np.ndarray:
            G = a + lam * c
            return -G / (np.linalg.norm(G, axis=0) + 2.2e-16)

        def excess(lam: float, c: np.ndarray = cut, b: float = side, atoms: Callable = atoms) -> float:
            return np.sum(c * atoms(lam)) - b

        S_D = atoms(0.0) if excess(0.0) <= 0 else atoms(find_root(excess))
        S_X = np.zeros_like(X)
        rows, columns = np.argmax(np.abs(slope_X), axis=0), np.arange(X.shape[1])
        S_X[rows, columns] = -DELTA * np.sign(slope_X[rows, columns])
        step = 0.3 / np.sqrt(k + 1)
        D, X = D + step * (S_D - D), X + step * (S_X - X)
    return problem.domain.join({"D": D, "X": X})


def ours(given: Instance, updates: int, plain: bool, chunks: bool = True) -> np.ndarray:
    solver = tb.CGBiO(tb.steps.InverseSqrt(0.3), tol_upper=NEVER, tol_lower=NEVER)
    if plain:
        os.environ["TIEBREAK_NO_NUMBA"] = "1"
    try:
        state = solver.start(given.problem, given.x0)
        if chunks:
            return solver.advance_many(given.problem, state, updates).x
        for _ in range(updates):
            state = solver.advance(given.problem, state)
    finally:
        os.environ.pop("TIEBREAK_NO_NUMBA", None)
    return state.x


def floor(given: Instance, updates: int) -> None:
    """The matrix products alone: three for f, and two with the replaced codes for g."""
    problem, x0 = given.problem, given.x0
    D, X = problem.domain.split(x0).values()
    R, old, codes = D @ X, np.ascontiguousarray(D[:, : len(given.X_hat)]), problem.lower.known()[1]
    for _ in range(updates):
        D @ X
        R @ X.T
        D.T @ R
        (old @ codes) @ codes.T


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--updates", type=int, default=100)
    chosen = parser.parse_args()
    name, given = instance()
    runs: dict[str, Callable[[int], object]] = {
        "textbook, bracket by doubling": lambda n: textbook(given, n, doubling),
        "textbook, search outwards from 0": lambda n: textbook(given, n, outwards),
        "tiebreak, NumPy, update by update": lambda n: ours(given, n, True, False),
        "tiebreak, NumPy": lambda n: ours(given, n, True),
    }
    if find_spec("numba") is not None:
        runs["tiebreak, numba, update by update"] = lambda n: ours(given, n, False, False)
        runs["tiebreak, numba"] = lambda n: ours(given, n, False)
    ends = {which: run(chosen.updates) for which, run in runs.items()}
    runs["matrix products alone"] = lambda n: floor(given, n)
    best = dict.fromkeys(runs, np.inf)
    for _ in range(chosen.rounds):
        for which, run in runs.items():
            before = time.process_time()
            run(chosen.updates)
            best[which] = min(best[which], (time.process_time() - before) / chosen.updates)
    first = next(iter(ends.values()))
    print(f"{name}, {chosen.updates} updates, least of {chosen.rounds} averages")
    print(f"{'':36}{'µs an update':>14}{'doubling / this':>17}{'outwards / this':>17}{'iterate differs':>17}")
    textbooks = list(best.values())[:2]
    for which, seconds in best.items():
        away = f"{np.abs(ends[which] - first).max():.1e}" if which in ends else ""
        print(f"{which:36}{1e6 * seconds:14.0f}{textbooks[0] / seconds:17.1f}{textbooks[1] / seconds:17.1f}{away:>17}")


if __name__ == "__main__":
    main()
