"""Bounds by propagation: implied ones only, and all that single rows imply."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog

import tiebreak as tb
from tiebreak.numerics.propagation import propagated
from tiebreak.numerics.rows import Rows


def random_rows(seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 6), rng.integers(1, 6)
    A = rng.integers(-2, 3, (m, n)).astype(float)
    x = rng.integers(1, 4, n)
    high = A @ x + rng.integers(0, 3, m)
    low = np.where(rng.random(m) < 0.5, A @ x - rng.integers(0, 2, m), -np.inf)
    upper = np.where(rng.random(n) < 0.3, x + 1.0, np.inf)
    lower = np.where(rng.random(n) < 0.8, x - rng.integers(0, 3, n).astype(float), -np.inf)
    return Rows(sp.csr_array(A), low, high, lower, upper)


@pytest.mark.parametrize("seed", range(60))
def test_no_bound_cuts_off_a_point(seed: int) -> None:
    rows = random_rows(seed)
    found = propagated(rows)
    A = rows.A.toarray()
    ends = np.isfinite(rows.low)
    A_ub = np.vstack([A, -A[ends]])
    b_ub = np.concatenate([rows.high, -rows.low[ends]])
    box = list(zip(rows.lower, rows.upper, strict=True))
    for j in range(A.shape[1]):
        for sign, bound in ((1.0, found.lower[j]), (-1.0, -found.upper[j])):
            cost = sign * np.eye(A.shape[1])[j]
            answer = linprog(cost, A_ub=A_ub, b_ub=b_ub, bounds=box)
            reached = answer.fun if answer.status == 0 else -np.inf
            assert bound <= reached + 1e-9


def test_given_bounds_stay() -> None:
    rows = Rows(sp.csr_array([[1.0, 1.0]]), np.array([-np.inf]), np.array([1.0]), np.zeros(2), np.array([5.0, np.inf]))
    found = propagated(rows)
    assert found.upper[0] == 5.0 and found.upper[1] == pytest.approx(1.0, abs=1e-12)


def test_an_assignment_polytope_needs_no_linear_programme() -> None:
    n = 60
    rows = sp.vstack([sp.kron(sp.eye_array(n), np.ones((1, n))), sp.kron(np.ones((1, n)), sp.eye_array(n))])
    found = propagated(
        Rows(sp.csr_array(rows), np.ones(2 * n), np.ones(2 * n), np.zeros(n * n), np.full(n * n, np.inf))
    )
    np.testing.assert_allclose(found.upper, 1.0, atol=1e-12)
    assert tb.Polyhedron(A_eq=rows, b_eq=np.ones(2 * n), bounds=(0, None)).diameter <= n + 1e-6
