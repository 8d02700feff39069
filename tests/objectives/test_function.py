"""Functions of one's own: what may be given, and that nothing is slow because something was not."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.methods.shared.backtracking import Bends, backtracked, by_products


def counted(level: tb.Objective, calls: Counter, **extra) -> tb.Function:
    def both(x):
        calls["both"] += 1
        return level.value_and_grad(x)

    def product(x, d):
        calls["hvp"] += 1
        return level.hessian_times(x, d)

    given = {"value_and_grad": both, "hvp": product}
    return tb.Function(dim=level.dim, convex=True, **{name: given[name] for name in extra})


def test_value_and_gradient_in_one_go():
    g, calls = tb.LeastSquares(np.eye(3), np.ones(3)), Counter()
    f = counted(g, calls, value_and_grad=True)
    x = np.array([1.0, 2.0, 3.0])
    assert f.value_and_grad(x)[0] == g.value(x) and calls["both"] == 1
    assert f.value(x) == g.value(x) and f.grad(x).tolist() == g.grad(x).tolist() and calls["both"] == 3
    assert tb.testing.check_objective(f) > 30
    own = tb.Function(g.value, g.grad, 3, True, None, lambda x: (g.value(x), g.grad(x)))  # by position
    assert tb.testing.check_objective(own) > 30 and own.dim == 3 and own.convex
    result = tb.solve(tb.Problem(tb.SquaredNorm(), f, tb.Box(-2, 2)), tol_upper=1e-3, tol_lower=1e-3)
    assert result.success


LEVELS = {
    "squares": lambda rng, d: tb.LeastSquares(rng.standard_normal((4, d)), rng.standard_normal(4)),
    "logistic": lambda rng, d: tb.Logistic(rng.standard_normal((6, d)), [0, 1, 0, 1, 0, 1]),
    "poisson": lambda rng, d: tb.Poisson(rng.standard_normal((5, d)) / 2, rng.poisson(2.0, 5)),
    "stiff": lambda rng, d: tb.LeastSquares(1e4 * rng.standard_normal((3, d)), 1e4 * rng.standard_normal(3), 1e-8),
}


@pytest.mark.parametrize("hvp", [False, True])
@pytest.mark.parametrize("domain", [tb.Box(-1, 1), tb.L2Ball(2.0), tb.L1Ball(2.0)])
@pytest.mark.parametrize("name", LEVELS)
def test_a_function_without_smoothness_is_not_slow(name, domain, hvp):
    g = LEVELS[name](np.random.default_rng(1), 10)
    product = g.hessian_times if hvp else None
    plain = tb.Function(g.value, g.grad, dim=10, convex=True, hvp=product)
    problem = tb.Problem(tb.SquaredNorm(0.3 * np.ones(10)), plain, domain)
    assert tb.plan(problem).method == "apb-apg"
    result = tb.solve(problem, max_iter=5000, tol_upper=1e-3, tol_lower=1e-4)
    assert result.success, result
    other = tb.solve(tb.Problem(problem.upper, g, domain), max_time=5, tol_upper=1e-3, tol_lower=1e-4).certificate
    assert result.certificate.f_lower <= other.f_upper and result.f <= other.f_upper + 1e-3
    assert max(result.certificate.g_lower, other.g_lower) <= min(result.certificate.g_upper, other.g_upper) + 1e-12


def test_steps_satisfy_the_descent_lemma():
    rng = np.random.default_rng(0)
    g, f = LEVELS["poisson"](rng, 6), LEVELS["logistic"](rng, 6)
    problem = tb.Problem(f, tb.Function(g.value, g.grad, dim=6, convex=True), tb.Box(-3, 3))
    x = 3 * np.ones(6)
    bends = Bends.at(problem, x)
    assert bends.upper == f.smoothness and bends.upper_known and not bends.lower_known
    for _ in range(20):
        u, bends = backtracked(problem, x, 0.1, 1.0, bends)
        L = bends.of(0.1)

        def total(z):
            return g.value(z) + 0.1 * f.value(z)

        assert total(u) <= total(x) + 1e-12
        assert np.isfinite(L) and L > 0
        x = u


def test_the_largest_eigenvalue_by_products():
    rng = np.random.default_rng(0)
    g = tb.LeastSquares(rng.standard_normal((5, 8)), rng.standard_normal(5))
    assert 0.8 * g.smoothness <= by_products(g, np.zeros(8)) <= 1.2 * g.smoothness
    assert by_products(tb.Function(g.value, g.grad), np.zeros(8)) == 0.0


@pytest.mark.parametrize("name", ["poisson", "squares"])
def test_hessians_are_the_derivatives_of_gradients(name):
    rng = np.random.default_rng(2)
    g = 2 * LEVELS[name](rng, 5) + tb.SquaredNorm(weights=[1, 2, 0, 1, 1]) / 2 + tb.Linear(np.ones(5))
    x, d = rng.standard_normal((2, 5))
    turn = (g.grad(x + 1e-5 * d) - g.grad(x - 1e-5 * d)) / 2e-5
    np.testing.assert_allclose(g.hessian_times(x, d), turn, rtol=1e-6, atol=1e-6)
    assert (g + tb.Function(g.value, g.grad)).hessian_times(x, d) is None
    assert tb.Quadratic(np.diag([1.0, 3.0]), [0.0, 0.0]).hessian_times(x[:2], d[:2]).tolist() == [d[0], 3 * d[1]]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: tb.Function(), TypeError, "value must be a callable"),
        (lambda: tb.Function(grad=np.copy), TypeError, "value must be a callable"),
        (lambda: tb.Function(np.sum, np.copy, value_and_grad=3), TypeError, "value_and_grad must be callable"),
        (lambda: tb.Function(np.sum, np.copy, hvp="H"), TypeError, "hvp must be callable"),
        (lambda: tb.Function(value_and_grad=np.sum).value(np.ones(2)), TypeError, "must return two things"),
        (lambda: tb.Function(value_and_grad=lambda x: (x, x)).value(np.ones(2)), ValueError, "a single number"),
        (
            lambda: tb.Function(np.sum, np.copy, hvp=lambda x, d: 1.0).hessian_times(np.ones(2), np.ones(2)),
            ValueError,
            r"hvp\(x, d\) must return an array",
        ),
    ],
)
def test_errors(make, error, message):
    with pytest.raises(error, match=message):
        make()
