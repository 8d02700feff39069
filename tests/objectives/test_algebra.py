"""Sums and multiples."""

from __future__ import annotations

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.objectives import Multiple, Sum

A, B = np.arange(6.0).reshape(2, 3), np.ones((4, 3))
least, log = tb.LeastSquares(A, [1, 2]), tb.Logistic(B, [0, 1, 1, 0])
x = np.array([0.3, -1.0, 2.0])


def test_sums_are_flat_and_multiples_too():
    total = (least + log) + (tb.SquaredNorm() + tb.Linear([1, 2, 3]))
    assert isinstance(total, Sum)
    assert len(total.terms) == 4
    double = 2 * (3 * least)
    assert isinstance(double, Multiple)
    assert (double.factor, double.inner) == (6.0, least)
    assert (np.float32(0.5) * least * 4).value(x) == 2 * least.value(x)


def test_facts_combine():
    total = 2 * least + tb.SquaredNorm() + tb.Linear([1, 2, 3])
    assert total.convex
    assert total.quadratic
    assert total.dim == 3
    assert total.lower_bound == -np.inf
    np.testing.assert_allclose(total.smoothness, 2 * least.smoothness + 1)
    assert (2 * least + log).lower_bound == 0.0
    assert not (least + log).quadratic
    assert (least + log).curvature_along(x, (least.image(x), log.image(x))) is None
    rough = tb.Function(lambda v: 0.0, lambda v: 0 * v, lower_bound=1.0)
    total = least + 3 * rough
    assert not total.convex
    assert total.smoothness is None
    assert (3 * rough).smoothness is None
    assert total.lower_bound == 3.0
    assert total.claims == rough.claims != ""
    assert least.claims == (2 * least + log).claims == ""
    assert tb.SquaredNorm().dim is (tb.SquaredNorm() + tb.SquaredNorm()).dim is None


def test_predictor_of_one_matrix_plus_linear_terms():
    c = np.array([1.0, 2.0, 3.0])
    total = 2 * (3 * log + tb.Linear(c)) + 0.5 * tb.Linear(c)
    for objective in (total, log + tb.Linear(c), 4 * least, tb.Linear(c) + 4 * least):
        predictor = objective.predictor
        value, slope = predictor.link(predictor.A @ x)
        q = np.zeros(3) if predictor.q is None else predictor.q
        np.testing.assert_allclose(value + q @ x, objective.value(x), rtol=1e-14)
        np.testing.assert_allclose(predictor.A.T @ slope + q, objective.grad(x), rtol=1e-13)
        assert predictor.strictly_convex
    assert (least + log).predictor is None
    assert (least + tb.SquaredNorm()).predictor is None
    assert (2 * tb.SquaredNorm()).predictor is None
    assert (tb.Linear(c) + tb.Linear(c)).predictor is None
    assert log.predictor.q is None


def test_what_cannot_be_combined():
    with pytest.raises(ValueError, match=r"one dimension, got \[2, 3\]"):
        least + tb.Linear([1, 2])
    for factor in (0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="factor"):
            factor * least
        with pytest.raises(ValueError, match="factor"):
            factor * tb.Linear([1.0])
    for other in ("2", None, [1.0], 1j):
        with pytest.raises(TypeError):
            other * least
        with pytest.raises(TypeError):
            other * tb.Linear([1.0])
    with pytest.raises(TypeError):
        least + 1
