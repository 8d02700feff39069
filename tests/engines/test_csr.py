"""Matrices made without SciPy's checks are those that SciPy makes with them."""

import numpy as np
import pytest
import scipy.sparse as sp

from tiebreak.numerics import csr


def some(seed: int) -> sp.csr_array:
    """With empty rows, columns out of order and, at times, entries in two parts or long indices."""
    rng = np.random.default_rng(seed)
    m, n, count = (int(k) for k in rng.integers(1, [12, 12, 40]))
    rows, columns = np.sort(rng.integers(0, m, count)), rng.integers(0, n, count)
    indptr = np.searchsorted(rows, np.arange(m + 1))
    A = sp.csr_array((rng.standard_normal(count), columns, indptr), shape=(m, n))
    if seed % 2:
        A.sum_duplicates()
    if seed % 3 == 0:
        A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A


@pytest.mark.parametrize("seed", range(30))
def test_as_scipy_says(seed):
    A, rng = some(seed), np.random.default_rng(seed)
    m, n = A.shape
    whole, before = A.toarray(), (A.data.copy(), A.indices.copy())
    rows, columns = np.flatnonzero(rng.random(m) < 0.6), np.flatnonzero(rng.random(n) < 0.6)
    part = csr.part(A, rows, columns)
    assert part.shape == (rows.size, columns.size)
    assert (part.toarray() == whole[rows][:, columns]).all()
    part.check_format(full_check=True)
    y, factors = rng.standard_normal(m), rng.standard_normal(n)
    assert np.allclose(csr.turned(A) @ y, whole.T @ y, rtol=1e-13, atol=1e-13)
    assert np.allclose((csr.turned(part) @ part).toarray(), part.toarray().T @ part.toarray())
    assert np.allclose(csr.columns_times(A, factors).toarray(), whole * factors)
    assert (csr.row_numbers(A) == np.repeat(np.arange(m), np.diff(A.indptr))).all()
    if seed % 2:
        assert (csr.absolute(A).toarray() == np.abs(whole)).all()
        assert (csr.largest_in_rows(A) == np.abs(whole).max(axis=1)).all()
    assert (A.data == before[0]).all()
    assert (A.indices == before[1]).all()


def test_other_forms_become_rows():
    A = sp.random_array((4, 3), density=0.5, rng=0, format="csc")
    assert csr.as_csr(A).format == "csr"
    assert isinstance(csr.as_csr(sp.csr_matrix(A)), sp.csr_array)
    assert csr.as_csr(B := sp.csr_array(A)) is B
    assert csr.largest_in_rows(sp.csr_array((2, 0))).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("seed", range(30))
def test_what_scipy_puts_in_order_leaves_the_others_as_they_are(seed):
    """``abs`` and ``max`` order the arrays of their matrix in place: those of a matrix beside it are others."""
    A, rng = some(seed), np.random.default_rng(seed)
    whole, factors = A.toarray(), rng.standard_normal(A.shape[1])
    others = [csr.with_data(A, A.data.copy()), csr.columns_times(A, factors), csr.turned(A), csr.as_csr(A)]
    others += [csr.wider(A, A.shape[1] + 2), csr.with_columns_before(A, 2)]
    before = [other.toarray() for other in others]
    for other in others:
        abs(other)
        other.max(axis=1)
        other.sum_duplicates()
        assert (A.toarray() == whole).all()
    for other, same in zip(others, before, strict=True):
        assert (other.toarray() == same).all()
