"""Birkhoff against all permutations, a linear programme and the conditions of a projection."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import references
import structured
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.sets.birkhoff import Birkhoff

SETTINGS = settings(max_examples=30, deadline=None)


def permutations(n):
    return np.array([np.eye(n)[list(order)].ravel() for order in itertools.permutations(range(n))])


@SETTINGS
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_cut_against_enumeration(seed, n):
    rng = np.random.default_rng(seed)
    Z, vertices = Birkhoff(n), permutations(n)
    for instance in references.instances(Z, n * n, len(references.FAMILIES), rng):
        cut = Z.lmo_cut(instance.a, instance.c, instance.b)
        verdict = references.judge(Z, structured.birkhoff, instance, cut)
        assert verdict.status_is_right
        assert max(verdict[:2]) <= 1e-9, instance.family
        assert Z.contains(cut.point, 1e-12)
        if not instance.infeasible and instance.family not in ("at the minimum", "near the minimum"):
            best = references.cut_by_pairs(vertices, instance.a, instance.c, instance.b)
            size = np.abs(instance.a).sum()
            assert instance.a @ cut.point == pytest.approx(best, abs=1e-11 * size)
        s = Z.lmo(instance.a)
        size = np.abs(instance.a).sum()
        assert instance.a @ s == pytest.approx((vertices @ instance.a).min(), abs=1e-14 * size)
        assert Z.lmo_bound(instance.a, s) <= (vertices @ instance.a).min()


@SETTINGS
@given(st.integers(0, 10**6), st.integers(1, 7), st.sampled_from([0.1, 1.0, 1e3]))
def test_projection_is_variational(seed, n, size):
    """<x - p, s - p> <= 0 for all s, and p - x = u_i + v_j where p is positive."""
    rng = np.random.default_rng(seed)
    Z = Birkhoff(n)
    x = size * (rng.integers(-2, 3, n * n) if seed % 2 else rng.standard_normal(n * n))
    p = Z.project(x)
    assert Z.contains(p, 1e-12)
    assert (x - p) @ (Z.lmo(p - x) - p) <= 1e-12 * max(size, 1.0)
    sums = np.hstack([np.kron(np.eye(n), np.ones((n, 1))), np.kron(np.ones((n, 1)), np.eye(n))])
    support = p > 1e-9
    fit = np.linalg.lstsq(sums[support], (p - x)[support], rcond=None)[0]
    np.testing.assert_allclose(sums[support] @ fit, (p - x)[support], atol=1e-11 * max(size, 1.0))


def test_projection_of_members_and_known_points():
    Z = Birkhoff(3)
    for p in (np.full(9, 1 / 3), permutations(3)[3]):
        np.testing.assert_allclose(Z.project(p), p, atol=1e-14)
    np.testing.assert_allclose(Z.project(np.zeros(9)), np.full(9, 1 / 3), atol=1e-14)
    np.testing.assert_allclose(Birkhoff(1).project(np.array([5.0])), [1.0])


def test_projection_against_a_conic_solver():
    import cvxpy as cp

    rng = np.random.default_rng(1)
    V = rng.standard_normal((4, 4))
    X = cp.Variable((4, 4))
    rows = [cp.sum(X, axis=0) == 1, cp.sum(X, axis=1) == 1, X >= 0]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X - V)), rows)
    problem.solve(cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    np.testing.assert_allclose(Birkhoff(4).project(V.ravel()), X.value.ravel(), atol=1e-7)


def test_mix_of_two_diameter_and_membership():
    Z = Birkhoff(4)
    a, c = np.random.default_rng(0).standard_normal((2, 16))
    point = Z.lmo_cut(a, c, float(c @ Z.lmo(c)) + 0.1).point
    vertices = permutations(4)
    share = point[point > 0].min()
    mixes = (share * v + (1 - share) * w for v in vertices for w in vertices)
    assert 0 < share < 1 and min(np.abs(mix - point).max() for mix in mixes) < 1e-14
    gaps = np.linalg.norm(vertices[:, None] - vertices[None], axis=2)
    assert gaps.max() == pytest.approx(Z.diameter)
    assert Birkhoff(1).diameter == 0.0
    assert not Z.contains(np.full(16, 0.25) + 1e-6)
    with pytest.raises(ValueError, match="at least 1"):
        Birkhoff(0)
