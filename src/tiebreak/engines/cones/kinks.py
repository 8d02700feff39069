"""What of a level is piecewise linear: sums of largest affine functions, sum_k w_k max over i in group k of (Ax - b)_i.

An absolute value is the largest of two. For any multipliers lam >= 0 that add up to w_k in each group, <lam, Ax - b> is
nowhere above the sum: that makes slopes that support a level out of multipliers, with a deficit at x that is zero where
the multipliers belong to largest functions alone. Where several of a group have one, the points at which these are
equal are a smooth surface, and leaving it costs as much as the least of the multipliers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import Matrix, Vector
from ...numerics.extended import UNIT, Ext, ExtMatrix, dense, double, ext, sum_units, total
from ...objectives.form import Form


class Support(NamedTuple):
    """A slope that supports the sum, how far off it may be, and how far its plane is below the sum at the point."""

    slope: Ext
    error: float
    deficit: float


@dataclass(frozen=True)
class Surface:
    """Where chosen functions of each group are equal: E x = t. ``slope`` is that with all weight on the ``first`` ones,
    and prices w of the rows are the multipliers of the ``others``."""

    slope: Ext
    E: Ext
    t: Ext
    w: Vector
    first: NDArray[np.intp]
    others: NDArray[np.intp]


class Kinks:
    """The sums of a form, in extended precision."""

    def __init__(self, A: Matrix, b: Vector, owner: NDArray[np.intp], weights: Ext) -> None:
        self.A, self.b, self.owner, self.weights = ExtMatrix(A), b, owner, weights
        lengths = np.sqrt(
            np.asarray(self.A.size.multiply(self.A.size).sum(axis=1)) if self.A.sparse else (A * A).sum(1)
        )
        self.steepest = float(double(weights) @ self._largest(lengths)) * (1 + 1e-12)
        self.units = (16 + owner.size) * UNIT
        """What the sums of multipliers may be off by, relative to the weights."""

    @classmethod
    def of(cls, form: Form, dim: int) -> Kinks | None:
        """Those of the norms and pieces; None without any."""
        blocks: list[Matrix] = []
        targets, owners, weights = [], [], []
        count = 0
        for norm in form.norms:
            size = np.broadcast_to(norm.weights, (dim,))
            kept = np.flatnonzero(size)
            pick = sp.eye_array(dim, format="csr")[kept]
            blocks += [pick, -pick]
            targets.append(np.zeros(2 * kept.size))
            owners.append(count + np.tile(np.arange(kept.size), 2))
            weights.append(ext(size[kept]))
            count += kept.size
        for piece in form.pieces:
            S, T, costs = piece.epigraph
            signs, of = sp.csr_array(S), sp.csr_array(T)
            blocks.append(signs @ sp.csr_array(piece.A))
            targets.append(np.asarray(signs @ piece.b))
            owners.append(count + of.indices.astype(np.intp))  # one variable a row, with the factor one
            weights.append(piece.factor * ext(costs))
            count += costs.size
        if not blocks:
            return None
        A = sp.csr_array(sp.vstack(blocks))
        crowded = A.nnz > 0.3 * A.shape[0] * A.shape[1]
        return cls(
            A.toarray() if crowded else A, np.concatenate(targets), np.concatenate(owners), np.concatenate(weights)
        )

    def _largest(self, values: Any) -> Any:
        found = np.full(self.weights.size, -np.inf, dtype=values.dtype)
        np.maximum.at(found, self.owner, values)
        return found

    def _at(self, x: Ext) -> tuple[Ext, Vector]:
        """The affine functions at x, and how far off they may be."""
        image = self.A.times(x)
        found = image - ext(self.b)
        return found, self.A.times_error(x) + 2 * UNIT * (np.abs(double(image)) + np.abs(self.b))

    def value(self, x: Ext) -> tuple[np.longdouble, float]:
        """The sum, and how far off it may be."""
        values, errors = self._at(x)
        largest = self._largest(values)
        rounding = sum_units(largest.size) * UNIT * float(double(self.weights) @ np.abs(double(largest)))
        return total(self.weights * largest), float(double(self.weights) @ self._largest(errors)) + rounding

    def multipliers(self, values: Vector | Ext) -> Ext:
        """The nearest ones that are allowed: not negative, and adding up to the weights."""
        lam = np.maximum(ext(values), np.longdouble(0))
        sums = np.zeros(self.weights.size, dtype=np.longdouble)
        np.add.at(sums, self.owner, lam)
        scaled: Ext = lam * np.where(sums > 0, self.weights / np.where(sums > 0, sums, 1), 0)[self.owner]
        return scaled

    def simplest(self, x: Ext) -> Ext:
        """All weight on one largest function of each group."""
        values = double(self._at(x)[0])
        order = np.lexsort((-values, self.owner))
        first = order[np.searchsorted(self.owner[order], np.arange(self.weights.size))]
        lam = np.zeros(values.size, dtype=np.longdouble)
        lam[first] = self.weights
        return lam

    def support(self, x: Ext, lam: Ext) -> Support:
        """The slope A'lam, for multipliers that are allowed but for rounding."""
        values, errors = self._at(x)
        sizes = double(lam)
        below = self._largest(values)[self.owner] - values
        rounded = self.units * sizes
        error = float(np.linalg.norm(self.A.transpose_times_error(lam))) + self.steepest * self.units
        lost = float(total(lam * below)) * (1 + 1e-12) + float(sizes @ (errors + self._largest(errors)[self.owner]))
        lost += float(rounded @ np.abs(double(values)))
        return Support(self.A.transpose_times(lam), error, max(lost, 0.0))

    def surface(self, x: Ext, lam: Ext) -> Surface:
        """The one on which all functions are equal whose multipliers weigh more than their distance to the largest."""
        values = double(self._at(x)[0])
        below = double(self._largest(ext(values)))[self.owner] - values
        reach = max(float(np.abs(values).max()), float(np.abs(self.b).max(initial=0.0))) or 1.0
        share = double(lam / self.weights[self.owner])
        order = np.lexsort((-share, self.owner))
        first = order[np.searchsorted(self.owner[order], np.arange(self.weights.size))]
        active = (share > below / reach) & (share > 0)
        active[first] = False
        others = np.flatnonzero(active)
        beside = first[self.owner[others]]
        rows = ext(dense(self.A.A[others])) - ext(dense(self.A.A[beside]))
        base = np.zeros(values.size, dtype=np.longdouble)
        base[first] = self.weights
        t = ext(self.b[others]) - ext(self.b[beside])
        return Surface(self.A.transpose_times(base), rows, t, double(lam[others]), first, others)

    def priced(self, surface: Surface, w: Ext) -> Ext | None:
        """The multipliers of the prices of the rows; None where some would be negative."""
        lam = np.zeros(self.owner.size, dtype=np.longdouble)
        lam[surface.first] = self.weights
        np.subtract.at(lam, surface.first[self.owner[surface.others]], w)
        lam[surface.others] = w
        used = np.append(surface.first, surface.others)
        if (lam[used] < -1e-12 * self.weights[self.owner[used]]).any():
            return None
        return self.multipliers(lam)
