"""The master problem over the vertices in use: minimise h(F'w) + <p, w> over weights w >= 0 with E'w = e.

Basis and superbasics, as in reduced-gradient codes. The basic rows of E are independent; every other row is a mix C
of them, so the superbasic weights z move freely and the basic ones follow by -C'z. Kept up to date: the pseudo-inverse
P of the basic rows, C, and K = F_N - C F_B, with which the reduced Hessian is K h'' K'. A change of one vertex is a
rank-one update of each; all are computed afresh every ``REFRESH`` changes, and every use of P is refined by its
residual, so that nothing drifts.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Vector
from .vertices import Vertices

REFRESH = 50
RIDGE = 1e-15, 1e-9  # of the largest curvature and slope: where f is flat, Newton's direction is then the flat one
TINY = float(np.finfo(np.float64).tiny)


class Master:
    """The weights of ``vertices``, their basis, and the steps that change them."""

    def __init__(self, vertices: Vertices, rank_tol: float) -> None:
        from scipy.linalg.lapack import dpotrf, dpotrs

        self._factor, self._solve = dpotrf, dpotrs
        self.v = vertices
        self.rank_tol = rank_tol
        self.least_kept, self.most_dropped = np.inf, 0.0  # how close the rank decisions were
        self.changes = 0
        self.e = np.zeros(vertices.E.shape[1])
        self.e[0] = vertices.s0
        self._allocate(max(64, 2 * vertices.count))
        self._choose_basis()

    # -- bookkeeping -------------------------------------------------------------------------------------------

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
        self.H = np.zeros((capacity, capacity), order="F")

    def _choose_basis(self) -> None:
        """Split the vertices in use into independent ones, the heaviest first, and the rest."""
        v = self.v
        self.r = self.q = 0
        for slot in np.argsort(-v.w[: v.count], kind="stable"):
            self._insert(int(slot))
        self.refresh()

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
        size, norm = float(np.linalg.norm(rest)), float(np.linalg.norm(row))
        if r < self.P.shape[0] and size > self.rank_tol * norm:
            self.least_kept = min(self.least_kept, size / norm)
            new = rest / size**2
            P -= np.outer(c, new)
            self.P[r], self.EB[r], self.FB[r] = new, row, v.F[slot]
            self.C[:q, r] = 0.0
            self.basic[r], self.place[slot] = slot, r
            self.r += 1
            return
        if r < self.P.shape[0]:
            self.most_dropped = max(self.most_dropped, size / norm)
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
        self.EB[j], self.FB[j] = self.v.E[slot], self.v.F[slot]
        self.basic[j], self.place[slot] = slot, j
        self._drop(t)

    def refresh(self) -> None:
        """Compute P, C and K afresh, and bring E'w back to e."""
        from scipy.linalg import solve_triangular

        v, r, q = self.v, self.r, self.q
        Q, R = np.linalg.qr(self.EB[:r].T)
        self.P[:r] = solve_triangular(R, Q.T)
        rows = v.E[self.free[:q]]
        C = rows @ self.P[:r].T
        C += (rows - C @ self.EB[:r]) @ self.P[:r].T
        self.C[:q, :r] = C
        self.K[:q] = v.F[self.free[:q]] - C @ self.FB[:r]
        self.H[:q, :q] = self.K[:q] @ self.K[:q].T
        for _ in range(2):
            self._correct()

    def _correct(self) -> None:
        v, basic = self.v, self.basic[: self.r]
        v.w[basic] = np.maximum(v.w[basic] + self.P[: self.r] @ (self.e - v.w[: v.count] @ v.E[: v.count]), 0.0)

    def residual(self) -> float:
        """||E'w - e|| / s0."""
        v = self.v
        return float(np.linalg.norm(self.e - v.w[: v.count] @ v.E[: v.count])) / v.s0

    # -- the steps ---------------------------------------------------------------------------------------------

    def evaluate(self) -> Vector | None:
        """Value, gradient with respect to the weights (afresh, never updated), and h''."""
        v, k = self.v, self.v.count
        w, F = v.w[:k], v.F[:k]
        self.image = w @ F
        self.value, self.slope, bend = v.level.at(self.image)
        self.bend = 1.0 if bend is None else float(np.max(bend))
        self.value += float(w @ v.p[:k])
        self.gradient = F @ self.slope + v.p[:k]
        return bend

    def descend(self, full_steps: int, enough: float) -> None:
        """Newton steps until one promises less than ``enough``, or nothing more.

        Where h is quadratic, ``full_steps`` of them that meet no bound are all it takes.
        """
        taken, last = 0, np.inf
        for _ in range(100 + 4 * self.v.count):
            bend = self.evaluate()
            q, r, v = self.q, self.r, self.v
            if q == 0:
                return
            free, basic = self.free[:q], self.basic[:r]
            reduced = self.gradient[free] - self.C[:q, :r] @ self.gradient[basic]
            dz = self._newton(reduced, bend)
            promise = -float(reduced @ dz)
            stalled = bend is None or (promise > 0.25 * last and promise <= 1e-8 * abs(self.value))
            if taken and (promise <= enough or (taken >= full_steps and stalled)):
                return
            step = np.zeros(v.count)
            step[free] = dz
            step[basic] = -(dz @ self.C[:q, :r])
            length, slot = self._ratio(step)
            if bend is not None:
                length, slot = self._line_search(step, length, slot, promise)
            w = v.w[: v.count]
            w += length * step
            np.maximum(w, 0.0, out=w)
            if slot < 0:
                taken, last = taken + 1, promise
            else:
                w[slot] = 0.0
                self._leave(slot)

    def _newton(self, reduced: Vector, bend: Vector | None) -> Vector:
        q = self.q
        H = self.H[:q, :q] if bend is None else (self.K[:q] * bend) @ self.K[:q].T
        diagonal = np.einsum("ii->i", H)
        ridge = RIDGE[0] * q * float(np.max(diagonal)) + RIDGE[1] * float(np.max(np.abs(reduced))) + TINY
        while True:
            trial = np.array(H, order="F")
            np.einsum("ii->i", trial)[...] += ridge
            factor, info = self._factor(trial, lower=1, overwrite_a=1)
            if info == 0:
                return -np.asarray(self._solve(factor, reduced, lower=1)[0])
            ridge *= 100

    def _ratio(self, step: Vector) -> tuple[float, int]:
        """How far the step may go (at most 1), and which vertex stops it: of several, the steepest."""
        w = self.v.w[: self.v.count]
        largest = float(np.max(np.abs(step)))
        stops = (w + step < 0) & (step < -1e-13 * largest)
        if not stops.any():
            return 1.0, -1
        slots = np.flatnonzero(stops)
        ratios = w[slots] / -step[slots]
        least = float(ratios.min())
        tied = slots[ratios <= least * (1 + 1e-9) + 1e-15 / largest]
        return least, int(tied[np.argmin(step[tied])])

    def _line_search(self, step: Vector, length: float, slot: int, promise: float) -> tuple[float, int]:
        """Armijo's rule for an h that is not quadratic; the bound counts as met only at full length."""
        v, k = self.v, self.v.count
        along, slant = step @ v.F[:k], float(step @ v.p[:k])
        base = v.level.at(self.image)[0]
        noise = 1e-15 * (abs(self.value) + abs(base))
        start = length
        while length > 1e-12 * start:
            rise = v.level.at(self.image + length * along)[0] - base + length * slant
            if rise <= -1e-4 * length * promise + noise:
                break
            length *= 0.5
        return length, slot if length == start else -1

    def multiplier(self) -> Vector:
        """y with E_B y = -gradient_B: the prices of the rows of E, of least norm."""
        target = -self.gradient[self.basic[: self.r]]
        P, EB = self.P[: self.r], self.EB[: self.r]
        y = target @ P
        y += (target - EB @ y) @ P
        return y
