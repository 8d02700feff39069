"""A matrix of full rank by one Cholesky factorisation of its Gram matrix: faster than any other, where it will do.

The factor is that of K - s, K = AA' or A'A, whichever is the smaller: that it exists proves that no singular value of A
is below sqrt(s), but for rounding (``numerics/definite.py``), and it serves as K's own in corrections by residuals in
extended precision, each of which leaves s / (lambda - s) of an error along an eigenvector with the eigenvalue lambda.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays import Matrix, Vector
from ...numerics.deadline import affordable
from ...numerics.definite import FASTER, fits_in_memory, gram_matrix, gram_work, shifted_factor
from ...numerics.extended import Ext, ExtMatrix, double, ext
from ..interrupt import check

CORRECTIONS = 12
SHIFT = 2.0**-20
"""The least square of a singular value that will do, beside the smallest square of a row of the shorter side."""


@dataclass(frozen=True)
class Gram:
    """The factor, and a bound from below on the least singular value."""

    L: Matrix
    rank: int
    least: float
    wide: bool  # whether it is that of AA'
    by_prime: ClassVar[bool] = False

    @classmethod
    def of(cls, A: Matrix, entries: int) -> Gram | None:
        """The factorisation; None where it would not prove a full rank, or take too long."""
        m, n = A.shape
        short = min(m, n)
        if not fits_in_memory(short, short) or not affordable(gram_work(m, n, float(entries)) / FASTER):
            return None
        K, lost = gram_matrix(A)
        shift = SHIFT * float(K.diagonal().min())
        if not shift > 4 * lost:
            return None
        L, proved = shifted_factor(K, shift, overwrite=True)
        if not proved > lost:
            return None
        return cls(L, short, float(np.sqrt((proved - lost) * (1 - 1e-12))), m <= n)

    def rough(self, A: ExtMatrix, b: Vector, center: Vector) -> Vector:
        """The solution nearest to the center, in double precision."""
        short = b - np.asarray(A.A @ center)
        if self.wide:
            return np.asarray(center + A.A.T @ self._solve(short))
        return np.asarray(center + self._solve(np.asarray(A.A.T @ short)))

    def solved(self, A: ExtMatrix, b: Vector, center: Vector) -> tuple[Ext, Ext]:
        """The solution x, and w with x near center + A'w, each by its residuals, as long as corrections get smaller."""
        return self._of_least_norm(A, b, center) if self.wide else self._single(A, b, center)

    def _of_least_norm(self, A: ExtMatrix, b: Vector, center: Vector) -> tuple[Ext, Ext]:
        """AA'w = b - A center, and x = center + A'w."""
        w, x, last = ext(np.zeros(A.shape[0])), ext(center), np.inf
        for _ in range(CORRECTIONS):
            check()
            change = self._solve(double(b - A.times(x)))
            size = float(np.linalg.norm(change))
            if size > last / 2:
                break
            w, last = w + change, size
            x = center + A.transpose_times(w)
        return x, w

    def _single(self, A: ExtMatrix, b: Vector, center: Vector) -> tuple[Ext, Ext]:
        """A'r = 0 and r + Ax = b; then w = A v with A'A v = x - center."""
        x, r, last = ext(center), ext(np.zeros(A.shape[0])), np.inf
        for _ in range(CORRECTIONS):
            check()
            short, slope = double(b - r - A.times(x)), double(A.transpose_times(r))
            change = self._solve(np.asarray(A.A.T @ short) + slope)
            size = float(np.linalg.norm(change))
            if size > last / 2:
                break
            x, r, last = x + change, r + (short - np.asarray(A.A @ change)), size
        w, last = ext(np.zeros(A.shape[0])), np.inf
        for _ in range(CORRECTIONS):
            check()
            change = np.asarray(A.A @ self._solve(double(x - center - A.transpose_times(w))))
            size = float(np.linalg.norm(change))
            if size > last / 2:
                break
            w, last = w + change, size
        return x, w

    def _solve(self, v: Vector) -> Vector:
        """(K - s)^-1 v."""
        from scipy.linalg.lapack import dpotrs

        found: Any = dpotrs(self.L, v, lower=1)[0]
        return np.asarray(found)
