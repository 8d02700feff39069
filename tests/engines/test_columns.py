"""The column engine against conic solves in equality form, planted problems, closed forms and linear programmes."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from bilevel_references import interpolation, least_norm, lower_value, solve, upper_value
from scipy import sparse
from scipy.optimize import linprog

import tiebreak as tb
from known.bounds import Inaccurate
from known.terms import CONVEX
from problems import PLANTED, instance
from tiebreak.engines.columns.pseudo_inverse import pseudo_inverse
from tiebreak.engines.columns.refuses import columns_apply
from tiebreak.engines.columns.solve import solve_columns

ROUNDING = 1e-8  # of the references, relative


def half_square(B: np.ndarray, y: np.ndarray):
    return lambda x: 0.5 * cp.sum_squares(B @ x - y)


def check(problem: tb.Problem, answer, f_star: float, f_tol: float = 0.0) -> None:
    """The bracket holds x and the reference, and x is the answer."""
    f, g = problem.upper.value(answer.x), problem.lower.value(answer.x)
    tol = f_tol + ROUNDING * (1 + abs(f_star))
    assert problem.domain.contains(answer.x, 1e-12)
    noise = 4e-16 * (1 + abs(f) + abs(g))  # of f and g as computed here: the bracket may be narrower
    assert answer.f_lower - noise <= f <= answer.f_upper + noise
    assert answer.g_lower - noise <= g <= answer.g_upper + noise
    assert answer.f_lower - tol <= f_star <= answer.f_upper + tol
    assert abs(f - f_star) <= tol


KINDS = ("gauss", "integer", "duplicated A", "duplicated A and B", "low rank", "f = g")


def random_data(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    n, d, m = int(rng.integers(2, 9)), int(rng.integers(4, 20)), int(rng.integers(1, 8))
    A, B = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    b, y = rng.normal(size=n) * rng.choice([0.1, 1, 5]), 2 * rng.normal(size=m)
    half = d // 2
    if kind == "integer":
        A, B, b, y = rng.integers(-2, 3, (n, d)) / 1.0, rng.integers(-2, 3, (m, d)) / 1.0, np.round(b), np.round(y)
    if kind.startswith("duplicated"):
        A[:, half : 2 * half] = A[:, :half]
    if kind == "duplicated A and B":
        B[:, half : 2 * half] = B[:, :half]
    if kind == "low rank":
        k = max(1, n // 2)
        A = rng.integers(-2, 3, (n, k)) @ rng.integers(-2, 3, (k, d)) / 1.0
    if kind == "f = g":
        B, y = A, b
    return A, b, B, y


@pytest.mark.parametrize("kind", KINDS)
def test_random_problems(kind: str) -> None:
    compared = two_sided = 0
    for seed in range(24):
        rng = np.random.default_rng([seed, KINDS.index(kind)])
        A, b, B, y = random_data(kind, rng)
        R = float(rng.choice([0.1, 0.5, 1, 2, 5]))
        domain = tb.L1Ball(R) if seed % 2 else tb.Simplex(R)
        problem = tb.Problem(tb.LeastSquares(B, y), tb.LeastSquares(A, b), domain)
        answer = solve_columns(problem)
        g_star = lower_value(A, b, domain)
        f_star = upper_value(half_square(B, y), A, A @ answer.x, domain)
        if g_star is None or f_star is None:
            continue
        compared += 1
        two_sided += np.isfinite(answer.f_upper)
        assert answer.g_lower - 1e-9 <= g_star <= answer.g_upper + 1e-9
        check(problem, answer, f_star)
        assert answer.well_posed
        assert problem.upper.value(answer.x) - answer.f_lower <= 1e-10 * (1 + abs(f_star))
        if kind == "f = g":
            assert answer.upper_constant
        if kind == "duplicated A":
            assert answer.lower_unique is not True
    assert compared >= 20
    assert two_sided >= 0.8 * compared


@pytest.mark.parametrize("domain", ["l1", "l1-weighted", "simplex", "box", "k-sparse", "birkhoff"])
@pytest.mark.parametrize("lower", [kind for kind in PLANTED if kind != "huber-face"])
def test_planted_problems(domain: str, lower: str) -> None:
    for number, upper in enumerate(CONVEX):
        try:
            known = instance(number % 2, domain, lower, upper)
        except Inaccurate:
            continue
        assert columns_apply(known.problem.levels, known.problem.domain) == ""
        answer = solve_columns(known.problem)
        check(known.problem, answer, known.f_star, known.f_tol)
        assert answer.g_lower - known.g_tol <= known.g_star <= answer.g_upper + known.g_tol
        if domain != "birkhoff":
            assert np.isfinite(answer.f_upper), known.note


@pytest.mark.parametrize("factor", [1.0, 1.2, 1.5, 2.0, 3.0])
def test_interpolation(factor: float) -> None:
    A, b, B, y, R = interpolation(25, 60, 20, factor)
    problem = tb.Problem(tb.LeastSquares(B, y), tb.LeastSquares(A, b), tb.L1Ball(R))
    answer = solve_columns(problem)
    assert problem.lower.value(answer.x) <= 1e-20
    f = problem.upper.value(answer.x)
    if factor > 1:  # at 1 a conic solver has no interior to work in
        check(problem, answer, upper_value(half_square(B, y), A, b, problem.domain))
        assert answer.lower_unique is False
        assert np.isfinite(answer.f_upper)
    assert f - answer.f_lower <= 1e-8 * (1 + f)


def test_active_radius_is_unique() -> None:
    rng = np.random.default_rng(3)
    A, b = rng.normal(size=(40, 120)), 3 * rng.normal(size=40)
    B, y = rng.normal(size=(20, 120)), rng.normal(size=20)
    domain = tb.L1Ball(0.4 * least_norm(A, b))
    problem = tb.Problem(tb.LeastSquares(B, y), tb.LeastSquares(A, b), domain)
    answer = solve_columns(problem)
    assert answer.lower_unique and answer.upper_constant and answer.well_posed
    assert answer.width <= 1e-9
    assert abs(problem.lower.value(answer.x) - lower_value(A, b, domain)) <= 1e-8 * (1 + answer.g_upper)


def test_overdetermined_fit_inside_the_ball() -> None:
    """The unconstrained fit is the one solution, and it is known."""
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(30, 8)), rng.normal(size=30)
    fit = np.linalg.lstsq(A, b, rcond=None)[0]
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, b), tb.L1Ball(10.0))
    answer = solve_columns(problem)
    assert answer.lower_unique
    np.testing.assert_allclose(answer.x, fit, atol=1e-12)


def test_linear_upper_level_is_a_linear_programme() -> None:
    rng = np.random.default_rng(1)
    A, c, start = rng.normal(size=(12, 70)), rng.normal(size=70), rng.dirichlet(np.ones(70))
    reference = linprog(
        c, A_eq=np.vstack([A, np.ones(70)]), b_eq=np.append(A @ start, 1.0), bounds=(0, None), method="highs"
    )
    problem = tb.Problem(tb.Linear(c), tb.LeastSquares(A, A @ start), tb.Simplex())
    check(problem, solve_columns(problem), reference.fun)


def test_tied_assignment() -> None:
    """Constant costs: every permutation is optimal, and the least norm is that of the mean of all, 1/2."""
    n = 6
    problem = tb.Problem(tb.SquaredNorm(), tb.Linear(np.full(n * n, 7.0)), tb.Birkhoff(n))
    answer = solve_columns(problem)
    np.testing.assert_allclose(answer.x, 1 / n, atol=1e-12)
    assert answer.f_lower <= 0.5 <= answer.f_upper
    assert answer.width <= 1e-12
    assert answer.lower_unique is False


@pytest.mark.parametrize(
    ("cost", "unique"), [([[0, 1, 1], [1, 0, 1], [1, 1, 0]], True), ([[0, 0, 1], [0, 0, 1], [1, 1, 0]], False)]
)
def test_number_of_assignments(cost: list[list[float]], unique: bool) -> None:
    """Linear f that likes the first one found: whether there is another is looked up."""
    c = np.ravel(cost) / 1.0
    answer = solve_columns(tb.Problem(tb.Linear(-np.eye(3).ravel()), tb.Linear(c), tb.Birkhoff(3)))
    np.testing.assert_array_equal(answer.x, np.eye(3).ravel())
    assert answer.lower_unique is unique
    assert answer.upper_constant is (True if unique else None)


def test_sum_of_losses_in_the_lower_level() -> None:
    """Least squares and logistic loss over the same duplicated columns: their common image is fixed."""
    rng = np.random.default_rng(8)
    A = rng.normal(size=(12, 10))
    A, labels = np.hstack([A, A]), np.sign(rng.normal(size=12))
    problem = tb.Problem(tb.SquaredNorm(), 0.1 * tb.LeastSquares(A, labels) + tb.Logistic(A, labels), tb.L1Ball(1.5))
    answer = solve_columns(problem)
    f_star = upper_value(lambda x: 0.5 * cp.sum_squares(x), A, A @ answer.x, problem.domain)
    check(problem, answer, f_star)
    assert answer.g_upper - answer.g_lower <= 1e-12


def test_linear_term_in_the_lower_level() -> None:
    """Equal images with different costs: a stop on dependent columns alone would miss the cheaper ones."""
    rng = np.random.default_rng(5)
    for _ in range(10):
        A, q = rng.integers(-2, 3, (4, 12)) / 1.0, rng.integers(-2, 3, 12) / 1.0
        A[:, 6:], q[9:] = A[:, :6], q[3:6]
        b, centre = rng.normal(size=4), rng.normal(size=12)
        domain = tb.L1Ball(1.5)
        problem = tb.Problem(tb.SquaredNorm(centre), tb.LeastSquares(A, b) + tb.Linear(q), domain)
        answer = solve_columns(problem)
        x = cp.Variable(12)
        g_star = solve(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(A @ x - b) + q @ x), [cp.norm1(x) <= 1.5]))
        rows = np.vstack([A, q])
        f_star = upper_value(lambda x, centre=centre: 0.5 * cp.sum_squares(x - centre), rows, rows @ answer.x, domain)
        assert abs(problem.lower.value(answer.x) - g_star) <= 1e-9
        check(problem, answer, f_star)


@pytest.mark.parametrize("dim", [350, 500])
def test_dense_solution(dim: int) -> None:
    """More vertices than the active set should carry: an interior point starts it, the bracket is as narrow."""
    rng = np.random.default_rng(2)
    S = 0.1 * rng.normal(size=(40, dim))
    problem = tb.Problem(tb.SquaredNorm(np.full(dim, 1 / dim)), tb.LeastSquares(S, np.zeros(40)), tb.Simplex())
    answer = solve_columns(problem)
    assert np.count_nonzero(answer.x) > 0.9 * dim
    assert answer.f_upper - answer.f_lower <= 1e-10
    f_star = upper_value(lambda x: 0.5 * cp.sum_squares(x - 1 / dim), S, S @ answer.x, problem.domain.with_dim(dim))
    check(problem, answer, f_star)


def test_sparse_data_give_the_same_answer() -> None:
    rng = np.random.default_rng(4)
    A, B = rng.integers(-1, 2, (10, 40)) / 1.0, rng.integers(-1, 2, (60, 40)) / 1.0  # as many rows: one answer
    b, y = rng.normal(size=10), rng.normal(size=60)
    dense = solve_columns(tb.Problem(tb.LeastSquares(B, y), tb.LeastSquares(A, b), tb.L1Ball(3.0)))
    A, B = sparse.csr_array(A), sparse.csc_array(B)
    slim = solve_columns(tb.Problem(tb.LeastSquares(B, y), tb.LeastSquares(A, b), tb.L1Ball(3.0)))
    np.testing.assert_allclose(slim.x, dense.x, atol=1e-9)


@pytest.mark.parametrize("size", [1e-8, 1e8])
def test_scale_of_the_data(size: float) -> None:
    rng = np.random.default_rng(6)
    A, b, B, y = random_data("gauss", rng)
    plain = solve_columns(tb.Problem(tb.LeastSquares(B, y), tb.LeastSquares(A, b), tb.L1Ball(2.0)))
    scaled = solve_columns(tb.Problem(tb.LeastSquares(B, y), tb.LeastSquares(size * A, size * b), tb.L1Ball(2.0)))
    np.testing.assert_allclose(scaled.x, plain.x, atol=1e-9)
    assert scaled.lower_unique == plain.lower_unique


def test_a_single_point() -> None:
    answer = solve_columns(tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [5.0]), tb.Box([1, 2], [1, 2])))
    assert answer.x.tolist() == [1.0, 2.0]
    assert answer.lower_unique and answer.f_lower <= 2.5 <= answer.f_upper


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (tb.Problem(tb.SquaredNorm(), tb.LeastSquares(np.eye(2), [1, 1]), tb.L2Ball(1.0)), "polytope"),
        (tb.Problem(tb.SquaredNorm(), tb.Huber(np.eye(2), [1, 1], 0.1), tb.L1Ball(1.0)), "strictly convex"),
        (tb.Problem(tb.SquaredCovariance(np.eye(2), [0, 1]), tb.Linear([1, 1]), tb.L1Ball(1.0)), "not convex"),
    ],
)
def test_where_it_does_not_apply(problem: tb.Problem, reason: str) -> None:
    assert reason in columns_apply(problem.levels, problem.domain)


def with_choice(seed: int, k_sparse: bool = False) -> tb.Problem:
    """Eight equations in thirty unknowns, and a domain with room around one of their solutions."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(8, 30))
    x = rng.normal(size=30) * (rng.random(30) < 0.4)
    upper = tb.LeastSquares(rng.normal(size=(12, 30)), 3 * rng.normal(size=12))
    ball = tb.L1Ball(2 * float(np.abs(x).sum()) + 1)
    return tb.Problem(upper, tb.LeastSquares(A, A @ x), tb.KSparse(3, 2 * np.abs(x).max() + 1) if k_sparse else ball)


@pytest.mark.parametrize("seed", range(5))
def test_long_rows_do_without_the_table_of_mixes(seed, monkeypatch):
    """The table is as large as the product of the rows of both levels: beyond a size it is not kept."""
    problem = with_choice(seed)
    kept = tb.solve(problem, "exact")
    monkeypatch.setattr("tiebreak.engines.columns.master.LARGEST", 0)
    without = tb.solve(problem, "exact")
    assert kept.success and without.success
    np.testing.assert_allclose(without.x, kept.x, atol=1e-9)


@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6, 1e9, 1e13])
@pytest.mark.parametrize("columns", [12, 13, 60])
def test_inverse_of_rows(condition: float, columns: int) -> None:
    """Cholesky factors serve where they are as accurate as Householder's, whatever the condition."""
    rng = np.random.default_rng(7)
    U, W = np.linalg.qr(rng.normal(size=(12, 12)))[0], np.linalg.qr(rng.normal(size=(columns, 12)))[0]
    values = np.geomspace(1, 1 / condition, 12)
    rows = (U * values) @ W.T
    P, apart = pseudo_inverse(rows)
    np.testing.assert_allclose(P @ rows.T, np.eye(12), atol=1e-14 * max(condition, min(condition, 1e3) ** 2))
    np.testing.assert_allclose(P, (U / values) @ W.T, atol=1e-13 * condition**2)
    np.testing.assert_allclose(P @ (np.eye(columns) - W @ W.T), 0, atol=1e-14 * condition**2)
    outside = np.abs(np.diagonal(np.linalg.qr(rows.T)[1]))
    np.testing.assert_allclose(apart, outside / np.linalg.norm(rows, axis=1), rtol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_only_what_was_written_is_read(seed, monkeypatch):
    """The arrays of a tableau are taken as they come: whatever is in them must not matter."""
    problem = with_choice(seed, k_sparse=seed % 2 == 0)
    expected = solve_columns(problem)
    empty = np.empty

    def spoiled(*arguments, **options):
        array = empty(*arguments, **options)
        array.fill({"f": np.nan, "i": -(10**9)}.get(array.dtype.kind, 0) if array.dtype.itemsize == 8 else 0)
        return array

    monkeypatch.setattr(np, "empty", spoiled)
    found = solve_columns(problem)
    assert np.array_equal(found.x, expected.x)
    assert (found.f_lower, found.f_upper) == (expected.f_lower, expected.f_upper)
