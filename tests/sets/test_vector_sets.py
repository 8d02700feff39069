"""The sets of plain vectors, against brute force, an LP, extended precision or the optimality conditions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import references
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.sets.base import CutStatus
from tiebreak.sets.box import Box
from tiebreak.sets.cuts.dual import cut_by_dual, project_by_dual
from tiebreak.sets.ksparse import KSparse
from tiebreak.sets.l1 import L1Ball
from tiebreak.sets.l2 import L2Ball
from tiebreak.sets.lp import LpBall
from tiebreak.sets.simplex import Simplex

# For each set: how to make one in dimension d, and its reference for the cut.
POLYTOPES = {
    "l1": (lambda d, size: L1Ball(size), references.l1_ball),
    "weighted l1": (lambda d, size: L1Ball(size, np.geomspace(1e-2, 1e2, d)), references.l1_ball),
    "simplex": (lambda d, size: Simplex(size), references.simplex),
    "box": (lambda d, size: Box(-size * np.arange(d), size * (np.arange(d) % 3)), references.box),
    "cube": (lambda d, size: Box(-size, size), references.box),
    "1-sparse": (lambda d, size: KSparse(1, size), references.k_sparse),
    "k-sparse": (lambda d, size: KSparse((d + 1) // 2, size), references.k_sparse),
}
BALLS = {
    "l2": (lambda d, size: L2Ball(size), references.l2_ball),
    "shifted l2": (lambda d, size: L2Ball(size, size * np.linspace(-1, 2, d)), references.l2_ball),
    "l1.2": (lambda d, size: LpBall(1.2, size), references.lp_ball),
    "l2 as lp": (lambda d, size: LpBall(2, size), references.lp_ball),
    "l7": (lambda d, size: LpBall(7, size), references.lp_ball),
}
SETS = POLYTOPES | BALLS
every_set = pytest.mark.parametrize("name", SETS)
every_polytope = pytest.mark.parametrize("name", POLYTOPES)

sizes = st.sampled_from([1e-6, 0.5, 1.0, 3.0, 1e6])
entries = st.one_of(st.sampled_from([-2.0, -1.0, 0.0, 0.0, 1.0, 2.0]), st.floats(-5, 5).map(lambda x: round(x, 6)))
scales = st.integers(-8, 8).map(lambda k: 10.0**k)


@st.composite
def vectors(draw, dim):
    return draw(scales) * np.array(draw(st.lists(entries, min_size=dim, max_size=dim)))


@st.composite
def problems(draw, name, most=6):
    """A set, and two vectors of its dimension."""
    dim = draw(st.integers(1, most))
    domain = SETS[name][0](dim, draw(sizes))
    return domain, draw(vectors(dim)), draw(vectors(dim))


def vertices(domain, dim):
    """All extreme points, listed."""
    if isinstance(domain, Simplex):
        return domain.total * np.eye(dim)
    if isinstance(domain, L1Ball):
        extent = domain.radius / (np.ones(dim) if domain.weights is None else domain.weights)
        return np.vstack([np.diag(extent), -np.diag(extent)])
    if isinstance(domain, Box):
        bounds = zip(np.broadcast_to(domain.lower, dim), np.broadcast_to(domain.upper, dim), strict=True)
        return np.array(list(itertools.product(*bounds)))
    signs = itertools.product([-domain.radius, 0.0, domain.radius], repeat=dim)
    return np.array([s for s in signs if np.count_nonzero(s) == domain.k])


def check_point(domain, cut, dim):
    """In the set, and a mix of at most two of its vertices."""
    assert cut.point.shape == (dim,)
    assert domain.contains(cut.point, 1e-12)
    most = {L1Ball: 2, Simplex: 2, KSparse: 2 * getattr(domain, "k", 0)}.get(type(domain), dim)
    assert np.count_nonzero(cut.point) <= most


# -- linear minimisation -----------------------------------------------------------------------------------------


@every_polytope
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_lmo_finds_the_best_extreme_point(name, data):
    domain, c, _ = data.draw(problems(name))
    s = domain.lmo(c)
    listed = vertices(domain, c.size)
    assert (listed == s).all(axis=1).any()
    assert c @ s <= (listed @ c).min() + 1e-15 * (np.abs(listed) @ np.abs(c)).max()


@pytest.mark.parametrize("name", BALLS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_lmo_of_a_ball_reaches_its_support_function(name, data):
    domain, c, _ = data.draw(problems(name))
    s = domain.lmo(c)
    center = getattr(domain, "center", 0.0)
    p = getattr(domain, "p", 2)
    support = domain.radius * np.linalg.norm(c, p / (p - 1))
    assert domain.contains(s, 1e-13)
    np.testing.assert_allclose(c @ s, np.sum(c * center) - support, rtol=1e-13, atol=1e-13 * np.abs(c) @ np.abs(s))


# -- the cut -----------------------------------------------------------------------------------------------------


@every_set
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), dim=st.integers(1, 12), size=sizes, guess=st.sampled_from([0, 1e-3, 1, 1e3]))
def test_cut_is_optimal_on_every_family(name, seed, dim, size, guess):
    make, reference = SETS[name]
    domain, rng = make(dim, size), np.random.default_rng(seed)
    for instance in references.instances(domain, dim, len(references.FAMILIES), rng):
        unit = (np.abs(instance.a).max() or 1.0) / (np.abs(instance.c).max() or 1.0)
        cut = domain.lmo_cut(instance.a, instance.c, instance.b, warm=guess * unit)
        check_point(domain, cut, dim)
        verdict = references.judge(domain, reference, instance, cut)
        assert verdict.status_is_right, (instance, cut)
        assert verdict.error <= 1e-9, (instance, cut)
        assert verdict.violation <= 1e-14, (instance, cut)
        assert verdict.overclaim <= 1e-9, (instance, cut)


@every_polytope
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_cut_equals_the_best_mix_of_two_extreme_points(name, data):
    """Free of an LP solver's tolerances; own and generic oracle alike."""
    domain, a, c = data.draw(problems(name, most=5))
    listed = vertices(domain, a.size)
    sides = np.unique(listed @ c)
    at = data.draw(st.floats(0, 1))
    b = data.draw(st.sampled_from([*sides, (1 - at) * sides[0] + at * sides[-1]]))
    best = references.cut_by_pairs(listed, a, c, b)
    for cut in (domain.lmo_cut(a, c, b), cut_by_dual(domain, a, c, b)):
        check_point(domain, cut, a.size)
        multiplier = cut.multiplier if np.isfinite(cut.multiplier) else 0.0
        size = (np.abs(listed) @ (np.abs(a) + multiplier * np.abs(c))).max()
        assert abs(a @ cut.point - best) <= 2e-12 * size
        assert c @ cut.point <= b + 2e-12 * (np.abs(listed) @ np.abs(c)).max()
        if cut.status != CutStatus.BOUNDARY:
            assert a @ cut.point - best <= cut.gap + 1e-14 * size


@every_set
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), dim=st.integers(1, 12), size=sizes)
def test_generic_cut_agrees_with_the_own_one(name, seed, dim, size):
    domain, rng = SETS[name][0](dim, size), np.random.default_rng(seed)
    for instance in references.instances(domain, dim, len(references.FAMILIES), rng):
        arguments = instance.a, instance.c, instance.b
        own, generic = domain.lmo_cut(*arguments), cut_by_dual(domain, *arguments)
        assert (own.status == CutStatus.INFEASIBLE) == (generic.status == CutStatus.INFEASIBLE)
        if np.isfinite(own.gap) and np.isfinite(generic.gap):
            v = np.abs(instance.a) + own.multiplier * np.abs(instance.c)
            apart = abs(instance.a @ (own.point - generic.point))
            assert apart <= own.gap + generic.gap + 1e-11 * (v @ np.abs(domain.lmo(v)) + v @ np.abs(domain.lmo(-v)))


@every_set
def test_scaling_a_c_and_b_changes_nothing_but_units(name):
    rng = np.random.default_rng(3)
    domain = SETS[name][0](7, 1.0)
    c = rng.normal(size=7)
    a = 0.3 * rng.normal(size=7) - c
    b = 0.7 * float(c @ domain.lmo(c)) + 0.3 * float(c @ domain.lmo(a))
    plain = domain.lmo_cut(a, c, b)
    assert plain.status == CutStatus.ACTIVE
    for of_a, of_c in itertools.product([1e-8, 1e8], repeat=2):
        scaled = domain.lmo_cut(of_a * a, of_c * c, of_c * b)
        assert scaled.status == CutStatus.ACTIVE
        np.testing.assert_allclose(scaled.point, plain.point, atol=1e-12)
        np.testing.assert_allclose(scaled.multiplier, of_a / of_c * plain.multiplier, rtol=1e-9)


@every_set
def test_statuses(name):
    rng = np.random.default_rng(4)
    domain = SETS[name][0](6, 2.0)
    a, c = rng.normal(size=6), rng.normal(size=6)
    free, far = domain.lmo(a), domain.lmo(c)
    least = float(c @ far)
    inactive = domain.lmo_cut(a, c, float(c @ free) + 1.0)
    assert (inactive.status, inactive.multiplier, inactive.gap) == (CutStatus.INACTIVE, 0.0, 0.0)
    np.testing.assert_array_equal(inactive.point, free)
    boundary = domain.lmo_cut(a, c, least - 1e-14 * abs(least))
    infeasible = domain.lmo_cut(a, c, least - 1e-6 * abs(least))
    for cut, status in ((boundary, CutStatus.BOUNDARY), (infeasible, CutStatus.INFEASIBLE)):
        assert (cut.status, cut.multiplier, cut.gap) == (status, np.inf, np.inf)
        np.testing.assert_allclose(cut.point, far, rtol=1e-12, atol=1e-14)
    assert domain.lmo_cut(a, 0 * c, 0.0).status == CutStatus.INACTIVE
    assert domain.lmo_cut(a, 0 * c, -1e-3).status == CutStatus.INFEASIBLE


def test_pruning_keeps_the_lines_that_matter():
    """Dimensions above the threshold from which coordinates are dropped between passes."""
    rng = np.random.default_rng(5)
    for domain, reference in ((L1Ball(2.0), references.l1_ball), (Simplex(), references.simplex)):
        for instance in references.instances(domain, 3000, 2 * len(references.FAMILIES), rng):
            cut = domain.lmo_cut(instance.a, instance.c, instance.b)
            verdict = references.judge(domain, reference, instance, cut)
            assert verdict.status_is_right and max(verdict[:3]) <= 1e-9
            assert np.count_nonzero(cut.point) <= 2


@pytest.mark.parametrize("name", ["box", "cube", "l2", "l7"])
def test_any_feasible_point_will_do_for_a_zero_objective(name):
    domain = SETS[name][0](4, 1.0)
    c = np.array([1.0, -2.0, 0.0, 3.0])
    cut = domain.lmo_cut(np.zeros(4), c, 0.5 * float(c @ domain.lmo(c)))
    assert cut.multiplier == 0
    if isinstance(domain, Box):  # ties go to the side that the cut favours
        assert cut.status == CutStatus.INACTIVE


def test_box_answer_has_one_fractional_coordinate():
    rng = np.random.default_rng(6)
    box = Box(0.0, 1.0)
    for _ in range(50):
        a, c = rng.integers(-3, 4, (2, 20)).astype(float)
        cut = box.lmo_cut(a, c, rng.uniform(float(c @ box.lmo(c)), float(c @ box.lmo(a)) + 1e-9))
        assert np.count_nonzero((cut.point > 0) & (cut.point < 1)) <= 1


@pytest.mark.parametrize("p", [1.5, 2, 4])
def test_balls_against_a_conic_solver(p):
    import cvxpy as cp

    rng = np.random.default_rng(7)
    a, c, x = rng.normal(size=(3, 5))
    domain = L2Ball(1.5) if p == 2 else LpBall(p, 1.5)
    b = 0.6 * float(c @ domain.lmo(c))
    s = cp.Variable(5)
    feasible = [cp.norm(s, p) <= 1.5, c @ s <= b]
    cp.Problem(cp.Minimize(a @ s), feasible).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(a @ domain.lmo_cut(a, c, b).point, a @ s.value, rtol=1e-6)
    cp.Problem(cp.Minimize(cp.sum_squares(s - 3 * x)), feasible).solve(solver=cp.CLARABEL)
    near = domain.project_cut(3 * x, c, b)
    np.testing.assert_allclose(np.linalg.norm(near - 3 * x), np.linalg.norm(s.value - 3 * x), rtol=1e-6)


# -- projection --------------------------------------------------------------------------------------------------


@every_set
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_projection_satisfies_its_optimality_condition(name, data):
    domain, x, _ = data.draw(problems(name, most=12))
    p = domain.project(x)
    s = domain.lmo(p - x)
    assert domain.contains(p, 1e-12)
    rounding = 1e-15 * np.linalg.norm(x)
    span = np.linalg.norm(p) + np.linalg.norm(s)
    assert (x - p) @ (s - p) <= (np.linalg.norm(x - p) + rounding) * (1e-12 * span + rounding)
    np.testing.assert_allclose(domain.project(s), s, rtol=1e-12, atol=1e-12 * np.abs(s).max())


def test_weighted_projection_of_a_large_point_keeps_the_radius():
    """Here x_i and theta w_i agree to ten digits, and the weights amplify what is left."""
    ball = L1Ball(1.0, [1e-3, 1e3])
    p = ball.project(np.array([100.0, 1e7]))
    assert np.count_nonzero(p) == 2
    assert ball.weights @ p == pytest.approx(1.0, abs=1e-14)


@every_set
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_cut_projection_satisfies_its_optimality_condition(name, data):
    domain, x, c = data.draw(problems(name))
    least, most = float(c @ domain.lmo(c)), float(c @ domain.lmo(-c))
    b = least + data.draw(st.sampled_from([0.01, 0.3, 0.9, 1.5])) * (most - least)
    size = max(abs(least), abs(most))
    for p in (domain.project_cut(x, c, b), project_by_dual(domain, x, c, b)):
        assert domain.contains(p, 1e-12)
        rounding = 1e-14 * np.linalg.norm(x)  # of the shifted point that is projected onto the set
        assert c @ p <= b + 1e-12 * size + rounding * np.linalg.norm(c)
        s = domain.lmo_cut(p - x, c, b).point
        span = np.linalg.norm(p) + np.linalg.norm(s)
        assert (x - p) @ (s - p) <= (np.linalg.norm(x - p) + rounding) * (1e-10 * span + rounding)


@every_polytope
def test_cut_projection_onto_a_face(name):
    domain = SETS[name][0](5, 1.0)
    c = np.array([1.0, 1.0, -1.0, 0.0, 0.0])
    x = np.array([0.3, -2.0, 0.4, 1.1, 0.2])
    b = float(c @ domain.lmo(c))
    p = domain.project_cut(x, c, b)
    assert domain.contains(p, 1e-12) and c @ p <= b + 1e-12
    listed = vertices(domain, 5)
    face = listed[listed @ c <= b + 1e-12]
    assert ((x - p) @ (face - p).T).max() <= 1e-11


@every_set
def test_cut_projection_names_a_cut_that_misses_the_set(name):
    domain = SETS[name][0](4, 1.0)
    c = np.array([1.0, -2.0, 0.5, 1.0])
    with pytest.raises(ValueError, match=r"the cut <c, s> <= b does not meet the set"):
        domain.project_cut(np.ones(4), c, float(c @ domain.lmo(c)) - 1e-3)
    with pytest.raises(ValueError, match=r"the cut <c, s> <= b does not meet the set"):
        domain.project_cut(np.ones(4), 0 * c, -1.0)


@pytest.mark.parametrize("name", BALLS)
def test_cut_projection_onto_a_ball_at_a_single_point(name):
    domain = SETS[name][0](3, 1.0)
    c = np.array([1.0, -2.0, 0.5])
    p = domain.project_cut(np.array([3.0, 2.0, 1.0]), c, float(c @ domain.lmo(c)))
    np.testing.assert_allclose(p, domain.lmo(c), atol=1e-5)


# -- membership, diameter, bad input -----------------------------------------------------------------------------


@every_set
def test_contains_follows_its_tolerance(name):
    domain = SETS[name][0](4, 1e3)
    s = domain.lmo(np.array([1.0, -3.0, 2.0, 2.5]))
    assert domain.contains(s)
    outside = s + 1e-5 * (s - getattr(domain, "center", 0.0))
    assert domain.contains(outside, 1e-4)
    assert not domain.contains(outside, 1e-8)


@every_set
def test_diameter_bounds_the_distance_of_extreme_points(name):
    domain = SETS[name][0](6, 2.0)
    rng = np.random.default_rng(8)
    points = [domain.lmo(c) for c in rng.normal(size=(40, 6))]
    farthest = max(np.linalg.norm(s - t) for s, t in itertools.combinations(points, 2))
    assert farthest <= domain.diameter * (1 + 1e-12)


def test_diameters():
    assert L1Ball(2.0).diameter == 4
    assert L1Ball(2.0, [0.5, 1.0]).diameter == 8
    assert Simplex(2.0).diameter == pytest.approx(2 * np.sqrt(2))
    assert KSparse(4, 0.5).diameter == 2
    assert L2Ball(3.0).diameter == LpBall(1.5, 3.0).diameter == 6
    assert Box([0, 0], [3, 4]).diameter == 5
    assert Box(0, 1).diameter == LpBall(3, 1.0).diameter == np.inf
    assert Box(0, 1, dim=9).diameter == 3
    assert Box(1, 1).diameter == 0
    assert LpBall(4, 1.0, dim=16).diameter == 4


def test_a_box_of_one_point():
    box = Box([1.0, 2.0], [1.0, 2.0])
    c = np.array([1.0, 1.0])
    np.testing.assert_array_equal(box.lmo(c), [1, 2])
    np.testing.assert_array_equal(box.project(np.zeros(2)), [1, 2])
    assert box.lmo_cut(-c, c, 3.0).status == CutStatus.INACTIVE
    assert box.lmo_cut(-c, c, 2.0).status == CutStatus.INFEASIBLE
    assert box.lmo_cut(-c, c, 3.0 - 1e-13).status == CutStatus.BOUNDARY


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: L1Ball(0.0), "radius must be positive"),
        (lambda: L1Ball(np.nan), "radius holds NaN"),
        (lambda: L1Ball(1.0, [1.0, 0.0]), "weights must all be positive"),
        (lambda: L1Ball(1.0, []), "weights is empty"),
        (lambda: Simplex(-1.0), "total must be positive"),
        (lambda: Box(1.0, 0.0), "lower must not be above upper"),
        (lambda: Box([0.0, 0.0], [1.0, 1.0, 1.0]), "lower has length 2, but upper has length 3"),
        (lambda: Box(0.0, np.nan), "upper holds NaN"),
        (lambda: Box(np.inf, np.inf), "lower must be below inf"),
        (lambda: Box(np.zeros((2, 2)), 1.0), "lower must be a number or a 1-D array"),
        (lambda: Box([0.0], [1.0], dim=2), "dim = 2 does not fit"),
        (lambda: L2Ball(-1.0), "radius must be positive"),
        (lambda: L2Ball(1.0, [[0.0]]), "center must be a 1-D array"),
        (lambda: LpBall(1, 1.0), "use L1Ball"),
        (lambda: LpBall(np.inf, 1.0), "use Box"),
        (lambda: LpBall(0.5, 1.0), "p must be above 1"),
        (lambda: KSparse(0, 1.0), "k must be a whole number"),
        (lambda: KSparse(1.5, 1.0), "k must be a whole number"),
        (lambda: KSparse(3, 1.0).lmo(np.ones(2)), "k = 3 nonzeros do not fit into c of length 2"),
        (lambda: KSparse(3, 1.0).lmo_cut(np.ones(2), np.ones(2), 1.0), "k = 3 nonzeros do not fit"),
        (lambda: L1Ball(1.0, [1.0, 2.0]).project(np.ones(3)), "x has length 3, expected 2"),
    ],
)
def test_bad_sets(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@every_set
@pytest.mark.parametrize(
    ("a", "c", "b", "error", "message"),
    [
        ([1.0, np.nan, 1.0], np.ones(3), 1.0, ValueError, "a holds NaN"),
        (np.ones(3), [1.0, np.inf, 1.0], 1.0, ValueError, "c holds NaN or inf"),
        (np.ones(3), np.ones(3), np.nan, ValueError, "b holds NaN"),
        (np.ones(3), np.ones(3), np.ones(2), ValueError, "b must be a single number"),
        (np.ones((3, 1)), np.ones(3), 1.0, ValueError, "a must be a 1-D array"),
        (np.ones(3), np.ones(4), 1.0, ValueError, "c has length 4"),
        (np.ones(3) + 0j, np.ones(3), 1.0, TypeError, "a must hold real numbers"),
        (np.ones(3), ["x", "y", "z"], 1.0, TypeError, "c must hold real numbers"),
        ([], [], 1.0, ValueError, "a is empty"),
    ],
)
def test_bad_cuts(name, a, c, b, error, message):
    domain = SETS[name][0](3, 1.0)
    with pytest.raises(error, match=message):
        domain.lmo_cut(a, c, b)
    with pytest.raises(error, match=message.replace("a ", "[ax] ", 1)):
        domain.project_cut(a, c, b)


@every_set
def test_plain_lists_and_integers_are_welcome(name):
    domain = SETS[name][0](3, 1.0)
    cut = domain.lmo_cut([1, 2, 3], [1, 0, -1], 1)
    assert domain.contains(cut.point)
    assert domain.contains(domain.project([4, 5, 6]))
    assert repr(domain).startswith(type(domain).__name__ + "(")
