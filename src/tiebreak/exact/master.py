"""The master problem over the vertices in use: minimise h(F'w) + <p, w> over weights w >= 0 with E'w = e.

A reduced-gradient method: Newton steps in the superbasic weights, a ratio test, and the vertex that stops it leaves.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Vector
from .basis import Basis
from .vertices import Vertices

RIDGE = 1e-15, 1e-9  # of the largest curvature and slope: where f is flat, Newton's direction is then the flat one
TINY = float(np.finfo(np.float64).tiny)


class Master(Basis):
    """The weights of ``vertices``, their basis, and the steps that change them."""

    def __init__(self, vertices: Vertices, rank_tol: float) -> None:
        from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

        super().__init__(vertices, rank_tol)
        self._cholesky, self._solve, self._forward = dpotrf, dpotrs, dtrtrs
        self.evaluate()

    def evaluate(self) -> Vector | None:
        """Value, gradient with respect to the weights (afresh, never updated), and h''."""
        v, k = self.v, self.v.count
        w, F = v.w[:k], v.F[:k]
        self.image = w @ F
        self.value, self.slope, bend = v.level.at(self.image)
        self.bend = 1.0 if bend is None else float(bend.max())
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
            if q == 0 or (taken >= full_steps and bend is None):
                return
            free, basic = self.free[:q], self.basic[:r]
            reduced = self.gradient[free] - self.C[:q, :r] @ self.gradient[basic]
            dz = self._newton(reduced, bend)
            promise = -float(reduced @ dz)
            stalled = taken >= full_steps and promise > 0.25 * last and promise <= 1e-8 * abs(self.value)
            if taken and (promise <= enough or stalled):
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
        """-(H + ridge)^-1 reduced; the Cholesky factor of the leading superbasics is kept while H is what it was."""
        q = self.q
        if bend is not None:
            self.H[:q, :q] = (self.K[:q] * bend) @ self.K[:q].T
            self.factored = 0
        steepest = float(np.abs(reduced).max())
        ridge = RIDGE[0] * q * float(np.diagonal(self.H)[:q].max()) + RIDGE[1] * steepest + TINY
        while not self._factorise(ridge):
            self.factored, ridge = 0, 100 * ridge
        return -np.asarray(self._solve(self.L[:q, :q], reduced, lower=1)[0])

    def _factorise(self, ridge: float) -> bool:
        """Extend the factor to all superbasics; False if H + ridge is not positive definite in floating point."""
        q, done = self.q, self.factored
        if done == q:
            return True
        corner = np.array(self.H[done:q, done:q], order="F")
        corner.flat[:: q - done + 1] += ridge
        if done:
            across = self._forward(self.L[:done, :done], self.H[:done, done:q], lower=1)[0]
            corner -= across.T @ across
            self.L[done:q, :done] = across.T
        factor, info = self._cholesky(corner, lower=1, overwrite_a=1)
        self.L[done:q, done:q] = factor
        self.factored = q if info == 0 else 0
        return bool(info == 0)

    def _ratio(self, step: Vector) -> tuple[float, int]:
        """How far the step may go (at most 1), and which vertex stops it: of several, the steepest."""
        w = self.v.w[: self.v.count]
        largest = float(np.abs(step).max())
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
        """The prices of the rows of E at the weights last evaluated."""
        return self.prices(self.gradient)
