"""Sets of matrices known through their spectrum: the nuclear norm ball and the spectrahedron."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector, as_count, as_positive
from ..numerics.deadline import check
from .base import Domain
from .boundary.cones import near_nuclear, near_spectrahedron
from .boundary.description import Boundary
from .outside import beside_simplex, beyond_radius, length_of
from .round.spectra import NuclearRound, PSDRound
from .threshold import threshold_to_sum

DENSE = 300
"""Below this smaller side, all singular values cost less than a few good ones."""

LANCZOS = "a Lanczos iteration found the extreme singular value or eigenvalue, and missed no larger one"


class NuclearBall(Domain):
    """The matrices of the given shape whose singular values sum to at most ``radius``.

    Points are the matrices flattened row by row.

    Parameters
    ----------
    shape : pair of int
        Rows and columns.
    radius : float
        Above zero.

    Notes
    -----
    Where the smaller side is below 300, ``lmo`` is a dense singular value decomposition and ``lmo_bound``
    subtracts its backward error. Above, it is a Lanczos iteration from a fixed start, whose Ritz value is no
    bound by itself: ``lmo_bound`` subtracts the residual, and ``assumes`` says what is still taken on trust.
    A minimiser over the ball and a cut is a mix of at most two matrices of rank one.

    Examples
    --------
    >>> import numpy as np
    >>> ball = NuclearBall((2, 2), 1.0)
    >>> ball.lmo(np.array([3.0, 0.0, 0.0, 1.0])).round(12) + 0.0
    array([-1.,  0.,  0.,  0.])
    >>> ball.project(np.array([2.0, 0.0, 0.0, 1.5])).round(12) + 0.0
    array([0.75, 0.  , 0.  , 0.25])
    """

    def __init__(self, shape: tuple[int, int], radius: float) -> None:
        if np.shape(shape) != (2,):
            raise ValueError(f"shape must be a pair (rows, columns), got {shape!r}")
        self.shape = (as_count(shape[0], "shape[0]"), as_count(shape[1], "shape[1]"))
        self.radius = as_positive(radius, "radius")
        self.dim = self.shape[0] * self.shape[1]
        self.assumes = "" if min(self.shape) < DENSE else LANCZOS

    def __repr__(self) -> str:
        return f"NuclearBall({self.shape}, {self.radius:g})"

    def lmo(self, c: Vector) -> Vector:
        C = self._check(c, "c").reshape(self.shape)
        if min(self.shape) < DENSE or not C.any():
            left, _, right = np.linalg.svd(C, full_matrices=False)
            u, v = left[:, 0], right[0]
        else:
            from scipy.sparse.linalg import svds

            left, _, right = svds(_timed(C / np.abs(C).max()), k=1, v0=_start(min(self.shape)))
            u, v = left[:, 0], right[0]
        s: Vector = -self.radius * np.outer(u, v)
        return s.ravel()

    def lmo_bound(self, c: Vector, s: Vector) -> float:
        bound = super().lmo_bound(c, s) - self.radius * _backward_error(c, sum(self.shape))
        if not self.assumes:
            return bound
        C = c.reshape(self.shape)
        value = float(c @ s) / self.radius  # = <u, C v> for s = radius * u v'
        return bound - self.radius * _residual(C, s.reshape(self.shape) / self.radius, value)

    def project(self, x: Vector) -> Vector:
        x = self._check(x, "x")
        left, values, right = np.linalg.svd(x.reshape(self.shape), full_matrices=False)
        if values.sum() <= self.radius:
            return x.copy()
        shrunk = threshold_to_sum(values, np.ones(values.size), self.radius)
        p: Vector = (left * shrunk) @ right
        return p.ravel()

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        values = np.linalg.svd(self._check(x, "x").reshape(self.shape), compute_uv=False)
        return bool(values.sum() <= self.radius * (1 + tol))

    def distance_outside(self, x: Vector) -> float:
        values = np.linalg.svd(self._check(x, "x").reshape(self.shape), compute_uv=False)
        gauge = float(values.sum()) + values.size * _backward_error(x, sum(self.shape))
        return beyond_radius(gauge, self.radius, float(np.linalg.norm(x)), x.size)

    @property
    def diameter(self) -> float:
        return 2 * self.radius

    def boundary(self, x: Vector) -> Boundary:
        return near_nuclear(x, self.shape, self.radius)

    @cached_property
    def round(self) -> NuclearRound:
        return NuclearRound(self.shape, self.radius, self.distance_outside)


class Spectrahedron(Domain):
    """The symmetric positive semidefinite n x n matrices of the given trace, flattened row by row.

    Parameters
    ----------
    n : int
        The order of the matrices.
    trace : float
        Above zero.

    Notes
    -----
    Costs are symmetrised first, which changes no inner product with a symmetric matrix. Where n is below 300
    ``lmo`` is a dense eigenvalue decomposition, above a Lanczos iteration; see :class:`NuclearBall` for what
    that means for bounds.

    Examples
    --------
    >>> import numpy as np
    >>> Z = Spectrahedron(2)
    >>> Z.lmo(np.array([3.0, 0.0, 0.0, 1.0])).round(12) + 0.0
    array([0., 0., 0., 1.])
    >>> Z.lmo_cut(np.array([3.0, 0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.0, 1.0]), 0.25).point.round(9) + 0.0
    array([0.75, 0.  , 0.  , 0.25])
    """

    def __init__(self, n: int, trace: float = 1.0) -> None:
        n = as_count(n, "n")
        self.shape = (n, n)
        self.trace = as_positive(trace, "trace")
        self.dim = n * n
        self.assumes = "" if n < DENSE else LANCZOS

    def __repr__(self) -> str:
        return f"Spectrahedron({self.shape[0]}, {self.trace:g})"

    def lmo(self, c: Vector) -> Vector:
        C = self._symmetric(self._check(c, "c"))
        n = len(C)
        if n < DENSE or not C.any():
            v = np.linalg.eigh(C)[1][:, 0]
        else:
            from scipy.sparse.linalg import eigsh

            v = eigsh(_timed(C / np.abs(C).max()), k=1, which="SA", v0=_start(n))[1][:, 0]
        s: Vector = self.trace * np.outer(v, v)
        return s.ravel()

    def lmo_bound(self, c: Vector, s: Vector) -> float:
        C = self._symmetric(c)
        bound = super().lmo_bound(c, s) - self.trace * _backward_error(c, len(C))
        if not self.assumes:
            return bound
        return bound - self.trace * _residual(C, s.reshape(self.shape) / self.trace, float(c @ s) / self.trace)

    def project(self, x: Vector) -> Vector:
        values, vectors = np.linalg.eigh(self._symmetric(self._check(x, "x")))
        p: Vector = (vectors * threshold_to_sum(values, np.ones(values.size), self.trace)) @ vectors.T
        return np.ravel(self._symmetric(p))

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        x = self._check(x, "x")
        X, allowed = self._symmetric(x), tol * self.trace
        if np.abs(X.ravel() - x).max() > allowed or abs(float(np.trace(X)) - self.trace) > allowed:
            return False
        return bool(np.linalg.eigvalsh(X)[0] >= -allowed)

    def distance_outside(self, x: Vector) -> float:
        """By its eigenvalues, which are those of a matrix within the backward error of the symmetric part."""
        X = self._symmetric(self._check(x, "x"))
        error = np.sqrt(self.shape[0]) * _backward_error(x, self.shape[0])
        return float(beside_simplex(np.linalg.eigvalsh(X), self.trace) + length_of(x - X.ravel()) + 2 * error)

    @property
    def diameter(self) -> float:
        return float(np.sqrt(2)) * self.trace

    def boundary(self, x: Vector) -> Boundary:
        return near_spectrahedron(x, self.shape[0], self.trace)

    @cached_property
    def round(self) -> PSDRound:
        return PSDRound(self.shape[0], self.trace)

    def _symmetric(self, x: Vector) -> Matrix:
        X = x.reshape(self.shape)
        return (X + X.T) / 2


def _timed(C: Matrix) -> Any:
    """The matrix as an operator that looks at the clock before each product."""
    from scipy.sparse.linalg import LinearOperator

    def times(x: Vector) -> Vector:
        check()
        return np.asarray(C @ x)

    def transposed(x: Vector) -> Vector:
        check()
        return np.asarray(C.T @ x)

    return LinearOperator(C.shape, matvec=times, rmatvec=transposed, dtype=C.dtype)


def _start(n: int) -> Vector:
    """A fixed start for Lanczos, in general position."""
    return np.random.default_rng(0).standard_normal(n)


def _backward_error(c: Vector, n: int) -> float:
    """What a backward stable decomposition may miss of an extreme singular value or eigenvalue."""
    return 4 * n * UNIT_ROUNDOFF * float(np.linalg.norm(c))


def _residual(C: Matrix, S: Matrix, value: float) -> float:
    """|C v - value u| for S = u v': some singular value or eigenvalue of C is this close to ``value``."""
    column = int(np.argmax((S * S).sum(axis=0)))
    u = S[:, column] / np.linalg.norm(S[:, column])
    v = u @ S
    return float(np.linalg.norm(C @ v - value * u))
