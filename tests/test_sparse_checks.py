"""Sparse matrices whose indices point elsewhere are refused: SciPy's products would read from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import tiebreak as tb

FAR = 2**31 - 10


def spoilt(kind: str, **changes: Any) -> Any:
    """A 6 x 6 matrix with attributes that do not fit."""
    matrix = getattr(sparse, f"{kind}_array")(sparse.random_array((6, 6), density=0.5, rng=np.random.default_rng(0)))
    for name, value in changes.items():
        setattr(matrix, name, value(getattr(matrix, name)) if callable(value) else value)
    return matrix


def first(value: int) -> Callable[[Any], Any]:
    def change(indices: Any) -> Any:
        other = indices.copy()
        other[0] = value
        return other

    return change


MALFORMED: dict[str, Callable[[], Any]] = {
    "csr, index too large": lambda: spoilt("csr", indices=first(6)),
    "csr, index far away": lambda: spoilt("csr", indices=first(FAR)),
    "csr, index negative": lambda: spoilt("csr", indices=first(-FAR)),
    "csc, index far away": lambda: spoilt("csc", indices=first(FAR)),
    "csr, starts fall": lambda: spoilt("csr", indptr=lambda p: np.r_[p[:2], FAR, p[3:]].astype(np.int32)),
    "csr, starts begin late": lambda: spoilt("csr", indptr=lambda p: np.r_[1, p[1:]]),
    "csr, starts end late": lambda: spoilt("csr", indptr=lambda p: np.r_[p[:-1], FAR].astype(np.int32)),
    "csr, nothing at the end": lambda: spoilt("csr", indptr=np.array([0, FAR, 0, 0, 0, 0, 0], dtype=np.int32)),
    "csr, too few starts": lambda: spoilt("csr", indptr=lambda p: p[:-2]),
    "csr, fewer indices than entries": lambda: spoilt("csr", indices=lambda i: i[:1]),
    "csr, fewer entries than indices": lambda: spoilt("csr", data=lambda d: d[:1]),
    "csr, indices that are no whole numbers": lambda: spoilt("csr", indices=lambda i: i + 0.5),
    "csr, a larger shape": lambda: spoilt("csr", _shape=(10**9, 6)),
    "csr, a smaller shape": lambda: spoilt("csr", _shape=(6, 2)),
    "bsr, index far away": lambda: spoilt("bsr", indices=first(FAR)),
    "coo, index far away": lambda: spoilt("coo", coords=lambda c: (first(FAR)(c[0]), c[1])),
    "coo, index negative": lambda: spoilt("coo", coords=lambda c: (c[0], first(-7)(c[1]))),
    "lil, index far away": lambda: spoilt("lil", rows=lambda rows: np.array([[FAR] * len(r) for r in rows], object)),
}  # fmt: skip


@pytest.mark.parametrize("kind", MALFORMED)
def test_malformed_matrices_are_refused_everywhere(kind: str) -> None:
    for make in (
        lambda A: tb.LeastSquares(A, np.ones(6)),
        lambda A: tb.Logistic(A, np.array([1.0, -1.0] * 3)),
        lambda A: tb.Huber(A, np.ones(6), 1.0),
        lambda A: tb.SquaredCovariance(A, np.arange(6.0)),
        lambda A: tb.Quadratic(A, np.ones(6)),
        lambda A: tb.Polyhedron(A_ub=A, b_ub=np.ones(6), bounds=(0, 1)),
        lambda A: tb.Polyhedron(A_eq=A, b_eq=np.zeros(6), bounds=(0, 1)),
    ):
        with pytest.raises(ValueError, match="malformed sparse matrix"):
            make(MALFORMED[kind]())


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"])
@pytest.mark.parametrize("make", ["array", "matrix"])
def test_all_formats_are_taken(kind: str, make: str) -> None:
    dense = np.arange(24.0).reshape(4, 6) % 5
    A = getattr(sparse, f"{kind}_{make}")(dense)
    x = np.arange(6.0)
    assert tb.LeastSquares(A, np.ones(4)).value(x) == tb.LeastSquares(dense, np.ones(4)).value(x)
    Z = tb.Polyhedron(A_ub=A, b_ub=np.full(4, 10.0), bounds=(0, 1))
    assert Z.contains(np.zeros(6)) and not Z.contains(np.ones(6))


def test_duplicates_and_empty_matrices() -> None:
    A = sparse.csr_array((np.ones(3), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    assert tb.LeastSquares(A, [0.0, 0.0]).value(np.array([0.0, 1.0])) == 2.0
    assert tb.LeastSquares(sparse.csr_array((2, 3)), [1.0, 1.0]).value(np.zeros(3)) == 1.0
    with pytest.raises(TypeError, match="must hold real numbers"):
        tb.LeastSquares(sparse.csr_array((2, 2), dtype=complex), [1.0, 1.0])
