"""Small quadratic levels over boxes against rational arithmetic: near ties, small multipliers, scales."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import rational_references as rational

import tiebreak as tb
from tiebreak.engines.answer import Answer
from tiebreak.engines.rows.solve import solve_rows
from tiebreak.numerics.extended import UNIT, WIDE
from tiebreak.numerics.rank import exact_rank

LOOSE = UNIT * 2.0**64
HALF = (tb.SquaredNorm(dim=2), rational.squared_distance(np.zeros(2)))


def holds(answer: Answer, truth: rational.Truth) -> None:
    """Every claim, without any tolerance."""
    assert answer.g_lower <= truth.g <= answer.g_upper
    assert answer.f_lower <= truth.f <= answer.f_upper
    assert answer.lower_unique in (None, truth.unique)


def random_box(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    lower = -rng.integers(0, 5, n) / 2.0
    return lower, lower + rng.integers(1, 5, n)


def random_upper(rng: np.random.Generator, n: int) -> tuple[tb.Objective, rational.Form]:
    if rng.random() < 0.3:
        c = rng.integers(-3, 4, n).astype(float)
        return tb.Linear(c), rational.linear(c)
    center = rng.integers(-4, 5, n) / 2.0 * (rng.random() < 0.6)
    return tb.SquaredNorm(center), rational.squared_distance(center)


def planted(rng: np.random.Generator, A: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """A right-hand side that some point of the box fits, at times with a residual on top."""
    x = lower + (upper - lower) * rng.integers(0, 5, lower.size) / 4
    return A @ x + (rng.integers(-2, 3, A.shape[0]) if rng.random() < 0.5 else 0)


@pytest.mark.parametrize("box", [(0.0, 1.0), (-1.0, 1.0), (-3.0, 3.0)])
@pytest.mark.parametrize("digits", range(1, 10))
def test_two_nearly_equal_columns(digits, box):
    """(1, 0) is the only fit, however small the difference: the mean of both columns would have f = 1/4."""
    A = np.array([[1.0, 1.0], [1.0, 1.0 + 10.0**-digits]])
    answer = solve_rows([tb.LeastSquares(A, [1.0, 1.0]), tb.SquaredNorm()], tb.Box(*box, 2))[-1]
    assert answer.f_lower <= 0.5 <= answer.f_upper
    assert answer.lower_unique is True
    if WIDE:
        resolved = np.finfo(np.float64).eps * 10.0**digits  # what rounding of the data themselves would change
        assert answer.width < resolved
        np.testing.assert_allclose(answer.x, [1, 0], atol=resolved)


@pytest.mark.parametrize("digits", range(10, 17))
def test_two_columns_that_are_equal_for_all_one_can_tell(digits):
    A = np.array([[1.0, 1.0], [1.0, 1.0 + 10.0**-digits]])
    answer = solve_rows([tb.LeastSquares(A, [1.0, 1.0]), tb.SquaredNorm()], tb.Box(-3, 3, 2))[-1]
    holds(answer, rational.bilevel(rational.least_squares(A, np.ones(2)), HALF[1], np.full(2, -3.0), np.full(2, 3.0)))
    if np.isinf(answer.width):
        assert not answer.well_posed
        assert any("rank" in note for note in answer.notes)


@pytest.mark.parametrize("seed", range(40))
def test_nearly_dependent_columns(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    A = rng.integers(-3, 4, (n + int(rng.integers(0, 3)), n)).astype(float)
    digits = int(rng.integers(1, 16))
    A[:, -1] = A[:, 0] + 10.0**-digits * rng.integers(-3, 4, A.shape[0])
    lower, upper = random_box(rng, n)
    b = planted(rng, A, lower, upper)
    f, form = random_upper(rng, n)
    answer = solve_rows([tb.LeastSquares(A, b), f], tb.Box(lower, upper))[-1]
    holds(answer, rational.bilevel(rational.least_squares(A, b), form, lower, upper))
    if digits <= 6 and WIDE:
        assert answer.width < 1e-7


@pytest.mark.parametrize("seed", range(30))
def test_condition_numbers(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    digits = int(rng.integers(2, 13))
    U, V = (np.linalg.qr(rng.normal(size=(k, n)))[0] for k in (n + 2, n))
    A = U * np.logspace(0, -digits, n) @ V.T
    lower, upper = random_box(rng, n)
    b = planted(rng, A, lower, upper)
    f, form = random_upper(rng, n)
    answer = solve_rows([tb.LeastSquares(A, b), f], tb.Box(lower, upper))[-1]
    holds(answer, rational.bilevel(rational.least_squares(A, b), form, lower, upper))
    if digits <= 7 and WIDE:
        assert answer.width < 1e-7


@pytest.mark.parametrize("seed", range(40))
def test_small_multipliers_are_not_zero(seed):
    """A singular quadratic with a linear part of 1e-6 to 1e-18: on its flat directions that decides."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    B = rng.integers(-2, 3, (int(rng.integers(1, n + 1)), n)).astype(float)
    Q, digits = B.T @ B, int(rng.integers(6, 19))
    lower, upper = random_box(rng, n)
    q = -Q @ (lower + (upper - lower) * rng.integers(0, 5, n) / 4) * (rng.random() < 0.7)
    q = q + 10.0**-digits * rng.integers(-3, 4, n)
    f, form = random_upper(rng, n)
    answer = solve_rows([tb.Quadratic(Q, q), f], tb.Box(lower, upper))[-1]
    holds(answer, rational.bilevel(rational.quadratic(Q, q), form, lower, upper))
    if digits <= 12 and WIDE:
        assert answer.width < 1e-12


def test_a_cost_of_any_size_is_a_cost():
    """Over bounds alone the multipliers are the costs, which are what they are."""
    answer = solve_rows([tb.Linear([1.0, 1e-30]), tb.SquaredNorm([1.0, 1.0])], tb.Box(0, 1, 2))[-1]
    np.testing.assert_array_equal(answer.x, [0.0, 0.0])
    assert answer.f_lower <= 1.0 <= answer.f_upper < 1.0 + 1e-12
    assert answer.lower_unique is True


@pytest.mark.parametrize("seed", range(40))
def test_scales_of_columns(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    A = rng.integers(-3, 4, (int(rng.integers(n - 1, n + 3)), n)).astype(float)
    A *= 2.0 ** (rng.integers(1, 31) * rng.integers(-1, 2, n))
    if rng.random() < 0.5:
        A[:, -1] = 2 * A[:, 0]
    lower, upper = random_box(rng, n)
    b = planted(rng, A, lower, upper)
    f, form = random_upper(rng, n)
    answer = solve_rows([tb.LeastSquares(A, b), f], tb.Box(lower, upper))[-1]
    holds(answer, rational.bilevel(rational.least_squares(A, b), form, lower, upper))


@pytest.mark.parametrize("seed", range(6))
def test_two_columns_in_other_units(seed):
    """Tied columns over a box, two of them times a thousand: proved as without."""
    rng = np.random.default_rng(seed)
    A = np.round(rng.normal(size=(60, 24)) * 2.0**10) / 2.0**10
    A[:, 12:18] = A[:, :6]
    A[:, [3, 7]] *= 1e3
    lower = tb.LeastSquares(A, rng.normal(size=60))
    answer = solve_rows([lower, tb.SquaredNorm()], tb.Box(-0.3, 0.3, 24))[-1]
    assert answer.width < 1e-9 * LOOSE


@pytest.mark.parametrize("seed", range(4))
def test_a_triangular_factor_says_the_same_as_the_data(seed):
    """R of the QR decomposition of [A b] is the same level up to rounding, with square data, at condition 1e4."""
    rng = np.random.default_rng(seed)
    n = 8
    U, V = (np.linalg.qr(rng.normal(size=(k, n)))[0] for k in (200, n))
    A = U * np.logspace(0, -4, n) @ V.T
    b = A @ rng.uniform(-1, 1, n) + 1e-2 * rng.normal(size=200)
    R = np.linalg.qr(np.column_stack([A, b]), mode="r")
    box = tb.Box(-0.5, 0.5, n)
    tall = solve_rows([tb.LeastSquares(A, b), tb.SquaredNorm()], box)[-1]
    square = solve_rows([tb.LeastSquares(R[:, :n], R[:, n]), tb.SquaredNorm()], box)[-1]
    assert tall.width < 1e-12 * LOOSE
    assert square.width < 1e-12 * LOOSE
    np.testing.assert_allclose(square.x, tall.x, atol=1e-7)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e200, 1e300])
@pytest.mark.parametrize("what", ["A", "b", "both", "linear", "quadratic", "box"])
def test_data_whose_squares_are_no_numbers_are_refused(what, size):
    A, b = np.array([[1.0, 2.0, 1.0], [2.0, 1.0, 0.0]]), np.array([1.0, 2.0])
    with np.errstate(over="ignore"):
        lower = {
            "A": tb.LeastSquares(size * A, b),
            "b": tb.LeastSquares(A, size * b),
            "both": tb.LeastSquares(size * A, size * b),
            "linear": tb.LeastSquares(A, b) + tb.Linear(np.full(3, size)),
            "quadratic": tb.Quadratic(size * np.eye(3), np.zeros(3)),
            "box": tb.Linear([1.0, 2.0, 0.0]),
        }[what]
    box = tb.Box(-size, size, 3) if what == "box" else tb.Box(-1, 1, 3)
    with np.errstate(over="ignore"), pytest.raises(ValueError, match=r"other units|convex"):
        tb.solve(tb.Problem(tb.SquaredNorm(), lower, box), "exact")


def test_a_decomposition_that_fails_costs_the_polish_and_no_more(monkeypatch):
    """LAPACK may not converge, a factor may be singular: then the solvers' guesses are judged as they are."""

    def fails(*_: object) -> None:
        raise np.linalg.LinAlgError("SVD did not converge")

    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 4))
    lower, domain = tb.LeastSquares(A, rng.normal(size=6)), tb.Box(-0.1, 0.1, 4)
    f_star = solve_rows([lower, tb.SquaredNorm()], domain)[-1].f_upper
    monkeypatch.setattr("tiebreak.engines.rows.sides.Equality", fails)
    answer = solve_rows([lower, tb.SquaredNorm()], domain)[-1]
    assert answer.f_lower <= f_star + 1e-12
    assert answer.f_upper >= f_star - 1e-12
    monkeypatch.setattr("tiebreak.engines.rows.sides.kkt_solver", fails)
    wide = tb.LeastSquares(rng.normal(size=(8, 150)), rng.normal(size=8))
    answer = solve_rows([wide, tb.SquaredNorm()], tb.Box(-1, 1, 150))[-1]
    assert answer.f_lower <= answer.f_upper


def test_multipliers_of_rows_that_the_point_is_beside():
    """The fit (2, 1) touches 2x + y >= 5, whose multiplier is zero: a little of both, multiplied, is not nothing."""
    domain = tb.Polyhedron(A_ub=[[-3.0, -1.0], [-2.0, -1.0]], b_ub=[-6.0, -5.0], bounds=(-4, 12))
    lower, upper = tb.LeastSquares([[1.0, 2.0], [-1.0, 2.0]], [4.0, 0.0]), tb.LeastSquares([[-1.0, -2.0]], [-4.0])
    answer = solve_rows([lower, upper], domain)[-1]
    assert answer.f_lower <= 0.0 <= answer.f_upper
    assert answer.lower_unique is True


def test_ranks_of_what_is_stored():
    rng = np.random.default_rng(0)
    exact = rng.integers(-3, 4, (30, 5)) @ rng.integers(-3, 4, (5, 12)) * 2.0 ** rng.integers(-20, 20, 12)
    assert exact_rank(exact) == 5
    assert exact_rank(exact.T) == 5
    assert exact_rank(np.array([[0.1, 0.2, 0.3], [0.2, 0.4, 0.6]])) == 1
    assert exact_rank(np.array([[0.1, 0.1 + 0.2], [0.2, 0.6]])) == 2  # 0.3 it is not
    assert exact_rank(np.zeros((3, 2))) == 0


def test_multipliers_of_rows_that_are_not_held_may_leave_the_range_of_the_images():
    """A row that pulls along the flat direction by 1e-20 decides among fits that differ by as little."""
    rows = [[-1.0, 0.0, 2.0], [3.0, -3.0, -2.0], [1.0, -1.0, -1.0]]
    domain = tb.Polyhedron(rows, [-2.0, -6.0, -1.5], bounds=[(-3.0, 0.0), (1.5, 4.5), (-4.0, -1.0)])
    A = np.array([[-1.0, -2.000000001862645, -2.0], [2.0, 0.0, 0.0]])
    answer = solve_rows([tb.LeastSquares(A, [3.0, -4.0]), tb.LeastSquares([[2.0, 1.0, -1.0]], [-1.0])], domain)[-1]
    least = Fraction(48710933444011491409, 389687468557114277888)
    assert Fraction(answer.f_lower) <= least and (np.isinf(answer.f_upper) or least <= Fraction(answer.f_upper))
    assert answer.lower_unique is not False


@pytest.mark.parametrize("power", [-46, -45, -44, -40])
def test_a_residual_of_rounding_size_does_not_make_the_reach_of_the_minimisers_vanish(power: int) -> None:
    # The best x has x1 = 2, x2 = -1, x4 = -1 at their bounds with multipliers of the size of a rounding error: what is
    # left of the gradient beside them is no part of the range of the Hessian. With x3 = 2 - s the residuals are
    # 2 e - (2 + e) s and 2 e - (1 + e) s.
    e = Fraction(2) ** power
    s = (2 * e * (2 + e) + 2 * e * (1 + e)) / ((2 + e) ** 2 + (1 + e) ** 2)
    best = ((2 * e - (2 + e) * s) ** 2 + (2 * e - (1 + e) * s) ** 2) / 2
    A = np.array([[0, 2, 2 + float(e), 2], [1, 1, 1 + float(e), 0]])
    lower = tb.LeastSquares(A, [0.0, 3.0])
    domain = tb.Box(np.array([2.0, -2, 1, -2]), np.array([3.0, -1, 3, -1]))
    result = tb.solve(tb.Problem(tb.Linear([0.0, -1, 0, 1]), lower, domain), "exact")
    certificate = result.certificate
    assert Fraction(certificate.g_lower) <= best <= Fraction(certificate.g_upper)
    assert certificate.f_lower <= 0 <= certificate.f_upper
    assert certificate.lower_unique is not False


@pytest.mark.parametrize("e", [2.0**-20, 2.0**-28, 2.0**-31, 2.0**-34, 2.0**-38])
@pytest.mark.parametrize("by_rows", [False, True])
def test_nearly_equal_columns_on_an_equation(e: float, by_rows: bool) -> None:
    """Steps that keep the sum leave A almost unchanged: the condition number is that of A to A on these steps."""
    A = np.array([[1.0, 1.0, 2.0], [1.0, 1.0 + e, 1.0]])
    x = np.array([0.75, 0.25, 0.0])  # the only solution of A x = b with sum(x) = 1
    domain = tb.Polyhedron(A_eq=np.ones((1, 3)), b_eq=[1.0], bounds=(0, 1)) if by_rows else tb.Simplex()
    result = tb.solve(tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, A @ x), domain))
    certificate = result.certificate
    assert result.success
    assert certificate.f_lower <= 0.3125 <= certificate.f_upper
    assert certificate.f_upper - certificate.f_lower <= 1e-4
