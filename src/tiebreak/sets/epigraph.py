"""Polytopes by rows, with absolute values as further variables: so l1 norms become linear, in levels and in sets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from .base import Domain
from .birkhoff import Birkhoff
from .box import Box
from .ksparse import KSparse
from .l1 import L1Ball
from .polyhedron import Polyhedron
from .product import Product
from .simplex import Simplex


def has_rows(domain: Domain) -> bool:
    """Whether ``by_rows`` describes the set."""
    if isinstance(domain, Product):
        return all(has_rows(domain.factor(name)) for name in domain.names)
    return isinstance(domain, (Polyhedron, Box, Simplex, Birkhoff, L1Ball, KSparse))


def limits_sizes(domain: Domain) -> bool:
    """Whether its rows mention absolute values."""
    if isinstance(domain, Product):
        return any(limits_sizes(domain.factor(name)) for name in domain.names)
    return isinstance(domain, (L1Ball, KSparse))


class ByRows(NamedTuple):
    """The points x with low <= A (x, |x|) <= high and lower <= x <= upper; |x| <= extent.

    Entries of A that belong to |x| are not negative, and rows that have such have no low end: any t >= |x| in the place
    of |x| describes the same points x.
    """

    A: Matrix
    low: Vector
    high: Vector
    lower: Vector
    upper: Vector
    extent: Vector

    @property
    def absolute(self) -> NDArray[np.intp]:
        """The positions whose absolute values the rows mention."""
        return np.unique(self.A[:, self.lower.size :].indices)


def by_rows(domain: Domain) -> ByRows:
    """The rows of a set that ``has_rows``, with a known number of variables.

    Examples
    --------
    >>> ball = by_rows(L1Ball(2.0).with_dim(3))
    >>> ball.A.toarray(), ball.high
    (array([[0., 0., 0., 1., 1., 1.]]), array([2.]))
    """
    d = domain.dim
    assert d is not None
    if isinstance(domain, Product):
        return _stacked([by_rows(domain.factor(name)) for name in domain.names])
    if isinstance(domain, Polyhedron):
        (A, low, high, lower, upper), box = domain._given, domain._box
        extent = np.maximum(np.abs(box.lower), np.abs(box.upper))
        return ByRows(sp.csr_array(sp.hstack([A, sp.csr_array(A.shape)])), low, high, lower, upper, extent)
    if isinstance(domain, Box):
        lower, upper = np.broadcast_to(domain.lower, (d,)), np.broadcast_to(domain.upper, (d,))
        return ByRows(sp.csr_array((0, 2 * d)), np.zeros(0), np.zeros(0), lower, upper, np.maximum(-lower, upper))
    if isinstance(domain, Simplex):
        return _sums_to(np.ones((1, d)), domain.total)
    if isinstance(domain, Birkhoff):
        return _sums_to(domain.sums, 1.0)
    if isinstance(domain, L1Ball):
        weights = np.ones(d) if domain.weights is None else domain.weights
        return _total_size(weights, domain.radius, np.broadcast_to(domain._extent, (d,)))
    assert isinstance(domain, KSparse)
    return _total_size(np.ones(d), domain.k * domain.radius, np.full(d, domain.radius))


def absolute_values(domain: Domain, index: NDArray[np.intp]) -> Polyhedron:
    """The points (x, t) with x in the domain and |x_i| <= t_i for the positions i in ``index``, t bounded.

    The domain is one that ``by_rows`` describes; ``index`` holds the positions that its rows mention.

    Examples
    --------
    >>> import numpy as np
    >>> lifted = absolute_values(Box(-1.0, 2.0, dim=2), np.array([0, 1]))
    >>> lifted.lmo(np.array([1.0, -3.0, 2.0, 2.0])) + 0.0  # x1 + 2 |x1| - 3 x2 + 2 |x2|
    array([0., 2., 0., 2.])
    """
    Z = by_rows(domain)
    assert np.isin(Z.absolute, index).all()
    dim, equal = Z.lower.size, Z.low == Z.high
    above, below = ~equal & np.isfinite(Z.high), ~equal & np.isfinite(Z.low)
    rows = sp.csr_array(sp.hstack([Z.A[:, :dim], Z.A[:, dim:][:, index]]))
    pick = sp.csr_array((np.ones(index.size), (np.arange(index.size), index)), shape=(index.size, dim))
    identity = sp.eye_array(index.size)
    sizes = [sp.hstack([pick, -identity]), sp.hstack([-pick, -identity])] if index.size else []
    limits = sp.csr_array(sp.vstack([rows[np.flatnonzero(above)], -rows[np.flatnonzero(below)], *sizes]))
    return Polyhedron(
        A_ub=limits if limits.shape[0] else None,
        b_ub=np.concatenate([Z.high[above], -Z.low[below], np.zeros(2 * index.size)]) if limits.shape[0] else None,
        A_eq=rows[np.flatnonzero(equal)] if equal.any() else None,
        b_eq=Z.high[equal] if equal.any() else None,
        bounds=[*zip(Z.lower, Z.upper, strict=True), *((0.0, end) for end in Z.extent[index])],
    )


def _sums_to(rows: Matrix, total: float) -> ByRows:
    """Nonnegative numbers, some of which sum to a total."""
    m, d = rows.shape
    sums, most = np.full(m, total), np.full(d, total)
    A = sp.csr_array(sp.hstack([sp.csr_array(rows), sp.csr_array((m, d))]))
    return ByRows(A, sums, sums, np.zeros(d), most, most)


def _total_size(weights: Vector, total: float, extent: Vector) -> ByRows:
    """Numbers of limited size, in all and each."""
    A = sp.csr_array(np.concatenate([np.zeros(weights.size), weights])[None, :])
    return ByRows(A, np.array([-np.inf]), np.array([total]), -extent, extent, extent)


def _stacked(parts: list[ByRows]) -> ByRows:
    """The product of sets."""
    own = sp.block_diag([part.A[:, : part.lower.size] for part in parts])
    absolute = sp.block_diag([part.A[:, part.lower.size :] for part in parts])
    ends = (np.concatenate(one) for one in zip(*(part[1:] for part in parts), strict=True))
    return ByRows(sp.csr_array(sp.hstack([own, absolute])), *ends)
