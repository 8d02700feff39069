"""Sets given by cones, as conic solvers write them: the oracles are conic programmes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector, as_names, as_real_array, as_sparse, as_vector
from ..numerics.cone_kinds import as_cones
from ..numerics.conic_rows import Bounds, ConicRows, NoPoint
from .base import WITHOUT_LMO, Domain, MissingOracle
from .boundary.cones import near_cones
from .boundary.description import Boundary
from .outside import length_of
from .polyhedron import Polyhedron

BY_BISECTION = "margins in power cones are those that bisection finds in double precision"


class Cone(Domain):
    """The set {x : A x + s = b, s in a product of cones}, which must not be empty.

    Parameters
    ----------
    A : array or sparse matrix
        The rows.
    b : array
        Their right-hand sides.
    cones : sequence of pairs (kind, size)
        The cones of the slacks s, from the first row to the last: ("zero", rows) for equalities, ("nonnegative", rows)
        for A x <= b, ("second-order", rows) for s[0] >= |s[1:]|, ("semidefinite", order) for a symmetric positive
        semidefinite matrix by its upper triangle, column by column, what is off the diagonal times sqrt(2), or
        ("triangle", order) for the same without that factor, ("exponential", 3) for s[1] exp(s[0] / s[1]) <= s[2], and
        ("power", a) for s[0]**a s[1]**(1 - a) >= abs(s[2]). That is how Clarabel writes them, and CVXPY for it.
    names : sequence of str, optional
        Names of the variables, for problems over the set.

    Raises
    ------
    ValueError
        Where the set is empty, or no point of it can be found.

    Notes
    -----
    All oracles are solves by Clarabel, to ten digits or so; ``lmo_bound`` is weak duality with what its multipliers
    are off by given away, and ``distance_outside`` goes by a point with room around it, where there is one. Where all
    points are at the edge of some cone, half of the digits are lost. Sets without bounds have projections only;
    ``diameter`` comes from one conic programme and may be far from tight. With zero and nonnegative cones alone the
    set is the polyhedron that it is. Over power cones what the solver gives is all there is.

    Examples
    --------
    The disk around (1, 0), cut at x1 = 1:

    >>> import numpy as np
    >>> from tiebreak.sets.cone import Cone
    >>> A = [[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [0.0, -1.0]]
    >>> half = Cone(A, [1.0, 1.0, -1.0, 0.0], [("nonnegative", 1), ("second-order", 3)])
    >>> half.lmo(np.array([0.0, 1.0])).round(3) + 0.0
    array([ 1., -1.])
    >>> half.project(np.array([3.0, 0.5])).round(6) + 0.0
    array([1. , 0.5])
    >>> half.contains(np.array([0.5, 0.5])), half.contains(np.array([1.5, 0.5]))
    (True, False)
    """

    identity = ("_A", "_b", "_cones")
    conic: ConicRows

    def __init__(
        self,
        A: Matrix,
        b: ArrayLike,
        cones: Sequence[tuple[str, float]],
        names: Sequence[str] | None = None,
    ) -> None:
        self._A = _rows(A)
        self._cones = as_cones(cones)
        self._b = as_vector(b, "b", self._A.shape[0])
        self.conic = ConicRows(self._A, self._b, self._cones)
        self.dim: int = int(self._A.shape[1])
        self.variable_names = None if names is None else as_names(names, self.dim)
        self.assumes = "" if all(cone.sharp for cone, _ in self.conic.blocks) else BY_BISECTION
        self._last: tuple[bytes, Vector] = (b"", np.zeros(0))
        try:
            self.conic.middle  # noqa: B018  # which raises where there is no point
        except NoPoint as why:
            raise ValueError(str(why)) from None

    def __repr__(self) -> str:
        kinds = ", ".join(f"{kind} {size:g}" for kind, size in self._cones[:4])
        more = ", ..." if len(self._cones) > 4 else ""
        return f"Cone({self._A.shape[0]} rows in {self.dim} dimensions: {kinds}{more})"

    def lmo(self, c: Vector) -> Vector:
        c = self._check(c, "c")
        if not c.any():
            return self.some_point()
        return self._minimum(c)[0]

    def _minimum(self, c: Vector) -> tuple[Vector, Vector]:
        """A minimiser, and multipliers."""
        self._need_bounds("lmo")
        unit = float(np.abs(c).max())
        x, z = self.conic.minimise(None, c / unit)
        self._last = (c.tobytes(), unit * z)
        return self.conic.pulled_inside(x), unit * z

    def lmo_bound(self, c: Vector, s: Vector) -> float:
        c = self._check(c, "c")
        if not c.any():
            return 0.0
        bounds = self._need_bounds("lmo_bound")
        key, z = self._last
        return self.conic.dual_bound(c, z if key == c.tobytes() else self._minimum(c)[1], bounds)

    def project(self, x: Vector) -> Vector:
        x = self._check(x, "x")
        if self.contains(x, 0.0):
            return x.copy()
        # around the middle, so that a far point does not cost the digits of a near one
        middle = self.conic.middle.x
        unit = max(float(np.linalg.norm(x - middle)), self.conic.scale)
        step, _ = self.conic.minimise(sp.eye_array(self.dim), (middle - x) / unit, (middle, unit))
        return self.conic.pulled_inside(middle + unit * step)

    def boundary(self, x: Vector) -> Boundary | None:
        return near_cones(self._A.toarray(), self._b, self._cones, x)

    def some_point(self) -> Vector:
        return self.conic.middle.x.copy()

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        """Whether no cone is missed by more than ``tol`` times the size of what its slacks are made of."""
        x = self._check(x, "x")
        return self.conic.missed(x) <= max(tol, 16 * UNIT_ROUNDOFF)

    def distance_outside(self, x: Vector) -> float:
        """By the way to a point with room around it; without such a point, the distance to the projection."""
        x = self._check(x, "x")
        found = self.conic.distance_outside(x)
        return found if np.isfinite(found) else length_of(x - self.project(x))

    @property
    def diameter(self) -> float:
        return inf if self.conic.bounds is None else self.conic.bounds.diameter

    @cached_property
    def recognised(self) -> Domain:
        """The polyhedron that it is, where no cone is curved."""
        rows = self.conic.as_rows()
        return self if rows is None else Polyhedron.of(rows)

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        return self.conic.bounds is not None

    @property
    def oracles(self) -> frozenset[str]:  # type: ignore[override]
        """Without bounds there are no linear minima to ask for."""
        return Domain.oracles if self.bounded else WITHOUT_LMO

    def _need_bounds(self, oracle: str) -> Bounds:
        if self.conic.bounds is None:
            raise MissingOracle(f"no {oracle} over {self!r}: no bounds on its points are known")
        return self.conic.bounds


def _rows(A: Any) -> Matrix:
    if sp.issparse(A):
        matrix = sp.csr_array(as_sparse(A, "A"))
    else:
        dense = as_real_array(A, "A")
        if dense.ndim != 2:
            raise ValueError(f"A must be a 2-D array, got shape {dense.shape}")
        matrix = sp.csr_array(dense)
    if 0 in matrix.shape:
        raise ValueError(f"A must have rows and columns, got shape {matrix.shape}")
    return matrix
