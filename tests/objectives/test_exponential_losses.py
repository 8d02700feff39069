"""Poisson and softmax: against twins in extended precision, against 50 digits, and far out."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from objective_twins import L, exponential_cases
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import tiebreak as tb

NAMES = tuple(exponential_cases(0, 3, 2))
names = pytest.mark.parametrize("name", NAMES)
shapes = {"seed": st.integers(0, 10**6), "n": st.integers(2, 12), "d": st.integers(1, 8)}


@names
@settings(deadline=None, max_examples=60)
@given(**shapes, reach=st.sampled_from([1e-8, 1e-3, 1.0, 10.0, 40.0]))
def test_errors_stay_below_the_rounding_bounds(name, seed, n, d, reach):
    f, twin = exponential_cases(seed, n, d)[name]
    x = reach * np.random.default_rng([seed, 1]).standard_normal(f.dim)
    value, grad = f.value_and_grad(x)
    true_value, true_grad = twin(L(x))
    value_error, grad_error = f.rounding(x)
    assert abs(value - true_value) <= value_error + 1e-300
    assert np.linalg.norm(grad - true_grad) <= grad_error + 1e-300
    assert value >= f.lower_bound
    np.testing.assert_allclose(f.form.value(x), value, rtol=1e-12, atol=1e-12)
    tb.objectives.check_convexity(f, [x, np.zeros(f.dim)])


@names
def test_rounding_bounds_are_sharp_enough_to_be_useful(name):
    f, _ = exponential_cases(3, 300, 30)[name]
    x = np.random.default_rng(4).standard_normal(f.dim) / np.sqrt(f.dim)
    value, grad = f.value_and_grad(x)
    value_error, grad_error = f.rounding(x)
    assert value_error <= 1e-9 * abs(value) and grad_error <= 1e-9 * np.linalg.norm(grad)


@names
def test_conformance(name):
    assert tb.testing.check_objective(exponential_cases(5, 8, 4)[name].objective) > 50


@pytest.mark.parametrize("seed", range(3))
def test_gradients_in_fifty_digits(seed):
    rng = np.random.default_rng(seed)
    A, y, x = rng.standard_normal((5, 2)), rng.poisson(2.0, 5), 4 * rng.standard_normal(2)
    label, X = rng.integers(0, 3, 5), 20 * rng.standard_normal((2, 3))
    exactly = np.vectorize(Decimal, otypes=[object])
    with localcontext(prec=50):
        M = exactly(A)
        rates = np.array([t.exp() for t in M @ exactly(x)])
        grad = M.T @ ((rates - exactly(y)) / 5)
        np.testing.assert_allclose(tb.Poisson(A, y).grad(x), grad.astype(float), rtol=1e-13)
        powers = np.vectorize(lambda t: t.exp(), otypes=[object])(M @ exactly(X))
        slope = powers / powers.sum(axis=1, keepdims=True) - exactly(np.eye(3, dtype=int)[label])
        f = tb.Softmax(A, label, classes=3)
        off = exactly(f.grad(X.ravel())) - (M.T @ (slope / 5)).ravel()
        assert np.linalg.norm(off.astype(float)) <= f.rounding(X.ravel())[1]


def test_far_out():
    f = tb.Poisson([[1.0], [-1.0]], [0.0, 2.0])
    assert f.value([1e3]) == np.inf and f.value([-700.0]) < 1e305
    assert tb.Poisson([[1.0], [1e6]], [1.0, 1.0], [1.0, 0.0]).value([2.0]) == pytest.approx(np.exp(2.0) - 2)
    g = tb.Softmax(np.eye(3), [0, 1, 2])
    X = 1e6 * np.roll(np.eye(3), 1, axis=1)
    assert g.value(X.ravel()) == pytest.approx(1e6)
    assert g.value(1e6 * np.eye(3).ravel()) == 0.0
    assert np.isfinite(g.grad(X.ravel())).all()


def test_softmax_of_two_classes_is_logistic():
    rng = np.random.default_rng(0)
    A, y, w = rng.standard_normal((20, 3)), np.arange(20) % 2, rng.random(20)
    X = rng.standard_normal((3, 2))
    two, one = tb.Softmax(A, y, w), tb.Logistic(A, y, w)
    x = X[:, 1] - X[:, 0]
    np.testing.assert_allclose(two.value(X.ravel()), one.value(x), rtol=1e-13)
    np.testing.assert_allclose(two.grad(X.ravel()).reshape(3, 2)[:, 1], one.grad(x), rtol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_array, aslinearoperator])
def test_softmax_of_any_data(kind):
    rng = np.random.default_rng(1)
    A, y, x = rng.standard_normal((7, 3)), np.arange(7) % 4, rng.standard_normal(12)
    f, plain = tb.Softmax(kind(A), y), tb.Softmax(A, y)
    np.testing.assert_allclose(f.value(x), plain.value(x))
    np.testing.assert_allclose(f.grad(x), plain.grad(x))
    np.testing.assert_allclose(f.form.value(x), plain.value(x))
    assert f.smoothness >= plain.smoothness * (1 - 1e-9)


def test_softmax_curvature():
    rng = np.random.default_rng(2)
    loss = tb.Softmax(np.eye(4), [0, 1, 2, 1], rng.random(4)).link
    t, d, e = rng.standard_normal((3, 12))
    step = 1e-5
    turn = (loss.value_and_slope(t + step * d)[1] - loss.value_and_slope(t - step * d)[1]) / (2 * step)
    np.testing.assert_allclose(turn, loss.curvature_times(t, d), atol=1e-9)
    unit = np.eye(12)
    np.testing.assert_allclose(loss.curvature(t), [loss.curvature_times(t, u) @ u for u in unit], rtol=1e-12)
    H = np.array([loss.curvature_times(t, u) for u in unit])
    assert np.linalg.eigvalsh(np.diag(loss.most) - H).min() >= -1e-15
    reach = np.ptp(e.reshape(4, 3), axis=1).max()
    third = (loss.curvature_times(t + step * e, d) - loss.curvature_times(t - step * e, d)) @ d / (2 * step)
    assert abs(third) <= loss.self_concordance * reach * (loss.curvature_times(t, d) @ d)
    value, slope = loss.value_and_slope(t)
    assert loss.conjugate(slope) == pytest.approx(slope @ t - value)
    assert loss.conjugate(slope) >= slope @ d - loss.value(d) - 1e-12
    assert loss.conjugate(slope + 1) == np.inf


def test_batches_of_softmax_average_to_the_whole():
    rng = np.random.default_rng(3)
    f, x = tb.Softmax(rng.standard_normal((6, 2)), [0, 1, 2, 0, 1, 2]), rng.standard_normal(6)
    parts = [f.batch(x, np.array([i])) for i in range(6)]
    np.testing.assert_allclose(np.mean([v for v, _ in parts]), f.value(x))
    np.testing.assert_allclose(np.mean([g for _, g in parts], axis=0), f.grad(x))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tb.Poisson([[1.0]], [-1.0]), "y must not be negative.*-1"),
        (lambda: tb.Poisson([[1.0]], [1.0], [-1.0]), "weights must not be negative"),
        (lambda: tb.SquaredHinge([[1.0], [2.0]], [1, 2]), "two classes"),
        (lambda: tb.Softmax([[1.0], [2.0]], [0, 0.5]), "classes 0, 1"),
        (lambda: tb.Softmax([[1.0], [2.0]], [0, 2], classes=2), "classes up to 2, but there are 2"),
        (lambda: tb.Softmax([[1.0], [2.0]], [0, 0]), "classes up to 0, but there are 1"),
        (lambda: tb.Huber([[1.0]], [1.0], 1.0, [0.0]), "weights are all zero"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("seed", range(5))
def test_curvature_near_a_point_where_there_is_no_smoothness(seed):
    rng = np.random.default_rng(seed)
    f = 2 * tb.Poisson(rng.standard_normal((5, 3)), rng.poisson(2.0, 5)) + tb.SquaredNorm()
    x, radius = rng.standard_normal(3), 0.3
    bound = f.curvature_within(x, radius)
    for _ in range(20):
        step = rng.standard_normal(3)
        y = x + radius * rng.random() * step / np.linalg.norm(step)
        assert np.linalg.norm(f.grad(y) - f.grad(x)) <= bound * np.linalg.norm(y - x)
    assert f.smoothness is None and tb.SquaredNorm().curvature_within(x, 1.0) == 1.0
    assert (f + tb.Function(f.value, f.grad)).curvature_within(x, 1.0) is None


def test_differences_of_scores_have_the_same_loss_and_a_diagonal_second_derivative():
    rng = np.random.default_rng(4)
    loss = tb.Softmax(np.eye(5), [0, 1, 2, 3, 1], rng.random(5) + 0.1).link
    S, pairs = loss.uncoupled
    assert S.shape == (5 * 6, 20) and pairs.group == 6
    for reach in (0.1, 3.0, 30.0):
        t, d = reach * rng.standard_normal(20), rng.standard_normal(20)
        (value, slope), (own, own_slope) = loss.value_and_slope(t), pairs.value_and_slope(S @ t)
        assert own == pytest.approx(value, rel=1e-13)
        np.testing.assert_allclose(S.T @ own_slope, slope, rtol=1e-12, atol=1e-300)
        bent = S.T @ (pairs.curvature(S @ t) * (S @ d))
        np.testing.assert_allclose(bent, loss.curvature_times(t, d), rtol=1e-9, atol=1e-15)
        largest = np.abs(S @ d).reshape(5, 6).max(axis=1)
        least = pairs.least_of_group(S @ t).reshape(5, 6)[:, 0]
        assert (least * largest**2).sum() <= d @ bent * (1 + 1e-12)
        assert (pairs.curvature(S @ t) <= pairs.most).all()
    for part in (pairs.rows(np.arange(12, 24)), loss.rows(np.array([2, 3]))):
        assert part.weights.tolist() == loss.weights[2:4].tolist()


def test_terms_of_differences_in_decimal_arithmetic():
    rng = np.random.default_rng(5)
    S, pairs = tb.Softmax(np.eye(6), rng.integers(0, 4, 6), classes=4).link.uncoupled
    unit = Decimal(float(np.finfo(np.longdouble).eps)) / 2
    for reach in (0.1, 5.0, 60.0):
        s = S @ np.round(reach * rng.standard_normal(24) * 64) / 64
        terms = pairs.terms(s.astype(np.longdouble))
        with localcontext(prec=60):
            for i, own in enumerate(s.reshape(6, -1)[:, :3]):
                powers = [Decimal(float(v)).exp() for v in own]
                total, w = 1 + sum(powers), Decimal(float(pairs.weights[i]))
                pairs_of = [(terms.value[i], terms.value_size[i], w * total.ln())]
                rows = slice(6 * i, 6 * i + 3)
                true = [w * power / total for power in powers]
                pairs_of += list(zip(terms.slope[rows], terms.slope_size[rows], true, strict=True))
                for found, size, exact in pairs_of:
                    assert abs(_decimal(found) - exact) <= 32 * unit * _decimal(size)


def _decimal(value):
    high = float(value)
    return Decimal(high) + Decimal(float(value - np.longdouble(high)))
