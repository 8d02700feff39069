"""Absolute values as further variables: what makes an l1 norm linear over a polyhedron."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from .base import Domain
from .box import Box
from .l1 import L1Ball
from .polyhedron import Polyhedron


def absolute_values(domain: Domain, index: NDArray[np.intp]) -> Polyhedron:
    """The points (x, t) with x in the domain and |x_i| <= t_i for the positions i in ``index``, t bounded.

    The domain is a Box, a Polyhedron or, with all positions in ``index``, an L1Ball.

    Examples
    --------
    >>> import numpy as np
    >>> lifted = absolute_values(Box(-1.0, 2.0, dim=2), np.array([0, 1]))
    >>> lifted.lmo(np.array([1.0, -3.0, 2.0, 2.0])) + 0.0  # x1 + 2 |x1| - 3 x2 + 2 |x2|
    array([0., 2., 0., 2.])
    """
    dim = domain.dim
    assert dim is not None
    A, low, high, lower, upper, extent = _rows(domain, dim)
    rows: list[Matrix] = [sp.hstack([A, sp.csr_array((A.shape[0], index.size))])]
    if isinstance(domain, L1Ball):
        weights = np.ones(dim) if domain.weights is None else domain.weights
        rows = [sp.hstack([sp.csr_array((1, dim)), sp.csr_array(weights[None, :])])]
        low, high = np.array([-np.inf]), np.array([domain.radius])
    equal = low == high
    stacked = sp.csr_array(rows[0])
    pick = sp.csr_array((np.ones(index.size), (np.arange(index.size), index)), shape=(index.size, dim))
    identity = sp.eye_array(index.size)
    above = sp.vstack([stacked[np.flatnonzero(~equal)], sp.hstack([pick, -identity]), sp.hstack([-pick, -identity])])
    ends = [*zip(lower, upper, strict=True), *((0.0, end) for end in extent[index])]
    return Polyhedron(
        A_ub=sp.csr_array(above),
        b_ub=np.concatenate([high[~equal], np.zeros(2 * index.size)]),
        A_eq=stacked[np.flatnonzero(equal)] if equal.any() else None,
        b_eq=high[equal] if equal.any() else None,
        bounds=ends,
    )


def _rows(domain: Domain, dim: int) -> tuple[Matrix, Vector, Vector, Vector, Vector, Vector]:
    """Rows of the domain and their ends, bounds of the variables, and how large each can be."""
    none = sp.csr_array((0, dim)), np.zeros(0), np.zeros(0)
    if isinstance(domain, Polyhedron):
        return *domain._given, np.maximum(np.abs(domain._box.lower), np.abs(domain._box.upper))
    if isinstance(domain, Box):
        lower, upper = np.broadcast_to(domain.lower, (dim,)), np.broadcast_to(domain.upper, (dim,))
        return *none, lower, upper, np.maximum(np.abs(lower), np.abs(upper))
    assert isinstance(domain, L1Ball)
    extent = np.broadcast_to(domain._extent, (dim,))
    return *none, -extent, extent, extent
