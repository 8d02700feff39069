"""What a basis of a linear level says of the data as they are stored: signs of multipliers, and whether it is feasible.

Asked where some multiplier is within rounding of zero. A basis with the right signs and a feasible point, for certain,
proves that what has a multiplier is at its end at all solutions, however small the multiplier is.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Vector
from ...numerics.basis import Basis
from ...numerics.extended import Ext, double, ext
from ...numerics.rows import Rows
from ...numerics.settled import settled
from ...numerics.vanishing import Places, System
from .linear_level import Costs


def multipliers(
    A: sp.csr_array, basis: Basis, costs: Costs, y: Ext, z: Ext, rows: NDArray[np.bool_], columns: NDArray[np.bool_]
) -> tuple[Ext, Ext, bool] | None:
    """y and z with those of these rows and columns settled, and whether all their signs are certain."""
    inside, tight, close = basis.inside, basis.tight, np.flatnonzero(columns)
    own, (given, factors) = sp.csr_array(A[tight].T), _in_doubles(costs)
    system = System(own[inside], given[inside], factors, -own[close], given[close])
    places = Places(rows[tight], np.ones(close.size, dtype=bool))
    found = settled(system, y[tight], z[close], places, basis.solve_transposed)
    if found is None:
        return None
    y, z = y.copy(), z.copy()
    y[tight], z[close] = found.u, found.values
    return y, z, found.certain


def _in_doubles(costs: Costs) -> tuple[sp.csr_array, Vector]:
    """The costs as the product of a matrix and a vector of doubles: a factor may take two of them."""
    factors = ext(np.array([factor for _, factor in costs], dtype=np.longdouble))
    high = double(factors)
    low = double(factors - high)
    rows = np.array([c for c, _ in costs], dtype=np.float64)
    return sp.csr_array(np.vstack([rows, rows[low != 0]]).T), np.append(high, low[low != 0])


def is_feasible(rows: Rows, basis: Basis, x: Ext, activity: Ext) -> bool:
    """Whether the point of the basis misses no row and no bound, for certain; its other columns and rows are at ends.

    ``x`` and ``activity`` tell which.
    """
    inside, tight = basis.inside, basis.tight
    at = double(x)
    at[inside] = 0
    sides = double(activity)
    ends = np.where(np.abs(sides - rows.low) <= np.abs(rows.high - sides), rows.low, rows.high)
    outside = np.ones(at.size, dtype=bool)
    outside[inside] = False
    at_ends = (at == rows.lower) | (at == rows.upper)
    if not (np.isfinite(ends[tight]).all() and at_ends[outside].all()):
        return False
    limits = [rows.low, rows.high, rows.lower[inside], rows.upper[inside]]
    known = np.concatenate([at, ends, *limits])
    system = _of_the_point(rows.A, basis, outside, np.where(np.isfinite(known), known, 0.0))
    # all that is known of the point to the last digit
    nothing, doubt = ext(np.zeros(system.out.shape[0])), (np.ones(size, dtype=bool) for size in system.out.shape[::-1])
    found = settled(system, x[inside], nothing, Places(*doubt), basis.solve)
    if found is None or not found.certain:
        return False
    return bool((found.values >= 0)[np.isfinite(np.concatenate(limits))].all())


def _of_the_point(A: sp.csr_array, basis: Basis, outside: NDArray[np.bool_], known: Vector) -> System:
    """The basic columns by the ends of the tight rows; what the point is away from the limits of rows and columns.

    Known are the other columns, the ends of the rows, and the limits.
    """
    inside, tight = basis.inside, basis.tight
    rest = sp.csr_array(A @ sp.diags_array(outside.astype(np.float64)))
    rows, columns = sp.eye_array(A.shape[0], format="csr"), sp.eye_array(inside.size, format="csr")
    of_known = sp.csr_array(
        sp.block_array([
            [-rest[tight], rows[tight], None, None, None, None],
            [rest, None, -rows, None, None, None],
            [-rest, None, None, rows, None, None],
            [None, None, None, None, -columns, None],
            [None, None, None, None, None, columns],
        ])
    )  # fmt: skip
    basic = sp.csr_array(A[:, inside])
    out = sp.csr_array(sp.vstack([basic, -basic, columns, -columns]))
    return System(sp.csr_array(basic[tight]), of_known[: tight.size], known, out, of_known[tight.size :])
