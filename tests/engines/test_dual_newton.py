"""Newton's method on the dual, and the wide dense problems it is for, against solvers that share nothing with it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import lsq_linear

import tiebreak as tb
from tiebreak.engines.rows.solve import solve_rows
from tiebreak.numerics.dual_newton import PROXIMAL, Diagonal, maximise, with_slack_columns
from tiebreak.numerics.quadratic_programme import QP, by_clarabel, by_dual_newton, by_piqp, portfolio


def drawn(seed: int, form) -> QP:
    """A strictly convex programme with equations, rows with two ends, dependent rows and tight bounds."""
    rng = np.random.default_rng(seed)
    n, m = 60, 9
    G = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.5)
    G[3] = G[0] + G[1]
    inside = rng.uniform(-1, 1, n)
    low = G @ inside
    high = low + np.where(np.arange(m) < 5, 0.0, rng.uniform(0, 2, m))
    low[-1] = -np.inf
    low[3] = high[3] = low[0] + low[1]
    return QP(sp.diags_array(rng.uniform(0.5, 2, n), format="csr"), 3 * rng.normal(size=n), form(G), low, high,
              np.full(n, -1.0), np.where(rng.random(n) < 0.1, np.inf, 1.0))  # fmt: skip


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("seed", range(6))
def test_the_same_solution_as_an_interior_point(seed, form):
    qp = drawn(seed, form)
    assert portfolio(qp)[0] is by_dual_newton
    found, known = by_dual_newton(qp), by_clarabel(qp)
    assert found is not None
    np.testing.assert_allclose(found.v, known.v, atol=1e-5)  # the slack columns have a curvature of 1e-7
    left = qp.H @ found.v + qp.c - qp.G.T @ found.y
    np.testing.assert_allclose(found.v, np.clip(found.v - left, qp.lower, qp.upper), atol=1e-7)
    activity = qp.G @ found.v
    np.testing.assert_allclose(activity, np.clip(activity - found.y, qp.low, qp.high), atol=1e-5)


def test_curvature_is_added_only_where_there_is_none():
    one = np.ones(1)
    made = with_slack_columns(
        np.array([0.0, 2.0]), np.zeros(2), np.eye(2), 0 * np.ones(2), np.array([0.0, 1.0]), -one, one
    )
    np.testing.assert_array_equal(made.h, [2 * PROXIMAL, 2.0, 2 * PROXIMAL])
    np.testing.assert_array_equal(made.G, [[1.0, 0.0, 0.0], [0.0, 1.0, -1.0]])


def test_an_empty_set_ends_the_search():
    """x0 + x1 = 5 in the unit square."""
    one = np.ones(2)
    assert maximise(Diagonal(one, -one, np.ones((1, 2)), np.array([5.0]), 0 * one, one)) is None


def test_no_try_with_other_hessians_or_more_rows_than_columns_without_curvature():
    qp = drawn(0, sp.csr_array)
    H = qp.H.tolil()
    H[0, 1] = H[1, 0] = 0.1
    assert portfolio(qp._replace(H=sp.csr_array(H)))[0] is by_piqp
    flat = sp.diags_array(np.append(np.zeros(30), np.ones(30)), format="csr")
    assert portfolio(qp._replace(H=flat))[0] is by_dual_newton
    tall = sp.vstack([qp.G] * 4, format="csr")
    assert portfolio(qp._replace(H=flat, G=tall, low=np.tile(qp.low, 4), high=np.tile(qp.high, 4)))[0] is by_piqp


@pytest.mark.parametrize("reach", [0.5, 1.5, 4.0])
@pytest.mark.parametrize("shape", [(30, 300), (60, 130), (200, 120)])
def test_dense_least_squares_over_a_box(shape, reach):
    """Images within reach, at the edge and far outside; wide, nearly square and tall data."""
    import cvxpy as cp

    rng = np.random.default_rng(shape[0])
    A = rng.normal(size=shape)
    A[:, -5:] = A[:, :5]
    b = A @ rng.uniform(-reach, reach, shape[1])
    first, second = solve_rows([tb.LeastSquares(A, b), tb.SquaredNorm()], tb.Box(-1, 1, shape[1]))
    known = lsq_linear(A, b, (-1, 1), method="bvls", tol=1e-15)
    assert first.f_lower <= known.cost + 1e-12 * (1 + known.cost)
    assert first.f_upper >= known.cost - 1e-9 * (1 + known.cost)
    assert first.f_upper - first.f_lower <= 1e-11 * (1 + known.cost)
    x = cp.Variable(shape[1])
    held = [A @ x == A @ first.x, x >= -1, x <= 1]
    tight = {f"tol_{name}": 1e-11 for name in ("gap_abs", "gap_rel", "feas")}
    f_star = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(x)), held).solve(solver=cp.CLARABEL, **tight)
    assert second.f_lower == pytest.approx(f_star, rel=1e-5)
    assert second.width <= 1e-9
    assert second.lower_unique is False  # two columns agree, and their sum can be shared
