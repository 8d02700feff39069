"""Chains with smooth losses over polyhedra: ``engines/rows``, with one more kind of level."""

from __future__ import annotations

from collections.abc import Sequence

from ...arrays import Vector
from ...numerics.extended import is_sparse
from ...objectives.base import Objective
from ...objectives.form import Term
from ...sets.base import Domain
from ..answer import Answer
from ..rows.level import DENSE, Level
from ..rows.solve import Kinds, solve_rows, why_no_rows
from .chain import SmoothChain
from .constant import ConstantLevel, why_not_constant
from .curves import why_not_smooth
from .level import SmoothLevel

MOST_COLUMNS = 1000
"""Up to this many variables, further ones for absolute values included, Newton's method takes seconds."""
MOST_ENTRIES = 20_000_000


def _level(levels: Sequence[Objective], k: int, dim: int, length: float, sizes: Vector) -> Level:
    if not levels[k].convex:
        return ConstantLevel.last(levels, dim, length)
    return SmoothLevel.of(levels[k].form, dim, length, sizes)


KINDS = Kinds(SmoothChain, _level)


def smooth_apply(levels: Sequence[Objective], domain: Domain) -> str:
    """Empty where ``solve_smooth_chain`` applies, else the reason why not."""
    if not levels[-1].convex:
        if why := why_not_constant(levels):
            return f"level {len(levels) - 1}: {why}"
        levels = levels[:-1]
    if why := why_no_rows(levels, domain, why_not_smooth):
        return why
    dim = domain.dim or next(level.dim for level in levels if level.dim)
    terms = [term for level in levels if level.form for term in level.form.losses if term.data is not None]
    if dim > MOST_COLUMNS:
        return f"second derivatives of losses are dense matrices here, and {dim} variables are too many for them"
    for term in terms:
        if _entries(term, dim) > MOST_ENTRIES:
            size = f"{_height(term)} x {dim}"
            return f"products of second derivatives with steps take long here, and {size} are too many for them"
    return ""


def _height(term: Term) -> int:
    """How many rows a loss has where its terms are apart."""
    rows = term.data.shape[0] if term.data is not None else 0
    return rows if term.loss.uncoupled is None else int(term.loss.uncoupled[0].shape[0])


def _entries(term: Term, dim: int) -> float:
    """Those of the data as they are taken; of sparse ones in so many columns, what products with steps cost as much."""
    assert term.data is not None
    data, height = term.data.raw, _height(term)
    if dim <= DENSE or not is_sparse(data):
        return float(height) * dim
    rows = 1.0 if term.loss.uncoupled is None else 2 * height / data.shape[0]  # differences of two each
    return min(float(height) * dim, float(data.nnz) * rows * dim / DENSE)


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
