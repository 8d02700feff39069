"""The box."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ..arrays import Vector, as_count, as_numbers
from .base import WITHOUT_LMO, Cut, CutStatus, Domain, MissingOracle, signs_within
from .cuts.crossing import EXACT, SHORTFALL
from .cuts.dual import checked
from .faces import Face
from .outside import length_of
from .rows import ByRows, Polyhedral, bounds_alone

if TYPE_CHECKING:
    from .round.flat import BoxBlock


class Box(Domain):
    """The box {s : lower <= s <= upper}.

    Parameters
    ----------
    lower, upper : array or float
        The bounds; a number stands for all coordinates. Equal bounds fix a coordinate. Ends may be infinite:
        ``Box(0, inf)`` is the orthant. A box with such an end has no linear minimisation oracle.
    dim : int, optional
        The dimension, where both bounds are numbers. Without it such a box fits any dimension, and its
        diameter counts as infinite.

    Notes
    -----
    With a cut, the minimiser is that of a continuous knapsack: starting from the minimiser of <a, s>,
    coordinates go from one bound to the other in the order of the price |a_i / c_i| at which they repair
    the cut, and the last one goes part of the way.

    Examples
    --------
    >>> import numpy as np
    >>> box = Box(0.0, [1.0, 2.0])
    >>> box.lmo(np.array([1.0, -3.0]))
    array([0., 2.])
    >>> box.lmo_cut(np.array([-1.0, -3.0]), np.array([1.0, 1.0]), 2.5).point
    array([0.5, 2. ])
    >>> box.project(np.array([-4.0, 1.5]))
    array([0. , 1.5])
    >>> Box(0.0, np.inf, dim=2).project(np.array([-4.0, 1.5]))
    array([0. , 1.5])
    """

    polytope = True
    shrinks = True  # entries do not meet: each of them does

    def __init__(self, lower: ArrayLike, upper: ArrayLike, dim: int | None = None) -> None:
        self.lower = _bound(lower, "lower")
        self.upper = _bound(upper, "upper")
        sizes = {bound.size for bound in (self.lower, self.upper) if bound.ndim}
        if len(sizes) > 1:
            raise ValueError(f"lower has length {self.lower.size}, but upper has length {self.upper.size}")
        if dim is not None:
            sizes.add(as_count(dim, "dim"))
            if len(sizes) > 1:
                raise ValueError(f"dim = {dim} does not fit the length of lower and upper; leave it out")
        self.dim = sizes.pop() if sizes else None
        if np.any(self.lower > self.upper):
            raise ValueError("lower must not be above upper in any coordinate; the box would be empty")
        if np.any(self.lower == inf) or np.any(self.upper == -inf):
            raise ValueError(
                "lower must be below inf and upper above -inf in every coordinate; there is no number else"
            )
        self.bounded = bool(np.isfinite(self.lower).all() and np.isfinite(self.upper).all())
        if not self.bounded:
            self.polytope, self.oracles = False, WITHOUT_LMO

    def __repr__(self) -> str:
        if self.lower.ndim or self.upper.ndim:
            return f"Box(<{self.dim} coordinates>)"
        return f"Box({self.lower:g}, {self.upper:g}" + (")" if self.dim is None else f", dim={self.dim})")

    def lmo(self, c: Vector) -> Vector:
        c = self._check(c, "c")
        self._need_bounds("lmo")
        return np.where(c >= 0, self.lower, self.upper)

    def lmo_cut(self, a: Vector, c: Vector, b: float, *, warm: float = 0.0) -> Cut:
        a, c, b = checked(self, a, c, b)
        self._need_bounds("lmo_cut")
        lower, upper = np.broadcast_to(self.lower, a.shape), np.broadcast_to(self.upper, a.shape)
        s = np.where((a > 0) | ((a == 0) & (c >= 0)), lower, upper)
        size = float(np.abs(c) @ np.maximum(np.abs(lower), np.abs(upper))) + abs(b)
        if c @ s <= b + EXACT * size:
            return Cut(s, 0.0, 0.0, CutStatus.INACTIVE)
        best = np.where(c > 0, lower, np.where(c < 0, upper, s))
        least = float(c @ best)
        if least > b:
            status = CutStatus.INFEASIBLE if least > b + SHORTFALL * size else CutStatus.BOUNDARY
            return Cut(best, inf, inf, status)
        movable = np.flatnonzero(s != best)
        price = np.abs(a[movable] / c[movable])
        order = np.argsort(price)
        queue = movable[order]
        repaired = np.cumsum(np.abs(c[queue]) * (upper - lower)[queue])
        last = min(int(np.searchsorted(repaired, c @ s - b)), queue.size - 1)
        s[queue[:last]] = best[queue[:last]]
        i, lam = queue[last], float(price[order[last]])
        s[i] = np.clip(s[i] - (c @ s - b) / c[i], lower[i], upper[i])
        v = a + lam * c
        bound = float(v @ np.where(v >= 0, lower, upper)) - lam * b
        return Cut(s, lam, max(float(a @ s) - bound, 0.0), CutStatus.ACTIVE)

    def project(self, x: Vector) -> Vector:
        return np.clip(self._check(x, "x"), self.lower, self.upper)

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        """Whether x is in the box up to ``tol`` times the size of each entry and of the bound that it crosses.

        Entries count as at least a millionth of the largest one, as far as the box is that wide: below, they are
        nothing but rounding.
        """
        x = self._check(x, "x")
        size = np.maximum(np.abs(x), 1e-6 * np.minimum(np.abs(x).max(), self.upper - self.lower))
        low, high = (
            tol * np.maximum(size, np.where(np.isfinite(end), np.abs(end), 0.0)) for end in (self.lower, self.upper)
        )
        return bool(np.all(x >= self.lower - low) and np.all(x <= self.upper + high))

    def distance_outside(self, x: Vector) -> float:
        x = self._check(x, "x")
        return length_of(x - np.clip(x, self.lower, self.upper))

    @property
    def diameter(self) -> float:
        width = self.upper - self.lower
        if width.ndim:
            return float(np.linalg.norm(width))
        if self.dim is None:
            return inf if width > 0 else 0.0
        return float(np.sqrt(self.dim) * width)

    @cached_property
    def rows(self) -> ByRows | None:
        return None if self.dim is None else bounds_alone(*self._bounds(self.dim))

    @cached_property
    def round_block(self) -> BoxBlock | None:
        if self.dim is None:
            return None
        lower, upper = self._bounds(self.dim)
        finite = np.isfinite(lower).all() and np.isfinite(upper).all()
        if not finite:
            return None
        from .round.flat import BoxBlock

        return BoxBlock(lower, upper, self.distance_outside)

    @cached_property
    def polyhedral(self) -> Polyhedral:
        assert self.rows is not None
        given = self.rows.plain
        return Polyhedral(given, given, np.clip(np.zeros(given.lower.size), given.lower, given.upper))

    def signs(self, dim: int) -> Vector:
        return np.broadcast_to(signs_within(self.lower, self.upper), (dim,))

    def largest(self, size: Vector) -> float:
        most = np.broadcast_to(np.maximum(np.abs(self.lower), np.abs(self.upper)), size.shape)
        return float(np.sum(size[size > 0] * most[size > 0])) * (1 + 1e-10)

    def optimal_face(self, slope: Vector, doubt: Vector, most: int) -> Face | None:
        """A corner, and the same with one free coordinate at its other bound."""
        if not self.bounded:
            return None
        lower, upper = self._bounds(slope.size)
        corner = np.where(slope >= 0, lower, upper)
        free = (np.abs(slope) <= doubt) & (lower < upper)
        open_ones = np.flatnonzero(free)
        if (open_ones.size + 1) * slope.size > most:
            return None
        V = np.tile(corner, (open_ones.size + 1, 1))
        other = np.where(corner == lower, upper, lower)
        V[np.arange(1, open_ones.size + 1), open_ones] = other[open_ones]
        return BoxFace(sp.csr_array(V), open_ones.size, corner, other, free)

    def _bounds(self, dim: int) -> tuple[Vector, Vector]:
        """Both bounds of every coordinate."""
        return np.broadcast_to(self.lower, (dim,)).copy(), np.broadcast_to(self.upper, (dim,)).copy()

    def _need_bounds(self, oracle: str) -> None:
        if not self.bounded:
            raise MissingOracle(f"{self!r} has infinite ends: linear functions need not have a minimum, so no {oracle}")


@dataclass(frozen=True)
class BoxFace(Face):
    """Its ``free`` entries lie between those of ``corner`` and of ``other``; the others are those of ``corner``."""

    corner: Vector
    other: Vector
    free: NDArray[np.bool_]

    def least(self, c: Vector) -> float:
        return float(np.sum(np.where(self.free, np.minimum(c * self.corner, c * self.other), c * self.corner)))

    def holds(self, s: Vector) -> bool:
        return bool(np.all((s == self.corner) | self.free))

    def separated(self, p: Vector) -> Vector:
        return p  # a sign is never in doubt


def _bound(value: ArrayLike, name: str) -> np.ndarray:
    bound = as_numbers(value, name).copy()
    if np.isnan(bound).any():
        raise ValueError(f"{name} holds NaN entries; an end that does not matter is inf or -inf")
    if bound.ndim > 1 or bound.size == 0:
        raise ValueError(f"{name} must be a number or a 1-D array that is not empty, got shape {bound.shape}")
    return bound
