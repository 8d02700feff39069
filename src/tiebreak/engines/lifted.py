"""L1 norms in exact solves: linear where signs are known, else linear in further variables t >= |x|.

Over the points (x, t) with x in Z and |x_i| <= t_i, sum_i w_i |x_i| becomes <w, t>: a minimiser has t_i = |x_i|
wherever some level has a weight on t_i, and both optimal values are those of the problem in x. Sets that limit such a
sum, alone or as factors of a product, become polyhedra in (x, t) likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..arrays import Vector
from ..objectives import Linear, Objective, Sum, Widened
from ..problem import Problem
from ..sets import Domain
from ..sets.epigraph import absolute_values
from .answer import Answer
from .choice import Task


def why_not_lifted(levels: Sequence[Objective], domain: Domain, chain: bool = False) -> str:
    """Empty where levels and domain can be written without absolute values, else the reason why not.

    Where the levels have none, the domain is left as it is, unless a ``chain`` or a lack of vertices asks for its rows.
    """
    if grouped := [norm for level in levels for norm in level.norms if norm.groups is not None]:
        return f"a {type(grouped[0]).__name__} is not piecewise linear"
    assert domain.dim is not None
    if (chain or _open(levels, domain).size) and domain.rows is None:
        norms = any(level.norms for level in levels)
        return f"{'L1Norm over ' if norms else ''}{domain!r}, which is not a polytope whose rows are known"
    if not _open(levels, domain, chain).size:
        return ""
    from .rows.level import why_not_quadratic

    return next((why for level in levels if (why := why_not_quadratic(level.smooth_part))), "")


@dataclass(frozen=True)
class Lift:
    """A task without norms, in (x, t); ``index`` are the positions of x whose absolute values are in t.

    Examples
    --------
    The sparsest solution of 2 x1 + x2 + x3 = 2:

    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.L1Norm(), tb.LeastSquares([[2.0, 1.0, 1.0]], [2.0]), tb.L1Ball(4.0))
    >>> choice = tb.plan(problem).choice
    >>> choice.reductions[0].name
    'absolute values as further variables'
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
        index = _open(levels, domain, chain)
        known = domain.signs(domain.dim)
        plain = tuple(_without_norms(level, known, index) for level in levels)
        return cls(original, Task(plain, absolute_values(domain, index) if index.size else domain), index)

    @property
    def name(self) -> str:
        """In words."""
        return "absolute values as further variables" if self.index.size else "norms as linear terms, by known signs"

    def invert(self, answer: Answer) -> Answer:
        """The x of a point (x, t), and what uniqueness in (x, t) means for x."""
        levels, domain = self.original.levels, self.original.domain
        unique, constant = answer.lower_unique, answer.upper_constant
        if len(levels) > 2:
            unique, constant = unique or None, unique or None
        elif not (weights_of(levels[0], domain.dim or 0)[self.index] > 0).all():  # then t is free at lower solutions
            # then the lower level alone has fewer such t
            fewer = len(levels) == 2 and _open(levels[:1], domain).size < self.index.size
            unique = _alone_unique(levels[0], domain) if fewer else unique or None
            constant = unique or None
        return replace(answer, x=self.point(answer.x), lower_unique=unique, upper_constant=constant)

    def point(self, lifted: Vector) -> Vector:
        """The x of a point (x, t): where t is zero, so is x, which rounding may have left a little beside it."""
        dim = self.original.domain.dim or 0
        x, t = lifted[:dim].copy(), lifted[dim:]
        x[self.index] = np.clip(x[self.index], -t, t)
        return x


def _alone_unique(level: Objective, domain: Domain) -> bool | None:
    """Whether a level alone has one minimiser only."""
    from .choice import choose_engine

    choice = choose_engine(Problem(level, [], domain))
    return choice.solve().lower_unique if choice.engine else None


def weights_of(objective: Objective, dim: int) -> Vector:
    """The weights of the l1 norms in an objective, summed."""
    return sum((norm.weights for norm in objective.norms), np.zeros(dim))


def _open(levels: Sequence[Objective], domain: Domain, chain: bool = False) -> NDArray[np.intp]:
    """The positions where a norm has a weight and the domain shows no sign, with those that its rows mention."""
    d = domain.dim or 0
    weighted = sum((weights_of(level, d) for level in levels), np.zeros(d)) > 0
    index = np.flatnonzero(weighted & (domain.signs(d) == 0))
    if domain.rows is None or not (chain or index.size or not domain.polytope):
        return index
    return np.union1d(index, domain.rows.absolute)


def _has_sizes(domain: Domain) -> bool:
    return domain.rows is not None and domain.rows.limits_sizes


def _without_norms(objective: Objective, known: Vector, index: NDArray[np.intp]) -> Objective:
    w, smooth = weights_of(objective, known.size), objective.smooth_part
    costs = Linear(np.concatenate([w * known, w[index]]))
    wide = Widened(smooth, known.size, index.size) if index.size else smooth
    return Sum(wide, costs) if costs.c.any() else wide
