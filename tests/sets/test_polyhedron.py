"""Polyhedron against SciPy's linprog, a conic solver, enumeration of vertices and weak duality."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tiebreak.numerics.failures import LinearProgramError
from tiebreak.numerics.nearest import _on_face
from tiebreak.numerics.rows import Rows
from tiebreak.sets.base import CutStatus
from tiebreak.sets.bounds import both_ends
from tiebreak.sets.l1 import L1Ball
from tiebreak.sets.polyhedron import Polyhedron

SETTINGS = settings(max_examples=40, deadline=None)


def instance(seed, d=6, m=5, equalities=1, scale=1.0, free=False):
    """A random polyhedron around a known point, and the arguments linprog takes."""
    rng = np.random.default_rng(seed)
    inside = rng.uniform(0.1, 0.9, d) * scale
    A_ub = rng.standard_normal((m, d)).round(1)
    b_ub = A_ub @ inside + scale * rng.choice([0.0, 0.1, 1.0], m)
    A_eq = rng.standard_normal((equalities, d)).round(1)
    kinds = {"A_ub": A_ub, "b_ub": b_ub, "A_eq": A_eq, "b_eq": A_eq @ inside, "bounds": [(0.0, scale)] * d}
    if free:  # the box becomes rows
        kinds["A_ub"] = np.vstack([A_ub, np.eye(d), -np.eye(d)])
        kinds["b_ub"] = np.concatenate([b_ub, np.full(d, scale), np.zeros(d)])
        kinds["bounds"] = None
    return kinds, inside


def reference(kinds, a, cut=None):
    """min <a, s> by SciPy, in units of 1; None where it is infeasible."""
    kinds = dict(kinds)
    if kinds.get("bounds") is None:
        kinds["bounds"] = (None, None)
    if cut is not None:
        c, b = cut
        size = np.abs(c).max()
        kinds["A_ub"] = np.vstack([kinds["A_ub"], c / size])
        kinds["b_ub"] = np.append(kinds["b_ub"], b / size)
    size = np.abs(a).max() or 1.0
    options = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    answer = linprog(a / size, **kinds, method="highs", options=options)
    return answer.fun * size if answer.status == 0 else None


@SETTINGS
@given(st.integers(0, 10**6), st.booleans())
def test_lmo_is_optimal_and_its_bound_is_below(seed, free):
    kinds, _ = instance(seed, free=free)
    Z = Polyhedron(**kinds)
    rng = np.random.default_rng(seed + 1)
    for c in (rng.standard_normal(6), rng.integers(-1, 2, 6).astype(float), 1e8 * rng.standard_normal(6)):
        s = Z.lmo(c)
        expected = reference(kinds, c)
        size = np.abs(c).sum()
        assert Z.contains(s)
        assert c @ s == pytest.approx(expected, abs=1e-10 * size)
        bound = Z.lmo_bound(c, s)
        assert bound <= c @ s + 1e-12 * size  # s itself is in Z only up to rounding
        assert bound >= c @ s - 1e-8 * size


@SETTINGS
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([1e-8, 1.0, 1e8]))
def test_cut_matches_linprog(seed, free, size):
    kinds, inside = instance(seed, free=free)
    Z = Polyhedron(**kinds)
    rng = np.random.default_rng(seed + 1)
    for a, c in (
        (rng.standard_normal(6), size * rng.standard_normal(6)),
        (rng.integers(-1, 2, 6).astype(float), rng.integers(-1, 2, 6).astype(float)),
        (np.ones(6), size * np.ones(6)),
        (np.ones(6), -size * np.ones(6)),
        (np.zeros(6), rng.standard_normal(6)),
    ):
        if not c.any():
            continue
        b = float(c @ inside) - 0.01 * float(np.abs(c).sum())
        cut = Z.lmo_cut(a, c, b)
        expected = reference(kinds, a, (c, b))
        if expected is None:
            assert cut.status in (CutStatus.INFEASIBLE, CutStatus.BOUNDARY)
            continue
        assert cut.status in (CutStatus.ACTIVE, CutStatus.INACTIVE)
        assert Z.contains(cut.point)
        assert c @ cut.point <= b + 1e-12 * np.abs(c).sum()
        assert a @ cut.point == pytest.approx(expected, abs=1e-9 * max(np.abs(a).sum(), 1.0))
        assert cut.gap <= 1e-8 * max(np.abs(a).sum(), 1.0)
        assert cut.gap >= a @ cut.point - expected - 1e-12
        if cut.status is CutStatus.INACTIVE:
            assert cut.multiplier == 0.0
        else:
            assert c @ cut.point == pytest.approx(b, abs=1e-10 * np.abs(c).sum())


def test_cut_at_and_beyond_the_boundary():
    Z = Polyhedron(A_eq=np.ones((1, 3)), b_eq=[1.0], bounds=(0, 1))
    a, c = np.array([1.0, 2.0, -3.0]), np.array([1.0, 2.0, 3.0])
    for b in (1.0, np.nextafter(1.0, 0)):
        cut = Z.lmo_cut(a, c, b)
        np.testing.assert_allclose(cut.point, [1, 0, 0], atol=1e-12)
        assert cut.status is not CutStatus.INFEASIBLE
    assert Z.lmo_cut(a, c, 1.0 - 1e-6).status is CutStatus.INFEASIBLE
    assert Z.lmo_cut(a, c, 1.0 - 1e-6).multiplier == np.inf
    assert Z.lmo_cut(a, np.zeros(3), 0.0).status is CutStatus.INACTIVE
    assert Z.lmo_cut(a, np.zeros(3), -1.0).status is CutStatus.INFEASIBLE


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_scales_of_the_set(scale):
    kinds, inside = instance(3, scale=scale)
    unit_kinds, _ = instance(3)
    Z, unit = Polyhedron(**kinds), Polyhedron(**unit_kinds)
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, c, v = rng.standard_normal((3, 6))
        b = float(c @ inside) / scale
        np.testing.assert_allclose(Z.lmo(a) @ a / scale, unit.lmo(a) @ a, rtol=1e-10)
        np.testing.assert_allclose(
            Z.lmo_cut(a, c, b * scale).point @ a / scale, unit.lmo_cut(a, c, b).point @ a, rtol=1e-9
        )
        np.testing.assert_allclose(Z.project(scale * v) / scale, unit.project(v), atol=1e-10)
    assert Z.diameter == pytest.approx(unit.diameter * scale)


def test_mixed_units():
    """Variables of sizes 1e-8 and 1e8 in one row."""
    Z = Polyhedron(A_ub=[[1e8, 1e-8]], b_ub=[1.0], bounds=[(0, 1e-8), (0, 1e8)])
    np.testing.assert_allclose(Z.lmo(np.array([-2e8, -1e-8])), [1e-8, 0.0], atol=1e-20)
    np.testing.assert_allclose(Z.lmo(np.array([-1e8, -2e-8])), [0.0, 1e8], atol=1e-20)


@SETTINGS
@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0.1, 1.0, 1e4]))
def test_projection_satisfies_kkt(seed, free, distance):
    """v - p is a nonnegative combination of active normals, by NNLS: this characterises the projection."""
    from scipy.optimize import nnls

    kinds, inside = instance(seed, free=free, equalities=seed % 3)
    Z = Polyhedron(**kinds)
    v = inside + distance * np.random.default_rng(seed + 1).standard_normal(6)
    p = Z.project(v)
    assert Z.contains(p, 1e-11)
    normals = np.vstack([kinds["A_ub"], np.eye(6), -np.eye(6)])
    ends = np.concatenate([kinds["b_ub"], np.ones(6), np.zeros(6)])
    active = normals[normals @ p >= ends - 1e-9]
    cone = np.vstack([active, kinds["A_eq"], -kinds["A_eq"]])
    residual = nnls(cone.T, v - p)[1] if len(cone) else np.linalg.norm(v - p)
    assert residual <= 1e-10 * max(1.0, distance)


def test_wrong_faces_are_corrected():
    """On x + y = 1 in the unit square: a bound with the wrong multiplier leaves, a violated one joins."""
    rows = Rows(sp.csr_array(np.ones((1, 2))), np.ones(1), np.ones(1), np.zeros(2), np.ones(2))
    line = np.ones(1, dtype=np.int8)
    for v, wrong, expected in (
        ([0.6, 0.6], [0, -1], [0.5, 0.5]),
        ([0.6, 0.6], [1, 0], [0.5, 0.5]),
        ([3.0, 0.0], [0, 0], [1.0, 0.0]),
        ([0.0, 3.0], [1, -1], [0.0, 1.0]),
    ):
        row_side, column_side = line, np.array(wrong, dtype=np.int8)
        for _ in range(4):
            p, row_side, column_side = _on_face(rows, np.array(v), row_side, column_side)
        np.testing.assert_allclose(p, expected, atol=1e-14)


def test_projection_against_a_conic_solver():
    import cvxpy as cp

    kinds, _ = instance(11, d=5, m=8)
    Z = Polyhedron(**kinds)
    v = np.array([2.0, -1.0, 0.5, 3.0, 0.0])
    x = cp.Variable(5)
    rows = [kinds["A_ub"] @ x <= kinds["b_ub"], kinds["A_eq"] @ x == kinds["b_eq"], x >= 0, x <= 1]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - v)), rows)
    problem.solve(cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    np.testing.assert_allclose(Z.project(v), x.value, atol=1e-7)


def test_enumerated_vertices():
    """The octahedron: its vertices are known, its faces all tie at c = 1."""
    A = np.array(list(itertools.product([-1.0, 1.0], repeat=3)))
    Z = Polyhedron(A_ub=A, b_ub=np.ones(8))
    vertices = np.vstack([np.eye(3), -np.eye(3)])
    for c in (np.ones(3), np.array([1.0, -1.0, 0.0]), np.array([3.0, 1.0, 2.0])):
        assert Z.lmo(c) @ c == pytest.approx((vertices @ c).min())
        assert Z.contains(Z.lmo(c))
    assert 2.0 <= Z.diameter <= np.sqrt(12) * 1.01
    np.testing.assert_allclose(Z.project(np.array([1.0, 1.0, 0.0])), [0.5, 0.5, 0.0], atol=1e-14)
    np.testing.assert_allclose(Z.project(np.array([5.0, 0.1, 0.0])), [1.0, 0.0, 0.0], atol=1e-14)


@pytest.mark.parametrize("sparse", [False, True])
def test_single_point_redundant_rows_and_fixed_variables(sparse):
    A_eq = np.array([[1.0, 1.0, 0.0], [2.0, 2.0, 0.0], [1.0, -1.0, 0.0]])
    A_eq = sp.csr_array(A_eq) if sparse else A_eq
    Z = Polyhedron(A_eq=A_eq, b_eq=[1.0, 2.0, 0.0], bounds=[(None, None), (None, None), (2.0, 2.0)])
    point = np.array([0.5, 0.5, 2.0])
    a, c = np.array([1.0, 2.0, -1.0]), np.array([-1.0, 0.0, 1.0])
    for x in (Z.lmo(a), Z.project(10 * c), Z.lmo_cut(a, c, 1.5).point, Z.lmo_cut(a, c, 2.0).point):
        np.testing.assert_allclose(x, point, atol=1e-12)
    assert Z.diameter < 1e-5
    assert Z.lmo_cut(a, c, 1.49).status is CutStatus.INFEASIBLE
    assert not Z.contains(point + np.array([0, 0, 1e-6]))


def test_flat_polyhedron_and_duplicated_rows():
    """An edge of the unit square: x + y <= 1 and x + y >= 1, each twice."""
    A = np.array([[1.0, 1.0], [1.0, 1.0], [-1.0, -1.0], [-1.0, -1.0]])
    Z = Polyhedron(A_ub=A, b_ub=[1.0, 1.0, -1.0, -1.0], bounds=(0, None))
    np.testing.assert_allclose(Z.project(np.array([2.0, 2.0])), [0.5, 0.5], atol=1e-12)
    np.testing.assert_allclose(Z.project(np.array([2.0, 0.0])), [1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(Z.lmo_cut(np.array([-1.0, 0.0]), np.array([1.0, 0.0]), 0.3).point, [0.3, 0.7])


def test_bounds_read_at_once_are_those_read_pair_by_pair():
    pairs = [(0, 1.5), (None, 2), (np.float64(-1.0), None), (None, None), (-np.inf, np.inf), (3, 3)]
    at_once, one_by_one = both_ends(pairs, 6), both_ends([list(pair) for pair in pairs], 6)
    for whole, each in zip(at_once, one_by_one, strict=True):
        assert whole.tolist() == each.tolist()
    for wrong in ((np.nan, 1.0), (2, 1), (10**400, None)):
        with pytest.raises((ValueError, TypeError)):
            both_ends([(0, 1), wrong, (0, 1)], 3)


def test_only_bounds_and_large_sparse():
    Z = Polyhedron(bounds=[(-1, 2), (0, 0)])
    np.testing.assert_array_equal(Z.lmo(np.array([-1.0, 1.0])), [2, 0])
    np.testing.assert_array_equal(Z.project(np.array([-4.0, 1.0])), [-1, 0])
    assert Z.dim == 2
    big = Polyhedron(A_eq=sp.csr_array(np.ones((1, 500))), b_eq=[1.0], bounds=(0, None))
    c = np.arange(500.0)
    np.testing.assert_allclose(big.lmo(-c), np.eye(500)[-1])
    assert big.lmo_bound(c - 7, big.lmo(c - 7)) == pytest.approx(-7.0)


def test_bound_needs_no_faith_in_the_solver():
    """Any row multipliers give a bound, and the bound asked for another s is still one."""
    kinds, _ = instance(5)
    Z = Polyhedron(**kinds)
    rng = np.random.default_rng(0)
    c = rng.standard_normal(6)
    minimum = reference(kinds, c)
    for _ in range(50):
        assert Z._box.dual_bound(c, rng.standard_normal(6)) <= minimum + 1e-12
    Z.lmo(-c)
    assert Z.lmo_bound(c, np.zeros(6)) == pytest.approx(minimum, abs=1e-9)


def test_implied_box_holds_the_set():
    kinds, _ = instance(9, free=True)
    Z = Polyhedron(**kinds)
    for j in range(6):
        e = np.eye(6)[j]
        assert Z._box.lower[j] <= reference(kinds, e) + 1e-12
        assert Z._box.upper[j] >= -reference(kinds, -e) - 1e-12


def test_many_free_variables():
    """More missing bounds than are tightened: the product of squares |x_j| + |x_{j+1}| <= 1 for even j."""
    d = 120
    signs = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    Z = Polyhedron(A_ub=sp.kron(sp.eye_array(d // 2), signs), b_ub=np.ones(2 * d))
    assert (Z._box.lower <= -1).all()
    assert (Z._box.upper >= 1).all()
    c = np.random.default_rng(0).standard_normal(d)
    minimum = -np.abs(c).reshape(-1, 2).max(axis=1).sum()
    s = Z.lmo(c)
    assert c @ s == pytest.approx(minimum, rel=1e-12)
    assert minimum - 1e-9 <= Z.lmo_bound(c, s) <= minimum + 1e-12
    assert not Z.contains(s * (1 + 1e-7))
    p = Z.project(3 * c)
    blocks = [L1Ball(1.0).project(pair) for pair in (3 * c).reshape(-1, 2)]
    np.testing.assert_allclose(p, np.concatenate(blocks), atol=1e-12)


def test_copies_and_pickles():
    kinds, inside = instance(2)
    Z = Polyhedron(**kinds)
    a, c = np.random.default_rng(0).standard_normal((2, 6))
    b = float(c @ inside)
    expected = Z.lmo(a), Z.lmo_cut(a, c, b).point
    for twin in (copy.deepcopy(Z), pickle.loads(pickle.dumps(Z))):
        np.testing.assert_allclose(twin.lmo(a), expected[0])
        np.testing.assert_allclose(twin.lmo_cut(a, c, b).point, expected[1])


def test_a_failed_programme_says_so():
    kinds, _ = instance(2)
    Z = Polyhedron(**kinds)
    c = np.random.default_rng(0).standard_normal(6)
    s = Z.lmo(c)
    Z._plain._model.set_options(simplex_iteration_limit=0, ipm_iteration_limit=0)
    with pytest.raises(LinearProgramError, match="HiGHS says 'Iteration limit reached'"):
        Z.lmo(-c)
    Z._plain._model.set_options(ipm_iteration_limit=10**6)
    assert (-c) @ Z.lmo(-c) == pytest.approx(reference(kinds, -c))  # solved again, by another algorithm
    Z._plain._model.set_options(simplex_iteration_limit=10**6)
    np.testing.assert_allclose(Z.lmo(c), s)


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({}, "number of variables"),
        ({"bounds": (0, 1)}, "number of variables"),
        ({"A_ub": [[1.0]]}, "b_ub"),
        ({"b_eq": [1.0]}, "A_eq"),
        ({"A_ub": [[1.0, np.nan]], "b_ub": [1.0]}, "A_ub holds NaN"),
        ({"A_ub": sp.csr_array([[1.0, np.inf]]), "b_ub": [1.0]}, "A_ub holds NaN"),
        ({"A_ub": [[1.0, 2.0]], "b_ub": [np.nan]}, "b_ub holds NaN"),
        ({"A_ub": [1.0, 2.0], "b_ub": [1.0]}, "2-D"),
        ({"A_ub": [[1.0, 2.0]], "b_ub": [1.0, 2.0]}, "b_ub has length 2"),
        ({"A_ub": [[1.0, 2.0]], "b_ub": [1.0], "A_eq": [[1.0]], "b_eq": [1.0]}, "columns"),
        ({"A_ub": [[1.0, 2.0, 3.0]], "b_ub": [1.0], "bounds": [(0, 1), (0, 1)]}, "2 pairs for 3 variables"),
        ({"A_ub": [[1.0]], "b_ub": [1.0], "bounds": [(1, 0)]}, "above high"),
        ({"bounds": [(0, 1), (0, np.nan)]}, r"bounds\[1\]\[1\]"),
        ({"bounds": [(0, 1), 3.0]}, r"bounds\[1\] must be a pair"),
        ({"A_ub": [[1.0], [-1.0]], "b_ub": [0.0, -1e-6]}, "empty"),
        ({"A_eq": [[1.0], [1.0]], "b_eq": [0.0, 1.0], "bounds": (0, 1)}, "empty"),
    ],
)
def test_bad_input(kinds, message):
    with pytest.raises(ValueError, match=message):
        Polyhedron(**kinds)


def test_bad_vectors():
    Z = Polyhedron(bounds=[(0, 1)] * 3)
    with pytest.raises(ValueError, match="c has length 2"):
        Z.lmo(np.ones(2))
    with pytest.raises(ValueError, match="NaN"):
        Z.project(np.array([np.nan, 0, 0]))
    with pytest.raises(TypeError, match="real numbers"):
        Z.lmo(np.ones(3, dtype=complex))
