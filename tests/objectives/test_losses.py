"""Losses: derivatives, bounds on them, and conjugates are those of the value."""

from __future__ import annotations

from dataclasses import is_dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiebreak as tb

N = 7


def losses(rng: np.random.Generator) -> dict:
    b, y = rng.standard_normal(N), np.arange(N) % 2
    eye = np.eye(N)
    return {
        "square": tb.LeastSquares(eye, b),
        "weighted square": tb.LeastSquares(eye, b, weights=[0.0, *rng.random(N - 1)]),
        "logistic": tb.Logistic(eye, y, rng.random(N)),
        "logistic with a weight of zero": tb.Logistic(eye, y, [0.0, *rng.random(N - 1)]),
        "huber": tb.Huber(eye, b, 0.8),
        "weighted huber": tb.Huber(eye, b, 0.8, [0.0, *rng.random(N - 1)]),
        "poisson": tb.Poisson(eye, rng.poisson(2.0, N)),
        "weighted poisson": tb.Poisson(eye, rng.poisson(2.0, N), [0.0, *rng.random(N - 1)]),
        "squared hinge": tb.SquaredHinge(eye, y, rng.random(N)),
    }


def bend_size(loss, t) -> float:
    return float(loss.curvature(np.abs(t)).max())


NAMES = list(losses(np.random.default_rng(0)))
seeds = pytest.mark.parametrize("name", NAMES)


@seeds
@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([0.1, 1.0, 10.0]))
def test_derivatives_and_their_bounds(name, seed, size):
    rng = np.random.default_rng(seed)
    loss = losses(rng)[name].link
    t, d = size * rng.standard_normal(N), rng.standard_normal(N)
    value, slope = loss.value_and_slope(t)
    assert loss.value(t) == pytest.approx(value, rel=1e-14)
    assert value >= loss.lower_bound
    step = 1e-6 * (1 + size)
    rise = (loss.value(t + step * d) - loss.value(t - step * d)) / (2 * step)
    assert rise == pytest.approx(slope @ d, rel=1e-5, abs=1e-7 * (1 + size) * (1 + bend_size(loss, t)))
    turn = (loss.value_and_slope(t + step * d)[1] - loss.value_and_slope(t - step * d)[1]) / (2 * step)
    bend = loss.curvature(t)
    smooth = loss.room(t) > 1e-4 * (1 + size)  # away from the kinks of h'
    np.testing.assert_allclose(turn[smooth], (bend * d)[smooth], rtol=1e-4, atol=1e-6 * (1 + bend_size(loss, t)))
    assert (bend >= 0).all() and (bend <= loss.most).all()
    assert loss.bend(t, 1.0) >= bend.max()


@seeds
@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), gap=st.floats(0, 5))
def test_curvature_near_a_point(name, seed, gap):
    rng = np.random.default_rng(seed)
    loss = losses(rng)[name].link
    t = 3 * rng.standard_normal(N)
    least, most = loss.near(t, gap)
    value, slope = loss.value_and_slope(t)
    for far in 10.0 ** rng.uniform(-2, 2, 20):
        other = t + far * rng.standard_normal(N)
        if loss.value(other) <= value + slope @ (other - t) + gap:
            for share in (0.0, 0.3, 1.0):
                bend = loss.curvature(t + share * (other - t))
                assert (least <= bend * (1 + 1e-12)).all() and (bend <= most * (1 + 1e-12)).all()


@seeds
@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_conjugate(name, seed):
    rng = np.random.default_rng(seed)
    loss = losses(rng)[name].link
    t, other = 2 * rng.standard_normal((2, N))
    value, slope = loss.value_and_slope(t)
    assert loss.conjugate(slope) == pytest.approx(slope @ t - value, rel=1e-10, abs=1e-10)  # Fenchel and Young
    assert loss.conjugate(slope) >= slope @ other - loss.value(other) - 1e-10
    if name != "square":
        assert loss.conjugate(slope - 100.0) == np.inf or loss.conjugate(slope + 100.0) == np.inf


@seeds
def test_rows_add_up_and_data_tell_losses_apart(name):
    loss = losses(np.random.default_rng(1))[name].link
    t = np.linspace(-2, 2, N)
    parts = [loss.rows(np.array([i])).value(t[i : i + 1]) for i in range(N)]
    assert sum(parts) == pytest.approx(loss.value(t))
    assert is_dataclass(loss) and loss.name in ("Square", "Logistic", "Huber", "Poisson", "SquaredHinge")


def test_square_without_a_target():
    loss = tb.SquaredNorm().form.losses[0].loss
    t = np.array([3.0, 4.0])
    value, slope = loss.value_and_slope(t)
    assert (value, loss.conjugate(t)) == (12.5, 12.5)
    slope[:] = 0.0
    assert t.tolist() == [3.0, 4.0]


@seeds
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_third_derivatives(name, seed):
    """With third derivatives of at most M times the second, those change by at most e^(M |s|), where none jumps."""
    rng = np.random.default_rng(seed)
    loss = losses(rng)[name].link
    t, step = 3 * rng.standard_normal(N), rng.standard_normal(N)
    stays = np.abs(step) < loss.room(t)
    here, there = loss.curvature(t)[stays], loss.curvature(t + step)[stays]
    factor = np.exp(loss.self_concordance * np.abs(step[stays])) * (1 + 1e-12)
    assert (there <= here * factor).all() and (here <= there * factor).all()


def test_a_loss_with_nothing_but_its_third_derivative_has_bounds_on_its_curvature():
    loss = tb.Logistic(np.eye(N), np.arange(N) % 2, np.ones(N)).link
    t = np.linspace(-3, 3, N)
    least, most = super(type(loss), loss).near(t, 0.4)
    assert (least > 0).all() and (least <= loss.near(t, 0.4)[0]).all()
    assert (most >= loss.near(t, 0.4)[1] - 1e-15).all()
