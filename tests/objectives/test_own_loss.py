"""Losses that a user writes: as good as the library's own, and held to what they say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.fingerprint import fingerprint


@dataclass(frozen=True, eq=False)
class OwnLogistic(tb.Loss):
    """The logistic loss again, in the least words."""

    y: np.ndarray

    lower_bound, strictly_convex, self_concordance = 0.0, True, 1.0
    row_data = ("y",)

    def value_and_slope(self, t):
        margin = self.y * t
        return float(np.mean(np.logaddexp(0, -margin))), -self.y / (1 + np.exp(margin)) / t.size

    def curvature(self, t):
        return 1 / (2 + 2 * np.cosh(t)) / t.size


class Plain(tb.Loss):
    """No dataclass, no facts."""

    def value_and_slope(self, t):
        return float(np.sum(np.exp(t))), np.exp(t)

    def curvature(self, t):
        return np.exp(t)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal((8, 12)), np.where(np.arange(8) % 2, 1.0, -1.0)


def test_it_is_as_good_as_the_one_of_the_library(data):
    A, y = data
    own, given = tb.LossOf(OwnLogistic(y), A), tb.Logistic(A, y)
    assert tb.testing.check_objective(own) > 50
    results = [tb.solve(tb.Problem(tb.SquaredNorm(), g, tb.L1Ball(3.0))) for g in (own, given)]
    assert all(r.success and r.method == "exact" for r in results)
    np.testing.assert_allclose(results[0].x, results[1].x, atol=1e-7)
    c, d = (r.certificate for r in results)
    assert max(c.f_lower, d.f_lower) <= min(c.f_upper, d.f_upper)
    assert any("OwnLogistic" in claim for claim in c.assumes)
    assert own.smoothness is None  # it says nothing of the largest curvature
    twice = 2 * own + tb.SquaredNorm()
    np.testing.assert_allclose(twice.value(np.ones(12)), 2 * given.value(np.ones(12)) + 6)


def test_its_data_tell_it_from_others(data):
    A, y = data
    problems = [tb.Problem(tb.SquaredNorm(), tb.LossOf(OwnLogistic(s), A), tb.L1Ball(3.0)) for s in (y, y.copy(), -y)]
    one, same, other = map(fingerprint, problems)
    assert not one.difference(same) and one.difference(other) == "lower"


def test_without_facts_methods_that_need_none_take_it(data):
    A, _ = data
    f = tb.LossOf(Plain(), A)
    assert f.lower_bound == -np.inf and f.smoothness is None and f.summands == 1
    assert tb.testing.check_objective(f) > 50
    result = tb.solve(tb.Problem(tb.SquaredNorm(), f, tb.L1Ball(1.0)), "cg-bio-anytime", max_iter=50)
    assert np.isfinite(result.g) and result.certificate.g_lower <= result.g


def lying(**facts):
    return type("Lying", (OwnLogistic,), facts)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (lying(curvature=lambda self, t: np.full(t.size, 0.5)), "curvature must be the slope's"),
        (lying(most=1e-9), "most must bound it"),
        (lying(self_concordance=0.01), "self_concordance must bound"),
        (lying(conjugate=lambda self, u: -50.0), "conjugate must be the supremum"),
        (lying(conjugate=lambda self, u: 50.0), r"conjugate at h'\(t\)"),
        (lying(lower_bound=1.0), "no value may be below lower_bound"),
    ],
)
def test_lies_are_found(loss, message, data):
    A, y = data
    with pytest.raises(AssertionError, match=message):
        tb.testing.check_objective(tb.LossOf(loss(y), A))


@pytest.mark.parametrize(
    ("loss", "error", "message"),
    [
        ("logistic", TypeError, "loss must be an object of a subclass of tiebreak.Loss, got str"),
        (lying(curvature=lambda self, t: -np.ones(t.size)), ValueError, "must not be negative, as h is convex"),
        (lying(curvature=lambda self, t: 1.0), ValueError, r"loss.curvature\(t\) must return an array of shape \(8,\)"),
        (lying(value_and_slope=lambda self, t: 1.0), TypeError, "two things"),
        (lying(value_and_slope=lambda self, t: (t, t)), ValueError, "a single number"),
    ],
)
def test_errors(loss, error, message, data):
    A, y = data
    with pytest.raises(error, match=message):
        tb.LossOf(loss(y) if isinstance(loss, type) else loss, A)
