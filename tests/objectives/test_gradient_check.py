"""The checks of hand-written gradients and claimed convexity: right ones pass, wrong ones fail."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from objective_twins import NAMES, cases

import tiebreak as tb
from tiebreak.objectives import check_convexity

sizes = st.sampled_from([1e-8, 1e-4, 1.0, 1e4, 1e8])


def with_gradient(objective, change):
    return tb.Function(objective.value, lambda x: change(objective.grad(x)), dim=objective.dim)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 10), d=st.integers(1, 10), size=sizes, reach=sizes)
def test_right_gradients_pass_at_every_scale(name, seed, n, d, size, reach):
    objective, _ = cases(seed, n, d, size)[name]
    x = reach * np.random.default_rng(seed).standard_normal(d)
    tb.check_gradient(objective, x, seed=seed)
    tb.check_gradient(with_gradient(objective, lambda g: g), x, seed=seed)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", [lambda g: 2 * g, lambda g: -g, lambda g: 0 * g, lambda g: 1.01 * g])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_wrong_gradients_fail(name, wrong, size):
    for seed in range(5):
        objective, _ = cases(seed, 8, 5, size)[name]
        x = np.random.default_rng(seed).standard_normal(5) / size
        with pytest.raises(tb.GradientError, match="slope"):
            tb.check_gradient(with_gradient(objective, wrong), x)


def test_one_wrong_coordinate_fails():
    f = tb.SquaredNorm(np.zeros(50))

    def forgot_one(g):
        g[17] = 0
        return g

    with pytest.raises(tb.GradientError):
        tb.check_gradient(with_gradient(f, forgot_one), np.ones(50))


def test_misplaced_bracket_in_the_fairness_gradient_fails():
    rng = np.random.default_rng(0)
    A, v = rng.random((200, 6)), (rng.random(200) < 0.5).astype(float)
    f = tb.SquaredCovariance(A, v)

    def slip(x):
        t = A @ x
        decay = np.exp(-np.abs(t))
        return A.T @ (2 * f.covariance(t) * f.w * decay / (1 + decay**2))  # not (1 + decay)**2

    for seed in range(10):
        x = np.random.default_rng(seed).standard_normal(6)
        tb.check_gradient(f, x, seed=seed)
        with pytest.raises(tb.GradientError):
            tb.check_gradient(tb.Function(f.value, slip), x, seed=seed)


def test_awkward_functions():
    single = tb.Function(lambda x: np.float32(np.exp(x).sum()), lambda x: np.exp(x).astype(np.float32))
    for seed in range(20):
        x = np.random.default_rng(seed).standard_normal(3)
        tb.check_gradient(single, x, seed=seed)
        with pytest.raises(tb.GradientError):
            tb.check_gradient(with_gradient(single, lambda g: 2 * g), x, seed=seed)

    barrier = tb.Function(lambda x: -math.log(x[0]), lambda x: -1 / x)  # undefined for x <= 0
    tb.check_gradient(barrier, [1e-3])
    with pytest.raises(tb.GradientError):
        tb.check_gradient(with_gradient(barrier, lambda g: -g), [1e-3])

    steep = tb.Function(lambda x: math.exp(x[0] ** 2), lambda x: 2 * x * np.exp(x**2))  # overflows at x = 27
    tb.check_gradient(steep, [15.0])
    with pytest.raises(tb.GradientError):
        tb.check_gradient(with_gradient(steep, lambda g: g / 2), [15.0])

    tb.check_gradient(tb.Function(lambda x: 3.0, lambda x: 0 * x), [1.0, 2.0])  # constant
    tb.check_gradient(tb.SquaredNorm(), [0.0, 0.0])  # stationary
    far = tb.Function(lambda x: 1e6 + float(x @ x), lambda x: 2 * x)
    tb.check_gradient(far, [1.0])

    nowhere = tb.Function(lambda x: np.nan, lambda x: x)
    with pytest.raises(tb.GradientError, match="lower cannot be checked"):
        tb.check_gradient(nowhere, [1.0], name="lower")


def test_direction_and_its_errors():
    half = tb.Function(lambda x: float(x @ x), lambda x: np.array([2 * x[0], 0.0]))
    tb.check_gradient(half, [1.0, 1.0], direction=[5.0, 0.0])
    with pytest.raises(tb.GradientError, match=r"slope 0 along.* give 2;"):
        tb.check_gradient(half, [1.0, 1.0], direction=[0.0, 5.0])
    with pytest.raises(ValueError, match="direction is zero"):
        tb.check_gradient(half, [1.0, 1.0], direction=[0.0, 0.0])
    with pytest.raises(ValueError, match="direction has length"):
        tb.check_gradient(half, [1.0, 1.0], direction=[1.0])
    assert issubclass(tb.GradientError, ValueError)


def test_check_is_cheap():
    calls = []

    def value(x):
        calls.append(x)
        return float(np.exp(x).sum())

    tb.check_gradient(tb.Function(value, np.exp), np.ones(10))
    assert len(calls) <= 4


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), size=sizes, reach=sizes)
def test_convex_objectives_pass_and_others_fail(seed, size, reach):
    rng = np.random.default_rng(seed)
    points = reach * rng.standard_normal((4, 3))
    for objective, _ in cases(seed, 5, 3, size).values():
        if objective.convex:
            check_convexity(objective, points)
    saddle = tb.Quadratic(size * np.diag([1.0, 1.0, -1.0]), np.zeros(3))
    with pytest.raises(tb.ConvexityError, match=r"upper lies .* not convex"):
        check_convexity(saddle, [np.zeros(3), reach * np.array([0.0, 0.1, 1.0])], name="upper")


def hard_cases(rng, d, s, r):
    """Functions of size s on a scale of length r with right gradients, and where each is least or has a kink."""
    A, c = rng.standard_normal((2 * d, d)) / r, r * rng.standard_normal(d)
    Q, b = A.T @ A, A @ c

    def soft(x):
        return np.logaddexp.reduce(A @ (x - c))

    return c, {
        "square": (lambda x: s * (x - c) @ (x - c) / r**2, lambda x: 2 * s * (x - c) / r**2),
        "least squares": (lambda x: s * (A @ x - b) @ (A @ x - b), lambda x: 2 * s * A.T @ (A @ x - b)),
        "terms that cancel": (
            lambda x: s * (x @ Q @ x - 2 * (A.T @ b) @ x + b @ b),
            lambda x: 2 * s * (Q @ x - A.T @ b),
        ),
        "far from zero": (lambda x: 1e6 * s + s * (x - c) @ (x - c) / r**2, lambda x: 2 * s * (x - c) / r**2),
        "quartic": (lambda x: s * np.sum((x - c) ** 4) / r**4, lambda x: 4 * s * (x - c) ** 3 / r**4),
        "cubic": (lambda x: s * np.sum((x - c) ** 3) / r**3, lambda x: 3 * s * (x - c) ** 2 / r**3),
        "l1": (lambda x: s * np.abs(x - c).sum() / r, lambda x: s * np.sign(x - c) / r),
        "hinge": (lambda x: s * np.maximum(x - c, 0).sum() / r, lambda x: s * (x > c) / r),
        "maximum": (lambda x: s * (A @ (x - c)).max(), lambda x: s * A[(A @ (x - c)).argmax()]),
        "norm": (lambda x: s * np.linalg.norm(x - c) / r, lambda x: s * (x - c) / (np.linalg.norm(x - c) or 1) / r),
        "log-sum-exp": (lambda x: s * soft(x), lambda x: s * A.T @ np.exp(A @ (x - c) - soft(x))),
        "linear": (lambda x: s * A[0] @ x, lambda x: s * A[0]),
        "constant": (lambda x: 3.0 * s, lambda x: 0 * x),
    }


@pytest.mark.parametrize("seed", range(8))
def test_right_gradients_pass_at_minimisers_and_kinks_of_every_size_and_wrong_ones_fail(seed):
    rng = np.random.default_rng(seed)
    d, s, r = int(rng.integers(1, 8)), 10.0 ** rng.uniform(-8, 8), 10.0 ** rng.uniform(-8, 8)
    c, functions = hard_cases(rng, d, s, r)
    away = rng.standard_normal(d)
    for name, (value, grad) in functions.items():
        for far in (0.0, 1e-15, 1e-7, 1.0, 100.0):
            tb.check_gradient(tb.Function(value, grad), c + far * r * away, name=name)
        if name == "constant" or not grad(c + r * away).any():
            continue
        for factor in (0.5, 1.01, -1.0):
            with pytest.raises(tb.GradientError):
                tb.check_gradient(tb.Function(value, lambda x, f=factor, g=grad: f * g(x)), c + r * away)


def test_a_kink_excuses_no_slope_beyond_its_sides():
    for slope in (-1.1, 1.1, 5.0):
        with pytest.raises(tb.GradientError):
            tb.check_gradient(tb.Function(lambda x: abs(x[0]), lambda x, a=slope: np.array([a])), [0.0])
