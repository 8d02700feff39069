"""Slack of levels before the last lower one, against linear programmes with the same constraint written by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import tiebreak as tb


def polytope(rng: np.random.Generator, n: int, m: int) -> tuple[tb.Polyhedron, np.ndarray, np.ndarray]:
    A = rng.integers(-3, 4, (m, n)).astype(float)
    b = A @ rng.random(n) + rng.integers(0, 2, m)
    return tb.Polyhedron(A_ub=A, b_ub=b, bounds=(0, 2)), A, b


@pytest.mark.parametrize("seed", range(8))
def test_two_linear_levels_with_slack_against_rows_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    Z, A, b = polytope(rng, n, n // 2)
    first, second, last = (rng.integers(-4, 5, n).astype(float) for _ in range(3))
    slack = [float(rng.choice([0.25, 1.5])), float(rng.choice([0.0, 0.5]))]
    result = tb.lexicographic([tb.Linear(c) for c in (first, second, last)], Z, slack=slack, tol_upper=1e-8)
    assert result.success, result.message
    for c, more in zip((first, second), slack, strict=True):
        value = linprog(c, A, b, bounds=(0, 2)).fun
        A, b = np.vstack([A, c]), np.append(b, value + more + 1e-11)
    assert result.f == pytest.approx(linprog(last, A, b, bounds=(0, 2)).fun, abs=1e-6)
    assert first @ result.x <= result.levels[0].upper + slack[0] + 1e-12
    problem = tb.Problem(tb.Linear(last), [tb.Linear(first), tb.Linear(second)], Z, slack)
    assert result.verify(problem).ok, result.verify(problem).complaints


def test_a_share_of_the_optimum_and_a_level_in_between() -> None:
    cost, emissions = tb.Linear([1.0, 2.0, 3.0, 1.5]), tb.Linear([3.0, 1.0, 0.5, 2.0])
    Z = tb.Polyhedron(A_eq=np.ones((1, 4)), b_eq=[2.0], bounds=(0, 1))
    levels = [tb.Linear(np.zeros(4)), cost, emissions, tb.SquaredNorm(dim=4)]
    result = tb.lexicographic(levels, Z, relative_slack=[0.0, 0.1, 0.0])
    assert result.success and len(result.levels) == 4
    assert result.levels[1].value == pytest.approx(2.75) and result.levels[1].upper == pytest.approx(2.5)
    assert any("the slack of level 2 counts from" in one for one in result.certificate.assumes)
    assert result.verify(tb.Problem(levels[-1], levels[:-1], Z, relative_slack=[0.0, 0.1, 0.0])).ok


def test_the_plan_says_so() -> None:
    problem = tb.Problem(
        tb.SquaredNorm(), [tb.Linear([1.0, 2.0]), tb.Linear([2.0, 1.0])], tb.Box(0, 1), slack=[1.0, 0.0]
    )
    made = tb.plan(problem)
    assert made.method == "exact" and "become constraints" in repr(made) and "slack 1" in repr(made)


def test_what_cannot_have_slack_there() -> None:
    levels = [tb.LeastSquares(np.eye(2), [1.0, 1.0]), tb.Linear([2.0, 1.0]), tb.SquaredNorm()]
    with pytest.raises(ValueError, match="only linear levels can have slack there"):
        tb.lexicographic(levels, tb.Box(0, 1), slack=[1.0, 0.0])
    with pytest.raises(ValueError, match="needs a set with rows"):
        tb.lexicographic([tb.Linear([1.0, 1.0]), *levels[1:]], tb.L1Ball(1.0), slack=[1.0, 0.0])
    with pytest.raises(ValueError, match="too wide for a slack"):
        tb.lexicographic([tb.Linear([1.0, 0.3]), *levels[1:]], tb.Box(0.1, 1), slack=[1e-300, 0.0])
