"""Sums of absolute residuals."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..arrays import Vector, as_real_array, length
from .losses.weights import as_weights
from .piecewise import Epigraph, Piecewise


class AbsoluteResiduals(Piecewise):
    """The weighted sum of absolute residuals sum_i w_i |<a_i, x> - b_i|: what ``L1Norm(weights, A=A, b=b)`` makes."""

    title = "L1Norm(A=...)"
    lower_bound = 0.0

    def __init__(self, A: Any, b: ArrayLike | None = None, weights: ArrayLike = 1.0) -> None:
        super().__init__(A, b)
        given = as_real_array(weights, "weights")
        self.weights = as_weights(np.full(self.b.size, given) if given.ndim == 0 else given, self.b.size)

    @property
    def cost_data(self) -> Vector:  # type: ignore[override]
        """The weights."""
        return self.weights

    def at(self, r: Vector) -> tuple[float, Vector]:
        return float(self.weights @ np.abs(r)), self.weights * np.sign(r)

    @property
    def epigraph(self) -> Epigraph:
        kept = np.flatnonzero(self.weights)
        pick = sp.eye_array(self.b.size, format="csr")[kept]
        identity = sp.eye_array(kept.size, format="csr")
        return Epigraph(sp.vstack([pick, -pick]), sp.vstack([identity, identity]), self.weights[kept])

    def extents(self, low: Vector, high: Vector) -> tuple[Vector, Vector]:
        kept = np.flatnonzero(self.weights)
        return np.zeros(kept.size), np.maximum(np.abs(low), np.abs(high))[kept]

    @property
    def steepness(self) -> float:
        return length(self.weights)
