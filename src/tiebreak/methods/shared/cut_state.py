"""Where a method that steps along cuts of the lower level stands, and what it keeps of the points it has seen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Vector
from ...points import Point
from ...problem import Problem
from ..base import State
from .lower_level import LowerRun


@dataclass(frozen=True, kw_only=True)
class CutState(State):
    """A state of CG-BiO and of its anytime variant.

    Attributes
    ----------
    point : Point or None
        x with its images; None during the initial phase.
    level : float
        u, the right-hand side of the cut: a value of g that some point of Z attains.
    first : int
        k at the first update along a cut (after the initial phase).
    run : LowerRun or None
        Conditional gradient on g: the initial phase, or the other half of the anytime variant.
    f_lower : float
        The best lower bound on f* seen; a floor for line searches.
    best_gap, best_lower, best_x
        For a nonconvex f: the smallest Frank-Wolfe gap over the cut set so far, g there, and where (Theorem 2).
    memory : tuple of arrays
        What ``advance_many`` goes on from.
    """

    point: Point | None = None
    level: float = np.inf
    first: int = 0
    run: LowerRun | None = None
    f_lower: float = -np.inf
    best_gap: float = np.inf
    best_lower: float = -np.inf
    best_x: Vector | None = None
    memory: tuple[Vector, ...] = ()


def without_best(state: CutState) -> CutState:
    """The state without a best iterate: the level has fallen, and it is no candidate any more."""
    return replace(state, best_gap=np.inf, best_lower=-np.inf, best_x=None)


def recorded(
    problem: Problem, state: CutState, f: float, g: float, gap_f: float, error: float, tol_lower: float
) -> CutState:
    """What the linear minimum tells: a lower bound on f*, or, for a nonconvex f, the best gap of Theorem 2.

    Theorem 2 keeps the iterate with the smallest gap; all its iterates are lower-level optimal to the tolerance.
    Other step rules do not ensure that, so only such iterates are candidates.
    """
    if problem.upper.convex:
        return replace(state, f_lower=max(state.f_lower, f - gap_f - error))
    allowed = state.level + problem.slack + tol_lower / 2
    if state.best_lower > allowed:
        state = without_best(state)
    if g <= allowed and gap_f < state.best_gap:
        return replace(state, best_gap=gap_f, best_lower=g, best_x=state.x)
    return state
