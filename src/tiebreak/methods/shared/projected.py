"""What methods with projections share: step sizes from the smoothness, and (accelerated) steps on g + sigma f.

FISTA: A. Beck, M. Teboulle, SIAM J. Imaging Sciences 2, 2009. The prox is that of the norms in g + sigma f over Z: the
projection onto Z where there are none. Gradients and Lipschitz constants are those of the smooth parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, sqrt

import numpy as np

from ...arrays import Vector
from ...composite import How, Level, joint_prox
from ...objectives.base import Objective
from ...objectives.norms import Norm
from ...problem import Problem
from ..base import State

PROJECTION = frozenset({"upper.grad", "lower.grad", "domain.project"})
"""What methods with projections need. Without linear minimisation less is proved about what they find."""

NORMS: Mapping[Level, How] = {"upper": "joint prox", "lower": "joint prox"}
"""Norms in both levels, by their prox over Z."""

FARTHEST = 1e6
"""No step leads farther than this many widths of Z, so that rounding in the projection stays below 1e-9 of Z."""


def lipschitz(problem: Problem, level: Level, x: Vector) -> float:
    """A positive Lipschitz constant of the gradient of one level (of its smooth part).

    For a linear level, or a norm, any positive number is one; the one taken makes a step of 1 / L as long as Z is wide.
    """
    objective: Objective = getattr(problem, level)
    return _known(objective, level) or _across(problem, _steepness(objective, x))


def total_lipschitz(problem: Problem, sigma: float, x: Vector) -> float:
    """A positive Lipschitz constant of the gradient of g + sigma f."""
    lower, upper = _known(problem.lower, "lower"), _known(problem.upper, "upper")
    if lower > 0:
        return lower + sigma * upper
    slope = float(np.linalg.norm(smooth_slope(problem, x, sigma)))
    slope += sum(norm.steepest(x.size) for norm in norms_of(problem, sigma))
    return max(sigma * upper, _across(problem, slope) / FARTHEST) if upper > 0 else _across(problem, slope)


def _known(objective: Objective, level: Level) -> float:
    L = objective.smooth_part.smoothness
    if L is None:
        raise ValueError(
            f"the step size needs the smoothness of the {level} level, which is unknown: "
            f"give smoothness=... to its Function, or use a method that finds its own steps (adabim)"
        )
    return L


def _steepness(objective: Objective, x: Vector) -> float:
    slope = float(np.linalg.norm(objective.smooth_part.grad(x)))
    return slope + sum(norm.steepest(x.size) for norm in objective.norms)


def _across(problem: Problem, size: float) -> float:
    """The L with which a step slope / L is as long as Z is wide, for a slope of that size."""
    width = problem.domain.diameter
    return size / width if size > 0 and width > 0 and isfinite(width) else 1.0


def balance(problem: Problem, x: Vector) -> float:
    """L_g / L_f: the weight of f at which both levels bend alike, so that defaults do not depend on units."""
    return lipschitz(problem, "lower", x) / lipschitz(problem, "upper", x)


def smooth_slope(problem: Problem, y: Vector, sigma: float) -> Vector:
    """The gradient of the smooth parts of g + sigma f; sigma = 0 leaves f alone."""
    slope = problem.lower.smooth_part.grad(y)
    return slope + sigma * problem.upper.smooth_part.grad(y) if sigma > 0 else slope


def norms_of(problem: Problem, sigma: float) -> tuple[Norm, ...]:
    """The norms in g + sigma f."""
    own = problem.lower.norms
    return (*own, *(norm.scaled(sigma) for norm in problem.upper.norms)) if sigma > 0 else own


def gradient_step(problem: Problem, y: Vector, sigma: float, step: float) -> Vector:
    """The proximal gradient step on g + sigma f over Z: without norms, the projection of the gradient step."""
    v = y - step * smooth_slope(problem, y, sigma)
    return joint_prox(problem.domain, norms_of(problem, sigma), v, step)


@dataclass(frozen=True)
class Fista:
    """A run of FISTA: the point u in Z, where the next gradient is taken, and t of the momentum (t_k - 1) / t_{k+1}."""

    u: Vector
    y: Vector
    t: float = 1.0

    @classmethod
    def at(cls, x: Vector) -> Fista:
        """The run before its first step."""
        return cls(x, x)

    def step(self, problem: Problem, sigma: float, step: float) -> Fista:
        """One step on g + sigma f: (g + sigma f)(u_k) is within 2 ||u_0 - u*||^2 / (step (k + 1)^2) of its minimum."""
        return self.to(gradient_step(problem, self.y, sigma, step))

    def to(self, u: Vector) -> Fista:
        """The run after a step from y to u; for L-smooth terms u is within L ||u_0 - u*||^2 / (2 t^2) of the minimum.

        The t of that bound is the one before the step.
        """
        t = 0.5 + sqrt(0.25 + self.t**2)
        return Fista(u, u + (self.t - 1) / t * (u - self.u), t)


@dataclass(frozen=True, kw_only=True)
class InertialState(State):
    """The iterate before x, for the momentum, and the unit in which the weights of f are counted."""

    previous: Vector
    unit: float
