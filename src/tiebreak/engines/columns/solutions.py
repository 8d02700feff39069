"""The set of lower solutions as the final basis shows it: one point or many, and whether f is the same at all.

With E_v = [s0, F v - t], t any point, and a face that holds all lower solutions:

* If vertices that span the face are basic, and the basic rows of E independent, there is one solution only. So it is if
  the exact rows of the face are independent, however near to others they are: all solutions have the same A x, <c, x>.
* If the exact rows [1, A v, <c, v>] of the face and the basis together have no higher rank than those of the basis
  (``dependence.py``), every mix of these vertices that keeps A x keeps <c, x>, so it stays among the solutions, and the
  basic weights can make up for any small change of A x. One more vertex then shows a second solution, if x has room.

What neither shows stays open: None, never a guess by a tolerance.
"""

from __future__ import annotations

import numpy as np

from ...arrays import UNIT_ROUNDOFF, length
from ..interrupt import check
from .atoms import Codes, Listed
from .dependence import rank_of
from .face import AxisFace, VertexFace, images
from .level import Smooth
from .master import Master

APART = 1e-6  # points nearer than this, relative to a vertex, may be the same
TRIED = 64  # vertices of the face: one that shows a second solution is nearly always among the first
LOOSE = 0.1  # rows are independent for certain if rounding changes their inverse by less than this part
CONDITION = 1e8  # of a basis, beyond which mixes of its vertices are not known well enough to tell points apart


class Solutions:
    """Complete the basis to one of the whole face, and read off what it says.

    Parameters
    ----------
    master : Master
    lower, upper : Smooth
    face : VertexFace or None
        One that holds all lower solutions.
    row_error : float
        How far off a row of E may be.

    Attributes
    ----------
    sound : bool
        Whether the basic rows are independent for certain.
    stretch : float
        Where they are, a bound on the norm of their inverse.
    spanned : bool
        Whether the exact rows of the face depend on those of the basis for certain.
    by_rank : bool
        Whether that rests on a rank modulo a prime.
    unique : bool or None
        Whether there is one lower solution only.
    shown : bool
        Whether that is so because the basis spans the face.
    constant : bool or None
        True if f is the same at all lower solutions.
    """

    def __init__(self, master: Master, lower: Smooth, upper: Smooth, face: VertexFace | None, row_error: float) -> None:
        self.master, self.lower, self.upper, self.face = master, lower, upper, face
        self.unique: bool | None = None
        self.constant: bool | None = None
        self.spanned = self.by_rank = self.shown = False
        if face is not None:
            self._complete(face)
        r = master.r
        self.sound, self.stretch = certified(master.t.EB[:r], master.t.P[:r], row_error)
        if face is None or not self.sound:
            return
        if face.dimension < r and np.count_nonzero(self._basic(codes_of(face, master))) == face.dimension + 1:
            self.unique = self.constant = self.shown = True
            return
        full = r == master.v.E.shape[1] and lower.p is None and lower.own_rows
        self.by_rank = not full
        if full:
            self.spanned = True
            return
        codes = codes_of(face, master)
        self.spanned = rank_of(master.v.atoms, self._with_basis(codes), [lower]) == r
        if not self.spanned and rank_of(master.v.atoms, codes, [lower]) == face.dimension + 1:
            self.unique = self.constant = True

    def _basic(self, codes: Codes) -> np.ndarray:
        """Which vertices are basic."""
        slots = self.master.v.where[codes]
        return np.asarray((slots >= 0) & (self.master.t.place[np.maximum(slots, 0)] >= 0))

    def _with_basis(self, codes: Codes) -> Codes:
        return np.union1d(self.master.v.code[self.master.t.basic[: self.master.r]], codes)

    def _complete(self, face: VertexFace) -> None:
        """Enter vertices of the face with weight 0 until the basis spans its rows, as far as arithmetic tells."""
        master, v = self.master, self.master.v
        if master.r == v.E.shape[1]:
            return
        if not face.size:
            raise FloatingPointError("no vertex has the least slope, which is NaN")
        rows = np.empty((face.size, v.E.shape[1]))
        rows[:, 0], rows[:, 1:] = v.s0, images(face, self.lower) - v.t_star
        norms = np.linalg.norm(rows, axis=1)
        P, EB = master.t.P[: master.r], master.t.EB[: master.r]
        rest = rows - (rows @ P.T) @ EB
        rest -= (rest @ P.T) @ EB
        while master.r < rows.shape[1]:
            check()
            left = np.linalg.norm(rest, axis=1) / norms
            furthest = int(np.argmax(left))
            if left[furthest] <= master.rank_tol:
                break
            unit = rest[furthest] / np.linalg.norm(rest[furthest])
            rest -= np.outer(rest @ unit, unit)
            code = v.atoms.number(face.vertex(furthest))
            if v.slot(code) >= 0:  # superbasic, yet independent of the basis to within the tolerance
                break
            master.insert(v.candidates(np.array([code])))

    def look_further(self, inside: bool) -> None:
        """Whether another vertex can enter and move x, and whether f is the same all the same.

        ``inside`` says that there is a solution near x, with smaller changes of basic weights than these are: a vertex
        that depends on the basis can then take a little weight from them.
        """
        if self.unique is not None or not self.spanned or self.face is None:
            return
        v, t, r = self.master.v, self.master.t, self.master.r
        basis = v.code[t.basic[:r]]
        tried = codes_of(self.face, self.master, r + TRIED)
        others = v.candidates(tried[~self._basic(tried)][:TRIED])
        mix = others.E @ t.P[:r].T
        if inside and self.stretch * v.s0 < CONDITION:
            for i in range(others.code.size):
                s = v.atoms.mixed(others.code[i : i + 1], np.ones(1))
                if length(s - v.atoms.mixed(basis, mix[i])) > APART * length(s):
                    self.unique = False
                    break
        moved = np.abs(others.F - mix @ t.FB[:r]).max(initial=0.0)
        if moved <= APART * float(v.size[: v.count].max()):  # else it is not worth asking
            codes = self._with_basis(codes_of(self.face, self.master))
            self.constant = True if rank_of(v.atoms, codes, [self.lower, self.upper]) == r else None


def codes_of(face: VertexFace, master: Master, most: int | None = None) -> Codes:
    """The numbers of the vertices that a face lists, or of the first of them."""
    atoms = master.v.atoms
    if isinstance(face, AxisFace):
        return face.codes[:most]
    codes = np.unique([atoms.number(face.vertex(i)) for i in range(face.size)[:most]])
    if isinstance(atoms, Listed):
        master.reserve(0)  # some may be new: make room for where they are
    return codes


def certified(rows: np.ndarray, P: np.ndarray, row_error: float) -> tuple[bool, float]:
    """Whether rows are independent for certain, given their pseudo-inverse, and a bound on the norm of the exact one.

    With P rows' = I + R, and exact rows that differ by D, P (rows + D)' = I + R + P D': invertible where the norms of R
    and P D' add up to less than 1, and then there is an inverse of norm at most |P| / (1 - that).
    """
    r, n = rows.shape
    norm = length(P) * (1 + 1e-10)
    rounding = (n + 8) * UNIT_ROUNDOFF * norm * length(rows)
    loose = length(P @ rows.T - np.eye(r)) + rounding + norm * np.sqrt(r) * row_error
    return bool(loose < LOOSE), float(norm / (1 - min(loose, LOOSE)))
