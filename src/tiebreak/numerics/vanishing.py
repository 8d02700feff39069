"""Which entries of the solution of M u = r are zero, for doubles as they are stored: solved modulo random primes.

Where few entries are left when those in doubt are zero, all of these are, if the rest solves the equations. Otherwise
all entries are solved for. A simplex basis is nearly triangular: equations with one unknown left are solved first,
unknowns in one equation left last, and what is between them by elimination. An entry that is zero modulo p, and not
zero, has a numerator that p divides, which few of the primes between 2^30 and 2^31 do.
"""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Vector
from .csr import part as part_of
from .csr import row_numbers, with_data
from .rank import eliminated, prime, residues

LARGEST_CORE = 700
"""Up to so many equations that depend on each other elimination is worth its time."""
LARGEST = 200_000
LIGHT = 200_000
"""An elimination of so many products is nothing beside a simplex run."""
PRIMES = 2  # there are many entries, each of which may be zero modulo one of them


class System(NamedTuple):
    """M u = given @ known, and the values out @ u + more @ known: doubles as they are stored."""

    M: sp.csr_array
    given: sp.csr_array
    known: Vector
    out: sp.csr_array
    more: sp.csr_array


class Places(NamedTuple):
    """Some of the entries of u, and of the values."""

    u: NDArray[np.bool_]
    values: NDArray[np.bool_]


def vanishing(system: System, asked: Places) -> Places | None:
    """Zeros among those ``asked`` for, with overwhelming probability; None where that is not known.

    That is where M is too large, or turns out to be singular. (Where all asked for vanish, M is taken as it comes.)
    """
    M, known = system.M, system.known
    if M.shape[0] > LARGEST:
        return None
    rng = np.random.default_rng(crc32(M.data.tobytes() + known.tobytes()))
    others, count = np.flatnonzero(~asked.u), M.shape[0] + int(asked.values.sum())
    if count * others.size**2 <= LIGHT and _solved_by(system, others, np.flatnonzero(asked.values), rng):
        return asked
    order = _Order(M)
    if len(order.core_rows) > LARGEST_CORE or len(order.core_rows) != len(order.core_columns):
        return None
    of_u, of_values = asked.u.copy(), asked.values.copy()
    for _ in range(PRIMES):
        p = prime(rng)
        at = residues(known, p)
        u = order.solved(residues(M.data, p), _times(system.given, at, p), p)
        if u is None:
            return None
        of_u &= u == 0
        of_values &= (_times(system.out, u, p) + _times(system.more, at, p)) % p == 0
    return Places(of_u, of_values)


def _times(M: sp.csr_array, x: NDArray[np.int64], p: int) -> NDArray[np.int64]:
    """M x modulo p: rows of up to four million entries are added up exactly by doubles."""
    products = residues(M.data, p) * x[M.indices] % p
    return np.asarray(np.bincount(row_numbers(M), products, minlength=M.shape[0]).astype(np.int64) % p)


def _solved_by(system: System, used: NDArray[np.intp], zero: NDArray[np.intp], rng: np.random.Generator) -> bool:
    """Whether these entries of u, the others being zero, are all it takes, and make these values zero."""
    whole = part_of(system.M, np.arange(system.M.shape[0]), used)
    system_rows = np.vstack([whole.toarray(), part_of(system.out, zero, used).toarray()])
    more = part_of(system.more, zero, np.arange(system.more.shape[1]))
    for _ in range(PRIMES):
        p = prime(rng)
        at = residues(system.known, p)
        right = np.concatenate([_times(system.given, at, p), -_times(more, at, p)]) % p
        solved = np.column_stack([residues(system_rows, p), right])
        if eliminated(solved, p) != used.size or not solved.diagonal()[: used.size].all():
            return False
    return True


class _Order:
    """In which order equations are solved; the k-th of ``first`` and ``last`` for the unknown beside it."""

    def __init__(self, M: sp.csr_array) -> None:
        self.M = M
        across = sp.csc_array(M)
        of_row = [M.indices[M.indptr[i] : M.indptr[i + 1]].tolist() for i in range(M.shape[0])]
        of_column = [across.indices[across.indptr[j] : across.indptr[j + 1]].tolist() for j in range(M.shape[1])]
        rows, columns = set(range(M.shape[0])), set(range(M.shape[1]))
        self.first = _singles(of_row, of_column, rows, columns)
        self.last = [(i, j) for j, i in _singles(of_column, of_row, columns, rows)]
        self.core_rows, self.core_columns = sorted(rows), sorted(columns)

    def solved(self, data: NDArray[np.int64], right: NDArray[np.int64], p: int) -> NDArray[np.int64] | None:
        """The solution modulo p; None where there is none, or more than one."""
        M = with_data(self.M, data)
        x = np.zeros(right.size, dtype=np.int64)

        def rest(i: int) -> int:
            part = slice(M.indptr[i], M.indptr[i + 1])
            return int(right[i]) - int((data[part] * x[M.indices[part]] % p).sum())

        def solve_for(i: int, j: int) -> bool:
            part = slice(M.indptr[i], M.indptr[i + 1])
            own = int(data[part][M.indices[part] == j].sum()) % p
            x[j] = rest(i) * pow(own, -1, p) % p if own else 0
            return own != 0

        if not all(solve_for(i, j) for i, j in self.first):
            return None
        n = len(self.core_rows)
        if n:
            core = part_of(M, np.array(self.core_rows), np.array(self.core_columns)).toarray()
            system = np.column_stack([core, [rest(i) % p for i in self.core_rows]])
            if eliminated(system, p) < n or not system.diagonal().all():
                return None
            for k in range(n - 1, -1, -1):
                known = int((system[k, k + 1 : n] * x[self.core_columns[k + 1 :]] % p).sum())
                x[self.core_columns[k]] = (int(system[k, n]) - known) * pow(int(system[k, k]), -1, p) % p
        return x if all(solve_for(i, j) for i, j in reversed(self.last)) else None


def _singles(
    of_row: list[list[int]], of_column: list[list[int]], rows: set[int], columns: set[int]
) -> list[tuple[int, int]]:
    """Rows with one column left, each with that column, in turn; both are taken out."""
    counts = {i: sum(j in columns for j in of_row[i]) for i in rows}
    waiting, found = [i for i, count in counts.items() if count == 1], []
    while waiting:
        i = waiting.pop()
        if i not in rows or counts[i] != 1:
            continue
        j = next(j for j in of_row[i] if j in columns)
        found.append((i, j))
        rows.discard(i)
        columns.discard(j)
        for k in of_column[j]:
            if k in rows:
                counts[k] -= 1
                if counts[k] == 1:
                    waiting.append(k)
    return found
