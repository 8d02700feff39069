"""A set from callables."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import UNIT_ROUNDOFF, Vector, as_count, as_scalar, as_vector
from ..usercode import call
from .base import Cut, Domain, MissingOracle
from .cuts.dual import cut_by_dual, project_by_dual
from .outside import length_of

MAX_CORNERS = 500


class FromOracles(Domain):
    """A compact convex set known through the functions that are given.

    Parameters
    ----------
    lmo : callable, optional
        ``lmo(c)`` returns a minimiser of <c, s> over the set. It also gives ``lmo_cut``.
    project : callable, optional
        ``project(x)`` returns the point of the set nearest to x. With ``lmo`` it also gives ``project_cut``.
    contains : callable, optional
        ``contains(x, tol)`` tells whether x is in the set. Without it, x is compared with its projection; with
        neither, the set is searched through ``lmo`` for a point that near to x, and a point is not taken to be
        in the set unless that search finds it there.
    diameter : float, optional
        An upper bound on the distance of two points.
    dim : int, optional
        The length of the points; any length by default.

    Raises
    ------
    MissingOracle
        When an oracle is called that was not given and does not follow from those that were.

    Notes
    -----
    Answers are checked for their shape and for NaN or infinite entries. ``solve`` compares them with each other, and
    raises ``OracleError`` where they cannot all be right: an ``lmo`` that is no minimiser over the points known, a
    ``project`` or ``contains`` that contradicts it, a ``diameter`` that is too small. Bounds computed with ``lmo`` are
    as good as the function given: ``assumes`` says so.

    Examples
    --------
    >>> import numpy as np
    >>> box = FromOracles(lmo=lambda c: -np.sign(c), dim=2)
    >>> box.lmo(np.array([1.0, -2.0]))
    array([-1.,  1.])
    >>> box.lmo_cut(np.array([-1.0, -2.0]), np.array([0.0, 1.0]), 0.5).point
    array([1. , 0.5])
    >>> box.contains(np.array([0.3, 1.0])), box.contains(np.array([0.3, 1.1]))
    (True, False)
    >>> box.project(np.array([2.0, 0.0]))
    Traceback (most recent call last):
    ...
    tiebreak.sets.base.MissingOracle: this set has no projection; pass project=... to FromOracles
    """

    def __init__(
        self,
        lmo: Callable[[Vector], ArrayLike] | None = None,
        project: Callable[[Vector], ArrayLike] | None = None,
        contains: Callable[[Vector, float], bool] | None = None,
        diameter: float = inf,
        dim: int | None = None,
    ) -> None:
        given = {"lmo": lmo, "project": project, "contains": contains}
        for name, function in given.items():
            if function is not None and not callable(function):
                raise TypeError(f"{name} must be a function or None, got {function!r}")
        if lmo is None and project is None:
            raise TypeError("FromOracles needs lmo, project or both")
        self._lmo, self._project, self._contains = lmo, project, contains
        self._diameter = inf if diameter is inf or diameter == inf else as_scalar(diameter, "diameter")
        if self._diameter < 0:
            raise ValueError(f"diameter must not be negative, got {self._diameter:g}")
        self.dim = None if dim is None else as_count(dim, "dim")
        self.by_user, self.searches = True, contains is None and project is None
        named = [name for name in ("lmo", "project", "contains") if given[name] is not None]
        self.assumes = f"the {' and '.join(named)} given to FromOracles {'is' if len(named) == 1 else 'are'} exact"
        names = {"contains"}
        if lmo is not None:
            names |= {"lmo", "lmo_cut"}
        if project is not None:
            names |= {"project"}
        if lmo is not None and project is not None:
            names |= {"project_cut"}
        self.oracles = frozenset(names)

    def __repr__(self) -> str:
        return f"FromOracles({', '.join(sorted(self.oracles))})"

    def lmo(self, c: Vector) -> Vector:
        c = self._check(c, "c")
        if self._lmo is None:
            raise MissingOracle("this set has no linear minimisation oracle; pass lmo=... to FromOracles")
        return self._answer("lmo", self._lmo, c)

    def lmo_cut(self, a: Vector, c: Vector, b: float, *, warm: float = 0.0) -> Cut:
        return cut_by_dual(self, a, c, b, warm)

    def project(self, x: Vector) -> Vector:
        x = self._check(x, "x")
        if self._project is None:
            raise MissingOracle("this set has no projection; pass project=... to FromOracles")
        return self._answer("project", self._project, x)

    def project_cut(self, x: Vector, c: Vector, b: float) -> Vector:
        return project_by_dual(self, x, c, b)

    def contains(self, x: Vector, tol: float = 1e-9) -> bool:
        x = self._check(x, "x")
        if self._contains is not None:
            inside = np.asarray(call("contains", self._contains, x, tol))
            if inside.shape != () or inside.dtype.kind not in "biu":
                raise TypeError(f"contains(x, tol) must return True or False, got {inside!r}")
            return bool(inside)
        if self._project is None:
            return self._found(x, tol)
        nearest = self.project(x)
        size = min(self._diameter, max(_norm(x), _norm(nearest)))
        return _norm(x - nearest) <= max(tol, x.size * UNIT_ROUNDOFF) * size

    @property
    def diameter(self) -> float:
        return self._diameter

    def _answer(self, name: str, oracle: Callable[[Vector], ArrayLike], v: Vector) -> Vector:
        """A copy, as the function may return the same array each time."""
        return as_vector(call(name, oracle, v), f"the answer of {name}", v.size).copy()

    def distance_outside(self, x: Vector) -> float:
        """The distance to the projection, or to a mix of corners that lmo has given."""
        if self._contains is not None and self.contains(x, 0.0):
            return 0.0
        nearest = self._mixed(self._check(x, "x"), 0.0)[0] if self._project is None else self.project(x)
        return length_of(x - nearest) + (x.size + 8) * UNIT_ROUNDOFF * _norm(x)

    def _found(self, x: Vector, tol: float) -> bool:
        return self._mixed(x, tol)[1]

    def _mixed(self, x: Vector, tol: float) -> tuple[Vector, bool]:
        """Fully corrective conditional gradient on |s - x|^2: the nearest mix of the corners that lmo has given, and
        whether it is x up to ``tol``.

        It ends with a point near x, with a direction in which the set stays away from x, or undecided.
        """
        from scipy.optimize import nnls

        corners = [self.lmo(np.ones(x.size))]
        nearest, size = corners[0], _norm(corners[0])
        for _ in range(MAX_CORNERS):
            margin = max(tol, x.size * UNIT_ROUNDOFF) * max(_norm(x), size)
            c = nearest - x
            if _norm(c) <= margin:
                return nearest, True
            corner = self.lmo(c / np.abs(c).max())
            if float(c @ (corner - x)) > margin * _norm(c):
                return nearest, False
            corners.append(corner)
            size = max(size, _norm(corner))
            offsets = np.array(corners).T - x[:, None]
            unit = float(np.abs(offsets).max())
            rows = np.vstack([offsets / unit, np.ones(len(corners))])
            weights = nnls(rows, np.append(np.zeros(x.size), 1.0))[0]
            weights /= weights.sum()
            corners = [corner for corner, weight in zip(corners, weights, strict=True) if weight > 0]
            nearest = weights[weights > 0] @ np.array(corners)
        return nearest, False


def _norm(x: Vector) -> float:
    return float(np.linalg.norm(x))
