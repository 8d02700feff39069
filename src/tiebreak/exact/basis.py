"""The basis of the vertices in use, and what follows from it, kept up to date as vertices come and go.

The basic rows of E are independent; every other row is a mix C of them, so the superbasic weights z move freely and the
basic ones follow by -C'z. Kept: the pseudo-inverse P of the basic rows, C, K = F_N - C F_B and H = K K', the reduced
Hessian of 1/2 ||F'w||^2. A change of one vertex is a rank-one update of each; all are computed afresh every ``REFRESH``
changes, and every use of P is refined by its residual, so that nothing drifts.
"""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Vector
from .vertices import Vertices

REFRESH = 50


class Basis:
    """``vertices``, split into r basic and q superbasic ones.

    Parameters
    ----------
    vertices : Vertices
        With weights that satisfy E'w = e = [s0, 0, ...].
    rank_tol : float
        A row of E counts as dependent if less than this part of it lies outside the span of the basic ones.
    """

    def __init__(self, vertices: Vertices, rank_tol: float) -> None:
        self.v = vertices
        self.rank_tol = rank_tol
        self.changes = 0
        self.e = np.zeros(vertices.E.shape[1])
        self.e[0] = vertices.s0
        self._allocate(max(64, 2 * vertices.count))
        self._choose_basis()

    def _allocate(self, capacity: int) -> None:
        """Buffers for ``capacity`` vertices; r basic and q superbasic ones are in use."""
        rank = min(capacity, self.v.E.shape[1])
        rows, columns = self.v.E.shape[1], self.v.F.shape[1]
        self.capacity = capacity
        self.r = self.q = 0
        self.basic = np.zeros(rank, dtype=np.intp)
        self.free = np.zeros(capacity, dtype=np.intp)
        self.place = np.zeros(capacity, dtype=np.intp)  # of each slot: its basic position, or -1 - superbasic position
        self.P, self.EB, self.FB = np.zeros((rank, rows)), np.zeros((rank, rows)), np.zeros((rank, columns))
        self.C, self.K = np.zeros((capacity, rank)), np.zeros((capacity, columns))
        self.H, self.L = np.zeros((2, capacity, capacity)).transpose(0, 2, 1)
        self.factored = 0  # so many leading rows of L are a Cholesky factor of H

    def _choose_basis(self) -> None:
        """Split the vertices in use into independent ones, the heaviest first, and the rest."""
        v = self.v
        self.r = self.q = 0
        order = np.argsort(-v.w[: v.count], kind="stable")
        if not self._all_basic(order):
            for slot in order:
                self._insert(int(slot))
            self.refresh()

    def _all_basic(self, slots: np.ndarray) -> bool:
        """Make all these vertices basic at once, if their rows are independent."""
        r, rows = slots.size, self.v.E[slots]
        if r > self.P.shape[0]:
            return False
        Q, R = np.linalg.qr(rows.T)
        if np.any(np.abs(np.diagonal(R)) <= self.rank_tol * np.linalg.norm(rows, axis=1)):
            return False
        self.r, self.basic[:r], self.place[slots] = r, slots, np.arange(r)
        self.EB[:r], self.FB[:r] = rows, self.v.F[slots]
        self._invert(Q, R)
        return True

    def _insert(self, slot: int) -> None:
        """Make a vertex basic if its row of E is independent of the basic ones, else superbasic."""
        v, r, q = self.v, self.r, self.q
        row = v.E[slot]
        P, EB = self.P[:r], self.EB[:r]
        c = P @ row
        rest = row - c @ EB
        more = P @ rest
        c += more
        rest -= more @ EB
        size, norm = math.sqrt(rest @ rest), math.sqrt(row @ row)
        if r < self.P.shape[0] and size > self.rank_tol * norm:
            new = rest / size**2
            P -= np.outer(c, new)
            self.P[r], self.EB[r], self.FB[r] = new, row, v.F[slot]
            self.C[:q, r] = 0.0
            self.basic[r], self.place[slot] = slot, r
            self.r += 1
            return
        self.C[q, :r] = c
        self.K[q] = v.F[slot] - c @ self.FB[:r]
        self.H[: q + 1, q] = self.K[: q + 1] @ self.K[q]
        self.H[q, :q] = self.H[:q, q]
        self.free[q], self.place[slot] = slot, -1 - q
        self.q += 1

    def enter(self, s: Vector, key: bytes) -> None:
        """A new vertex with weight 0."""
        slot = self.v.add(s, key)
        if self.v.count > self.capacity:
            self._allocate(2 * self.capacity)
            self._choose_basis()
            return
        self._insert(slot)
        self._changed()

    def _changed(self) -> None:
        self.changes += 1
        if self.changes % REFRESH == 0:
            self.refresh()

    def _leave(self, slot: int) -> None:
        """Remove a vertex whose weight is 0; a basic one changes places with a superbasic one first."""
        position = int(self.place[slot])
        if position >= 0:
            self._pivot(position, int(np.argmax(np.abs(self.C[: self.q, position]))))
        else:
            self._drop(-1 - position)
        last = self.v.remove(slot)
        if slot != last:
            position = self.place[slot] = self.place[last]
            if position >= 0:
                self.basic[position] = slot
            else:
                self.free[-1 - position] = slot
        self._changed()

    def _drop(self, j: int) -> None:
        """Forget superbasic j; the last one takes its position."""
        last = self.q - 1
        if j != last:
            self.C[j], self.K[j] = self.C[last], self.K[last]
            self.H[j, :last] = self.H[last, :last]
            self.H[:last, j] = self.H[:last, last]
            self.H[j, j] = self.H[last, last]
            self.free[j] = self.free[last]
            self.place[self.free[j]] = -1 - j
        self.factored = min(self.factored, j)
        self.q = last

    def _pivot(self, j: int, t: int) -> None:
        """Superbasic t takes the basic position j, whose vertex leaves."""
        r, q = self.r, self.q
        C, K, H, P = self.C[:q, :r], self.K[:q], self.H[:q, :q], self.P[:r]
        mix, slot = C[t].copy(), int(self.free[t])
        share = C[:, j] / mix[j]
        share[t] = 0.0
        C -= np.outer(share, mix)
        C[:, j] = share
        K -= np.outer(share, K[t])
        cross = np.outer(share, H[t])
        H += np.outer(share * H[t, t], share) - cross - cross.T
        row = P[j] / mix[j]
        P -= np.outer(mix, row)
        P[j] = row
        self.factored = 0
        self.EB[j], self.FB[j] = self.v.E[slot], self.v.F[slot]
        self.basic[j], self.place[slot] = slot, j
        self._drop(t)

    def refresh(self) -> None:
        """Compute P, C and K afresh, and bring E'w back to e."""
        v, r, q = self.v, self.r, self.q
        self._invert(*np.linalg.qr(self.EB[:r].T))
        rows = v.E[self.free[:q]]
        C = rows @ self.P[:r].T
        C += (rows - C @ self.EB[:r]) @ self.P[:r].T
        self.C[:q, :r] = C
        self.K[:q] = v.F[self.free[:q]] - C @ self.FB[:r]
        self.H[:q, :q] = self.K[:q] @ self.K[:q].T
        self.factored = 0

    def _invert(self, Q: np.ndarray, R: np.ndarray) -> None:
        """P from the factors of the basic rows, and E'w brought back to e."""
        from scipy.linalg.lapack import dtrtrs

        v, P, basic = self.v, self.P[: self.r], self.basic[: self.r]
        P[:] = dtrtrs(R, Q.T)[0]
        for _ in range(2):
            v.w[basic] = np.maximum(v.w[basic] + P @ (self.e - v.w[: v.count] @ v.E[: v.count]), 0.0)

    def repair(self) -> None:
        """Bring E'w back to e with all vertices, each moved in proportion to its weight.

        Where the rank is in doubt, rows that count as dependent are not quite, and steps along them leave E'w = e.
        """
        v, k = self.v, self.v.count
        for _ in range(3):
            root = np.sqrt(v.w[:k])
            gap = self.e - v.w[:k] @ v.E[:k]
            v.w[:k] = np.maximum(v.w[:k] + root * np.linalg.lstsq((v.E[:k] * root[:, None]).T, gap, rcond=1e-14)[0], 0)

    def residual(self) -> float:
        """||E'w - e|| / s0."""
        v = self.v
        return float(np.linalg.norm(self.e - v.w[: v.count] @ v.E[: v.count])) / v.s0

    def prices(self, gradient: Vector) -> Vector:
        """y with E_B y = -gradient_B: the prices of the rows of E, of least norm."""
        target = -gradient[self.basic[: self.r]]
        P, EB = self.P[: self.r], self.EB[: self.r]
        y = target @ P
        y += (target - EB @ y) @ P
        return y
