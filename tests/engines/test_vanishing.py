"""Zeros of solutions of linear systems, against rational arithmetic."""

from __future__ import annotations

import flint
import numpy as np
import pytest
import scipy.sparse as sp

import tiebreak as tb
from tiebreak.numerics.vanishing import vanishing


def exact_zeros(M: np.ndarray, right: np.ndarray) -> np.ndarray | None:
    """By fractions."""
    whole = flint.fmpq_mat(*M.shape, [flint.fmpq(*float(entry).as_integer_ratio()) for entry in M.ravel()])
    if whole.rank() < len(M):
        return None
    side = flint.fmpq_mat(len(M), 1, [flint.fmpq(*float(entry).as_integer_ratio()) for entry in right])
    return np.array([entry == 0 for entry in whole.solve(side).entries()])


@pytest.mark.parametrize("seed", range(60))
def test_zeros_are_those_of_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    M = rng.integers(-2, 3, (n, n)) * (rng.random((n, n)) < rng.choice([0.1, 0.3, 1.0])) + np.diag(
        rng.integers(0, 3, n)
    )
    M = M * 2.0 ** rng.integers(-20, 20, (1, n))
    if seed % 3 == 0:
        M = np.triu(M)[rng.permutation(n)][:, rng.permutation(n)]
    x = rng.integers(-1, 2, n) * 2.0 ** rng.integers(-3, 4, n) * (rng.random(n) < 0.5)
    right = M @ x  # exact
    if seed % 4 == 0:
        right = right + 2.0**-60 * (rng.random(n) < 0.2)  # tiny, and no zero, where it can be told
    known = exact_zeros(M, right)
    found = vanishing(sp.csr_array(M), right, np.ones(n, dtype=bool))
    if known is None:
        assert found is None or not right.any()
        return
    np.testing.assert_array_equal(found, known)
    np.testing.assert_array_equal(vanishing(sp.csr_array(M), right, known), known)
    some = rng.random(n) < 0.5
    np.testing.assert_array_equal(vanishing(sp.csr_array(M), right, some), known & some)


def test_systems_that_are_too_large_are_left_alone() -> None:
    rng = np.random.default_rng(0)
    assert (
        vanishing(sp.csr_array(rng.integers(-2, 3, (800, 800)).astype(float)), np.ones(800), np.ones(800, dtype=bool))
        is None
    )
    triangle = sp.csr_array(sp.eye_array(3000) + sp.eye_array(3000, k=1))
    assert vanishing(triangle, np.eye(3000)[1500], np.ones(3000, dtype=bool)).sum() == 1499


@pytest.mark.parametrize("seed", range(12))
def test_multipliers_that_are_rounding_of_zeros_raise_no_doubt(seed: int) -> None:
    """Degenerate programmes of whole numbers: some multipliers are zero, beside terms that are rounding as well."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(40, 90)), int(rng.integers(30, 80))
    rows, point = rng.integers(-2, 3, (m, n)).astype(float), rng.integers(-4, 5, n) * (rng.random(n) < 0.5) / 2.0
    gaps = np.where(rng.random(m) < 0.6, 0.0, rng.integers(1, 6, m))
    low = np.where(rng.random(n) < 0.3, point, point - 16.0)
    domain = tb.Polyhedron(A_ub=rows, b_ub=rows @ point + gaps, bounds=np.column_stack([low, point + 16.0]))
    # combinations of rows that are tight at the point, which is optimal for all of them
    prices = rng.integers(0, 3, (3, m)) * (gaps == 0) * (rng.random((3, m)) < 0.3)
    levels = [tb.Linear(c) for c in -prices @ rows]
    result = tb.solve(tb.Problem(levels[-1], levels[:-1], domain), "exact")
    values = [level.value(point) for level in levels]
    assert result.success and result.certificate.well_posed
    for level, value in zip(result.levels, values, strict=True):
        assert level.lower <= value <= level.upper and level.upper - level.lower <= 1e-11 * (1 + abs(value))
