"""Linear equations in rational numbers: pivots are chosen modulo a prime, solutions are exact and looked at again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

PRIME = 2**61 - 1

Number = Any
"""A ``flint.fmpq``."""
Numbers = list[Any]
"""A vector of them."""


def flint() -> Any:
    """python-flint, or what to do without it."""
    try:
        import flint as found
    except ImportError:
        raise ImportError('proofs need python-flint: pip install "tiebreak[proof]"') from None
    return found


def matrix(rows: Sequence[Numbers], width: int) -> Any:
    """Rows of numbers as a matrix."""
    return flint().fmpq_mat(len(rows), width, [entry for row in rows for entry in row])


def product(rows: Sequence[Numbers], x: Numbers) -> Numbers:
    """The products of rows with a vector; zeros are skipped."""
    zero = flint().fmpq(0)
    return [sum((a * b for a, b in zip(row, x, strict=True) if a and b), zero) for row in rows]


def pivots(columns: Sequence[Numbers]) -> list[int]:
    """The columns that do not depend on those before, modulo a prime: never too many, and hardly ever too few."""
    if not columns or not columns[0]:
        return []
    height = len(columns[0])
    entries = [_modulo(column[i]) for i in range(height) for column in columns]
    reduced, rank = flint().nmod_mat(height, len(columns), entries, PRIME).rref()
    found, start = [], 0
    for i in range(rank):
        start = next(j for j in range(start, len(columns)) if int(reduced[i, j]))
        found.append(start)
    return found


def _modulo(value: Number) -> int:
    return int(value.p) * pow(int(value.q), -1, PRIME) % PRIME if value else 0


def transposed(rows: Sequence[Numbers]) -> list[Numbers]:
    """Columns as rows."""
    return [list(column) for column in zip(*rows, strict=True)]


def solution(columns: Sequence[Numbers], right: Numbers) -> Numbers | None:
    """Some z with sum of z_j columns_j = right, where columns that depend on earlier ones get 0; None without one."""
    zero = flint().fmpq(0)
    z = [zero] * len(columns)
    if not any(right):
        return z
    used = pivots(columns)
    rows = pivots(transposed([columns[j] for j in used]))
    if not used or len(rows) < len(used):
        return None
    square = matrix([[columns[j][i] for j in used] for i in rows], len(used))
    try:
        found = square.solve(matrix([[right[i]] for i in rows], 1), algorithm="dixon")
    except ZeroDivisionError:
        return None
    for k, j in enumerate(used):
        z[j] = found[k, 0]
    return z if product(transposed([columns[j] for j in used]), [z[j] for j in used]) == right else None
