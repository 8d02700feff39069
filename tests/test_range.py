"""Data beyond the range of doubles end a run in words; errors of what a user wrote go on as they are."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import tiebreak as tb
from tiebreak.numerics.failures import ARITHMETIC, LinearProgramError
from tiebreak.numerics.highs import Model
from tiebreak.numerics.spectrum import largest_eigenvalue

A = np.array([[1.0, 2.0, -1.0, 0.5], [0.5, -1.0, 3.0, 1.0], [2.0, 0.3, 0.7, -2.0]])
B = A[:, 0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("problem", "method"),
    [
        (tb.Problem(tb.L1Norm(), tb.Huber(A, B, 1.0), tb.LpBall(3.0, 1e-310)), "apb-apg"),
        (tb.Problem(tb.Huber(A, B, 1.0), tb.Linear(A[0]), tb.NuclearBall((2, 2), 1e154)), "fc-bio"),
    ],
)
def test_numbers_beyond_doubles_end_in_words(problem: tb.Problem, method: str) -> None:
    result = tb.solve(problem, method, max_iter=60, max_time=5.0)
    assert result.status is tb.Status.NONFINITE and "too large or too small" in result.message


def test_eigenvalues_and_rows_beyond_doubles() -> None:
    assert largest_eigenvalue(np.array([[1.0, np.inf], [np.inf, 1.0]])) == np.inf
    model = Model(sp.csr_array(A), -np.ones(3), np.ones(3), -np.ones(4), np.ones(4))
    with pytest.raises(LinearProgramError, match="does not take a row"):
        model.set_last_row(A[0], -1e300)
    model.set_last_row(A[0], 0.5)
    with pytest.raises(OverflowError), np.errstate(all="ignore"):
        tb.LpBall(3.0, 1e300).lmo_cut(A[0], 1e300 * A[1], 1.0)


@pytest.mark.parametrize("kind", ARITHMETIC)
def test_arithmetic_of_users_is_theirs(kind: type[Exception]) -> None:
    def value(x: np.ndarray) -> float:
        raise kind("mine")

    lower = tb.Function(value, np.copy, dim=4, convex=True, smoothness=1.0)
    with pytest.raises(kind, match="mine"):
        tb.solve(tb.Problem(tb.SquaredNorm(), lower, tb.L2Ball(1.0)), "big-sam")


def test_numpy_called_by_a_user_is_the_users() -> None:
    lower = tb.Function(lambda x: float(np.linalg.inv(np.zeros((2, 2)))[0, 0]), np.copy, dim=4, convex=True)
    with pytest.raises(np.linalg.LinAlgError):
        tb.solve(tb.Problem(tb.SquaredNorm(), lower, tb.L2Ball(1.0)), "a-irg")
