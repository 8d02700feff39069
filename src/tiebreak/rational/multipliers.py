"""Multipliers with the right signs in rational numbers, or a direction that shows that there are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .linear import Number, Numbers, flint, matrix, pivots, product, solution, transposed


class Split(NamedTuple):
    """A vector as a sum: the multiples of the free columns, and those of the others, none negative."""

    free: Numbers
    signed: Numbers


class Direction(NamedTuple):
    """d with <column, d> = 0 for the free columns, >= 0 for the others, and <g, d> < 0: no ``Split`` exists."""

    d: Numbers


def split(free: Sequence[Numbers], signed: Sequence[Numbers], g: Numbers) -> Split | Direction:
    """g as a sum of multiples of columns, or why that cannot be (Farkas)."""
    columns = [*free, *signed]
    for order in (_likely(free, signed, g), list(range(len(signed)))):
        z = solution([*free, *(signed[j] for j in order)], g)
        if z is None:
            break
        back = z[: len(free)] + [z[len(free) + order.index(j)] for j in range(len(signed))]
        if all(value >= 0 for value in back[len(free) :]):
            return Split(back[: len(free)], back[len(free) :])
    if z is None:
        return Direction(outside(columns, g))
    return _by_pivots(free, signed, g)


def _likely(free: Sequence[Numbers], signed: Sequence[Numbers], g: Numbers) -> list[int]:
    """The order of the signed columns in which those come first that floating point numbers take to be needed."""
    from scipy.optimize import nnls

    if not signed:
        return []
    A = np.array([[_float(v) for v in column] for column in [*free, *signed]]).T
    right = np.array([_float(v) for v in g])
    sizes = np.linalg.norm(A, axis=0)
    A = A / np.where(sizes > 0, sizes, 1.0)
    own = A[:, len(free) :]
    if free:  # what the free columns can take care of is no concern of the others
        u, s, _ = np.linalg.svd(A[:, : len(free)], full_matrices=False)
        basis = u[:, s > 1e-10 * s[0]]
        own, right = own - basis @ (basis.T @ own), right - basis @ (basis.T @ right)
    try:
        z = nnls(own, right / (np.linalg.norm(right) or 1.0))[0]
    except RuntimeError:  # too many of its steps
        return list(range(len(signed)))
    return [int(j) for j in np.argsort(-z, kind="stable")]


def _float(value: Number) -> float:
    return int(value.p) / int(value.q)


def outside(columns: Sequence[Numbers], g: Numbers) -> Numbers:
    """d with <column, d> = 0 for all columns and <g, d> = -1."""
    used = [columns[j] for j in pivots(columns)] if columns else []
    right = [flint().fmpq(0)] * len(used) + [flint().fmpq(-1)]
    d = solution(transposed([*used, g]), right)
    if d is None or any(product(columns, d)):
        raise ArithmeticError("a rank modulo a prime is not the rank")  # about one matrix in 1e15
    return d


def _by_pivots(free: Sequence[Numbers], signed: Sequence[Numbers], g: Numbers) -> Split | Direction:
    """The dual simplex method for no costs, by least index (Bland), which ends."""
    count, width = len(free), len(free) + len(signed)
    table, rank = matrix(transposed([*free, *signed, g]), width + 1).rref()
    T = list(table.tolist()[:rank])
    basis = [next(j for j in range(width + 1) if row[j]) for row in T]
    rows = [i for i, j in enumerate(basis) if j >= count]
    while True:
        leaving = min((i for i in rows if T[i][width] < 0), key=lambda i: basis[i], default=None)
        if leaving is None:
            break
        entering = next((j for j in range(count, width) if T[leaving][j] < 0), None)
        if entering is None:
            return Direction(_row_of_inverse([*free, *signed], basis, leaving))
        pivot = [value / T[leaving][entering] for value in T[leaving]]
        T[leaving] = pivot
        for i in range(rank):
            if i != leaving and (factor := T[i][entering]):
                T[i] = [a - factor * b if b else a for a, b in zip(T[i], pivot, strict=True)]
        basis[leaving] = entering
    z = [flint().fmpq(0)] * width
    for i, j in enumerate(basis):
        z[j] = T[i][width]
    return Split(z[:count], z[count:])


def _row_of_inverse(columns: Sequence[Numbers], basis: list[int], i: int) -> Numbers:
    """d with <d, column> = 1 for the i-th column of the basis, and 0 for the others."""
    right = [flint().fmpq(int(k == i)) for k in range(len(basis))]
    d = solution(transposed([columns[j] for j in basis]), right)
    if d is None:
        raise ArithmeticError("a rank modulo a prime is not the rank")
    return d
