"""What the fast loops of CG-BiO keep about the vertices of a set: gradients there, or columns of the data.

It is kept as long as the objective it belongs to, so that the chunks of a run, and later runs, find it again.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from ..arrays import Vector
from ..objectives.base import Objective
from ..objectives.covariance import SquaredCovariance
from ..objectives.logistic import Logistic


class GramColumns:
    """The gradients of a quadratic objective at zero and at the vertices, in the coordinates x_i / extent_i.

    Row i of ``columns`` is the change from zero to vertex i; it is computed when first asked for.
    """

    def __init__(self, objective: Objective, extent: Vector) -> None:
        dim = extent.size
        self.extent = extent
        self.at_zero = extent * objective.grad(np.zeros(dim))
        self.columns = np.empty((dim, dim))
        self.known = np.zeros(dim, dtype=np.bool_)

    def find(self, objective: Objective, i: int) -> None:
        """Compute column i."""
        vertex = np.zeros(self.extent.size)
        vertex[i] = self.extent[i]
        self.columns[i] = self.extent * objective.grad(vertex) - self.at_zero
        self.known[i] = True


_gram: WeakKeyDictionary[Objective, GramColumns] = WeakKeyDictionary()
_rows: WeakKeyDictionary[Objective, tuple[Vector, Vector]] = WeakKeyDictionary()


def gram_columns(objective: Objective, extent: Vector) -> GramColumns:
    """The Gram columns of a quadratic objective for these extents."""
    kept = _gram.get(objective)
    if kept is None or not np.array_equal(kept.extent, extent):
        kept = _gram[objective] = GramColumns(objective, extent)
    return kept


def data_rows(f: SquaredCovariance, g: Logistic, extent: Vector) -> Vector | None:
    """The features, one a row, times their extents, where both objectives have the same dense data."""
    A = g.A
    if not isinstance(A, np.ndarray) or not isinstance(f.A, np.ndarray):
        return None
    if A is not f.A and not np.array_equal(A, f.A):
        return None
    kept = _rows.get(g)
    if kept is None or not np.array_equal(kept[0], extent):
        kept = _rows[g] = extent, np.ascontiguousarray((A * extent).T)
    return kept[1]
