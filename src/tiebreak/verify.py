"""A second opinion on a result: everything recomputed from x alone, by code that shares nothing with the bounds.

It uses ``value``, ``grad``, ``lmo`` and ``contains`` only, and a ternary search for the multiplier where the bounds
use the cut oracle. What x alone can show is weaker than what a whole run has shown, so the bounds here are wider;
a claim of the certificate that contradicts them is wrong. Where an objective has norms, ``grad`` is a subgradient: the
bounds hold, and are wider still.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .arrays import Vector
from .problem import Problem

if TYPE_CHECKING:
    from .result import Result


@dataclass(frozen=True)
class Verification:
    """What x alone shows, and whether the result agrees.

    Attributes
    ----------
    ok : bool
        Whether nothing the result claims is contradicted.
    complaints : tuple of str
        What is.
    feasible : bool
        Whether x is in Z.
    f, g : float
        Both objectives at x.
    g_lower, f_lower : float
        Lower bounds on g* and f* from x alone.
    lower_gap, upper_gap : float
        g(x) - g_lower and f(x) - f_lower.
    """

    ok: bool
    complaints: tuple[str, ...]
    feasible: bool
    f: float
    g: float
    g_lower: float
    f_lower: float
    lower_gap: float
    upper_gap: float


def verify(problem: Problem, result: Result) -> Verification:
    """Check ``result`` against ``problem``; see ``Result.verify``."""
    x, claim = result.x, result.certificate
    f, g = problem.upper.value(x), problem.lower.value(x)
    a, c = problem.upper.grad(x), problem.lower.grad(x)
    feasible = problem.domain.contains(x, 1e-7)
    lower = max(g - _gap(problem, c, x), problem.lower.lower_bound)
    upper = problem.upper.lower_bound
    if problem.upper.convex:
        upper = max(upper, f - _cut_gap(problem, a, c, x, problem.slack))
    noise_f = 1e-9 * (1 + abs(f) + float(np.linalg.norm(a)) * float(np.linalg.norm(x)))
    noise_g = 1e-9 * (1 + abs(g) + float(np.linalg.norm(c)) * float(np.linalg.norm(x)))

    checks = {
        "x is not in the domain": feasible,
        f"f(x) is {f:.12g}, not {result.f:.12g}": abs(f - result.f) <= noise_f,
        f"g(x) is {g:.12g}, not {result.g:.12g}": abs(g - result.g) <= noise_g,
        "g_lower is above g(x), a value that is attained": claim.g_lower <= g + noise_g,
        "g_upper is below what x alone proves for g*": claim.g_upper >= lower - noise_g,
        "lower_gap is not g(x) - g_lower": abs(claim.lower_gap - (g - claim.g_lower)) <= noise_g,
        "upper_gap is not f(x) - f_lower": _agree(claim.upper_gap, f - claim.f_lower, noise_f),
        "f_upper is below what x alone proves for f*": claim.f_upper >= upper - noise_f,
        "f_lower is above f_upper": claim.f_lower <= claim.f_upper + noise_f,
    }
    if problem.upper.convex and g <= claim.g_lower + problem.slack:
        checks["f_lower is above f at a point that is feasible for certain"] = claim.f_lower <= f + noise_f
    complaints = tuple(text for text, fine in checks.items() if not fine)
    return Verification(
        ok=not complaints,
        complaints=complaints,
        feasible=feasible,
        f=f,
        g=g,
        g_lower=lower,
        f_lower=upper,
        lower_gap=g - lower,
        upper_gap=f - upper,
    )


def _agree(first: float, second: float, noise: float) -> bool:
    return first == second or abs(first - second) <= noise


def _gap(problem: Problem, slope: Vector, x: Vector) -> float:
    """The Frank-Wolfe gap: the most that <slope, x - s> can be for s in Z."""
    return float(slope @ (x - problem.domain.lmo(slope)))


def _cut_gap(problem: Problem, a: Vector, c: Vector, x: Vector, slack: float) -> float:
    """The least over lam >= 0 of the gap of a + lam c plus lam slack: at least f(x) - f*, because g(x) >= g*."""

    def gap(lam: float) -> float:
        return _gap(problem, a + lam * c, x) + lam * slack

    if not c.any():
        return gap(0.0)
    scale = float(np.linalg.norm(a)) / float(np.linalg.norm(c))
    grid = [0.0] + [scale * 10.0**power for power in range(-6, 7)]
    values = [gap(lam) for lam in grid]
    middle = int(np.argmin(values))
    low, high = grid[max(middle - 1, 0)], grid[min(middle + 1, len(grid) - 1)]
    best = values[middle]
    for _ in range(60):  # the gap is convex in lam: ternary search
        left, right = low + (high - low) / 3, high - (high - low) / 3
        gap_left, gap_right = gap(left), gap(right)
        best = min(best, gap_left, gap_right)
        low, high = (low, right) if gap_left <= gap_right else (left, high)
    return best
