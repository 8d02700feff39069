"""Values, gradients, facts and rounding bounds of all objectives against their twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from objective_twins import NAMES, L, cases, huber, least_squares, quadratic

import tiebreak as tb

shapes = {"seed": st.integers(0, 10**6), "n": st.integers(2, 12), "d": st.integers(1, 12)}
sizes = st.sampled_from([1e-8, 1e-3, 1.0, 1e3, 1e8])


def point(seed: int, d: int, size: float) -> np.ndarray:
    rng = np.random.default_rng([seed, 1])
    return size * rng.standard_normal(d) * (rng.random(d) < rng.choice([0.05, 0.5, 1.0]))


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=60)
@given(**shapes, size=sizes, reach=sizes)
def test_errors_stay_below_the_rounding_bounds(name, seed, n, d, size, reach):
    objective, twin = cases(seed, n, d, size)[name]
    x = point(seed, d, reach)
    value, grad = objective.value_and_grad(x)
    true_value, true_grad = twin(L(x))
    value_error, grad_error = objective.rounding(x)
    assert abs(value - true_value) <= value_error
    assert np.linalg.norm(grad - true_grad) <= grad_error + 1e-300  # exp(-745) underflows


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("n", "d"), [(40, 100), (300, 30)])
def test_rounding_bounds_are_sharp_enough_to_be_useful(name, n, d):
    objective, _ = cases(3, n, d)[name]
    x = np.random.default_rng(4).standard_normal(d) / np.sqrt(d)
    value, grad = objective.value_and_grad(x)
    value_error, grad_error = objective.rounding(x)
    assert value_error <= 1e-9 * max(abs(value), 1e-4)
    assert grad_error <= 1e-9 * max(np.linalg.norm(grad), 1e-4)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=30)
@given(**shapes)
def test_gradient_is_the_derivative(name, seed, n, d):
    objective, twin = cases(seed, n, d)[name]
    x, along, step = point(seed, d, 1.0), L(point(seed + 1, d, 1.0)), L(1e-5)
    slope = (twin(L(x) + step * along)[0] - twin(L(x) - step * along)[0]) / (2 * step)
    scale = 1 + abs(float(slope)) + float(along @ along) * (1 + n * d)
    assert abs(objective.grad(x) @ along - slope) <= 1e-7 * scale


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=30)
@given(**shapes)
def test_every_way_to_evaluate_agrees(name, seed, n, d):
    objective, _ = cases(seed, n, d)[name]
    x, y = point(seed, d, 1.0), point(seed + 1, d, 1.0)
    value, grad = objective.value_and_grad(x)
    image = objective.image(x)
    near = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(objective.value(x), value, **near)
    np.testing.assert_allclose(objective.value_at(x, image), value, **near)
    np.testing.assert_allclose(objective.grad(x), grad, **near)
    again, grad_again = objective.value_and_grad_at(x, image)
    np.testing.assert_allclose(again, value, **near)
    np.testing.assert_allclose(grad_again, grad, **near)
    if objective.quadratic:
        bend = objective.curvature_along(y, objective.image(y))
        expected = objective.value(x + y) - value - grad @ y
        np.testing.assert_allclose(bend / 2, expected, rtol=1e-9, atol=1e-9)
    else:
        assert objective.curvature_along(y, objective.image(y)) is None


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=30)
@given(**shapes)
def test_facts_hold(name, seed, n, d):
    objective, _ = cases(seed, n, d)[name]
    assert objective.dim == d
    x, y = point(seed, d, 3.0), point(seed + 1, d, 3.0)
    gx, gy = objective.grad(x), objective.grad(y)
    assert np.linalg.norm(gx - gy) <= objective.smoothness * np.linalg.norm(x - y) * (1 + 1e-9) + 1e-10
    assert objective.value(x) >= objective.lower_bound
    if objective.convex:
        tb.objectives.check_convexity(objective, [x, y])


@pytest.mark.parametrize("name", NAMES)
def test_form_is_the_objective(name):
    objective, _ = cases(5, 6, 4)[name]
    x, form = point(6, 4, 1.0), objective.form
    assert (form is None) == (name == "covariance")
    if form is not None:
        np.testing.assert_allclose(form.value(x), objective.value(x), rtol=1e-13)
        assert form.convex == objective.convex and form.quadratic == objective.quadratic
        assert form.strictly_convex == (name not in ("huber", "weighted huber", "squared hinge"))
        assert all((loss.weights > 0).all() for loss, _, _ in form.losses if getattr(loss, "weights", None) is not None)
        assert form.lower_bound == objective.lower_bound


def test_gradients_are_fresh_arrays():
    x = np.ones(2)
    for objective in (tb.Linear([1.0, 2.0]), tb.SquaredNorm(), tb.Function(lambda x: 0.0, lambda x: x)):
        objective.grad(x)[:] = 7
        assert objective.grad(x)[0] == 1.0
    assert x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("size", [1e4, 1e8])
def test_logistic_is_stable_for_huge_margins(size):
    t = np.array([-size, -700.0, -40.0, -1e-9, 0.0, 1e-9, 40.0, 700.0, size])
    f = tb.Logistic(np.eye(9), [1, 0, 1, 0, 1, 0, 1, 0, 1])
    signs = np.array([1, -1, 1, -1, 1, -1, 1, -1, 1.0])
    margin = L(signs * t)
    np.testing.assert_allclose(f.value(t), float(np.logaddexp(L(0), -margin).mean()), rtol=1e-15)
    expected = (-signs / 9 * np.exp(-np.logaddexp(L(0), margin))).astype(float)
    np.testing.assert_allclose(f.grad(t), expected, rtol=1e-14, atol=1e-320)
    assert f.form.strictly_convex


def test_logistic_weights_are_a_mean_and_labels_have_two_spellings():
    A, y, x = np.random.default_rng(0).standard_normal((6, 3)), np.array([0, 1, 1, 0, 1, 0]), np.ones(3)
    plain = tb.Logistic(A, y)
    for other in (tb.Logistic(A, 2 * y - 1), tb.Logistic(A, y == 1), tb.Logistic(A, y, np.full(6, 1e300))):
        np.testing.assert_allclose(other.value(x), plain.value(x), rtol=1e-14)
    doubled = tb.Logistic(np.vstack([A, A[:2]]), np.append(y, y[:2]))
    weighted = tb.Logistic(A, y, [2, 2, 1, 1, 1, 1])
    np.testing.assert_allclose(weighted.value(x), doubled.value(x), rtol=1e-14)
    np.testing.assert_allclose(weighted.grad(x), doubled.grad(x), rtol=1e-13)


def test_covariance_of_a_constant_attribute_is_zero():
    f = tb.SquaredCovariance(np.eye(3), [5.0, 5.0, 5.0])
    assert f.value_and_grad(np.ones(3))[0] == 0.0
    assert f.smoothness == 0.0


def test_convexity_of_a_quadratic_is_decided_by_its_spectrum():
    rng = np.random.default_rng(0)
    from scipy import sparse

    for size in (1e-8, 1.0, 1e8):
        for d in (1, 5, 60):
            B = rng.standard_normal((max(1, d // 2), d))
            psd, basis = size * (B.T @ B), np.linalg.qr(rng.standard_normal((d, d)))[0]
            psd = (psd + psd.T) / 2
            bad = basis @ np.diag(np.append(-1e-6, rng.random(d - 1) + 0.5)) @ basis.T
            bad = size * (bad + bad.T) / 2
            for Q, convex in ((psd, True), (0 * psd, True), (bad, False)):
                assert tb.Quadratic(Q, np.zeros(d)).convex is convex
                for form in (sparse.csr_array, sparse.csc_matrix):
                    assert tb.Quadratic(form(Q), np.zeros(d)).convex is convex
    path = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(400, 400))  # the Laplacian of a path
    least = 2 - 2 * np.cos(np.pi / 401)
    for shift, convex in ((0.0, True), (-0.999 * least, True), (-1.001 * least, False), (-3.0, False)):
        assert tb.Quadratic(path + shift * sparse.eye_array(400), np.zeros(400)).convex is convex
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])  # no diagonal pivot at all
    assert not tb.Quadratic(swap, [0, 0]).convex
    assert not tb.Quadratic(sparse.csr_array(swap), [0, 0]).convex
    assert not tb.SquaredCovariance(np.eye(2), [0, 1]).convex


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 8), d=st.integers(2, 8), fit=st.sampled_from([0, 1e-12, 1e-6]))
def test_rounding_bounds_cover_cancellation(seed, n, d, fit):
    """Residuals far below the products they come from, and large points that Q (almost) maps to zero."""
    rng = np.random.default_rng(seed)
    A, x = rng.standard_normal((n, d)), 1e3 * rng.standard_normal(d)
    b = A @ x + fit * rng.standard_normal(n)
    across = np.eye(d) - np.outer(x, x) / (x @ x)
    Q, q = (across + across.T) / 2, np.zeros(d)
    for objective, twin in (
        (tb.LeastSquares(A, b), least_squares(A, b)),
        (tb.Huber(A, b, 1.0), huber(A, b, 1.0)),
        (tb.Quadratic(Q, q), quadratic(Q, q, 0.0)),
    ):
        value, grad = objective.value_and_grad(x)
        true_value, true_grad = twin(L(x))
        value_error, grad_error = objective.rounding(x)
        assert abs(value - true_value) <= value_error
        assert np.linalg.norm(grad - true_grad) <= grad_error
