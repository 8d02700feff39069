"""L1 norms in exact solves: linear where signs are known, else linear in further variables t >= |x|.

Over the points (x, t) with x in Z and |x_i| <= t_i, sum_i w_i |x_i| becomes <w, t>: a minimiser has t_i = |x_i|
wherever some level has a weight on t_i, and both optimal values are those of the problem in x.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Vector
from ..composite import signs
from ..objectives import GroupNorm, L1Norm, LeastSquares, Linear, Multiple, Objective, Quadratic, SquaredNorm, Sum, Zero
from ..problem import Problem
from ..sets import Box, L1Ball, Polyhedron
from ..sets.epigraph import absolute_values
from .answer import Answer


def has_norms(problem: Problem) -> bool:
    """Whether this module is needed."""
    return not (problem.upper.differentiable and problem.lower.differentiable)


def why_not_lifted(problem: Problem) -> str:
    """Empty where ``solve_lifted`` applies, else the reason why not."""
    from . import why_not_exact
    from .level import why_not_quadratic

    norms = problem.upper.norms + problem.lower.norms
    if any(isinstance(norm, GroupNorm) for norm in norms):
        return "a GroupNorm is not piecewise linear"
    lift = Lift.of(problem)
    if not lift.index.size:
        return why_not_exact(lift.problem())
    if not isinstance(problem.domain, (Box, Polyhedron, L1Ball)):
        return f"L1Norm over {problem.domain!r} has no exact method; over Box, Polyhedron and L1Ball it has"
    for name, objective in (("lower", problem.lower), ("upper", problem.upper)):
        if why := why_not_quadratic(objective.smooth_part) if not isinstance(objective.smooth_part, Zero) else "":
            return f"{name}: {why}"
    return ""


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

    lift = Lift.of(problem)
    answer = solve_exactly(lift.problem())
    if not lift.index.size:
        return answer
    unique, constant = answer.lower_unique, answer.upper_constant
    if not lift.held_below:  # t is free at lower solutions, so that (x, t) says nothing about x alone
        if not problem.lower.norms:
            unique = solve_exactly(replace(problem, upper=problem.lower)).lower_unique
        else:
            unique = unique or None
        constant = True if unique else constant or None
    return replace(answer, x=lift.point(answer.x), lower_unique=unique, upper_constant=constant)


@dataclass(frozen=True)
class Lift:
    """The problem in (x, t); ``index`` are the positions of x whose absolute values are in t."""

    original: Problem
    index: NDArray[np.intp]
    known: Vector

    @classmethod
    def of(cls, problem: Problem) -> Lift:
        """With absolute values where a norm has a weight and the domain shows no sign."""
        known = signs(problem.domain, problem.dim)
        open_ = (_weights(problem.upper, problem.dim) > 0) | (_weights(problem.lower, problem.dim) > 0)
        index = np.flatnonzero(open_ & (known == 0))
        if index.size and isinstance(problem.domain, L1Ball):
            index = np.arange(problem.dim)  # its one row is about all of them
        return cls(problem, index, known)

    @property
    def held_below(self) -> bool:
        """Whether the lower level leaves t no choice."""
        return bool((_weights(self.original.lower, self.original.dim)[self.index] > 0).all())

    def point(self, lifted: Vector) -> Vector:
        """The x of a point (x, t): where t is zero, so is x, which rounding may have left a little beside it."""
        x, t = lifted[: self.original.dim].copy(), lifted[self.original.dim :]
        x[self.index] = np.clip(x[self.index], -t, t)
        return x

    def problem(self) -> Problem:
        """The problem without norms."""
        domain = self.original.domain
        if self.index.size:
            domain = absolute_values(domain, self.index)
        upper, lower = self._without_norms(self.original.upper), self._without_norms(self.original.lower)
        return replace(self.original, upper=upper, lower=lower, domain=domain)

    def _without_norms(self, objective: Objective) -> Objective:
        w, d = _weights(objective, self.original.dim), self.original.dim
        costs = np.concatenate([w * self.known, w[self.index]])
        smooth = objective.smooth_part
        if isinstance(smooth, Zero):
            return Linear(costs)
        wide = _widened(smooth, d, self.index.size)
        return Sum(wide, Linear(costs)) if costs.any() else wide


def _weights(objective: Objective, dim: int) -> Vector:
    """The weights of the l1 norms in an objective, summed."""
    total = np.zeros(dim)
    for norm in objective.norms:
        if isinstance(norm, L1Norm):
            total = total + norm.weights
    return total


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
