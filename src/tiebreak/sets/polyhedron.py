"""Polyhedra given by inequalities, equalities and bounds: the oracles are linear programmes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, reduce
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from ..arrays import Matrix, Vector, as_names, as_real_array, as_sparse, as_vector
from ..numerics.csr import above, as_csr
from ..numerics.failures import LinearProgramError, NoBox
from ..numerics.linear_programme import LinearProgram
from ..numerics.nearest import nearest_point
from ..numerics.outer_box import feasible_point, outer_box, refuse_free_columns, typical_size
from ..numerics.propagation import propagated
from ..numerics.rows import Rows
from .base import WITHOUT_LMO, Cut, CutStatus, Domain, MissingOracle
from .bounds import Pair, both_ends, is_pair
from .cuts.crossing import EXACT
from .cuts.dual import checked, cut_by_dual
from .outside import beside_rows, length_of, pulled_back
from .rows import ByRows, Polyhedral
from .simplex import simplex_of

AT_ONCE = 4_000_000
"""Up to so many entries of the rows, bounds included, a polyhedron is proved to be bounded, or not, when made."""


NEXT_TO_NOTHING = 2.0**-30
"""Bounds that rows imply make no variable smaller than this, beside the largest one."""


class Polyhedron(Domain):
    """The set {x : A_ub x <= b_ub, A_eq x = b_eq, low <= x <= high}, which must not be empty.

    Parameters
    ----------
    A_ub, A_eq : array or sparse matrix, optional
        Rows of the inequalities and of the equalities.
    b_ub, b_eq : array, optional
        Their right-hand sides.
    bounds : pair, or sequence of pairs, optional
        ``(low, high)`` for all variables, or one pair for each; None inside a pair stands for infinite.
        Unlike in ``scipy.optimize.linprog``, no bounds means free variables.
    names : sequence of str, optional
        Names of the variables, for problems over the set.

    Raises
    ------
    ValueError
        When it is proved that no point satisfies all rows. (Where HiGHS finds no point in any way and there is no
        such proof: ``LinearProgramError``.) Up to some 2,000 variables that comes when the set is made. The proof for
        a larger one may take long: it is left to the first oracle call, and inside ``solve`` it is part of its time.

    Notes
    -----
    ``lmo`` and ``lmo_cut`` return vertices found by HiGHS from the last basis, so among several minimisers
    the one returned depends on the calls before in the same thread. Threads may share a polyhedron: each has linear
    programmes of its own. Their points satisfy every row up to rounding of its terms, |a||x| + |b|; a point of which
    that is not true is solved for again, in other units and by other algorithms. ``lmo_bound`` and the gap of a cut
    come from weak duality over a box around the set and are valid whatever HiGHS says. ``project`` is exact to about
    1e-12 times the size of the data on well-conditioned faces (1e-10 where the active rows are nearly dependent).

    Bounds that do not bind cost nothing, up to 1e12 times the size of the solutions: everything is scaled by the rows
    and their right-hand sides, and ``contains`` compares what a row is missed by with the terms of that row.

    Where variables lack bounds, the constructor proves some from a dense factorisation of the rows, and
    tightens them by one linear programme each if they are at most 200. Beyond that ``diameter`` is far from
    tight; giving bounds is faster and better. Where there are none to prove the set is not ``bounded``: exact solves
    and projections take it, linear minimisation oracles it has none.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.sets.polyhedron import Polyhedron
    >>> triangle = Polyhedron(A_ub=[[1.0, 2.0]], b_ub=[2.0], bounds=(0, None))
    >>> triangle.lmo(np.array([-1.0, -1.0]))
    array([2., 0.])
    >>> triangle.lmo_cut(np.array([-1.0, -1.0]), np.array([1.0, 0.0]), 1.0).point
    array([1. , 0.5])
    >>> triangle.project(np.array([1.0, 3.0]))
    array([0., 1.])
    >>> Polyhedron(A_ub=[[1.0, -1.0]], b_ub=[2.0], bounds=(0, None)).bounded
    False
    """

    identity = ("_given",)

    def __init__(
        self,
        A_ub: Matrix | None = None,
        b_ub: ArrayLike | None = None,
        A_eq: Matrix | None = None,
        b_eq: ArrayLike | None = None,
        bounds: Pair | Sequence[Pair] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        upper_rows, high = _rows(A_ub, b_ub, "ub")
        equal_rows, equal = _rows(A_eq, b_eq, "eq")
        dim = _dimension(upper_rows, equal_rows, bounds)
        blocks = [rows for rows in (upper_rows, equal_rows) if rows is not None]
        A = reduce(above, map(as_csr, blocks)) if blocks else sp.csr_array((0, dim))
        low = np.concatenate([np.full(len(high), -np.inf), equal])
        lower, upper = both_ends(bounds, dim)
        self.variable_names = None if names is None else as_names(names, dim)
        self._hold(Rows(A, low, np.concatenate([high, equal]), lower, upper))

    @classmethod
    def around(cls, rows: Rows, point: Vector) -> Polyhedron:
        """The set that checked rows, each with one end or two equal ones, describe around a point that is in it."""
        found = cls.__new__(cls)
        found.variable_names = None
        found._start = point
        found._hold(rows)
        return found

    def _hold(self, rows: Rows) -> None:
        self.dim = rows.lower.size
        self._given = rows
        if self._small:
            self._prove()

    @classmethod
    def of(cls, rows: Rows) -> Polyhedron:
        """The set that rows with two ends describe."""
        A, low, high, lower, upper = rows
        equal = low == high
        above, below = ~equal & np.isfinite(high), ~equal & np.isfinite(low)
        one_sided = bool(above.any() or below.any())
        return cls(
            A_ub=sp.csr_array(sp.vstack([A[np.flatnonzero(above)], -A[np.flatnonzero(below)]])) if one_sided else None,
            b_ub=np.concatenate([high[above], -low[below]]) if one_sided else None,
            A_eq=A[np.flatnonzero(equal)] if equal.any() else None,
            b_eq=high[equal] if equal.any() else None,
            bounds=np.column_stack([lower, upper]),  # type: ignore[arg-type]
        )

    def __repr__(self) -> str:
        return f"Polyhedron({self._given.A.shape[0]} rows in {self.dim} dimensions)"

    def lmo(self, c: Vector) -> Vector:
        c = self._check(c, "c")
        if not c.any():
            return self._start.copy()
        self._need_box("lmo")
        return self._plain.solve_once(c).x.copy()

    def some_point(self) -> Vector:
        return self._start.copy()

    def lmo_bound(self, c: Vector, s: Vector) -> float:
        c = self._check(c, "c")
        self._need_box("lmo_bound")
        return self._box.dual_bound(c, self._plain.solve_once(c).duals) if c.any() else 0.0

    def lmo_cut(self, a: Vector, c: Vector, b: float, *, warm: float = 0.0) -> Cut:
        """One linear programme with the cut as a row: it costs less than the search on the dual.

        That search takes over where HiGHS finds no point, or leaves a gap that its tolerances explain.
        """
        a, c, b = checked(self, a, c, b)
        self._need_box("lmo_cut")
        try:
            found = self._with_cut.solve(a, (c, b))
        except LinearProgramError:
            return cut_by_dual(self, a, c, b, warm)
        size = np.abs(found.x)
        size_c = abs(b) + float(np.abs(c) @ size)
        if float(c @ found.x) > b + EXACT * size_c:
            return cut_by_dual(self, a, c, b, warm)
        multiplier = found.cut_dual
        minimum = self._box.dual_bound(a + np.longdouble(multiplier) * c, found.duals) - multiplier * b
        gap = float(a @ found.x) - minimum
        if gap > 1e-11 * (float(np.abs(a) @ size) + multiplier * size_c):
            other = cut_by_dual(self, a, c, b, multiplier)
            if float(a @ other.point) < float(a @ found.x):
                return other
        status = CutStatus.ACTIVE if multiplier > 0 else CutStatus.INACTIVE
        return Cut(found.x, multiplier, max(0.0, gap), status)

    def project(self, x: Vector) -> Vector:
        x = self._check(x, "x")
        if self.contains(x, 0.0):
            return x.copy()
        if self.bounded:
            return nearest_point(self._box, x, self._size, self.lmo)
        part = self._around(x)
        programme = LinearProgram(part, self._sizes)
        return nearest_point(part, x, self._size, lambda c: programme.solve(c).x)

    def _around(self, x: Vector) -> Rows:
        """A bounded part of the set that holds all points as near to x as a point that is known."""
        far = 1.01 * float(np.linalg.norm(self._start - x)) + 1e-9 * self._size
        lower, upper = np.maximum(self._box.lower, x - far), np.minimum(self._box.upper, x + far)
        return self._box._replace(lower=lower, upper=upper)

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        """Whether x is in Z up to ``tol`` times the sizes of the terms of each row, and of each bound.

        Bounds that are not crossed have no part in it. Terms count as at least a thousandth of what the data make of
        the variables' sizes, so that entries which are nothing but rounding do not decide.
        """
        x = self._check(x, "x")
        rows = self._given
        size = np.maximum(np.abs(x), 1e-3 * self._sizes)
        Ax, terms = rows.A @ x, abs(rows.A) @ size
        return all(
            _above(value, low, at, tol) and _above(-value, -high, at, tol)
            for value, low, high, at in ((Ax, rows.low, rows.high, terms), (x, rows.lower, rows.upper, size))
        )

    def distance_outside(self, x: Vector) -> float:
        """The distance to a point nearby that misses no row by more than its rounding, and that rounding."""
        x = self._check(x, "x")
        near = pulled_back(self._given, x)
        if near is None:
            near = pulled_back(self._given, self.project(x))
        return np.inf if near is None else length_of(x - near) + beside_rows(self._given, near)

    @property
    def diameter(self) -> float:
        return float(np.linalg.norm(self._box.upper - self._box.lower))

    @cached_property
    def rows(self) -> ByRows:
        return ByRows(*self._given)

    @cached_property
    def recognised(self) -> Domain:
        """A simplex, where that is all that the rows say."""
        return simplex_of(self._given) or self

    @property
    def outer_box(self) -> tuple[Vector, Vector]:
        return self._known_box.lower, self._known_box.upper

    @property
    def polyhedral(self) -> Polyhedral:
        return Polyhedral(self._given, self._known_box, self._start)

    @property
    def split_rows(self) -> Rows:  # type: ignore[override]
        return self._given

    # -- what is proved about the set: when it is made or, where that may take long, when it is first needed ----------

    def _prove(self) -> None:
        """Find a point, or raise, and a box, if there is one."""
        assert self._box.lower.size == self._sizes.size

    @property
    def _small(self) -> bool:
        m, n = self._given.A.shape
        return bool((m + n) * n <= AT_ONCE)

    @cached_property
    def bounded(self) -> bool:  # type: ignore[override]
        return self._boxed[1] is None

    @property
    def oracles(self) -> frozenset[str]:  # type: ignore[override]
        """A large set has them all until one of them has shown that it is unbounded."""
        known = self._small or self._goes_on or "_boxed" in vars(self)
        return Domain.oracles if not known or self.bounded else WITHOUT_LMO

    @cached_property
    def _goes_on(self) -> bool:
        """Whether some variable alone may go on for ever, which is seen at once."""
        try:
            refuse_free_columns(self._known_box)
        except NoBox:
            return True
        return False

    def _need_box(self, oracle: str) -> None:
        if self._boxed[1] is not None:
            raise MissingOracle(f"no {oracle} over an unbounded set: {self._boxed[1]}")

    @cached_property
    def _start(self) -> Vector:
        return feasible_point(self._given)

    @property
    def _box(self) -> Rows:
        return self._boxed[0]

    @cached_property
    def _boxed(self) -> tuple[Rows, NoBox | None]:
        """The rows with bounds on all variables; where there are none, those that single rows imply, and why."""
        try:
            return outer_box(self._given, self._start), None
        except NoBox as why:
            return propagated(self._given), why.with_traceback(None)

    @cached_property
    def _known_box(self) -> Rows:
        """The same without the proof where that may take long: what is left open, engines see to."""
        return self._box if self._small else propagated(self._given)

    @cached_property
    def _sizes(self) -> Vector:
        """By the data; of variables without bounds that rows fix at zero but for rounding, those say nothing."""
        sizes = typical_size(self._box, self._start)
        implied = np.isinf(self._given.lower) | np.isinf(self._given.upper)
        return np.where(implied, np.maximum(sizes, NEXT_TO_NOTHING * float(sizes.max())), sizes)

    @cached_property
    def _size(self) -> float:
        return float(self._sizes.max()) or 1.0

    @cached_property
    def _plain(self) -> LinearProgram:
        return LinearProgram(self._given, self._sizes)

    @cached_property
    def _with_cut(self) -> LinearProgram:
        return LinearProgram(self._given, self._sizes)


def _above(value: Vector, end: Vector, size: Vector, tol: float) -> bool:
    """Whether all values are above their ends, up to ``tol`` times what they are made of."""
    short = np.flatnonzero(value < end)
    return bool((end[short] - value[short] <= tol * np.maximum(size[short], np.abs(end[short]))).all())


def _rows(A: Any, b: ArrayLike | None, which: str) -> tuple[Matrix | None, Vector]:
    """The pair A_which, b_which, checked; (None, empty) where it is not given."""
    if A is None and b is None:
        return None, np.zeros(0)
    if A is None or b is None:
        raise ValueError(f"A_{which} and b_{which} go together: one of them is missing")
    matrix: Matrix = A
    if sp.issparse(A):
        matrix = as_sparse(A, f"A_{which}").tocsr(copy=True)
    else:
        dense = as_real_array(A, f"A_{which}")
        if dense.ndim != 2:
            raise ValueError(f"A_{which} must be a 2-D array, got shape {dense.shape}")
        matrix = sp.csr_array(dense)
    if matrix.shape[1] == 0:
        raise ValueError(f"A_{which} has no columns")
    if matrix.shape[0] == 0:
        if np.size(b) > 0:
            raise ValueError(f"A_{which} has no rows, but b_{which} has {np.size(b)} entries")
        return matrix, np.zeros(0)
    right = as_vector(b, f"b_{which}", matrix.shape[0])
    blank = np.flatnonzero(abs(matrix).sum(axis=1) == 0)
    wrong = right[blank] < 0 if which == "ub" else right[blank] != 0
    if wrong.any():
        i = int(blank[wrong][0])
        raise ValueError(f"the set is empty: row {i} of A_{which} is zero, and b_{which}[{i}] is {right[i]:g}")
    return matrix, right


def _dimension(upper_rows: Matrix | None, equal_rows: Matrix | None, bounds: Any) -> int:
    counts = {rows.shape[1] for rows in (upper_rows, equal_rows) if rows is not None}
    if len(counts) > 1:
        raise ValueError(f"A_ub has {upper_rows.shape[1]} columns but A_eq has {equal_rows.shape[1]}")  # type: ignore[union-attr]
    if counts:
        return int(counts.pop())
    if bounds is None or is_pair(bounds):
        raise ValueError(
            "the number of variables is unknown: give A_ub or A_eq, or one (low, high) pair for each variable"
        )
    return len(bounds)
