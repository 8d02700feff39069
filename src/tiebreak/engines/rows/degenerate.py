"""Whether the rows that are tight at a point to rounding are tight together for the data as they are stored.

Where they are independent on the columns away from their bounds, they are: a point nearby has them all at their ends,
and multipliers are unique, so that those which are not zero prove what they say. Dependent ones (a degenerate vertex)
may be off by the rounding of the data: the solutions are a set of the size of rounding then, not one point, and another
basis is the right one. They are tight together if their equations have a solution, exactly: the rank of the rows and
the rank with the ends beside them are the same.

Where that is not so, every true solution of the levels before is near all the same. With R the rows, bounds, costs of
linear levels and images of quadratic ones that x meets but for some eps, any point that meets them, too, has one of the
others within max |B^+| eps, B the largest sets of independent rows of R (Hoffman 1952); and where no direction keeps
all of R, the solutions are no further than that from x.

References
----------
A. J. Hoffman, On approximate solutions of systems of linear inequalities, Journal of Research of the National Bureau
of Standards 49 (1952).
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from zlib import crc32

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.csr import as_csr, part, row_numbers
from ...numerics.deadline import affordable
from ...numerics.definite import least_singular_value
from ...numerics.extended import Ext, dense, double, is_sparse, row_sizes
from ...numerics.rank import LARGEST, exact_rank, prime, residues, resolved
from .face import FEASIBLE, Face

SMALL = 40_000
"""So many entries are looked at in every way."""
WORK = 3e7
"""Multiplications that the sets of rows may take."""
GRID = 2.0**10
"""Entries that are whole multiples of 1 / GRID have products whose sums are exact."""
DEPENDENT = 1e-12
"""Rows that come this close to a combination of others are one, in units of their own size."""


def tight_for_certain(face: Face, x: Ext) -> bool:
    """Whether all rows and bounds that x meets to rounding can be met together, so that they are what is tight."""
    rows, ends, at = _tight(face, x)
    if not rows.size:
        return True
    A = part(as_csr(face.A.A), rows, np.arange(x.size)) if face.A.sparse else face.A.A[rows]
    free = np.flatnonzero(np.isnan(at))
    exactly = bool((double(x) == x).all()) and not (~np.isnan(at) & (at != double(x))).any()
    if exactly and _met(A, double(x), ends):
        return True
    equal = face.given.low[rows] == face.given.high[rows]
    if not _apart_from_images(face, A, free, equal):
        return False
    if _independent(A, free, equal):
        return True
    own = A[:, free]
    if A.shape[0] * (x.size + 1) > LARGEST or not affordable(float(own.shape[0]) ** 2 * own.shape[1]):
        return False
    left = np.column_stack([dense(A), ends])
    right = np.zeros((x.size + 1, free.size + 1))
    right[free, np.arange(free.size)] = 1.0
    right[:-1, -1] = np.where(np.isnan(at), 0.0, at)
    right[-1, -1] = -1.0
    with_ends = exact_rank(right, left)
    return with_ends is not None and exact_rank(dense(own)) == with_ends


def beside_all(face: Face, x: Ext) -> Vector | None:
    """How far, by columns, a true solution of the levels before is from x, and all of them where they are next to one
    another; None where that is not known, or there are too many sets of rows to look at."""
    rows, _, at = _tight(face, x)
    near_rows, met = np.zeros(face.given.low.size, dtype=bool), ~np.isnan(at)
    near_rows[rows] = True
    if (near_rows.sum() + met.sum()) * x.size > SMALL:
        return None
    given = face.given
    activity, lost = face.A.times(x), face.A.times_error(x)
    gaps = double(np.minimum(np.abs(activity - given.low), np.abs(given.high - activity)))
    room = np.minimum(np.abs(double(x - given.lower)), np.abs(double(given.upper - x)))
    before, eps_before = _kept(face, x)
    if not np.isfinite(eps_before).all():
        return None
    while True:
        rows, columns = np.flatnonzero(near_rows), np.flatnonzero(met)
        R = np.vstack([dense(face.A.A[rows]), np.eye(x.size)[columns], before])
        eps = np.concatenate([gaps[rows] + lost[rows], room[columns], eps_before])
        moves = _farthest(R * face.scale, eps, exact_rank(R))
        if moves is None:
            return None
        moves = moves * face.scale
        more = ~near_rows & (gaps <= np.asarray(face.A.size @ moves) + lost)
        others = ~met & (room <= moves)
        if not (more.any() or others.any()):
            return moves
        near_rows |= more
        met |= others


def _kept(face: Face, x: Ext) -> tuple[Matrix, Vector]:
    """The costs of the linear levels before and the images of the others, and how far x is from keeping them."""
    rows, eps = [np.zeros((0, x.size))], [np.zeros(0)]
    for record in face.records:
        if record.P is not None:
            there = np.abs(double(record.P.times(x - record.x))) + record.P.times_error(x - record.x)
            rows.append(dense(record.P.A))
            eps.append(there + record.reach * record.level.image_size)
        elif record.level.linear:
            apart = abs(float(record.level.at(x).value - record.value))
            rows.append(double(record.grad)[None])
            eps.append(np.array([apart + max(record.gap, record.allowance)]))
    return np.vstack(rows), np.concatenate(eps)


def _farthest(R: Matrix, eps: Vector, exactly: int | None) -> Vector | None:
    """The largest |B^+| eps, by entries, over the largest sets B of independent rows; None where R is not known to have
    the rank that its singular values have."""
    size = np.abs(R).max(axis=1, initial=0.0)
    R, eps = R[size > 0] / size[size > 0, None], eps[size > 0] / size[size > 0]
    if not R.size:
        return np.zeros(R.shape[1])
    left, values, _ = np.linalg.svd(R)
    rank = int(np.sum(values > 2 * resolved(values, R.shape)))
    if rank != exactly:
        return None
    over = R.shape[0] - rank
    null = left[:, rank:]  # the combinations of rows that vanish: what these have in common can be left out
    used = np.flatnonzero(np.linalg.norm(null, axis=1) > DEPENDENT)
    if over and comb(used.size, over) * R.size * min(R.shape) > WORK:
        return None
    most = np.zeros(R.shape[1])
    for dropped in combinations(used, over):
        if over and np.linalg.svd(null[list(dropped)], compute_uv=False)[-1] <= DEPENDENT:
            continue
        B, kept = np.delete(R, dropped, axis=0), np.delete(eps, dropped)
        most = np.maximum(most, np.abs(np.linalg.pinv(B)) @ kept)
    return most * 1.01


def _tight(face: Face, x: Ext) -> tuple[NDArray[np.intp], Vector, Vector]:
    """The rows that x meets, their ends, and for each column the bound that it meets, nan without."""
    given = face.given
    terms, sizes = face.sizes_at(x)
    activity = face.A.times(x)
    below, above = (np.abs(double(gap)) for gap in (activity - given.low, given.high - activity))
    filled = row_sizes(given.A) > 0  # others hold nothing
    rows = np.flatnonzero(filled & (np.minimum(below, above) <= FEASIBLE * terms))
    ends = np.where(below <= above, given.low, given.high)[rows]
    to_lower, to_upper = (np.abs(double(gap)) for gap in (x - given.lower, given.upper - x))
    met = np.minimum(to_lower, to_upper) <= FEASIBLE * sizes
    at = np.where(met, np.where(to_lower <= to_upper, given.lower, given.upper), np.nan)
    return rows, ends, at


def _independent(A: Matrix, free: NDArray[np.intp], equal: NDArray[np.bool_]) -> bool:
    """Whether the rows are on these columns, but for equations that depend on one another on all columns."""
    own = A[:, free]
    if own.shape[0] <= own.shape[1] and float(own.shape[0]) ** 2 * own.shape[1] > WORK:
        return least_singular_value(own) > 0
    if float(own.shape[0]) ** 2 * own.shape[1] > WORK:
        return False
    size = np.asarray(row_sizes(A))
    own = dense(own) / size[:, None]
    left, values, _ = np.linalg.svd(own)
    null = left[:, int(np.sum(values > 2 * resolved(values, own.shape))) :]
    if not null.size:
        return True
    if np.abs(null[~equal]).max(initial=0.0) > DEPENDENT:
        return False
    return float(np.abs(np.asarray(A.T @ (null / size[:, None]))).max(initial=0.0)) <= DEPENDENT


def _apart_from_images(face: Face, A: Matrix, free: NDArray[np.intp], equal: NDArray[np.bool_]) -> bool:
    """Whether no combination of rows that may be loose is one of the images that are held: otherwise rounding says
    whether they are, and no multiplier does. (True where that takes too long to ask.)"""
    blocks = [P.A[:, free] for _, P in face.predictors]
    height = A.shape[0] + sum(block.shape[0] for block in blocks)
    if not blocks or equal.all() or float(height) ** 2 * free.size > WORK:
        return True
    whole = np.vstack([dense(A[:, free]), *(dense(block) for block in blocks)])
    size = np.abs(whole).max(axis=1, initial=0.0)
    whole = whole / np.where(size > 0, size, 1.0)[:, None]
    left, values, _ = np.linalg.svd(whole)
    null = left[:, int(np.sum(values > 2 * resolved(values, whole.shape))) :]
    return bool(np.abs(null[: A.shape[0]][~equal]).max(initial=0.0) <= DEPENDENT)


def images_tell_all(face: Face) -> bool:
    """Whether points with the same images are one, whatever is tight: by full rank on all columns that can move."""
    movable = np.flatnonzero(face.given.lower < face.given.upper)
    blocks = [P.A[:, movable] for _, P in face.predictors]
    height = sum(block.shape[0] for block in blocks)
    if not movable.size:
        return True
    if height < movable.size or float(height) * movable.size**2 > WORK:
        return False
    values = np.linalg.svd(np.vstack([dense(block) for block in blocks]), compute_uv=False)
    return bool(values[movable.size - 1] > 2 * resolved(values, (height, movable.size)))


def _on_grid(v: Vector) -> bool:
    return bool((np.rint(v * GRID) == v * GRID).all())


def _met(A: Matrix, x: Vector, ends: Vector) -> bool:
    """Whether A x are the ends exactly: multiples of 2^-20 have sums without rounding, others tell by a prime."""
    entries = A.data if is_sparse(A) else A
    if _on_grid(entries) and _on_grid(x) and (np.asarray(abs(A) @ np.abs(x)) <= GRID**3).all():
        return bool((A @ x == ends).all())
    A = as_csr(sp.csr_array(A))
    p = prime(np.random.default_rng(crc32(np.concatenate([A.data, x, ends]).tobytes())))
    terms = residues(A.data, p) * residues(x, p)[A.indices] % p
    sums = np.zeros(A.shape[0], dtype=np.int64)
    np.add.at(sums, row_numbers(A), terms)
    return bool((sums % p == residues(ends, p)).all())
