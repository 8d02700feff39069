"""Chains with smooth losses over polyhedra: ``engines/rows``, with one more kind of level."""

from __future__ import annotations

from collections.abc import Sequence

from ...arrays import Vector
from ...objectives.base import Objective
from ...sets.base import Domain
from ..answer import Answer
from ..rows.level import Level
from ..rows.solve import Kinds, solve_rows
from .chain import SmoothChain
from .constant import ConstantLevel
from .level import SmoothLevel


def _level(levels: Sequence[Objective], k: int, dim: int, length: float, sizes: Vector) -> Level:
    if not levels[k].convex:
        return ConstantLevel.last(levels, dim, length)
    return SmoothLevel.of(levels[k].form, dim, length, sizes)


KINDS = Kinds(SmoothChain, _level)


def solve_smooth_chain(levels: Sequence[Objective], domain: Domain, *, tol: float = 1e-10) -> list[Answer]:
    """Minimise each level over the minimisers of those before it, the first being the most important.

    Parameters
    ----------
    levels : sequence of objectives
        Sums of losses whose terms are known in extended precision, such as Logistic, and of all that ``solve_rows``
        takes.
    domain : set with rows that mention no absolute values, as Polyhedron, Box, Simplex, Birkhoff and products of these
        The set of the first level.
    tol : float
        The relative width of a level's bracket with which an answer is accepted at once.

    Returns
    -------
    list of Answer
        One a level. Its f is that level and its g the level before (for the first level, itself).

    Examples
    --------
    The classifier of least norm among the best in a box; the second column repeats the first:

    >>> import tiebreak as tb
    >>> from tiebreak.engines.smooth.solve import solve_smooth_chain
    >>> A, y = [[1.0, 1.0], [2.0, 2.0], [-1.0, -1.0]], [1, 0, 0]
    >>> answers = solve_smooth_chain([tb.Logistic(A, y), tb.SquaredNorm()], tb.Box(-5, 5, dim=2))
    >>> answers[-1].x.round(6), answers[-1].f_upper - answers[-1].f_lower < 1e-12
    (array([0., 0.]), True)
    """
    return solve_rows(levels, domain, tol=tol, kinds=KINDS)
