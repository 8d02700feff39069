"""A set with one more constraint."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..arrays import Vector
from ..numerics.rows import Rows
from .base import Domain
from .polyhedron import Polyhedron


def below(domain: Domain, c: Vector, limit: float) -> Domain:
    """The points x of a polyhedron with <c, x> <= limit; with an infinite limit, all of them.

    Examples
    --------
    >>> from tiebreak.sets.box import Box
    >>> below(Box(0.0, 1.0, dim=2), np.array([1.0, 1.0]), 1.5).lmo(np.array([-1.0, -2.0]))
    array([0.5, 1. ])
    """
    if domain.rows is None or domain.rows.limits_sizes:
        raise ValueError(
            f"{domain!r} cannot take a further constraint: slack of a level before the last lower one needs a set "
            "with rows, such as Polyhedron or Box"
        )
    A, low, high, lower, upper = domain.rows.plain
    rows = sp.csr_array(sp.vstack([A, sp.csr_array(c[None])]))
    return Polyhedron.of(Rows(rows, np.append(low, -np.inf), np.append(high, limit), lower, upper))
