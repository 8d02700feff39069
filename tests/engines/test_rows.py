"""The exact engine by rows against references that share nothing with it."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, lsq_linear

import tiebreak as tb
from known.bounds import Inaccurate
from problems import instance
from tiebreak.engines.answer import Answer
from tiebreak.engines.rows.refuses import rows_apply
from tiebreak.engines.rows.solve import solve_rows
from tiebreak.numerics.extended import UNIT

LOOSE = UNIT * 2.0**64
"""How much less precise long double is than on x86: 1 there, 2048 where it is a double."""


def holds(answer: Answer, f_star: float, tol: float) -> None:
    assert answer.f_lower <= f_star + tol
    assert answer.f_upper >= f_star - tol


def assignment(n: int, costs: int, seed: int) -> tuple[tb.Linear, tb.Polyhedron]:
    """Costs drawn from 1..costs: many optimal assignments."""
    c = np.random.default_rng(seed).integers(1, costs + 1, (n, n)).astype(float).ravel()
    rows = sp.vstack([sp.kron(sp.eye_array(n), np.ones((1, n))), sp.kron(np.ones((1, n)), sp.eye_array(n))])
    return tb.Linear(c), tb.Polyhedron(A_eq=sp.csr_array(rows), b_eq=np.ones(2 * n), bounds=(0, 1))


def equality_form(c: np.ndarray, domain: tb.Polyhedron, value: float) -> float:
    """min 1/2 |x|^2 over the domain with <c, x> = value, by Clarabel: the form users write by hand."""
    import cvxpy as cp

    rows = domain._given
    x = cp.Variable(c.size)
    held = [rows.A @ x == rows.low, x >= 0, x <= 1, c @ x == value]
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(x)), held)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return float(problem.value)


@pytest.mark.parametrize(("n", "costs"), [(10, 2), (20, 3), (30, 20)])
def test_tied_assignment(n, costs):
    lower, domain = assignment(n, costs, seed=9)
    answer = solve_rows([lower, tb.SquaredNorm()], domain)[-1]
    g_star = linprog(lower.c, A_eq=domain._given.A, b_eq=np.ones(2 * n), bounds=(0, 1)).fun
    assert answer.g_lower <= round(g_star) <= answer.g_upper  # integral data: g* is a whole number
    holds(answer, equality_form(lower.c, domain, round(g_star)), 1e-8)
    assert answer.width < 1e-13 * LOOSE
    assert answer.lower_unique is False
    assert answer.well_posed


def test_large_tied_assignment_has_the_known_value():
    lower, domain = assignment(60, 4, seed=9)
    answer = solve_rows([lower, tb.SquaredNorm()], domain)[-1]
    assert answer.width < 1e-12 * LOOSE
    np.testing.assert_allclose(answer.x.reshape(60, 60).sum(axis=0), 1, atol=1e-13)


def test_equal_costs_give_the_barycentre():
    n = 15
    _, domain = assignment(n, 1, seed=0)
    answer = solve_rows([tb.Linear(np.full(n * n, 7.0)), tb.SquaredNorm()], domain)[-1]
    np.testing.assert_allclose(answer.x, 1 / n, atol=1e-15)
    holds(answer, 0.5, 0.0)


@pytest.mark.parametrize("seed", range(4))
def test_tied_transport(seed):
    rng = np.random.default_rng(seed)
    n, m = 6, 9
    supply = rng.integers(5, 15, n).astype(float)
    demand = rng.multinomial(int(supply.sum()), np.ones(m) / m).astype(float)
    c = rng.integers(1, 4, n * m).astype(float)
    rows = sp.csr_array(
        sp.vstack([sp.kron(sp.eye_array(n), np.ones((1, m))), sp.kron(np.ones((1, n)), sp.eye_array(m))])
    )
    right = np.append(supply, demand)
    domain = tb.Polyhedron(A_eq=rows, b_eq=right, bounds=(0, float(supply.max())))
    answer = solve_rows([tb.Linear(c), tb.SquaredNorm()], domain)[-1]
    g_star = round(linprog(c, A_eq=rows, b_eq=right).fun)
    assert answer.g_lower <= g_star <= answer.g_upper
    assert answer.width < 1e-12 * LOOSE
    # the variational inequality of the nearest point, over the optimal face that the duals of another solver describe
    dual = linprog(c, A_eq=rows, b_eq=right, method="highs-ds")
    reduced = c - rows.T @ dual.eqlin.marginals
    face = [(0, 0 if reduced[j] > 1e-9 else None) for j in range(n * m)]
    best = linprog(answer.x, A_eq=rows, b_eq=right, bounds=face)
    assert answer.x @ answer.x <= best.fun + 1e-9 * best.fun


@pytest.mark.parametrize("set_kind", ["box", "polyhedron"])
@pytest.mark.parametrize("lower", ["least-squares", "least-squares-residual", "least-squares-face", "linear"])
@pytest.mark.parametrize("upper", ["squared-norm", "least-squares", "quadratic", "linear"])
def test_planted_problems(set_kind, lower, upper):
    for seed in range(2):
        try:
            known = instance(seed, set_kind, lower, upper)
        except Inaccurate:
            continue
        problem = known.problem
        answer = solve_rows([problem.lower, problem.upper], problem.domain)[-1]
        assert answer.g_lower <= known.g_star + known.g_tol
        assert answer.g_upper >= known.g_star - known.g_tol
        holds(answer, known.f_star, known.f_tol)
        assert answer.width < 1e-11 * LOOSE
        assert problem.domain.contains(answer.x, 1e-14)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6))
def test_large_optimal_faces_of_random_polytopes(seed):
    """The cost is a combination of some row normals, so the face is where those rows are tight."""
    rng = np.random.default_rng(seed)
    n, m, tight = 8, 12, 3
    A = rng.integers(-3, 4, (m, n)).astype(float)
    inside = rng.integers(-2, 3, n).astype(float)
    b = A @ inside + np.append(np.zeros(tight), rng.integers(1, 4, m - tight))
    c = -rng.integers(1, 4, tight) @ A[:tight]
    domain = tb.Polyhedron(A_ub=A, b_ub=b, bounds=(-5, 5))
    target = rng.normal(size=n)
    first, second = solve_rows([tb.Linear(c), tb.SquaredNorm(target)], domain)
    holds(first, float(c @ inside), 1e-12)
    face = tb.Polyhedron(A_ub=A[tight:], b_ub=b[tight:], A_eq=A[:tight], b_eq=b[:tight], bounds=(-5, 5))
    nearest = face.project(target)
    holds(second, 0.5 * float((nearest - target) @ (nearest - target)), 1e-9)
    assert second.width < 1e-10 * LOOSE
    np.testing.assert_allclose(second.x, nearest, atol=1e-7)


# -- hierarchies of least squares --------------------------------------------------------------------------------


def dyadic(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Normal numbers of few digits, so that sums of rows are what they should be."""
    return np.round(rng.normal(size=shape) * 2.0**20) / 2.0**20


def hierarchy(rng: np.random.Generator, n: int, levels: int, reach: float) -> list[tb.LeastSquares]:
    """Tasks of 3 to 6 rows, one of them a sum of two others, some out of reach."""
    tasks = []
    for _ in range(levels):
        A = dyadic(rng, int(rng.integers(3, min(n, 7))), n)
        A[-1] = A[0] + A[1]
        tasks.append(tb.LeastSquares(A, A @ rng.uniform(-reach, reach, n) + 0.05 * rng.normal(size=A.shape[0])))
    return tasks


def naive_cascade(tasks: list[tb.LeastSquares], low: np.ndarray, high: np.ndarray) -> list[float]:
    """Level after level by bounded least squares, the tasks before held by rows of weight 1e5."""
    held, target, values = np.zeros((0, low.size)), np.zeros(0), []
    for task in tasks:
        A, b = np.vstack([1e5 * held, task.A]), np.append(1e5 * target, task.b)
        x = lsq_linear(A, b, (low, high), method="bvls", tol=1e-15, max_iter=500).x
        values.append(task.value(x))
        held, target = np.vstack([held, task.A]), np.append(target, task.A @ x)
    return values


@pytest.mark.parametrize("n", [7, 20, 50])
@pytest.mark.parametrize("reach", [0.3, 1.0, 2.0])
def test_hierarchical_least_squares_with_box_limits(n, reach):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        tasks = hierarchy(rng, n, 3, reach)
        low, high = np.full(n, -1.0), np.full(n, 1.0)
        answers = solve_rows(tasks, tb.Box(low, high))
        for answer, value in zip(answers, naive_cascade(tasks, low, high), strict=True):
            holds(answer, value, 1e-4 * (1 + value))
            assert answer.width < 1e-9
        for k, task in enumerate(tasks):  # later levels leave the values of earlier ones alone
            assert task.value(answers[-1].x) <= answers[k].f_upper + 1e-13 * (1 + answers[k].f_upper)


def test_minimum_norm_with_intercept():
    """Interpolation: the point of least norm, intercept apart, is the pseudoinverse's of the centred data."""
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(6, 15)), rng.normal(size=6)
    lower = tb.LeastSquares(np.column_stack([A, np.ones(6)]), b)
    Q = np.diag(np.append(np.ones(15), 0.0))
    answer = solve_rows([lower, tb.Quadratic(Q, np.zeros(16))], tb.Box(-50, 50, 16))[-1]
    centred = np.linalg.pinv(A - A.mean(axis=0)) @ (b - b.mean())
    holds(answer, 0.5 * float(centred @ centred), 1e-12)
    np.testing.assert_allclose(answer.x[:15], centred, atol=1e-12)
    np.testing.assert_allclose(answer.x[15], b.mean() - A.mean(axis=0) @ centred, atol=1e-12)
    assert answer.lower_unique is False
    assert answer.width < 1e-12 * LOOSE


def test_portfolio_of_least_risk_with_fewer_returns_than_assets():
    rng = np.random.default_rng(1)
    R = rng.normal(size=(20, 60))
    simplex = tb.Polyhedron(A_eq=np.ones((1, 60)), b_eq=[1.0], bounds=(0, 1))
    risk, spread = solve_rows([tb.LeastSquares(R, np.zeros(20)), tb.SquaredNorm()], simplex)
    assert risk.f_lower <= risk.f_upper < 1e-25  # so many assets can be hedged completely
    assert spread.width < 1e-10 * LOOSE
    z = np.linalg.lstsq(np.vstack([R, np.ones((1, 60))]), np.append(np.zeros(20), 1.0), rcond=None)[0]
    if (z >= 0).all():
        holds(spread, 0.5 * float(z @ z), 1e-12)
    assert spread.f_upper >= 0.5 * float(z @ z) - 1e-12  # the bounds can only cost


# -- any size, any scale, any shape ------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [2.0**-27, 2.0**-10, 2.0**13, 2.0**27])  # exact: other units may break a tie
def test_units_of_the_data_do_not_matter(scale):
    rng = np.random.default_rng(5)
    A, inside = rng.integers(-3, 4, (6, 5)).astype(float), rng.integers(0, 3, 5).astype(float)
    b = A @ inside + np.array([0, 0, 1, 2, 0, 3])
    c = -A[0] - 2 * A[1]
    plain = tb.Polyhedron(A_ub=A, b_ub=b, bounds=(0, 4))
    scaled = tb.Polyhedron(A_ub=A, b_ub=scale * b, bounds=(0, 4 * scale))
    x = solve_rows([tb.Linear(c), tb.SquaredNorm()], plain)[-1].x
    other = solve_rows([tb.Linear(scale * c), tb.SquaredNorm()], scaled)[-1]
    np.testing.assert_allclose(other.x / scale, x, atol=1e-12)
    assert other.f_upper - other.f_lower <= 1e-12 * scale**2 * (1 + x @ x)


def test_sparse_and_dense_data_agree_beyond_the_dense_path():
    rng = np.random.default_rng(2)
    n = 150
    A = rng.integers(-1, 2, (8, n)).astype(float)
    b = rng.normal(size=8)
    box, upper = tb.Box(-np.ones(n), np.ones(n)), tb.SquaredNorm(rng.normal(size=n))
    dense = solve_rows([tb.LeastSquares(A, b), upper], box)[-1]
    sparse = solve_rows([tb.LeastSquares(sp.csr_array(A), b), upper], box)[-1]
    assert dense.width < 1e-10 * LOOSE
    assert sparse.width < 1e-10 * LOOSE
    np.testing.assert_allclose(dense.x, sparse.x, atol=1e-10)


def test_sums_and_multiples_of_objectives():
    """Ridge as a level of its own: (A'A + 2 I) x = A'b - q in the interior."""
    rng = np.random.default_rng(3)
    A, b, q = rng.normal(size=(4, 6)), rng.normal(size=4), rng.normal(size=6)
    level = 3 * (tb.LeastSquares(A, b) + 2 * tb.SquaredNorm(dim=6)) + tb.Linear(3 * q)
    x = np.linalg.solve(A.T @ A + 2 * np.eye(6), A.T @ b - q)
    answer = solve_rows([level], tb.Box(-10, 10, 6))[-1]
    np.testing.assert_allclose(answer.x, x, atol=1e-14)
    holds(answer, level.value(x), 1e-13)
    assert answer.lower_unique is True


def test_duplicated_columns_share_the_weight():
    A = np.random.default_rng(4).normal(size=(5, 3))
    lower = tb.LeastSquares(np.hstack([A, A]), A @ [1.0, -2.0, 0.5])
    answer = solve_rows([lower, tb.SquaredNorm()], tb.Box(-3, 3, 6))[-1]
    np.testing.assert_allclose(answer.x, np.array([1, -2, 0.5, 1, -2, 0.5]) / 2, atol=1e-14)
    assert answer.lower_unique is False


def test_a_single_point_and_a_zero_objective():
    point = tb.Polyhedron(A_eq=np.eye(2), b_eq=[1.0, 2.0])
    for answer in solve_rows([tb.Linear([0.0, 0.0]), tb.SquaredNorm(), tb.Linear([1.0, 1.0])], point):
        np.testing.assert_array_equal(answer.x, [1.0, 2.0])
        assert answer.lower_unique is True
    fixed = tb.Box([1.0, 2.0], [1.0, 2.0])
    answer = solve_rows([tb.LeastSquares([[1.0, 1.0]], [0.0]), tb.SquaredNorm()], fixed)[-1]
    assert 2.5 - 1e-15 * LOOSE <= answer.f_lower <= 2.5 <= answer.f_upper <= 2.5 + 1e-15 * LOOSE
    whole = solve_rows([tb.Linear([0.0, 0.0]), tb.SquaredNorm([3.0, 0.5])], tb.Box(0, 1, 2))[-1]
    np.testing.assert_array_equal(whole.x, [1.0, 0.5])
    assert whole.lower_unique is False


# -- what it says --------------------------------------------------------------------------------------------------


def test_it_says_when_the_upper_level_has_no_say():
    A = dyadic(np.random.default_rng(6), 3, 8)
    lower = tb.LeastSquares(A, A @ np.full(8, 0.1))
    box = tb.Box(-1, 1, 8)
    same = solve_rows([lower, tb.LeastSquares([1.0, 2.0, -1.0] @ A[None], [7.0])], box)[-1]
    assert same.upper_constant is True
    assert same.lower_unique is False
    other = solve_rows([lower, tb.LeastSquares(np.ones((1, 8)), [7.0])], box)[-1]
    assert other.upper_constant is None


def test_uniqueness_of_linear_levels():
    square = tb.Polyhedron(A_ub=[[1.0, 1.0]], b_ub=[2.0], bounds=(0, 1))  # the row only touches a vertex
    assert solve_rows([tb.Linear([-1.0, -1.0])], square)[0].lower_unique is True
    assert solve_rows([tb.Linear([-1.0, 0.0])], square)[0].lower_unique is False
    assert solve_rows([tb.Linear([-1.0, 0.0]), tb.Linear([0.0, 1.0]), tb.SquaredNorm()], square)[2].lower_unique is True


def test_a_degenerate_vertex_may_be_the_only_solution():
    """The apex of a pyramid: four rows meet in three dimensions, so a basis leaves one of them with a zero dual."""
    sides = np.array([[1.0, 0.0, 1.0], [-1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, -1.0, 1.0]])
    pyramid = tb.Polyhedron(A_ub=sides, b_ub=np.zeros(4), bounds=(-1, 1))
    for upper in ([], [tb.Linear([1.0, 0.0, 0.0])], [tb.SquaredNorm([1.0, 1.0, 1.0])]):
        answer = solve_rows([tb.Linear([0.0, 0.0, -1.0]), *upper], pyramid)[-1]
        assert answer.lower_unique is True
        np.testing.assert_allclose(answer.x, 0, atol=1e-15)
        assert answer.width < 1e-13 * LOOSE
    assert solve_rows([tb.Linear(-sides[0])], pyramid)[-1].lower_unique is False


def test_near_ties_are_reported_and_the_bracket_holds():
    """The costs differ by 64 units of roundoff: as written one vertex is best, as meant there is a tie."""
    domain = tb.Polyhedron(A_ub=[[-1.0, -1.0]], b_ub=[-1.0], bounds=(0, 1))
    lower, upper = tb.Linear([1.0, 1.0 + 2.0**-46]), tb.SquaredNorm([0.0, 1.0])
    answer = solve_rows([lower, upper], domain)[-1]
    assert not answer.well_posed
    assert any("slack" in note for note in answer.notes)
    assert answer.f_lower <= 1.0 <= answer.f_upper
    np.testing.assert_array_equal(answer.x, [1.0, 0.0])


def planted_fit(n: int, d: int) -> tuple[tb.LeastSquares, np.ndarray]:
    """Sparse tall least squares over the box [-1, 1] and its only solution, by the optimality conditions."""
    rng = np.random.default_rng(d)
    A = sp.csr_array(sp.random(n, d, density=6 / d, rng=rng) + sp.eye_array(n, d))
    x = np.clip(0.8 * rng.normal(size=d), -1, 1)
    slopes = np.where(np.abs(x) < 1, 0.0, -np.sign(x) * rng.uniform(0.1, 1, d))
    residual = np.linalg.lstsq(A.toarray().T, slopes, rcond=None)[0]
    return tb.LeastSquares(A, A @ x - residual), x


def test_many_free_columns_have_a_narrow_bracket():
    fit, x = planted_fit(1500, 700)
    answer = solve_rows([fit, tb.SquaredNorm()], tb.Box(-1, 1))[-1]
    assert answer.lower_unique and answer.well_posed
    np.testing.assert_allclose(answer.x, x, atol=1e-9)
    assert answer.f_lower - 1e-9 <= 0.5 * x @ x <= answer.f_upper + 1e-9
    assert answer.width <= 1e-9


def test_too_many_free_columns_are_said_to_make_it_wide(monkeypatch):
    """A column that is there twice, so that a Gram matrix cannot prove full rank, and no room for singular values."""
    monkeypatch.setattr("tiebreak.engines.rows.held.LARGEST", 1500 * 200)
    fit, x = planted_fit(1500, 700)
    inside = np.flatnonzero(np.abs(x) < 1)[0]
    twice = tb.LeastSquares(sp.csr_array(sp.hstack([fit.A, fit.A[:, [inside]]])), fit.b)
    answer = solve_rows([twice, tb.SquaredNorm()], tb.Box(-1, 1))[-1]
    assert any("free variables" in note for note in answer.notes)
    assert any("free variables" in words for words in answer.assumes)
    assert answer.f_lower <= 0.5 * x @ x - 0.25 * x[inside] ** 2 <= answer.f_upper


@pytest.mark.parametrize("weight", [1.0, 0.1, 0.3])
def test_ties_within_the_rounding_of_the_data_are_said_to_be(weight):
    """0.1 + 0.2 is not 0.3: the data count as given, and f* of the tie that was meant is in the bracket as well."""
    domain = tb.Polyhedron(A_ub=[[-1.0, -1.0]], b_ub=[-1.0], bounds=(0, 1))
    lower = tb.Linear(weight * np.array([0.1 + 0.2, 0.3]))
    answer = solve_rows([lower, tb.SquaredNorm()], domain)[-1]
    np.testing.assert_allclose(answer.x, [0.0, 1.0], atol=1e-15)
    assert answer.f_lower <= 0.25 and answer.f_upper >= 0.5
    assert not answer.well_posed and answer.lower_unique is None
    assert any("tie" in note for note in answer.notes)


@pytest.mark.parametrize("weight", [1.0, 3.0, 2.0**-20])
def test_exact_ties_are_ties(weight):
    domain = tb.Polyhedron(A_ub=[[-1.0, -1.0]], b_ub=[-1.0], bounds=(0, 1))
    answer = solve_rows([tb.Linear(weight * np.array([0.3, 0.3])), tb.SquaredNorm()], domain)[-1]
    np.testing.assert_allclose(answer.x, [0.5, 0.5], atol=1e-15)
    assert answer.well_posed and answer.lower_unique is False


@pytest.mark.parametrize("apart", [1e-10, 1e-15])
def test_near_duplicate_columns_are_not_called_duplicates(apart):
    """As written the columns are independent and the solution is unique: it is found, or it is said that it was not."""
    A = np.random.default_rng(7).normal(size=(6, 3))
    near = A + apart * np.random.default_rng(8).normal(size=A.shape)
    lower = tb.LeastSquares(np.hstack([A, near]), A @ np.ones(3))
    answer = solve_rows([lower, tb.SquaredNorm()], tb.Box(-3, 3, 6))[-1]
    holds(answer, 1.5, 1e-5 if apart == 1e-10 else np.inf)
    if apart == 1e-10:
        assert answer.lower_unique is True
        np.testing.assert_allclose(answer.x, [1, 1, 1, 0, 0, 0], atol=1e-5)
    else:
        assert answer.lower_unique is None
        assert not answer.well_posed
        assert answer.f_upper == np.inf
        assert any("rank" in note for note in answer.notes)


@pytest.mark.parametrize("n", [20, 40])
def test_a_decaying_spectrum_says_nothing_of_uniqueness(n):
    """exp(s cos t) on a grid: singular values fall to rounding without a gap, so any rank is a matter of taste."""
    s, t = (np.arange(n) + 0.5) / n * np.pi / 2, (np.arange(n) + 0.5) / n * np.pi
    A = np.exp(s[:, None] * np.cos(t)) * np.pi / n
    b = A @ np.sin(t) + 0.01 * np.random.default_rng(0).normal(size=n)
    answers = solve_rows([tb.LeastSquares(A, b), tb.SquaredNorm()], tb.Box(0, 10, n))
    for answer in answers:
        assert answer.lower_unique is not False
        assert answer.lower_unique or not answer.well_posed
        if answer.lower_unique:  # only where the active bounds prove it: strict multipliers, independent columns
            inside = answer.x > 0
            slope = A.T @ (A @ answer.x - b)
            assert np.abs(slope[inside]).max() <= 1e-14 and slope[~inside].min() >= 1e-12
            assert np.linalg.cond(A[:, inside]) <= 1e8


def test_what_it_applies_to():
    assert rows_apply([tb.Linear([1.0, 1.0]), tb.SquaredNorm()], tb.Box(0, 1)) == ""
    assert "L1Ball" in rows_apply([tb.Linear([1.0, 1.0])], tb.L1Ball(1.0))
    assert "level 1" in rows_apply([tb.Linear([1.0, 1.0]), tb.Logistic(np.eye(2), [0, 1])], tb.Box(0, 1))
    assert "convex" in rows_apply([tb.Quadratic(-np.eye(2), np.zeros(2))], tb.Box(0, 1))
    operator = sp.linalg.aslinearoperator(np.eye(2))
    assert "LinearOperator" in rows_apply([2 * tb.LeastSquares(operator, [1.0, 1.0])], tb.Box(0, 1))
    with pytest.raises(ValueError, match="one number of variables"):
        solve_rows([tb.Linear([1.0, 1.0]), tb.Linear([1.0])], tb.Box(0, 1))


NARROW = """
import numpy as np, scipy.sparse.linalg
np.longdouble = np.float64  # as on Apple silicon and with MSVC
import tiebreak as tb
from tiebreak.numerics import extended
from tiebreak.engines.rows.solve import solve_rows
assert not extended.WIDE
rng = np.random.default_rng(0)
A = rng.normal(size=(6, 15))
lower = tb.LeastSquares(np.column_stack([A, np.ones(6)]), A @ np.ones(15))
answer = solve_rows([lower, tb.Quadratic(np.diag(np.append(np.ones(15), 0.0)), np.zeros(16))], tb.Box(-50, 50, 16))[-1]
centred = np.linalg.pinv(A - A.mean(axis=0)) @ (A @ np.ones(15) - (A @ np.ones(15)).mean())
assert answer.f_lower - 1e-12 <= 0.5 * centred @ centred <= answer.f_upper + 1e-12
assert answer.width < 1e-9, answer
square = tb.Polyhedron(A_ub=[[-1.0, -1.0]], b_ub=[-1.0], bounds=(0, 1))
answer = solve_rows([tb.Linear([1.0, 1.0]), tb.SquaredNorm()], square)[-1]
assert answer.f_lower <= 0.25 <= answer.f_upper and answer.width < 1e-12, answer
"""


def test_machines_without_a_long_double():
    subprocess.run([sys.executable, "-c", NARROW], check=True, timeout=60)


@pytest.mark.parametrize("noise", [0.0, 1.0])
@pytest.mark.parametrize("upper", ["norm", "linear"])
def test_assignments_with_a_least_squares_level_are_bracketed(noise, upper):
    """The face of the Birkhoff polytope is known by its rows, where its permutations are too many to list."""
    import cvxpy as cp

    n = 5
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n * n // 3, n * n))
    mixed = sum(np.eye(n)[rng.permutation(n)] for _ in range(3)) / 3
    b = A @ mixed.ravel() + noise * rng.normal(size=A.shape[0])
    f = tb.SquaredNorm(dim=n * n) if upper == "norm" else tb.Linear(rng.normal(size=n * n))
    problem = tb.Problem(f, tb.LeastSquares(A, b), tb.Birkhoff(n))
    result = tb.solve(problem, tol_upper=1e-9, tol_lower=1e-9)
    assert result.success
    c = result.certificate
    assert c.f_upper - c.f_lower < 1e-10
    X = cp.Variable((n, n), nonneg=True)
    x = cp.reshape(X, (n * n,), order="C")
    held = [cp.sum(X, axis=0) == 1, cp.sum(X, axis=1) == 1]
    tight = {f"tol_{name}": 1e-9 for name in ("gap_abs", "gap_rel", "feas")}
    g_star = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(A @ x - b)), held).solve(solver=cp.CLARABEL, **tight)
    assert c.g_lower == pytest.approx(g_star, abs=1e-7)
    goal = 0.5 * cp.sum_squares(x) if upper == "norm" else f.c @ x
    image = A @ result.x
    f_star = cp.Problem(cp.Minimize(goal), [*held, cp.abs(A @ x - image) <= 1e-8]).solve(solver=cp.CLARABEL, **tight)
    assert c.f_lower == pytest.approx(f_star, abs=1e-6)
    chain = tb.lexicographic([problem.lower, f, tb.Linear(np.arange(n * n) + 0.0)], problem.domain)
    assert chain.success
    assert chain.levels[1].value == pytest.approx(result.f, abs=1e-12)
