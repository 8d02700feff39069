"""One pass that makes a level small: the triangular factor of its weighted rows, folded chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import lapack, qr, solve_triangular

from ...arrays import UNIT_ROUNDOFF, Vector
from ...objectives.chunks import NotFinite
from ...objectives.losses.base import Loss
from .levels import RowTerm

FOLD = 4  # times as many rows as columns are folded into a triangle at once
BLOCK = 16  # of LAPACK's dtpqrt
INTEGER = 1e-9  # coefficients of dependent columns so near to integers are such
LEAST_CURVATURE = 1e-16
"""Of a row's slope: a row that bends less is taken to bend so much, which makes its step shorter, not wrong."""


class Small(NamedTuple):
    """h(A s) near a point, up to a constant: 1/2 ||R s - c||^2 with (R, c) the triangle, and the value there."""

    triangle: Any
    value: float


@dataclass(frozen=True)
class Triangle:
    """The triangular factor of [D^1/2 A, D^1/2 t - h'/D^1/2] at t = A x, D = h''(t): that of a quadratic needs no x."""

    recipe: Any
    x: Vector

    def __call__(self, k: int, A: Any, *entries: Vector) -> Small:
        loss: Any = self.recipe.link(*entries) if entries else self.recipe.make()
        size, step = A.shape[1] + 1, FOLD * (A.shape[1] + 1)
        value, target, root = _rows(loss, A, self.x)
        found = np.zeros((size, size), order="F")
        for first in range(0, A.shape[0], step):
            rows = A[first : first + step]
            rows = rows.toarray() if hasattr(rows, "toarray") else rows
            height = rows.shape[0]
            block = np.empty((max(height, 1), size), order="F")
            np.multiply(rows, root[first : first + step, None], out=block[:, :-1])
            block[:, -1] = target[first : first + step]
            found = fold(found, block)
        if not np.isfinite(found).all():
            raise NotFinite
        return Small(found, value)


def _rows(loss: Loss, A: Any, x: Vector) -> tuple[float, Vector, Vector]:
    """The value at x, the last column, and the roots of the curvature."""
    t = np.asarray(A @ x)
    value, slope = loss.value_and_slope(t)
    if loss.quadratic:
        root = np.sqrt(np.broadcast_to(loss.most, t.shape))
        return value, root * (0.0 if loss.target is None else loss.target), root
    root = np.sqrt(np.maximum(loss.curvature(t), LEAST_CURVATURE * np.abs(slope)))
    bent = np.divide(slope, root, out=np.zeros(t.size), where=root > 0)
    return value, root * t - bent, root


def fold(triangle: Any, block: Any) -> Any:
    """The triangular factor of both below each other."""
    found, _, _, _ = lapack.dtpqrt(0, min(BLOCK, len(triangle)), triangle, block, overwrite_a=True, overwrite_b=True)
    return np.triu(found)


def together(one: Small, other: Small) -> Small:
    """The merge of two neighbours."""
    block = np.array(other.triangle, order="F")
    return Small(fold(np.array(one.triangle, order="F"), block), one.value + other.value)


def small(term: RowTerm, x: Vector) -> Small:
    """One pass."""
    found: Small = term.A.reduce(Triangle(term.recipe, x), together, term.beside)
    return found


class Reduced(NamedTuple):
    """Rows F with target c that stand for a level near a point: orthonormal ``basis`` of the scaled rows, sizes."""

    rows: Any
    target: Vector
    basis: Any  # r x d: rows of F span those of basis * column scale
    sizes: Vector
    columns: Vector
    triangle: Any  # that of all parts, with the target as its last column


def reduced(parts: list[tuple[float, Any]], dim: int) -> Reduced:
    """The triangles (with their scales) as few rows: columns scaled to one size, directions of rounding left out."""
    tall = np.vstack([np.sqrt(scale) * triangle for scale, triangle in parts])
    tall = tall if len(parts) == 1 else qr(tall, mode="r")[0][: dim + 1]
    R, c = tall[:, :dim], tall[:, dim]
    columns = np.linalg.norm(R, axis=0)
    columns[columns == 0] = 1.0
    U, S, V = np.linalg.svd(R / columns, full_matrices=False)
    kept = S[0] * resolved(dim) < S if S.size and S[0] > 0 else np.zeros(S.size, dtype=bool)
    U, S, V = U[:, kept], S[kept], V[kept]
    return Reduced(with_exact_copies(S[:, None] * V * columns), U.T @ c, V, S, columns, tall)


def with_exact_copies(F: Any) -> Any:
    """The rows with columns that are copies, differences or sums of others made such to the last bit.

    Rounding has made them so but for the last bits, and on a face of a set, where some columns are held, these bits are
    a rank of their own: solutions that should be many would be one, at random. Integer coefficients are put right.
    """
    rank, dim = F.shape
    if not 0 < rank < dim:
        return F
    _, R, order = qr(F, mode="economic", pivoting=True)
    if not np.diag(R).all():
        return F
    K = solve_triangular(R[:, :rank], R[:, rank:])
    whole = np.round(K)
    own = F[:, order[:rank]]
    near = (np.abs(K - whole) <= INTEGER).all(axis=0)
    exact = F.copy()
    exact[:, order[rank:][near]] = own @ whole[:, near]
    return exact


def resolved(dim: int) -> float:
    """Singular values below this, relative to the largest, are those of rounding."""
    return 16 * UNIT_ROUNDOFF * max(dim, 32)
