"""Steps whose lengths are found out: local Lipschitz constants of both gradients, raised where a step shows more.

The test is that of the descent lemma along the step, on gradients rather than values, which cancel near a solution
(P. Latafat et al., J. Optimization Theory and Applications, 2024). Constants fall slowly where steps show less, so that
losses without a global one (Poisson) are not held to what they had far away.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Vector
from ...composite import Level, joint_prox
from ...objectives.base import Objective
from ...problem import Problem
from .options import too_short
from .projected import lipschitz, norms_of

POWER_STEPS = 12
"""Products with a Hessian for its largest eigenvalue: a start from which too small an answer is soon mended."""

FALL = 0.95
"""An estimate falls by no more than this factor in one step."""


class Bends(NamedTuple):
    """Lipschitz constants of the gradients of g and f where the run is; those that are known stay as they are."""

    lower: float
    upper: float
    lower_known: bool = True
    upper_known: bool = True

    @classmethod
    def at(cls, problem: Problem, x: Vector) -> Bends:
        """Known ones, or estimates at x."""
        known = [getattr(problem, level).smooth_part.smoothness is not None for level in ("lower", "upper")]
        return cls(_first(problem, "lower", x), _first(problem, "upper", x), *known)

    @property
    def known(self) -> bool:
        """Whether nothing has to be found out."""
        return self.lower_known and self.upper_known

    def of(self, sigma: float) -> float:
        """That of g + sigma f."""
        return self.lower + sigma * self.upper

    def seen(self, lower: float, upper: float, least: float) -> Bends:
        """After a step along which the gradients changed by these: no less, and no less than a share of what it was."""
        return self._replace(
            lower=self.lower if self.lower_known else max(least * self.lower, lower),
            upper=self.upper if self.upper_known else max(least * self.upper, upper),
        )


def backtracked(problem: Problem, y: Vector, sigma: float, scale: float, bends: Bends) -> tuple[Vector, Bends]:
    """The proximal gradient step of length scale / L on g + sigma f from y, L large enough for where it leads."""
    lower, upper = problem.lower.smooth_part.grad(y), problem.upper.smooth_part.grad(y)
    norms, slope = norms_of(problem, sigma), lower + sigma * upper
    size, first = float(np.linalg.norm(slope)), scale / bends.of(sigma)
    while True:
        L = bends.of(sigma)
        step = scale / L
        u = joint_prox(problem.domain, norms, y - step * slope, step)
        move = u - y
        length = float(np.linalg.norm(move))
        if length <= 1e-13 * float(np.linalg.norm(u) + np.linalg.norm(y)):
            return u, bends  # too short for its curvature to be told from rounding
        changes = problem.lower.smooth_part.grad(u) - lower, problem.upper.smooth_part.grad(u) - upper
        found, more = (float(np.linalg.norm(change)) / length for change in changes)
        if float((changes[0] + sigma * changes[1]) @ move) <= L * length**2:
            return u, bends.seen(found, more, FALL)
        if too_short(y, step * size, first * size):
            return u, bends  # gradients that are noise
        bends = bends.seen(found, more, 2.0)


def _first(problem: Problem, level: Level, x: Vector) -> float:
    objective: Objective = getattr(problem, level)
    if objective.smooth_part.smoothness is not None:
        return lipschitz(problem, level, x)
    return by_products(objective.smooth_part, x) or by_differences(problem, objective, x)


def by_products(objective: Objective, x: Vector) -> float:
    """The largest eigenvalue of the Hessian at x, by the power method; 0 where products are not to be had."""
    v = np.cos(np.arange(1.0, x.size + 1))
    value = 0.0
    for _ in range(POWER_STEPS):
        v = v / float(np.linalg.norm(v))
        product = objective.hessian_times(x, v)
        if product is None or not np.isfinite(product).all():
            return 0.0
        value, v = float(np.linalg.norm(product)), product
        if value == 0:
            return 0.0
    return 1.1 * value


def by_differences(problem: Problem, objective: Objective, x: Vector) -> float:
    """||change of the gradient|| / ||change of x|| across Z; where it is linear or a norm, its slope / diameter."""
    grad = objective.smooth_part.grad(x)
    steepest = sum(norm.steepest(x.size) for norm in objective.norms)
    domain = problem.domain
    slope, width = float(np.linalg.norm(grad)), domain.diameter
    far = (width if width < np.inf else float(np.linalg.norm(x)) or 1.0) / (slope or 1.0)  # in the units of x
    ends = [domain.project(x - way * far * grad) for way in (1.0, -1.0)]
    direction = max((end - x for end in ends), key=lambda d: float(d @ d))
    length = float(np.linalg.norm(direction))
    if length == 0:  # there is no slope, or Z is a point
        width = domain.diameter
        return steepest / width if steepest and 0 < width < np.inf else 1.0
    found = float(np.linalg.norm(objective.smooth_part.grad(x + 1e-3 * direction) - grad)) / (1e-3 * length)
    size = float(np.linalg.norm(grad)) + steepest
    return found if found > 1e-9 * size / length else (size / length or 1.0)
