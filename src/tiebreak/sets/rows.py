"""Plain descriptions of polytopes that sets give of themselves: by rows, and by vertices on the coordinate axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from ..numerics.rows import Rows


class ByRows(NamedTuple):
    """The points x with low <= A x + B |x| <= high and lower <= x <= upper; B is None where no row mentions |x|.

    Matrices are in CSR form. Entries of B are not negative, and rows that have such have no low end: any t >= |x| in
    the place of |x| describes the same points x. Ends of rows and bounds may be infinite, the bounds only where B is
    None.
    """

    A: Matrix
    low: Vector
    high: Vector
    lower: Vector
    upper: Vector
    B: Matrix | None = None

    @property
    def limits_sizes(self) -> bool:
        """Whether some row mentions an absolute value."""
        return self.B is not None

    @property
    def absolute(self) -> NDArray[np.intp]:
        """The positions whose absolute values the rows mention."""
        return np.zeros(0, dtype=np.intp) if self.B is None else np.unique(self.B.indices)

    @property
    def plain(self) -> Rows:
        """The rows themselves, where none mentions an absolute value."""
        assert not self.limits_sizes
        return Rows(*self[:5])


class Polyhedral(NamedTuple):
    """Where a solve over rows starts: the rows as given, the same with finite bounds on all variables, and a point."""

    given: Rows
    box: Rows
    point: Vector


class Axes(NamedTuple):
    """The vertices extents_j e_j of a polytope, and if ``signed`` their negatives.

    ``weights`` times the extents are the same on all axes, exactly; a number stands for all weights.
    """

    extents: Vector
    signed: bool
    weights: Vector | float = 1.0


def bounds_alone(lower: Vector, upper: Vector) -> ByRows:
    """No rows: numbers between their bounds."""
    return ByRows(sp.csr_array((0, lower.size)), np.zeros(0), np.zeros(0), lower, upper)


def sums_to(places: NDArray[np.intp], dim: int, total: float, most: float) -> ByRows:
    """So many numbers from 0 to ``most``, those in the places of each row with the sum ``total``.

    Examples
    --------
    >>> simplex = sums_to(np.arange(3)[None], 3, 2.0, 2.0)
    >>> simplex.A.toarray(), simplex.low, simplex.upper
    (array([[1., 1., 1.]]), array([2.]), array([2., 2., 2.]))
    """
    ends = np.full(len(places), total)
    return ByRows(_rows_of(np.ones(places.shape), places, dim), ends, ends, np.zeros(dim), np.full(dim, most))


def total_size(weights: Vector, total: float, extents: Vector) -> ByRows:
    """Numbers of limited size, in all and each.

    Examples
    --------
    >>> ball = total_size(np.ones(3), 2.0, np.full(3, 2.0))
    >>> ball.B.toarray(), ball.high, ball.absolute.tolist()
    (array([[1., 1., 1.]]), array([2.]), [0, 1, 2])
    """
    nothing = sp.csr_array((1, weights.size))
    B = _rows_of(weights[None], np.arange(weights.size)[None], weights.size)
    return ByRows(nothing, np.array([-np.inf]), np.array([total]), -extents, extents, B)


def stacked(parts: Sequence[ByRows]) -> ByRows:
    """The product of sets."""
    low, high, lower, upper = (np.concatenate(one) for one in zip(*(part[1:5] for part in parts), strict=True))
    B = None
    if any(part.B is not None for part in parts):
        B = _blocks([sp.csr_array(part.A.shape) if part.B is None else part.B for part in parts])
    return ByRows(_blocks([part.A for part in parts]), low, high, lower, upper, B)


def repeated(part: ByRows, times: int) -> ByRows:
    """Matrices of so many columns, flattened row by row, with every column in the same set."""
    low, high, lower, upper = (np.repeat(one, times) for one in part[1:5])
    A, B = (None if one is None else sp.csr_array(sp.kron(one, sp.eye_array(times))) for one in (part.A, part.B))
    return ByRows(A, low, high, lower, upper, B)


def _rows_of(entries: NDArray[np.float64], places: NDArray[np.intp], dim: int) -> Matrix:
    """Rows of as many entries each, in CSR form."""
    count, width = places.shape
    indptr = np.arange(count + 1) * width
    return sp.csr_array((entries.ravel(), places.ravel(), indptr), shape=(count, dim))


def _blocks(matrices: Sequence[Matrix]) -> Matrix:
    return sp.csr_array(sp.block_diag(matrices))
