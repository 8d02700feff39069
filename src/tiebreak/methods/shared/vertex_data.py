"""What the fast loops of CG-BiO keep about the vertices of a set: gradients there, or columns of the data.

It is kept with the objective it belongs to, so that the chunks of a run, and later runs, find it again.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Matrix, Vector
from ...objectives.base import Objective


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


def gram_columns(objective: Objective, extent: Vector) -> GramColumns:
    """The Gram columns of a quadratic objective for these extents."""
    kept: GramColumns | None = objective.kept.get("gram columns")
    if kept is None or not np.array_equal(kept.extent, extent):
        objective.kept["gram columns"] = kept = GramColumns(objective, extent)
    return kept


def data_rows(objective: Objective, A: Matrix, extent: Vector) -> Vector:
    """The features of an objective's dense data, one a row, times their extents."""
    kept: tuple[Vector, Vector] | None = objective.kept.get("data rows")
    if kept is None or not np.array_equal(kept[0], extent):
        objective.kept["data rows"] = kept = extent, np.ascontiguousarray((A * extent).T)
    return kept[1]
