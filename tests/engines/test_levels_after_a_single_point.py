"""Levels after one that leaves a single point: what they are at that point, against fractions."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest

import tiebreak as tb
from fractional import dot, fractions
from tiebreak.engines.rows.least_norm import least_norm


def nearest_fit(A: np.ndarray, b: np.ndarray, center: np.ndarray) -> list[Fraction]:
    """center + A'w with A'A (center + A'w) = A'b, for data in whole numbers."""
    m, n = A.shape
    M = flint.fmpq_mat(m, n, [int(entry) for entry in A.ravel()])
    short = flint.fmpq_mat(m, 1, [int(entry) for entry in b - A @ center])
    K, right = M.transpose() * M * M.transpose(), M.transpose() * short
    whole = flint.fmpq_mat(n, m + 1, [entry for i in range(n) for entry in (*(K[i, j] for j in range(m)), right[i, 0])])
    reduced, rank = whole.rref()
    w = flint.fmpq_mat(m, 1)
    for i in range(rank):
        w[next(j for j in range(m) if reduced[i, j] != 0), 0] = reduced[i, m]
    step = M.transpose() * w
    return [Fraction(int(center[j])) + Fraction(int(step[j, 0].p), int(step[j, 0].q)) for j in range(n)]


def squares(A: np.ndarray, b: np.ndarray, x: list[Fraction]) -> Fraction:
    return (
        sum(((dot(fractions(row), x) - Fraction(float(end))) ** 2 for row, end in zip(A, b, strict=True)), Fraction())
        / 2
    )


@pytest.mark.parametrize("seed", range(24))
def test_later_levels_are_what_they_are_there(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 7)), int(rng.integers(2, 9))
    A, F = rng.integers(-3, 4, (m, n)).astype(float), rng.integers(-2, 3, (3, n)).astype(float)
    b, h = rng.integers(-3, 4, m).astype(float), rng.integers(-2, 3, 3).astype(float)
    c, center = rng.integers(-3, 4, n).astype(float), rng.integers(-2, 3, n).astype(float)
    domain = (tb.Space(n), tb.Box(-50.0, 50.0, n), tb.Polyhedron(A_ub=np.ones((1, n)), b_ub=[1e3], bounds=(-60, 60)))[
        seed % 3
    ]
    levels = [tb.LeastSquares(A, b), tb.SquaredNorm(center), tb.Linear(c), 2.0 * tb.LeastSquares(F, h)]
    x = nearest_fit(A, b, center)
    answers = least_norm(levels, domain)
    assert answers is not None
    distance = sum(((one - Fraction(float(end))) ** 2 for one, end in zip(x, center, strict=True)), Fraction()) / 2
    for answer, value in zip(
        answers, (squares(A, b, x), distance, dot(fractions(c), x), 2 * squares(F, h, x)), strict=True
    ):
        assert Fraction(answer.f_lower) <= value <= Fraction(answer.f_upper)
        assert answer.f_upper - answer.f_lower <= 1e-11 * (1 + abs(float(value)))
    assert tb.lexicographic(levels, domain).success
