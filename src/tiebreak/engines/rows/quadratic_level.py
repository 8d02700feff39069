"""A quadratic level on its face: solvers propose, the polish sharpens, the bracket decides."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ...arrays import Vector
from ...numerics.csr import columns_times, part
from ...numerics.extended import Ext, double
from ...numerics.quadratic_programme import QP, Guess, Method, by_bounded_newton, portfolio
from ..interrupt import OutOfTime, check, limited, remaining
from .bracket import Bracket, bracket
from .face import Face
from .level import Level
from .nearby import HERE, Near
from .polish import polished
from .reduce import Reduced, reduce_rows
from .step import State, Step

FIX_QUADRATIC = 1e-9
"""A multiplier of a polished quadratic level above this, relative to what its gradient is a sum of, is not zero."""
NEAR_BY = 64.0
"""Quadratic levels are solved so many sizes of the variables around the point first."""
INTERPOLATING = 10
"""So many of Newton's steps are worth it to see whether a wide sum of squares can be zero."""
OPEN_SECONDS = 2.0
"""Over an unbounded set a solver gets so long, and more where there are many variables: it may go on for ever."""
POLISHED = 1e-12
"""The natural residual up to which such multipliers are believed, relative to 1 + |x|."""


class Solved(NamedTuple):
    """A level's point and multipliers on its face, what they prove, and from which size on a multiplier counts."""

    x: Ext
    y: Ext
    w: list[Ext]
    bracket: Bracket
    threshold: float
    near: Near = HERE
    z: Ext | None = None  # what the multipliers leave, where its signs are those of the data for certain
    solution: bool = False  # whether the multipliers are those of a solution for the data as stored, for certain


def accepted(found: Bracket, tol: float) -> bool:
    """Whether the point is optimal on its face to the tolerance, whatever is inherited from the levels before."""
    return found.width - 3 * found.inherited / (1 + abs(float(found.value))) <= tol


def solve_quadratic(face: Face, level: Level, tol: float) -> tuple[Solved, int]:
    """The best of what the solvers and the polish find, and how many solvers were asked.

    Their statuses do not matter: the face holds the point where it starts, so there is always an answer to judge.
    """
    whole = reduce_rows(*face.step_rows())
    best: Solved | None = None
    asked = 0
    near_by = _near_by(whole, face.scale)
    for reduced in (near_by,) if near_by is whole else (near_by, whole):
        step = Step(level, face.x, reduced)
        programme = step.programme()
        methods: list[Method] = portfolio(programme) if reduced.columns.size else [_no_guess]
        if step.by_products and reduced.columns.size:
            methods = [by_bounded_newton, *methods]
        if step.may_interpolate:
            methods = [partial(_interpolated, step), *methods]
        for method in methods:
            if best is not None and remaining() == 0:
                return best, asked
            check()
            asked += 1
            try:
                with limited(np.inf if face.cut is None else OPEN_SECONDS + 1e-8 * programme.c.size**3):
                    guess = method(programme)
                raw = step.guessed(guess)
            except OutOfTime:  # it would take longer than is left: another one may not
                continue
            for candidate in (polished, lambda _, state: state):  # the guess itself only where its polish does not do
                solved = _judged(face, step, candidate(step, raw))
                if best is None or worth(solved) < worth(best):
                    best = solved
                if accepted(best.bracket, tol) and best.threshold < np.inf:
                    return best, asked
    if best is None:
        raise OutOfTime
    return best, asked


def _interpolated(step: Step, programme: QP) -> Guess | None:
    """The least step, in units of the columns, to a point without residuals; None where it is not soon found.

    There a sum of squares has its least value, and the dual of a least norm is far from flat.
    """
    from ...numerics.dual_newton import Diagonal, maximise

    (square,), face = step.level.squares, step.face
    assert square.F is not None
    residual = square.F.times(step.origin) - (0 if square.b is None else square.b)
    columns = step.units[0]
    F = columns_times(part(square.F.A, np.arange(square.F.shape[0]), face.columns), columns)
    ends = double(face.lower) / columns, double(face.upper) / columns
    zero = np.zeros(columns.size)
    found = maximise(Diagonal(zero + 1, zero, F, -double(residual), *ends), steps=INTERPOLATING)
    return None if found is None else Guess(found[0], np.zeros(0))


def _near_by(whole: Reduced, scale: Vector) -> Reduced:
    """The face without what is far away beside the sizes of the variables; itself where there is no such part.

    Interior points would settle in the middle of a generous box. Nothing rests on it: an answer is judged by the whole
    face, and where the far ends of this one have a multiplier it is no answer.
    """
    far = NEAR_BY * scale[whole.columns]
    if (whole.lower >= -far).all() and (whole.upper <= far).all():
        return whole
    return replace(whole, lower=np.maximum(whole.lower, -far), upper=np.minimum(whole.upper, far))


def _no_guess(programme: QP) -> Guess | None:
    """For a face whose columns are all fixed."""
    return None


def _judged(face: Face, step: Step, state: State) -> Solved:
    x = face.snapped(face.x + step.face.expand(state.d))
    y, w = face.split(step.face.expand_multipliers(state.y, step.level.grad(x)))
    believed = state.residual <= POLISHED * (1 + float(np.abs(x).max()))
    threshold = FIX_QUADRATIC * step.level.grad_size(x, face.scale) if believed else np.inf
    return Solved(x, y, w, bracket(face, step.level, x, y, w), threshold)


def worth(solved: Solved) -> tuple[bool, bool, float, float]:
    """Smaller is better: a trusted point, sharp multipliers, a narrow bracket, a small violation."""
    own = solved.bracket
    outside, blunt = not np.isfinite(own.upper), not np.isfinite(solved.threshold)
    return outside, blunt, -own.lower if outside else own.width, own.violation
