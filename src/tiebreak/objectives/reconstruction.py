"""The reconstruction error of dictionary learning."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import UNIT_ROUNDOFF, Vector, as_count, as_real_array
from .base import Image, Objective
from .matrix import gamma
from .spectrum import largest_eigenvalue


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

    def __init__(self, data: ArrayLike, atoms: int, codes: ArrayLike | None = None, rest: int = 0) -> None:
        self.data = _matrix(data, "data")
        self.atoms = as_count(atoms, "atoms")
        m, n = self.data.shape
        self.codes: NDArray[np.float64] | None = None
        self._A, self._constant = self.data, 0.0
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
        self._known = self.codes
        if p < n:
            Q, R = np.linalg.qr(self.codes.T)
            self._A, self._known = self.data @ Q, np.ascontiguousarray(R.T)
            left = self.data - self._A @ Q.T
            self._constant = 0.5 * float(np.vdot(left, left))

    @cached_property
    def smoothness(self) -> float | None:
        """The largest eigenvalue of X X' where X is known, otherwise None."""
        return None if self.codes is None else largest_eigenvalue(self._known @ self._known.T)

    def value(self, x: Vector) -> float:
        R = self._residual(*self.blocks(self._point(x)))
        return self._constant + 0.5 * float(np.vdot(R, R))

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        D, X = self.blocks(self._point(x))
        R = self._residual(D, X)
        value = self._constant + 0.5 * float(np.vdot(R, R))
        grad = np.empty(x.size) if self.codes is None else np.zeros(x.size)
        slope_D, slope_X = self.blocks(grad)
        np.matmul(R, X.T, out=slope_D)
        if self.codes is None:
            np.matmul(D.T, R, out=slope_X)
        return value, grad

    def known(self) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        """A', X' and c with f(D) = 1/2 ||A' - D X'||^2 + c, where X is known: the few points that replace the data."""
        assert self.codes is not None
        return self._A, self._known, self._constant

    def curvature_along(self, direction: Vector, image: Image) -> float | None:
        if self.codes is None:
            return None
        D, X = self.blocks(direction)
        T = D @ X
        return float(np.vdot(T, T))

    def rounding(self, x: Vector) -> tuple[float, float]:
        # An entry of the residual sums p + 1 terms; its error is relative to those, not to the residual. The data
        # that replace the given ones are rounded too, by some units relative to ||A||.
        D, X = self.blocks(self._point(x))
        R = self._residual(D, X)
        sizes = [float(np.linalg.norm(part)) for part in (self._A, D, X, R)]
        A, d, c, r = sizes
        error = gamma(len(X)) * (A + d * c)
        if self.codes is not None:
            error += gamma(8 * len(X)) * (float(np.linalg.norm(self.data)) + d * c)
        value_error = (r + error) * error + gamma(R.size) * (r * r + self._constant)
        grad_error = (c + d) * (error + gamma(max(R.shape)) * r)
        if self.codes is not None:  # the replaced codes are known to some units, and so is what they multiply
            grad_error += gamma(8 * len(X)) * c * r
        return 1.01 * value_error, 1.01 * grad_error + UNIT_ROUNDOFF * r

    def blocks(self, x: Vector) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """D (its first p atoms) and X, as views of x; the known X where it is none."""
        m, n = self.data.shape
        D = x[: m * self.atoms].reshape(m, self.atoms)
        if self.codes is not None:
            return D[:, : len(self.codes)], self._known
        return D, x[m * self.atoms :].reshape(self.atoms, n)

    def _residual(self, D: NDArray[np.float64], X: NDArray[np.float64]) -> NDArray[np.float64]:
        R = D @ X
        R -= self._A
        return R


def _matrix(values: Any, name: str) -> NDArray[np.float64]:
    matrix = as_real_array(values, name)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(f"{name} must be a matrix with one data point a column, got shape {matrix.shape}")
    return matrix
