"""Piecewise linear objectives: what exact solves take as rows, with a few further variables."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector, as_vector, length
from .base import Objective
from .form import ONE, Form, Scale
from .matrix import DataMatrix, gamma


class Epigraph(NamedTuple):
    """phi(r) as the least <costs, t> over the t with S r <= T t.

    Each row of S has one entry, 1 or -1, so that S A has the entries of A; costs are positive.
    """

    S: Matrix
    T: Matrix
    costs: Vector


class Piecewise(Objective):
    """factor * phi(Ax - b), phi the largest of finitely many linear functions, or a sum of such.

    A subclass supplies phi: ``at`` (value and a subgradient), ``epigraph``, ``extents``, and ``steepness``. Methods by
    gradients get subgradients; exact solves get rows.
    """

    convex = True
    differentiable = False
    title: ClassVar[str]
    """What to call it."""
    cost_data: Vector | None = None
    """The data that are costs of ``epigraph``; rows of weight zero have none."""

    def __init__(self, A: Any, b: ArrayLike | None) -> None:
        self.data = DataMatrix(A, "A")
        self.A, (n, self.dim) = self.data.raw, self.data.shape
        self.b = np.zeros(n) if b is None else as_vector(b, "b", n)
        self.factor: Scale = ONE

    @abstractmethod
    def at(self, r: Vector) -> tuple[float, Vector]:
        """phi and one of its subgradients at r."""

    @property
    @abstractmethod
    def epigraph(self) -> Epigraph:
        """phi in rows."""

    @abstractmethod
    def extents(self, low: Vector, high: Vector) -> tuple[Vector, Vector]:
        """Between what the t of ``epigraph`` lie that are attained at some r between ``low`` and ``high``."""

    @property
    @abstractmethod
    def steepness(self) -> float:
        """The largest Euclidean norm of a subgradient of phi."""

    @property
    def pieces(self) -> tuple[Piecewise, ...]:  # type: ignore[override]
        """Itself."""
        return (self,)

    @property
    def form(self) -> Form:
        """Itself."""
        return Form(pieces=(self,))

    @property
    def smooth_part(self) -> Objective:
        """Nothing: the zero function."""
        from .norms import Zero

        return Zero(self.dim)

    def steepest(self, dim: int) -> float:
        """A Lipschitz constant."""
        return float(self.factor) * self.data.frobenius * self.steepness

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        value, slope = self.at(self.data.times(self._point(x)) - self.b)
        factor = float(self.factor)
        return factor * value, self.data.transpose_times(factor * slope)

    def rounding(self, x: Vector) -> tuple[float, float]:
        # The subgradient is one at the computed residual: by convexity its plane is below phi everywhere, and at the
        # exact residual below phi by at most twice what rounding of the residual changes in it.
        x = self._point(x)
        r = self.data.times(x) - self.b
        value, slope = self.at(r)
        residual_error = self.data.product_error(x) + UNIT_ROUNDOFF * length(r)
        value_error = 2 * self.steepness * residual_error + gamma(r.size) * (
            abs(value) + float(np.abs(slope) @ np.abs(r))
        )
        factor = float(self.factor) * (1 + 4 * UNIT_ROUNDOFF)
        return factor * value_error, factor * gamma(r.size) * self.data.frobenius * length(slope)

    def scaled(self, factor: float) -> Self:
        """A positive multiple."""
        own = copy(self)
        own.factor = Scale(factor) * self.factor
        own.lower_bound = factor * self.lower_bound
        return own

    def _times(self, factor: float) -> Objective:
        return self.scaled(factor)


def residuals_between(A: Matrix, b: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
    """Bounds on the entries of A x - b for lower <= x <= upper, rounded outwards; infinite where x may be."""
    up, down = (A.maximum(0), -A.minimum(0)) if hasattr(A, "tocsr") else (np.maximum(A, 0), np.maximum(-A, 0))
    ends: list[Vector] = []
    for first, second in ((lower, upper), (-upper, -lower)):
        far, other = np.isinf(first), np.isinf(second)
        near = [np.where(far, 0.0, first), np.where(other, 0.0, second)]
        least = np.asarray(up @ near[0]) - np.asarray(down @ near[1])
        size = np.asarray(up @ np.abs(near[0])) + np.asarray(down @ np.abs(near[1])) + np.abs(b)
        open_ended = (np.asarray(up @ far.astype(float)) + np.asarray(down @ other.astype(float))) > 0
        ends.append(np.where(open_ended, -np.inf, least - (b if not ends else -b) - gamma(A.shape[1]) * size))
    return ends[0], -ends[1]
