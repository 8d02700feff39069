"""Weights of rows and of entries in exact solves: against rational arithmetic, and against data that hold them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from rational_references import bilevel, least_squares, squared_distance
from scipy import sparse

import tiebreak as tb
from tiebreak.engines.columns.solve import solve_columns
from tiebreak.engines.rows.solve import solve_rows
from tiebreak.methods.shared.curvature import strong_convexity


def instance(seed: int):
    rng = np.random.default_rng(seed)
    d, n = 3, int(rng.integers(1, 4))
    A = rng.integers(-3, 4, (n, d)) * rng.choice([0.1, 1.0, 30.0])
    if seed % 3 == 0:
        A = np.vstack([A, A[:1]])
    b = rng.standard_normal(len(A))
    w = rng.random(len(A)) * 10.0 ** rng.integers(-3, 4, len(A))
    w[rng.random(len(A)) < 0.3] = 0.0
    if not w.any():
        w[0] = 0.3
    v = rng.random(d) * 10.0 ** rng.integers(-2, 3, d)
    if seed % 2:
        v[rng.integers(d)] = 0.0
    if seed % 5 == 0:
        v[v > 0] = 0.7
    return A, b, w, rng.standard_normal(d), v


@pytest.mark.parametrize("seed", range(40))
def test_brackets_hold_the_rational_answer(seed):
    A, b, w, center, v = instance(seed)
    lower, upper = np.full(3, -2.0), np.full(3, 2.0)
    g, f = tb.LeastSquares(A, b, weights=w), tb.SquaredNorm(center, weights=v)
    *_, answer = solve_rows([g, f], tb.Box(lower, upper))
    first, second = least_squares(A, b, w), squared_distance(center)
    second = second._replace(H=[[Fraction(v[i]) * h for h in row] for i, row in enumerate(second.H)])
    second = second._replace(
        q=[Fraction(v[i]) * q for i, q in enumerate(second.q)],
        c=sum(Fraction(v[i]) * Fraction(center[i]) ** 2 for i in range(3)) / 2,
    )
    truth = bilevel(first, second, lower, upper)
    assert answer.g_lower <= truth.g <= answer.g_upper
    assert answer.f_lower <= truth.f <= answer.f_upper
    scale = 1e-9 * (1 + float(truth.f))
    assert abs(f.value(answer.x) - truth.f) <= scale
    assert np.isinf(answer.f_upper) or answer.f_upper - answer.f_lower <= scale


@pytest.mark.parametrize("domain", [tb.L1Ball(1.5), tb.Simplex(2.0), tb.Box(-1.0, 1.0)])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_weights_that_data_can_hold(domain, form):
    """Powers of four are rows times powers of two, to the last bit; and weights of zero are rows left out."""
    rng = np.random.default_rng(7)
    A, b, B, c = (
        rng.standard_normal((5, 9)),
        rng.standard_normal(5),
        rng.standard_normal((6, 9)),
        rng.standard_normal(6),
    )
    w, u = 4.0 ** rng.integers(-2, 3, 5), 4.0 ** rng.integers(-2, 3, 6)
    w[2], u[0] = 0.0, 0.0
    one = tb.Problem(tb.LeastSquares(form(B), c, 0.5, u), tb.LeastSquares(form(A), b, weights=w), domain)
    keep, also = w > 0, u > 0
    rows, others = (np.sqrt(w)[:, None] * A)[keep], (np.sqrt(u)[:, None] * B)[also]
    two = tb.Problem(
        tb.LeastSquares(form(others), (np.sqrt(u) * c)[also], 0.5),
        tb.LeastSquares(form(rows), (np.sqrt(w) * b)[keep]),
        domain,
    )
    x = rng.standard_normal(9)
    np.testing.assert_allclose(one.upper.grad(x), two.upper.grad(x), rtol=1e-13)
    first, second = tb.solve(one), tb.solve(two)
    assert first.success and second.success
    c1, c2 = first.certificate, second.certificate
    assert max(c1.g_lower, c2.g_lower) <= min(c1.g_upper, c2.g_upper)
    assert max(c1.f_lower, c2.f_lower) <= min(c1.f_upper, c2.f_upper)
    assert c1.f_upper - c1.f_lower <= 1e-8


def test_columns_and_rows_agree():
    rng = np.random.default_rng(3)
    A, b, w, v = rng.standard_normal((4, 8)), rng.standard_normal(4), rng.random(4), rng.random(8) * (np.arange(8) != 3)
    problem = tb.Problem(tb.SquaredNorm(weights=v), tb.LeastSquares(A, b, weights=w), tb.Simplex(1.0))
    one, (*_, two) = solve_columns(problem), solve_rows(problem.levels, problem.domain)
    assert max(one.f_lower, two.f_lower) <= min(one.f_upper, two.f_upper)
    assert max(one.g_lower, two.g_lower) <= min(one.g_upper, two.g_upper)
    np.testing.assert_allclose(one.x, two.x, atol=1e-7)


def test_an_intercept_is_free():
    """The least norm of the slopes: the solution of the centred data."""
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((6, 10)), 5 + rng.standard_normal(6)
    data = np.hstack([A, np.ones((6, 1))])
    w = np.append(np.ones(10), 0.0)
    result = tb.solve(tb.Problem(tb.SquaredNorm(weights=w), tb.LeastSquares(data, b), tb.Box(-50.0, 50.0)))
    centred, shift = A - A.mean(axis=0), b - b.mean()
    slopes = np.linalg.lstsq(centred, shift, rcond=None)[0]
    assert result.success
    np.testing.assert_allclose(result.x[:-1], slopes, atol=1e-9)
    np.testing.assert_allclose(result.x[-1], b.mean() - A.mean(axis=0) @ slopes, atol=1e-9)


def test_strong_convexity_is_that_of_the_least_weight():
    assert strong_convexity(tb.SquaredNorm(weights=[2.0, 0.5]), 2) == pytest.approx(0.5)
    assert strong_convexity(tb.SquaredNorm(weights=[2.0, 0.0]), 2) == 0.0
    large = np.linspace(0.25, 1, 600)
    assert strong_convexity(tb.SquaredNorm(weights=large), 600) == 0.25
    both = tb.SquaredNorm(weights=large) + 2 * tb.SquaredNorm(dim=600)
    assert strong_convexity(both, 600) == pytest.approx(2.25)
    assert tb.SquaredNorm(weights=[3.0, 3.0]).form.isotropic(2)[0] == 3.0
    assert tb.SquaredNorm(weights=[3.0, 1.0]).form.isotropic(2) is None


@pytest.mark.parametrize("weights", [[1.0, 2.0, 0.0], [2.0, 2.0, 2.0], [1.0, 3.0, 1e-3], [0.0, 0.0, 5.0]])
def test_methods_on_weighted_levels(weights):
    """Methods by gradients and projections reach what the engine proves."""
    A = np.array([[1.0, 1.0, -1.0], [0.5, 2.0, 1.0]])
    problem = tb.Problem(
        tb.SquaredNorm([1.0, -1.0, 0.5], weights=weights),
        tb.LeastSquares(A, [1.0, 2.0], weights=[2.0, 0.0]),
        tb.Box(-1, 1),
    )
    exact = tb.solve(problem)
    assert exact.success and exact.certificate.two_sided
    near = tb.solve(problem, "cg-bio-anytime", max_iter=4000, tol_upper=1e-2, tol_lower=1e-4)
    assert near.f == pytest.approx(exact.f, abs=2e-2) and near.certificate.f_lower <= exact.f + 1e-12


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tb.LeastSquares([[1.0]], [1.0], weights=[-1.0]), "weights must not be negative, got -1"),
        (lambda: tb.LeastSquares([[1.0]], [1.0], weights=[1.0, 2.0]), "weights has length 2, expected 1"),
        (lambda: tb.SquaredNorm(weights=[0.0, 0.0]), "weights are all zero"),
        (lambda: tb.SquaredNorm([1.0], weights=[1.0, 1.0]), "weights has length 2, expected 1"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()
