"""Spectrahedra, and the nuclear ball as the image of one.

The matrices of shape m x n with nuclear norm at most R are the upper right blocks of the positive semidefinite matrices
of order m + n and trace 2R. So both sets are images of {Y = tau L L' : |L|_F = 1}: a slope c has a symmetric matrix C
with <c, x(Y)> = <C, Y>, and all that follows is about Y.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

from ...arrays import UNIT_ROUNDOFF, Matrix, Vector, length
from ...numerics.clarabel import Cones
from ...numerics.extended import UNIT, Ext, double, ext, total
from .description import APART, EQUAL, Chart, Conic, Face, Growth, Round
from .inside import Inside

AROUND = 2
"""So many ranks more and fewer than the point seems to have are tried."""

SPECTRAL_UNITS = 16
"""Times the order, in units of roundoff: what an eigenvalue or singular value may be off by, relative to the norm."""


class Spectral(Round):
    """The images of the positive semidefinite matrices of some order with trace tau."""

    def __init__(self, order: int, tau: float) -> None:
        self.order, self.tau, self.size = order, tau, tau
        self.work = float(order * (order + 1)) ** 3 / 3

    def read(self, Y: Ext | Matrix) -> Ext | Matrix:
        """x(Y), flat; further axes stay."""
        raise NotImplementedError

    def write(self, c: Ext | Matrix) -> Ext | Matrix:
        """The symmetric matrix of a slope; of several, which are rows, one for each."""
        raise NotImplementedError

    def root(self, x: Vector, rank: int) -> Matrix:
        """L with x = x(L L'), up to the smaller eigenvalues of x."""
        raise NotImplementedError

    def spectrum(self, x: Vector) -> Vector:
        """The eigenvalues that count for the rank, the largest first."""
        raise NotImplementedError

    def conic(self) -> Conic:
        N = self.order
        rows, columns = np.triu_indices(N)
        order = np.lexsort((rows, columns))  # Clarabel has the upper triangle column by column
        rows, columns = rows[order], columns[order]
        count = rows.size
        scale = np.where(rows == columns, 1.0, np.sqrt(2.0))
        entry = np.empty((N, N), dtype=np.intp)
        entry[rows, columns] = entry[columns, rows] = np.arange(count)
        places = np.ravel(self.read(entry)).astype(np.intp)
        M = sp.csc_array((np.ones(places.size), (np.arange(places.size), places)), shape=(places.size, count))
        trace = sp.csc_array((rows == columns).astype(float)[None, :])
        A = sp.vstack([trace, -sp.diags_array(scale)], format="csc")
        cones: Cones = [("zero", 1), ("semidefinite", N)]
        return Conic(M, np.zeros(places.size), A, np.append(self.tau, np.zeros(count)), cones)

    def charts(self, x: Vector, c: Vector) -> Iterator[Chart]:
        values = self.spectrum(x)
        slack = np.linalg.eigvalsh(np.asarray(self.write(c)))[: values.size]
        slack = slack - slack[0]
        spread = float(slack[-1]) or 1.0
        guess = max(1, int((values / max(float(values[0]), 1e-300) > slack / spread).sum()))
        near = range(max(1, guess - AROUND), min(values.size, guess + AROUND) + 1)
        for rank in sorted(near, key=lambda k: abs(k - guess)):
            if values[rank - 1] > 0:
                yield SpectralChart(self, x, rank)

    def linear_face(self, c: Vector) -> Face | None:
        from ..spectral import Spectrahedron

        values, vectors = np.linalg.eigh(np.asarray(self.write(c)))
        scale = float(np.abs(values).max())
        rank = int((values - values[0] <= EQUAL * scale).sum())
        gap = float(values[rank] - values[0]) if rank < values.size else np.inf
        if rank == 1 or gap < APART * scale:
            return None
        V = vectors[:, :rank]
        pairs = V[:, None, :, None] * V[None, :, None, :]
        N = np.asarray(self.read(pairs.reshape(self.order, self.order, rank * rank)))
        off = SPECTRAL_UNITS * self.order * UNIT_ROUNDOFF * (1 + scale / gap) * 4 * self.tau
        return Face(N, Spectrahedron(rank, self.tau), off, f"{rank} equal eigenvalues")


class PSDRound(Spectral):
    """The spectrahedron itself."""

    def __init__(self, order: int, trace: float) -> None:
        super().__init__(order, trace)
        self.middle = (trace / order * np.eye(order)).ravel()
        rows, columns = np.triu_indices(order, 1)
        pairs = np.zeros((order, order, rows.size))
        pairs[rows, columns, np.arange(rows.size)] = pairs[columns, rows, np.arange(rows.size)] = np.sqrt(0.5)
        centred = np.linalg.svd(np.eye(order) - 1 / order)[0][:, : order - 1]  # differences of diagonals sum to zero
        diagonal = np.zeros((order, order, order - 1))
        diagonal[np.arange(order), np.arange(order)] = centred
        self.hull = np.concatenate([pairs, diagonal], axis=2).reshape(order * order, -1)

    def read(self, Y: Ext | Matrix) -> Ext | Matrix:
        return Y.reshape(-1, *Y.shape[2:])

    def write(self, c: Ext | Matrix) -> Ext | Matrix:
        C = c.reshape(*c.shape[:-1], self.order, self.order)
        return (C + C.swapaxes(-1, -2)) / 2

    def spectrum(self, x: Vector) -> Vector:
        return np.maximum(np.linalg.eigvalsh(np.asarray(self.write(x)))[::-1], 0.0)

    def root(self, x: Vector, rank: int) -> Matrix:
        values, vectors = np.linalg.eigh(np.asarray(self.write(x)))
        return vectors[:, -rank:] * np.sqrt(np.maximum(values[-rank:], 0.0))

    def inside(self, x: Vector) -> Chart:
        return SpectralChart(self, x, self.order)

    def room(self, x: Vector) -> float:
        """A symmetric matrix of trace zero and Frobenius norm rho has no eigenvalue below -rho."""
        least = float(np.linalg.eigvalsh(np.asarray(self.write(x)))[0])
        return max(least - SPECTRAL_UNITS * self.order * UNIT_ROUNDOFF * length(x), 0.0)


class NuclearRound(Spectral):
    """The nuclear ball, by its dilation."""

    def __init__(self, shape: tuple[int, int], radius: float, outside: Callable[[Vector], float]) -> None:
        super().__init__(sum(shape), 2 * radius)
        self.shape, self._outside = shape, outside
        self.middle = np.zeros(shape[0] * shape[1])

    def read(self, Y: Ext | Matrix) -> Ext | Matrix:
        return Y[: self.shape[0], self.shape[0] :].reshape(-1, *Y.shape[2:])

    def write(self, c: Ext | Matrix) -> Ext | Matrix:
        m = self.shape[0]
        C = np.zeros((*c.shape[:-1], self.order, self.order), dtype=c.dtype)
        C[..., :m, m:] = c.reshape(*c.shape[:-1], *self.shape) / 2
        C[..., m:, :m] = C[..., :m, m:].swapaxes(-1, -2)
        return C

    def spectrum(self, x: Vector) -> Vector:
        return np.asarray(np.linalg.svd(x.reshape(self.shape), compute_uv=False))

    def root(self, x: Vector, rank: int) -> Matrix:
        left, values, right = np.linalg.svd(x.reshape(self.shape), full_matrices=False)
        return np.vstack([left[:, :rank], right[:rank].T]) * np.sqrt(values[:rank])

    def inside(self, x: Vector) -> Chart:
        return Inside(x, self._outside)

    def room(self, x: Vector) -> float:
        values = self.spectrum(x)
        norm = float(values.sum()) + SPECTRAL_UNITS * self.order * values.size * UNIT_ROUNDOFF * length(x)
        return float(max(self.tau / 2 - norm, 0.0) / np.sqrt(values.size) * (1 - 1e-14))


class SpectralChart(Chart):
    """Y = tau L L' with |L|_F = 1, L of a given rank. Rotations of L leave Y as it is.

    A minimiser has C L = nu L; Newton's method is told lam = -nu.
    """

    def __init__(self, spectral: Spectral, x: Vector, rank: int) -> None:
        self.spectral, self.rank = spectral, rank
        L = ext(spectral.root(x, rank))
        self.start = (L / np.sqrt(total((L * L).ravel()))).ravel()

    def _L(self, u: Ext) -> Ext:
        return u.reshape(self.spectral.order, self.rank)

    def point(self, u: Ext) -> Ext:
        L = self._L(u)
        return np.longdouble(self.spectral.tau) * np.asarray(self.spectral.read(L @ L.T))

    def pull(self, u: Ext, c: Ext) -> Ext:
        return np.asarray((self.spectral.write(c) @ self._L(u)).ravel())

    def pulled(self, u: Ext, M: Matrix) -> Matrix:
        L = double(self._L(u))
        return np.asarray(self.spectral.write(M.T) @ L).reshape(M.shape[1], u.size).T

    def idle(self, u: Ext) -> Matrix:
        """L S for the antisymmetric S: rotations of the columns."""
        L, k = double(self._L(u)), self.rank
        first, second = np.triu_indices(k, 1)
        turned = np.zeros((self.spectral.order, k, first.size))
        index = np.arange(first.size)
        turned[:, second, index] = L[:, first]
        turned[:, first, index] = -L[:, second]
        return turned.reshape(u.size, first.size)

    def normal(self, u: Ext) -> Ext:
        return u

    def gauge(self, u: Ext) -> np.longdouble:
        return total(u * u)

    def gauge_slope(self, u: Ext) -> Vector:
        return 2 * double(u)

    def jacobian(self, u: Ext) -> Matrix:
        L, N, k = double(self._L(u)), self.spectral.order, self.rank
        tensor = np.zeros((N, N, N, k))  # d(L L')_ij / dL_ab = [i = a] L_jb + [j = a] L_ib
        index = np.arange(N)
        tensor[index, :, index, :] += L[None, :, :]
        tensor[:, index, index, :] += L[:, None, :]
        return self.spectral.tau * np.asarray(self.spectral.read(tensor.reshape(N, N, N * k)))

    def bend(self, u: Ext, c: Ext, lam: float) -> Matrix:
        C = double(np.asarray(self.spectral.write(c)))
        return np.kron(C + lam * np.eye(self.spectral.order), np.eye(self.rank))

    def growth(self, u: Ext, c: Ext, c_error: float) -> Growth | None:
        """With P the projector on the range of L and n = nu P + (1 - P) C (1 - P): the gap is at least d tr(Y22), where
        d is how far the eigenvalues of C off the range are above nu, and |Y12|^2 <= tau tr(Y22)."""
        N, tau, L = self.spectral.order, self.spectral.tau, self._L(u)
        C = np.asarray(self.spectral.write(c))
        size = length(double(C).ravel())
        units = (N + 16) * UNIT
        gauge = float(self.gauge(u))
        CL = C @ L
        nu = total((L * CL).ravel()) / self.gauge(u)
        left, values, _ = np.linalg.svd(double(L), full_matrices=True)
        least = float(values[-1]) - SPECTRAL_UNITS * N * UNIT_ROUNDOFF
        if not (least > 0 and 0.5 < gauge < 2 and np.isfinite(size)):
            return None
        rounding = (
            SPECTRAL_UNITS * N * UNIT_ROUNDOFF * size * (2 + 1 / least)
        )  # of C off the range, which is off itself
        W = left[:, self.rank :]
        d = np.inf
        if W.shape[1]:
            d = float(np.linalg.eigvalsh(W.T @ double(C) @ W)[0] - float(nu)) - rounding - 2 * c_error
        if not d > 0:
            return None
        rho = length(double(CL - nu * L).ravel()) + units * 3 * size
        residual = 2 * rho / least * (1 + 1e-14) + 2 * c_error
        off = abs(float(self.gauge(u) - 1)) + units * self.rank
        V, k = left[:, : self.rank], self.rank
        basis = [(np.outer(V[:, i], V[:, j]) + np.outer(V[:, j], V[:, i])) / (2.0 if i == j else np.sqrt(2.0))
                 for i in range(k) for j in range(i, k)]  # fmt: skip
        face = np.array([np.ravel(self.spectral.read(Y)) for Y in basis]).T
        trace = np.array([1.0 if i == j else 0.0 for i in range(k) for j in range(i, k)])
        return Growth(
            residual,
            2 * off * tau,
            root=float(np.sqrt(2 * tau / d)),
            linear=1 / d,
            face=face,
            face_error=8 * SPECTRAL_UNITS * N * UNIT_ROUNDOFF / least,
            trace=trace[None, :],
            tilt=6 / d if np.isfinite(d) else 0.0,
            steady=0.25 * d,
        )

    def outside(self, u: Ext) -> float:
        return float(2 * self.spectral.tau * (abs(float(self.gauge(u) - 1)) + (u.size + 16) * UNIT))
