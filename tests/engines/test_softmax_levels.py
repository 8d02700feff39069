"""Softmax as a level of a chain: closed forms, 45 digits, and minima that are not attained."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import tiebreak as tb
from fractional import dot, fractions
from tiebreak.engines.answer import Unbounded
from tiebreak.engines.smooth.curves import most_nearby
from tiebreak.engines.smooth.level import SmoothLevel
from tiebreak.engines.smooth.refuses import smooth_apply
from tiebreak.engines.smooth.solve import solve_smooth_chain
from tiebreak.numerics.extended import double, ext

pytest.importorskip("mpmath")
soundness = pytest.importorskip("smooth_soundness")

INF = np.inf
SPACE = {"lower": -INF, "upper": INF}


def ray_of(levels: list[tb.Objective], dim: int) -> Unbounded:
    with pytest.raises(Unbounded) as found:
        solve_smooth_chain(levels, tb.Box(**SPACE, dim=dim))
    return found.value


# -- closed forms ---------------------------------------------------------------------------------------------------


def test_frequencies_in_closed_form() -> None:
    """Probabilities are the frequencies 1/7, 2/7, 4/7, so scores are their logs, and sum to zero above."""
    f = tb.Softmax(np.ones((7, 1)), [0, 1, 1, 2, 2, 2, 2])
    result = tb.solve(tb.Problem(tb.SquaredNorm(dim=3), f))
    logs = np.log([1.0, 2.0, 4.0])
    entropy = math.log(7) - 10 * math.log(2) / 7
    np.testing.assert_allclose(result.x, logs - logs.mean(), atol=1e-15)
    assert result.success and result.certificate.g_lower <= entropy + 1e-15
    assert entropy - 1e-15 <= result.certificate.g_upper <= result.certificate.g_lower + 1e-14
    assert result.certificate.lower_unique is False  # the same may be added to all classes
    assert result.certificate.f_lower <= math.log(2) ** 2 <= result.certificate.f_upper
    assert result.certificate.f_upper - result.certificate.f_lower <= 1e-14


def test_two_classes_are_logistic() -> None:
    rng = np.random.default_rng(0)
    A, y = rng.integers(-3, 4, (30, 3)).astype(float), rng.integers(0, 2, 30)
    two = solve_smooth_chain([tb.Softmax(A, y)], tb.Box(**SPACE, dim=6))[0]
    one = solve_smooth_chain([tb.Logistic(A, y)], tb.Box(**SPACE, dim=3))[0]
    assert max(two.f_lower, one.f_lower) <= min(two.f_upper, one.f_upper) and two.width <= 1e-14
    np.testing.assert_allclose(two.x[1::2] - two.x[::2], one.x, rtol=1e-12)


def test_a_column_twice_is_shared_evenly() -> None:
    rng = np.random.default_rng(1)
    A, y = rng.integers(-2, 3, (25, 2)).astype(float), rng.integers(0, 3, 25)
    answers = solve_smooth_chain([tb.Softmax(np.c_[A, A[:, 0]], y), tb.SquaredNorm(dim=9)], tb.Box(-4, 4, dim=9))
    X = answers[-1].x.reshape(3, 3)
    np.testing.assert_allclose(X[0], X[2], atol=1e-14)
    np.testing.assert_allclose(X.sum(axis=1), 0, atol=1e-14)
    assert answers[-1].width <= 1e-13 and answers[-1].lower_unique is False


def test_above_other_levels_and_with_bounds_that_make_it_unique() -> None:
    rng = np.random.default_rng(2)
    A, y = rng.integers(-2, 3, (25, 2)).astype(float), rng.integers(0, 3, 25)
    sums = tb.LeastSquares(np.kron(np.eye(2), np.ones(3)), [1.0, -1.0])
    answers = solve_smooth_chain([sums, tb.Softmax(A, y), tb.Linear(np.ones(6))], tb.Box(-9, 9, dim=6))
    alone = solve_smooth_chain([tb.Softmax(A, y)], tb.Box(**SPACE, dim=6))[0]
    assert answers[-1].lower_unique is True and answers[1].width <= 1e-13
    assert answers[1].f_lower <= alone.f_upper and alone.f_lower <= answers[1].f_upper
    np.testing.assert_allclose(answers[-1].x.reshape(2, 3).sum(axis=1), [1, -1], atol=1e-14)


# -- no minimum -----------------------------------------------------------------------------------------------------


def moved(A: np.ndarray, ray: np.ndarray, classes: int) -> np.ndarray:
    """The scores along a ray, exactly."""
    columns = np.asarray(ray).reshape(-1, classes).T
    return np.array([[dot(row, fractions(column)) for column in columns] for row in A])


def test_classes_that_can_be_separated_have_no_minimum() -> None:
    rng = np.random.default_rng(3)
    A = rng.standard_normal((30, 3))
    y = np.argmax(A @ rng.standard_normal((3, 3)), axis=1)
    stop = ray_of([tb.Softmax(A, y), tb.SquaredNorm(dim=9)], 9)
    scores = moved(A, stop.ray, 3)
    assert not stop.for_ever
    for row, label in zip(scores, y, strict=True):
        assert all(row[label] >= other for other in row) and max(row) > min(row)
    result = tb.solve(tb.Problem(tb.SquaredNorm(dim=9), tb.Softmax(A, y)))
    assert result.status is tb.Status.UNBOUNDED and "not attained" in result.message
    boxed = solve_smooth_chain([tb.Softmax(A, y), tb.SquaredNorm(dim=9)], tb.Box(-3, 3, dim=9))
    assert boxed[-1].width <= 1e-10


def test_a_class_that_does_not_occur_has_no_minimum() -> None:
    rng = np.random.default_rng(4)
    A, y = np.c_[rng.integers(-2, 3, (20, 1)).astype(float), np.ones(20)], rng.integers(0, 2, 20)
    stop = ray_of([tb.Softmax(A, y, classes=3)], 6)
    scores = moved(A, stop.ray, 3)
    assert (
        not stop.for_ever and all(row[2] <= min(row[:2]) for row in scores) and any(row[2] < row[0] for row in scores)
    )
    assert all(abs(row[0] - row[1]) <= Fraction(1e-9) * abs(row[2]) for row in scores if row[2])


def test_costs_that_the_largest_score_does_not_outweigh() -> None:
    """Along (0, 1, 1) the costs -3/4 and -1/2 fall by 5/4, and the largest score rises by 1: both scores count once."""
    f = tb.Softmax(np.ones((4, 1)), [0, 0, 0, 0], classes=3)
    stop = ray_of([f + tb.Linear([1.25, -0.75, -0.5])], 3)
    ray = fractions(stop.ray)
    assert stop.for_ever and max(ray) - ray[0] + dot(fractions([1.25, -0.75, -0.5]), ray) < 0
    # p = (1/4, 1/4, 1/2) has these slopes
    (answer,) = solve_smooth_chain([f + tb.Linear([0.75, -0.25, -0.5])], tb.Box(**SPACE, dim=3))
    star = -sum(p * math.log(p) for p in (0.25, 0.25, 0.5))
    assert answer.f_lower <= star + 1e-15 and star - 1e-15 <= answer.f_upper and answer.width <= 1e-14


# -- bounds on what a group of differences can do -------------------------------------------------------------------


def level_at(seed: int, reach: float) -> tuple[tb.Softmax, SmoothLevel, np.ndarray]:
    rng = np.random.default_rng(seed)
    f = tb.Softmax(rng.normal(size=(6, 2)), rng.integers(0, 3, 6), rng.random(6) + 0.1, classes=3)
    x = reach * rng.normal(size=6)
    level = SmoothLevel.of(f.form, 6)
    assert isinstance(level, SmoothLevel)
    level.settle(ext(x))
    return f, level, x


@pytest.mark.parametrize("reach", [0.1, 2.0, 20.0])
def test_moves_and_bends_hold_along_random_steps(reach: float) -> None:
    tight = 0.0
    for seed in range(30):
        f, level, x = level_at(seed, reach)
        rng = np.random.default_rng([seed, 1])
        value, grad = f.value_and_grad(x)
        for _ in range(20):
            d = rng.normal(size=6) * 10.0 ** rng.uniform(-1, 1.5)
            rise = f.value(x + d) - value - grad @ d + 1e-12
            image = np.abs(double(level.image.times(ext(d))))
            bound = np.asarray(level.image_moves(rise / level.unit))
            assert (image <= bound * (1 + 1e-9)).all()
            tight = max(tight, float((image / bound).max()))
            bend = level.bend(ext(x), np.abs(d)) * level.unit
            second = f.hessian_times(x + rng.random() * d, d)
            assert second is not None and d @ second <= bend * (1 + 1e-9)
    assert tight > 0.3


def test_losses_that_underflow_have_not_ended() -> None:
    """Margins of 1,500 at the bound that the loss pushes to: elsewhere it is larger, if only by 1e-600."""
    for f in (tb.Logistic([[1500.0], [0.0]], [1, 0]), tb.Softmax([[1500.0], [0.0]], [1, 0], classes=3)):
        for share in (0.5, 1.0):
            x = np.zeros(f.dim)
            x[min(1, f.dim - 1)] = share
            level = SmoothLevel.of(f.form, f.dim)
            assert isinstance(level, SmoothLevel)
            level.settle(ext(x))
            assert not level.tails() and all(there.bent.size for there in level.settled)
            (answer,) = solve_smooth_chain([f], tb.Box(-1, 1, dim=f.dim))
            last = solve_smooth_chain([f, tb.SquaredNorm(dim=f.dim)], tb.Box(-1, 1, dim=f.dim))[-1]
            assert not last.f_upper < 0.5 and last.lower_unique is not True and answer.width <= 1e-14


def test_curvature_near_a_point_grows_by_no_more_than_told() -> None:
    rng = np.random.default_rng(5)
    S, loss = tb.Softmax(np.eye(4), [0, 1, 2, 3]).link.uncoupled
    for _ in range(200):
        t, e = rng.normal(size=(2, 16)) * 10.0 ** rng.uniform(-1, 1, (2, 1))
        most = most_nearby(loss, S @ t, np.abs(S @ e))
        assert (loss.curvature(S @ (t + rng.random() * e)) <= most * (1 + 1e-12)).all()


# -- references -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [4000, 4020])
def test_brackets_of_all_losses_hold_the_optimal_values(first: int) -> None:
    kinds = [soundness.judge(soundness.make(number)) for number in range(first, first + 20)]
    assert not [verdict.wrong for verdict in kinds if verdict.wrong]
    assert sum(verdict.kind == "judged" for verdict in kinds) >= 8


def test_what_it_refuses() -> None:
    wide = tb.Softmax(np.ones((40_000, 30)), np.arange(40_000) % 10)
    assert "second derivatives" in smooth_apply([wide], tb.Box(-1, 1, dim=300))
