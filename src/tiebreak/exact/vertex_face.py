"""The vertices that can lie on the optimal face of the lower level, for sets with few vertices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Vector
from ..sets import L1Ball, Simplex
from ..sets.base import Domain
from .smooth import Smooth

LARGEST = 20_000_000  # entries of the images of the vertices of a face, beyond which it is not listed


@dataclass(frozen=True)
class Face:
    """Vertices entries_i e_(index_i); every lower solution is a mix of them."""

    index: np.ndarray
    entries: Vector

    def images(self, level: Smooth) -> np.ndarray:
        """F v, one row a vertex."""
        if level.data is None:
            return np.zeros((self.index.size, 0))
        A = level.data.raw
        picked = A.tocsc()[:, self.index].toarray() if level.data.kind == "sparse" else A[:, self.index]
        return np.asarray(picked.T * self.entries[:, None])

    def linear(self, level: Smooth) -> Vector:
        """<p, v>."""
        return np.zeros(self.index.size) if level.p is None else level.p[self.index] * self.entries

    def dot(self, c: Vector) -> Vector:
        """<c, v>."""
        return np.asarray(c[self.index] * self.entries)


def axis_vertices(domain: Domain, dim: int) -> Face | None:
    """All vertices, where each is a multiple of a unit vector."""
    every = np.arange(dim)
    if isinstance(domain, L1Ball):
        extent = np.broadcast_to(domain.radius if domain.weights is None else domain.radius / domain.weights, dim)
        return Face(np.concatenate([every, every]), np.concatenate([extent, -extent]))
    if isinstance(domain, Simplex):
        return Face(every, np.full(dim, domain.total))
    return None


def screened(domain: Domain, lower: Smooth, grad: Vector, error: float, delta: float) -> Face | None:
    """The vertices not proved to be off the optimal face, given that ||F x - t*|| <= delta at the point of ``grad``.

    With r = grad g(x), r* = grad g at the solutions and L the largest curvature of h, <r* - r, v - v'> is at most
    L delta ||F(v - v')||, and the face minimises <r*, .>. ``error`` bounds what rounding does to <r, v>.
    """
    face = axis_vertices(domain, grad.size)
    if face is None:
        return None
    values = face.dot(grad)
    lowest = int(np.argmin(values))
    norms = _image_norms(lower, face)
    near = values - values[lowest] <= 2 * error + lower.most * delta * (norms + norms[lowest]) * (1 + 1e-10)
    face = Face(face.index[near], face.entries[near])
    return face if face.index.size * (lower.size + 1) <= LARGEST else None


def _image_norms(level: Smooth, face: Face) -> Vector:
    if level.data is None:
        return np.zeros(face.index.size)
    A = level.data.raw
    squares = A.multiply(A).sum(axis=0) if level.data.kind == "sparse" else np.einsum("ij,ij->j", A, A)
    return np.asarray(np.sqrt(np.asarray(squares).ravel())[face.index] * np.abs(face.entries))
