"""A small quadratic level with some columns and rows held: one decomposition, corrections to the last digit.

With N a basis of the steps that leave the held rows alone and R'R the Hessian, everything follows from the singular
values of RN, so that the square of a condition number appears only where a gradient is all that is known. ``refined``
avoids even that: it carries the images t = Fx - b as unknowns of their own (Bjorck 1967), whose residuals are products
of twice the precision, and loses no more digits than F itself has to lose.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.extended import Ext, dense, double, double_double_product, ext
from ...numerics.rank import resolved
from ...numerics.rows import power_of_two
from .step import Step

STEEP = 1e4
"""From this condition number on images are unknowns of their own."""
REFINEMENTS = 30
TOO_TALL = 300_000  # entries of the matrices that products of twice the precision are taken with


class Equality:
    """min level(x + d) over the free columns, with the active rows at given ends."""

    def __init__(self, step: Step, free: NDArray[np.intp], active: NDArray[np.intp]) -> None:
        self.step, self.free, self.active = step, free, active
        root = self._root()
        G = dense(step.face.G.A[active][:, free])
        sizes = np.linalg.norm(root, axis=0)
        sizes = np.where(sizes > 0, sizes, np.linalg.norm(G, axis=0))
        self.scale = 1 / power_of_two(sizes)
        self.root, G = root * self.scale, G * self.scale
        self.row_scale = 1 / power_of_two(np.abs(G).max(axis=1, initial=0.0))
        self._hold(G * self.row_scale[:, None])
        self._bend()

    def _root(self) -> Matrix:
        """R with R'R the Hessian on the free columns."""
        F, weight = self.step.lifted
        blocks = [np.sqrt(weight)[:, None] * dense(F[:, self.free])]
        rest = dense(self.step.curvature[self.free][:, self.free])
        if self.step.level.bends:
            values, vectors = np.linalg.eigh(rest) if rest.size else (np.zeros(0), rest)
            blocks.append(np.sqrt(np.maximum(values, 0))[:, None] * vectors.T)
        elif self.step.level.ridge > 0:
            blocks.append(np.sqrt(rest))
        return np.vstack(blocks)

    def _hold(self, G: Matrix) -> None:
        if not G.size:
            self.basis, self.inverse = np.eye(self.free.size), np.zeros((self.free.size, self.active.size))
            return
        left, values, right = np.linalg.svd(G, full_matrices=G.shape[0] < G.shape[1])
        rank = int(np.sum(values > 2 * resolved(values, G.shape)))
        self.basis = right[rank:].T
        self.inverse = (right[:rank].T / values[:rank]) @ left[:, :rank].T

    def _bend(self) -> None:
        T = self.root @ self.basis
        n = self.basis.shape[1]
        if not T.size:
            self.curved, self.flat, self.condition = np.zeros((self.free.size, 0)), self.basis, 1.0
            return
        _, values, right = np.linalg.svd(T, full_matrices=T.shape[0] < n)
        error = resolved(values, T.shape)
        squared = bool(self.step.level.bends)
        counted = int(np.sum(values**2 > 2 * error * values[0] if squared else values > 2 * error))
        self.curved = self.basis @ (right[:counted].T / values[:counted])
        self.flat = self.basis @ right[counted:].T
        # Beside the size of F, not of FN: what is left of F in the held rows' null space is made of its rounding, too.
        whole = max(float(np.linalg.norm(self.root)), float(values[0]))
        self.condition = whole / float(values[counted - 1]) if counted else 1.0

    def correct(self, slope: Vector, short: Vector) -> tuple[Vector, Vector]:
        """The move of the free columns and the turn of the multipliers that should make both vanish."""
        slope, onto = slope * self.scale, self.inverse @ (short * self.row_scale)
        return self._solved(onto, -self.curved @ (self.curved.T @ (slope + self._hessian(onto))), slope)

    def _solved(self, onto: Vector, along: Vector, slope: Vector) -> tuple[Vector, Vector]:
        move = onto + along
        turn = self.inverse.T @ (slope + self._hessian(move))
        return move * self.scale, turn * self.row_scale

    def _hessian(self, d: Vector) -> Vector:
        return np.asarray(self.root.T @ (self.root @ d))

    def downhill(self, slope: Vector, noise: Vector) -> Vector | None:
        """A direction without curvature along which the level falls for certain; None without any."""
        along = self.flat.T @ (slope * self.scale)
        doubt = np.abs(self.flat).T @ (noise * self.scale)
        along = np.where(np.abs(along) > doubt, along, 0.0)
        return -(self.flat @ along) * self.scale if along.any() else None

    # -- images as unknowns ------------------------------------------------------------------------------------

    @cached_property
    def _squares(self) -> tuple[Matrix, Vector]:
        """The matrices of all squares, whole, and the scales of their rows."""
        squares, n = self.step.level.squares, self.step.level.dim
        blocks = [np.eye(n) if s.F is None else dense(s.F.A) for s in squares]
        scales = [np.broadcast_to(s.scales, block.shape[:1]) for block, s in zip(blocks, squares, strict=True)]
        return np.vstack(blocks), np.concatenate(scales)

    def worth_refining(self) -> bool:
        """Whether there is a condition number to care for, in a problem small enough for it."""
        level = self.step.level
        return self.condition > STEEP and level.quadratic and not level.bends and level.height * level.dim <= TOO_TALL

    def refined(self, d: Ext, y: Ext, ends: Ext) -> tuple[Ext, Ext]:
        """Steps and multipliers whose images solve the level as well as they can be stored."""
        step, free, active = self.step, self.free, self.active
        F, scales = self._squares
        root = np.sqrt(scales)[:, None] * F[:, free] * self.scale
        image = root @ self.curved  # orthonormal columns
        q = step.level.q[step.face.columns][free]
        rows = [F[:, step.face.columns][:, free], dense(step.face.G.A[active][:, free]), double(q)[None]]
        columns = np.ascontiguousarray(np.vstack([*rows, double(q - double(q))[None]]).T)
        d, y = d.copy(), y.copy()
        t: Ext = self._images(d)
        least, best = np.inf, (d.copy(), y.copy())
        for _ in range(REFINEMENTS):
            off = double(self._images(d) - t)
            factors: Ext = np.concatenate([t, -y[active], ext(np.ones(2))])
            high = double(factors)
            slope = double_double_product(columns, high) + double_double_product(columns, double(factors - high))
            short = double(ends - step.face.G.times(d))[active]
            slope, onto = slope * self.scale, self.inverse @ (short * self.row_scale)
            off_root = off / np.sqrt(scales) + root @ onto
            along = -self.curved @ (image.T @ off_root + self.curved.T @ slope)
            move = onto + along
            size = float(np.abs(move * self.scale).max(initial=0.0))
            if not size < 0.7 * least:
                break
            least = size
            change = off + np.sqrt(scales) * (root @ move)
            t = t + change
            y[active] += self.inverse.T @ (slope + self.scale * (F[:, free].T @ change)) * self.row_scale
            d[free] += move * self.scale
            best = d.copy(), y.copy()
            if size == 0:
                break
        return best

    def _images(self, d: Ext) -> Ext:
        """scale (F x - b) of all squares."""
        step = self.step
        x = step.origin.copy()
        x[step.face.columns] += d
        parts = []
        for F, b, scale, _ in step.level.squares:
            image = x if F is None else F.times(x)
            parts.append(scale * (image if b is None else image - b))
        return np.concatenate(parts)
