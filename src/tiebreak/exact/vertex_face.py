"""The optimal face of the lower level, as far as it can be told from a point near it: vertices that span it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..arrays import Matrix, Vector
from ..sets import Box, KSparse
from ..sets.base import Domain
from .atoms import Atoms, Axes, Codes
from .smooth import Smooth

LARGEST = 20_000_000  # numbers a listed face may take up, with its images


@dataclass(frozen=True)
class ListedFace:
    """A face that holds every lower solution: vertices (rows of V) that span it, not all it has, and its dimension.

    Every face knows the ``least`` value of <c, .> on it, which vertices it ``holds``, and costs that are ``separated``:
    with the same minimisers as those it is the face of, but far from those of all other vertices.
    """

    V: Matrix
    dimension: int
    complete: ClassVar[bool] = False

    @property
    def size(self) -> int:
        """How many vertices are listed."""
        return int(self.V.shape[0])

    def images(self, level: Smooth) -> np.ndarray:
        """F v, one row a vertex."""
        if level.data is None:
            return np.zeros((self.size, 0))
        images = self.V @ level.data.raw.T
        return np.asarray(images.toarray() if level.data.kind == "sparse" else images)

    def dots(self, c: Vector) -> Vector:
        """<c, v>."""
        return np.asarray(self.V @ c)

    def vertex(self, i: int) -> Vector:
        """One of the vertices as a dense vector."""
        start, end = self.V.indptr[i], self.V.indptr[i + 1]
        s = np.zeros(self.V.shape[1])
        s[self.V.indices[start:end]] = self.V.data[start:end]
        return s


@dataclass(frozen=True)
class BoxFace(ListedFace):
    """That of a box: its ``free`` entries lie between those of ``corner`` and of ``other``."""

    corner: Vector
    other: Vector
    free: NDArray[np.bool_]

    def least(self, c: Vector) -> float:
        return float(np.sum(np.where(self.free, np.minimum(c * self.corner, c * self.other), c * self.corner)))

    def holds(self, atoms: Atoms, code: int) -> bool:
        return bool(np.all((atoms.mixed(np.array([code]), np.ones(1)) == self.corner) | self.free))

    def separated(self, p: Vector) -> Vector:
        return p  # a sign is never in doubt


@dataclass(frozen=True)
class HullFace(ListedFace):
    """That of a k-sparse polytope: ``sure`` entries as in ``corner``, and ``slots`` of the ``tied`` ones, which are as
    there or, where ``either``, of any sign."""

    corner: Vector
    sure: NDArray[np.bool_]
    tied: NDArray[np.bool_]
    either: NDArray[np.bool_]
    slots: int

    def least(self, c: Vector) -> float:
        costs = c * self.corner
        open_ones = np.sort(np.where(self.either, -np.abs(costs), costs)[self.tied])
        return float(np.sum(costs[self.sure]) + np.sum(open_ones[: self.slots]))

    def holds(self, atoms: Atoms, code: int) -> bool:
        v = atoms.mixed(np.array([code]), np.ones(1))
        return bool(np.all((v == self.corner) | (~self.sure & (v == 0)) | self.either)) and not np.any(
            (v != 0) & ~self.sure & ~self.tied
        )

    def separated(self, p: Vector) -> Vector:
        size = np.abs(p)
        level = float(size[self.tied].max(initial=0.0))
        moved = np.where(self.sure, np.maximum(size, 2 * level), np.where(self.tied, size, np.minimum(size, level / 2)))
        return np.copysign(moved, p)


@dataclass(frozen=True)
class AxisFace:
    """The same for a set whose vertices lie on the axes: all vertices of the face, by their numbers."""

    axes: Axes
    codes: Codes
    dimension: int
    complete: ClassVar[bool] = True

    @property
    def size(self) -> int:
        """How many vertices it has."""
        return self.codes.size

    @property
    def V(self) -> Matrix:
        """The vertices, one a row."""
        index, entries = self.axes.entries(self.codes)
        return sparse.csr_array((entries, index, np.arange(self.size + 1)), shape=(self.size, self.axes.dim))

    def images(self, level: Smooth) -> np.ndarray:
        """F v, one row a vertex."""
        return self.axes.images(level, self.codes)

    def dots(self, c: Vector) -> Vector:
        """<c, v>."""
        return self.axes.dots(c, self.codes)

    def vertex(self, i: int) -> Vector:
        """One of the vertices as a dense vector."""
        return self.axes.mixed(self.codes[i : i + 1], np.ones(1))

    def least(self, c: Vector) -> float:
        return float(np.min(self.dots(c)))

    def holds(self, atoms: Atoms, code: int) -> bool:
        return bool(np.any(self.codes == code))

    def separated(self, p: Vector) -> Vector:
        others = np.ones(self.axes.dim, dtype=bool)
        others[self.codes % self.axes.dim] = False
        slope = p * self.axes.extents
        if self.axes.signed:
            apart = np.copysign(np.minimum(np.abs(slope), 0.5 * float(np.abs(slope).max())), slope)
        else:
            apart = np.maximum(slope, 0.5 * float(slope.min()) + 0.5 * float(slope.max()))
        return np.where(others, apart / self.axes.extents, p)


VertexFace = BoxFace | HullFace | AxisFace


def optimal_face(
    atoms: Atoms, domain: Domain, lower: Smooth | None, grad: Vector, error: Vector, change: float
) -> VertexFace | None:
    """The face without what is proved to be off it, given ||h'(F x) - h'(t*)|| <= change at the point of ``grad``.

    With r = grad g(x) and r* = grad g at the solutions, entry j of r* - r is at most change ||F_j||, plus the rounding
    ``error`` of r; and the face minimises <r*, .>. Without ``lower`` the slope is that of a linear level, off by the
    error alone. None where the set is not one whose faces are known, or the face is too large to be listed.
    """
    if not np.isfinite(change):
        return None
    doubt = (error if lower is None else change * lower.column_norms + error) * (1 + 1e-10)
    face: VertexFace | None = None
    if isinstance(atoms, Axes):
        face = _best_axes(atoms, grad, doubt)
    elif isinstance(domain, Box):
        face = _sub_box(domain, grad, doubt)
    elif isinstance(domain, KSparse):
        face = _sub_hull(domain, grad, doubt)
    images = 1 if lower is None else lower.size + 1
    return face if face is not None and face.size * images <= LARGEST else None


def _best_axes(axes: Axes, grad: Vector, doubt: Vector) -> AxisFace:
    """The l1 ball and the simplex: vertices with the least slope, up to doubt."""
    slope, doubt = grad * axes.extents, doubt * axes.extents
    if not axes.signed:
        codes = np.flatnonzero(slope - doubt <= np.min(slope + doubt))
        return AxisFace(axes, codes, codes.size - 1)
    most = -float(np.max(np.abs(slope) - doubt))
    plus, minus = slope - doubt <= most, -slope - doubt <= most
    codes = np.concatenate([np.flatnonzero(plus), np.flatnonzero(minus) + axes.dim])
    # with opposite vertices the centre is in the face, and so is all of Z
    return AxisFace(axes, codes, axes.dim if np.any(plus & minus) else codes.size - 1)


def _sub_box(domain: Box, grad: Vector, doubt: Vector) -> VertexFace | None:
    """The box: a corner, and the same with one free coordinate at its other bound."""
    lower, upper = np.broadcast_to(domain.lower, grad.shape), np.broadcast_to(domain.upper, grad.shape)
    corner = np.where(grad >= 0, lower, upper)
    free = np.flatnonzero((np.abs(grad) <= doubt) & (lower < upper))
    if (free.size + 1) * grad.size > LARGEST:
        return None
    V = np.tile(corner, (free.size + 1, 1))
    other = np.where(corner == lower, upper, lower)
    V[np.arange(1, free.size + 1), free] = other[free]
    open_ones = np.zeros(grad.size, dtype=bool)
    open_ones[free] = True
    return BoxFace(sparse.csr_array(V), free.size, corner, other, open_ones)


def _sub_hull(domain: KSparse, grad: Vector, doubt: Vector) -> VertexFace | None:
    """The k-sparse polytope: entries surely among the k largest, surely not, and tied, which exchange one another."""
    size, k, R = np.abs(grad), domain.k, domain.radius
    level = np.sort(size - doubt)[-k]  # at least k entries are at least this large
    most = np.sort(size + doubt)[-k - 1] if k < size.size else -np.inf  # at most k entries are larger
    sure = size - doubt > max(most, 0.0)
    tied = np.flatnonzero(~sure & (size + doubt >= level))
    signs = np.where(grad >= 0, -R, R)
    slots = k - int(np.count_nonzero(sure))
    base = np.where(sure, signs, 0.0)
    open_ones = np.zeros(size.size, dtype=bool)
    open_ones[tied] = True
    described = signs, sure, open_ones, open_ones & (size <= doubt), slots
    if (2 * tied.size + 1) * grad.size > LARGEST:
        return None
    if np.any(size[tied] <= doubt[tied]):  # the tied entries may have either sign: a full-dimensional part
        rows = []
        for i in range(tied.size):
            window = base.copy()
            window[np.roll(tied, -i)[:slots]] = R
            rows += [window, window.copy()]
            rows[-1][tied[i]] = -R
        return HullFace(sparse.csr_array(np.array(rows)), tied.size, *described)
    first, rest = tied[:slots], tied[slots:]
    start = base.copy()
    start[first] = signs[first]
    swaps = [(first[0], j) for j in rest] + [(i, rest[0]) for i in first[1:]] if slots and rest.size else []
    rows = [start]
    for out, into in swaps:
        rows.append(start.copy())
        rows[-1][out], rows[-1][into] = 0.0, signs[into]
    return HullFace(sparse.csr_array(np.array(rows)), len(rows) - 1, *described)
