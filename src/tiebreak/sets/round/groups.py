"""The ball of the group norm: its faces are simplices between the directions of the groups with the steepest slope."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...arrays import UNIT_ROUNDOFF, Matrix, Vector, length
from ...numerics.clarabel import Cones
from ...numerics.extended import UNIT, Ext, double, ext, total
from .description import APART, EQUAL, Chart, Conic, Face, Growth, Round
from .inside import Inside

AROUND = 2
"""So many groups more and fewer than seem to be nonzero are tried."""


class GroupRound(Round):
    """{s : sum of |s_G| <= radius}; ``members`` are the positions of each group."""

    def __init__(self, labels: NDArray[np.intp], radius: float, outside: Callable[[Vector], float]) -> None:
        self.labels, self.size, self._outside = labels, radius, outside
        self.members = [np.flatnonzero(labels == g) for g in range(int(labels.max()) + 1)]
        self.middle = np.zeros(labels.size)
        self.work = (2.0 * labels.size + len(self.members)) ** 3 / 3

    def conic(self) -> Conic:
        n, count = self.labels.size, len(self.members)
        M = sp.eye_array(n, n + count, format="csc")
        columns, cones = [], []
        for g, members in enumerate(self.members):
            columns += [n + g, *members]
            cones.append(("second-order", members.size + 1))
        rows = sp.coo_array((np.full(n + count, -1.0), (np.arange(n + count), columns)), shape=(n + count, n + count))
        last = sp.csc_array(np.append(np.zeros(n), np.ones(count))[None, :])
        b = np.append(np.zeros(n + count), self.size)
        together: Cones = [*cones, ("nonnegative", 1)]
        return Conic(M, np.zeros(n), sp.vstack([rows, last], format="csc"), b, together)

    def norms(self, x: Vector) -> Vector:
        """The length of each group."""
        return np.sqrt(np.bincount(self.labels, weights=x**2, minlength=len(self.members)))

    def charts(self, x: Vector, c: Vector) -> Iterator[Chart]:
        lengths, slopes = self.norms(x) / self.size, self.norms(c)
        nu = float(slopes.max())
        if not nu > 0 or not lengths.any():
            return
        lead = lengths - (nu - slopes) / nu  # what complementarity lets be positive, less what it wants to be zero
        order = np.argsort(-lead)
        count = int((lead > 0).sum())
        near = sorted(range(max(1, count - AROUND), count + AROUND + 1), key=lambda k: abs(k - count))
        for k in near:
            kept = order[:k]
            if k <= order.size and (lengths[kept] > 0).all():
                yield GroupChart(self, np.sort(kept), x)

    def inside(self, x: Vector) -> Chart:
        return Inside(x, self._outside)

    def linear_face(self, c: Vector) -> Face | None:
        from ..simplex import Simplex

        sizes = self.norms(c)
        largest = float(sizes.max())
        tied = np.flatnonzero(sizes >= (1 - EQUAL) * largest)
        others = np.delete(sizes, tied)
        if tied.size == 1 or not largest or others.max(initial=0.0) > (1 - APART) * largest:
            return None
        N = np.zeros((c.size, tied.size))
        for k, g in enumerate(tied):
            N[self.members[g], k] = -c[self.members[g]] / sizes[g]
        off = 16 * self.labels.size * UNIT_ROUNDOFF * self.size
        return Face(N, Simplex(self.size).with_dim(tied.size), off, f"{tied.size} groups of equal slope")

    def room(self, x: Vector) -> float:
        norm = float(self.norms(x).sum()) * (1 + (x.size + 8) * UNIT_ROUNDOFF)
        return max(self.size - norm, 0.0) / float(np.sqrt(len(self.members))) * (1 - 1e-14)


class GroupChart(Chart):
    """The groups that are kept, in units of the radius, with lengths that sum to one."""

    def __init__(self, ball: GroupRound, kept: NDArray[np.intp], x: Vector) -> None:
        self.ball, self.kept = ball, kept
        self.index = np.concatenate([ball.members[g] for g in kept])
        ends = np.cumsum([ball.members[g].size for g in kept])
        self.parts = [slice(int(end) - ball.members[g].size, int(end)) for g, end in zip(kept, ends, strict=True)]
        u = ext(x[self.index]) / np.longdouble(ball.size)
        self.start = u / self._lengths(u).sum()

    def _lengths(self, u: Ext) -> Ext:
        return ext([np.sqrt(total(u[part] ** 2)) for part in self.parts])

    def point(self, u: Ext) -> Ext:
        x = np.zeros(self.ball.labels.size, dtype=np.longdouble)
        x[self.index] = np.longdouble(self.ball.size) * u
        return x

    def pull(self, u: Ext, c: Ext) -> Ext:
        pulled: Ext = c[self.index]
        return pulled

    def pulled(self, u: Ext, M: Matrix) -> Matrix:
        return M[self.index]

    def normal(self, u: Ext) -> Ext:
        sizes = [part.stop - part.start for part in self.parts]
        return ext(u / np.repeat(self._lengths(u), sizes))

    def gauge(self, u: Ext) -> np.longdouble:
        return total(self._lengths(u))

    def gauge_slope(self, u: Ext) -> Vector:
        return double(self.normal(u))

    def jacobian(self, u: Ext) -> Matrix:
        J = np.zeros((self.ball.labels.size, u.size))
        J[self.index, np.arange(u.size)] = self.ball.size
        return J

    def bend(self, u: Ext, c: Ext, lam: float) -> Matrix:
        H = np.zeros((u.size, u.size))
        v = double(self.normal(u))
        for part, size in zip(self.parts, double(self._lengths(u)), strict=True):
            H[part, part] = lam / size * (np.eye(v[part].size) - np.outer(v[part], v[part]))
        return H

    def growth(self, u: Ext, c: Ext, c_error: float) -> Growth | None:
        """With n = -nu v_G on the kept groups and n = c elsewhere: the gap is at least nu/(2R) times the square of what
        leaves the directions v_G, and (nu - |c_G|) |y_G| for the other groups."""
        ball, v = self.ball, self.normal(u)
        units = (u.size + 16) * UNIT
        lengths = double(self._lengths(u))
        if not (lengths > 0).all() or not np.isfinite(lengths).all():
            return None
        norm = float(self.gauge(u))
        nu = -float(total(c[self.index] * u)) / norm
        others = np.delete(ball.norms(double(c)), self.kept)
        d = nu - float(others.max(initial=0.0)) * (1 + 1e-14) - 2 * c_error
        if not (nu > 0 and d > 0 and 0.5 < norm < 2):
            return None
        off = abs(float(self.gauge(u) - 1)) + units
        r = c[self.index] + np.longdouble(nu) * v
        residual = (
            length(double(r)) * (1 + 1e-14) + c_error + units * (length(double(c)) + nu * np.sqrt(self.kept.size))
        )
        face = np.zeros((ball.labels.size, self.kept.size))
        for k, part in enumerate(self.parts):
            face[self.index[part], k] = double(v[part])
        return Growth(
            residual,
            2 * off * ball.size,
            root=float(np.sqrt(2 * ball.size / nu)) * (1 + 1e-14),
            linear=(1 + 1e-14) / d,
            face=face,
            face_error=8 * UNIT_ROUNDOFF,
            trace=np.ones((1, self.kept.size)),
            tilt=4 / nu,
            steady=0.25 * min(d, nu),
        )

    def outside(self, u: Ext) -> float:
        beyond = max(float(self.gauge(u) - 1), 0.0) + (u.size + 16) * UNIT
        return float(2 * beyond * self.ball.size)
