"""Conditional gradient on the lower level alone: it finds the start of CG-BiO, and the level of its anytime variant.

M. Frank, P. Wolfe, Naval Research Logistics Quarterly 3, 1956. Step rules: 2/(j+2) (M. Jaggi, ICML 2013); exact line
search for quadratics; backtracking on a local Lipschitz constant (F. Pedregosa, G. Negiar, A. Askari, M. Jaggi,
AISTATS 2020, Algorithm 2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ...arrays import Vector
from ...objectives.base import Objective
from ...points import REFRESH, Point, difference, mix, place
from ...problem import Problem
from .options import too_short

LowerRule = Literal["harmonic", "exact", "backtracking"]


@dataclass(frozen=True)
class LowerRun:
    """The run of conditional gradient on g: the point z_j, g(z_j), and the Frank-Wolfe gap of the point before it."""

    point: Point
    value: float
    gap: float = np.inf
    j: int = 0
    lipschitz: float | None = None

    @property
    def x(self) -> Vector:
        """z_j."""
        return self.point.x


def default_rule(g: Objective) -> LowerRule:
    """Exact line search where it has a closed form, backtracking otherwise."""
    return "exact" if g.quadratic else "backtracking"


def begin(problem: Problem, x: Vector) -> LowerRun:
    """The run before its first step."""
    point = place([problem.lower], x)
    return LowerRun(point, problem.lower.value_at(x, point.images[0]))


def lower_step(
    problem: Problem, run: LowerRun, rule: LowerRule, *, enough: float = -np.inf, keep_rate: bool = False
) -> LowerRun:
    """One step; or none, with the gap on record, if the Frank-Wolfe gap is at most ``enough``.

    ``keep_rate`` compares with the step 2/(j+2) and takes the better, which keeps g(z_j) - g* <= 2 C_g / (j+1)
    whatever the rule does.
    """
    g, z = problem.lower, run.point
    value, c = g.value_and_grad_at(z.x, z.images[0])
    s = problem.domain.lmo(c)
    gap = float(c @ (z.x - s))
    if gap <= enough:
        return replace(run, value=value, gap=gap)
    target = place([g], s)
    harmonic = 2.0 / (run.j + 2)
    gamma, lipschitz = harmonic, run.lipschitz
    if rule == "exact":
        gamma = _exact_step(g, z, target, gap)
    elif rule == "backtracking":
        gamma, lipschitz = _backtrack(g, z, target, value, gap, c, run.lipschitz)
    new = mix(z, target, gamma)
    new_value = g.value_at(new.x, new.images[0])
    if keep_rate and rule == "backtracking":
        reference = mix(z, target, harmonic)
        reference_value = g.value_at(reference.x, reference.images[0])
        if reference_value < new_value:
            new, new_value = reference, reference_value
    if (run.j + 1) % REFRESH == 0:
        new = place([g], new.x)
        new_value = g.value_at(new.x, new.images[0])
    return LowerRun(new, new_value, gap, run.j + 1, lipschitz)


def _exact_step(g: Objective, z: Point, target: Point, gap: float) -> float:
    direction = difference(target, z)
    curvature = g.curvature_along(direction.x, direction.images[0])
    if curvature is None:
        raise ValueError('initial="exact" needs a quadratic lower level; use "backtracking" or "harmonic"')
    if gap <= 0.0:
        return 0.0
    return 1.0 if gap >= curvature else gap / curvature


def _backtrack(
    g: Objective, z: Point, target: Point, value: float, gap: float, c: Vector, lipschitz: float | None
) -> tuple[float, float]:
    """Pedregosa et al., Algorithm 2, with their tau = 2 and eta = 0.9; the step 0 where none decreases g."""
    direction = target.x - z.x
    size = float(direction @ direction)
    if size == 0.0 or gap <= 0.0:
        return 0.0, lipschitz or 1.0
    if lipschitz is None:  # a finite difference of the gradient along the step
        ahead = mix(z, target, 1e-4)
        change = g.value_and_grad_at(ahead.x, ahead.images[0])[1] - c
        M = float(np.linalg.norm(change)) / (1e-4 * size**0.5)
    else:
        M = 0.9 * lipschitz
    M = max(M, np.finfo(float).eps * gap / size)  # where g is linear along the step: any small M gives the full step
    first = None
    while True:
        gamma = 1.0 if gap >= M * size else gap / (M * size)
        first = gamma if first is None else first
        if too_short(z.x, gamma * size**0.5, first * size**0.5):
            return 0.0, lipschitz or 1.0
        trial = mix(z, target, gamma)
        model = value - gamma * gap + 0.5 * gamma**2 * M * size
        # Near the optimum the decrease drowns in the rounding of g; the test must not then double M for ever.
        rounding = 8 * np.finfo(float).eps * abs(value)
        if g.value_at(trial.x, trial.images[0]) <= model + rounding:
            return gamma, M
        M *= 2.0
