"""A stream of tasks: every way of learning the next one against linear algebra and a conic solver."""

from __future__ import annotations

from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import tiebreak as tb
from tiebreak.lab.experiments import lifelong as problems
from tiebreak.lab.reproduce import lifelong
from tiebreak.lab.reproduce.outcome import Outcome, Request
from tiebreak.lab.workshop import Workshop


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return lifelong.run(Request(Workshop(Path(tmp_path_factory.mktemp("lifelong"))), size="quick"))


def test_memory_is_fitted_and_less_is_forgotten(outcome: Outcome) -> None:
    assert [claim.holds for claim in outcome.claims] == [True]
    assert [one.holds for one in outcome.additions] == [None, None]  # one seed
    assert "0 solves without proof" in outcome.claims[0].here


def test_plain_training_moves_as_little_as_possible() -> None:
    """The nearest least-squares solution is a pseudo-inverse away."""
    task = problems.digit_tasks(features=60, rows=40)[1]
    before = np.random.default_rng(0).normal(size=60) / 10
    nearest = before + np.linalg.pinv(task.A) @ (task.y - task.A @ before)
    np.testing.assert_allclose(tb.solve(problems.plain(task, before)).x, nearest, atol=1e-8)


def test_bilevel_and_a_gem_against_a_conic_solver() -> None:
    tasks = problems.digit_tasks(features=40, rows=60)
    A, y = problems.remembered(tasks[:2], rows=8)
    problem = problems.problem((A, y), tasks[2])
    x = cp.Variable(40)
    loss = cp.sum_squares(tasks[2].A @ x - tasks[2].y) / 120
    told = cp.Problem(cp.Minimize(loss), [A @ x == y, cp.abs(x) <= 30]).solve(solver=cp.CLARABEL)
    assert tb.solve(problem).f == pytest.approx(told, rel=1e-6)
    relaxed = cp.Problem(cp.Minimize(loss), [cp.sum_squares(A @ x - y) / 32 <= 0.01, cp.abs(x) <= 30])
    assert tb.solve(problem.with_slack(0.01)).f == pytest.approx(relaxed.solve(solver=cp.CLARABEL), rel=1e-5)


def test_forgetting_by_hand() -> None:
    made = {"accuracy": np.array([[0.9, 0.5, 0.5], [0.7, 0.8, 0.5], [0.6, 0.7, 1.0]])}
    np.testing.assert_allclose(lifelong.forgetting(made), [0, 0.2, (0.3 + 0.1) / 2])
    np.testing.assert_allclose(lifelong.seen_accuracy(made), [0.9, 0.75, 2.3 / 3])
