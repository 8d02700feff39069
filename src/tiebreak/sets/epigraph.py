"""Sets with further variables: for absolute values and pieces, which so become linear, in levels and in sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from ..numerics.rows import Rows
from .base import Domain
from .polyhedron import Polyhedron


class Above(NamedTuple):
    """Further variables t, between bounds, with G x - T t <= h."""

    G: Matrix
    T: Matrix
    h: Vector
    lower: Vector
    upper: Vector


def with_variables(domain: Domain, blocks: Sequence[Above]) -> Polyhedron:
    """The points (x, t, ...) with x in the domain, whose rows mention no absolute values, and t as each block says.

    ``G`` may have fewer columns than the domain: it is about its first variables.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.sets.box import Box
    >>> both = Above(np.array([[1.0], [-1.0]]), np.ones((2, 1)), np.array([1.0, -1.0]), np.zeros(1), np.full(1, 3.0))
    >>> lifted = with_variables(Box(-2.0, 2.0, dim=1), [both])  # t >= |x - 1|
    >>> lifted.lmo(np.array([0.5, 1.0])) + 0.0
    array([1., 0.])
    """
    Z = domain.rows
    assert Z is not None
    plain = Z.plain
    dim, more = plain.lower.size, [block.lower.size for block in blocks]
    parts: list[list[Any]] = [[plain.A, *(sp.csr_array((plain.A.shape[0], count)) for count in more)]]
    for k, block in enumerate(blocks):
        G = sp.csr_array(block.G)
        wide = sp.hstack([G, sp.csr_array((G.shape[0], dim - G.shape[1]))])
        parts.append([wide, *(-block.T if j == k else sp.csr_array((G.shape[0], more[j])) for j in range(len(more)))])
    high = np.concatenate([plain.high, *(block.h for block in blocks)])
    return Polyhedron.of(
        Rows(
            sp.csr_array(sp.block_array(parts)),
            np.append(plain.low, np.full(high.size - plain.high.size, -np.inf)),
            high,
            np.concatenate([plain.lower, *(block.lower for block in blocks)]),
            np.concatenate([plain.upper, *(block.upper for block in blocks)]),
        )
    )


def absolute_values(domain: Domain, index: NDArray[np.intp]) -> Polyhedron:
    """The points (x, t) with x in the domain and |x_i| <= t_i for the positions i in ``index``, t bounded.

    The domain has ``rows``; ``index`` holds the positions whose absolute values they mention.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.sets.box import Box
    >>> lifted = absolute_values(Box(-1.0, 2.0, dim=2), np.array([0, 1]))
    >>> lifted.lmo(np.array([1.0, -3.0, 2.0, 2.0])) + 0.0  # x1 + 2 |x1| - 3 x2 + 2 |x2|
    array([0., 2., 0., 2.])
    """
    Z = domain.rows
    assert Z is not None
    assert np.isin(Z.absolute, index).all()
    if not index.size:
        return Polyhedron.of(Z.plain)
    dim, count = Z.lower.size, index.size
    B = sp.csr_array(Z.A.shape) if Z.B is None else Z.B
    pick = sp.csr_array((np.ones(count), (np.arange(count), index)), shape=(count, dim))
    identity = sp.eye_array(count)
    blocks: list[Any] = [[Z.A, B[:, index]], [pick, -identity], [-pick, -identity]]
    lower, upper = domain.outer_box
    implied = np.isinf(Z.lower) | np.isinf(Z.upper)  # a bound that rows imply would be one more at their corners
    extents = (np.maximum(np.abs(lower), np.abs(upper)) * np.where(implied, 2.0, 1.0))[index]
    nothing = np.zeros(2 * count)
    return Polyhedron.of(
        Rows(
            sp.csr_array(sp.block_array(blocks)),
            np.append(Z.low, nothing - np.inf),
            np.append(Z.high, nothing),
            np.append(Z.lower, np.zeros(count)),
            np.append(Z.upper, extents),
        )
    )
