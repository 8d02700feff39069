"""GroupBall against the dual in extended precision, a naive projection and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import references
import structured
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.sets.base import CutStatus
from tiebreak.sets.cuts.spheres import Spheres
from tiebreak.sets.group import GroupBall
from tiebreak.sets.l1 import L1Ball
from tiebreak.sets.l2 import L2Ball

SETTINGS = settings(max_examples=20, deadline=None)


@SETTINGS
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 7, 20]), st.sampled_from([1e-8, 1.0, 1e8]))
def test_cut_matches_the_dual(seed, dim, radius):
    rng = np.random.default_rng(seed)
    ball = GroupBall(rng.integers(0, 4, dim), radius)
    for instance in references.instances(ball, dim, len(references.FAMILIES), rng):
        cut = ball.lmo_cut(instance.a, instance.c, instance.b, warm=rng.choice([0.0, 1.0, 1e9]))
        verdict = references.judge(ball, structured.by_formula, instance, cut)
        assert verdict.status_is_right
        assert max(verdict[:3]) <= 1e-11, instance.family
        assert ball.contains(cut.point, 1e-12)
        assert len(set(ball._labels[cut.point != 0])) <= 2


def test_mix_of_two_groups_and_one_group():
    ball = GroupBall([[0, 1], [2, 3]], 1.0)
    two = ball.lmo_cut(np.array([-2.0, 0.0, -1.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0]), 0.25)
    np.testing.assert_allclose(two.point, [0.25, 0.0, 0.75, 0.0], atol=1e-14)
    assert two.multiplier == pytest.approx(1.0)
    one = ball.lmo_cut(np.array([-3.0, -4.0, 0.0, 0.1]), np.array([0.0, 1.0, 0.0, 0.0]), 0.6)
    np.testing.assert_allclose(one.point, [0.8, 0.6, 0.0, 0.0], atol=1e-12)
    assert one.status is CutStatus.ACTIVE


def test_limits_of_the_groups():
    """One group is a Euclidean ball, singletons are an l1 ball."""
    rng = np.random.default_rng(0)
    whole, single = GroupBall([range(5)], 2.0), GroupBall(np.arange(5), 2.0)
    for _ in range(50):
        a, c, x = rng.standard_normal((3, 5))
        b = 0.3 * float(np.abs(c).max()) * rng.standard_normal()
        for ball, twin in ((whole, L2Ball(2.0)), (single, L1Ball(2.0))):
            assert ball.lmo(c) @ c == pytest.approx(twin.lmo(c) @ c)
            assert ball.lmo_cut(a, c, b).point @ a == pytest.approx(twin.lmo_cut(a, c, b).point @ a, abs=1e-12)
            np.testing.assert_allclose(ball.project(x), twin.project(x), atol=1e-14)


@SETTINGS
@given(st.integers(0, 10**6), st.sampled_from([1e-8, 1.0, 1e8]))
def test_projection_is_variational(seed, scale):
    rng = np.random.default_rng(seed)
    ball = GroupBall(rng.integers(0, 3, 8), scale)
    x = scale * rng.integers(-2, 3, 8) * rng.choice([0.1, 1.0, 100.0])
    p = ball.project(x)
    assert ball.contains(p, 1e-12)
    assert (x - p) @ (ball.lmo(p - x) - p) <= 1e-13 * scale * max(np.abs(x).max(), scale)
    inside = ball.lmo(rng.standard_normal(8)) * 0.5
    np.testing.assert_array_equal(ball.project(inside), inside)


def test_group_numbers_match_the_points():
    """Also where a_g is parallel to c_g but for rounding, and lam takes all of it away."""
    labels = np.repeat(np.arange(4), 5)
    c = np.random.default_rng(0).standard_normal(20)
    a = -0.3 * c + np.where(labels < 2, 0.0, 1e-9 * c[::-1])
    spheres = Spheres(a, c, labels, 4)
    for lam in (0.0, 0.3, np.nextafter(0.3, 1), 1.0, 1e7, np.inf):
        s = spheres.points(lam)
        for product, v in zip(spheres.products(lam), (a, c), strict=True):
            np.testing.assert_allclose(np.bincount(labels, weights=v * s), product, atol=1e-14)
        np.testing.assert_allclose(np.bincount(labels, weights=s * s), 1.0, atol=1e-13)


def test_zero_costs_and_diameter():
    ball = GroupBall(np.array([7, 7, -3]), 2.0)
    assert ball.contains(ball.lmo(np.zeros(3)))
    assert ball.lmo_cut(np.zeros(3), np.zeros(3), 0.0).status is CutStatus.INACTIVE
    assert ball.diameter == 4.0
    assert not ball.contains(np.array([2.0, 0.0, 1e-6]))
    assert np.isfinite(ball.lmo(np.array([1e-200, 0, 0]))).all()


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ([], ValueError, "empty"),
        ([[0, 1], [1, 2]], ValueError, "exactly once"),
        ([[0], [2]], ValueError, "exactly once"),
        ([[0], []], ValueError, r"groups\[1\]"),
        ([[0], [1.5]], ValueError, r"groups\[1\]"),
        ([0.5, 1.5], TypeError, "integer labels"),
        (np.zeros((2, 2)), ValueError, r"groups\[0\]"),
    ],
)
def test_bad_groups(groups, error, message):
    with pytest.raises(error, match=message):
        GroupBall(groups, 1.0)


def test_bad_radius_and_vectors():
    with pytest.raises(ValueError, match="radius must be positive"):
        GroupBall([[0]], 0.0)
    with pytest.raises(ValueError, match="c has length 3"):
        GroupBall([[0, 1]], 1.0).lmo(np.ones(3))
