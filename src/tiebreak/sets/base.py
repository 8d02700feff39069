"""What a domain is: a closed convex set known through a few oracles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from ..arrays import UNIT_ROUNDOFF, Vector, as_vector
from ..numerics.rows import Rows
from .faces import Face
from .rows import Axes, ByRows, Polyhedral

if TYPE_CHECKING:
    from ..numerics.conic_rows import ConicRows
    from .boundary.description import Boundary
    from .round.description import Round


class MissingOracle(TypeError):
    """A set was asked for an oracle that it does not have.

    Examples
    --------
    >>> import numpy as np
    >>> import tiebreak as tb
    >>> try:
    ...     tb.FromOracles(project=abs, dim=1).lmo(np.ones(1))
    ... except tb.MissingOracle as error:
    ...     print(error)
    this set has no linear minimisation oracle; pass lmo=... to FromOracles
    """


class CutStatus(StrEnum):
    """How the half-space met the set.

    Examples
    --------
    >>> import numpy as np
    >>> import tiebreak as tb
    >>> tb.Simplex().lmo_cut(np.array([1.0, 0.0]), np.array([1.0, 1.0]), 0.5).status
    <CutStatus.INFEASIBLE: 'infeasible'>
    """

    INACTIVE = "inactive"  # a minimiser over Z alone satisfies the cut; its multiplier is 0
    ACTIVE = "active"  # the cut holds with equality
    BOUNDARY = "boundary"  # b is below min <c, .> by rounding only: the point minimises <c, .>, its multiplier is inf
    INFEASIBLE = "infeasible"  # Z and the half-space do not meet: the point minimises <c, .>, its multiplier is inf


@dataclass(frozen=True)
class Cut:
    """The answer of ``lmo_cut(a, c, b)``: a minimiser of <a, s> over Z and <c, s> <= b.

    Attributes
    ----------
    point : array
        The minimiser; always in Z.
    multiplier : float
        The multiplier of the cut, so that ``min over Z of <a + multiplier c, s> - multiplier b`` is the minimum.
    gap : float
        A bound on <a, point> minus the minimum: 0 up to rounding where the oracle is exact, inf where it is
        ``infeasible`` or ``boundary`` and nothing is claimed.
    status : CutStatus
        ``inactive``, ``active``, ``boundary`` or ``infeasible``.

    Examples
    --------
    >>> import numpy as np
    >>> import tiebreak as tb
    >>> cut = tb.Box([0.0, 0.0], [1.0, 1.0]).lmo_cut(np.array([-1.0, -1.0]), np.array([1.0, 0.0]), 0.5)
    >>> cut.point, cut.multiplier, cut.status.value
    (array([0.5, 1. ]), 1.0, 'active')
    """

    point: Vector
    multiplier: float
    gap: float
    status: CutStatus


WITHOUT_LMO = frozenset({"project", "project_cut", "contains"})
"""The oracles of unbounded sets: linear functions have no minimum over most of them."""


class Domain(ABC):
    """A closed convex set Z; most are compact.

    A subclass supplies ``lmo``, ``project``, ``contains`` and ``diameter``; ``lmo_cut`` and ``project_cut`` have
    generic versions through those, which a subclass overrides where something faster is exact.

    What else a set knows of itself it says by further attributes: nobody else knows one set from another. A polytope
    that gives its ``rows`` has all that engines by rows and norms ask for. All of them may be left as they are.

    Examples
    --------
    >>> import tiebreak as tb
    >>> ball = tb.L2Ball(1.0)
    >>> ball.diameter, sorted(ball.oracles)
    (2.0, ['contains', 'lmo', 'lmo_cut', 'project', 'project_cut'])
    """

    dim: int | None = None
    """Length of its points; None where the set exists in every dimension."""

    variable_names: tuple[str, ...] | None = None
    """Names of the variables, where it has some."""

    assumes: str = ""
    """What a bound computed with ``lmo`` takes for granted beyond floating point; empty where it is a proof."""

    by_user: bool = False
    """Whether its oracles, or some of them, are functions that a user wrote."""

    searches: bool = False
    """Whether ``contains`` is a search through ``lmo``, so that it costs many calls and tells nothing new."""

    bounded: bool = True
    """Whether some ball holds the set. Sets that are not bounded have no ``lmo`` and no ``lmo_cut`` in ``oracles``."""

    polytope: bool = False
    """Whether the set is a polytope and ``lmo`` returns its vertices, exactly."""

    binary: bool = False
    """Whether its vertices hold zeros and the same number of ones each, and ``lmo`` is exact for whole-numbered costs.

    To be said by polytopes alone."""

    axes: Axes | None = None
    """All its vertices, where they lie on the coordinate axes and the number of variables is known."""

    conic: ConicRows | None = None
    """Its cones, where it is a set by cones."""

    split_rows: Rows | None = None
    """Rows for which primal-dual methods have multipliers, and bounds: where projecting on Z is a numerical solve."""

    parts: tuple[tuple[Domain, slice], ...] = ()
    """The sets whose product it is, each with its places in x; none where it is not known to be a product."""

    each: Domain | None = None
    """The set of every column, where points are matrices of a ``shape`` with all columns in one set."""

    euclidean_radius: float | None = None
    """Its radius, where it is a Euclidean ball around zero."""

    oracles: frozenset[str] = frozenset({"lmo", "lmo_cut", "project", "project_cut", "contains"})
    """The oracles that can be called."""

    identity: tuple[str, ...] | None = None
    """The attributes that tell one set of its class from another; None: all (of a user's class: what its lmo says)."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__module__.split(".")[0] != "tiebreak":
            cls.by_user = True
            if "assumes" not in vars(cls):
                cls.assumes = "its oracles are as its class gives them"

    @abstractmethod
    def lmo(self, c: Vector) -> Vector:
        """A minimiser of <c, s> over Z: a point, not a direction. Any one of several will do."""

    @abstractmethod
    def project(self, x: Vector) -> Vector:
        """The point of Z nearest to x."""

    @abstractmethod
    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        """Whether x is in Z up to ``tol``, relative to the size of the set."""

    def distance_outside(self, x: Vector) -> float:
        """A number that is at least the Euclidean distance from x to Z, rounding included; inf where none is known.

        The default takes ``project`` to return a point of the set. Sets with something better override it.
        """
        if "project" not in self.oracles:
            return 0.0 if self.contains(x, 0.0) else float(np.inf)
        away = float(np.linalg.norm(x - self.project(x)))
        return away + (x.size + 8) * UNIT_ROUNDOFF * float(np.linalg.norm(x))

    @property
    @abstractmethod
    def diameter(self) -> float:
        """An upper bound on the Euclidean distance of two points of Z (for ``dim = None``: in any dimension)."""

    def some_point(self) -> Vector:
        """A point of the set, always the same; for sets whose number of variables is known."""
        assert self.dim is not None
        nothing = np.zeros(self.dim)
        return self.lmo(nothing) if "lmo" in self.oracles else self.project(nothing)

    def lmo_bound(self, c: Vector, s: Vector) -> float:
        """A number proved to be at most min <c, .> over Z, given ``s = lmo(c)``.

        The default takes ``lmo`` to be exact up to the rounding of one inner product; sets whose LMO is a numerical
        solve override it by weak duality.
        """
        rounding = (s.size + 8) * UNIT_ROUNDOFF * float(np.abs(c) @ np.abs(s))
        return float(c @ s) - rounding

    def lmo_cut(self, a: Vector, c: Vector, b: float, *, warm: float = 0.0) -> Cut:
        """A minimiser of <a, s> over Z and {<c, s> <= b}; ``warm`` is a guess of the multiplier."""
        from .cuts.dual import cut_by_dual

        return cut_by_dual(self, a, c, b, warm)

    def project_cut(self, x: Vector, c: Vector, b: float) -> Vector:
        """The point of Z and {<c, s> <= b} nearest to x."""
        from .cuts.dual import project_by_dual

        return project_by_dual(self, x, c, b)

    # -- what engines and methods can know of the set; the defaults say what the oracles and the rows do ---------------

    @cached_property
    def rows(self) -> ByRows | None:
        """The set by rows, as its class or its user gives them; None where it has none, or no number of variables yet.

        Cheap: it is asked for before it is known whether it will be used.
        """
        return None

    @cached_property
    def round(self) -> Round | None:
        """The set by cones and charts, where its boundary is curved; None where it is not, or that is not known."""
        return None

    @cached_property
    def round_block(self) -> Round | None:
        """The same, as a block of a product with round sets: boxes and simplices have one, too."""
        return self.round

    def boundary(self, x: Vector) -> Boundary | None:
        """The set near one of its points, for derivatives; None where it does not say."""
        if self.rows is not None:
            from .boundary.rows import boundary_of

            return boundary_of(self.rows, x)
        return None

    @property
    def recognised(self) -> Domain:
        """The same set as one that says more of itself; itself, where there is none."""
        return self

    @property
    def outer_box(self) -> tuple[Vector, Vector]:
        """Lower and upper bounds on all entries of its points, finite if it is bounded; for sets with ``rows``."""
        assert self.rows is not None
        lower, upper = self.rows.lower, self.rows.upper
        if (np.isfinite(lower).all() and np.isfinite(upper).all()) or not self.bounded:
            return lower, upper
        return self.polyhedral.box.lower, self.polyhedral.box.upper

    @cached_property
    def polyhedral(self) -> Polyhedral:
        """What a solve over its rows starts from; for sets with ``rows`` that mention no absolute values."""
        from .polyhedron import Polyhedron

        assert self.rows is not None
        if not self.parts:
            return Polyhedron.of(self.rows.plain).polyhedral
        given, (lower, upper), point = self.rows.plain, self.outer_box, np.empty(self.rows.lower.size)
        for part, where in self.parts:
            point[where] = part.polyhedral.point
        return Polyhedral(given, given._replace(lower=lower, upper=upper), point)

    def signs(self, dim: int) -> Vector:
        """The sign that all points have in each of ``dim`` coordinates; 0 where there is none, or none is known."""
        return np.zeros(dim) if self.rows is None else self._signs_by_rows

    @cached_property
    def _signs_by_rows(self) -> Vector:
        assert self.rows is not None
        return signs_within(self.rows.lower, self.rows.upper)

    @property
    def shrinks(self) -> bool:
        """Whether the prox of every l1 norm over the set is the projection of what the prox of the norm alone gives.

        (With the norm linear where ``signs`` are known.) That is so where all signs are known, where a point stays in
        the set when an entry moves towards zero or changes its sign, and for products of such sets.
        """
        return self.dim is not None and bool(self.signs(self.dim).all())

    def shrinks_groups(self, labels: NDArray[np.intp]) -> bool:
        """The same for sums of l1 norms and of norms of groups; ``labels`` are those of the groups of all positions."""
        return False

    def largest(self, size: Vector) -> float:
        """A number that is at least <size, |s|> for all s in Z, given a nonnegative vector.

        Where all signs are known it is a linear maximum; in general no point is farther from zero than one point and
        the diameter away from it.
        """
        if not self.bounded:
            return float(np.inf) if size.any() else 0.0
        signs = self.signs(size.size)
        if signs.all():
            c = -signs * size
            return -self.lmo_bound(c, self.lmo(c))
        reach = float(np.linalg.norm(self.lmo(size))) + self.diameter
        return float(np.linalg.norm(size)) * reach * (1 + (size.size + 8) * UNIT_ROUNDOFF) if size.any() else 0.0

    def optimal_face(self, slope: Vector, doubt: Vector, most: int) -> Face | None:
        """A face with all minimisers of <c, .> for every c that is within ``doubt`` of the slope, entry by entry.

        None where faces are not known, or where listing it takes more than ``most`` numbers. For polytopes whose
        vertices are not on the ``axes``.
        """
        return None

    def with_dim(self, dim: int) -> Self:
        """The same set, as one of vectors of length ``dim`` (its diameter may depend on that)."""
        if self.dim == dim:
            return self
        if self.dim is not None:
            raise ValueError(f"the set has points of length {self.dim}, not {dim}")
        bound = copy(self)
        bound.dim = dim
        for said in ("rows", "round", "round_block"):
            if vars(bound).get(said, ...) is None:  # asked for before there was a number of variables
                del vars(bound)[said]
        return bound

    def _check(self, v: Vector, name: str) -> Vector:
        return as_vector(v, name, self.dim)


def signs_within(lower: Vector, upper: Vector) -> Vector:
    """The signs of numbers between these bounds; 0 where they may have either."""
    return np.where(lower >= 0, 1.0, np.where(upper <= 0, -1.0, 0.0))
