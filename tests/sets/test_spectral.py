"""NuclearBall and Spectrahedron against their duals, a conic solver and closed forms of diagonal matrices."""

from __future__ import annotations

import numpy as np
import pytest
import references
import structured
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.sets import spectral
from tiebreak.sets.base import CutStatus
from tiebreak.sets.l1 import L1Ball
from tiebreak.sets.simplex import Simplex
from tiebreak.sets.spectral import NuclearBall, Spectrahedron

SETTINGS = settings(max_examples=12, deadline=None)


def kinds(kind, n, scale):
    if kind == "nuclear":
        return NuclearBall((n, n + 1), scale), structured.nuclear_ball
    return Spectrahedron(n, scale), structured.spectrahedron


@pytest.mark.parametrize("kind", ["nuclear", "spectrahedron"])
@SETTINGS
@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([1e-8, 1.0, 1e8]))
def test_cut_matches_the_dual(kind, seed, n, scale):
    rng = np.random.default_rng(seed)
    Z, reference = kinds(kind, n, scale)
    for instance in references.instances(Z, Z.dim, len(references.FAMILIES), rng):
        cut = Z.lmo_cut(instance.a, instance.c, instance.b)
        verdict = references.judge(Z, reference, instance, cut)
        assert verdict.status_is_right
        assert max(verdict[:3]) <= 1e-9, instance.family
        assert Z.contains(cut.point, 1e-12)


@pytest.mark.parametrize("kind", ["nuclear", "spectrahedron"])
@SETTINGS
@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([1e-8, 1.0, 1e8]))
def test_projection_and_bound(kind, seed, n, scale):
    rng = np.random.default_rng(seed)
    Z, _ = kinds(kind, n, scale)
    x = scale * rng.standard_normal(Z.dim) * rng.choice([0.01, 1.0, 100.0])
    p = Z.project(x)
    assert Z.contains(p, 1e-12)
    size = scale * max(np.linalg.norm(x), scale)
    assert (x - p) @ (Z.lmo(p - x) - p) <= 1e-12 * size
    np.testing.assert_allclose(Z.project(p), p, atol=1e-13 * scale)
    c = rng.standard_normal(Z.dim)
    s = Z.lmo(c)
    bound = Z.lmo_bound(c, s)
    assert bound <= reference_minimum(Z, c)
    assert bound >= c @ s - 1e-13 * scale * np.linalg.norm(c)
    for _ in range(20):
        assert c @ Z.project(rng.standard_normal(Z.dim) * scale) >= bound


def reference_minimum(Z, c):
    C = c.reshape(Z.shape)
    if isinstance(Z, NuclearBall):
        return -Z.radius * np.linalg.norm(C, 2)
    return Z.trace * np.linalg.eigvalsh((C + C.T) / 2)[0]


def test_double_eigenvalue_at_the_multiplier():
    """Diagonal data: the spectrahedron acts like the simplex, the nuclear ball like the l1 ball."""
    rng = np.random.default_rng(4)
    for _ in range(30):
        a, c = rng.standard_normal((2, 4))
        b = rng.uniform(c.min(), c.max())
        flat = Simplex(2.0).lmo_cut(a, c, 2 * b)
        cut = Spectrahedron(4, 2.0).lmo_cut(np.diag(a).ravel(), np.diag(c).ravel(), 2 * b)
        assert np.diag(a).ravel() @ cut.point == pytest.approx(a @ flat.point, rel=1e-9, abs=1e-12)
        assert cut.multiplier == pytest.approx(flat.multiplier, rel=1e-6, abs=1e-9)
        assert np.diag(c).ravel() @ cut.point <= 2 * b + 1e-11
        flat = L1Ball(2.0).lmo_cut(a, c, b)
        cut = NuclearBall((4, 4), 2.0).lmo_cut(np.diag(a).ravel(), np.diag(c).ravel(), b)
        assert np.diag(a).ravel() @ cut.point == pytest.approx(a @ flat.point, rel=1e-9, abs=1e-12)


def test_against_a_conic_solver():
    import cvxpy as cp

    rng = np.random.default_rng(2)
    A, C = rng.standard_normal((2, 4, 4))
    A, C = A + A.T, C + C.T
    tight = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
    X = cp.Variable((4, 4), symmetric=True)
    b = 0.9 * np.linalg.eigvalsh(C)[0]
    rows = [X >> 0, cp.trace(X) == 1, cp.sum(cp.multiply(C, X)) <= b]
    problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(A, X))), rows)
    problem.solve(cp.CLARABEL, **tight)
    cut = Spectrahedron(4).lmo_cut(A.ravel(), C.ravel(), b)
    assert cut.status is CutStatus.ACTIVE
    assert A.ravel() @ cut.point == pytest.approx(problem.value, abs=1e-7)
    Y = cp.Variable((4, 4))
    b = -0.9 * np.linalg.norm(C, 2)
    rows = [cp.normNuc(Y) <= 1, cp.sum(cp.multiply(C, Y)) <= b]
    problem = cp.Problem(cp.Minimize(cp.sum(cp.multiply(A, Y))), rows)
    problem.solve(cp.CLARABEL, **tight)
    cut = NuclearBall((4, 4), 1.0).lmo_cut(A.ravel(), C.ravel(), b)
    assert A.ravel() @ cut.point == pytest.approx(problem.value, abs=1e-7)


def test_costs_are_symmetrised():
    Z = Spectrahedron(3)
    C = np.random.default_rng(0).standard_normal((3, 3))
    np.testing.assert_array_equal(Z.lmo(C.ravel()), Z.lmo((C + C.T).ravel() / 2))
    assert not Z.contains(np.array([0.5, 0.1, 0, 0, 0.5, 0, 0, 0, 0]))


@pytest.mark.parametrize("make", [lambda: NuclearBall((30, 40), 2.0), lambda: Spectrahedron(30, 2.0)])
def test_lanczos_agrees_with_dense_and_says_what_it_assumes(make, monkeypatch):
    dense = make()
    monkeypatch.setattr(spectral, "DENSE", 10)
    lanczos = make()
    assert dense.assumes == ""
    assert "Lanczos" in lanczos.assumes
    rng = np.random.default_rng(0)
    for scale in (1e-8, 1.0, 1e8):
        c = scale * rng.standard_normal(dense.dim)
        s = lanczos.lmo(c)
        np.testing.assert_allclose(c @ s, c @ dense.lmo(c), rtol=1e-10)
        np.testing.assert_array_equal(s, lanczos.lmo(c))
        assert lanczos.lmo_bound(c, s) <= c @ dense.lmo(c)
    assert lanczos.contains(lanczos.lmo(np.zeros(dense.dim)))


def test_diameters_and_bad_input():
    assert NuclearBall((2, 3), 2.0).diameter == 4.0
    e = np.eye(2)
    ends = np.outer(e[0], e[0]) - np.outer(e[1], e[1])
    assert Spectrahedron(2, 3.0).diameter == pytest.approx(3.0 * np.linalg.norm(ends))
    for bad in (3, (2, 3, 4), (0, 2), (1.5, 2)):
        with pytest.raises(ValueError, match="shape"):
            NuclearBall(bad, 1.0)
    with pytest.raises(ValueError, match="radius"):
        NuclearBall((2, 2), -1.0)
    with pytest.raises(ValueError, match="trace"):
        Spectrahedron(2, 0.0)
    with pytest.raises(ValueError, match="n must be"):
        Spectrahedron(0)
    with pytest.raises(ValueError, match="c has length 3"):
        Spectrahedron(2).lmo(np.ones(3))


def test_an_antisymmetric_cost_is_zero_on_symmetric_matrices():
    """Every point is optimal, so that the answer is any feasible one, with no multiplier."""
    Z = Spectrahedron(2)
    cut = Z.lmo_cut(np.array([0.0, 1e3, -1e3, 0.0]), np.array([-1.0, 1.0, 1.0, -1.0]), -1.7)
    assert Z.contains(cut.point, 1e-12) and cut.multiplier == pytest.approx(0.0, abs=1e-9)
    assert np.array([-1.0, 1.0, 1.0, -1.0]) @ cut.point <= -1.7 + 1e-12
