"""Quadratic functions."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector, as_scalar, as_vector
from .base import Image, Objective
from .form import Bend, Form, Scale
from .matrix import DataMatrix, gamma

PSD_TOLERANCE = 1e-12
"""An eigenvalue of Q above minus this, relative to a bound on ||Q||, counts as nonnegative."""


class Quadratic(Objective):
    """The quadratic function f(x) = 1/2 x'Qx + q'x + c.

    Parameters
    ----------
    Q : array or sparse matrix, d x d
        Symmetric (up to rounding: a difference of 1e-12 of the largest entry is averaged away).
    q : array of length d
        The linear term.
    c : float
        The constant.

    Notes
    -----
    ``convex`` says whether the smallest eigenvalue of Q is at least -1e-12 times the smaller of its Frobenius
    and its maximum row sum norm: a product B'B computed in floating point is not better than this. It is
    decided by whether Q plus that multiple of the identity has a Cholesky (for sparse Q: LDL')
    factorisation, unless the diagonal dominates.

    Examples
    --------
    >>> import tiebreak as tb
    >>> f = tb.Quadratic([[2.0, 0.0], [0.0, 0.0]], [0.0, 1.0], c=3.0)
    >>> f.value([1.0, 1.0]), f.convex
    (5.0, True)
    """

    quadratic = True

    def __init__(self, Q: Any, q: ArrayLike, c: float = 0.0) -> None:
        self._data = DataMatrix(Q, "Q")
        if self._data.kind == "operator":
            raise TypeError("Q must be an array or a sparse matrix: the symmetry of an operator cannot be checked")
        rows, columns = self._data.shape
        if rows != columns:
            raise ValueError(f"Q must be square, got shape {self._data.shape}")
        self._data.raw = _symmetric(self._data.raw)
        self.Q = self._data.raw
        self.dim = columns
        self.q = as_vector(q, "q", self.dim)
        self.c = as_scalar(c, "c")
        self.convex = _positive_semidefinite(self.Q)

    @cached_property
    def form(self) -> Form:
        """The quadratic and its constant."""
        return Form(bends=(Bend(self.Q, self.q, self.convex),), constant=Scale(self.c))

    @cached_property
    def smoothness(self) -> float:
        """An upper bound on ||Q||_2, exact for d <= 500; beyond, up to a probability of 1e-12."""
        return float(np.sqrt(self._data.squared_norm()))

    def image(self, x: Vector) -> Vector:
        return self._data.times(self._point(x))

    def value(self, x: Vector) -> float:
        return self.value_at(x, self.image(x))

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        return self.value_and_grad_at(x, self.image(x))

    def value_at(self, x: Vector, image: Image) -> float:
        return float(np.dot(0.5 * image + self.q, x)) + self.c

    def value_and_grad_at(self, x: Vector, image: Image) -> tuple[float, Vector]:
        return self.value_at(x, image), image + self.q

    def hessian_times(self, x: Vector, direction: Vector) -> Vector:
        return self._data.times(direction)

    def curvature_along(self, direction: Vector, image: Image) -> float:
        return float(direction @ image)

    def _negative(self) -> Objective:
        minus = Quadratic(-self.Q, -self.q, -self.c)
        return minus if minus.convex else super()._negative()

    def rounding(self, x: Vector) -> tuple[float, float]:
        x = self._point(x)
        image, image_error = self.image(x), self._data.product_error(x)
        sizes = float((0.5 * np.abs(image) + np.abs(self.q)) @ np.abs(x))
        value_error = gamma(x.size) * (sizes + abs(self.c)) + 0.5 * image_error * float(np.linalg.norm(x))
        return 1.01 * value_error, image_error + 2 * UNIT_ROUNDOFF * float(np.linalg.norm(image + self.q))


def constant(c: float, dim: int) -> Quadratic:
    """The function that is c everywhere."""
    from scipy.sparse import csr_array

    return Quadratic(csr_array((dim, dim)), np.zeros(dim), c)


def _symmetric(Q: Matrix) -> Matrix:
    difference, largest = float(abs(Q - Q.T).max()), float(abs(Q).max())
    if difference > 1e-12 * largest:
        raise ValueError(
            f"Q must be symmetric, but differs from its transpose by {difference:.3g}; pass (Q + Q.T)/2,"
            " which gives the same function"
        )
    return Q if difference == 0 else (Q + Q.T) / 2


def _positive_semidefinite(Q: Matrix) -> bool:
    is_sparse = hasattr(Q, "tocsc")
    diagonal, row_sums = Q.diagonal(), abs(Q).sum(axis=1)
    shift = PSD_TOLERANCE * min(float(np.linalg.norm(Q.data if is_sparse else Q)), float(row_sums.max()))
    if diagonal.min() < -shift:
        return False
    if (row_sums <= 2 * diagonal + shift).all():  # Gershgorin: each row sum without the diagonal is below it
        return True
    if is_sparse:
        return _has_positive_pivots(Q, shift)
    try:
        np.linalg.cholesky(Q + shift * np.eye(len(Q)))
    except np.linalg.LinAlgError:
        return False
    return True


def _has_positive_pivots(Q: Matrix, shift: float) -> bool:
    """Whether Q + shift I = LDL' with D > 0, by elimination down the diagonal."""
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import splu

    shifted = csc_array(Q + shift * eye_array(Q.shape[0]))
    try:
        lu = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:  # exactly singular, although the shift is positive: some eigenvalue is negative
        return False
    return bool(np.array_equal(lu.perm_r, lu.perm_c) and (lu.U.diagonal() > 0).all())
