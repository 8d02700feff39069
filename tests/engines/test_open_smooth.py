"""Smooth losses over unbounded sets: closed forms, references of 45 digits, and rays where no minimum is attained."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import smooth_references as reference

import tiebreak as tb
from fractional import dot, fractions
from tiebreak.engines.answer import Unbounded
from tiebreak.engines.rows.bracket import bracket
from tiebreak.engines.rows.face import Face
from tiebreak.engines.smooth.level import SmoothLevel
from tiebreak.engines.smooth.solve import solve_smooth_chain
from tiebreak.numerics.extended import ext

INF = np.inf


def rays(levels: list[tb.Objective], domain: tb.Domain) -> Unbounded:
    with pytest.raises(Unbounded) as found:
        solve_smooth_chain(levels, domain)
    return found.value


def moved(A: np.ndarray, ray: np.ndarray) -> list[Fraction]:
    """A ray, exactly."""
    return [dot(row, fractions(ray)) for row in A]


# -- minima ---------------------------------------------------------------------------------------------------------


def test_one_variable_in_closed_form() -> None:
    """Two of three labels are 1: log 2; three events in four counts: log(3/4); both at any x with the same sum."""
    A = np.ones((3, 2))
    result = tb.solve(tb.Problem(tb.SquaredNorm(dim=2), tb.Logistic(A, [1, 1, 0])))
    np.testing.assert_allclose(result.x, np.full(2, math.log(2) / 2), rtol=1e-14)
    assert result.success and result.certificate.f_lower <= math.log(2) ** 2 / 4 <= result.certificate.f_upper
    result = tb.solve(tb.Problem(tb.SquaredNorm(dim=2), tb.Poisson(np.ones((4, 2)), [0, 1, 0, 2])))
    np.testing.assert_allclose(result.x, np.full(2, math.log(0.75) / 2), rtol=1e-14)
    assert result.success


def test_losses_above_the_solutions_of_a_linear_system() -> None:
    """x1 + x2 = 2 and the logistic losses of x1 - x2 with two labels of three: x1 - x2 = log 2."""
    upper = tb.Logistic([[1.0, -1.0]] * 3, [1, 1, 0])
    result = tb.solve(tb.Problem(upper, tb.LeastSquares([[1.0, 1.0]], [2.0])))
    np.testing.assert_allclose(result.x, [1 + math.log(2) / 2, 1 - math.log(2) / 2], rtol=1e-14)
    star = math.log(3) - 2 / 3 * math.log(2)
    assert result.success and result.certificate.f_lower <= star + 1e-15 and star - 1e-15 <= result.certificate.f_upper


def test_solutions_without_an_end_are_assumed_to_be_near() -> None:
    result = tb.solve(tb.Problem(tb.Linear([1.0, 0.0]), tb.Logistic([[1.0, 0.0]] * 3, [1, 1, 0])))
    assert result.success and result.f == pytest.approx(math.log(2))
    assert any("the domain is unbounded" in one for one in result.certificate.assumes)


@pytest.mark.parametrize("seed", range(16))
def test_brackets_hold_the_optimal_values(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 5))
    A, B = rng.integers(-3, 4, (20, d)).astype(float), rng.integers(-2, 3, (9, d)).astype(float)
    b = rng.integers(-4, 5, 20).astype(float)
    logistic, poisson = tb.Logistic(A, rng.integers(0, 2, 20)), tb.Poisson(A / 4, rng.integers(0, 4, 20))
    kinds = [
        (logistic, [reference.logistic(A, logistic.y, logistic.weights)]),
        (poisson, [reference.poisson(A / 4, poisson.y, poisson.weights)]),
        (tb.Huber(A, b, 0.5), [reference.huber(A, b, 0.5)]),
        (tb.LeastSquares(B[:1], b[:1]), [reference.squares(B[:1], b[:1])]),
    ]
    first = kinds[seed % 4]
    c = rng.integers(-3, 4, d) / 4
    last = kinds[2] if seed % 4 == 3 else (tb.SquaredNorm(c), [reference.squares(np.eye(d), c)])
    lower, upper = (np.zeros(d) if seed % 3 else np.full(d, -INF)), np.full(d, INF)
    try:
        answers = solve_smooth_chain([first[0], last[0]], tb.Box(lower, upper))
    except Unbounded as stop:
        assert seed % 4 < 2 and not stop.for_ever
        return
    values = reference.chain([first[1], last[1]], lower, upper, [answer.x for answer in answers])
    for answer, value in zip(answers, values or (), strict=values is not None):
        assert answer.f_lower <= value <= answer.f_upper
        assert answer.width <= 1e-9 or not answer.well_posed


def test_generous_bounds_lose_no_slopes_of_losses() -> None:
    """Where slopes of quadratic levels are worth more digits; away from the minimum a bracket is wide, or wrong."""
    A, y = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, 0.5], [1.0, 1.0], [0.5, -2.0]]), np.array([1, 0, 0, 1, 1])
    logistic, domain = tb.Logistic(A, y), tb.Box(-1e6, 1e6, dim=2)
    face, length = Face.of(domain, [logistic])
    level = SmoothLevel.of(logistic.form, 2, length)
    found = bracket(face, level, ext(np.zeros(2)), ext(np.zeros(0)), [])
    (answer,) = solve_smooth_chain([logistic], domain)
    assert found.lower * level.unit <= answer.f_lower <= answer.f_upper <= found.upper * level.unit - 0.01


# -- no minimum -------------------------------------------------------------------------------------------------------


def test_separable_classes_have_no_minimum() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 4))
    y = np.sign(A @ [1.0, -2.0, 0.5, 1.0])
    stop = rays([tb.Logistic(A, y), tb.SquaredNorm(dim=4)], tb.Box(-INF, INF, dim=4))
    assert not stop.for_ever and stop.level == 0
    assert min(Fraction(sign) * t for sign, t in zip(y, moved(A, stop.ray), strict=True)) > 0
    result = tb.solve(tb.Problem(tb.SquaredNorm(dim=4), tb.Logistic(A, y)))
    assert result.status is tb.Status.UNBOUNDED and not result.success
    assert "not attained" in result.message and "x[1] by -" in result.message


def test_a_column_of_one_class_is_enough() -> None:
    """Quasi-separation: a dummy that is 1 for one class only; all other rows must not move at all."""
    rng = np.random.default_rng(1)
    A = np.hstack([rng.standard_normal((20, 2)), np.zeros((20, 1))])
    y = np.where(rng.random(20) < 0.5, 1.0, -1.0)
    A[np.flatnonzero(y > 0)[:3], 2] = 1.0
    stop = rays([tb.Logistic(A, y), tb.SquaredNorm(dim=3)], tb.Box(-INF, INF, dim=3))
    assert not stop.for_ever and stop.ray[2] > 0
    signed = [Fraction(sign) * t for sign, t in zip(y, moved(A, stop.ray), strict=True)]
    assert max(signed) > 0 and min(signed) >= -Fraction(1e-12)
    assert solve_smooth_chain([tb.Logistic(A, y)], tb.Box([-INF, -INF, -INF], [INF, INF, 2.0]))[0].width <= 1e-9


def test_counts_of_zero() -> None:
    A = np.array([[1.0, 1.0], [2.0, 0.0], [1.0, 3.0]])
    stop = rays([tb.Poisson(A, [0, 0, 0])], tb.Box(-INF, INF, dim=2))
    assert not stop.for_ever and max(moved(A, stop.ray)) <= 0 and min(moved(A, stop.ray)) < 0
    (answer,) = solve_smooth_chain([tb.Poisson(A, [0, 0, 0])], tb.Box(0.0, INF, dim=2))
    assert answer.f_lower <= 1.0 <= answer.f_upper and not answer.x.any()


def test_costs_that_outweigh_the_losses() -> None:
    """Huber's loss of x rises by 0.5 for each unit, the cost falls by 0.75; and by 0.25, which does not do."""
    huber = tb.Huber(np.eye(2), [0.0, 0.0], 0.5)
    stop = rays([huber + tb.Linear([-0.75, 0.0])], tb.Box(-INF, INF, dim=2))
    assert stop.for_ever and stop.ray[0] > 0
    (answer,) = solve_smooth_chain([huber + tb.Linear([-0.25, 0.0])], tb.Box(-INF, INF, dim=2))
    assert answer.f_lower <= -0.03125 <= answer.f_upper and answer.width <= 1e-12


def test_no_minimum_on_the_solutions_of_the_level_before() -> None:
    rng = np.random.default_rng(2)
    W, B = rng.standard_normal((2, 6)), rng.standard_normal((3, 6))
    stop = rays([tb.LeastSquares(W, np.ones(2)), tb.Logistic(B, [1, -1, 1])], tb.Box(-INF, INF, dim=6))
    assert stop.level == 1 and not stop.for_ever and len(stop.finished) == 1
    assert np.abs(W @ stop.ray).max() <= 1e-13 * np.abs(stop.ray).max() and (B @ stop.ray * [1, -1, 1] >= -1e-12).all()
