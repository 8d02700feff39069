"""Chains with smooth losses: brackets against 45 digits, and the ways in which such levels go wrong."""

from __future__ import annotations

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.engines.smooth.solve import solve_smooth_chain

mp = pytest.importorskip("mpmath")
reference = pytest.importorskip("engines.smooth_references")


# -- brackets against references ------------------------------------------------------------------------------------


def data(rng: np.random.Generator, d: int) -> np.ndarray:
    """Small integers, most often of low rank."""
    n, rank = int(rng.integers(3, 12)), int(rng.integers(1, d + 1))
    if rng.random() < 0.3:
        return rng.integers(-3, 4, (n, d)).astype(float)
    return (rng.integers(-3, 4, (n, rank)) @ rng.integers(-2, 3, (rank, d))).astype(float)


def level(rng: np.random.Generator, d: int, kinds: tuple[str, ...]):
    """An objective, and what the references know it by."""
    kind, A = rng.choice(kinds), data(rng, d)
    if kind == "logistic":
        f = tb.Logistic(A, np.r_[0, 1, rng.integers(0, 2, len(A) - 2)])
        return f, [reference.logistic(A, f.y, f.weights)]
    if kind == "huber":
        b, delta = rng.integers(-8, 9, len(A)).astype(float), float(2.0 ** rng.integers(-2, 3))
        return tb.Huber(A, b, delta), [reference.huber(A, b, delta)]
    if kind == "squares":
        b = rng.integers(-3, 4, len(A)).astype(float)
        return tb.LeastSquares(A, b), [reference.squares(A, b)]
    if kind == "linear":
        c = rng.integers(-3, 4, d).astype(float)
        return tb.Linear(c), [reference.linear(c)]
    c = rng.integers(-3, 4, d) / 4
    return tb.SquaredNorm(c), [reference.squares(np.eye(d), c)]


def random_chain(seed: int):
    """Two or three levels, at least one of them smooth, over a box or a polyhedron; None where that is empty."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 7))
    size = float(2.0 ** rng.integers(-2, 3))
    lower, upper = -size * np.ones(d) * (rng.random() < 0.7), size * np.ones(d)
    rows = []
    for _ in range(int(rng.integers(1, 4)) if rng.random() < 0.5 else 0):
        a, width = rng.integers(-2, 3, d).astype(float), size * float(rng.integers(1, 4)) / 2
        middle = float(a @ (lower + upper)) / 2
        rows.append((a, -np.inf if rng.random() < 0.5 else middle - width, middle + width))
    smooth = ("logistic", "huber")
    made = [level(rng, d, smooth), level(rng, d, ("squares", "linear", "norm", *smooth))]
    if rng.random() < 0.3:
        made.append(level(rng, d, ("linear", "norm", *smooth)))
    if rng.random() < 0.3:
        more = level(rng, d, ("logistic", "linear", "squares"))
        made[0] = (made[0][0] + more[0], made[0][1] + more[1])
    domain: tb.Domain = tb.Box(lower, upper)
    if rows:
        A, low, high = (np.array(part) for part in zip(*rows, strict=True))
        ends = np.isfinite(low)
        domain = tb.Polyhedron(
            A_ub=np.vstack([A, -A[ends]]), b_ub=np.r_[high, -low[ends]], bounds=list(zip(lower, upper, strict=True))
        )
    answers = solve_smooth_chain([one for one, _ in made], domain)
    return answers, reference.chain([parts for _, parts in made], lower, upper, [a.x for a in answers], rows)


@pytest.mark.parametrize("start", range(0, 60, 6))
def test_brackets_hold_the_optimal_values(start: int) -> None:
    judged = 0
    for seed in range(start, start + 6):
        answers, values = random_chain(seed)
        if values is None:  # the active set of the answer does not prove itself: degenerate
            continue
        judged += 1
        for answer, value in zip(answers, values, strict=True):
            assert answer.f_lower <= value <= answer.f_upper, seed
            assert answer.width <= 1e-7 or not answer.well_posed, (seed, answer)
    assert judged >= 3
