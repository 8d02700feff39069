"""The optimal face of the lower level, as far as it can be told from a point near it: vertices that span it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ...arrays import Matrix, Vector
from ...sets.base import Domain
from ...sets.faces import Face
from .atoms import Atoms, Codes, OnAxes
from .level import Smooth

LARGEST = 20_000_000  # numbers a listed face may take up, with its images


@dataclass(frozen=True)
class AxisFace:
    """The same for a set whose vertices lie on the axes: all vertices of the face, by their numbers."""

    axes: OnAxes
    codes: Codes
    dimension: int

    @property
    def size(self) -> int:
        """How many vertices it has."""
        return self.codes.size

    @property
    def V(self) -> Matrix:
        """The vertices, one a row."""
        index, entries = self.axes.entries(self.codes)
        return sparse.csr_array((entries, index, np.arange(self.size + 1)), shape=(self.size, self.axes.dim))

    def dots(self, c: Vector) -> Vector:
        """<c, v>."""
        return self.axes.dots(c, self.codes)

    def vertex(self, i: int) -> Vector:
        """One of the vertices as a dense vector."""
        return self.axes.mixed(self.codes[i : i + 1], np.ones(1))

    def least(self, c: Vector) -> float:
        return float(np.min(self.dots(c)))

    def separated(self, p: Vector) -> Vector:
        others = np.ones(self.axes.dim, dtype=bool)
        others[self.codes % self.axes.dim] = False
        slope = p * self.axes.extents
        if self.axes.signed:
            apart = np.copysign(np.minimum(np.abs(slope), 0.5 * float(np.abs(slope).max())), slope)
        else:
            apart = np.maximum(slope, 0.5 * float(slope.min()) + 0.5 * float(slope.max()))
        return np.where(others, apart / self.axes.extents, p)


VertexFace = Face | AxisFace


def images(face: VertexFace, level: Smooth) -> np.ndarray:
    """F v, one row a listed vertex."""
    if isinstance(face, AxisFace):
        return face.axes.images(level, face.codes)
    if level.data is None:
        return np.zeros((face.size, 0))
    found = face.V @ level.data.raw.T
    return np.asarray(found.toarray() if level.data.kind == "sparse" else found)


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
    face = _best_axes(atoms, grad, doubt) if isinstance(atoms, OnAxes) else domain.optimal_face(grad, doubt, LARGEST)
    width = 1 if lower is None else lower.size + 1
    return face if face is not None and face.size * width <= LARGEST else None


def _best_axes(axes: OnAxes, grad: Vector, doubt: Vector) -> AxisFace:
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
