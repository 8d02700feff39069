"""Zeros of solutions of linear systems, against rational arithmetic."""

from __future__ import annotations

import flint
import numpy as np
import pytest
import scipy.sparse as sp

import tiebreak as tb
from tiebreak.numerics.settled import settled
from tiebreak.numerics.vanishing import Places, System, vanishing


def exact(M: np.ndarray) -> flint.fmpq_mat:
    """The doubles as fractions."""
    entries = [flint.fmpq(*float(entry).as_integer_ratio()) for entry in np.ravel(M)]
    return flint.fmpq_mat(*np.atleast_2d(M).shape, entries)


def exact_values(system: System) -> tuple[list[flint.fmpq], list[flint.fmpq]] | None:
    """u and the values by fractions."""
    M, given, out, more = (exact(part.toarray()) for part in (system.M, system.given, system.out, system.more))
    known = exact(system.known[:, None])
    if M.rank() < M.nrows():
        return None
    u = M.solve(given * known)
    return u.entries(), (out * u + more * known).entries()


def some_system(seed: int) -> System:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    M = rng.integers(-2, 3, (n, n)) * (rng.random((n, n)) < rng.choice([0.1, 0.3, 1.0])) + np.diag(
        rng.integers(0, 3, n)
    )
    M = M * 2.0 ** rng.integers(-20, 20, (1, n))
    if seed % 3 == 0:
        M = np.triu(M)[rng.permutation(n)][:, rng.permutation(n)]
    u = rng.integers(-1, 2, n) * 2.0 ** rng.integers(-3, 4, n) * (rng.random(n) < 0.5)
    right = M @ u  # exact
    if seed % 4 == 0:
        right = right + 2.0**-60 * (rng.random(n) < 0.2)  # tiny, and no zero, where it can be told
    out = rng.integers(-1, 2, (4, n)).astype(float)
    more = np.zeros((4, n + 1))
    more[:, n] = -(out @ u)  # the values are zero, or as small as that
    return System(*map(sp.csr_array, (M, np.eye(n, n + 1))), np.append(right, 1.0), *map(sp.csr_array, (out, more)))


def everywhere(system: System) -> Places:
    return Places(*(np.ones(size, dtype=bool) for size in (system.M.shape[0], system.out.shape[0])))


@pytest.mark.parametrize("seed", range(60))
def test_zeros_and_signs_are_those_of_fractions(seed: int) -> None:
    system = some_system(seed)
    known, found = exact_values(system), vanishing(system, everywhere(system))
    if known is None:
        assert found is None or not (system.given @ system.known).any()
        return
    assert found is not None
    zeros = Places(*(np.array([entry == 0 for entry in values]) for values in known))
    rng = np.random.default_rng(seed)
    for asked in (everywhere(system), zeros, Places(*(rng.random(len(values)) < 0.5 for values in known))):
        found = vanishing(system, asked)
        assert found is not None
        np.testing.assert_array_equal(found.u, zeros.u & asked.u)
        np.testing.assert_array_equal(found.values, zeros.values & asked.values)
    inverse = np.linalg.inv(system.M.toarray())
    nothing = (np.zeros(len(values), dtype=np.longdouble) for values in known)
    result = settled(system, *nothing, everywhere(system), lambda right: inverse @ right)
    assert result is not None and result.certain
    for ours, theirs in ((result.u, known[0]), (result.values, known[1])):
        np.testing.assert_array_equal(np.sign(ours), [(entry > 0) - (entry < 0) for entry in theirs])


def test_a_solver_that_is_too_poor_leaves_signs_open() -> None:
    rng = np.random.default_rng(1)
    n = 6
    near = plain(sp.csr_array(rng.random((n, n))), rng.random(n))
    values = np.zeros(n, dtype=np.longdouble), np.zeros(0, dtype=np.longdouble)
    result = settled(near, *values, everywhere(near), lambda right: right)
    assert result is not None and not result.certain


def plain(M: sp.csr_array, right: np.ndarray) -> System:
    nothing = sp.csr_array((0, right.size))
    return System(M, sp.csr_array(sp.eye_array(right.size)), right, nothing, nothing)


def test_systems_that_are_too_large_are_left_alone() -> None:
    rng = np.random.default_rng(0)
    large = plain(sp.csr_array(rng.integers(-2, 3, (800, 800)).astype(float)), np.ones(800))
    assert vanishing(large, everywhere(large)) is None
    triangle = plain(sp.csr_array(sp.eye_array(3000) + sp.eye_array(3000, k=1)), np.eye(3000)[1500])
    found = vanishing(triangle, everywhere(triangle))
    assert found is not None and found.u.sum() == 1499


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
