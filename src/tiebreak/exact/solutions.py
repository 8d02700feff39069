"""The set of lower solutions as the final basis shows it: one point or many, and whether f is the same at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Vector, length
from ..sets import Birkhoff
from ..sets.base import Domain
from .master import Master
from .smooth import Smooth
from .vertex_face import AxisFace, VertexFace

CLEAN = 1e-13  # a row that counts as dependent leaves less than this of what it is mixed from, if beyond doubt
CONDITION = 1e7  # a basis conditioned worse than this makes the rank doubtful
MOVE = 1e-7  # a weight that can move by this much shows a second solution
SAME = 1e-9  # columns of f that agree to within this, relative to the largest, are the same


class Solutions:
    """Complete the basis to one of the whole face, and read off what it says.

    Attributes
    ----------
    spanned : bool
        Whether the basic rows of E span those of all vertices of the face.
    unique : bool or None
        Whether there is one lower solution only.
    constant : bool or None
        True if f is the same at all lower solutions.
    doubtful : bool
        Whether a decision on the rank was a close one.
    by_tolerance : bool
        Whether columns count as dependent that a smaller tolerance might tell apart.
    """

    def __init__(self, master: Master, lower: Smooth, upper: Smooth, face: VertexFace | None, domain: Domain) -> None:
        self.master, self.face = master, face
        self.doubtful = self.by_tolerance = False
        self.unique: bool | None = None
        self.constant: bool | None = None
        rows = master.v.E.shape[1]
        if face is not None and (master.r < rows or face.dimension < rows):
            self._complete(face, lower)
            if master.r == face.dimension + 1:  # E tells all points of the face apart
                self.unique = self.constant = True
        self.spanned = master.r == rows or (face is not None and not self.doubtful)
        condition = length(master.t.P[: master.r]) * master.v.s0
        self.doubtful |= condition > CONDITION
        if self.unique is None:
            self._look_for_second(lower, upper)
        if self.unique is None and isinstance(domain, Birkhoff) and lower.data is None:
            self._look_for_second_permutation(domain, lower)

    def _rows(self, face: VertexFace, lower: Smooth) -> np.ndarray:
        v = self.master.v
        rows = np.empty((face.size, v.E.shape[1]))
        rows[:, 0], rows[:, 1:] = v.s0, face.images(lower) - v.t_star
        return rows

    def _complete(self, face: VertexFace, lower: Smooth) -> None:
        """Enter vertices of the face with weight 0 until the basis spans its rows."""
        master, v = self.master, self.master.v
        if isinstance(face, AxisFace):
            slots = v.where[face.codes]
            if np.all((slots >= 0) & (master.t.place[slots] >= 0)):  # all of them are basic
                self.by_tolerance = master.r < v.E.shape[1] and face.dimension >= master.r
                return
        rows = self._rows(face, lower)
        norms = np.linalg.norm(rows, axis=1)
        P, EB = master.t.P[: master.r], master.t.EB[: master.r]
        mix = rows @ P.T
        rest = rows - mix @ EB
        rest -= (rest @ P.T) @ EB
        sizes = 1 + np.abs(mix).sum(axis=1)
        while True:
            left = np.linalg.norm(rest, axis=1) / norms
            furthest = int(np.argmax(left))
            if master.r == rows.shape[1] or left[furthest] <= master.rank_tol:
                break
            unit = rest[furthest] / np.linalg.norm(rest[furthest])
            rest -= np.outer(rest @ unit, unit)
            code = v.atoms.number(face.vertex(furthest))
            if v.slot(code) >= 0:  # superbasic, yet independent of the basis to within the tolerance
                self.doubtful = True
                break
            master.insert(v.candidates(np.array([code])))
        if master.r < rows.shape[1]:
            self.doubtful |= bool(np.any(left > CLEAN * sizes))
            self.by_tolerance = face.dimension >= master.r

    def _look_for_second(self, lower: Smooth, upper: Smooth) -> None:
        """A vertex outside the basis that can enter and move x is a witness; f is constant if none moves f."""
        v, t, face, r, q = self.master.v, self.master.t, self.face, self.master.r, self.master.q
        free = t.free[:q]
        moves = self._tried(t.C[:q, :r], t.K[:q], v.p[free], lambda i: v.atoms.mixed(v.code[free[[i]]], np.ones(1)))
        if face is None or (moves and self.unique is False):
            return
        mix = self._rows(face, lower) @ t.P[:r].T
        p = np.zeros(face.size) if upper.p is None else face.dots(upper.p)
        moves |= self._tried(mix, face.images(upper) - mix @ t.FB[:r], p, face.vertex)
        self.constant = None if moves else True

    def _tried(self, mix: np.ndarray, moved: np.ndarray, p: Vector, vertex: Callable[[int], Vector]) -> bool:
        """Whether f moves when one of some vertices enters; one that can enter and moves x shows a second solution.

        ``mix`` is what makes up for them of the basic ones, ``moved`` the image of f that this leaves.
        """
        master, v = self.master, self.master.v
        basic = master.t.basic[: master.r]
        size, slant = float(v.size[: v.count].max()), float(np.abs(v.p[: v.count]).max())
        tilt = np.abs(p - mix @ v.p[basic])
        moves = bool(np.any(np.einsum("ij,ij->i", moved, moved) > (SAME * size) ** 2) or np.any(tilt > SAME * slant))
        room = np.where(mix > 1e-12, v.w[basic] / np.maximum(mix, 1e-12), np.inf)
        for candidate in np.flatnonzero(np.min(room, axis=1, initial=1) > MOVE):
            s = vertex(int(candidate))
            size = length(s)
            if length(s - v.atoms.mixed(v.code[basic], mix[candidate])) > SAME * size:
                self.unique = False
                break
        return moves

    def _look_for_second_permutation(self, domain: Birkhoff, lower: Smooth) -> None:
        """Among assignments of least cost, the one that shares least with x: all permutations have the same norm."""
        v = self.master.v
        if v.count > 1 or lower.p is None:
            return
        vertex = v.point()
        size = float(np.abs(lower.p).max())
        for weight in (1e4 / size, 1e8 / size, 1e12 / size):
            s = domain.lmo(vertex + weight * lower.p)
            if np.array_equal(s, vertex):
                self.unique = self.constant = True
                return
            if lower.p @ (s - vertex) <= 1e-14 * size * vertex.size:
                self.unique = False
                return
