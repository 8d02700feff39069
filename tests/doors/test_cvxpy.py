"""The CVXPY door: answers against rational arithmetic, values, duals, parameters, statuses and sentences."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import tiebreak as tb
from cvxpy_models import hierarchy
from tiebreak.cvxpy import Lexicographic

UNPROVED = "Solution may be inaccurate"


def solved(p: Lexicographic, **options: object) -> Lexicographic:
    p.solve(**options)
    assert p.status == cp.OPTIMAL, p.result
    return p


# -- against rational arithmetic -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.filterwarnings(f"ignore:{UNPROVED}")
def test_random_hierarchies_agree_with_fractions(seed: int) -> None:
    """Two to four levels of all kinds; brackets hold whatever the status, and "optimal" is what it says."""
    h = hierarchy(seed)
    truth = h.truth()
    p = Lexicographic(h.objectives, h.constraints)
    p.solve()
    assert p.result is not None and p.levels is not None
    if len(truth) < len(h.levels):
        assert p.status == cp.UNBOUNDED and h.x.value is None
        return
    assert p.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE)
    assert p.values is not None
    for value, level, star, objective in zip(p.values, p.levels, truth, h.objectives, strict=True):
        star = star if isinstance(objective, cp.Minimize) else -star
        assert not np.isfinite(level.lower) or Fraction(level.lower) <= star
        assert not np.isfinite(level.upper) or star <= Fraction(level.upper)
        assert value == objective.value
        if p.status == cp.OPTIMAL:
            assert value == pytest.approx(float(star), abs=1e-7, rel=1e-7)


@pytest.mark.filterwarnings(f"ignore:{UNPROVED}")
def test_most_hierarchies_are_proved() -> None:
    """How much of that is proved: no more than one in eight is left open."""
    models = [Lexicographic(h.objectives, h.constraints) for h in map(hierarchy, range(100, 116))]
    for p in models:
        p.solve()
    assert sum(p.status != cp.OPTIMAL_INACCURATE for p in models) >= 14


# -- the hand-made way ------------------------------------------------------------------------------------------------


def test_value_rows_are_wrong_where_levels_are_not() -> None:
    """Shares of a nearly flat cost: "cost <= optimum + 1e-6" moves the answer by a half, and no status says so."""
    x = cp.Variable(2, nonneg=True)
    cost, even = x[0] + (1 + 1e-6) * x[1], cp.sum_squares(x)
    constraints = [cp.sum(x) == 1]
    p = solved(Lexicographic([cp.Minimize(cost), cp.Minimize(even)], constraints))
    np.testing.assert_allclose(x.value, [1.0, 0.0], atol=1e-12)
    assert p.values == pytest.approx((1.0, 1.0), abs=1e-12)
    first = cp.Problem(cp.Minimize(cost), constraints)
    first.solve(cp.CLARABEL)
    by_hand = cp.Problem(cp.Minimize(even), [*constraints, cost <= first.value + 1e-6])
    by_hand.solve(cp.CLARABEL)
    assert by_hand.status == cp.OPTIMAL and by_hand.value == pytest.approx(0.5, abs=1e-3)


# -- values, attributes, offsets, signs --------------------------------------------------------------------------------


def test_attributes_maximise_and_constants() -> None:
    X, y = cp.Variable((2, 2), symmetric=True, name="X"), cp.Variable(name="y", nonpos=True)
    levels = [cp.Maximize(cp.trace(X) + y + 7), cp.Minimize(cp.sum_squares(X) - 2), cp.Maximize(cp.min(X) + 1)]
    p = solved(Lexicographic(levels, [X[0, 0] + X[1, 1] <= 3, X[0, 1] >= 1]))
    np.testing.assert_allclose(X.value, [[1.5, 1.0], [1.0, 1.5]], atol=1e-9)
    assert y.value == pytest.approx(0.0, abs=1e-12)
    assert p.values == pytest.approx((10.0, 4.5, 2.0), abs=1e-9)
    assert p.levels is not None
    for level, value in zip(p.levels, p.values, strict=True):
        assert level.lower - 1e-9 <= value <= level.upper + 1e-9
        assert level.upper - level.lower < 1e-6


def test_squares_stay_squares() -> None:
    """Residuals of least squares are no variables here, and distances are known as such."""
    x = cp.Variable(3)
    A, b = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]), np.array([1.0, 2.0])
    p = solved(Lexicographic([cp.Minimize(cp.sum_squares(A @ x - b)), cp.Minimize(cp.sum_squares(x - 1))]))
    assert p.problem.dim == 3
    np.testing.assert_allclose(x.value, 1 + np.linalg.pinv(A) @ (b - A @ np.ones(3)), rtol=1e-12)
    assert p.problem.upper.form is not None and p.problem.upper.form.strong_convexity == 2.0
    weighted = cp.sum_squares(A[:1] @ x - b[:1]) + 3 * cp.sum_squares(A[1:] @ x - b[1:])
    solved(Lexicographic([cp.Minimize(weighted), cp.Minimize(x[0] ** 2 + 2 * x[1] ** 2 + 4 * x[2] ** 2)]))
    np.testing.assert_allclose(x.value, [0.0, 1.0, 1.0] - np.array([1.0, -1.0, 1.0]) * 2 / 7, rtol=1e-9)


def test_constraint_on_residuals_keeps_them() -> None:
    """A variable of the user's that happens to be a residual is given back."""
    x, t = cp.Variable(2), cp.Variable(2, name="t")
    solved(Lexicographic([cp.Minimize(cp.sum_squares(t)), cp.Minimize(cp.sum_squares(x))], [t == x - [3.0, 4.0]]))
    np.testing.assert_allclose(x.value, [3.0, 4.0], atol=1e-9)
    np.testing.assert_allclose(t.value, 0.0, atol=1e-9)


def test_slack_is_the_users() -> None:
    """Slack on an earlier and on the last lower level; a relative one counts constants."""
    x = cp.Variable(2, nonneg=True)
    cost, share = cp.sum(x) + 8, cp.Maximize(x[0])
    held = [cp.sum(x) >= 2, x[0] <= 5]
    p = solved(Lexicographic([cp.Minimize(cost), share], held, slack=0.5))
    assert p.values == pytest.approx((10.5, 2.5), abs=1e-6)
    p = solved(Lexicographic([cp.Minimize(cost), share, cp.Minimize(cp.sum_squares(x))], held, relative_slack=[0.1, 0]))
    assert p.values == pytest.approx((11.0, 3.0, 9.0), abs=1e-6)
    with pytest.raises(ValueError, match=r"slack must have one number for each of the lower levels \(1\)"):
        Lexicographic([cp.Minimize(cost), share], held, slack=[0, 1, 2]).solve()


# -- parameters --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_objective", [False, True])
def test_parameters_are_solved_again_without_canonicalisation(in_objective: bool) -> None:
    x, demand, price = cp.Variable(2, nonneg=True), cp.Parameter(name="demand"), cp.Parameter(2, nonneg=True)
    cost = price @ x if in_objective else cp.sum(x)
    p = Lexicographic([cp.Minimize(cost), cp.Minimize(cp.sum_squares(x))], [cp.sum(x) >= demand])
    price.value = np.array([1.0, 1.0])
    with pytest.raises(cp.error.ParameterError, match="demand"):
        p.solve()
    demand.value = 2.0
    assert solved(p).values == pytest.approx((2.0, 2.0))
    kept = [problem._cache.param_prog for problem in p._canonical.problems]
    assert all(one is not None for one in kept)
    demand.value, price.value = 3.0, np.array([1.0, 2.0])
    expected = (3.0, 9.0) if in_objective else (3.0, 4.5)
    assert solved(p).values == pytest.approx(expected)
    assert all(a is problem._cache.param_prog for a, problem in zip(kept, p._canonical.problems, strict=True))
    assert len(p.parameters()) == 1 + in_objective and len(p.variables()) == 1


def test_not_dpp_is_said_and_solved() -> None:
    x, a = cp.Variable(2, nonneg=True), cp.Parameter(nonneg=True, value=2.0)
    p = Lexicographic([cp.Minimize(cp.sum(x)), cp.Minimize(cp.sum_squares(x))], [a * a * x[0] >= 4])
    with pytest.warns(UserWarning, match="not DPP"):
        p.solve()
    np.testing.assert_allclose(x.value, [1.0, 0.0], atol=1e-12)


# -- duals -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_duals_are_prices_of_the_first_level(seed: int) -> None:
    """Optimality conditions of the first level, in CVXPY's signs, over rows, bounds and equations."""
    rng = np.random.default_rng(seed)
    n = 5
    x = cp.Variable(n)
    A, E, point = rng.standard_normal((4, n)), rng.standard_normal((1, n)), rng.standard_normal(n)
    rows, equation = A @ x <= A @ point + rng.integers(0, 2, 4), E @ x == E @ point
    low, high = x >= point - 1, 4 * x <= 4 * (point + 1)
    c = rng.standard_normal(n)
    if seed % 2:
        first, slope = cp.Minimize(c @ x), lambda: c
    else:
        first, slope = cp.Maximize(-cp.sum_squares(x - 3 * c) - c @ x), lambda: 2 * (x.value - 3 * c) + c
    solved(Lexicographic([first, cp.Minimize(cp.sum_squares(x))], [rows, equation, low, high]))
    parts = A.T @ rows.dual_value + E.T @ equation.dual_value - low.dual_value + 4 * high.dual_value
    np.testing.assert_allclose(slope() + parts, 0, atol=1e-8)
    for one in (rows, low, high):
        assert (one.dual_value >= -1e-9).all()
        assert abs(one.dual_value @ one.residual) <= 1e-9
        assert abs(one.dual_value @ (one.args[0].value - one.args[1].value)) <= 1e-8


def test_duals_where_another_engine_or_slack_is_at_work() -> None:
    """A simplex, which vertices describe, and a level with slack: prices are those of the first level all the same."""
    x = cp.Variable(3, nonneg=True)
    budget, c = cp.sum(x) == 1, np.array([2.0, 1.0, 1.0])
    for slack in (0.0, 0.125):
        solved(Lexicographic([cp.Minimize(c @ x), cp.Minimize(cp.sum_squares(x))], [budget], slack=slack))
        assert budget.dual_value == pytest.approx(-1.0)
    three = [cp.Minimize(c @ x), cp.Minimize(x[0]), cp.Minimize(cp.sum_squares(x))]
    solved(Lexicographic(three, [budget], slack=[0.125, 0.0]))
    assert budget.dual_value == pytest.approx(-1.0)


def test_levels_have_duals() -> None:
    """Of the rows as given, inequalities first, and of the columns."""
    domain = tb.Polyhedron(A_ub=[[-1.0, -1.0, 0.0]], b_ub=[-2.0], A_eq=[[0.0, 0.0, 1.0]], b_eq=[3.0], bounds=(0, 4))
    result = tb.lexicographic([tb.Linear([1.0, 2.0, 5.0]), tb.SquaredNorm(dim=3)], domain)
    first = result.levels[0].duals
    assert first is not None
    np.testing.assert_allclose(first.rows, [-1.0, 5.0], atol=1e-12)
    np.testing.assert_allclose(first.columns, [0.0, 1.0, 0.0], atol=1e-12)


# -- statuses and sentences -------------------------------------------------------------------------------------------


def test_infeasible() -> None:
    x = cp.Variable(2)
    p = Lexicographic([cp.Minimize(cp.sum(x)), cp.Minimize(cp.norm1(x))], [cp.sum(x) >= 1, cp.sum(x) <= 0])
    assert p.solve() is None
    assert (p.status, p.values, x.value) == (cp.INFEASIBLE, None, None)
    p = Lexicographic([cp.Minimize(cp.sum(x))], [x >= 1, x <= 0])
    p.solve()
    assert p.status == cp.INFEASIBLE
    a = cp.Parameter(value=1.0)
    p = Lexicographic([cp.Minimize(cp.sum(x))], [x >= 1, a <= 0])
    p.solve()
    assert p.status == cp.INFEASIBLE


def test_unbounded_names_the_ray() -> None:
    x = cp.Variable(2, name="pump")
    p = Lexicographic([cp.Minimize(x[0]), cp.Minimize(x[1])], [x[0] >= 0])
    assert p.solve() is None
    assert p.status == cp.UNBOUNDED and x.value is None
    assert p.result is not None and "pump[1]" in p.result.message


def test_limits_are_said() -> None:
    x = cp.Variable(30)
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 30))
    p = Lexicographic([cp.Minimize(cp.sum_squares(A @ x)), cp.Minimize(cp.norm1(x - 1))], [cp.norm1(x) <= 3])
    with pytest.warns(UserWarning, match=UNPROVED):
        p.solve(max_time=1e-9)
    assert p.status == cp.USER_LIMIT


def test_sentences() -> None:
    x, k = cp.Variable(2, name="x"), cp.Variable(name="k", integer=True)
    with pytest.raises(cp.error.DCPError, match="level 2 does not follow DCP rules"):
        Lexicographic([cp.Minimize(cp.sum(x)), cp.Minimize(cp.sqrt(x[0]))], [x >= 0]).solve()
    with pytest.raises(cp.error.DCPError):
        Lexicographic([cp.Minimize(cp.sum(x))], [cp.sqrt(x[0]) <= 1]).solve()
    with pytest.raises(cp.error.SolverError, match=r"integer variables \(k\)"):
        Lexicographic([cp.Minimize(k), cp.Minimize(cp.sum(x))], [k >= 0.5, x >= 0]).solve()
    with pytest.raises(cp.error.SolverError, match=r"level 1 needs power cones, .*approx=True"):
        Lexicographic([cp.Minimize(cp.power(x[0], 3.3, approx=False))], [x >= 0]).solve()
    with pytest.raises(TypeError, match=r"constraints must be a list of constraints, .* got Inequality"):
        Lexicographic([cp.Minimize(cp.sum(x))], x >= 0)
    with pytest.raises(TypeError, match="no argument 'solver', as tiebreak solves the levels itself"):
        Lexicographic([cp.Minimize(cp.sum(x))], [x >= 0]).solve(solver=cp.CLARABEL)
    with pytest.raises(ValueError, match="nothing to choose"):
        Lexicographic([cp.Minimize(0)]).solve()
    with pytest.raises(TypeError, match=r"objectives\[1\] must be cp.Minimize"):
        Lexicographic([cp.Minimize(cp.sum(x)), cp.sum(x)])
    with pytest.raises(ValueError, match="one objective or more"):
        Lexicographic([])


def test_a_missing_cvxpy_names_the_pip_line() -> None:
    code = "import sys; sys.modules['cvxpy'] = None\ntry: import tiebreak.cvxpy\nexcept ImportError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'tiebreak[cvxpy]'" in done.stdout


# -- the rest of the door ---------------------------------------------------------------------------------------------


def test_tradeoff_and_from_cvxpy() -> None:
    x = cp.Variable(2, nonneg=True, name="x")
    lower, upper = cp.Problem(cp.Minimize(cp.sum(x)), [cp.sum(x) >= 2]), cp.Minimize(cp.sum_squares(x - [0.0, 4.0]))
    curve = Lexicographic([lower.objective, upper], lower.constraints).tradeoff(slacks=[0.5, 1.0])
    assert curve.proved.all()
    np.testing.assert_allclose(curve.f, [2.25, 1.0], atol=1e-4)
    problem = tb.Problem.from_cvxpy(upper, lower, [x[1] <= 1])
    assert problem.names == ("x[0]", "x[1]")
    result = tb.solve(problem)
    assert result.success and result.named == pytest.approx({"x[0]": 1.0, "x[1]": 1.0})
    assert result.verify(problem).ok


def test_uniqueness_is_about_the_users_variables() -> None:
    """The epigraph variable of the last level is free at the first: that is not said of x."""
    x = cp.Variable(2)
    p = solved(Lexicographic([cp.Minimize(cp.sum_squares(x - 1)), cp.Minimize(cp.norm1(x))]))
    assert p.result is not None and p.result.certificate.lower_unique is not False


def test_constant_of_a_linear_level() -> None:
    level = tb.Linear([1.0, 0.0], constant=3.0)
    assert (2 * level).value([1.0, 0.0]) == 8.0 and (-level).value([1.0, 0.0]) == -4.0
    for domain in (tb.Box(1.0, 2.0), tb.Simplex(4.0), tb.Polyhedron(A_ub=[[-1.0, 0.0]], b_ub=[-1.0], bounds=(0, 4))):
        result = tb.solve(tb.Problem(tb.SquaredNorm(dim=2), level, domain))
        at = result.x[0] + 3
        assert result.success and result.g == at and result.levels[0].lower <= at <= result.levels[0].upper + 1e-15


def test_epigraphs_are_bounded_where_variables_are() -> None:
    """Also those of a function of another: nothing is unbounded, whichever level they belong to."""
    x = cp.Variable(3)
    peak, total = cp.max(2 * cp.abs(x) + cp.pos(x)), cp.norm1(x - 1)
    p = solved(Lexicographic([cp.Minimize(total), cp.Minimize(peak)], [x <= 5, x >= -2, cp.sum(x) <= 1]))
    assert p.problem.domain.bounded and p.values == pytest.approx((2.0, 1.0))


def test_least_weighted_norm_over_the_whole_space() -> None:
    upper, lower = (
        tb.SquaredNorm(weights=[1.0, 2.0, 4.0]),
        tb.LeastSquares([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]], [1.0, 2.0]),
    )
    result = tb.solve(tb.Problem(upper, lower))
    np.testing.assert_allclose(result.x, [-2 / 7, 9 / 7, 5 / 7], rtol=1e-9)
    assert result.success


def test_columns_that_only_a_later_level_uses_ask_for_no_proof_before_it() -> None:
    """Two levels decide x by squares; that the epigraphs of the third are without end, and tight, does not matter."""
    x = cp.Variable(3)
    for bounds in ([x >= 0], [x >= 0, cp.sum(x) >= 1]):
        levels = [cp.sum_squares(x[:2] - 1), x[2], cp.norm1(x - 4)]
        p = Lexicographic([cp.Minimize(one) for one in levels], bounds)
        assert p.solve() == pytest.approx((0, 0, 10), abs=1e-9)
        assert p.status == "optimal"
        assert p.levels is not None
        assert p.levels[2].upper - p.levels[2].lower < 1e-12


def test_a_slack_whose_level_is_not_proved_warns_in_words_alone() -> None:
    x = cp.Variable(3)
    levels = [cp.sum(x), cp.norm(x - 1), x[0]]
    p = Lexicographic([cp.Minimize(one) for one in levels], [x >= 0, cp.sum(x) >= 1], slack=[0, 1e-3])
    with pytest.warns(UserWarning, match="Solution may be inaccurate") as seen:
        p.solve(max_time=30)
    assert {one.category for one in seen} == {UserWarning}
