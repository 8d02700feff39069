"""The door to JAX: functions in, layers out. ``make doors`` has JAX; elsewhere these tests are skipped."""

from __future__ import annotations

import numpy as np
import pytest

import tiebreak as tb

jax = pytest.importorskip("jax", reason="JAX is not installed; make doors installs it")
jnp = jax.numpy

A = np.random.default_rng(0).normal(size=(3, 6))
b = np.array([0.1, 0.2, 0.3])


def test_derivatives_in_double_precision_without_a_change_of_the_configuration() -> None:
    before = jax.config.jax_enable_x64
    f = tb.from_jax(lambda x: jnp.sum(jnp.cosh(x - 1)), dim=6, convex=True)
    x, d = np.linspace(-1, 1, 6), np.arange(6.0)
    value, grad = f.value_and_grad(x)
    assert value == pytest.approx(np.cosh(x - 1).sum(), rel=1e-15)
    assert f.value(x) == pytest.approx(value, rel=1e-15)
    assert grad == pytest.approx(np.sinh(x - 1), rel=1e-14)
    assert f.grad(x) == pytest.approx(grad, rel=1e-15)
    assert f.hessian_times(x, d) == pytest.approx(np.cosh(x - 1) * d, rel=1e-14)
    assert f.value(x) != f.value(x + 1e-12)
    assert jax.config.jax_enable_x64 == before
    assert jnp.ones(1).dtype == (jnp.float64 if before else jnp.float32)


def test_a_function_is_traced_once_for_its_value_and_gradient() -> None:
    traced = []

    def fn(x):
        traced.append(1)
        return x @ x

    f = tb.from_jax(fn, dim=3)
    for k in range(5):
        f.value_and_grad(np.full(3, float(k)))
    assert len(traced) == 1


def test_pytrees_are_flattened_and_given_back() -> None:
    template = {"weights": [jnp.zeros((2, 2)), jnp.zeros(3)], "shift": 0.0}
    f = tb.from_jax(lambda p: jnp.sum(p["weights"][0] ** 2) + p["shift"] + p["weights"][1][0], template, convex=True)
    assert f.dim == 8
    x = np.arange(8.0)
    back = f.unflatten(x)
    assert float(back["shift"]) == 0.0
    assert np.asarray(back["weights"][0]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert f.value(x) == 1 + 4 + 9 + 16 + 0 + 5
    with pytest.raises(ValueError, match="the template has 8 numbers"):
        tb.from_jax(lambda p: 0.0, template, dim=3)


def test_what_a_function_must_not_return() -> None:
    x = np.ones(2)
    with pytest.raises(TypeError, match=r"single number.*shape \(2,\)"):
        tb.from_jax(lambda x: x).value(x)
    with pytest.raises(TypeError, match="float32"):
        tb.from_jax(lambda x: jnp.sum(x.astype(jnp.float32))).value_and_grad(x)
    with pytest.raises(TypeError, match="function that JAX can trace"):
        tb.from_jax(3.0)
    nan = tb.from_jax(lambda x: jnp.log(-1 - x @ x), dim=6, convex=True)
    with pytest.raises(tb.GradientError, match="not finite"):
        tb.solve(tb.Problem(nan, tb.LeastSquares(A, b), tb.L2Ball(3.0)))


def test_the_answer_is_that_of_numpy_and_the_certificate_says_whose_word_it_takes() -> None:
    f = tb.from_jax(lambda x: 0.5 * x @ x, dim=6, convex=True, smoothness=1.0)
    Z = tb.Box(-1, 1)
    ours = tb.solve(tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, b), Z))
    theirs = tb.solve(tb.Problem(f, tb.LeastSquares(A, b), Z), tol_upper=1e-5, tol_lower=1e-9)
    assert theirs.x == pytest.approx(ours.x, abs=5e-3)
    assert theirs.certificate.assumes == ("upper level: value, gradient, convexity and smoothness are as given",)
    with pytest.raises(ValueError, match="says nothing of its data"):
        theirs.vjp(np.ones(6))


def smallest(b, center):
    return tb.Problem(tb.SquaredNorm(center), tb.LeastSquares(A, b), tb.Box(-0.15, 0.15))


def test_a_layer_has_the_derivatives_of_vjp_also_compiled_and_in_batches() -> None:
    from tiebreak.jax import layer

    x = layer(smallest, [(0, "b"), (1, "center")], dim=6)
    center = np.linspace(-0.1, 0.1, 6)
    result = tb.solve(smallest(b, center))
    wanted = result.vjp(2 * result.x)
    loss = lambda b, center: jnp.sum(x(b, center) ** 2)  # noqa: E731
    for gradient in (jax.grad(loss, argnums=(0, 1)), jax.jit(jax.grad(loss, argnums=(0, 1)))):
        db, dcenter = gradient(jnp.asarray(b), jnp.asarray(center))
        assert np.asarray(db) == pytest.approx(wanted.levels[0]["b"], rel=1e-4, abs=1e-6)
        assert np.asarray(dcenter) == pytest.approx(wanted.levels[1]["center"], rel=1e-4, abs=1e-6)
    batch = jnp.stack([jnp.asarray(b), 0.5 * jnp.asarray(b)])
    assert x(batch, center).shape == (2, 6)
    slopes = jax.grad(loss)(batch, center)
    assert np.asarray(slopes[0]) == pytest.approx(wanted.levels[0]["b"], rel=1e-4, abs=1e-6)
    assert np.asarray(slopes[1]) == pytest.approx(np.asarray(jax.grad(loss)(batch[1], center)), rel=1e-6)


def test_a_layer_refuses_what_it_cannot_do() -> None:
    from tiebreak.jax import layer

    with pytest.raises(TypeError, match="makes a Problem from arrays"):
        layer(smallest(b, np.zeros(6)), [(0, "b")], dim=6)
    with pytest.raises(TypeError, match="pairs such as"):
        layer(smallest, ["b"], dim=6)
    x = layer(smallest, [(0, "b"), (1, "center")], dim=6)
    with pytest.raises(TypeError, match="2 parameters, but was given 1"):
        x(b)
