"""The scaled dual bound of least squares against solvers, exact arithmetic and a line search."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, minimize_scalar

import tiebreak as tb


def box_minimum(grad):
    return -float(np.abs(grad).sum())  # over the box [-1, 1]^d


def lowered(f, x):
    """min over the box of <grad(x), s>, valid for the exact gradient, as the contract of the bound asks."""
    grad = f.grad(x)
    minimum = box_minimum(grad)
    return minimum - f.rounding(x)[1] * np.sqrt(x.size) - 1e-15 * x.size * abs(minimum)


data = {
    "seed": st.integers(0, 10**6),
    "n": st.integers(1, 6),
    "d": st.integers(1, 6),
    "size": st.sampled_from([1e-8, 1e-2, 1.0, 1e3, 1e8]),
    "scale": st.sampled_from([1e-6, 0.3, 1.0, 1e5]),
}


@settings(deadline=None, max_examples=200)
@given(**data, shift=st.sampled_from([0.1, 1.0, 10.0]))
def test_bound_is_the_best_multiple_and_below_the_minimum(seed, n, d, size, scale, shift):
    rng = np.random.default_rng(seed)
    A, b = size * rng.standard_normal((n, d)), size * shift * rng.standard_normal(n)
    f = tb.LeastSquares(A, b, scale)
    solution = lsq_linear(A / size, b / size, bounds=(-1, 1), tol=1e-14)
    x = rng.choice([0.0, 0.5, 1.0]) * solution.x + rng.choice([0.0, 0.3]) * rng.uniform(-1, 1, d)
    x = np.clip(x, -1, 1)
    bound = f.scaled_dual_bound(x, lowered(f, x))
    best = f.value(solution.x)
    assert 0.0 <= bound <= best * (1 + 1e-12)

    r, m = A @ x - b, box_minimum(scale * (A.T @ (A @ x - b)))
    frank_wolfe = f.value(x) + m - f.grad(x) @ x
    unit = scale * (r @ r + b @ b)
    assert bound >= frank_wolfe - 1e-10 * unit

    if r @ r > 1e-10 * (b @ b):
        found = minimize_scalar(
            lambda tau: -(tau * (m / scale - b @ r) - tau**2 / 2 * (r @ r)) / (r @ r + b @ b),
            bounds=(0, 1e3),
            method="bounded",
            options={"xatol": 1e-12},
        )
        dual = scale * max(0.0, -found.fun) * (r @ r + b @ b)
        assert abs(bound - dual) <= 1e-6 * unit


@settings(deadline=None, max_examples=100)
@given(**data)
def test_bound_is_never_above_its_exact_value(seed, n, d, size, scale):
    rng = np.random.default_rng(seed)
    A, b, x = size * rng.standard_normal((n, d)), size * 3 * rng.standard_normal(n), rng.uniform(-1, 1, d)
    rows = [[Fraction(a) for a in row] for row in A.tolist()]
    point, target, c = [Fraction(v) for v in x.tolist()], [Fraction(v) for v in b.tolist()], Fraction(scale)
    r = [sum(a * v for a, v in zip(row, point, strict=True)) - t for row, t in zip(rows, target, strict=True)]
    gradient = [c * sum(row[j] * v for row, v in zip(rows, r, strict=True)) for j in range(d)]
    minimum = -sum(abs(v) for v in gradient)
    given_minimum = np.nextafter(float(minimum), -np.inf)  # a valid number for the exact gradient
    B = sum(t * v for t, v in zip(target, r, strict=True)) - minimum / c
    exact = c * B * B / (2 * sum(v * v for v in r)) if B < 0 else Fraction(0)
    for factor in (1.0, 3.7):
        objective = factor * tb.LeastSquares(A, b, scale)
        down = np.nextafter(factor * given_minimum, -np.inf)
        bound = Fraction(objective.scaled_dual_bound(x, down))
        assert bound <= Fraction(factor) * exact
        assert float(bound) >= float(Fraction(factor) * exact) - 1e-11 * factor * scale * float(b @ b + r_size(r))


def r_size(r):
    return float(sum(v * v for v in r))


def test_bound_at_an_exact_fit_is_zero():
    f = tb.LeastSquares(np.eye(2), [0.5, 0.5])
    assert f.scaled_dual_bound(np.array([0.5, 0.5]), 0.0) == 0.0
    assert tb.LeastSquares(np.eye(2), [0.0, 0.0]).scaled_dual_bound(np.zeros(2), 0.0) == 0.0


def test_objectives_without_it_say_so():
    f = tb.Logistic(np.eye(2), [0, 1])
    assert f.scaled_dual_bound(np.zeros(2), -1.0) == -np.inf
    assert (f + tb.Linear([1, 1])).scaled_dual_bound(np.zeros(2), -1.0) == -np.inf
    assert (2 * f).scaled_dual_bound(np.zeros(2), -1.0) == -np.inf


@pytest.mark.parametrize("radius", [0.1, 1.0])
def test_bound_closes_on_the_minimum_over_an_l1_ball(radius):
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((12, 5)), rng.standard_normal(12) * 3
    f = tb.LeastSquares(A, b, 0.7)
    split = lsq_via_clarabel(A, b, radius)
    best = f.value(split)
    minimum = -radius * float(np.abs(f.grad(split)).max())
    bound = f.scaled_dual_bound(split, minimum - 1e-13)
    assert best - 1e-6 <= bound <= best + 1e-9


def lsq_via_clarabel(A, b, radius):
    import cvxpy as cp

    x = cp.Variable(A.shape[1])
    cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b)), [cp.norm1(x) <= radius]).solve(solver=cp.CLARABEL)
    return x.value


@settings(deadline=None, max_examples=100)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 6), d=st.integers(1, 6))
def test_weights_are_rows_times_their_roots(seed, n, d):
    rng = np.random.default_rng(seed)
    A, b, w = rng.standard_normal((n, d)), rng.standard_normal(n), rng.random(n) * 10.0 ** rng.integers(-3, 4, n)
    f = tb.LeastSquares(A, b, 0.7, w)
    root = np.sqrt(w)
    solution = lsq_linear(root[:, None] * A, root * b, bounds=(-1, 1), tol=1e-14)
    x = np.clip(solution.x + rng.choice([0.0, 0.3]) * rng.uniform(-1, 1, d), -1, 1)
    bound = f.scaled_dual_bound(x, lowered(f, x))
    assert 0.0 <= bound <= f.value(solution.x) * (1 + 1e-12)
    plain = tb.LeastSquares(root[:, None] * A, root * b, 0.7)
    assert bound == pytest.approx(plain.scaled_dual_bound(x, lowered(plain, x)), rel=1e-6, abs=1e-9 * f.value(0 * x))
