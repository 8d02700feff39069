"""The pseudo-inverse of a few rows, by library calls."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgeqrf, dorgqr, dpotrf, dtrtri, dtrtrs

from ...arrays import Vector, length
from ...kernels.vertex_prices import norms

Array = NDArray[np.float64]

WELL = 1e3  # a condition below this is good


def pseudo_inverse(rows: Array) -> tuple[Array, Vector]:
    """P with P rows' = I, in the span of the rows; the part of each row outside the span of those before it.

    Few long rows through the Cholesky factor of their products, several times as fast as an orthogonal one, where the
    error it makes, the square of the condition times a unit of roundoff, is small; those who use P refine what they get
    by its residual.
    """
    r, n = rows.shape
    if r == 1:
        return rows / (rows[0] @ rows[0]), np.ones(1)
    if n >= 2 * r:
        squares = rows @ rows.T
        L, failed = dpotrf(squares, lower=1, clean=1)
        if not failed:
            inverse = dtrtri(L, lower=1)[0]
            if length(L) * length(inverse) <= WELL:
                return (inverse.T @ inverse) @ rows, L.diagonal() / np.sqrt(squares.diagonal())
    factor, tau, _, _ = dgeqrf(rows.T)
    P = dtrtrs(factor[:r], dorgqr(factor, tau)[0].T)[0]
    return np.ascontiguousarray(P), np.abs(factor.diagonal()) / norms(rows)
