"""Norms and pieces in exact solves: linear where signs are known, else linear in further variables.

Over the points (p, n) with p, n >= 0 and x = p - n in Z, sum_i w_i |x_i| becomes <w, p + n>: a minimiser has
p_i + n_i = |x_i| wherever some level has a weight there, and both optimal values are those of the problem in x. Sets
that limit such a sum, alone or as factors of a product, become polyhedra in (p, n) likewise: bounds, and their own
rows. A piecewise linear function of a level, which says itself that it is the least <c, t> over some rows, gets its t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import UNIT_ROUNDOFF, Vector
from ..objectives.base import Objective
from ..objectives.form import Slope
from ..problem import Problem
from ..sets.base import Domain
from .answer import Answer
from .task import Task

if TYPE_CHECKING:
    from ..objectives.piecewise import Piecewise
    from ..sets.epigraph import Above


def why_not_lifted(levels: Sequence[Objective], domain: Domain, chain: bool = False) -> str:
    """Empty where levels and domain can be written without absolute values and pieces, else the reason why not.

    Where the levels have none, the domain is left as it is, unless a ``chain`` or a lack of vertices asks for its rows.
    """
    if domain.polytope and not chain and _is_plain(levels):
        return ""
    if grouped := [norm for level in levels for norm in level.norms if norm.groups is not None]:
        return f"a {type(grouped[0]).__name__} is not piecewise linear"
    pieces = _pieces(levels)
    if operators := [piece for piece in pieces if piece.data.kind == "operator"]:
        return f"{operators[0].title} holds a LinearOperator, not a matrix"
    assert domain.dim is not None
    if (chain or pieces or _open(levels, domain).size) and domain.rows is None:
        named = [*(type(norm).__name__ for level in levels for norm in level.norms), *(p.title for p in pieces)]
        over = f"{named[0]} over " if named else ""
        return f"{over}{domain!r}, which is not a polytope whose rows are known"
    if not pieces and not _open(levels, domain, chain).size:
        return ""
    from .smooth.refuses import why_not_smooth

    convex = [level.smooth_part for level in levels if level.convex]
    return next((why for level in convex if (why := why_not_smooth(level))), "")


@dataclass(frozen=True)
class Lift:
    """A task without norms and pieces, in (p, n, t); ``index`` are the positions of x that are differences p - n.

    Examples
    --------
    The sparsest solution of 2 x1 + x2 + x3 = 2:

    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.L1Norm(), tb.LeastSquares([[2.0, 1.0, 1.0]], [2.0]), tb.L1Ball(4.0))
    >>> choice = tb.plan(problem).choice
    >>> choice.reductions[0].name
    'positive and negative parts'
    >>> answer = choice.solve()
    >>> answer.x.round(12) + 0.0, answer.lower_unique
    (array([1., 0., 0.]), False)
    """

    original: Task
    task: Task
    index: NDArray[np.intp]

    @classmethod
    def of(cls, original: Task, chain: bool = False) -> Lift:
        """With absolute values where a norm has a weight and the domain shows no sign, or its rows mention them."""
        levels, domain = original.levels, original.domain
        assert domain.dim is not None
        if domain.polytope and not chain and _is_plain(levels):
            return cls(original, original, np.zeros(0, dtype=np.intp))
        index, pieces = _open(levels, domain, chain), _pieces(levels)
        known = domain.signs(domain.dim)
        blocks = [_above(piece, domain) for piece in pieces]
        lifted = _lifted(domain, index, blocks) if index.size or blocks else domain
        starts = domain.dim + index.size + np.cumsum([0, *(block.lower.size for block in blocks)])
        plain, done = [], 0
        for level in levels:
            own = starts[done : done + len(level.pieces)]
            plain.append(_without_norms(level, known, index, own, int(starts[-1])))
            done += len(level.pieces)
        return cls(original, Task(tuple(plain), lifted), index)

    @property
    def name(self) -> str:
        """In words."""
        new = ["positive and negative parts"] if self.index.size else []
        new += ["pieces as further variables"] if _pieces(self.original.levels) else []
        return ", ".join(new) or "norms as linear terms, by known signs"

    def invert(self, answer: Answer) -> Answer:
        """The x of a point (p, n, t), and what uniqueness there means for x."""
        levels, domain = self.original.levels, self.original.domain
        unique, constant = answer.lower_unique, answer.upper_constant
        if len(levels) > 2:
            unique, constant = unique or None, unique or None
        elif _pieces(levels[1:]) or not (weights_of(levels[0], domain.dim or 0)[self.index] > 0).all():
            # then p + n and t are free at lower solutions, but the lower level alone may have fewer such variables
            fewer = bool(_pieces(levels[1:])) or _open(levels[:1], domain).size < self.index.size
            if not unique:
                unique = self._alone_unique(answer) if len(levels) == 2 and fewer else None
            constant = unique or None
        duals = answer.duals if self.task.domain is domain else ()
        return replace(answer, x=self.point(answer.x), lower_unique=unique, upper_constant=constant, duals=duals)

    def _alone_unique(self, answer: Answer) -> bool | None:
        """Whether the first of two levels has one minimiser only: alone, where that is not plain."""
        from .choice import choose_engine

        level, domain = self.original.levels[0], self.original.domain
        if answer.moves is not None and np.isfinite(answer.f_upper):
            far = np.abs(answer.moves) * (1 + 1e-12) + 4 * UNIT_ROUNDOFF * np.abs(answer.x)
            moves = far[: domain.dim]
            moves[self.index] += far[domain.dim :][: self.index.size]
            if _are_several(level, domain, self.point(answer.x), moves):
                return False
        choice = choose_engine(Problem(level, [], domain))
        return choice.solve().lower_unique if choice.engine else None

    def point(self, lifted: Vector) -> Vector:
        """The x of a point (p, n, t)."""
        dim = self.original.domain.dim or 0
        x = lifted[:dim].copy()
        x[self.index] -= lifted[dim : dim + self.index.size]
        return x


def _are_several(level: Objective, domain: Domain, x: Vector, moves: Vector) -> bool:
    """Whether a level has several minimisers for certain, one of them within ``moves`` of x, entry by entry.

    That is so where more entries are away from their bounds than the level has rows, with those of the domain that may
    be tight: some direction changes none of them. A tight row that mentions the size of an entry needs its sign.
    """
    form, Z = level.form, domain.rows
    if form is None or Z is None or form.bends or form.norms or form.pieces or not form.matrices:
        return False
    heights = [0 if data is None or not loss.separable else data.raw.shape[0] for loss, data, _ in form.losses]
    if not all(heights):
        return False
    count = sum(heights) + len(form.linear)
    free = (x - moves > Z.lower) & (x + moves < Z.upper)
    sizes = abs(Z.A) if Z.B is None else abs(Z.A) + Z.B
    activity = Z.A @ x if Z.B is None else Z.A @ x + Z.B @ np.abs(x)
    far = sizes @ moves + (x.size + 8) * UNIT_ROUNDOFF * (sizes @ np.abs(x))
    tight = ~((activity - far > Z.low) & (activity + far < Z.high))
    if Z.B is not None and tight.any():
        free &= (np.abs(x) > moves) | ~np.isin(np.arange(x.size), Z.B[np.flatnonzero(tight)].indices)
    return int(free.sum()) > count + int(tight.sum())


def weights_of(objective: Objective, dim: int) -> Vector:
    """The weights of the l1 norms in an objective, summed."""
    return sum((norm.weights for norm in objective.norms), np.zeros(dim))


def _open(levels: Sequence[Objective], domain: Domain, chain: bool = False) -> NDArray[np.intp]:
    """The positions where a norm has a weight and the domain shows no sign, with those that its rows mention."""
    d = domain.dim or 0
    weighted = sum((weights_of(level, d) for level in levels), np.zeros(d)) > 0
    index = np.flatnonzero(weighted & (domain.signs(d) == 0))
    if domain.rows is None or not (chain or index.size or _pieces(levels) or not domain.polytope):
        return index
    return np.union1d(index, domain.rows.absolute)


def _pieces(levels: Sequence[Objective]) -> list[Piecewise]:
    return [piece for level in levels for piece in level.pieces]


def _is_plain(levels: Sequence[Objective]) -> bool:
    """Whether there are neither norms nor pieces."""
    return not any(level.norms or level.pieces for level in levels)


def _lifted(domain: Domain, index: NDArray[np.intp], blocks: list[Above]) -> Domain:
    """The domain with variables for negative parts and for pieces."""
    from ..sets.epigraph import signed_parts, with_variables

    parted = signed_parts(domain, index) if index.size else domain
    return with_variables(parted, [_of_parts(block, index) for block in blocks]) if blocks else parted


def _of_parts(block: Above, index: NDArray[np.intp]) -> Above:
    """Rows of x as rows of its parts."""
    G = sp.csr_array(block.G)
    return block._replace(G=sp.csr_array(sp.hstack([G, -G[:, index]])))


def _above(piece: Piecewise, domain: Domain) -> Above:
    """The variables of a piece: those between the bounds that Z sets to its residuals."""
    from ..objectives.piecewise import residuals_between
    from ..sets.epigraph import Above

    S, T, _ = piece.epigraph
    low, high = residuals_between(piece.A, piece.b, *domain.outer_box)
    return Above(S @ piece.A, T, np.asarray(S @ piece.b), *piece.extents(low, high))


def _without_norms(
    objective: Objective, known: Vector, index: NDArray[np.intp], starts: NDArray[np.intp], total: int
) -> Objective:
    """The objective in (p, n, t), with costs for its norms, and for its pieces, whose t begin at ``starts``."""
    from ..objectives.algebra import Sum, Widened
    from ..objectives.linear import Slopes

    w, smooth = weights_of(objective, known.size), objective.smooth_part
    costs = np.concatenate([w * known, w[index], np.zeros(total - known.size - index.size)])
    costs[index] = w[index]
    slopes = [Slope(costs)] if costs.any() else []
    for piece, start in zip(objective.pieces, starts, strict=True):
        own, at = piece.epigraph.costs, np.zeros(total)
        at[start : start + own.size] = own
        slopes.append(Slope(at, piece.factor))
    wide = Widened(smooth, known.size, total - known.size, index) if total > known.size else smooth
    return Sum(wide, Slopes(*slopes)) if slopes else wide
