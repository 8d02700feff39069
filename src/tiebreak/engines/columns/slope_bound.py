"""How far the image F x of a point is from that of the lower solutions, from the slopes of the lower level.

With slopes e_v = <r, v - x>, r = grad g(x), and h mu-strongly convex, mu ||F x - t*||^2 <= <r, x - x*> =
sum (w - w*)_v e_v over a face that holds x*. Let E_v = [s0, F v - t]. With zeta such that E_v zeta = e_v for basic v,
this is at most ||zeta|| ||F x - t*|| + sum (w - w*)_v (e_v - E_v zeta) over the other vertices of the face and of x. A
term of the last sum counts for nothing if w_v = 0 and e_v - E_v zeta is nonnegative for certain (the multiplier e_v is
above rounding); or if it is zero, since the exact rows [1, A v, <c, v>] of v depend on the basic ones
(``dependence.py``). Then ||F x - t*|| <= ||zeta|| / mu.

Twins: vertices whose rows are within rho of those of a basic one each. In x*, replace every basic vertex by the mean of
itself and its twins with the weights they have there. These means are vertices of a problem with the solution x* and
no twins, whose rows, and so whose slopes at the same weights, differ by multiples of rho: the bound holds for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import Vector, length
from .atoms import Codes
from .dependence import rank_of
from .face import AxisFace, VertexFace
from .level import Smooth
from .master import Master
from .pseudo_inverse import pseudo_inverse
from .solutions import certified, codes_of

TWINS = 1e-11  # rows nearer than this, relative to their size, are those of twins


class Twins(NamedTuple):
    """Vertices that are almost basic ones, those, and the largest distance of their rows."""

    codes: Codes
    of: Codes
    apart: float


@dataclass
class SlopeBound:
    """The bound, ``delta``, whether a rank was asked for, the basic vertices it rests on, and their twins.

    Parameters
    ----------
    master : Master
    lower : Smooth
    r : array
        grad g(x).
    at_x : float
        <r, x>.
    noise : float
        How far off slopes may be.
    steep, reach, bend : float
        ||h'||, the largest ||F v||, and the most curvature of h.
    """

    master: Master
    lower: Smooth
    r: Vector
    at_x: float
    noise: float
    steep: float
    reach: float
    bend: float
    by_rank: bool = False
    twins: Twins | None = None

    def delta(self, face: VertexFace, row_error: float, mu: float) -> float:
        """The bound on ||F x - t*||; inf where the slopes do not give one."""
        v, t, r = self.master.v, self.master.t, self.master.r
        slots = t.basic[:r]
        slopes = v.dot(self.r)[slots] - self.at_x
        kept = (v.w[slots] > 0) | (np.abs(slopes) <= self.noise)
        rows, slots, slopes = t.EB[:r][kept], slots[kept], slopes[kept]
        P = t.P[:r] if kept.all() else pseudo_inverse(rows)[0]
        self.basis = v.code[slots]
        free = t.free[: self.master.q]
        self.used = v.code[free[v.w[free] > 0]]
        codes = np.union1d(codes_of(face, self.master), self.used)
        codes = codes[~np.isin(codes, self.basis)]
        zeta = self._zeta(rows, P, slopes, row_error, self.noise)
        left = self._left(face, codes, zeta, self.noise)
        self.by_rank = left.size > 0
        if not self.by_rank or rank_of(v.atoms, np.concatenate([self.basis, left]), [self.lower]) == slots.size:
            return zeta / mu
        if not isinstance(face, AxisFace):
            return np.inf
        twins = self._twins(rows, P, left)
        rho = twins.apart
        noise = self.noise + 2 * rho * (self.steep + self.bend * (2 * self.reach + rho)) + self._cost_apart(twins)
        zeta = self._zeta(rows, P, slopes, row_error + rho, noise)
        if not np.isin(self._left(face, codes, zeta, noise), twins.codes).all():
            return np.inf
        self.twins, self.by_rank = twins, False
        return zeta / mu + rho

    def _zeta(self, rows: np.ndarray, P: np.ndarray, slopes: Vector, row_error: float, noise: float) -> float:
        """A bound on ||zeta||."""
        sound, stretch = certified(rows, P, row_error)
        return stretch * (length(slopes) + noise * np.sqrt(slopes.size)) * (1 + 1e-10) if sound else np.inf

    def _left(self, face: VertexFace, codes: Codes, zeta: float, noise: float) -> Codes:
        """Without those whose terms are negative for certain; of a face that is not listed in full, all stay."""
        if not isinstance(face, AxisFace) or not codes.size or not np.isfinite(zeta):
            return codes
        v = self.master.v
        far = np.hypot(v.s0, length(v.t_star) + self.reach) * (1 + 1e-10)
        below = v.atoms.dots(self.r, codes) - self.at_x - noise <= zeta * far
        return np.asarray(codes[below | np.isin(codes, self.used)])

    def _twins(self, rows: np.ndarray, P: np.ndarray, codes: Codes) -> Twins:
        """Those of the vertices that have a basic one next to them."""
        E = self.master.v.candidates(codes).E
        nearest = np.argmax(E @ P.T, axis=1)
        apart = np.linalg.norm(E - rows[nearest], axis=1)
        near = apart <= TWINS * self.master.v.s0
        return Twins(codes[near], self.basis[nearest[near]], float(apart[near].max(initial=0.0)) * (1 + 1e-10))

    def _cost_apart(self, twins: Twins) -> float:
        if self.lower.p is None or not twins.codes.size:
            return 0.0
        atoms = self.master.v.atoms
        gaps = atoms.dots(self.lower.p, twins.codes) - atoms.dots(self.lower.p, twins.of)
        return 4 * float(np.abs(gaps).max()) * (1 + 1e-10)
