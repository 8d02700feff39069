"""Piecewise linear objectives: values and subgradients in rational arithmetic, and their rows against their values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

import tiebreak as tb
from fractional import dot, fractions, norm_is_at_most, times
from tiebreak.objectives.piecewise import residuals_between

KINDS = ["absolute", "weighted", "largest"]


def made(kind: str, seed: int, size: float = 1.0) -> tb.Objective:
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 7, 2)
    A = size * rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)
    b = size * rng.standard_normal(n)
    if kind == "largest":
        return tb.MaxAffine(A, b)
    weights = rng.random(n) * (rng.random(n) < 0.8) + (np.arange(n) == 0)
    return tb.L1Norm(A=A, b=b) if kind == "absolute" else tb.L1Norm(weights, A=sparse.csr_array(A), b=b)


def exact(f, x) -> Fraction:
    A = f.A.toarray() if sparse.issparse(f.A) else f.A
    r = [s - t for s, t in zip(times(A, fractions(x)), fractions(f.b), strict=True)]
    if isinstance(f, tb.MaxAffine):
        return max(r)
    return sum((w * abs(t) for w, t in zip(fractions(f.weights), r, strict=True)), Fraction(0))


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([1e-6, 1.0, 1e6]))
def test_values_and_subgradients(kind, seed, size):
    f = made(kind, seed, size)
    rng = np.random.default_rng([seed, 1])
    x = rng.standard_normal(f.dim)
    value, grad = f.value_and_grad(x)
    value_error, grad_error = f.rounding(x)
    assert abs(Fraction(value) - exact(f, x)) <= Fraction(value_error)
    assert value >= f.lower_bound
    for other in (rng.standard_normal(f.dim), np.zeros(f.dim), -x):  # below everywhere, rounding given away
        step = [s - t for s, t in zip(fractions(other), fractions(x), strict=True)]
        plane = Fraction(value) - Fraction(value_error) + dot(fractions(grad), step)
        plane -= Fraction(grad_error) * Fraction(float(np.linalg.norm(other - x)) * (1 + 1e-12))
        assert plane <= exact(f, other)
    assert norm_is_at_most(fractions(grad), f.steepest(f.dim) * (1 + 1e-12))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_rows_give_the_value(kind, seed):
    f = 0.3 * made(kind, seed)
    x = np.random.default_rng(seed).standard_normal(f.dim)
    S, T, costs = f.epigraph
    r = f.A @ x - f.b
    low, high = f.extents(r - 1e-9, r + 1e-9)
    found = linprog(costs, A_ub=-T.toarray(), b_ub=-(S @ r), bounds=np.column_stack([low, high]))
    assert float(f.factor) * found.fun == pytest.approx(f.value(x), abs=1e-8)
    assert (costs > 0).all() and set(np.abs(sparse.csr_array(S).data)) <= {1.0}


@pytest.mark.parametrize("kind", KINDS)
def test_conformance(kind):
    f = made(kind, 3)
    assert tb.testing.check_objective(f) > 50
    assert tb.testing.check_objective(2 * f + tb.SquaredNorm() + tb.L1Norm(0.5)) > 50


def test_residuals_between():
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((4, 3)), rng.standard_normal(4)
    lower, upper = -rng.random(3), rng.random(3)
    low, high = residuals_between(A, b, lower, upper)
    sparsely = residuals_between(sparse.csr_array(A), b, lower, upper)
    np.testing.assert_allclose(sparsely, (low, high))
    for i in range(4):
        found = [linprog(sign * A[i], bounds=np.column_stack([lower, upper])).fun for sign in (1, -1)]
        assert low[i] == pytest.approx(found[0] - b[i]) and high[i] == pytest.approx(-found[1] - b[i])
    A[0, 0], A[1, 0] = 0.0, 1.0
    low, high = residuals_between(A, b, np.array([-np.inf, *lower[1:]]), upper)
    assert np.isfinite(low[0]) and np.isfinite(high[:2]).all() and low[1] == -np.inf


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tb.L1Norm(b=[1.0]), "b goes with A"),
        (lambda: tb.L1Norm(A=[[1.0]], b=[1.0, 2.0]), "b has length 2, expected 1"),
        (lambda: tb.L1Norm(-1.0, A=[[1.0]]), "weights must not be negative"),
        (lambda: tb.L1Norm(A=[[1.0]], dim=2), "dim is 2, but A has 1 columns"),
        (lambda: tb.MaxAffine([1.0, 2.0]), "A must be a 2-D"),
        (lambda: -1 * tb.MaxAffine([[1.0]]), "minus MaxAffine is not known to be convex"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()
