"""A quadratic function said in the simplest way: engines do more with squares and lines than with a matrix."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..arrays import Matrix, Vector
from .base import Objective
from .linear import Linear, SquaredNorm
from .quadratic import Quadratic


def simplest(Q: Matrix | None, q: Vector, constant: float = 0.0) -> Objective:
    """1/2 x'Qx + <q, x> + constant: a line, squares of variables where Q has nothing else, or a quadratic form.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> type(simplest(sp.eye_array(2), np.zeros(2))).__name__
    'SquaredNorm'
    """
    line = Linear(q, constant)
    if Q is None or not Q.nnz:
        return line
    Q = sp.csr_array(Q)
    diagonal = Q.diagonal()
    if Q.nnz > np.count_nonzero(diagonal) or (diagonal < 0).any():
        return Quadratic(Q, q, constant)
    squares = SquaredNorm(weights=diagonal)
    return squares + line if q.any() or constant else squares
