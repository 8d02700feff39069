"""Chains over unbounded sets: answers, the three grades of what they rest on, rays, slack, least norm."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import tiebreak as tb
from auditing.checks import audit
from auditing.families import make
from auditing.rational import solution
from fractional import dot, fractions, times
from tiebreak.engines.answer import Unbounded
from tiebreak.engines.rows.gram import Gram
from tiebreak.engines.rows.least_norm import least_norm
from tiebreak.engines.rows.solve import solve_rows
from tiebreak.numerics.extended import ExtMatrix

INF = np.inf
ORTHANT = tb.Box(0.0, INF)
UNBOUNDED = "the domain is unbounded: some solution has no entry beyond"


def assumed(result: tb.Result) -> bool:
    """Whether the brackets rest on a box that is assumed to hold a solution."""
    return any(UNBOUNDED in one for one in result.certificate.assumes)


def brackets(result: tb.Result, *stars: float) -> None:
    """Success, and brackets that hold these values, no wider than rounding explains."""
    assert result.success, result
    for level, star in zip(result.levels, stars, strict=True):
        assert level.lower <= star <= level.upper
        assert level.upper - level.lower <= 1e-9 * (1 + abs(star))


# -- the three grades ---------------------------------------------------------------------------------------------


def test_strong_a_squared_distance_needs_no_assumption() -> None:
    result = tb.solve(tb.Problem(tb.SquaredNorm([3.0, 5.0, 1.0]), tb.Linear([1.0, 0.0, 2.0]), ORTHANT))
    brackets(result, 0.0, 5.0)
    np.testing.assert_allclose(result.x, [0.0, 5.0, 0.0])
    assert not assumed(result) and result.certificate.lower_unique is False


def test_box_solutions_that_are_all_in_a_box_need_none_either() -> None:
    """|x| over x1 + x2 = 2: no level is strongly convex, and all solutions are in a segment."""
    problem = tb.Problem(tb.L1Norm(), tb.LeastSquares([[1.0, 1.0]], [2.0]))
    result = tb.solve(problem)
    brackets(result, 0.0, 2.0)
    assert not assumed(result) and result.verify(problem).ok


def test_assumed_where_the_solutions_have_no_end() -> None:
    """x2 is in no level: any number will do."""
    problem = tb.Problem(tb.Linear([1.0, 0.0]), tb.LeastSquares([[1.0, 0.0]], [2.0]))
    result = tb.solve(problem)
    brackets(result, 0.0, 2.0)
    assert assumed(result) and result.certificate.lower_unique is False
    reach = next(one for one in result.certificate.assumes if UNBOUNDED in one)
    assert "R, from" in reach or "e+" in reach


def test_an_unpenalised_intercept() -> None:
    """The centred pseudo-inverse: weights of least norm, an intercept that costs nothing."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((5, 9)), rng.standard_normal(5) + 10
    A = np.hstack([X, np.ones((5, 1))])
    upper = tb.LeastSquares(np.eye(10)[:9], np.zeros(9))
    result = tb.solve(tb.Problem(upper, tb.LeastSquares(A, y)))
    w = np.linalg.pinv(X - X.mean(axis=0)) @ (y - y.mean())
    np.testing.assert_allclose(result.x, np.append(w, y.mean() - X.mean(axis=0) @ w), rtol=1e-12)
    assert result.success and result.f == pytest.approx(float(w @ w) / 2, rel=1e-12) and not assumed(result)


def test_a_solution_far_from_the_data_is_found() -> None:
    """x1 = 1e9 x2 and x2 near 1: the first part of the space is too small."""
    problem = tb.Problem(tb.SquaredNorm([0.0, 1.0]), tb.Linear([-1.0, 1e9]), _cone(1e9))
    result = tb.solve(problem)
    assert result.success and result.verify(problem).ok
    assert result.x[0] == pytest.approx(1e9 * result.x[1], abs=1e-6)


def _cone(slope: float) -> tb.Polyhedron:
    return tb.Polyhedron(A_ub=[[1.0, -slope]], b_ub=[0.0], bounds=(0, None))


# -- shapes -------------------------------------------------------------------------------------------------------


def test_full_rank_rank_deficient_and_wide() -> None:
    rng = np.random.default_rng(1)
    for rows, columns, rank in ((12, 4, 4), (9, 6, 3), (3, 8, 3)):
        A = rng.integers(-3, 4, (rows, rank)).astype(float) @ rng.integers(-3, 4, (rank, columns))
        b = rng.standard_normal(rows)
        x = np.linalg.pinv(A, rcond=1e-10) @ b
        problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, b))
        for result in (tb.solve(problem), tb.solve(tb.Problem(tb.SquaredNorm(), tb.LeastSquares(sp.csr_array(A), b)))):
            np.testing.assert_allclose(result.x, x, atol=1e-10 * (1 + np.abs(x).max()))
            assert result.success and result.certificate.lower_unique is (rank == columns)
            assert not assumed(result) and result.verify(problem).ok


def test_nonnegative_least_squares() -> None:
    from scipy.optimize import nnls

    rng = np.random.default_rng(2)
    A, b = rng.standard_normal((20, 8)), rng.standard_normal(20)
    x, norm = nnls(A, b)
    problem = tb.Problem(tb.Linear(np.ones(8)), tb.LeastSquares(A, b), ORTHANT)
    result = tb.solve(problem)
    np.testing.assert_allclose(result.x, x, atol=1e-9)
    assert result.success and result.g == pytest.approx(norm**2 / 2, rel=1e-12) and not assumed(result)


def test_a_semidefinite_quadratic_over_half_bounded_variables() -> None:
    """(x1 + x2)^2/2 - (x1 + x2) with x1 <= 0: x1 + x2 = 1, nearest to the origin at x1 = 0."""
    Q = np.array([[1.0, 1.0], [1.0, 1.0]])
    problem = tb.Problem(tb.SquaredNorm(), tb.Quadratic(Q, [-1.0, -1.0]), tb.Box([-INF, -INF], [0.0, INF]))
    result = tb.solve(problem)
    brackets(result, -0.5, 0.5)
    np.testing.assert_allclose(result.x, [0.0, 1.0], atol=1e-12)


def test_three_levels_with_names() -> None:
    supply = tb.Polyhedron(A_eq=[[1.0, 1.0, 1.0, 1.0]], b_eq=[4.0], bounds=(0, None))
    levels = [tb.Linear([1.0, 1.0, 1.0, 2.0]), tb.Linear([0.0, 0.0, 1.0, 0.0])]
    result = tb.solve(tb.Problem(tb.SquaredNorm(), levels, supply, names=["a", "b", "c", "d"]))
    brackets(result, 4.0, 0.0, 4.0)
    assert result.named == {"a": 2.0, "b": 2.0, "c": 0.0, "d": 0.0}
    assert tb.lexicographic([*levels, tb.SquaredNorm(dim=4)], supply).levels == result.levels


@pytest.mark.parametrize("number", range(40))
def test_the_audit_over_unbounded_sets(number: int) -> None:
    """Planted and random chains against rational arithmetic."""
    assert not audit(make("open", 11, number), 20.0).faults


def test_what_was_found_by_the_audit() -> None:
    """A bound implied by rows at their corner; rows missed by rounding and then held; a variable that is always 0."""
    for number in (720, 1150, 1418):
        assert not audit(make("open", 2, number), 20.0).faults


# -- rays ---------------------------------------------------------------------------------------------------------


def test_an_unbounded_first_level_names_the_ray() -> None:
    problem = tb.Problem(tb.SquaredNorm(), tb.Linear([1.0, 0.0, -2.0]), ORTHANT, names=["milk", "bread", "gold"])
    result = tb.solve(problem)
    assert result.status == tb.Status.UNBOUNDED and not result.success
    assert "the lower level is not bounded below" in result.message.lower() and "moves gold by 1;" in result.message
    assert problem.domain.contains(result.x) and result.verify(problem).ok
    assert result.certificate.g_lower == -INF


def test_an_unbounded_later_level_keeps_what_is_known_of_those_before() -> None:
    levels = [tb.LeastSquares([[1.0, 1.0, 0.0]], [2.0]), tb.Linear([1.0, 0.0, 0.0])]
    problem = tb.Problem(tb.Linear([0.0, 0.0, -1.0]), levels, ORTHANT)
    result = tb.solve(problem)
    assert result.status == tb.Status.UNBOUNDED and "x[2] by 1" in result.message
    assert "on the solutions of those before it" in result.message
    for level, star in zip(result.levels[:2], (0.0, 0.0), strict=True):
        assert level.lower <= star <= level.upper <= 1e-9
    np.testing.assert_allclose(result.x[:2], [0.0, 2.0], atol=1e-9)
    assert result.levels[2].lower == -INF


def test_rays_where_the_gradient_of_the_level_before_is_nothing_but_rounding() -> None:
    """{x >= 0 : R x = R x0} is where a quadratic level has gradient 0: whether costs are bounded there, by HiGHS."""
    from scipy.optimize import linprog

    unbounded = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        R, x0, c = rng.integers(-8, 9, (4, 9)) / 8, rng.integers(0, 9, 9) / 8, rng.normal(size=9)
        there = linprog(c, A_eq=R, b_eq=R @ x0, bounds=(0, None))
        result = tb.solve(tb.Problem(tb.Linear(c), tb.Quadratic(R.T @ R, -R.T @ (R @ x0)), ORTHANT))
        assert (result.status == tb.Status.UNBOUNDED) == (there.status == 3), (seed, result)
        if there.status == 3:
            unbounded += 1
        else:
            assert result.success and result.f == pytest.approx(there.fun, rel=1e-9, abs=1e-9)
    assert 4 <= unbounded <= 20


def test_a_ray_of_a_block_is_named_by_the_block() -> None:
    domain = tb.Product({"w": (tb.Box(0.0, 1.0), 2), "b": (tb.Space(), 1)})
    result = tb.solve(tb.Problem(tb.SquaredNorm(), tb.Linear([1.0, 1.0, -1.0]), domain))
    assert result.status == tb.Status.UNBOUNDED and "moves b by 1" in result.message


def test_a_ray_must_not_leave_the_solutions_of_quadratic_levels() -> None:
    """Falling along (1, -1) is not possible: the first level holds both; along x3 the level is flat."""
    first = tb.LeastSquares([[1.0, 1.0, 0.0], [1.0, -1.0, 0.0]], [1.0, 0.0])
    result = tb.solve(tb.Problem(tb.Linear([-1.0, 1.0, 0.0]), first))
    brackets(result, 0.0, 0.0)


def test_a_quadratic_without_a_minimum() -> None:
    result = tb.solve(tb.Problem(tb.SquaredNorm(), tb.Quadratic(np.diag([1.0, 0.0]), [0.0, 1.0])))
    assert result.status == tb.Status.UNBOUNDED and "x[1] by -1" in result.message


@pytest.mark.parametrize("exponent", [9, 13])
def test_a_small_singular_value_is_no_ray(exponent: int) -> None:
    """The first level has one solution, however far away: nothing falls for ever."""
    rng = np.random.default_rng(exponent)
    U, V = (np.linalg.qr(rng.standard_normal((8, 8)))[0] for _ in range(2))
    A = U * np.logspace(0, -exponent, 8) @ V.T
    for upper in (tb.Linear(np.ones(8)), tb.L1Norm()):
        for domain in (None, ORTHANT):
            result = tb.solve(tb.Problem(upper, tb.LeastSquares(A, np.ones(8)), domain))
            assert result.status not in (tb.Status.UNBOUNDED, tb.Status.MAX_TIME)


@pytest.mark.parametrize("exponent", [3, 9, 15])
def test_badly_conditioned_levels_claim_no_more_than_is_shown(exponent: int) -> None:
    """Square and regular, to the last bit: g* is 0 and the solution known, maybe 1e15 away; stopped early or not."""
    rng = np.random.default_rng(exponent)
    U, V = (np.linalg.qr(rng.standard_normal((5, 5)))[0] for _ in range(2))
    A, b = U * np.logspace(0, -exponent, 5) @ V.T, rng.standard_normal(5)
    x = solution([fractions(row) for row in A], fractions(b), 5)
    assert x is not None
    for upper, star in ((tb.Linear(np.ones(5)), sum(x)), (tb.L1Norm(), sum(map(abs, x)))):
        for limit in (0.02, 2.0):
            g, f = tb.solve(tb.Problem(upper, tb.LeastSquares(A, b)), max_time=limit).levels
            assert g.lower <= 0 <= g.upper
            assert f.lower == -INF or Fraction(f.lower) <= star
            assert f.upper == INF or star <= Fraction(f.upper)


def test_rays_are_as_short_as_they_come() -> None:
    """Of many falling cycles in a network, one is named."""
    n, rng = 40, np.random.default_rng(0)
    tail, head = rng.integers(0, 10, n), rng.integers(1, 10, n)
    N = np.zeros((10, n))
    N[tail, np.arange(n)] += 1
    N[(tail + head) % 10, np.arange(n)] -= 1
    flows = tb.Polyhedron(A_eq=N, b_eq=np.zeros(10), bounds=(0, None))
    result = tb.solve(tb.Problem(tb.SquaredNorm(), tb.Linear(-np.ones(n)), flows))
    assert result.status == tb.Status.UNBOUNDED and "more;" not in result.message


def test_the_only_level() -> None:
    assert tb.solve(tb.Problem(tb.Linear([-1.0]), [], ORTHANT)).status == tb.Status.UNBOUNDED
    assert tb.solve(tb.Problem(tb.LeastSquares([[2.0]], [4.0]), [])).x == pytest.approx(2.0)


def test_a_large_set_that_is_empty_is_infeasible() -> None:
    """A small one is refused when it is made; the proof for a large one is part of the solve."""
    n = 2500
    domain = tb.Polyhedron(A_eq=np.ones((1, n)), b_eq=[-1.0], bounds=(0, None))
    result = tb.solve(tb.Problem(tb.SquaredNorm(), tb.Linear(np.ones(n)), domain))
    assert result.status == tb.Status.INFEASIBLE and not result.success and np.isnan(result.x).all()
    assert result.message.startswith("The polyhedron is empty")


def test_results_over_unbounded_sets_are_stored(tmp_path) -> None:
    for problem in (
        tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0])),
        tb.Problem(tb.SquaredNorm(), tb.Linear([1.0, -1.0]), ORTHANT),
    ):
        result = tb.solve(problem)
        result.save(tmp_path / "result.npz")
        again = tb.Result.load(tmp_path / "result.npz")
        assert again.status == result.status and again.certificate == result.certificate


# -- slack --------------------------------------------------------------------------------------------------------


def test_slack_over_the_whole_space() -> None:
    """|x1 + x2 - 1| <= delta with slack = delta^2/2: v = (1 - delta)^2/4."""
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), slack=0.5 * 0.125**2)
    result = tb.solve(problem)
    assert result.success and result.certificate.two_sided and result.verify(problem).ok
    assert result.certificate.f_lower <= (1 - 0.125) ** 2 / 4 <= result.certificate.f_upper
    assert problem.lower.value(result.x) <= problem.slack


def test_slack_where_the_upper_level_alone_has_no_minimum() -> None:
    """-x1 - x2 with x1^2 + 4 x2^2 <= 2 slack; and over the orthant with a linear level, along a ray."""
    disc = tb.solve(tb.Problem(tb.Linear([-1.0, -1.0]), tb.LeastSquares(np.diag([1.0, 2.0]), [0.0, 0.0]), slack=0.5))
    assert disc.success and disc.certificate.f_lower <= -np.sqrt(1.25) <= disc.certificate.f_upper
    line = tb.solve(tb.Problem(tb.Linear([-1.0, -1.0]), tb.Linear([1.0, 2.0]), ORTHANT, slack=0.25))
    assert line.success and line.certificate.f_lower <= -0.25 <= line.certificate.f_upper
    none = tb.solve(tb.Problem(tb.Linear([-1.0, -1.0]), tb.Linear([1.0, 0.0]), ORTHANT, slack=0.25))
    assert none.status == tb.Status.UNBOUNDED and "x[1]" in none.message


def test_a_trade_off_curve_and_a_chain_with_slack() -> None:
    A = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, [1.0, 2.0]))
    curve = tb.tradeoff(problem, slacks=[1e-3, 1e-2, 1e-1])
    assert (np.diff(curve.f) < 0).all() and (curve.f_upper - curve.f_lower < 1e-9).all()
    chain = tb.Problem(tb.SquaredNorm(), [tb.LeastSquares(A[:1], [1.0]), tb.LeastSquares(A[1:], [2.0])], slack=[0, 0.1])
    result = tb.solve(chain)
    assert result.success and result.verify(chain).ok and result.levels[1].value <= 0.1
    with pytest.raises(ValueError, match="falls for ever"):
        tb.tradeoff(tb.Problem(tb.Linear([1.0, 0.0, 0.0]), tb.LeastSquares(A, [1.0, 2.0])))


# -- least norm ---------------------------------------------------------------------------------------------------


def _nearest(A: np.ndarray, b: np.ndarray, c: np.ndarray) -> list[Fraction]:
    """c + A'w with A'A(c + A'w) = A'b, exactly: elimination, free entries at zero."""
    rows, columns = [fractions(row) for row in A], [fractions(column) for column in A.T]
    gram = [[dot(u, v) for v in columns] for u in columns]
    left = [[dot(row, column) for column in zip(*[fractions(r) for r in A.T], strict=True)] for row in gram]
    right = [dot(column, fractions(b)) - dot(row, fractions(c)) for column, row in zip(columns, gram, strict=True)]
    w = [Fraction(0)] * len(rows)
    table = [[*row, value] for row, value in zip(left, right, strict=True)]
    pivots: list[tuple[int, int]] = []
    for j in range(len(rows)):
        i = next((i for i in range(len(pivots), len(table)) if table[i][j]), None)
        if i is None:
            continue
        k = len(pivots)
        table[k], table[i] = table[i], table[k]
        table[k] = [v / table[k][j] for v in table[k]]
        for other in range(len(table)):
            if other != k and table[other][j]:
                table[other] = [v - table[other][j] * u for v, u in zip(table[other], table[k], strict=True)]
        pivots.append((k, j))
    for k, j in pivots:
        w[j] = table[k][-1]
    return [v + t for v, t in zip(fractions(c), times(A.T, w), strict=True)]


@pytest.mark.parametrize("seed", range(24))
def test_least_norm_against_rational_arithmetic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n, rank = rng.integers(1, 7, 3)
    A = rng.integers(-3, 4, (m, rank)).astype(float) @ rng.integers(-3, 4, (rank, n))
    A *= 2.0 ** rng.integers(-12, 13, (m if seed % 2 else 1, 1))
    b, c = rng.standard_normal(m), rng.standard_normal(n) * 10.0 ** rng.integers(-3, 4)
    levels = [tb.LeastSquares(A, b, scale=0.25), 2.0 * tb.SquaredNorm(c)]
    answers = least_norm(levels, tb.Space(int(n)))
    if not A.any():
        assert answers is None
        return
    x = _nearest(A, b, c)
    residual = [u - v for u, v in zip(times(A, x), fractions(b), strict=True)]
    away = [u - v for u, v in zip(x, fractions(c), strict=True)]
    assert answers is not None
    for answer, star in zip(answers, (dot(residual, residual) / 8, dot(away, away)), strict=True):
        assert Fraction(answer.f_lower) <= star <= Fraction(answer.f_upper)
        assert answer.f_upper - answer.f_lower <= (1e-5 if seed % 2 else 1e-9) * (1 + float(star))  # odd: badly scaled
    assert answers[-1].lower_unique is bool(np.linalg.matrix_rank(A) == n)
    by_rows = solve_rows([*levels, tb.SquaredNorm(c)], tb.Space(int(n)))  # three levels: the general way
    assert max(by_rows[1].f_lower, answers[1].f_lower) <= min(by_rows[1].f_upper, answers[1].f_upper)


@pytest.mark.parametrize("seed", range(12))
def test_least_norm_over_sets_that_do_not_bind(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    m, n, rank = rng.integers(1, 7, 3)
    A = rng.integers(-3, 4, (m, rank)).astype(float) @ rng.integers(-3, 4, (rank, n)) + np.eye(m, n)
    b, c = rng.standard_normal(m), rng.standard_normal(n)
    levels = [tb.LeastSquares(A, b), tb.SquaredNorm(c)]
    x = _nearest(A, b, c)
    near = np.array([float(v) for v in x])
    away = [u - v for u, v in zip(x, fractions(c), strict=True)]
    G, inside = rng.standard_normal((3, n)), 1e-6 * (1 + np.abs(near).max())
    for domain in (tb.Box(near - inside, near + inside), tb.Polyhedron(A_ub=G, b_ub=G @ near + inside)):
        answers = least_norm(levels, domain)
        assert answers is not None
        assert Fraction(answers[1].f_lower) <= dot(away, away) / 2 <= Fraction(answers[1].f_upper)
        assert answers[1].lower_unique is bool(np.linalg.matrix_rank(A) == n)
    lower, k = near - inside, int(rng.integers(n))
    lower[k] = near[k]  # within rounding of the solution: no ball around it is inside
    assert least_norm(levels, tb.Box(lower, near + inside)) is None
    lower[k] = near[k] + inside / 2  # it binds
    assert least_norm(levels, tb.Box(lower, near + inside)) is None
    assert least_norm(levels, tb.Polyhedron(A_ub=G[:1], b_ub=G[:1] @ near - inside, bounds=(-1e3, 1e3))) is None


@pytest.mark.parametrize("shape", [(5, 9), (9, 5), (6, 6)])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_gram_factors_against_rational_arithmetic(shape: tuple[int, int], is_sparse: bool) -> None:
    rng = np.random.default_rng(shape[0])
    for size in (1.0, 1e-3, 1e5):
        A = rng.standard_normal(shape) * size
        A[rng.random(shape) < 0.3] = 0.0
        b, c = rng.standard_normal(shape[0]), rng.standard_normal(shape[1])
        data = ExtMatrix(sp.csr_array(A) if is_sparse else A)
        found = Gram.of(data.A, A.size)
        if found is None:
            assert np.linalg.cond(A) > 500  # K - s has no factor
            continue
        assert 0 < found.least <= np.linalg.svd(A, compute_uv=False)[-1]
        x, w = found.solved(data, b, c)
        star = np.array([float(v) for v in _nearest(A, b, c)])
        np.testing.assert_allclose(np.asarray(x, dtype=float), star, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(np.asarray(c + data.transpose_times(w) - x, dtype=float), 0, atol=1e-15)
        np.testing.assert_allclose(found.rough(data, b, c), star, rtol=1e-3, atol=1e-3)


def test_gram_factors_refuse_what_has_no_full_rank() -> None:
    A = np.random.default_rng(0).standard_normal((6, 9))
    A[5] = A[4]
    assert Gram.of(A, A.size) is None
    assert Gram.of(A.T, A.size) is None
    A[5] = 0.0
    assert Gram.of(A, A.size) is None


@pytest.mark.parametrize("shape", [(60, 400), (400, 60)])
@pytest.mark.parametrize("doubled", [False, True])
def test_least_norm_at_some_size_agrees_with_the_general_way(shape: tuple[int, int], doubled: bool) -> None:
    rng = np.random.default_rng(shape[0])
    A = np.where(rng.random(shape) < 0.2, rng.standard_normal(shape), 0.0)
    if doubled:
        A[:, 7] = A[:, 3]
        A[5] = A[9]
    b = A @ rng.standard_normal(shape[1]) + rng.standard_normal(shape[0])
    levels = [tb.LeastSquares(sp.csr_array(A), b), tb.SquaredNorm(dim=shape[1])]
    answers = least_norm(levels, tb.Box(-50.0, 50.0, dim=shape[1]))
    assert answers is not None
    star = np.linalg.lstsq(A, b, rcond=1e-10)[0]
    np.testing.assert_allclose(answers[1].x, star, atol=1e-9)
    assert answers[1].f_upper - answers[1].f_lower <= 1e-12 * answers[1].f_upper
    binding = tb.Box(-0.9 * float(np.abs(star).max()), 0.9 * float(np.abs(star).max()), dim=shape[1])
    assert least_norm(levels, binding) is None


def test_least_norm_leaves_other_problems_alone() -> None:
    g, f = tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.SquaredNorm(dim=2)
    for levels, domain in (
        ([g, f], tb.Box(0.5, INF, dim=2)),
        ([g], tb.Space(2)),
        ([f, g], tb.Space(2)),
        ([tb.Linear([0.0, 0.0]), f], tb.Space(2)),
        ([g + tb.Linear([1.0, 1.0]), f], tb.Space(2)),
        ([tb.LeastSquares([[1.0, 1.0], [1.0, 1.0 + 2.0**-52]], [1.0, 1.0]), f], tb.Space(2)),  # what is its rank?
    ):
        assert least_norm(levels, domain) is None


def test_a_ray_beside_a_far_point_is_not_lost() -> None:
    """A unit step from 1e18 changes no digit of it: rays are taken back on their own, through parts of x as well."""
    plain = tb.plan(tb.Problem(tb.Linear([-1.0, 0.0]), tb.LeastSquares([[0.0, 1.0]], [2.0]), ORTHANT)).choice
    parts = tb.plan(tb.Problem(tb.L1Norm(), tb.LeastSquares([[1.0, 1.0]], [2.0]))).choice
    for choice, ray, there in ((plain, [1.0, 0.0], [1.0, 0.0]), (parts, [0.0, 1.0, 0.5, 0.0], [-0.5, 1.0])):
        stop = Unbounded(1, np.array(ray), np.full(len(ray), 1e18))
        choice.take_back(stop)
        assert stop.ray.tolist() == there


@pytest.mark.parametrize("rank_deficient", [False, True])
@pytest.mark.parametrize("bends", [False, True])
@pytest.mark.parametrize("size", [40, 80])
def test_planted_solutions_of_flat_levels_beside_rows(size: int, bends: bool, rank_deficient: bool) -> None:
    """Rows and bounds that hold an unbounded set of solutions, by multipliers far below the values of the level.

    The data are small integers and quarters, so that the point of the multipliers minimises the level as it is stored.
    """
    rng = np.random.default_rng([size, bends, rank_deficient])
    x = np.where(rng.random(size) < 0.4, 0.0, rng.integers(1, 9, size) / 4)
    lower = np.where(rng.random(size) < 0.5, -INF, 0.0)
    A = rng.integers(-3, 4, (size // 3, size)).astype(float)
    room = np.where(np.arange(len(A)) < len(A) // 2, 0.0, rng.integers(1, 9, len(A)) / 2)
    y = np.where(np.arange(len(A)) < len(A) // 4, rng.integers(1, 4, len(A)), 0.0)
    z = np.where((x == 0) & (lower == 0) & (rng.random(size) < 0.6), rng.integers(1, 5, size) / 2, 0.0)
    F = rng.integers(-3, 4, (size // 4, size)).astype(float)
    F = rng.integers(-3, 4, (size // 2, len(F))) @ F if rank_deficient else F
    slope = z - A.T @ y
    level = tb.Quadratic(F.T @ F, slope - F.T @ (F @ x)) if bends else tb.LeastSquares(F, F @ x) + tb.Linear(slope)
    domain = tb.Polyhedron(A_ub=A, b_ub=A @ x + room, bounds=list(zip(lower, np.full(size, INF), strict=True)))
    problem = tb.Problem(tb.SquaredNorm(x), level, domain)
    result = tb.solve(problem)
    assert result.success and result.verify(problem).ok
    bottom, top = result.levels
    assert bottom.lower <= level.value(x) <= bottom.upper and bottom.upper - bottom.lower <= 1e-4
    assert top.lower <= 0.0 <= top.upper <= 1e-6
    assert result.certificate.lower_unique is not True


@pytest.mark.parametrize("bits", [13, 20, 26])
def test_nearly_dependent_columns_over_the_whole_space_are_proved_as_over_a_box(bits: int) -> None:
    """Copies of columns, and one that is another but for 2^-bits: the answer is exact in doubles."""
    rng = np.random.default_rng(0)
    A = rng.integers(-8, 9, (60, 6)).astype(float)
    A[:, 1] = A[:, 0] + 2.0**-bits * A[:, 1]
    A = np.repeat(np.hstack([A, A[:, :3]]), 2, axis=0)
    x, centre = rng.integers(-4, 5, (2, 9)) / 8
    b = A @ x + np.repeat(rng.integers(1, 9, 60), 2) * np.tile([1.0, -1.0], 60)
    for one in range(3):
        both, apart = x[one] + x[one + 6], centre[one] - centre[one + 6]
        x[one], x[one + 6] = (both + apart) / 2, (both - apart) / 2
    f = 0.5 * float((x - centre) @ (x - centre))
    result = tb.solve(tb.Problem(tb.SquaredNorm(centre), tb.LeastSquares(A, b)), "exact")
    found = result.certificate
    assert found.f_lower <= f <= found.f_upper
    assert found.f_upper - found.f_lower <= 1e-9
    np.testing.assert_allclose(result.x, x, atol=1e-7)
