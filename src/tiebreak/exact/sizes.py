"""How large the variables of a chain are likely to be, from its rows and targets; bounds only limit that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from ..arrays import Matrix, Vector
from ..objectives.algebra import Multiple, Sum
from ..objectives.base import Objective
from ..objectives.least_squares import LeastSquares
from ..objectives.linear import SquaredNorm
from ..objectives.quadratic import Quadratic
from ..sets.lp_model import Rows, power_of_two
from ..sets.scaling import ends, variable_sizes
from .extended import dense


def sizes_by_data(levels: Sequence[Objective], box: Rows) -> Vector:
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


def _targets(objective: Objective) -> Iterator[tuple[Matrix, Vector]]:
    """For each square with a target one row: the largest entry of each column, and that of the target."""
    if isinstance(objective, Sum):
        for term in objective.terms:
            yield from _targets(term)
    elif isinstance(objective, Multiple):
        yield from _targets(objective.inner)
    elif isinstance(objective, SquaredNorm) and objective.center is not None:
        yield sp.eye_array(objective.center.size), np.abs(objective.center)
    elif isinstance(objective, LeastSquares):
        yield _largest(objective.A), np.abs(objective.b).max(keepdims=True, initial=0.0)
    elif isinstance(objective, Quadratic):
        yield _largest(objective.Q), np.abs(objective.q).max(keepdims=True, initial=0.0)


def _largest(A: Matrix) -> Matrix:
    return np.asarray(dense(abs(A).max(axis=0)), dtype=np.float64).reshape(1, -1)
