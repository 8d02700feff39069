"""Problems prepared once: the loops against exact solves, what they refuse, and what goes to ``solve``."""

from __future__ import annotations

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.kernels import wanted
from tiebreak.prepared.hierarchy import DONE, DOUBT, search
from tiebreak.prepared.tasks import in_rows

TOL = {"tol_upper": 1e-9, "tol_lower": 1e-9}


def looped(problem: tb.Problem, x0: np.ndarray | None = None) -> tuple[int, np.ndarray]:
    """The loops, uncompiled: how they ended, and x."""
    made = in_rows(problem)
    x = np.zeros(problem.dim) if x0 is None else x0 * made.roots
    b = np.concatenate([np.zeros(0), *made.sides])[: made.tasks.starts[-1]] * made.scales
    ended, _ = search(made.tasks, b, x, np.empty(problem.dim), 500)
    return ended, x / made.roots


def tasks(seed: int) -> tb.Problem:
    """Tasks for a few joints: out of reach or not, dependent or not, of one joint or of all, with ends of all kinds."""
    rng = np.random.default_rng([5, seed])
    n, kind = int(rng.integers(3, 7)), seed % 6
    levels: list[tb.Objective] = []
    for _ in range(int(rng.integers(1, 4))):
        A = rng.integers(-3, 4, (int(rng.integers(1, n if kind == 3 else 3)), n)).astype(float)
        A[:, 0] += A[:, 0] == 0
        if kind == 1:
            A[:, rng.random(n) < 0.5] = 0.0
            A[:, 0] += A[:, 0] == 0
        if kind == 2:
            A = np.vstack([A, A[0]])
        b = A @ rng.uniform(-1.2, 1.2, n) + rng.normal(size=len(A))
        levels.append(tb.LeastSquares(A, b, weights=rng.uniform(0.5, 2, len(A)) if kind == 4 else None))
    low, high = -rng.uniform(0.5, 1.5, n), rng.uniform(0.5, 1.5, n)
    if kind == 5:
        low[0], high[1] = -np.inf, low[1]
    weights = rng.uniform(0.5, 2, n) if kind == 4 else None
    return tb.Problem(tb.SquaredNorm(0.2 * rng.normal(size=n), weights=weights), levels, tb.Box(low, high))


@pytest.mark.parametrize("seed", range(24))
def test_the_loops_find_what_an_exact_solve_finds(seed: int) -> None:
    problem = tasks(seed)
    found = tb.solve(problem, **TOL)
    ended, x = looped(problem)
    assert ended in (DONE, DOUBT) and found.success
    if ended == DONE:
        np.testing.assert_allclose(x, found.x, atol=1e-8)
        ended, again = looped(problem, x)
        assert ended == DOUBT or np.abs(again - x).max() < 1e-9


def test_few_are_refused() -> None:
    assert sum(looped(tasks(seed))[0] == DONE for seed in range(24)) >= 20


def test_a_row_whose_columns_are_all_at_ends_is_no_row_any_more() -> None:
    # K of that row is rounding then, which is to be measured against the row, not against itself
    first, second = tb.LeastSquares([[1.7516, 0.0, 0.0]], [1.89179]), tb.LeastSquares([[-0.11, 1.3, 0.07]], [-0.54])
    problem = tb.Problem(tb.SquaredNorm(dim=3), [first, second], tb.Box(-0.42972, 0.42972))
    ended, x = looped(problem)
    assert ended == DONE
    np.testing.assert_allclose(x, tb.solve(problem, **TOL).x, atol=1e-9)


def test_a_column_that_no_row_of_a_level_has_is_not_held_by_it() -> None:
    # its multiplier there is zero, and rounding is not to be taken for a push: doubt, or the right answer
    first = tb.LeastSquares([[1.0, 1.0, 0.3]], [1.4])
    second = tb.LeastSquares([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]], [3.0, 2.0])
    problem = tb.Problem(tb.SquaredNorm([-2.0, 0.0, 0.0]), [first, second], tb.Box(-0.6, 1.0))
    ended, x = looped(problem)
    assert ended == DOUBT or np.abs(x - tb.solve(problem, **TOL).x).max() < 1e-9


def test_numbers_only() -> None:
    problem = tasks(0)
    made = in_rows(problem)
    b = np.full(made.tasks.starts[-1], np.nan)
    assert search(made.tasks, b, np.zeros(problem.dim), np.empty(problem.dim), 500)[0] == DOUBT
    prepared = tb.prepare(problem)
    assert prepared.because == "" or not wanted()
    with pytest.raises(ValueError, match=r"b\[0\]"):
        prepared.solve(b=[b[: made.sides[0].size], *[None] * (len(made.sides) - 1)])
    with pytest.raises(ValueError, match="one entry for each"):
        prepared.solve(b=[None])
    with pytest.raises(ValueError, match=r"b\[0\]"):
        prepared.solve(b=[[1.0] * 50, *[None] * (len(made.sides) - 1)])


def test_right_hand_sides_and_centres() -> None:
    A, b = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]]), np.array([1.0, 0.5])
    prepared = tb.prepare(tb.Problem(tb.SquaredNorm(dim=3), tb.LeastSquares(A, [0.0, 0.0]), tb.Box(-1.0, 1.0)))
    for sides in ([b, None], [b, [0.5, 0.0, -0.5]], [None, [1.0, 1.0, 1.0]], None):
        answer = prepared.solve(b=sides, x0=[0.1, 0.2, 0.3])
        lower = tb.LeastSquares(A, b if sides and sides[0] is not None else np.zeros(2))
        upper = tb.SquaredNorm(sides[1] if sides and sides[1] is not None else np.zeros(3))
        np.testing.assert_allclose(answer.x, tb.solve(tb.Problem(upper, lower, tb.Box(-1.0, 1.0)), **TOL).x, atol=1e-8)
        assert answer.result.success and np.array_equal(answer.result.x, answer.x)
        assert answer.result.f == pytest.approx(upper.value(answer.x))


@pytest.mark.parametrize(
    ("domain", "lower", "why"),
    [
        (tb.Simplex(1.0), tb.LeastSquares([[1.0, 2.0]], [1.5]), "no box"),
        (tb.Box(-1, 1), tb.Linear([1.0, 1.0]), "no least squares"),
        (tb.Box(-1, 1), tb.LeastSquares([[1.0, 2.0]], [1.0]) + tb.Linear([1.0, 1.0]), "no least squares"),
    ],
)
def test_whatever_else_is_solved_too(domain: tb.Domain, lower: tb.Objective, why: str) -> None:
    prepared = tb.prepare(tb.Problem(tb.SquaredNorm(dim=2), lower, domain))
    assert why in prepared.because or not wanted()
    answer = prepared.solve()
    assert answer.steps == 0 and answer.result.success and answer.x is answer.result.x
    if not isinstance(lower, tb.LeastSquares):
        with pytest.raises(ValueError, match=r"b\[0\] must be None"):
            prepared.solve(b=[[1.0], None])


def test_a_wrong_point_is_not_proved() -> None:
    from tiebreak.prepared import at

    problem = tasks(0)
    found = tb.solve(problem, **TOL)
    assert at(found.x, found, problem).success
    wrong = at(np.clip(found.x + 1e-3, problem.domain.lower, problem.domain.upper), found, problem)
    assert not wrong.success and wrong.status == "stalled" and "not proved" in wrong.message
