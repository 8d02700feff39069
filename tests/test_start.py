"""A run never returns something worse than the start it was given, and has no limit on updates unless asked."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest

import tiebreak as tb

A = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 2.0]])
LOWER = tb.LeastSquares(A, [1.0, 2.0])
PROBLEM = tb.Problem(tb.SquaredNorm(), LOWER, tb.Box(-2, 2))
BEST = np.linalg.lstsq(A, [1.0, 2.0], rcond=None)[0]


def test_time_is_the_limit():
    assert inspect.signature(tb.solve).parameters["max_iter"].default is None
    hard = tb.Problem(tb.SquaredNorm(), LOWER, tb.Box(-2, 2))
    result = tb.solve(hard, "a-irg", max_time=0.3, tol_upper=1e-12, tol_lower=1e-12)
    assert result.status == "max_time" and result.nit > 10
    assert tb.solve(hard, "a-irg", max_iter=7, tol_upper=1e-12, tol_lower=1e-12).nit == 7
    with pytest.raises(ValueError, match="max_iter"):
        tb.solve(hard, max_iter=0)


@pytest.mark.parametrize("method", ["a-irg", "cg-bio", "big-sam", "dbgd", "tikhonov", "ir-cg"])
@pytest.mark.parametrize("updates", [1, 3, 30])
def test_a_start_at_the_solution_is_not_lost(method, updates):
    result = tb.solve(PROBLEM, method, x0=BEST, max_iter=updates, tol_upper=1e-9, tol_lower=1e-9)
    assert not (LOWER.value(BEST) <= result.g and PROBLEM.upper.value(BEST) < result.f)
    assert not (LOWER.value(BEST) < result.g and PROBLEM.upper.value(BEST) <= result.f)


def test_a_start_that_is_better_in_both_levels_is_returned():
    class Worse(tb.Solver):
        """Walks away from everything."""

        info = replace(tb.CGBiO.info, name="worse")
        needs = frozenset({"domain.lmo"})

        def start(self, problem, x0):
            return tb.State(x=x0)

        def advance(self, problem, state):
            return tb.State(x=problem.domain.lmo(-np.ones(3)), k=state.k + 1)

    result = tb.solve(PROBLEM, Worse(), x0=BEST, max_iter=5, tol_upper=1e-9, tol_lower=1e-9)
    assert np.array_equal(result.x, BEST) and result.f == PROBLEM.upper.value(BEST)
    assert "x0 is better" in result.message and not result.success
    assert result.certificate.upper_gap == result.f - result.certificate.f_lower
    away = tb.solve(PROBLEM, Worse(), x0=np.full(3, 2.0), max_iter=5, tol_upper=1e-9, tol_lower=1e-9)
    assert "x0 is better" not in away.message


def test_a_start_that_the_bounds_prove_in_the_end_is_a_success():
    """Lower bounds of zero on both levels: the start is a solution, which the first look does not yet miss."""
    problem = tb.Problem(tb.SquaredNorm(np.ones(2)), tb.LeastSquares([[1.0, -1.0]], [0.0]), tb.Box(-2, 2))
    result = tb.solve(problem, "dbgd", x0=np.ones(2), max_iter=3, tol_upper=1e-9, tol_lower=1e-9)
    assert result.success and np.array_equal(result.x, np.ones(2))


def test_with_slack_a_feasible_start_is_kept():
    problem = PROBLEM.with_slack(0.1)
    exact = tb.solve(problem, tol_upper=1e-8, tol_lower=1e-8)
    rough = tb.solve(problem, "a-irg", x0=exact.x, max_iter=2, tol_upper=1e-9, tol_lower=1e-9)
    assert rough.f <= exact.f + 1e-9 or rough.certificate.lower_gap > 0.1
