"""Ties by rows that rounding of decimals has broken, and points that miss rows by rounding, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tiebreak as tb
from auditing.checks import audit
from auditing.recipes import Case, recipe
from auditing.truth import truth_of


def held_to_the_truth(
    levels: list, A: list, b: list, far: float, method: str = "lexicographic", low: float | None = None
) -> None:
    rows = np.array(A)
    domain = recipe(
        "Polyhedron", A_ub=rows, b_ub=np.array(b), bounds=[(-far if low is None else low, far)] * rows.shape[1]
    )
    outcome = audit(Case("ties", tuple(levels), domain, rows.shape[1], method=method), 10.0)
    assert outcome.status != "open" or outcome.two_sided
    assert not outcome.faults


def test_multipliers_that_rounding_of_the_data_has_made_are_none_of_zero() -> None:
    """Costs of 1.1 times the second row, as doubles: the others get 1e-17, and one vertex is left."""
    A = [
        [1.633, -0.134, 2.93, -0.694, 1.647],
        [2.793, 1.837, -0.289, 0.285, -1.364],
        [-0.913, 2.941, -1.408, 2.091, -0.631],
    ]
    b = [5.6972, 2.4764000000000004, 2.5211]
    lower = recipe("Linear", c=-1.1 * np.array(A[1]))
    upper = recipe("SquaredNorm", center=np.array([0.6, 2.3, 2.7, 0.7, 0.7]))
    held_to_the_truth([lower, upper], A, b, 10.0)
    problem = tb.Problem(upper.build(), lower.build(), tb.Polyhedron(A_ub=A, b_ub=b, bounds=[(-10.0, 10.0)] * 5))
    result = tb.solve(problem, "exact")
    truth = truth_of(Case("ties", (lower, upper), recipe("Polyhedron", A_ub=A, b_ub=b, bounds=[(-10.0, 10.0)] * 5), 5))
    f = result.levels[-1]
    assert result.certificate.well_posed is False and "tie" in str(result)
    # the tie broken, and the tie as it was meant
    assert f.lower < 1 < 187 < f.upper < float(truth.values[1][0]) * (1 + 1e-12)


def test_a_multiplier_of_a_row_that_is_almost_lost_in_its_rounding() -> None:
    A = [[-1.1, -2.83], [2.63, 0.02], [-0.87, 0.45], [2.59, 2.93], [-1.8, 1.57]]
    lower = recipe("Linear", c=-0.8 * np.array(A[2]))
    squares = recipe("LeastSquares", A=np.array([[-1.3, 0.0]]), b=np.array([-2.47]))
    upper = recipe("+", parts=[squares, recipe("Linear", c=np.array([0.0, 3.0]))])
    held_to_the_truth(
        [lower, upper], A, [-7.467, 5.435, -0.7979999999999999, 12.187999999999999, 1.1630000000000003], 3e5, "exact"
    )


@pytest.mark.parametrize("seed", range(25))
def test_costs_that_are_sums_of_decimal_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    A, point = np.round(rng.uniform(-3, 3, (n + 1, n)), 3), np.round(rng.uniform(0, 2, n), 1)
    prices = np.round(rng.uniform(0.1, 2, n + 1), 1) * (rng.random(n + 1) < 0.4)
    lower = recipe("Linear", c=-prices @ A if prices.any() else -A[0])
    held_to_the_truth([lower, recipe("SquaredNorm", center=np.zeros(n))], A.tolist(), (A @ point).tolist(), 100.0)


def test_a_level_bends_on_the_way_back_to_a_row() -> None:
    """Nearly met at a corner: a point that misses two rows by 1e-17 has squares that are lower by a third."""
    A = [[1.604, 0.0, 1.607], [2.025, 0.0, 0.33], [2.739, 0.0, 2.234], [-1.958, 0.0, 1.129], [-1.696, 0.0, 1.828]]
    b = [3.2110000000000003, 2.355, 4.973, -0.829, 0.13200000000000012]
    squares = recipe("LeastSquares", A=np.array(A), b=np.array(b))
    rows, right = [*np.eye(3).tolist(), [1.0, 1.0, 1.0]], [1.0, 1.0, 1.0, 2.9999]
    held_to_the_truth([recipe("Linear", c=np.full(3, -0.7)), squares, recipe("L1Norm")], rows, right, 1e5, low=0.0)


def test_rows_that_are_nearly_parallel_are_missed_at_the_price_of_the_way_back() -> None:
    """x1 + 1e-13 x2 <= 1 and x1 - 1e-13 x2 <= 1: missed by 1e-14, x2 is off by 0.1."""
    A = [
        [-2.5, -2.9, 2.1, 0],
        [-1.2, 2.8, -0.2, 0],
        [-2.3, -1.9, -2.4, 0],
        [-0.3, 1.2, 1.3, 0],
        [-2.5, 0, -0.6, 0],
        [3, 2, 0.7, 0],
    ]
    squares = recipe("LeastSquares", A=np.array(A), b=np.array([-3.4, -0.6, -1.8, -1.2, -2.0, 3.8]))
    levels = [recipe("Linear", c=-np.eye(4)[0]), recipe("*", factor=7.0, part=squares)]
    for far in (1e6, 1e12):
        for slope in (1e-11, 1e-13):
            rows = [[1.0, slope, 0.0, 0.0], [1.0, -slope, 0.0, 0.0]]
            held_to_the_truth(levels, rows, [1.0, 1.0], far, "exact")


@pytest.mark.parametrize("tied", [False, True])
def test_sums_of_costs_are_not_rounded(tied: bool) -> None:
    """0.1 * 3 + 0.1 and 0.1 + 0.3: as doubles they add up to the same, exactly they do not."""
    first, second = np.array([0.1 * 3, 0.1, 1.0]), np.array([0.1, 0.1 * 3 if tied else 0.3, 1.0])
    sums = [Fraction(float(p)) + Fraction(float(q)) for p, q in zip(first, second, strict=True)]
    assert first[0] + second[0] == first[1] + second[1] and (sums[0] == sums[1]) is tied
    rows = tb.Polyhedron(A_ub=[[1.0, 1.0, 2.0]], b_ub=[3.0], A_eq=[[1.0, 1.0, 1.0]], b_eq=[1.0], bounds=(0, 1))
    upper = tb.SquaredNorm([1.0, 0.0, 0.0])
    result = tb.solve(tb.Problem(upper, tb.Linear(first) + tb.Linear(second), rows), "exact")
    assert result.certificate.well_posed is tied
    assert result.levels[-1].lower == 0 and result.levels[-1].upper == pytest.approx(0 if tied else 1)
