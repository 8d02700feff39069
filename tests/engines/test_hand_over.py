"""From columns to rows where many vertices are in use, without the limits on sizes where those do not bind."""

import numpy as np
import pytest
import scipy.sparse as sp

import tiebreak as tb
from tiebreak.engines.answer import Answer, Elsewhere
from tiebreak.engines.choice import choose_engine
from tiebreak.engines.columns.solve import solve_columns
from tiebreak.engines.task import Task
from tiebreak.engines.without_sizes import WithoutSizes
from tiebreak.sets.around import around, well_inside


def least_norm(rows: int, dim: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((rows, dim))
    b = A @ rng.standard_normal(dim) / np.sqrt(dim)
    return A, b, np.linalg.lstsq(A, b, rcond=None)[0]


def problem_over(A: np.ndarray, b: np.ndarray, domain: tb.Domain) -> tb.Problem:
    return tb.Problem(tb.SquaredNorm(dim=A.shape[1]), tb.LeastSquares(A, b), domain)


@pytest.mark.parametrize("radius", [50.0, 1e4, 1e9])
def test_a_ball_that_does_not_bind_has_the_answer_of_least_squares(radius):
    A, b, x = least_norm(30, 200, 1)
    result = tb.solve(problem_over(A, b, tb.L1Ball(radius)), tol_upper=1e-10, tol_lower=1e-10)
    assert result.success
    assert np.abs(result.x - x).max() <= 1e-12
    assert result.certificate.f_lower <= x @ x / 2 * (1 + 1e-15)
    assert result.certificate.f_upper >= x @ x / 2 * (1 - 1e-15)
    assert result.certificate.lower_unique is False


@pytest.mark.parametrize("more", [1e-3, 1e-7, 1e-12, 0.0, -1e-12, -1e-7, -1e-3])
def test_balls_that_just_bind_or_just_do_not(more):
    A, b, x = least_norm(20, 170, 2)
    problem = problem_over(A, b, tb.L1Ball(float(np.abs(x).sum()) * (1 + more)))
    found, reference = tb.solve(problem, tol_upper=1e-8, tol_lower=1e-8), solve_columns(problem)
    assert found.certificate.f_lower <= reference.f_upper
    assert found.certificate.f_upper >= reference.f_lower
    assert np.abs(found.x).sum() <= problem.domain.radius * (1 + 1e-15)
    assert found.f >= x @ x / 2 * (1 - 1e-12)


def test_an_answer_without_a_solution_near_is_not_taken():
    task = Task((tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.SquaredNorm(dim=2)), tb.L1Ball(2.0).with_dim(2))
    step = WithoutSizes.of(task)
    x = np.array([0.5, 0.5])
    inside = Answer(x, 0.0, 0.0, 0.25, 0.25, moves=np.full(2, 0.1))
    assert step.invert(inside) is inside
    with pytest.raises(Elsewhere, match="how near"):
        step.invert(Answer(x, 0.0, 0.0, 0.25, 0.25))
    with pytest.raises(Elsewhere, match="bind"):
        step.invert(Answer(x, 0.0, 0.0, 0.25, 0.25, moves=np.full(2, 0.6)))


def test_a_single_level_is_bounded_by_its_value_at_the_point():
    level = tb.LeastSquares([[1.0, 1.0]], [1.0])
    step = WithoutSizes.of(Task((level,), tb.L1Ball(2.0).with_dim(2)))
    found = step.invert(Answer(np.array([0.5, 0.4]), 0.0, 0.0, 0.0, 0.0))
    assert found.f_upper >= level.value(np.array([0.5, 0.4]))


def test_the_set_around_keeps_rows_without_sizes():
    product = tb.Product({"p": (tb.Simplex(1.0), 3), "q": (tb.L1Ball(2.0), 2)})
    outer = around(product)
    assert outer.rows.A.shape == (1, 5)
    assert well_inside(product, np.array([1.0, 0.0, 0.0, 0.5, 0.5]), np.zeros(5))
    assert not well_inside(product, np.array([1.0, 0.0, 0.0, 1.5, -0.5]), np.zeros(5))
    assert not well_inside(product, np.array([1.0, 0.0, 0.0, 0.5, 0.5]), np.full(5, 0.6))


def test_a_simplex_hands_over_dense_answers_only():
    n = 400
    rng = np.random.default_rng(3)
    costs = rng.integers(0, 2, n).astype(float)
    spread = tb.solve(tb.Problem(tb.SquaredNorm(dim=n), tb.Linear(costs), tb.Simplex()), tol_upper=1e-12)
    tied = int((costs == 0).sum())
    assert spread.success
    assert spread.f == pytest.approx(0.5 / tied, rel=1e-14)
    assert np.abs(spread.x - (costs == 0) / tied).max() <= 1e-15
    problem = tb.Problem(tb.SquaredNorm(np.eye(n)[0] * 5 + np.eye(n)[1] * 5), tb.Linear(np.zeros(n)), tb.Simplex())
    assert solve_columns(problem, patient=False).x[:2] == pytest.approx([0.5, 0.5])


def test_columns_are_impatient_only_when_told():
    A, b, x = least_norm(20, 300, 4)
    problem = problem_over(A, b, tb.L1Ball(40.0))
    with pytest.raises(Elsewhere):
        solve_columns(problem, patient=False)
    assert np.abs(solve_columns(problem).x - x).max() <= 1e-9


def test_a_wide_bracket_is_tried_the_other_way():
    rng = np.random.default_rng(5)
    A, F = rng.standard_normal((300, 40)), rng.standard_normal((5, 40))
    b, h = rng.standard_normal(300), rng.standard_normal(5)
    problem = tb.Problem(tb.LeastSquares(F, h), tb.LeastSquares(A, b), tb.L1Ball(1e7))
    assert solve_columns(problem).width > 1e-9
    result = tb.solve(problem, tol_upper=1e-9, tol_lower=1e-9)
    x = np.linalg.lstsq(A, b, rcond=None)[0]
    assert result.success
    assert result.f == pytest.approx(tb.LeastSquares(F, h).value(x), rel=1e-10)


def test_the_plan_shows_every_way():
    A, b, _ = least_norm(5, 8, 6)
    said = repr(tb.plan(problem_over(A, b, tb.L1Ball(3.0))))
    assert "exact, by columns" in said
    assert "else      by rows, without the limits of L1Ball(3) on sizes, if they do not bind" in said


@pytest.mark.parametrize(
    ("rows", "low", "high"),
    [([[2.0] * 4], [3.0], [3.0]), ([[-1.0] * 4], [-1.5], [-1.5]), ([[1.0] * 4, [-1.0] * 4], None, [1.5, -1.5])],
)
def test_polyhedra_that_are_simplices_are_recognised(rows, low, high):
    given = {"A_ub": rows, "b_ub": high} if low is None else {"A_eq": rows, "b_eq": high}
    assert repr(tb.Polyhedron(**given, bounds=(0, 2)).recognised) == "Simplex(1.5)"
    assert repr(tb.Polyhedron(**given, bounds=(0, 1.5)).recognised) == "Simplex(1.5)"


@pytest.mark.parametrize(
    "given",
    [
        {"A_eq": [[1.0, 1.0, 1.0]], "b_eq": [1.0], "bounds": (0, 0.9)},
        {"A_eq": [[1.0, 1.0, 1.0]], "b_eq": [1.0], "bounds": (-0.1, 1.0)},
        {"A_eq": [[1.0, 1.0, 2.0]], "b_eq": [1.0], "bounds": (0, 1.0)},
        {"A_eq": [[1.0, 1.0, 0.0]], "b_eq": [1.0], "bounds": (0, 1.0)},
        {"A_ub": [[1.0, 1.0, 1.0]], "b_ub": [1.0], "bounds": (0, 1.0)},
        {"A_eq": [[0.1, 0.1, 0.1]], "b_eq": [0.3], "bounds": (0, 4.0)},  # 0.3 / 0.1 is rounded
        {"A_eq": sp.csr_array(([0.0, 0.0, 0.0], [0, 1, 2], [0, 3]), shape=(1, 3)), "b_eq": [0.0], "bounds": (0, 1.0)},
        {"A_eq": [[1.0, 1.0, 1.0]], "b_eq": [0.0], "bounds": (0, 1.0)},
    ],
)
def test_others_are_not(given):
    polyhedron = tb.Polyhedron(**given)
    assert polyhedron.recognised is polyhedron


def test_a_recognised_simplex_is_answered_in_its_own_name():
    n = 6
    rows = tb.Polyhedron(A_eq=np.ones((1, n)), b_eq=[1.0], bounds=(0, 1))
    problem = tb.Problem(tb.SquaredNorm(dim=n), tb.Linear(np.arange(n) // 3), rows)
    choice = choose_engine(problem)
    assert choice.task.domain is rows
    assert choice.engine.name == "columns"
    result = tb.solve(problem)
    assert result.x == pytest.approx([1 / 3] * 3 + [0] * 3)
    assert result.verify(problem)
