"""Bad input is refused at once, in words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import tiebreak as tb

A, b = np.eye(2), np.ones(2)
WITH_DATA = (
    lambda A: tb.LeastSquares(A, [0, 1]),
    lambda A: tb.Logistic(A, [0, 1]),
    lambda A: tb.SquaredCovariance(A, [0, 1]),
    lambda A: tb.Huber(A, [0, 1], 1.0),
    lambda A: tb.Quadratic(A, [0, 1]),
)


@pytest.mark.parametrize("make", WITH_DATA)
@pytest.mark.parametrize(
    ("matrix", "error", "match"),
    [
        (np.ones(2), ValueError, "reshape"),
        (np.ones((2, 2, 2)), ValueError, "2-D"),
        (np.float64(1), ValueError, "2-D"),
        (np.ones((0, 2)), ValueError, "empty"),
        (np.ones((2, 0)), ValueError, "empty"),
        (sparse.csr_array((2, 0)), ValueError, "empty"),
        ([[np.nan, 0], [0, 1]], ValueError, "NaN"),
        ([[np.inf, 0], [0, 1]], ValueError, "NaN or infinite"),
        (sparse.csr_array([[np.nan, 0], [0, 1]]), ValueError, "NaN"),
        (np.eye(2, dtype=complex), TypeError, "real"),
        (sparse.csr_array(np.eye(2, dtype=complex)), TypeError, "real"),
        (aslinearoperator(np.eye(2, dtype=complex)), TypeError, "real|operator"),
        (np.array([["a", "b"], ["c", "d"]]), TypeError, "real"),
        (np.eye(2, dtype=object), TypeError, "real"),
        (LinearOperator((2, 2), matvec=lambda x: x), TypeError, "rmatvec"),
    ],
)
def test_bad_matrices(make, matrix, error, match):
    with pytest.raises(error, match=match):
        make(matrix)


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: tb.LeastSquares(A, [1, 2, 3]), ValueError, "b has length 3, expected 2"),
        (lambda: tb.LeastSquares(A, [1, np.nan]), ValueError, "b holds NaN"),
        (lambda: tb.LeastSquares(A, [[1], [2]]), ValueError, "b must be a 1-D"),
        (lambda: tb.LeastSquares(A, b, 0), ValueError, "scale must be positive"),
        (lambda: tb.Huber(A, b, -1), ValueError, "delta must be positive"),
        (lambda: tb.Huber(A, [1], 1), ValueError, "b has length"),
        (lambda: tb.SquaredCovariance(A, [1]), ValueError, "v has length"),
        (lambda: tb.Logistic(A, [1, 1]), ValueError, "two classes.* holds 1$"),
        (lambda: tb.Logistic(A, [0, 0]), ValueError, "two classes"),
        (lambda: tb.Logistic(A, [1, 2]), ValueError, "holds 1, 2$"),
        (lambda: tb.Logistic(np.eye(7), np.arange(7)), ValueError, "holds 0, 1, 2, 3, 4, ...$"),
        (lambda: tb.Logistic(A, ["no", "yes"]), TypeError, "y must hold real"),
        (lambda: tb.Logistic(A, [0, 1, 1]), ValueError, "y has length"),
        (lambda: tb.Logistic(A, [0, 1], [1, -1]), ValueError, "weights must not be negative"),
        (lambda: tb.Logistic(A, [0, 1], [0, 0]), ValueError, "weights are all zero"),
        (lambda: tb.Logistic(A, [0, 1], [1]), ValueError, "weights has length"),
        (lambda: tb.Quadratic([[0, 1], [0, 0]], b), ValueError, r"symmetric.*\(Q \+ Q.T\)/2"),
        (lambda: tb.Quadratic(sparse.csr_array([[0, 1], [0, 0]]), b), ValueError, "symmetric"),
        (lambda: tb.Quadratic(np.ones((2, 3)), b), ValueError, "square"),
        (lambda: tb.Quadratic(A, [1, 2, 3]), ValueError, "q has length"),
        (lambda: tb.Quadratic(A, b, np.nan), ValueError, "c holds NaN"),
        (lambda: tb.Quadratic(aslinearoperator(A), b), TypeError, "operator"),
        (lambda: tb.Linear([]), ValueError, "c is empty"),
        (lambda: tb.Linear([[1.0]]), ValueError, "c must be a 1-D"),
        (lambda: tb.SquaredNorm([1.0, 2.0], dim=3), ValueError, "center has length 2, expected 3"),
        (lambda: tb.SquaredNorm(dim=0), ValueError, "dim"),
        (lambda: tb.Function(1.0, lambda x: x), TypeError, "value must be a callable"),
        (lambda: tb.Function(lambda x: 0.0), TypeError, "pass grad="),
        (lambda: tb.Function(lambda x: 0.0, 3.0), TypeError, "pass grad="),
        (lambda: tb.Function(lambda x: 0.0, lambda x: x, smoothness=-1), ValueError, "smoothness"),
        (lambda: tb.Function(lambda x: 0.0, lambda x: x, lower_bound=np.nan), ValueError, "lower_bound"),
        (lambda: tb.Function(lambda x: 0.0, lambda x: x, dim=1.5), ValueError, "dim"),
        (lambda: tb.objectives.Sum(), ValueError, "sum"),
    ],
)
def test_bad_arguments(make, error, match):
    with pytest.raises(error, match=match):
        make()


@pytest.mark.parametrize(
    "objective",
    [
        tb.LeastSquares(np.ones((2, 30)), b),
        tb.Quadratic(np.eye(30), np.ones(30)),
        tb.Linear(np.ones(30)),
        tb.SquaredNorm(dim=30),
        tb.Function(lambda x: 0.0, lambda x: x, dim=30),
        tb.Linear(np.ones(30)) + tb.SquaredNorm(),
    ],
)
@pytest.mark.parametrize("x", [np.zeros(29), np.zeros(31), np.zeros((30, 1)), 1.0])
def test_points_of_the_wrong_shape(objective, x):
    for evaluate in (objective.value, objective.grad, objective.value_and_grad):
        with pytest.raises(ValueError, match="x must be 1-D of length 30"):
            evaluate(x)


def test_points_may_be_lists():
    assert tb.SquaredNorm().value([3, 4]) == 12.5
    with pytest.raises(ValueError, match="x must be 1-D, got"):
        tb.SquaredNorm().value([[3, 4]])


@pytest.mark.parametrize(
    ("value", "grad", "error", "match"),
    [
        (lambda x: x, lambda x: x, ValueError, "value.* must return a single number, got shape"),
        (lambda x: "1", lambda x: x, TypeError, "value.* must return real"),
        (lambda x: None, lambda x: x, TypeError, "value.* must return real"),
        (lambda x: 1j, lambda x: x, TypeError, "value.* must return real"),
        (lambda x: 1.0, lambda x: x[:-1], ValueError, r"grad.* must return an array of shape \(2,\)"),
        (lambda x: 1.0, lambda x: x[:, None], ValueError, "grad.* must return an array of shape"),
        (lambda x: 1.0, lambda x: None, TypeError, "grad.* must return real"),
    ],
)
def test_outputs_of_user_functions(value, grad, error, match):
    with pytest.raises(error, match=match):
        tb.Function(value, grad).value_and_grad(np.ones(2))


def test_user_functions_keep_their_hands_off_x_and_pass_nan_through():
    def spoil(x):
        x[:] = 7
        return np.full(2, np.nan)

    x = np.ones(2)
    f = tb.Function(lambda x: np.float32(np.inf), spoil, dim=2, smoothness=3, lower_bound=-1)
    value, grad = f.value_and_grad(x)
    assert value == np.inf
    assert np.isnan(grad).all()
    assert x.tolist() == [1.0, 1.0]
    assert (f.smoothness, f.lower_bound, f.convex) == (3.0, -1.0, False)
