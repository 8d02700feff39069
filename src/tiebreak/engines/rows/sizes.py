"""How large the variables of a chain are likely to be, from its rows and targets; bounds only limit that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from ...arrays import Matrix, Vector
from ...numerics.extended import dense
from ...numerics.rows import Rows, power_of_two
from ...numerics.scaling import ends, variable_sizes
from ...objectives.form import Form


def sizes_by_data(levels: Sequence[Form], box: Rows) -> Vector:
    """The size of each variable, a power of two: what balances rows with their ends and squares with their targets."""
    blocks = [(box.A, ends(box))]
    for level in levels:
        blocks += _targets(level)
    return variable_sizes(blocks, box)


def sizes_by_point(sizes: Vector, x: Vector) -> Vector:
    """Sizes corrected by a solution: those of its entries, the others in proportion to the largest."""
    at = np.abs(x)
    common = float((at / sizes).max(initial=0.0)) or 1.0
    return power_of_two(np.maximum(at, min(common, 1.0) * sizes))


def _targets(level: Form) -> Iterator[tuple[Matrix, Vector]]:
    """For each square with a target one row: the largest entry of each column, and that of the target.

    Of other losses it is the typical size of a prediction.
    """
    for loss, data, _ in level.losses:
        if not loss.quadratic and data is not None:
            yield _largest(data.raw), np.array([loss.typical])
        elif loss.target is not None:
            size = np.abs(np.asarray(loss.target, dtype=np.float64))
            if data is None:
                yield sp.eye_array(size.size), size
            else:
                yield _largest(data.raw), size.max(keepdims=True, initial=0.0)
    for bend in level.bends:
        yield _largest(bend.Q), np.abs(bend.q).max(keepdims=True, initial=0.0)


def _largest(A: Matrix) -> Matrix:
    return np.asarray(dense(abs(A).max(axis=0)), dtype=np.float64).reshape(1, -1)
