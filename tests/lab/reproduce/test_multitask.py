"""Representation learning: the problem against its definition, and what the runs show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.lab.experiments import multitask as problems
from tiebreak.lab.reproduce import multitask
from tiebreak.lab.reproduce.outcome import Outcome, Request
from tiebreak.lab.workshop import Workshop


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return multitask.run(Request(Workshop(Path(tmp_path_factory.mktemp("multitask"))), size="quick"))


def test_the_representation_is_completed(outcome: Outcome) -> None:
    assert [claim.holds for claim in outcome.claims] == [None, None]  # one seed
    assert all(min(claim.evidence.margins) > 0 for claim in outcome.claims)
    assert len(outcome.panels) == 4


def test_both_levels_are_the_sums_of_the_paper() -> None:
    one = problems.world(1, d=5, k=3, tasks=4, rows=6)
    rng = np.random.default_rng(0)
    heads = rng.normal(size=(4, 3))
    problem = problems.problem_from(one, heads, delta=1.0, bound=3.0)
    B, w = rng.normal(size=(5, 3)), rng.normal(size=3)
    x = problem.domain.join({"B": B, "w": w})
    old = sum(
        (y - w_i @ B.T @ row) ** 2
        for t, w_i in zip(one.old, heads, strict=True)
        for row, y in zip(t.X, t.y, strict=True)
    )
    new = sum((y - w @ B.T @ row) ** 2 for row, y in zip(one.new.X, one.new.y, strict=True))
    assert problem.lower.value(x) == pytest.approx(0.5 * old)
    assert problem.upper.value(x) == pytest.approx(0.5 * new)
    tb.check_gradient(problem.upper, x)


def test_training_leaves_one_direction_open() -> None:
    one = problems.world(0)
    B, heads = problems.trained(one, 4, delta=1.0, bound=np.inf)
    fitted = sum(task.error(B, w) for task, w in zip(one.old, heads, strict=True))
    assert fitted < 1e-3 * sum(0.5 * float(task.y @ task.y) for task in one.old)
    assert np.abs(heads).sum(axis=1).max() == pytest.approx(1.0)
    assert problems.missed(B, one.B[:, :3]) < 0.05
    assert problems.missed(B, one.B) > 0.9


def test_bound_of_the_training_is_kept() -> None:
    B, _ = problems.trained(problems.world(0), 4, delta=1.0, bound=0.5, rounds=5)
    assert np.linalg.norm(B) == pytest.approx(0.5)
