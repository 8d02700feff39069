"""What an exact method knows about ill-posedness reaches the user, and an answer that contradicts is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.bounds import Bounds
from tiebreak.engines.answer import Answer
from tiebreak.files.write import plain
from tiebreak.methods.exact import Planned

NOTES = ("the rank of the data hangs on rounding",)


@pytest.fixture
def problem() -> tb.Problem:
    """The smallest point with x1 + x2 = 1: f* = 1/4."""
    return tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.Box(-2, 2))


def doubtful_engine(problem: tb.Problem, **changes: object) -> Planned:
    """The exact method with an engine whose last answer is changed: as a rule, to one that hangs on rounding."""
    choice = tb.plan(problem).choice
    changes = changes or {"well_posed": False, "notes": NOTES}

    def solve(task, patient):
        *first, last = choice.engine.solve(task, patient)
        return [*first, replace(last, **changes)]

    return Planned(replace(choice, engine=replace(choice.engine, solve=solve)))


@pytest.fixture
def doubtful(problem) -> tb.Result:
    """A successful run whose engine says that a decision hung on rounding."""
    return tb.solve(problem, doubtful_engine(problem))


def test_notes_and_well_posedness_reach_the_result(doubtful):
    assert doubtful.success and not doubtful.certificate.well_posed and doubtful.notes == NOTES
    assert NOTES[0] in repr(doubtful)
    assert plain(doubtful)["notes"] == list(NOTES) and plain(doubtful)["certificate"]["well_posed"] is False


def test_they_survive_the_disk(doubtful, tmp_path):
    doubtful.save(tmp_path / "run.npz")
    back = tb.Result.load(tmp_path / "run.npz")
    assert back.notes == NOTES and not back.certificate.well_posed
    assert (back.tol_upper, back.tol_lower) == (1e-4, 1e-4)


def test_a_chain_keeps_them(problem):
    chain = tb.Problem(tb.Linear([1.0, 0.0]), [problem.lower, problem.upper], problem.domain)
    result = tb.solve(chain, doubtful_engine(chain))
    assert len(result.levels) == 3 and result.success
    assert not result.certificate.well_posed and result.notes == NOTES and NOTES[0] in repr(result)


def test_a_well_posed_result_is_two_sided_and_says_nothing(problem):
    result = tb.solve(problem, "exact")
    assert result.certificate.well_posed and result.certificate.two_sided and not result.notes
    assert "note" not in repr(result)
    assert not tb.solve(problem, "cg-bio-anytime", max_iter=5).certificate.two_sided


@pytest.mark.parametrize(
    "wrong",
    [
        {"g_lower": 0.5, "g_upper": 0.6},
        {"g_lower": -2.0, "g_upper": -1.0},
        {"f_lower": 0.3, "f_upper": 0.2},
        {"f_lower": 0.5, "f_upper": 0.6},
        {"f_upper": np.nan},
        {"f_lower": -3.0, "f_upper": -2.0},
    ],
)
def test_an_answer_that_contradicts_is_refused(problem, wrong):
    """x = (1/2, 1/2) has g = 0 = g* and f = 1/4: each of these is false, and each is seen from the values alone."""
    x = np.full(2, 0.5)
    answer = replace(Answer(x, 0.0, 0.0, 0.25, 0.25), **wrong)
    with pytest.raises(ArithmeticError, match="contradicts"):
        Bounds(problem).adopt(answer, 0.25, 0.0)


def test_a_chain_below_an_optimum_is_no_success(problem):
    """A level that is known to be below its optimum by more than the tolerance contradicts the chain."""
    chain = tb.Problem(tb.Linear([1.0, 1.0]), [problem.lower, problem.upper], problem.domain)
    assert tb.solve(chain).success
    assert not tb.solve(chain, doubtful_engine(chain, g_lower=0.3, g_upper=0.4)).success  # the second is 1/4 at x
