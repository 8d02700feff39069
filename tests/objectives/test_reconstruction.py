"""The reconstruction error against its definition in extended precision, in all its forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tiebreak as tb
from tiebreak.testing import check_objective

L = np.longdouble


def truth(A: np.ndarray, D: np.ndarray, X: np.ndarray) -> tuple[L, np.ndarray, np.ndarray]:
    """1/2 sum of squares, and both gradients, by the definition."""
    A, D, X = (part.astype(L) for part in (A, D, X))
    R = D @ X - A
    return (R * R).sum() / 2, R @ X.T, D.T @ R


shapes = {
    "seed": st.integers(0, 10**6),
    "m": st.integers(1, 5),
    "n": st.integers(1, 12),
    "atoms": st.integers(1, 6),
    "size": st.sampled_from([1e-6, 1.0, 1e6]),
}


@settings(deadline=None, max_examples=80)
@given(**shapes)
def test_both_variable(seed, m, n, atoms, size):
    rng = np.random.default_rng(seed)
    A, D, X = size * rng.standard_normal((m, n)), rng.standard_normal((m, atoms)), rng.standard_normal((atoms, n))
    if seed % 2:  # a fit that is exact up to rounding: the residual is all error
        A = D @ X
    f, x = tb.Reconstruction(A, atoms), np.concatenate([D.ravel(), X.ravel()])
    value, in_D, in_X = truth(A, D, X)
    grad = np.concatenate([in_D.ravel(), in_X.ravel()])
    errors = f.rounding(x)
    assert abs(f.value(x) - value) <= errors[0]
    assert abs(f.value_and_grad(x)[0] - value) <= errors[0]
    assert np.linalg.norm((f.grad(x) - grad).astype(float)) <= errors[1]
    assert f.dim == x.size and not f.convex and f.smoothness is None and f.curvature_along(x, None) is None


@settings(deadline=None, max_examples=80)
@given(**shapes, rest=st.sampled_from([0, 3]), kind=st.integers(0, 3))
def test_codes_known(seed, m, n, atoms, size, rest, kind):
    """More points than codes and fewer; dependent codes, atoms without codes, an exact fit."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(1, atoms + 1))
    D, codes = rng.standard_normal((m, atoms)), size * rng.standard_normal((p, n))
    if kind == 1:
        codes[-1] = codes[0]
    if kind == 2:
        codes[0] = 0.0
    A = D[:, :p] @ codes if kind == 3 else rng.standard_normal((m, n))
    g = tb.Reconstruction(A, atoms, codes, rest=rest)
    x = np.concatenate([D.ravel(), rng.standard_normal(rest)])
    value, in_D, _ = truth(A, D[:, :p], codes)
    expected = np.zeros((m, atoms), dtype=L)
    expected[:, :p] = in_D
    errors = g.rounding(x)
    assert abs(g.value(x) - value) <= errors[0]
    grad = g.grad(x)
    assert np.linalg.norm((grad[: m * atoms].reshape(m, atoms) - expected).astype(float)) <= errors[1]
    assert not grad[m * atoms :].any()
    E = rng.standard_normal(x.size)
    bend = float(np.linalg.norm(E[: m * atoms].reshape(m, atoms)[:, :p] @ codes) ** 2)
    assert g.curvature_along(E, None) == pytest.approx(bend, rel=1e-11)
    assert g.smoothness == pytest.approx(np.linalg.norm(codes, 2) ** 2, rel=1e-9)
    assert g.smoothness >= np.linalg.norm(codes, 2) ** 2 * (1 - 1e-12)


def test_rounding_is_small_on_the_papers_sizes() -> None:
    rng = np.random.default_rng(0)
    A, D, X = rng.standard_normal((25, 250)), rng.standard_normal((25, 50)) / 5, rng.standard_normal((40, 250))
    g, f = tb.Reconstruction(A, 50, X), tb.Reconstruction(A[:, :200], 50)
    for objective, x in ((g, D.ravel()), (f, np.append(D.ravel(), rng.standard_normal(50 * 200)))):
        value, grad = objective.value_and_grad(x)
        assert objective.rounding(x)[0] <= 1e-11 * value
        assert objective.rounding(x)[1] <= 1e-10 * np.linalg.norm(grad)


def test_conforms() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((3, 8))
    assert check_objective(tb.Reconstruction(A, 4)) > 20
    assert check_objective(tb.Reconstruction(A, 4, rng.standard_normal((3, 8)), rest=5)) > 20
    assert check_objective(2 * tb.Reconstruction(A, 4) + tb.SquaredNorm(dim=44)) > 20


def test_blocks_are_views() -> None:
    f = tb.Reconstruction(np.ones((2, 3)), 2)
    x = np.arange(10.0)
    D, X = f.blocks(x)
    assert np.shares_memory(D, x) and np.shares_memory(X, x)
    np.testing.assert_array_equal(X, [[4, 5, 6], [7, 8, 9]])


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"data": [1.0, 2.0], "atoms": 1}, ValueError, "data must be a matrix with one data point a column"),
        ({"data": [[np.nan]], "atoms": 1}, ValueError, "data holds NaN"),
        ({"data": [[1.0]], "atoms": 0}, ValueError, "atoms must be a whole number"),
        (
            {"data": [[1.0]], "atoms": 1, "codes": [[1.0, 2.0]]},
            ValueError,
            "codes must have a column for each of the 1",
        ),
        ({"data": [[1.0]], "atoms": 1, "codes": [[1.0], [2.0]]}, ValueError, "a row for some of the 1 atoms"),
        ({"data": [[1.0]], "atoms": 1, "codes": [["a"]]}, TypeError, "codes must hold real numbers"),
        ({"data": [[1.0]], "atoms": 1, "rest": 2}, ValueError, "rest is for objectives with given codes"),
        ({"data": [[1.0]], "atoms": 1, "codes": [[1.0]], "rest": -1}, ValueError, "rest must be a whole number"),
    ],
)
def test_bad_input(arguments, error, match) -> None:
    with pytest.raises(error, match=match):
        tb.Reconstruction(**arguments)
