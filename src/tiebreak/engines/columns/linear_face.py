"""The optimal face of a linear lower level, with ties decided on the costs as they are given.

Costs are compared as the numbers they are, so that the face is exact. Where some differ by no more than data can be
trusted (0.1 + 0.2 and 0.3), both answers count: the bracket holds them, and the answer is marked as ill-posed.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...arrays import UNIT_ROUNDOFF, Vector
from ...sets.base import Domain
from .atoms import Atoms, OnAxes
from .dependence import rank_of
from .evaluated import Evaluated
from .face import AxisFace, VertexFace, optimal_face
from .level import Smooth
from .solutions import Solutions, codes_of
from .vertices import Vertices

TIED = 2.0**-49
"""Costs that differ by less than this, relative to their size, may be meant to be equal."""
APART = 2.0**-40  # of the costs: how much dearer a vertex is made to see whether another one is as cheap
WHOLE = 2.0**53  # integers below are exact


class LinearFace:
    """The face of a level <p, x>.

    Attributes
    ----------
    face, loose : VertexFace or None
        The minimisers of <p, .>, and the same with costs within ``TIED`` of each other; None for sets whose faces are
        not known.
    exact : bool
        Whether ``face`` is no more than the minimisers, for certain.
    tied : bool
        Whether ``loose`` is larger, or there is no telling.
    """

    def __init__(self, atoms: Atoms, domain: Domain, g: Evaluated) -> None:
        self.exact, self.domain, self.p = not g.grad_error.any(), domain, g.grad
        self.face = least_face(atoms, domain, g.grad, g.grad_error)
        self.loose = optimal_face(atoms, domain, None, g.grad, np.maximum(g.grad_error, TIED * np.abs(g.grad)), 0.0)
        self.tied = self.face is None or self.loose is None or self.face.dimension < self.loose.dimension

    def describe(self, solutions: Solutions, upper: Smooth) -> None:
        """What the face says about the number of solutions, and about f on them."""
        face, master = self.face, solutions.master
        if face is None:
            self._describe_choices(solutions)
            return
        solutions.unique = True if face.dimension == 0 else False if self.exact else None
        same = solutions.unique or rank_of(master.v.atoms, codes_of(face, master), [upper]) == 1
        solutions.constant = True if same else None

    def _describe_choices(self, solutions: Solutions) -> None:
        """Whether the vertices of zeros and ones in use are those of least cost, and the only ones.

        If v is still the cheapest when each of its ones costs eta more, every other vertex, with at least one that is
        not in v, costs eta more than v. With costs that are whole numbers, not too large, all is exact.
        """
        v, p = solutions.master.v, self.p
        self.exact = False
        if not self.domain.binary:
            return
        used = v.code[: v.count][v.w[: v.count] > 0]
        first = v.atoms.mixed(used[:1], np.ones(1))
        ones = float(first.sum())
        size = float(np.abs(p).max(initial=0.0))
        if used.size == 1 and np.array_equal(self.domain.lmo(p + APART * size * first), first) and size > 0:
            solutions.unique = solutions.constant = self.exact = True
        elif np.all(p == np.round(p)) and size * p.size * (ones + 1) < WHOLE:
            least = float(p @ self.domain.lmo(p))
            self.exact = bool(np.all(v.atoms.dots(p, used) == least))
            if self.exact:
                other = self.domain.lmo((ones + 1) * p + first)  # of those of least cost, the one that is least like it
                solutions.unique = used.size == 1 and np.array_equal(other, first)
                solutions.constant = True if solutions.unique else None
        self.tied = not self.exact

    def holds(self, v: Vertices) -> bool:
        """Whether all vertices in use minimise <p, .> for certain."""
        if self.face is None:
            return self.exact
        used = v.code[: v.count][v.w[: v.count] > 0]
        if isinstance(self.face, AxisFace):
            return self.exact and bool(np.isin(used, self.face.codes).all())
        return self.exact and all(self.face.holds(v.atoms.mixed(code, np.ones(1))) for code in used[:, None])


def least_face(atoms: Atoms, domain: Domain, p: Vector, error: Vector) -> VertexFace | None:
    """The face of least cost <p, .>, exactly where there is no error."""
    if not isinstance(atoms, OnAxes) or np.isscalar(atoms.weights):
        return optimal_face(atoms, domain, None, p, error, 0.0)
    near = optimal_face(atoms, domain, None, p, error + 4 * UNIT_ROUNDOFF * np.abs(p), 0.0)  # extents are quotients
    if not isinstance(near, AxisFace) or error.any():
        return near
    weights = np.broadcast_to(atoms.weights, p.size)
    index = near.codes % p.size
    costs = [-abs(Fraction(float(p[j])) / Fraction(float(weights[j]))) for j in index]
    codes = near.codes[[cost == min(costs) for cost in costs]]
    return AxisFace(atoms, codes, p.size if not p.any() else codes.size - 1)


def separated(atoms: Atoms, domain: Domain, p: Vector) -> Vector:
    """Costs with the same minimisers, of which the others cost more by much: no price can mistake one for the other."""
    face = least_face(atoms, domain, p, np.zeros(p.size))
    return p if face is None else face.separated(p)
