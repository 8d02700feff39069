"""The constraints that are active at x, as functions of variables near it: x itself, its positive and negative parts
where sizes count, and the largest pieces of piecewise linear functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from ..objectives.base import Objective
from ..objectives.piecewise import Piecewise
from ..sets.base import Domain
from ..sets.boundary.description import NEAR, Array, Boundary, Curved, Place, Source


class NoDerivative(ValueError):
    """The answer has no derivative at these data, or none is proved."""


@dataclass(frozen=True)
class Active:
    """The constraints that hold with equality near X, where x = T X: first the rows, then what is curved.

    Attributes
    ----------
    T : array
        The derivative of x.
    X : array
        The point.
    sizes : array
        The derivative of |x|, where it counts.
    rows, ends : arrays
        Rows with outer normals (rows @ X <= ends over the set), and their right-hand sides.
    equal : boolean array
        Rows that are equations.
    sources : list of Source
        Where each end comes from.
    rest, rest_ends : arrays
        Rows that are not active.
    curved : tuple of Curved
        The other constraints.
    costs : mapping
        What norms and pieces add to the gradient of a level, by the number of the level.
    data : mapping
        The shapes of the data of the set.
    pieces : mapping
        Where in X the variables of a piece are, by the number of the level and its own.
    """

    T: Array
    X: Vector
    sizes: Array
    rows: Array
    ends: Vector
    equal: NDArray[np.bool_]
    sources: list[Source]
    rest: Array
    rest_ends: Vector
    curved: tuple[Curved, ...]
    costs: Mapping[int, Vector]
    data: Mapping[str, tuple[int, ...]]
    pieces: Mapping[tuple[int, int], slice]

    @property
    def x(self) -> Vector:
        """The point in the variables of the problem."""
        return self.T @ self.X

    def gradients(self) -> tuple[Array, Vector, list[slice]]:
        """Of all constraints at X, how far each is below zero, and the places of those that are curved."""
        C, off, places = [self.rows], [self.ends - self.rows @ self.X], list[slice]()
        count = len(self.rows)
        for one in self.curved:
            G, below = one.at(self.X)
            C.append(G)
            off.append(below)
            places.append(slice(count, count + len(G)))
            count += len(G)
        return np.vstack(C), np.concatenate(off), places

    def outside(self) -> float:
        """By how much X violates a constraint that is not active, relative to its terms."""
        if not len(self.rest):
            return -np.inf
        gap = self.rest @ self.X - self.rest_ends
        return float((gap / (np.abs(self.rest) @ np.abs(self.X) + np.abs(self.rest_ends) + 1e-300)).max())

    def holding(self, *more: Curved) -> Active:
        """With further constraints."""
        return replace(self, curved=(*self.curved, *more))


def active_at(domain: Domain, levels: Mapping[int, Objective], x: Vector) -> Active:
    """What is active at x, where these levels count; raises NoDerivative for sets that do not say so."""
    boundary = domain.boundary(x)
    if boundary is None:
        raise NoDerivative(f"there are no derivatives over {domain!r}: it says nothing of its boundary")
    norms = [norm for level in levels.values() for norm in level.norms]
    pieces = [(k, i, piece) for k, level in levels.items() for i, piece in enumerate(level.pieces)]
    weighted = sum((norm.weights + np.zeros(x.size) for norm in norms), np.zeros(x.size))
    if (norms or pieces) and boundary.T.shape[1] != x.size:
        raise NoDerivative(f"norms and piecewise linear levels have no derivatives over {domain!r}")
    boundary = _without_far_sizes(boundary, x)
    mentioned = weighted if boundary.sizes is None else weighted + boundary.sizes.sum(axis=0)
    signs = domain.signs(x.size) if mentioned.any() else np.ones(x.size)
    parted = np.flatnonzero((mentioned > 0) & (signs == 0))
    lifted = _Lift(boundary, x, signs, parted, pieces)
    return lifted.active({k: lifted.costs(k, level) for k, level in levels.items()})


def _without_far_sizes(boundary: Boundary, x: Vector) -> Boundary:
    """Where limits on sizes are not active they stay so, and are left out."""
    if boundary.sizes is None:
        return boundary
    limits = boundary.sizes.any(axis=1)
    total = boundary.rows @ x + boundary.sizes @ np.abs(x)
    if (limits & (total >= boundary.ends - NEAR * (np.abs(boundary.ends) + 1e-300))).any():
        return boundary
    kept = np.flatnonzero(~limits)
    sources = [boundary.sources[i] for i in kept]
    rows, ends, equal = boundary.rows[kept], boundary.ends[kept], boundary.equal[kept]
    return replace(boundary, rows=rows, ends=ends, equal=equal, sources=sources, sizes=None)


class _Lift:
    """The variables (p, n, t) with x = p - n: n for those that are ``parted``, t for pieces."""

    def __init__(
        self,
        boundary: Boundary,
        x: Vector,
        signs: Vector,
        parted: NDArray[np.intp],
        pieces: list[tuple[int, int, Piecewise]],
    ) -> None:
        self.boundary, self.parted, self.pieces = boundary, parted, pieces
        dim, n = boundary.T.shape[1], parted.size
        own = boundary.X if n == 0 else np.where(np.isin(np.arange(dim), parted), np.maximum(x, 0), x)
        values = [_least(piece, x) for _, _, piece in pieces]
        self.X = np.concatenate([own, np.maximum(-x[parted], 0) if n else [], *values])
        ends = dim + n + np.cumsum([0, *(one.size for one in values)])
        self.places = [slice(int(a), int(a) + one.size) for a, one in zip(ends, values, strict=False)]
        self.into = np.zeros((dim, self.X.size))  # from (p, n, t) to the variables of the boundary
        self.into[:, :dim] = np.eye(dim)
        self.into[parted, dim + np.arange(n)] = -1
        self.T = boundary.T @ self.into
        self.sizes = np.zeros((x.size, self.X.size))
        if dim == x.size:
            self.sizes[np.arange(dim), np.arange(dim)] = np.where(np.isin(np.arange(dim), parted), 1.0, signs)
            self.sizes[parted, dim + np.arange(n)] = 1

    def costs(self, k: int, level: Objective) -> Vector:
        """What the norms and pieces of a level add to its gradient."""
        found = sum((self.sizes.T @ (norm.weights + np.zeros(len(self.sizes))) for norm in level.norms), 0 * self.X)
        for (own, _, piece), place in zip(self.pieces, self.places, strict=True):
            if own == k:
                found[place] += float(piece.factor) * piece.epigraph.costs
        return found

    def active(self, costs: Mapping[int, Vector]) -> Active:
        """All rows, those that are near and others."""
        given = self.boundary
        rows = given.rows @ self.into + (0.0 if given.sizes is None else given.sizes @ self.sizes)
        n, total = self.parted.size, self.X.size
        dim = given.T.shape[1]
        signed = -np.eye(total)[np.concatenate([self.parted, dim + np.arange(n)]).astype(np.intp)]
        all_rows, all_ends = [rows, signed], [given.ends, np.zeros(2 * n)]
        sources = [*given.sources, *([Source()] * 2 * n)]
        for (k, i, piece), place in zip(self.pieces, self.places, strict=True):
            S, T = piece.epigraph.S, piece.epigraph.T
            own = np.asarray(S @ dense(piece.data.raw)) @ self.T
            own[:, place] -= T.toarray()
            all_rows.append(own)
            all_ends.append(np.asarray(S @ piece.b))
            sources += [Source(Place(f"piece {k} {i}", r)) for r in range(len(own))]
        M, ends = np.vstack(all_rows), np.concatenate(all_ends)
        equal = np.zeros(ends.size, dtype=bool)
        equal[: given.equal.size] = given.equal
        size = np.abs(M) @ np.abs(self.X) + np.abs(ends)
        typical = float(np.abs(self.X).max(initial=0.0)) or 1.0
        largest = np.abs(M).max(axis=1, initial=0.0)
        near = equal | (ends - M @ self.X <= NEAR * np.maximum(size, NEAR * typical * largest))
        kept, curved = np.flatnonzero(near), tuple(one.of(self.into) for one in given.curved)
        places = {(k, i): place for (k, i, _), place in zip(self.pieces, self.places, strict=True)}
        flat = M[kept], ends[kept], equal[kept], [sources[i] for i in kept], M[~near], ends[~near]
        return Active(self.T, self.X, self.sizes, *flat, curved, costs, given.data, places)


def _least(piece: Piecewise, x: Vector) -> Vector:
    """The t of a piece at x: each is the largest of its rows."""
    S, T, _ = piece.epigraph
    residuals, over = np.asarray(S @ (dense(piece.data.raw) @ x - piece.b)), T.toarray() > 0
    return np.array([residuals[column].max() for column in over.T])


def dense(A: Any) -> Array:
    """A matrix as an array."""
    return np.asarray(A.toarray() if hasattr(A, "toarray") else A, dtype=np.float64)
