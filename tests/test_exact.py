"""The exact method inside the library: chosen by auto, proved, relaxed, in chains, along the trade-off curve."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.lab.experiments import regression, toy
from tiebreak.methods.exact import Planned


def test_auto_takes_it_and_says_why() -> None:
    result = tb.solve(toy.problem(), tol_upper=1e-9, tol_lower=1e-9)
    assert result.success and result.method == "exact" and "Method: exact" in result.message
    np.testing.assert_allclose(result.x, toy.SOLUTION, atol=1e-12)
    c = result.certificate
    assert c.f_lower <= toy.F_STAR <= c.f_upper + 1e-15 and c.f_upper - c.f_lower <= 1e-12
    assert c.lower_unique is False
    assert result.verify(toy.problem()).ok


def test_iterate_reaches_the_answer() -> None:
    states = list(tb.iterate(toy.problem()))
    assert [state.k for state in states] == [0, 1]
    np.testing.assert_allclose(states[-1].x, toy.SOLUTION, atol=1e-12)


def test_auto_says_why_not() -> None:
    disk = tb.L2Ball(2.0)
    blind = tb.FromOracles(lmo=disk.lmo, project=disk.project, contains=disk.contains, diameter=4.0, dim=2)
    ball = tb.Problem(tb.SquaredNorm(), tb.Huber([[1.0, 1.0]], [1.0], 1.0), blind)
    result = tb.solve(ball, tol_upper=1e-2, tol_lower=1e-2)
    assert result.success and result.method == "apb-apg" and "does not apply" in result.message
    relaxed = tb.solve(ball.with_slack(0.01), tol_upper=1e-2, tol_lower=1e-2)
    assert relaxed.success and relaxed.method == "cg-bio-anytime"
    rough = tb.Function(lambda x: 0.5 * float(x @ x), lambda x: x, dim=2, convex=True)
    assert tb.solve(tb.Problem(rough, ball.lower, ball.domain), max_iter=5).method == "apb-apg"  # by backtracking
    with pytest.raises(ValueError, match="does not apply"):
        tb.solve(ball, "exact")


def test_it_says_when_the_second_objective_has_no_say() -> None:
    """An active l1 constraint: the paper's regression has f constant on the lower solutions."""
    result = tb.solve(regression.diabetes(1.0), tol_upper=1e-9, tol_lower=1e-9)
    assert result.success and result.certificate.upper_constant
    assert "no say" in result.message


@pytest.mark.parametrize("domain", [tb.L1Ball(2.0), tb.Box(-np.ones(2), np.ones(2))])
@pytest.mark.parametrize("delta", [1e-3, 0.1, 0.5])
def test_slack_against_the_closed_form(domain: tb.Domain, delta: float) -> None:
    """Least norm with |x1 + x2 - 1| <= delta: f* = (1 - delta)^2 / 4, price (1 - delta) / (2 delta)."""
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), domain, slack=delta**2 / 2)
    result = tb.solve(problem, "exact", tol_upper=1e-8, tol_lower=1e-9)
    c = result.certificate
    f_star = (1 - delta) ** 2 / 4
    assert result.success and c.f_lower <= f_star + 1e-15 and f_star <= c.f_upper + 1e-15
    assert c.f_upper - c.f_lower <= 1e-9
    assert c.multiplier == pytest.approx((1 - delta) / (2 * delta), rel=1e-3)


def test_a_slack_that_frees_f_gives_its_minimum() -> None:
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0), slack=2.0)
    result = tb.solve(problem, "exact")
    np.testing.assert_allclose(result.x, 0.0, atol=1e-12)


def test_a_slack_where_a_lower_solution_already_minimises_f() -> None:
    problem = tb.Problem(tb.SquaredNorm([0.5, 0.5]), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0), slack=0.1)
    assert tb.solve(problem, "exact").f == pytest.approx(0.0, abs=1e-20)


def test_linear_lower_level_with_slack() -> None:
    """The toy with x1 + x2 >= 1 - eps: the answer moves to (0.6, 0.4 - eps), so v(eps) = -0.08 - 0.1 eps."""
    curve = tb.tradeoff(toy.problem(), slacks=[1e-3, 1e-2, 1e-1])
    np.testing.assert_allclose(curve.f, -0.08 - 0.1 * curve.slacks, atol=1e-12)
    np.testing.assert_allclose(curve.multipliers, 0.1, atol=1e-6)
    assert (curve.f_lower <= curve.f + 1e-15).all() and (curve.f_upper >= curve.f - 1e-12).all()


def test_tradeoff_default_grid_brackets_and_plot() -> None:
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    curve = tb.tradeoff(problem)
    exact = (1 - np.minimum(np.sqrt(2 * curve.slacks), 1)) ** 2 / 4
    assert (curve.f_lower <= exact + 1e-12).all() and (exact <= curve.f_upper + 1e-12).all()
    assert (np.diff(curve.f) <= 1e-12).all() and "slack" in repr(curve)
    import matplotlib

    matplotlib.use("Agg")
    axes = curve.plot()
    assert axes.get_xscale() == "log" and "slack" in axes.get_xlabel() and len(axes.get_lines()) == 1
    assert "wide" in axes.get_legend_handles_labels()[1][0]
    assert curve.plot(axes) is axes
    with pytest.raises(ValueError, match="positive"):
        tb.tradeoff(problem, slacks=[0.0])
    flat = tb.Problem(tb.SquaredNorm([0.5, 0.5]), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    with pytest.raises(ValueError, match="nothing to trade"):
        tb.tradeoff(flat)


def test_slacks_share_what_they_find() -> None:
    """Logistic loss and fairness as a squared covariance: the same curve as slack by slack, with fewer solves."""
    rng = np.random.default_rng(0)
    A, group = rng.normal(size=(80, 8)), rng.random(80) < 0.5
    labels = np.where(A @ rng.normal(size=8) + group + rng.normal(size=80) > 0, 1, -1)
    fairness = tb.LeastSquares(((group - group.mean()) @ A)[None] / 80, [0.0])
    problem = tb.Problem(fairness, tb.Logistic(A, labels), tb.L1Ball(3.0))
    choice = tb.plan(problem).choice
    solves: list[object] = []

    def counted(task):
        minimise = choice.engine.minimiser(task)
        return lambda objective: solves.append(objective) or minimise(objective)

    def method() -> Planned:
        solves.clear()
        return Planned(replace(choice, engine=replace(choice.engine, minimiser=counted)))

    slacks = np.geomspace(1e-6, 1e-2, 8)
    tight = {"tol_upper": 1e-9, "tol_lower": 1e-9}
    alone, without = [], 0
    for slack in slacks:
        alone.append(tb.solve(problem.with_slack(slack), method(), **tight))
        without += len(solves)
    curve = tb.tradeoff(problem, slacks, method(), **tight)
    assert len(solves) <= 0.6 * without
    np.testing.assert_allclose(curve.f, [result.f for result in alone], rtol=1e-9, atol=1e-14)
    assert all(result.success for result in curve.results)


def test_tradeoff_with_a_first_order_method_still_brackets() -> None:
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L2Ball(2.0))
    curve = tb.tradeoff(problem, slacks=[0.02, 0.08], tol_upper=1e-3, tol_lower=1e-3)
    exact = (1 - np.sqrt(2 * curve.slacks)) ** 2 / 4
    assert (curve.f_lower <= exact).all() and (exact <= curve.f_upper).all()


def test_chain_of_three_levels() -> None:
    served, cost, spread = tb.Linear([-1.0, -1.0, -1.0]), tb.Linear([1.0, 1.0, 2.0]), tb.SquaredNorm(dim=3)
    supply = tb.Polyhedron(A_ub=[[1.0, 1.0, 1.0]], b_ub=[2.0], bounds=(0, 2))
    chain = tb.lexicographic([served, cost, spread], supply)
    assert chain.success and [level.value for level in chain.levels] == pytest.approx([-2.0, 2.0, 1.0])
    assert all(level.lower <= level.value + 1e-12 and level.gap <= 1e-9 for level in chain.levels)
    assert "level 3" in repr(chain)


def test_chain_of_two_levels_over_an_l1_ball_and_refusals() -> None:
    levels = [tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.SquaredNorm()]
    chain = tb.lexicographic(levels, tb.L1Ball(2.0))
    np.testing.assert_allclose(chain.x, 0.5, atol=1e-10)
    for domain in (tb.L1Ball(2.0), tb.Simplex()):
        assert tb.lexicographic([*levels, tb.Logistic(np.eye(2), [0, 1])], domain).success
    opaque = tb.Function(lambda x: float(x @ x), lambda x: 2 * x, dim=2, convex=True)
    with pytest.raises(ValueError, match="no exact method"):
        tb.lexicographic([*levels, opaque], tb.L1Ball(2.0))
    with pytest.raises(ValueError, match=r"no exact method: .*level 2: Function"):
        tb.lexicographic([*levels, opaque], tb.Simplex())
    with pytest.raises(TypeError, match="levels"):
        tb.lexicographic([], tb.L1Ball(2.0))
