"""What success means: both tolerances proved, nothing known against the answer, and with slack a feasible point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.certificate import Certificate

PROVED = Certificate(g_lower=0.0, g_upper=0.0, lower_gap=1e-5, f_lower=1.0, f_upper=np.inf, upper_gap=1e-5)


@pytest.mark.parametrize(
    ("change", "success"),
    [
        ({}, True),
        ({"upper_gap": -0.9e-4}, True),
        ({"upper_gap": -1.1e-4}, False),
        ({"upper_gap": -1.0}, False),
        ({"upper_gap": 1.1e-4}, False),
        ({"upper_gap": np.inf}, False),
        ({"upper_gap": np.nan}, False),
        ({"lower_gap": 1.1e-4}, False),
        ({"lower_gap": -1.1e-4}, False),
        ({"stationarity": 0.5e-4, "upper_gap": 3.0}, True),
        ({"stationarity": 1.0, "upper_gap": 3.0}, False),
        ({"stationarity": -1.0, "upper_gap": 3.0}, False),
    ],
)
def test_the_rule(change, success):
    assert replace(PROVED, **change).shows(1e-4, 1e-4) is success


def test_with_slack_the_point_itself_is_feasible():
    assert replace(PROVED, lower_gap=0.5).shows(1e-4, 1e-4, slack=0.5)
    assert not replace(PROVED, lower_gap=0.50001).shows(1e-4, 1e-4, slack=0.5)


def _random_problem(seed: int, slack: float = 0.0) -> tb.Problem:
    rng = np.random.default_rng([7, seed])
    n = int(rng.integers(4, 10))
    domains = [
        tb.L2Ball(1.5), tb.LpBall(3, 1.0), tb.GroupBall(np.arange(n) // 2, 2.0), tb.L1Ball(2.0), tb.Box(-1, 1),
        tb.Simplex(), tb.Polyhedron(A_ub=rng.random((3, n)), b_ub=np.full(3, 2.0), bounds=(-1, 1)),
    ]  # fmt: skip
    lower = tb.LeastSquares(rng.standard_normal((n // 2, n)), rng.standard_normal(n // 2))
    uppers = [
        tb.LeastSquares(rng.standard_normal((n + 2, n)), rng.standard_normal(n + 2)),
        tb.SquaredNorm(center=rng.standard_normal(n)),
        tb.Linear(rng.standard_normal(n)),
    ]
    return tb.Problem(uppers[seed % 3], lower, domains[seed % len(domains)], slack=slack)


METHODS = ["auto", "cg-bio-anytime", "apb-apg", "fc-bio", "tikhonov", tb.CGBiO(), "apdb"]


@pytest.mark.parametrize("seed", range(14))
def test_no_success_is_contradicted_by_its_own_bounds(seed):
    problem = _random_problem(seed)
    method = METHODS[seed % len(METHODS)]
    result = tb.solve(problem, method, tol_upper=1e-2, tol_lower=1e-2, max_iter=300)
    c = result.certificate
    assert result.success == c.shows(1e-2, 1e-2)
    if result.success:
        assert result.f >= c.f_lower - 1e-2
    elif c.upper_gap < -1e-2:
        assert "below f*" in result.message and "no solution" in result.message


@pytest.mark.parametrize("seed", range(14))
def test_with_slack_successes_satisfy_it(seed):
    slack = 10.0 ** -(seed % 4)
    problem = _random_problem(seed, slack)
    method = ("auto", "cg-bio-anytime")[seed % 2]
    result = tb.solve(problem, method, tol_upper=1e-2, tol_lower=1e-2, max_iter=300)
    c = result.certificate
    if np.isfinite(c.f_upper):  # a feasible point is known, and so it is returned
        assert c.lower_gap <= slack and result.g <= c.g_lower + slack
        assert problem.domain.contains(result.x, 1e-9)
    assert not result.success or np.isfinite(c.f_upper)
    assert result.f == problem.upper.value(result.x) and result.g == problem.lower.value(result.x)


def test_a_slack_below_what_can_be_proved_is_no_success():
    rng = np.random.default_rng(0)
    g = tb.LeastSquares(rng.standard_normal((9, 6)), rng.standard_normal(9))  # g* > 0
    problem = tb.Problem(tb.SquaredNorm(), g, tb.L2Ball(1.0), slack=1e-15)
    result = tb.solve(problem, "cg-bio-anytime", max_iter=100, tol_upper=10.0, tol_lower=1.0)
    assert not result.success and "no point is proved to be within the slack" in result.message


def test_a_first_order_run_goes_on_until_f_is_no_longer_known_to_be_too_small():
    """The paper's algorithm with a coarse lower tolerance stops at a point below f*: the run asks it for more."""
    rng = np.random.default_rng(1)
    g = tb.LeastSquares(rng.standard_normal((4, 6)), rng.standard_normal(4))
    f = tb.LeastSquares(rng.standard_normal((8, 6)), rng.standard_normal(8))
    problem = tb.Problem(f, g, tb.L1Ball(1.0))
    tolerances = {"tol_upper": 1e-2, "tol_lower": 1e-2}
    fixed = tb.solve(problem, tb.CGBiO(tol_lower=1e-2), **tolerances)  # the user's: it may not be lowered
    assert not fixed.success and fixed.certificate.upper_gap < -5e-2 and "no solution" in fixed.message
    free = tb.solve(problem, tb.CGBiO(), **tolerances)
    assert free.success and free.state is not None and free.state.shrink < 1
    assert free.f >= free.certificate.f_lower - 1e-2


@pytest.mark.parametrize("method", [tb.APDB(), tb.SBCGI(), tb.SBCGF()], ids=lambda method: method.info.name)
def test_methods_with_a_lower_tolerance_can_be_asked_for_more(method):
    problem = _random_problem(0)
    state = method.start(problem, None)
    tighter = method.tightened(problem, state)
    assert tighter.shrink == pytest.approx(0.1 * state.shrink) and not tighter.finished
    assert method.advance(problem, tighter).k == 1


class _Astray(tb.Solver):
    """A method that leaves the domain by 1e-5: g there is below g*, and f is as small as can be."""

    needs = frozenset({"upper.grad", "lower.grad"})
    info = tb.CG.info

    def start(self, problem, x0):
        return tb.State(x=np.array([0.5, 0.5]))

    def advance(self, problem, state):
        return replace(state, k=state.k + 1, x=np.array([-1e-5, 0.5]))


def test_a_point_outside_the_domain_is_no_success():
    problem = tb.Problem(tb.SquaredNorm(center=[-1e-5, 0.5]), tb.Linear([1.0, 0.0]), tb.Box(0, 1))
    result = tb.solve(problem, _Astray(), max_iter=3)
    assert result.certificate.shows(1e-4, 1e-4)  # both gaps are tiny
    assert not result.success and "outside the domain, by 1e-05" in result.message
    assert not replace(result, success=True, status=tb.Status.CONVERGED).verify(problem).ok


def test_the_digits_case():
    """40 x 64 data over an L2 ball: f at the first point that shows both tolerances is 5 % below f*."""
    rng = np.random.default_rng(2)
    A = rng.integers(0, 17, (40, 64)) / 16.0
    y = np.where(A @ rng.standard_normal(64) > 0, 1.0, -1.0)
    problem = tb.Problem(tb.LeastSquares(A[20:], y[20:]), tb.LeastSquares(A[:20] / 20, y[:20] / 20), tb.L2Ball(2.0))
    result = tb.solve(problem, max_iter=3000)
    assert not result.success or result.f >= result.certificate.f_lower - 1e-4


def test_a_curve_says_which_points_are_not_proved():
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L2Ball(2.0))
    curve = tb.tradeoff(problem, [0.02, 0.08], "cg-bio-anytime", max_iter=2)
    assert not curve.proved.any() and repr(curve).count("not proved") == 2
    proved = tb.tradeoff(problem, [0.02, 0.08], "cg-bio-anytime", tol_upper=1e-1, tol_lower=1e-1)
    assert proved.proved.all() and "not proved" not in repr(proved)
    import matplotlib

    matplotlib.use("Agg")
    assert "not proved" in curve.plot().get_legend_handles_labels()[1]
    assert "not proved" not in proved.plot().get_legend_handles_labels()[1]
