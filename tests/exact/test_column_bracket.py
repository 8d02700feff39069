"""The bracket of the column engine against exact rational values: no tolerance hides rounding left out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.exact.column_bracket import Bracket
from tiebreak.exact.columns import _lower_level, _upper_level, solve_columns
from tiebreak.exact.smooth import Smooth


def exact_least_norm(A: np.ndarray, b: np.ndarray) -> Fraction | None:
    """1/2 b'(AA')^-1 b for integer data, by elimination over the rationals; None if AA' is singular."""
    n = len(b)
    M = [[Fraction(int(value)) for value in row] for row in np.column_stack([A @ A.T, b])]
    for i in range(n):
        pivot = next((row for row in range(i, n) if M[row][i]), None)
        if pivot is None:
            return None
        M[i], M[pivot] = M[pivot], M[i]
        for row in range(n):
            if row != i:
                factor = M[row][i] / M[i][i]
                M[row] = [a - factor * c for a, c in zip(M[row], M[i], strict=True)]
    return sum((M[i][n] / M[i][i] * int(b[i]) for i in range(n)), Fraction(0)) / 2


def instances(count: int):
    """Fits of least norm, well inside the ball."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(1, 7)), int(rng.integers(8, 25))
        A, b = rng.integers(-3, 4, (n, d)) / 1.0, rng.integers(-9, 10, n) / 1.0
        exact = exact_least_norm(A, b)
        if exact is not None:
            size = np.abs(np.linalg.lstsq(A, b, rcond=None)[0]).sum()
            yield tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, b), tb.L1Ball(2 + 2 * size)), exact


def test_bracket_holds_the_exact_value() -> None:
    tried = 0
    for problem, exact in instances(40):
        answer = solve_columns(problem)
        assert Fraction(answer.f_lower) <= exact
        assert answer.f_upper == np.inf or exact <= Fraction(answer.f_upper)
        assert answer.f_upper - answer.f_lower <= 1e-11 * (1 + float(exact))
        assert Fraction(answer.g_lower) <= 0 <= Fraction(answer.g_upper)
        tried += 1
    assert tried >= 30


@pytest.mark.parametrize("max_steps", [2, 5, 13])
def test_bracket_of_a_run_cut_short(max_steps: int) -> None:
    """A point far from the answer has a wide bracket, not a wrong one."""
    for problem, exact in instances(15):
        answer = solve_columns(problem, max_steps=max_steps)
        assert Fraction(answer.f_lower) <= exact
        assert answer.f_upper == np.inf or exact <= Fraction(answer.f_upper)
        assert Fraction(answer.g_lower) <= 0 <= Fraction(answer.g_upper)
        assert problem.domain.contains(answer.x, 1e-12)


@pytest.mark.parametrize("lower_steps", [2, 3, 4, 6])
def test_bracket_around_a_wrong_image(lower_steps: int) -> None:
    """Level 1 is stopped early and level 2 solved for the image it left: only delta knows how wrong that is."""
    telling = 0
    for problem, exact in instances(20):
        lower, upper = Smooth(problem.lower, problem.dim), Smooth(problem.upper, problem.dim)
        solved = _lower_level(problem, lower, lower_steps)
        master, lam, _, _ = _upper_level(problem, lower, upper, solved, 1e-9, 1000)
        bracket = Bracket(problem, lower, upper, master, lam)
        assert Fraction(bracket.f_lower()) <= exact
        assert bracket.f_upper() == np.inf or exact <= Fraction(bracket.f_upper())
        telling += abs(bracket.f.value - float(exact)) > 1e-3
    assert telling > 0
