"""The largest of affine functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..arrays import Vector
from .piecewise import Epigraph, Piecewise


class MaxAffine(Piecewise):
    """The largest of affine functions, f(x) = max_i (<a_i, x> - b_i): a makespan, a worst case, a price by bands.

    Parameters
    ----------
    A : array, sparse matrix or LinearOperator, n x d
        One function a row.
    b : array of length n, optional
        What is taken away; zero by default.

    Notes
    -----
    Not differentiable where several functions are the largest; ``grad`` is that of the first of them there. Exact
    solves take it as s subject to s >= <a_i, x> - b_i, at any level.

    Examples
    --------
    >>> import tiebreak as tb
    >>> f = tb.MaxAffine([[1.0, 0.0], [0.0, 2.0]], [0.0, 1.0])
    >>> f.value([3.0, 1.0]), f.grad([3.0, 1.0]).tolist()
    (3.0, [1.0, 0.0])

    The least largest load of two machines, and of those the least total:

    >>> Z = tb.Polyhedron(A_ub=[[-1.0, -2.0]], b_ub=[-3.0], bounds=(0, 5))
    >>> tb.solve(tb.Problem(tb.Linear([1.0, 1.0]), tb.MaxAffine([[1.0, 0.0], [0.0, 1.0]]), Z)).x.round(9)
    array([1., 1.])
    """

    title = "MaxAffine"

    def __init__(self, A: Any, b: ArrayLike | None = None) -> None:
        super().__init__(A, b)

    def at(self, r: Vector) -> tuple[float, Vector]:
        first, slope = int(np.argmax(r)), np.zeros(r.size)
        slope[first] = 1.0
        return float(r[first]), slope

    @property
    def epigraph(self) -> Epigraph:
        n = self.b.size
        return Epigraph(sp.eye_array(n, format="csr"), sp.csr_array(np.ones((n, 1))), np.ones(1))

    def extents(self, low: Vector, high: Vector) -> tuple[Vector, Vector]:
        return low.max(keepdims=True), high.max(keepdims=True)

    @property
    def steepness(self) -> float:
        return 1.0
