"""L1 norms in exact solves: linear where signs are known, else linear in further variables t >= |x|.

Over the points (x, t) with x in Z and |x_i| <= t_i, sum_i w_i |x_i| becomes <w, t>: a minimiser has t_i = |x_i|
wherever some level has a weight on t_i, and both optimal values are those of the problem in x. Sets that limit such a
sum, alone or as factors of a product, become polyhedra in (x, t) likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Vector
from ..composite import signs
from ..objectives import GroupNorm, LeastSquares, Linear, Multiple, Objective, Quadratic, SquaredNorm, Sum, Zero
from ..problem import Problem
from ..sets import Domain, Product
from ..sets.epigraph import absolute_values, by_rows, has_rows, limits_sizes
from .answer import Answer
from .level import why_not_quadratic


def is_lifted(problem: Problem) -> bool:
    """Whether this module is needed: for norms, and for products with an l1 ball among their factors."""
    norms = not (problem.upper.differentiable and problem.lower.differentiable)
    return norms or (isinstance(problem.domain, Product) and _has_sizes(problem.domain))


def why_not_lifted(levels: Sequence[Objective], domain: Domain, chain: bool = False) -> str:
    """Empty where levels and domain can be written without absolute values, else the reason why not.

    Where the levels have none, the domain is left as it is, unless it is a product or a ``chain`` wants its rows.
    """
    if any(isinstance(norm, GroupNorm) for level in levels for norm in level.norms):
        return "a GroupNorm is not piecewise linear"
    assert domain.dim is not None
    if (chain or _open(levels, domain).size) and not has_rows(domain):
        norms = any(level.norms for level in levels)
        return f"{'L1Norm over ' if norms else ''}{domain!r}, which is not a polytope whose rows are known"
    if not _open(levels, domain, chain).size:
        return ""
    parts = [level.smooth_part for level in levels]
    return next((why for part in parts if not isinstance(part, Zero) and (why := why_not_quadratic(part))), "")


def why_not_exact_lifted(problem: Problem) -> str:
    """Empty where ``solve_lifted`` applies, else the reason why not."""
    from . import why_not_exact

    levels = (problem.lower, problem.upper)
    why = why_not_lifted(levels, problem.domain)
    if why or _open(levels, problem.domain).size:
        return why
    return why_not_exact(Lift.of(levels, problem.domain).problem(problem))


def solve_lifted(problem: Problem) -> Answer:
    """The bilevel problem with l1 norms (slack 0), through a problem without.

    Examples
    --------
    The sparsest solution of 2 x1 + x2 + x3 = 2:

    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.L1Norm(), tb.LeastSquares([[2.0, 1.0, 1.0]], [2.0]), tb.L1Ball(4.0))
    >>> answer = solve_lifted(problem)
    >>> answer.x.round(12) + 0.0, answer.lower_unique
    (array([1., 0., 0.]), False)
    """
    from . import solve_exactly

    lift = Lift.of((problem.lower, problem.upper), problem.domain)
    answer = solve_exactly(lift.problem(problem))
    unique, constant = answer.lower_unique, answer.upper_constant
    if not (weights_of(problem.lower, problem.dim)[lift.index] > 0).all():  # then t is free at lower solutions
        alone = _open((problem.lower,), problem.domain).size < lift.index.size  # then it has fewer such t
        unique = solve_exactly(replace(problem, upper=problem.lower)).lower_unique if alone else unique or None
        constant = unique or None
    return replace(answer, x=lift.point(answer.x), lower_unique=unique, upper_constant=constant)


@dataclass(frozen=True)
class Lift:
    """Levels without norms, in (x, t); ``index`` are the positions of x whose absolute values are in t."""

    levels: tuple[Objective, ...]
    domain: Domain
    index: NDArray[np.intp]
    dim: int

    @classmethod
    def of(cls, levels: Sequence[Objective], domain: Domain, chain: bool = False) -> Lift:
        """With absolute values where a norm has a weight and the domain shows no sign, or its rows mention them."""
        assert domain.dim is not None
        d, index = domain.dim, _open(levels, domain, chain)
        known = signs(domain, d)
        plain = tuple(_without_norms(level, known, index) for level in levels)
        return cls(plain, absolute_values(domain, index) if index.size else domain, index, d)

    def problem(self, original: Problem) -> Problem:
        """The problem without norms."""
        lower, upper = self.levels
        return replace(original, upper=upper, lower=lower, domain=self.domain)

    def point(self, lifted: Vector) -> Vector:
        """The x of a point (x, t): where t is zero, so is x, which rounding may have left a little beside it."""
        x, t = lifted[: self.dim].copy(), lifted[self.dim :]
        x[self.index] = np.clip(x[self.index], -t, t)
        return x


def weights_of(objective: Objective, dim: int) -> Vector:
    """The weights of the l1 norms in an objective, summed."""
    return sum((norm.weights for norm in objective.norms), np.zeros(dim))


def _open(levels: Sequence[Objective], domain: Domain, chain: bool = False) -> NDArray[np.intp]:
    """The positions where a norm has a weight and the domain shows no sign, with those that its rows mention."""
    d = domain.dim or 0
    weighted = sum((weights_of(level, d) for level in levels), np.zeros(d)) > 0
    index = np.flatnonzero(weighted & (signs(domain, d) == 0))
    mentioned = _has_sizes(domain) and (chain or index.size > 0 or isinstance(domain, Product))
    return np.union1d(index, by_rows(domain).absolute) if mentioned else index


def _has_sizes(domain: Domain) -> bool:
    return has_rows(domain) and limits_sizes(domain)


def _without_norms(objective: Objective, known: Vector, index: NDArray[np.intp]) -> Objective:
    w = weights_of(objective, known.size)
    costs = Linear(np.concatenate([w * known, w[index]]))
    if isinstance(objective.smooth_part, Zero):
        return costs
    wide = _widened(objective.smooth_part, known.size, index.size)
    return Sum(wide, costs) if costs.c.any() else wide


def _widened(objective: Objective, dim: int, more: int) -> Objective:
    """The same function of the first ``dim`` of ``dim + more`` variables; the objective is quadratic."""
    if more == 0:
        return objective
    if isinstance(objective, Sum):
        return Sum(*(_widened(term, dim, more) for term in objective.terms))
    if isinstance(objective, Multiple):
        return Multiple(objective.factor, _widened(objective.inner, dim, more))
    if isinstance(objective, Linear):
        return Linear(np.append(objective.c, np.zeros(more)))
    if isinstance(objective, LeastSquares):
        A = sp.hstack([sp.csr_array(objective.A), sp.csr_array((objective.A.shape[0], more))], format="csr")
        return LeastSquares(A, objective.b, objective.scale)
    if isinstance(objective, SquaredNorm):
        center = np.zeros(dim) if objective.center is None else objective.center
        return LeastSquares(sp.eye_array(dim, dim + more, format="csr"), center)
    assert isinstance(objective, Quadratic)
    Q = sp.block_diag([objective.Q, sp.csr_array((more, more))], format="csr")
    return Quadratic(Q, np.append(objective.q, np.zeros(more)), objective.c)
