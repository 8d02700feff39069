"""Sets with absolute values as further variables: so l1 norms become linear, in levels and in sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..numerics.rows import Rows
from .base import Domain
from .polyhedron import Polyhedron


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
    extents = np.maximum(np.abs(lower), np.abs(upper))[index]
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
