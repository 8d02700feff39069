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


def signed_parts(domain: Domain, index: NDArray[np.intp]) -> Polyhedron:
    """The points (z, n) of nonnegative parts with x in the domain: x = z, but x_i = z_i - n_i at the places ``index``.

    The sum of both parts is any t >= |x_i|, up to some size, so that it is |x_i| where it has a cost. There are no rows
    but those of the domain. The domain has ``rows``; ``index`` holds the positions whose absolute values they mention.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.sets.box import Box
    >>> lifted = signed_parts(Box(-1.0, 2.0, dim=2), np.array([0, 1]))
    >>> lifted.lmo(np.array([3.0, -1.0, 1.0, 5.0])) + 0.0  # x1 + 2 |x1| - 3 x2 + 2 |x2|
    array([0., 2., 0., 0.])
    """
    Z = domain.rows
    assert Z is not None
    assert np.isin(Z.absolute, index).all()
    A = sp.csr_array(Z.A if Z.B is None else Z.A + Z.B)
    own = Z.A[:, index] if Z.B is None else Z.A[:, index] - Z.B[:, index]
    lower, upper = domain.outer_box
    # an end that only rows imply would be one more at their corners; one that is given holds as it is
    lower = np.where(np.isinf(Z.lower), np.minimum(2 * lower, 0.0), lower)[index]
    upper = np.where(np.isinf(Z.upper), np.maximum(2 * upper, 0.0), upper)[index]
    low, high = Z.lower.copy(), Z.upper.copy()
    low[index], high[index] = np.maximum(lower, 0.0), np.maximum(upper, 0.0)
    rows = Rows(
        sp.csr_array(sp.hstack([A, -own])),
        Z.low,
        Z.high,
        np.append(low, np.maximum(-upper, 0.0)),
        np.append(high, np.maximum(-lower, 0.0)),
    )
    nearest = np.clip(0.0, rows.lower, rows.upper)  # mostly in the set, which then needs no programme to show a point
    one_sided = np.isinf(rows.low) | (rows.low == rows.high)
    known = one_sided.all() and not rows.missed_by(nearest)
    return Polyhedron.around(rows, nearest) if known else Polyhedron.of(rows)
