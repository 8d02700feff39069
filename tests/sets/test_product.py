"""Product and Columns against the dual in extended precision, their blocks one by one, and each other."""

from __future__ import annotations

import numpy as np
import pytest
import references
import structured
from hypothesis import given, settings
from hypothesis import strategies as st

from tiebreak.sets.base import CutStatus
from tiebreak.sets.birkhoff import Birkhoff
from tiebreak.sets.box import Box
from tiebreak.sets.columns import Columns
from tiebreak.sets.l1 import L1Ball
from tiebreak.sets.l2 import L2Ball
from tiebreak.sets.oracles import FromOracles
from tiebreak.sets.product import Product
from tiebreak.sets.simplex import Simplex
from tiebreak.sets.spectral import NuclearBall

SETTINGS = settings(max_examples=10, deadline=None)

EACH = {
    "l1": lambda rng, d: L1Ball(2.0),
    "l2": lambda rng, d: L2Ball(0.5),
    "l2 with a center": lambda rng, d: L2Ball(0.5, rng.standard_normal(d)),
    "simplex": lambda rng, d: Simplex(3.0),
}


def judge_all(Z, rng):
    for instance in references.instances(Z, Z.dim, len(references.FAMILIES), rng):
        a, c = instance.a, instance.c
        for part in (slice(0, 0), slice(0, Z.dim // 2)):
            c = c.copy()
            c[part] = 0.0  # blocks without a share in the cut
            b, least = instance.b, float(c @ Z.lmo(c))
            infeasible = b < least - 1e-7 * max(abs(least), abs(float(c @ Z.lmo(-c))))
            if abs(b - least) <= 1e-7 * abs(least) and instance.family != "at the minimum":
                continue
            case = instance._replace(c=c, infeasible=infeasible)
            cut = Z.lmo_cut(a, c, b, warm=rng.choice([0.0, 1.0]))
            verdict = references.judge(Z, structured.by_formula, case, cut)
            assert verdict.status_is_right
            assert max(verdict[:3]) <= 1e-11, instance.family
            assert Z.contains(cut.point, 1e-12)


@pytest.mark.parametrize("each", EACH)
@SETTINGS
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 5))
def test_columns_cut(each, seed, rows, count):
    rng = np.random.default_rng(seed)
    judge_all(Columns(EACH[each](rng, rows), (rows, count)), rng)


@SETTINGS
@given(st.integers(0, 10**6))
def test_product_cut(seed):
    rng = np.random.default_rng(seed)
    Z = Product(
        {
            "D": Columns(L2Ball(1.0), (3, 2)),
            "X": (L1Ball(2.0), (2, 3)),
            "p": (Simplex(), 4),
            "q": L2Ball(0.1, rng.standard_normal(2)),
        }
    )
    judge_all(Z, rng)


@pytest.mark.parametrize("each", [*EACH, "box"])
@SETTINGS
@given(st.integers(0, 10**6), st.sampled_from([1e-8, 1.0, 1e8]))
def test_columns_are_columns(each, seed, scale):
    """lmo and project of the matrix are those of its columns, one by one."""
    rng = np.random.default_rng(seed)
    one = Box(np.zeros(4), np.arange(4.0)) if each == "box" else EACH[each](rng, 4)
    Z = Columns(one, (4, 6))
    X = scale * rng.integers(-3, 4, (4, 6)) * rng.choice([0.1, 1.0])
    for matrix in (X, rng.standard_normal((4, 6))):
        values = np.stack([matrix[:, j] @ one.lmo(matrix[:, j]) for j in range(6)])
        S = Z.lmo(matrix.ravel()).reshape(4, 6)
        np.testing.assert_allclose((matrix * S).sum(axis=0), values, rtol=1e-13, atol=1e-14 * scale)
        P = np.stack([one.project(matrix[:, j]) for j in range(6)], axis=1)
        np.testing.assert_allclose(Z.project(matrix.ravel()).reshape(4, 6), P, atol=1e-13)
        assert Z.contains(P.ravel())
        assert Z.lmo_bound(matrix.ravel(), S.ravel()) <= values.sum() + 1e-13 * np.abs(values).sum()
    assert not Z.contains((P + 10).ravel())


def test_weighted_columns():
    rng = np.random.default_rng(0)
    one = L1Ball(2.0, np.array([0.5, 1.0, 4.0]))
    Z, X = Columns(one, (3, 5)), rng.standard_normal((3, 5))
    for name in ("lmo", "project"):
        expected = np.stack([getattr(one, name)(X[:, j]) for j in range(5)], axis=1)
        np.testing.assert_allclose(getattr(Z, name)(X.ravel()).reshape(3, 5), expected, atol=1e-14)


def test_large_multiplier_and_parallel_columns():
    """c near zero, and columns with a_j = -t_j c_j, at which the dual has kinks."""
    rng = np.random.default_rng(0)
    Z = Columns(L2Ball(1.0), (3, 4))
    C = rng.standard_normal((3, 4))
    a = -(C * np.array([0.5, 1.0, 2.0, 3.0])).ravel()
    for scale in (1e-7, 1.0, 1e7):
        c = scale * C.ravel()
        for b in scale * np.linspace(-0.9, 0.9, 7) * np.linalg.norm(C, axis=0).sum():
            cut = Z.lmo_cut(a, c, b)
            value, multiplier = structured.by_formula(Z, a, c, b)
            assert a @ cut.point == pytest.approx(value, rel=1e-12, abs=1e-12)
            assert c @ cut.point <= b + 1e-14 * np.abs(c).sum()
            if cut.status is CutStatus.ACTIVE:
                assert cut.multiplier * scale == pytest.approx(multiplier * scale, abs=1e-6)


def test_free_columns_take_the_cut():
    """Where a is zero every point is a minimiser, and the cut is met without a multiplier."""
    Z = Columns(L2Ball(1.0), (2, 2))
    a, c = np.array([0.0, 1.0, 0.0, 0.0]), np.array([3.0, 0.0, 4.0, 1.0])
    cut = Z.lmo_cut(a, c, -4.9)
    assert cut.status is CutStatus.INACTIVE
    assert cut.multiplier == 0.0
    assert a @ cut.point == -1.0
    assert c @ cut.point <= -4.9


def test_blocks():
    Z = Product({"w": (L1Ball(1.0), (2, 3)), "P": Birkhoff(2), "p": (Simplex(), 2), "N": NuclearBall((1, 2), 1.0)})
    assert Z.names == ("w", "P", "p", "N")
    assert Z.shapes == {"w": (2, 3), "P": (2, 2), "p": (2,), "N": (1, 2)}
    assert Z.dim == 14
    x = np.arange(14.0)
    blocks = Z.split(x)
    np.testing.assert_array_equal(blocks["w"], [[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(blocks["N"], [[12, 13]])
    np.testing.assert_array_equal(Z.join(blocks), x)
    p = Z.project(x)
    assert Z.contains(p)
    assert not Z.contains(x)
    assert (x - p) @ (Z.lmo(p - x) - p) <= 1e-12
    assert Z.diameter == pytest.approx(np.sqrt(4 + 4 + Simplex().with_dim(2).diameter ** 2 + 4))
    s = Z.lmo(x)
    assert Z.lmo_bound(x, s) == pytest.approx(x @ s)
    assert Z.lmo_bound(x, s) <= x @ s


def test_one_tied_block_solves_its_own_cut():
    Z = Product({"D": Columns(L2Ball(1.0), (2, 2)), "X": (L1Ball(1.0), (3,))})
    rng = np.random.default_rng(0)
    a, c = rng.standard_normal((2, 7))
    c[4:] = 0.0
    cut = Z.lmo_cut(a, c, -0.3)
    inner = Columns(L2Ball(1.0), (2, 2)).lmo_cut(a[:4], c[:4], -0.3)
    np.testing.assert_array_equal(cut.point[:4], inner.point)
    np.testing.assert_array_equal(cut.point[4:], L1Ball(1.0).lmo(a[4:]))
    assert cut.multiplier == inner.multiplier
    other = Z.lmo_cut(a, np.concatenate([np.zeros(4), [1.0, 2.0, 3.0]]), -2.5)
    np.testing.assert_array_equal(other.point[:4], Columns(L2Ball(1.0), (2, 2)).lmo(a[:4]))
    np.testing.assert_array_equal(other.point[4:], L1Ball(1.0).lmo_cut(a[4:], np.array([1.0, 2.0, 3.0]), -2.5).point)


def test_cut_projection():
    import cvxpy as cp

    Z = Product({"x": (L2Ball(1.0), 3), "p": (Simplex(), 3)})
    rng = np.random.default_rng(3)
    v, c = rng.standard_normal((2, 6))
    b = float(c @ Z.project(v)) - 0.3
    x = cp.Variable(6)
    rows = [cp.norm(x[:3]) <= 1, x[3:] >= 0, cp.sum(x[3:]) == 1, c @ x <= b]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - v)), rows)
    problem.solve(cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    np.testing.assert_allclose(Z.project_cut(v, c, b), x.value, atol=1e-6)


def test_what_blocks_lack_the_product_lacks():
    some = FromOracles(lmo=lambda c: -np.sign(c), dim=2)
    Z = Product({"a": some, "b": (Simplex(), 2)})
    assert Z.oracles == some.oracles
    assert Columns(some, (2, 3)).oracles == some.oracles
    assert "FromOracles" in Z.assumes
    assert Z.diameter == np.inf


@pytest.mark.parametrize(
    ("blocks", "error", "message"),
    [
        ({}, TypeError, "blocks must map names"),
        ([Simplex()], TypeError, "blocks must map names"),
        ({"x": Simplex()}, ValueError, "needs a shape"),
        ({"x": 3}, TypeError, "must be a set"),
        ({"x": (Birkhoff(2), (3,))}, ValueError, "3 entries"),
        ({"x": (Simplex(), (0, 2))}, ValueError, "shape of blocks"),
        ({1: Birkhoff(2)}, TypeError, "strings"),
    ],
)
def test_bad_blocks(blocks, error, message):
    with pytest.raises(error, match=message):
        Product(blocks)


def test_bad_joins_and_columns():
    Z = Product({"x": (Simplex(), 2)})
    with pytest.raises(ValueError, match="names"):
        Z.join({"y": np.ones(2)})
    with pytest.raises(ValueError, match="shape"):
        Z.join({"x": np.ones(3)})
    with pytest.raises(ValueError, match="NaN"):
        Z.join({"x": [np.nan, 0]})
    with pytest.raises(ValueError, match="x has length 3"):
        Z.split(np.ones(3))
    with pytest.raises(TypeError, match="each must be a set"):
        Columns(3, (2, 2))
    with pytest.raises(ValueError, match="pair"):
        Columns(Simplex(), 3)
    with pytest.raises(ValueError, match="columns have 3 entries"):
        Columns(Birkhoff(2), (3, 2))


@pytest.mark.parametrize("fraction", [0.3, 1e-3, 1e-6, 1e-10])
def test_multiplier_to_full_precision(fraction):
    """Against bisection in extended precision, on the paper's sizes; b is this near to the least <c, .>."""
    rng = np.random.default_rng(0)
    Z = Columns(L2Ball(1.0), (25, 50))
    A, C = rng.standard_normal((25, 50)), 1e-5 * rng.standard_normal((25, 50))
    C[:, 40:] = 0.0
    reach = np.linalg.norm(C, axis=0).sum()
    b = (fraction - 1) * reach
    a, c = A.astype(np.longdouble), C.astype(np.longdouble)

    def excess(lam):
        V = a + lam * c
        return -(c * V / np.sqrt((V * V).sum(axis=0))).sum() - np.longdouble(b)

    low, high = np.longdouble(0), np.longdouble(1e30)
    for _ in range(300):
        middle = np.sqrt(max(low, 1e-30) * high) if high > 4 * low else (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    for warm in (0.0, 1.0, float(low)):
        cut = Z.lmo_cut(A.ravel(), C.ravel(), b, warm=warm)
        assert cut.status is CutStatus.ACTIVE
        assert cut.multiplier == pytest.approx(float(low), rel=1e-14 / fraction)  # as far as b has the digits
        assert abs(C.ravel() @ cut.point - b) <= 1e-14 * reach
        V = (a + low * c) / np.sqrt(((a + low * c) ** 2).sum(axis=0))
        np.testing.assert_allclose(cut.point.reshape(25, 50), -V.astype(float), atol=1e-14 / fraction)
        assert cut.gap <= 1e-12 * float(low) * reach
