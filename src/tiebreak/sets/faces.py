"""Faces of polytopes, as far as they can be told from a slope that is known up to some doubt."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ..arrays import Matrix, Vector


@dataclass(frozen=True)
class Face(ABC):
    """A face that holds all minimisers: vertices (rows of V, in CSR form) that span it, not all it has; its dimension.

    It knows the ``least`` value of <c, .> on it, which vertices it ``holds``, and costs that are ``separated``: with
    the same minimisers as those it is the face of, but far from those of all other vertices.
    """

    V: Matrix
    dimension: int

    @abstractmethod
    def least(self, c: Vector) -> float:
        """The least <c, .> on the face."""

    @abstractmethod
    def holds(self, s: Vector) -> bool:
        """Whether a vertex of the polytope is one of the face."""

    @abstractmethod
    def separated(self, p: Vector) -> Vector:
        """Costs with the same minimisers as p, of which the other vertices cost more by much."""

    @property
    def size(self) -> int:
        """How many vertices are listed."""
        return int(self.V.shape[0])

    def dots(self, c: Vector) -> Vector:
        """<c, v>."""
        return np.asarray(self.V @ c)

    def vertex(self, i: int) -> Vector:
        """One of the vertices as a dense vector."""
        start, end = self.V.indptr[i], self.V.indptr[i + 1]
        s = np.zeros(self.V.shape[1])
        s[self.V.indices[start:end]] = self.V.data[start:end]
        return s
