"""A level without a minimum, in words: which level it is, and which variables run away."""

from __future__ import annotations

import numpy as np

from .arrays import Vector
from .engines.answer import Unbounded
from .problem import Problem

MOST_NAMES = 5
"""So many variables of a ray are named."""
MOVES = 1e-9
"""Entries of a ray below this part of its largest one are nothing but rounding."""


def unbounded_sentence(problem: Problem, stop: Unbounded) -> str:
    """Which level falls for ever, along which ray, and what to do about it."""
    levels, k = problem.levels, stop.level
    which = {0: "lower" if len(levels) == 2 else "first", len(levels) - 1: "upper"}.get(k, f"{k + 1}th")
    if len(levels) == 1:
        which = "only"
    after = " on the solutions of those before it" if k else ""
    ray = stop.ray / (float(np.abs(stop.ray).max()) or 1.0)
    slope = levels[k].grad(stop.point) if levels[k].differentiable else np.zeros(ray.size)
    falls = float(slope @ ray)
    rate = f" (by {-falls:.3g} at x for each unit of it)" if falls < 0 else ""
    what = f"the {which} level is not bounded below{after}: it falls for ever"
    if not stop.for_ever:
        what = f"the minimum of the {which} level is not attained{after}: it falls towards a value that it never takes"
    return (
        f"{what}{rate} along the ray that moves "
        f"{_moves(problem, ray, slope)}; add bounds or rows that hold these, or another level before it"
    )


def _moves(problem: Problem, ray: Vector, slope: Vector) -> str:
    """The entries that move, those that make the level fall first."""
    moving = np.flatnonzero(np.abs(ray) > MOVES)
    order = moving[np.lexsort((-np.abs(ray[moving]), -np.abs(slope * ray)[moving]))]
    named = ", ".join(f"{_name(problem, int(j))} by {ray[j]:.3g}" for j in order[:MOST_NAMES])
    more = order.size - MOST_NAMES
    return named + (f" and {more} more" if more > 0 else "")


def _name(problem: Problem, j: int) -> str:
    if problem.names is not None:
        return problem.names[j]
    names = getattr(problem.domain, "names", ())  # of the blocks of a product
    for name, (part, where) in zip(names, problem.domain.parts, strict=False):
        if where.start <= j < where.stop:
            return f"{name}[{j - where.start}]" if part.dim != 1 else str(name)
    return f"x[{j}]"
