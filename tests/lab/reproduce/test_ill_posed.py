"""What a second objective selects on integral equations; their discretisation is tested in test_families."""

from __future__ import annotations

from pathlib import Path

import clarabel
import numpy as np
import pytest
from scipy import sparse

import tiebreak as tb
from tiebreak.lab.experiments import ill_posed as problems
from tiebreak.lab.reproduce import ill_posed
from tiebreak.lab.reproduce.outcome import Outcome, Request
from tiebreak.lab.workshop import Workshop


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return ill_posed.run(Request(Workshop(Path(tmp_path_factory.mktemp("ill-posed"))), size="quick"))


def test_what_is_claimed(outcome: Outcome) -> None:
    """Minimum norm: yes. Selection without slack under noise: no. With a slack: yes."""
    assert [one.holds for one in (*outcome.claims, *outcome.additions)] == [True, True, True]
    assert len(outcome.panels) == 6


def test_smallest_of_many_solutions() -> None:
    problem, x = problems.rank_deficient(3)
    A, b = problem.lower.A, problem.lower.b
    np.testing.assert_allclose(x, np.linalg.pinv(A, rcond=1e-10) @ b, atol=1e-12)
    np.testing.assert_allclose(tb.solve(problem).x, x, atol=1e-9)


def test_slack_against_a_conic_solver() -> None:
    """Smallest x with ||A x - b|| <= the discrepancy, as a second-order cone problem."""
    one = problems.equation("foxgood", 16)
    problem = problems.problem(one, problems.selection("smallest", 16))
    plain = tb.solve(problem)
    slack = one.discrepancy - plain.g
    found = tb.solve(problem.with_slack(slack))
    n = 16
    radius = np.sqrt(2 * (plain.g + slack))
    A = sparse.csc_matrix(np.vstack([np.eye(n), -np.eye(n), np.zeros((1, n)), -one.A]))
    right = np.concatenate([np.full(n, 10.0), np.zeros(n), [radius], -one.b])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.NonnegativeConeT(2 * n), clarabel.SecondOrderConeT(n + 1)]
    other = clarabel.DefaultSolver(sparse.eye(n, format="csc"), np.zeros(n), A, right, cones, settings).solve()
    assert found.f == pytest.approx(other.obj_val, rel=1e-5)


def test_unknown_selection_is_told() -> None:
    with pytest.raises(ValueError, match="kind must be"):
        problems.selection("prettiest", 4)
