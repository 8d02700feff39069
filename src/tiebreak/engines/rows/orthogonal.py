"""A matrix as U T Z' with orthonormal columns of U and Z and a triangular T: least-squares solutions of any rank.

Made by Householder's method with column pivots; solutions are corrected by their residuals in extended precision
(Bjorck 1967).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Matrix, Vector
from ...numerics.extended import Ext, ExtMatrix, double, ext
from ...numerics.rank import exact_rank, resolved
from ..interrupt import check

CORRECTIONS = 6
TALL = 2
"""From so many times more rows than columns on, the pivots are looked for in the triangular factor alone."""


@dataclass(frozen=True)
class Orthogonal:
    """U T Z', and a bound from below on the least nonzero singular value."""

    U: Matrix
    T: Matrix
    Z: Matrix
    least: float
    by_prime: bool  # whether the rank is the one modulo a prime

    @property
    def rank(self) -> int:
        """That of the matrix."""
        return len(self.T)

    @classmethod
    def of(cls, A: Matrix) -> Orthogonal | None:
        """The decomposition; None where the rank of A hangs on rounding."""
        from scipy.linalg import qr

        check()
        m, n = A.shape
        left, core = np.linalg.qr(A) if m >= TALL * n else (None, A)
        Q, R, order = qr(core, mode="economic", pivoting=True, check_finite=False)
        size = np.abs(np.diag(R))
        rank = int(np.sum(size > 4 * resolved(size, A.shape)))
        if rank == 0:
            return None
        Zt, Tt = np.linalg.qr(R[:rank].T)
        Z = np.empty_like(Zt)
        Z[order] = Zt
        values = np.linalg.svd(Tt, compute_uv=False)
        lost = (8 if left is None else 16) * resolved(values, A.shape)  # one decomposition, or two
        least = float(values[-1]) - lost - float(np.linalg.norm(R[rank:]))
        if not least > 0:
            return None
        full = rank == min(m, n)
        if not full and exact_rank(A) != rank:
            return None
        U = Q[:, :rank] if left is None else left @ Q[:, :rank]
        return cls(U, np.asfortranarray(Tt.T), Z, least, not full)

    def rough(self, A: ExtMatrix, b: Vector, center: Vector) -> Vector:
        """The solution nearest to the center, in double precision."""
        short = b - np.asarray(A.A @ center)
        return np.asarray(center + self.Z @ self._solve(self.U.T @ short))

    def solved(self, A: ExtMatrix, b: Vector, center: Vector) -> tuple[Ext, Ext]:
        """The solution x, and w with x near center + A'w, each by its residuals, as long as corrections get smaller."""
        U, Z = self.U, self.Z
        x, r = ext(center), ext(np.zeros(A.shape[0]))  # r is the residual b - Ax
        last = np.inf
        for _ in range(CORRECTIONS):
            check()
            short, slope = double(b - r - A.times(x)), double(-A.transpose_times(r))
            inside = U.T @ short - self._solve_transposed(Z.T @ slope)
            change = Z @ self._solve(inside)
            size = float(np.linalg.norm(change))
            if size > last / 2:
                break
            x, r, last = x + change, r + short - U @ inside, size
        w, last = ext(np.zeros(A.shape[0])), np.inf
        for _ in range(CORRECTIONS):
            check()
            change = U @ self._solve_transposed(Z.T @ double(x - center - A.transpose_times(w)))
            size = float(np.linalg.norm(change))
            if size > last / 2:
                break
            w, last = w + change, size
        return x, w

    def _solve(self, v: Vector) -> Vector:
        """T^-1 v."""
        from scipy.linalg.lapack import dtrtrs

        found: Any = dtrtrs(self.T, v, lower=1)[0]
        return np.asarray(found)

    def _solve_transposed(self, v: Vector) -> Vector:
        """T^-T v."""
        from scipy.linalg.lapack import dtrtrs

        found: Any = dtrtrs(self.T, v, lower=1, trans=1)[0]
        return np.asarray(found)
