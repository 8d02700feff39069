"""The reconstruction error of dictionary learning."""

from __future__ import annotations

from functools import cached_property
from math import sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Vector, as_count, as_real_array
from ..numerics.spectrum import largest_eigenvalue
from .base import Image, Objective
from .matrix import gamma

Array: TypeAlias = NDArray[np.float64]


class Dictionary(NamedTuple):
    """The error of all data with free codes, and of old data with known ones.

    Attributes
    ----------
    data : array, m x n
        Those of the upper level.
    atoms : int
        The columns of D.
    old, codes, constant : array, array, float
        The lower level, 1/2 ||old - D codes||^2 + constant, in the first atoms.
    """

    data: Array
    atoms: int
    old: Array
    codes: Array
    constant: float

    def blocks(self, x: Vector) -> tuple[Array, Array]:
        """D and X, as views of x."""
        return _blocks(x, self.data.shape, self.atoms)


class Reconstruction(Objective):
    """The squared error f(D, X) = 1/2 ||A - D X||_F^2 of data in terms of a dictionary.

    Each column of ``data`` is a data point, each column of D (an atom) a building block, each column of X says how
    much of every atom goes into a data point. The variables are D and then X, each flattened row by row, as in
    ``Product({"D": (..., (m, atoms)), "X": (..., (atoms, n))})``.

    Parameters
    ----------
    data : array, m x n
        A, one data point a column.
    atoms : int
        The number of columns of D.
    codes : array, p x n, optional
        X, where it is known, for the first p <= ``atoms`` atoms: the objective is then a convex quadratic in these
        atoms, and does not depend on the others.
    rest : int, default 0
        With ``codes``: so many variables follow D on which the objective does not depend.

    Notes
    -----
    With X as a variable the error is convex in D and in X, but not in both, and its gradient has no Lipschitz
    constant. The residual is computed once for value and gradient: three products, 6 m n ``atoms`` operations.
    With known codes X = L Q', Q with orthonormal columns,

        ||A - D X||^2 = ||A Q - D L||^2 + ||A||^2 - ||A Q||^2,

    so the n data points are replaced by p of them once, and the constant computed without cancellation.

    Examples
    --------
    >>> import tiebreak as tb
    >>> f = tb.Reconstruction([[1.0, 2.0], [0.0, 2.0]], atoms=1)
    >>> f.dim, f.convex
    (4, False)
    >>> f.value([1.0, 0.0, 1.0, 2.0])  # D = (1, 0)', X = (1, 2): the second point has an error of (0, 2)'
    2.0
    >>> g = tb.Reconstruction([[1.0, 2.0], [0.0, 2.0]], atoms=1, codes=[[1.0, 2.0]])
    >>> g.dim, g.convex, round(g.value([1.0, 0.0]), 12)
    (2, True, 2.0)
    """

    lower_bound = 0.0
    identity = ("data", "atoms", "codes", "dim")

    def __init__(self, data: ArrayLike, atoms: int, codes: ArrayLike | None = None, rest: int = 0) -> None:
        self.data = _matrix(data, "data")
        self.atoms = as_count(atoms, "atoms")
        m, n = self.data.shape
        self.codes: Array | None = None
        self._few = Few(self.data)
        if rest != 0:
            rest = as_count(rest, "rest")
        if codes is None:
            if rest:
                raise ValueError("rest is for objectives with given codes; without them X follows D")
            self.dim = m * self.atoms + self.atoms * n
            return
        self.codes = _matrix(codes, "codes")
        p = len(self.codes)
        if self.codes.shape[1] != n or p > self.atoms:
            raise ValueError(
                f"codes must have a column for each of the {n} data points and a row for some of the {self.atoms} "
                f"atoms, got shape {self.codes.shape}"
            )
        self.dim = m * self.atoms + rest
        self.convex = self.quadratic = True
        self._few = few_points(self.data, self.codes) if p < n else Few(self.data, self.codes)

    @cached_property
    def smoothness(self) -> float | None:
        """The largest eigenvalue of X X' where X is known, otherwise None."""
        return None if self.codes is None else largest_eigenvalue(self._few.X @ self._few.X.T)

    def value(self, x: Vector) -> float:
        R = self._residual(*self.blocks(self._point(x)))
        return self._few.constant + 0.5 * float(np.vdot(R, R))

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        x = self._point(x)
        D, X = self.blocks(x)
        R = self._residual(D, X)
        value = self._few.constant + 0.5 * float(np.vdot(R, R))
        grad = np.empty(x.size) if self.codes is None else np.zeros(x.size)
        slope_D, slope_X = self.blocks(grad)
        np.matmul(R, X.T, out=slope_D)
        if self.codes is None:
            np.matmul(D.T, R, out=slope_X)
        return value, grad

    def known(self) -> tuple[Array, Array, float]:
        """A', X' and c with f(D) = 1/2 ||A' - D X'||^2 + c, where X is known: the few points that replace the data."""
        assert self.codes is not None
        return self._few.A, self._few.X, self._few.constant

    def dictionary(self, lower: Objective) -> Dictionary | None:
        if not isinstance(lower, Reconstruction) or self.codes is not None or lower.codes is None:
            return None
        if lower.atoms != self.atoms or len(lower.data) != len(self.data):
            return None
        return Dictionary(self.data, self.atoms, *lower.known())

    def curvature_along(self, direction: Vector, image: Image) -> float | None:
        if self.codes is None:
            return None
        D, X = self.blocks(direction)
        T = D @ X
        return float(np.vdot(T, T))

    def rounding(self, x: Vector) -> tuple[float, float]:
        # An entry of the residual R sums p + 1 terms; its error is relative to those, not to R. Then, for data that are
        # replaced, how far that is from exact: see ``Few``.
        D, X = self.blocks(self._point(x))
        R, few = self._residual(D, X), self._few
        r, d, c = (float(np.linalg.norm(part)) for part in (R, D, X))
        error = gamma(len(X)) * (float(np.linalg.norm(few.A)) + d * c)
        value = (r + error) * error + gamma(R.size) * (r * r + few.constant) + few.constant_error
        grad = (c + (0.0 if self.codes is not None else d)) * (error + gamma(max(R.shape)) * r)
        whole = sqrt(r * r + 2 * few.constant) + error  # the norm of A - D X
        missed = d * few.missed
        value += r * (few.skew * r + few.left_over) + (whole + missed) * missed
        grad += c * (few.skew * r + few.left_over + 2 * missed) + (whole + missed) * few.missed
        return 1.01 * value, 1.01 * grad

    def blocks(self, x: Vector) -> tuple[Array, Array]:
        """D (its first p atoms) and X, as views of x; the known X where it is none."""
        if self.codes is None:
            return _blocks(x, self.data.shape, self.atoms)
        m = len(self.data)
        return x[: m * self.atoms].reshape(m, self.atoms)[:, : len(self.codes)], self._few.X

    def _residual(self, D: Array, X: Array) -> Array:
        R: Array = D @ X
        R -= self._few.A
        return R


class Few(NamedTuple):
    """Few points A with codes X in the place of many: the error is 1/2 ||A - D X||^2 + constant.

    With a computed Q, the given data are A Q' + left and the given codes X Q' + E. What keeps that from being exact is
    measured: ``skew`` >= ||Q'Q - I||, ``left_over`` >= ||left Q||, ``missed`` >= ||E||, all Frobenius norms.
    """

    A: Array
    X: Array = np.zeros((0, 0))
    constant: float = 0.0
    constant_error: float = 0.0
    skew: float = 0.0
    left_over: float = 0.0
    missed: float = 0.0


def few_points(data: Array, codes: Array) -> Few:
    """As many points as there are codes for each, by the QR decomposition of the codes."""
    norm, (p, n) = np.linalg.norm, codes.shape
    Q, R = np.linalg.qr(codes.T)
    A, X = data @ Q, np.ascontiguousarray(R.T)
    left = data - A @ Q.T
    length, wide = float(norm(left)), 1.01 * sqrt(p)  # and the norm of Q
    left_error = gamma(p) * (float(norm(data)) + float(norm(A)) * wide)
    return Few(
        A,
        X,
        0.5 * length**2,
        1.01 * (length * left_error + gamma(left.size) * length**2 + left_error**2),
        1.01 * (float(norm(Q.T @ Q - np.eye(p))) + gamma(n) * wide**2),
        1.01 * (float(norm(left @ Q)) + (gamma(n) * length + left_error) * wide),
        1.01 * (float(norm(codes - X @ Q.T)) + gamma(p) * (float(norm(codes)) + float(norm(X)) * wide)),
    )


def _blocks(x: Vector, shape: tuple[int, ...], atoms: int) -> tuple[Array, Array]:
    m, n = shape
    return x[: m * atoms].reshape(m, atoms), x[m * atoms :].reshape(atoms, n)


def _matrix(values: Any, name: str) -> Array:
    matrix = as_real_array(values, name)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(f"{name} must be a matrix with one data point a column, got shape {matrix.shape}")
    return np.ascontiguousarray(matrix)
