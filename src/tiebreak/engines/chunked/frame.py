"""Few rows F that stand for the rows A of a level, with a proof that they do: same null space, nearly the same Gram.

F is made of a triangle: of the columns J that it takes to span all, the others being sums of these with integer
coefficients K. Nothing rests on how it was found. One more pass shows, chunk by chunk, that

* the other columns of A are those sums, to the last bit, so that A = A_J [I K] and F = F_J [I K];
* M = S'A_J'A_J S is nearly the identity, S an inverse of F_J in double precision: with |M - I| <= m and
  |F_J S - I| <= n < 1, A'A = F'(I + E)F with |E| <= (1 + m)/(1 - n)^2 - 1.

So A and F have one null space, and rank is no matter of thresholds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular

from ...arrays import Matrix, Vector
from ...numerics.extended import WIDE
from ...numerics.rows import power_of_two
from ...objectives.matrix import gamma
from .triangle import resolved

NEAR = 1e-6
"""Coefficients so near to integers are taken for such; the pass decides."""
LARGEST = 1024 if WIDE else 1
"""An integer times a double is exact in extended precision up to this."""
BITS = 46
"""Entries of F_J keep so many bits below the largest of their row where other columns are sums of several."""
AT_ONCE = 1024  # rows


@dataclass(frozen=True)
class Frame:
    """F on all columns, and what the pass needs to show that it stands for A."""

    rows: Matrix  # F
    own: NDArray[np.intp]  # J
    others: NDArray[np.intp]
    sums: Matrix  # K
    inverse: Matrix  # S
    lost: float  # |F_J S - I|

    @classmethod
    def of(cls, triangle: Matrix, dim: int) -> Frame | None:
        """That of the triangle of a level's rows; None where its other columns are no sums with integers."""
        R = triangle[:, :dim]
        sizes = np.linalg.norm(R, axis=0)
        units = np.where(sizes > 0, power_of_two(sizes), 1.0)
        _, T, order = qr(R / units, mode="economic", pivoting=True)
        diagonal = np.abs(np.diag(T))
        rank = int((diagonal > resolved(dim) * diagonal[0]).sum()) if diagonal.size and diagonal[0] > 0 else 0
        if not rank:
            return None
        place = np.argsort(order[:rank])
        own, others = order[:rank][place], order[rank:]
        K = solve_triangular(T[:rank, :rank], T[:rank, rank:])[place] / units[own][:, None] * units[others]
        sums = np.round(K)
        if not (np.abs(K - sums) <= NEAR).all() or np.abs(sums).max(initial=0.0) > LARGEST:
            return None
        first = np.triu(qr(R[:, own], mode="r")[0][:rank])
        if (np.abs(sums).sum(axis=0) > 1).any():
            step = power_of_two(np.abs(first).max(axis=1))[:, None] * 2.0**-BITS
            first = np.round(first / step) * step
        if not np.diag(first).all():
            return None
        rows = np.zeros((rank, dim))
        rows[:, own], rows[:, others] = first, first @ sums
        exact = first.astype(np.longdouble) @ sums.astype(np.longdouble)
        if not (rows[:, others] == exact).all() or not np.isfinite(rows).all():
            return None
        inverse = solve_triangular(first, np.eye(rank))
        off = np.abs(first) @ np.abs(inverse) * gamma(rank) + np.abs(first @ inverse - np.eye(rank))
        lost = float(np.linalg.norm(off)) * (1 + 1e-12)
        return cls(rows, own, others, sums, inverse, lost) if lost < 1e-3 else None

    def shown(self, rows: Any, root: Vector | None) -> Shape:
        """What a chunk's rows say of it, ``root`` being those of their weights."""
        r = len(self.own)
        gram, squares, same = np.zeros((r, r)), np.zeros(r), True
        whole = self.own.size == rows.shape[1]
        for first in range(0, rows.shape[0], AT_ONCE):
            block = rows[first : first + AT_ONCE]
            block = block.toarray() if hasattr(block, "toarray") else block
            if root is not None:
                counted = root[first : first + AT_ONCE]
                block, counted = block[counted > 0], counted[counted > 0]
            part = block if whole else np.ascontiguousarray(block[:, self.own])
            same = same and (whole or _are_sums(block[:, self.others], part, self.sums))
            if root is not None:
                part = counted[:, None] * part
            image = part @ self.inverse
            gram += image.T @ image
            squares += np.einsum("ij,ij->j", part, part)
        return Shape(gram, squares, same, -(-rows.shape[0] // AT_ONCE))

    def off(self, shapes: list[tuple[float, Shape]], merges: int) -> float:
        """E, from all chunks of the terms with their scales; inf where they do not show it."""
        if not all(shape.same for _, shape in shapes):
            return np.inf
        r = len(self.own)
        gram, error = np.zeros((r, r)), 0.0
        for scale, shape in shapes:
            units = gamma(AT_ONCE + shape.blocks + merges)
            columns = np.sqrt(shape.squares * (1 + 2 * units)) @ np.abs(self.inverse)
            image_error = gamma(r + 4) * float(np.linalg.norm(columns)) * (1 + 1e-10)
            trace = float(np.trace(shape.gram)) * (1 + 2 * units)
            gram += scale * shape.gram
            error += scale * (units * trace + image_error * (2 * np.sqrt(trace) + image_error)) * (1 + 1e-10)
        m = (float(np.linalg.norm(gram - np.eye(r))) + error + 4 * gamma(r)) * (1 + 1e-10)
        return ((1 + m) / (1 - self.lost) ** 2 - 1) * (1 + 1e-10) if m < 1e-3 else np.inf


class Shape(NamedTuple):
    """S'A'A S, the squares of A's columns J, whether all others are the sums, and the most blocks of a chunk."""

    gram: Matrix
    squares: Vector
    same: bool
    blocks: int

    def plus(self, other: Shape) -> Shape:
        """Of the rows of both."""
        return Shape(
            self.gram + other.gram,
            self.squares + other.squares,
            self.same and other.same,
            max(self.blocks, other.blocks),
        )


def _are_sums(columns: Matrix, own: Matrix, sums: Matrix) -> bool:
    """Whether the columns are the sums of their own ones, exactly: no addition on the way rounds."""
    for k in range(sums.shape[1]):
        used = np.flatnonzero(sums[:, k])
        if used.size == 1 and abs(sums[used[0], k]) == 1:
            if not np.array_equal(columns[:, k], sums[used[0], k] * own[:, used[0]]):
                return False
            continue
        total = np.zeros(len(columns), dtype=np.longdouble)
        for j in used:
            term = sums[j, k] * own[:, j].astype(np.longdouble)
            added = total + term
            back = added - total
            if ((total - (added - back)) + (term - back)).any():
                return False
            total = added
        if not (total == columns[:, k]).all():
            return False
    return True
