"""Levels with slack as constraints: g(x) <= g* + slack, where g* is the optimum of g among the answers before it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Vector
from ..objectives.base import Objective
from ..objectives.pull_back import bent_at
from ..problem import Problem
from ..sets.boundary.description import Array, Curved
from .chain import Chain, Rule, chain_at
from .constraints import Active, NoDerivative, active_at

ACTIVE = 1e-3
"""Slack of which less than this share is left is tried as used up."""


@dataclass(frozen=True)
class Kept(Curved):
    """g(x) <= limit, for x = T X; ``costs`` are what norms and pieces add."""

    number: int
    level: Objective
    limit: float
    T: Array
    costs: Vector

    def values(self, s: Vector) -> tuple[Array, Vector]:
        assert self.level.form is not None
        x = self.T @ s
        bent = bent_at(self.level.form, x)
        value = self.level.smooth_part.value(x) + float(self.costs @ s)
        return (self.T.T @ bent.grad + self.costs)[None], np.array([self.limit - value])

    def hessian(self, s: Vector, y: Vector) -> Array:
        assert self.level.form is not None
        return np.asarray(float(y[0]) * (self.T.T @ bent_at(self.level.form, self.T @ s).hessian @ self.T))

    def margin(self, y: Vector) -> float:
        return float(y[0])


@dataclass(frozen=True)
class Optimum:
    """What a level with slack has at best, where that is attained, and what of its slack moves with it."""

    level: Objective
    chain: Chain
    value: float
    limit: float
    share: float

    @property
    def slope(self) -> Vector:
        """The gradient in the variables of the chain."""
        return self.chain.steps[-1].grad


class Stages:
    """The chains of a problem: of its answer, and of the optimum of each level with slack."""

    def __init__(self, problem: Problem, side: str) -> None:
        self.problem, self.side = problem, side
        shares = (*problem.relative_slack_before, problem.relative_slack)
        self.slacks = {
            k: (s, share) for k, (s, share) in enumerate(zip(problem.slacks, shares, strict=True)) if s or share
        }
        self.optima: dict[int, Optimum] = {}

    def answer(self, x: Vector) -> Chain:
        """The chain of the answer near x."""
        return self._chain(len(self.problem.levels), x, Rule(side=self.side))

    def optimum(self, k: int) -> Optimum:
        """That of level k, among the answers of the levels before it."""
        if k not in self.optima:
            chain = self._chain(k + 1, self._lowest(k), Rule(unique=False, side=self.side))
            level, (slack, share) = self.problem.levels[k], self.slacks[k]
            best = level.value(chain.x)
            limit = best + (slack or share * abs(best))
            self.optima[k] = Optimum(level, chain, best, limit, 1 + share * float(np.sign(best)))
        return self.optima[k]

    def _lowest(self, k: int) -> Vector:
        from ..solve import solve

        problem = self.problem
        shares = (*problem.relative_slack_before, problem.relative_slack)[:k]
        before, slacks = list(problem.levels[:k]), list(problem.slacks[:k])
        below = Problem(problem.levels[k], before, problem.domain, slacks or 0.0, relative_slack=list(shares) or 0.0)
        found = solve(below, tol_upper=1e-6, tol_lower=1e-6)
        if not found.success:
            raise NoDerivative(f"the optimum of level {k + 1}, from which its slack counts, is not proved")
        return found.x

    def _chain(self, count: int, x: Vector, rule: Rule) -> Chain:
        """The first levels at the answer near x; those with slack are constraints, where they hold x."""
        levels = dict(enumerate(self.problem.levels[:count]))
        held = {k: level for k, level in levels.items() if k not in self.slacks or k == count - 1}
        kept = {k: level for k, level in levels.items() if k not in held and self._reached(k, x)}
        active = active_at(self.problem.domain, held | kept, x)
        limits = [self._kept(k, level, active) for k, level in kept.items()]
        return chain_at(held, active.holding(*limits), x, rule)

    def _reached(self, k: int, x: Vector) -> bool:
        """Whether all slack of level k is used up."""
        best = self.optimum(k)
        left = best.limit - best.level.value(x)
        return left <= max(ACTIVE * (best.limit - best.value), 1e-9 * (abs(best.limit) + 1e-300))

    def _kept(self, k: int, level: Objective, active: Active) -> Kept:
        dim = active.X.size
        return Kept(np.eye(dim), np.zeros(dim), k, level, self.optimum(k).limit, active.T, active.costs[k])
