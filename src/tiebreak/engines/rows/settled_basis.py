"""What a basis of a linear level says of the data as they are stored: signs of multipliers, and whether it is feasible.

Asked where some multiplier is within rounding of zero. A basis with the right signs and a feasible point, for certain,
proves that what has a multiplier is at its end at all solutions, however small the multiplier is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.basis import Basis
from ...numerics.extended import Ext, double, ext
from ...numerics.rows import Rows
from ...numerics.settled import settled
from ...numerics.vanishing import Places, System


class Costs(NamedTuple):
    """The costs factors @ rows, exactly: sums of doubles times doubles."""

    rows: Matrix
    factors: Vector

    @classmethod
    def of(cls, slopes: list[tuple[Vector, np.longdouble]], dim: int) -> Costs:
        """From vectors and their factors; a factor may take two doubles."""
        factors = ext(np.array([scale for _, scale in slopes], dtype=np.longdouble))
        high = double(factors)
        low = double(factors - high)
        rows = np.array([c for c, _ in slopes], dtype=np.float64).reshape(-1, dim)
        return cls(np.vstack([rows, rows[low != 0]]), np.append(high, low[low != 0]))


class Signed(NamedTuple):
    """Multipliers of rows and columns, zero where they are zero, and whether all signs are certain."""

    y: Ext
    z: Ext
    certain: bool


def multipliers(
    A: sp.csr_array, basis: Basis, costs: Costs, at: Signed, rows: NDArray[np.bool_], columns: NDArray[np.bool_]
) -> Signed | None:
    """Those of the basis ``at`` which it was computed, with those in doubt settled."""
    inside, tight, close = basis.inside, basis.tight, np.flatnonzero(columns)
    own, given = sp.csr_array(A[tight].T), sp.csr_array(costs.rows.T)
    system = System(own[inside], given[inside], costs.factors, -own[close], given[close])
    doubt = Places(rows[tight], np.ones(close.size, dtype=bool))
    found = settled(system, at.y[tight], at.z[close], doubt, basis.solve_transposed)
    if found is None:
        return None
    y, z = at.y.copy(), at.z.copy()
    y[tight], z[close] = found.u, found.values
    return Signed(y, z, found.certain)


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
