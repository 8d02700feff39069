"""Thirteen ways in which exact solves over polyhedra go wrong silently, and the test that shows each."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment, linprog

import tiebreak as tb
import tiebreak.engines.rows.chain as chain_module
import tiebreak.engines.rows.nearby as nearby
import tiebreak.engines.rows.polish as polish_module
import tiebreak.engines.rows.quadratic_level as quadratic_module
from tiebreak.engines.rows.bracket import bracket
from tiebreak.engines.rows.face import Face
from tiebreak.engines.rows.level import Level
from tiebreak.engines.rows.linear_level import FaceProgram
from tiebreak.engines.rows.polish import SET_CHANGES, polished
from tiebreak.engines.rows.reduce import reduce_rows
from tiebreak.engines.rows.solve import solve_rows
from tiebreak.engines.rows.step import Step
from tiebreak.numerics.extended import UNIT, ExtMatrix, double, double_double_product, ext
from tiebreak.numerics.quadratic_programme import QP, Guess, by_clarabel, by_highs, by_piqp

LOOSE = UNIT * 2.0**64  # how much less precise long double is than on x86
SEGMENT = tb.Polyhedron(A_ub=[[-1.0, -1.0]], b_ub=[-1.0], bounds=(0, 1))  # x0 + x1 >= 1 in the unit square


def nearly_tied(difference: float) -> tuple[tb.Linear, tb.SquaredNorm]:
    """The first vertex is cheaper by ``difference``, and the second level would rather have the other one."""
    return tb.Linear([1.0, 1.0 + difference]), tb.SquaredNorm([0.0, 1.0])


def test_1_default_tolerances_of_a_linear_programme():
    """A dual of 3e-9 lies below HiGHS's default tolerance 1e-7: to it, both vertices are optimal."""
    lower, upper = nearly_tied(3e-9)
    answer = solve_rows([lower, upper], SEGMENT)[-1]
    np.testing.assert_array_equal(answer.x, [1.0, 0.0])
    assert answer.f_lower <= 1.0 <= answer.f_upper
    assert answer.width < 1e-6 * LOOSE


@pytest.mark.parametrize("seed", range(5))
def test_1_costs_that_differ_by_little(seed):
    """Assignment with ties broken by multiples of 2^-28: in integers, the optimum is known for certain."""
    rng = np.random.default_rng(seed)
    n = 12
    coarse, fine = rng.integers(1, 4, (n, n)), rng.integers(0, 8, (n, n))
    best = linear_sum_assignment(coarse * 2**28 + fine)
    rows = np.vstack([np.kron(np.eye(n), np.ones((1, n))), np.kron(np.ones((1, n)), np.eye(n))])
    domain = tb.Polyhedron(A_eq=rows, b_eq=np.ones(2 * n), bounds=(0, 1))
    lower = tb.Linear((coarse + fine * 2.0**-28).ravel())
    first, second = solve_rows([lower, tb.SquaredNorm()], domain)
    g_star = float(coarse[best].sum() + fine[best].sum() * 2.0**-28)
    assert first.f_lower <= g_star <= first.f_upper
    assert first.f_upper - first.f_lower < 1e-12
    assert lower.value(second.x) <= g_star + 1e-13


def test_1_vertices_are_refined_beyond_double_precision():
    """The rows of a Hilbert matrix: what HiGHS gives is right to its tolerance, the refined vertex to the last bit."""
    n = 6
    H = 1 / (np.arange(n)[:, None] + np.arange(n) + 1.0)
    face, _ = Face.of(tb.Polyhedron(A_eq=H, b_eq=H @ np.ones(n), bounds=(-9, 9)))
    vertex = FaceProgram(face.given, face.scale).minimise(ext(np.arange(n) - 2.0))
    assert float(np.abs(face.A.times(vertex.x) - face.given.low).max()) <= 2 * UNIT
    left = ext(np.arange(n) - 2.0) - face.A.transpose_times(vertex.y)
    assert float(np.abs(left).max()) <= 100 * UNIT * float(np.abs(vertex.y).max())


@pytest.mark.parametrize("difference", [1e-5, 1e-7, 1e-9, 1e-11, 1e-12, 1e-13])
def test_2_thresholds_above_true_duals(difference):
    answer = solve_rows(list(nearly_tied(difference)), SEGMENT)[-1]
    np.testing.assert_array_equal(answer.x, [1.0, 0.0])
    assert answer.f_lower <= 1.0 <= answer.f_upper
    assert answer.well_posed == (difference > 5e-13)  # beyond that rounding of the data is near, and that is said


def test_2_a_point_off_the_face_cannot_pass_unnoticed():
    """The bracket knows the bounds as given and charges what the point loses at the level before at its price.

    f* = 5/2 at (1, 0). At (0, 1), which costs 1e-6 too much, f = 1/2; its price 1e6 turns that into a bound of 3/2.
    """
    face, unit = Face.of(SEGMENT)
    chain = chain_module.Chain(face, 1e-10)
    chain.solve(Level.of(nearly_tied(1e-6)[0].form, 2, unit))
    level = Level.of(tb.SquaredNorm([0.0, 2.0]).form, 2, unit)
    found = bracket(face, level, ext([0.0, 1.0]) / unit, ext([0.0]), [ext(np.zeros(0))])
    assert 1.499 <= found.lower * level.unit <= 2.5
    assert found.upper == np.inf


def tied_transport(seed: int = 0) -> tuple[tb.Linear, tb.Polyhedron]:
    rng = np.random.default_rng(seed)
    n, m = 4, 6
    rows = np.vstack([np.kron(np.eye(n), np.ones((1, m))), np.kron(np.ones((1, n)), np.eye(m))])
    plan = rng.integers(1, 6, (n, m)).astype(float)
    right = np.append(plan.sum(axis=1), plan.sum(axis=0))
    return tb.Linear(rng.integers(1, 4, n * m).astype(float)), tb.Polyhedron(A_eq=rows, b_eq=right, bounds=(0, 40))


def by_hand(lower: tb.Linear, domain: tb.Polyhedron, eps: float) -> float:
    """What users write: a row that allows the first level to lose eps."""
    import cvxpy as cp

    rows = domain._given
    g_star = linprog(lower.c, A_eq=rows.A, b_eq=rows.low, bounds=(0, 40)).fun
    x = cp.Variable(lower.c.size)
    held = [rows.A @ x == rows.low, x >= 0, x <= 40, lower.c @ x <= g_star + eps]
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(x)), held)
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return float(problem.value)


def test_3_a_row_for_the_value_is_off_by_its_price():
    lower, domain = tied_transport()
    answer = solve_rows([lower, tb.SquaredNorm()], domain)[-1]
    assert answer.width < 1e-12 * LOOSE
    assert answer.multiplier > 1
    for eps in (1e-2, 1e-3):
        lost = answer.f_lower - by_hand(lower, domain, eps)
        assert 0.1 * eps * answer.multiplier <= lost <= 1.1 * eps * answer.multiplier


def test_4_residuals_are_absolute():
    """Flows of 1e5 beside flows of 1e-3: a tolerance relative to the largest says nothing of the small ones."""
    A = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [0.0, 1.0, -1.0, 0.0]])
    right = np.array([0.0, 1e5 + 1e-3, -1e-3])
    domain = tb.Polyhedron(A_eq=A, b_eq=right, bounds=(0, 2e5))
    answer = solve_rows([tb.Linear([0.0, 0.0, 1.0, 1.0]), tb.SquaredNorm()], domain)[-1]
    assert np.abs(A @ answer.x - right).max() < 1e-10  # one unit in the last place of 1e5
    exact = ExtMatrix(A).times(ext(answer.x)) - right
    assert float(np.abs(exact).max()) < 3e-11
    assert answer.width < 1e-12 * LOOSE


def test_4_an_infeasible_point_bounds_nothing_from_above():
    face, unit = Face.of(SEGMENT)
    level = Level.of(tb.SquaredNorm().form, 2, unit)
    found = bracket(face, level, ext([0.5, 0.5 - 6e-6]) / unit, ext([-0.5 / unit]), [])
    assert found.upper == np.inf
    assert found.lower * level.unit <= 0.25


def chain_problem() -> tuple[tb.Linear, tb.SquaredNorm, tb.Polyhedron, float]:
    """A sparse problem, so that the portfolio is the sparse one, with its answer by the healthy engine."""
    rng = np.random.default_rng(3)
    n = 120
    rows = sp.csr_array(rng.integers(1, 4, (10, n)) * (rng.random((10, n)) < 0.2))
    domain = tb.Polyhedron(A_ub=-rows.astype(float), b_ub=-np.ones(10), bounds=(0, 1))
    lower, upper = tb.Linear(np.asarray(rows.sum(axis=0)).astype(float)), tb.SquaredNorm(dim=n)
    return lower, upper, domain, solve_rows([lower, upper], domain)[-1].f_upper


def says_infeasible(qp: QP) -> None:
    return None


def infeasible_point_with_good_multipliers(qp: QP) -> Guess:
    good = by_clarabel(qp)
    assert good is not None
    return Guess(good.v + 1.0, good.y)


def nonsense(qp: QP) -> Guess:
    return Guess(np.full(qp.c.size, 1e6), np.full(qp.low.size, -1e6))


@pytest.mark.parametrize("broken", [says_infeasible, infeasible_point_with_good_multipliers, nonsense])
def test_5_6_a_failing_solver_is_passed_over(monkeypatch, broken):
    """The face holds a point, so 'infeasible' is never an answer, nor is a point that a solver could not finish."""
    lower, upper, domain, f_star = chain_problem()
    monkeypatch.setattr(quadratic_module, "portfolio", lambda qp: [broken, by_clarabel])
    answer = solve_rows([lower, upper], domain)[-1]
    assert answer.f_lower <= f_star <= answer.f_upper + 1e-12
    assert answer.width < 1e-10 * LOOSE
    assert domain.contains(answer.x, 1e-13)


@pytest.mark.parametrize("broken", [says_infeasible, nonsense])
def test_5_6_with_no_solver_left_the_bracket_stays_true(monkeypatch, broken):
    lower, upper, domain, f_star = chain_problem()
    monkeypatch.setattr(quadratic_module, "portfolio", lambda qp: [broken])
    answer = solve_rows([lower, upper], domain)[-1]
    assert answer.f_lower <= f_star <= answer.f_upper + 1e-12


def test_6_all_solvers_of_the_portfolio_agree():
    rng = np.random.default_rng(1)
    n = 12
    H, G = np.diag(rng.uniform(1, 2, n)), rng.normal(size=(5, n))
    low, high = np.append(np.zeros(2), np.full(3, -np.inf)), np.append(np.zeros(2), rng.uniform(0, 1, 3))
    qp = QP(H, rng.normal(size=n), G, low, high, np.full(n, -0.3), np.full(n, 0.5))
    sparse = qp._replace(H=sp.csr_array(H), G=sp.csr_array(G))
    answers = [by_piqp(qp), by_piqp(sparse), by_clarabel(sparse), by_highs(sparse)]
    for answer in answers:
        assert answer is not None
        np.testing.assert_allclose(answer.v, answers[0].v, atol=1e-6)
        left = H @ answer.v + qp.c - G.T @ answer.y  # the sign convention: what is left belongs to the bounds
        np.testing.assert_allclose(answer.v, np.clip(answer.v - left, qp.lower, qp.upper), atol=1e-6)


def test_7_multipliers_of_removed_rows_come_back():
    """x0 <= 0.25 and 2 x1 >= 1 as rows, and after x1 is fixed by it, x1 + x2 <= 1 is one too."""
    A = np.array([[1.0, 0.0, 0.0], [0.0, -2.0, 0.0], [0.0, 2.0, 0.0], [0.0, 1.0, 1.0]])
    b = np.array([0.25, -1.0, 1.0, 1.0])
    domain = tb.Polyhedron(A_ub=A, b_ub=b, bounds=(-5, 5))
    answer = solve_rows([tb.SquaredNorm([2.0, 2.0, 2.0])], domain)[-1]
    np.testing.assert_allclose(answer.x, [0.25, 0.5, 0.5], atol=1e-16)
    assert answer.width < 1e-14 * LOOSE
    reduced = reduce_rows(A, ext(np.full(4, -np.inf)), ext(b), ext(np.full(3, -5.0)), ext(np.full(3, 5.0)))
    assert reduced.rows.size == 0
    assert reduced.columns.tolist() == [0, 2]
    grad = ext([-1.75, -1.5, -1.5])
    y = reduced.expand_multipliers(ext(np.zeros(0)), grad)
    np.testing.assert_allclose(double(grad - A.T @ y), 0, atol=1e-18)
    assert (double(y) <= 0).all()  # all of them at their high ends


@pytest.mark.parametrize("seed", range(12))
def test_8_three_linear_levels(seed):
    """Rows fixed by the first level have multipliers of either sign in the later ones."""
    rng = np.random.default_rng(seed)
    n, m = 10, 8
    A = rng.integers(-2, 3, (m, n)).astype(float)
    b = A @ rng.integers(0, 3, n) + rng.integers(0, 2, m)
    costs = [-rng.integers(0, 2, 3) @ A[:3] + 0.0, -rng.integers(0, 2, 3) @ A[2:5] + 0.0, rng.integers(-2, 3, n) + 0.0]
    domain = tb.Polyhedron(A_ub=A, b_ub=b, bounds=(0, 3))
    answers = solve_rows([tb.Linear(c) for c in costs], domain)
    rows, right = A, b
    for c, answer in zip(costs, answers, strict=True):  # integral data: the value rows are exact up to rounding
        best = linprog(c, A_ub=rows, b_ub=right, bounds=(0, 3))
        assert answer.f_lower <= best.fun + 1e-6
        assert answer.f_upper >= best.fun - 1e-6
        assert answer.width < 1e-12 * LOOSE
        rows, right = np.vstack([rows, c]), np.append(right, best.fun + 1e-9)


def degenerate_step() -> Step:
    """The nearest point of a cone's apex: every row is tight and every multiplier is zero."""
    rng = np.random.default_rng(0)
    A = rng.integers(-2, 3, (30, 6)).astype(float)
    reduced = reduce_rows(A, ext(np.full(30, -np.inf)), ext(np.zeros(30)), ext(np.full(6, -1.0)), ext(np.full(6, 1.0)))
    return Step(Level.of(tb.SquaredNorm(dim=6).form, 6), ext(np.zeros(6)), reduced)


def test_9_the_polish_keeps_the_better_and_ends(monkeypatch):
    step = degenerate_step()
    solution = step.state(*step.zero())
    assert solution.residual == 0
    calls = []
    evaluate = Step.state
    monkeypatch.setattr(Step, "state", lambda self, d, y: calls.append(0) or evaluate(self, d, y))
    rng = np.random.default_rng(1)
    for _ in range(20):
        start = evaluate(step, ext(1e-6 * rng.normal(size=6)), ext(-1e-6 * rng.random(step.face.rows.size)))
        calls.clear()
        assert polished(step, start).residual <= start.residual
        assert len(calls) <= 14 * SET_CHANGES
    assert polished(step, solution).residual == 0


def test_9_a_polish_that_makes_it_worse_is_dropped(monkeypatch):
    step = degenerate_step()
    start = step.state(ext(np.full(6, 1e-9)), ext(np.zeros(step.face.rows.size)))
    worse = step.state(ext(np.full(6, 1e-3)), start.y)
    monkeypatch.setattr(polish_module, "on_sides", lambda *_: worse)
    assert polished(step, start).residual <= start.residual


def test_10_images_are_held_in_step_form():
    """Five dependent rows: F x = t* is inconsistent by rounding, F d = 0 is not."""
    rng = np.random.default_rng(2)
    base = np.round(rng.normal(size=(3, 20)) * 2.0**20) / 2.0**20  # so that sums of rows are exact
    F = np.vstack([base, base[0] + base[1], 3 * base[2] - base[0]])
    lower = tb.LeastSquares(F, F @ rng.uniform(-1, 1, 20) + 0.1 * rng.normal(size=5))
    middle = tb.LeastSquares(rng.normal(size=(4, 20)), rng.normal(size=4))
    answers = solve_rows([lower, middle, tb.SquaredNorm()], tb.Box(-1, 1, 20))
    assert np.abs(F @ (answers[-1].x - answers[0].x)).max() < 1e-14
    assert np.abs(middle.A @ (answers[-1].x - answers[1].x)).max() < 1e-14
    assert all(answer.width < 1e-12 * LOOSE for answer in answers)


def test_11_rows_are_not_normalised():
    """Contradicting rows of different norms: the first level weighs them as given. min (x-1)^2 + 100 (x+1)^2."""
    A = np.array([[1.0, 0.0, 0.0], [10.0, 0.0, 0.0]])
    lower = tb.LeastSquares(A, [1.0, -10.0])
    answer = solve_rows([lower, tb.SquaredNorm([5.0, 0.5, 0.0])], tb.Box(-2, 2, 3))[-1]
    np.testing.assert_allclose(answer.x, [-99 / 101, 0.5, 0.0], atol=1e-15)


def test_12_a_slack_on_least_squares_costs_its_square_root():
    """f = x0 over 1/2 (x0 - 1)^2 <= eps is off by sqrt(2 eps); the chain is not."""
    lower, upper = tb.LeastSquares([[1.0, 0.0]], [1.0]), tb.Linear([1.0, 0.0])
    answer = solve_rows([lower, upper], tb.Box(-3, 3, 2))[-1]
    assert answer.f_lower <= 1.0 <= answer.f_upper
    assert answer.width < 1e-15 * LOOSE
    assert np.sqrt(2 * 1e-9) > 4e-5  # what a slack of 1e-9 would have cost


def test_13_a_narrow_gap_at_an_infeasible_point_is_not_an_answer():
    """Far outside, along the multipliers, the gap is negative; the upper bound must not follow."""
    face, unit = Face.of(SEGMENT)
    level = Level.of(tb.SquaredNorm().form, 2, unit)
    for x in ([0.1, 0.1], [0.49, 0.49], [0.5, 0.5 - 1e-7]):
        found = bracket(face, level, ext(x) / unit, ext([-0.5 / unit]), [])
        assert found.lower * level.unit <= 0.25
        assert found.upper == np.inf


# -- arithmetic ------------------------------------------------------------------------------------------------------


def test_double_double_products_match_long_double():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 60)) * 10.0 ** rng.integers(-8, 9, (40, 60))
    x = rng.normal(size=60)
    A[:, -1] = 0
    A[:, -1] = -(A @ x) / x[-1]  # the sums cancel almost completely
    exact = [sum((_fraction(a) * _fraction(v) for a, v in zip(row, x, strict=True)), start=_fraction(0)) for row in A]
    sizes = [_fraction(size) for size in np.abs(A) @ np.abs(x)]
    for matrix in (A, sp.csr_array(A)):
        computed = double_double_product(matrix, x)
        for value, truth, size in zip(computed, exact, sizes, strict=True):
            assert abs(_fraction(value) - truth) <= abs(truth) / 2**52 + size / 2**98


def _fraction(value: float):
    from fractions import Fraction

    return Fraction(float(value))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rounding_bounds_of_products(form):
    rng = np.random.default_rng(1)
    A, x = rng.normal(size=(30, 500)), rng.normal(size=500)
    matrix = ExtMatrix(form(A))
    pairs = zip(A, matrix.times(ext(x)), strict=True)
    truth = np.array([float(sum(map(_product, row, x)) - _long(v)) for row, v in pairs])
    assert (np.abs(truth) <= matrix.times_error(ext(x))).all()
    assert matrix.times_error(ext(x)).max() < 600 * UNIT * np.abs(A).sum(axis=1).max() * np.abs(x).max()


def _product(a: float, b: float):
    return _fraction(a) * _fraction(b)


def _long(value: np.longdouble):
    high = float(value)
    return _fraction(high) + _fraction(float(value - np.longdouble(high)))


def test_rows_without_ends_are_kept_from_solvers_that_print(capfd) -> None:
    """PIQP warns of them, on the terminal."""
    qp = QP(
        np.eye(2), np.array([-1.0, -2.0]), np.array([[1.0, 1.0], [1.0, 0.0]]), np.full(2, -np.inf),
        np.array([np.inf, 0.25]), np.zeros(2), np.ones(2),
    )  # fmt: skip
    guess = by_piqp(qp)
    assert guess is not None
    np.testing.assert_allclose(guess.v, [0.25, 1.0], atol=1e-8)
    assert capfd.readouterr() == ("", "")


def test_large_rows_nearby_go_by_a_proof_of_full_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    """A decomposition of 3,000 rows took minutes, and past the time limit."""
    rng = np.random.default_rng(3)
    G, wanted = sp.csr_array(rng.normal(size=(6, 15))), rng.normal(size=6)
    sizes = np.linalg.norm(np.linalg.pinv(G.toarray()), axis=1)
    by_vectors = nearby._sizes_of_inverse(G, wanted)
    assert by_vectors is not None
    np.testing.assert_allclose(by_vectors[0], sizes)
    monkeypatch.setattr(nearby, "LONG_SVD", 0.0)
    monkeypatch.setattr(np.linalg, "svd", lambda *_, **__: pytest.fail("decomposed"))
    found = nearby._sizes_of_inverse(G, wanted)
    assert found is not None
    assert (found[0] >= sizes).all() and found[0].max() < 10 * sizes.max() and found[1] == 0
    blank = nearby._sizes_of_inverse(sp.csr_array(sp.vstack([G, 0 * G[:1]])), np.append(wanted, 3.0))
    assert blank is not None and (blank[0] == found[0]).all() and blank[1] == 3.0
    twice = sp.csr_array(sp.vstack([G, G[:1]]))
    monkeypatch.setattr(nearby, "affordable", lambda work: False)
    assert nearby._sizes_of_inverse(twice, rng.normal(size=7)) is None
