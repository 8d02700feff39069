"""Norms as objectives: not differentiable where entries or groups are zero, but with a prox in closed form."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Vector, as_count, as_group_labels, as_real_array, as_vector
from .base import Objective
from .form import Form
from .matrix import gamma


class Norm(Objective):
    """A norm, or a seminorm: ``grad`` is a subgradient, zero where the norm has many.

    A composite objective is a sum of smooth terms and norms. Methods that can take one use the gradient of its
    ``smooth_part`` and the ``prox`` of its ``norms``; the bounds use ``support``.
    """

    convex = True
    differentiable = False
    lower_bound = 0.0
    weights: Vector

    @property
    def form(self) -> Form:
        """Itself."""
        return Form(norms=(self,))

    @property
    def smooth_part(self) -> Objective:
        """Nothing: the zero function."""
        return Zero(self.dim)

    @property
    def norms(self) -> tuple[Norm, ...]:  # type: ignore[override]
        """Itself."""
        return (self,)

    @property
    def groups(self) -> NDArray[np.intp] | None:
        """The label of the group of each position; None for a sum of absolute values, with ``weights`` of entries."""
        return None

    @abstractmethod
    def prox(self, v: Vector, step: float = 1.0) -> Vector:
        """The minimiser of step * norm(x) + 1/2 ||x - v||^2."""

    @abstractmethod
    def steepest(self, dim: int) -> float:
        """A Lipschitz constant: the largest Euclidean norm of a subgradient."""

    def scaled(self, factor: float) -> Self:
        """``factor`` times the norm."""
        norm = copy(self)
        norm.weights = factor * self.weights
        return norm

    def support(self, c: Vector) -> Vector:
        """The y nearest to -c with <y, s> <= norm(s) for all s, up to the rounding of each entry.

        By Moreau's decomposition -y is what the prox takes away from c.
        """
        return self.prox(c) - c

    def _times(self, factor: float) -> Objective:
        return self.scaled(factor)


class L1Norm(Norm):
    """The weighted sum of absolute values, f(x) = sum_i w_i |x_i|, or of residuals, sum_i w_i |<a_i, x> - b_i|.

    Parameters
    ----------
    weights : float or array of length d (with ``A``: n), default 1
        The w_i, not negative and not all zero; a number stands for all of them.
    dim : int, optional
        The dimension d, where the weight is a number; without it, any.
    A : array, sparse matrix or LinearOperator, n x d, optional
        The data of the residuals; without it, the entries of x themselves.
    b : array of length n, optional
        The targets; zero by default.

    Examples
    --------
    >>> import tiebreak as tb
    >>> f = tb.L1Norm(2.0)
    >>> f.value([1.0, -3.0]), f.grad([0.0, -3.0]).tolist(), f.prox([5.0, -1.0]).tolist()
    (8.0, [0.0, -2.0], [3.0, -0.0])

    The sparsest in this sense among all solutions of x1 + 2 x2 = 2:

    >>> problem = tb.Problem(tb.L1Norm(), tb.LeastSquares([[1.0, 2.0]], [2.0]), tb.Box(-5, 5))
    >>> tb.solve(problem).x.round(9) + 0.0
    array([0., 1.])

    Least absolute deviations, with an outlier:

    >>> tb.L1Norm(A=[[1.0], [1.0], [1.0]], b=[1.0, 2.0, 100.0]).value([2.0])
    99.0
    """

    def __new__(
        cls,
        weights: ArrayLike | None = None,
        dim: int | None = None,
        A: Any = None,
        b: ArrayLike | None = None,
    ) -> Any:
        """With data, something else: a sum of absolute residuals has no prox in closed form."""
        if A is None:
            return super().__new__(cls)
        from .absolute import AbsoluteResiduals

        residuals = AbsoluteResiduals(A, b, 1.0 if weights is None else weights)
        if dim is not None and as_count(dim, "dim") != residuals.dim:
            raise ValueError(f"dim is {dim}, but A has {residuals.dim} columns; leave dim out")
        return residuals

    def __init__(
        self,
        weights: ArrayLike | None = None,
        dim: int | None = None,
        A: Any = None,
        b: ArrayLike | None = None,
    ) -> None:
        if b is not None:
            raise ValueError("b goes with A, the data of the residuals: L1Norm(A=..., b=...)")
        weights = 1.0 if weights is None else weights
        array = as_real_array(weights, "weights")
        self.dim = None if dim is None else as_count(dim, "dim")
        if array.ndim:
            array = as_vector(array, "weights", self.dim).copy()
            self.dim = array.size
        if np.any(array < 0) or not np.any(array):
            raise ValueError("weights must not be negative, and not all zero")
        self.weights = array

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        x = self._point(x)
        return float(np.sum(self.weights * np.abs(x))), self.weights * np.sign(x)

    def prox(self, v: Vector, step: float = 1.0) -> Vector:
        v = self._point(v)
        return np.copysign(np.maximum(np.abs(v) - step * self.weights, 0.0), v)

    def steepest(self, dim: int) -> float:
        return float(np.linalg.norm(np.broadcast_to(self.weights, (dim,))))

    def rounding(self, x: Vector) -> tuple[float, float]:
        return gamma(x.size) * self.value(x), 0.0


class GroupNorm(Norm):
    """The weighted sum of the Euclidean norms of groups of variables, f(x) = sum_g w_g ||x_g||.

    Parameters
    ----------
    groups : sequence of index arrays, or array of int
        The groups, which must hold every position 0, ..., d - 1 once; or the label of the group of each position.
    weights : float or array, default 1
        The w_g, not negative and not all zero; in the order of the groups, or of their sorted labels.

    Examples
    --------
    >>> import tiebreak as tb
    >>> f = tb.GroupNorm([[0, 1], [2]])
    >>> f.value([3.0, 4.0, -2.0]), f.grad([3.0, 4.0, 0.0]).tolist(), f.prox([6.0, 8.0, 0.5]).tolist()
    (7.0, [0.6, 0.8, 0.0], [5.4, 7.2, 0.0])
    """

    def __init__(self, groups: Sequence[ArrayLike] | ArrayLike, weights: ArrayLike = 1.0) -> None:
        self.labels = as_group_labels(groups)
        self.count = int(self.labels.max()) + 1
        self.dim = self.labels.size
        array = as_real_array(weights, "weights")
        if array.ndim:
            array = as_vector(array, "weights", self.count).copy()
        if np.any(array < 0) or not np.any(array):
            raise ValueError("weights must not be negative, and not all zero")
        self.weights = array

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        x = self._point(x)
        sizes = self._sizes(x)
        weights, length = np.broadcast_to(self.weights, (self.count,))[self.labels], sizes[self.labels]
        units: Vector = np.divide(x, length, out=np.zeros(x.size), where=length > 0)
        return float(np.sum(self.weights * sizes)), weights * units

    def value(self, x: Vector) -> float:
        return float(np.sum(self.weights * self._sizes(self._point(x))))

    def prox(self, v: Vector, step: float = 1.0) -> Vector:
        v = self._point(v)
        sizes = self._sizes(v)
        kept = np.maximum(sizes - step * self.weights, 0.0)
        factors: Vector = np.divide(kept, sizes, out=np.zeros(self.count), where=sizes > 0)
        return factors[self.labels] * v

    def steepest(self, dim: int) -> float:
        return float(np.linalg.norm(np.broadcast_to(self.weights, (self.count,))))

    @property
    def groups(self) -> NDArray[np.intp]:
        return self.labels

    def rounding(self, x: Vector) -> tuple[float, float]:
        return gamma(x.size) * self.value(x), gamma(x.size) * self.steepest(x.size)

    def _sizes(self, x: Vector) -> Vector:
        largest = float(np.abs(x).max()) or 1.0  # squares of small or large entries stay in range
        squares = np.bincount(self.labels, weights=(x / largest) ** 2, minlength=self.count)
        return largest * np.sqrt(squares.astype(np.float64))


class Zero(Objective):
    """The zero function: what is smooth of a norm."""

    convex = True
    quadratic = True
    smoothness = 0.0
    lower_bound = 0.0

    def __init__(self, dim: int | None = None) -> None:
        self.dim = dim

    @property
    def form(self) -> Form:
        """The empty sum."""
        return Form()

    def value_and_grad(self, x: Vector) -> tuple[float, Vector]:
        return 0.0, np.zeros_like(self._point(x))

    def curvature_along(self, direction: Vector, image: object) -> float:
        return 0.0

    def hessian_times(self, x: Vector, direction: Vector) -> Vector:
        return np.zeros(direction.size)

    def rounding(self, x: Vector) -> tuple[float, float]:
        return 0.0, 0.0
