"""All kinds of data give the same objective; bounds on norms are bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import tiebreak as tb
from tiebreak.objectives.matrix import DataMatrix

FORMS = {
    "fortran": np.asfortranarray,
    "list": lambda A: A.tolist(),
    "strided": lambda A: np.repeat(A, 2, axis=0)[::2],
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "old csr": sparse.csr_matrix,
    "coo": sparse.coo_array,
    "lil": sparse.lil_array,
    "operator": aslinearoperator,
    "products only": lambda A: LinearOperator(A.shape, matvec=lambda x: A @ x, rmatvec=lambda u: A.T @ u),
}


@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 8), d=st.integers(1, 40), filled=st.floats(0, 1))
def test_all_forms_of_data_agree(form, seed, n, d, filled):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.4)
    x = rng.standard_normal(d) * (rng.random(d) < filled)  # both above and below the share where columns are used
    y = np.arange(n) % 2
    for make in (tb.LeastSquares, tb.Logistic, tb.SquaredCovariance, lambda A, b: tb.Huber(A, b, 0.3)):
        plain, other = make(A, y), make(FORMS[form](A), y)
        for a, b in zip(plain.value_and_grad(x), other.value_and_grad(x), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(other.image(x), A @ x, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(plain.smoothness, other.smoothness, rtol=1e-8, atol=1e-14)


def test_sparse_quadratic_agrees_with_the_dense_one():
    Q = sparse.random_array((50, 50), density=0.1, rng=np.random.default_rng(0))
    Q = Q + Q.T
    x, q = np.random.default_rng(1).standard_normal(50), np.ones(50)
    dense = tb.Quadratic(Q.toarray(), q, 2.0)
    for form in (sparse.csr_array, sparse.csc_array):
        other = tb.Quadratic(form(Q), q, 2.0)
        np.testing.assert_allclose(other.value(x), dense.value(x), rtol=1e-12)
        np.testing.assert_allclose(other.grad(x), dense.grad(x), rtol=1e-12)
        assert other.convex == dense.convex
        np.testing.assert_allclose(other.smoothness, np.linalg.norm(Q.toarray(), 2), rtol=1e-9)


def test_few_nonzeros_touch_few_columns():
    touched = []

    class Columns(np.ndarray):
        def __getitem__(self, key):
            touched.append(key)
            return super().__getitem__(key)

    data = DataMatrix(np.ones((3, 40)))
    data.raw = data.raw.view(Columns)
    x = np.zeros(40)
    x[[4, 7]] = 1.0
    assert data.times(x).tolist() == [2.0, 2.0, 2.0]
    assert [columns.tolist() for _, columns in touched] == [[4, 7]]


def test_single_precision_integers_and_duplicates_are_read_exactly():
    A = np.array([[1.5, 2.0], [0.25, -3.0]], dtype=np.float32)
    x = np.array([1e-9, 1.0])
    assert tb.LeastSquares(A, [0, 0]).image(x).tolist() == (A.astype(float) @ x).tolist()
    indices, pointers = np.array([0, 0, 1]), np.array([0, 2, 3])
    twice = sparse.csr_array((np.array([1.0, 1.0, 5.0]), indices, pointers), shape=(2, 2))
    f = tb.LeastSquares(twice, [0, 0])
    assert f.value([1.0, 1.0]) == 0.5 * (4 + 25)
    assert abs(f.smoothness - 25) <= 1e-8
    assert twice.nnz == 3  # the caller's matrix is left alone


@pytest.mark.parametrize("shape", [(600, 520), (520, 700)])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, aslinearoperator])
@pytest.mark.parametrize("kind", ["gauss", "rank one", "decaying", "sparse"])
def test_large_matrices_get_a_tight_upper_bound(shape, form, kind):
    rng = np.random.default_rng(2)
    A = rng.standard_normal(shape)
    if kind == "rank one":
        A = np.outer(A[:, 0], A[0])
    elif kind == "decaying":
        A = A * (1.0 + np.arange(shape[1])) ** -2
    elif kind == "sparse":
        A = A * (rng.random(shape) < 0.01)
    weights = rng.random(shape[0])
    for w in (1.0, weights):
        exact = np.linalg.norm(np.sqrt(w) * A.T, 2) ** 2
        bound = DataMatrix(form(A)).squared_norm(w)
        assert exact <= bound <= 1.05 * exact


def test_bounds_of_norms_are_bounds_for_awkward_matrices():
    for A in (
        np.zeros((3, 4)),
        np.ones((1, 1)),
        1e-8 * np.ones((4, 1)),
        1e8 * np.eye(3),
        np.diag([1e8, 1e-8]),
    ):
        for form in (np.asarray, sparse.csr_array, aslinearoperator):
            data, exact = DataMatrix(form(A)), np.linalg.norm(A, 2) ** 2
            assert exact <= data.squared_norm() <= exact * (1 + 1e-9)
            assert data.frobenius >= np.linalg.norm(A)
    assert DataMatrix(aslinearoperator(np.zeros((150, 150)))).squared_norm() == 0.0


def test_smoothness_of_each_kind_is_at_most_its_formula():
    rng = np.random.default_rng(0)
    A, y, v = rng.standard_normal((30, 8)), np.arange(30) % 2, rng.random(30)
    top = np.linalg.norm(A, 2) ** 2
    np.testing.assert_allclose(tb.LeastSquares(A, y, 3.0).smoothness, 3 * top)
    np.testing.assert_allclose(tb.Huber(A, y, 3.0).smoothness, top)
    np.testing.assert_allclose(tb.Logistic(A, y).smoothness, top / 30 / 4)
    assert tb.Linear(np.ones(3)).smoothness == 0.0
    # the largest curvature found by looking must be within the bound, and the bound within a factor of it
    f, found = tb.SquaredCovariance(A, v), 0.0
    for _ in range(300):
        x, along = rng.standard_normal(8) * rng.random(), rng.standard_normal(8)
        step = 1e-4 * along / np.linalg.norm(along)
        found = max(found, np.linalg.norm(f.grad(x + step) - f.grad(x - step)) / 2e-4)
    assert found <= f.smoothness <= 100 * found
