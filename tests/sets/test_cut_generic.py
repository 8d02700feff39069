"""The generic cut oracle on hulls of listed points, where the answer is known by enumeration, and on a smooth set."""

from __future__ import annotations

import numpy as np
import pytest
import references
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.sets.base import CutStatus, Domain
from tiebreak.sets.cuts.dual import cut_by_dual, project_by_dual
from tiebreak.sets.l2 import L2Ball


class Hull(Domain):
    """The hull of the rows of a matrix; it counts the calls of its oracle."""

    diameter = np.inf

    def __init__(self, points, last=False):
        self.points, self.dim, self.calls, self.last = points, points.shape[1], 0, last

    def lmo(self, c):
        self.calls += 1
        values = self.points @ c
        best = np.flatnonzero(values == values.min())
        return self.points[best[-1 if self.last else 0]]

    def project(self, x):
        raise AssertionError("only lmo may be called")

    def contains(self, x, tol=1e-9):
        raise AssertionError("only lmo may be called")


small = st.integers(-2, 2).map(float)


@st.composite
def hulls(draw):
    dim, count = draw(st.integers(1, 4)), draw(st.integers(1, 12))
    rows = st.lists(st.lists(small, min_size=dim, max_size=dim), min_size=count, max_size=count)
    a, c = (np.array(draw(st.lists(small, min_size=dim, max_size=dim))) for _ in range(2))
    return Hull(np.array(draw(rows)), last=draw(st.booleans())), a, c


@settings(max_examples=400, deadline=None)
@given(hulls(), st.data())
def test_cut_equals_enumeration_whatever_the_ties(instance, data):
    """Integers: every tie is exact, and the oracle may break it either way."""
    hull, a, c = instance
    sides = hull.points @ c
    b = data.draw(st.sampled_from([*sides, sides.min() + 0.3 * np.ptp(sides), sides.max() + 1]))
    of_a, of_c = (data.draw(st.sampled_from([2.0**-27, 1.0, 2.0**27])) for _ in range(2))  # exact: ties stay ties
    warm = data.draw(st.sampled_from([0.0, 1e-3, 0.5, 1.0, 50.0, np.inf])) * of_a / of_c
    cut = cut_by_dual(hull, of_a * a, of_c * c, of_c * b, warm)
    assert cut.status in (CutStatus.ACTIVE, CutStatus.INACTIVE)
    best = references.cut_by_pairs(hull.points, a, c, b)
    assert a @ cut.point == pytest.approx(best, abs=1e-10)
    assert c @ cut.point <= b + 1e-11
    assert cut.gap <= 1e-9 * of_a
    multiplier = cut.multiplier * of_c / of_a
    dual = (hull.points @ (a + multiplier * c)).min() - multiplier * b
    assert dual == pytest.approx(best, abs=1e-9 * (1 + multiplier))
    assert hull.calls <= 12


@settings(max_examples=100, deadline=None)
@given(hulls())
def test_a_cut_below_the_minimum_is_told_from_rounding(instance):
    hull, a, c = instance
    least = (hull.points @ c).min()
    infeasible = cut_by_dual(hull, a, c, least - 1e-6)
    assert (infeasible.status, infeasible.multiplier, infeasible.gap) == (CutStatus.INFEASIBLE, np.inf, np.inf)
    assert c @ infeasible.point == least
    if least != 0:
        boundary = cut_by_dual(hull, a, c, least - 1e-14 * abs(least))
        assert (boundary.status, boundary.multiplier, boundary.gap) == (CutStatus.BOUNDARY, np.inf, np.inf)
        face = hull.points[hull.points @ c == least]
        assert a @ boundary.point == pytest.approx((face @ a).min(), abs=1e-11)


def test_calls_on_a_large_hull_stay_few():
    rng = np.random.default_rng(0)
    for _ in range(20):
        hull = Hull(rng.normal(size=(2000, 10)))
        a, c = rng.normal(size=(2, 10))
        sides = hull.points @ c
        cut = cut_by_dual(hull, a, c, float(np.quantile(sides, 0.01)))
        assert hull.calls <= 15
        hull.calls = 0
        again = cut_by_dual(hull, a, c, float(np.quantile(sides, 0.01)), warm=1.001 * cut.multiplier)
        assert a @ again.point == pytest.approx(a @ cut.point, abs=1e-11)


def test_a_smooth_set_is_solved_to_its_certified_gap():
    ball, rng = L2Ball(2.0), np.random.default_rng(1)
    for _ in range(50):
        a, c = rng.normal(size=(2, 8))
        b = rng.uniform(-1.9, 1.9) * float(np.linalg.norm(c))
        exact, found = ball.lmo_cut(a, c, b), cut_by_dual(ball, a, c, b)
        size = np.linalg.norm(a) + exact.multiplier * np.linalg.norm(c)
        assert found.gap <= 1e-10 * size
        assert -1e-14 * size <= a @ found.point - a @ exact.point <= found.gap + 1e-14 * size
        loose = cut_by_dual(ball, a, c, b, tol=1e-3)
        assert a @ loose.point - a @ exact.point <= loose.gap + 1e-14 * size <= 1e-1 * size


def test_the_point_is_a_mix_of_two_vertices():
    points = np.array([[0.0, 0.0, 3.0, 0.0], [0.0, -2.0, 0.0, 1.0]])
    a, c = np.array([0.0, 0.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0, 0.0])
    cut = cut_by_dual(Hull(points), a, c, 1.0)
    np.testing.assert_allclose(cut.point, points[0] / 3 + 2 * points[1] / 3, rtol=0, atol=1e-15)


def test_projection_that_satisfies_the_cut_needs_no_search():
    x = np.array([0.2, 0.1])
    np.testing.assert_array_equal(project_by_dual(L2Ball(1.0), x, np.zeros(2), 0.0), x)
    np.testing.assert_array_equal(project_by_dual(L2Ball(1.0), x, np.ones(2), 1.0), x)
