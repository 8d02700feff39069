"""An upper level that is not convex, over the lower solutions themselves: a point that is stationary there, proved.

The levels before leave a convex set X*, over which an engine minimises any convex objective. So each step minimises a
convex model of f over X*, with the absolute values of its second derivatives where f knows them, and goes as far along
the way there as f falls (the way stays in X*). At the end the engine minimises the linear model <grad f(x), .> over X*:
its bracket bounds the Frank-Wolfe gap, the largest <grad f(x), x - s> of all s in X*, which is zero at stationary
points. Where X* is a single point, f has no say.

Where X* has no end, rays along which some linear function falls for ever are rays of X*, and so are their sums: a
quadratic f that is curved downwards along one of them has no minimum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..arrays import UNIT_ROUNDOFF, Matrix, Vector
from ..objectives.base import Objective
from ..objectives.linear import Linear, SquaredNorm
from ..objectives.quadratic import Quadratic
from ..sets.base import Domain
from .answer import Answer, Elsewhere, Unbounded
from .interrupt import OutOfTime, check

STEPS = 100
MOST_COLUMNS = 300
"""Up to this many variables second derivatives are made whole."""
FLAT = 1e-4
"""Second derivatives smaller than this part of the largest are taken for as much."""
FAR = 1e8
"""A point so many times as far out as the start is none to go on from."""
DOWNWARDS = 1e-9
"""A second derivative is negative below this part of the terms that it is a sum of."""
MOST_STARTS, MOST_RAYS = 4, 4
"""In so many directions that f is curved downwards in, and their opposites, rays are looked for, so many from each."""
SAME = 1e-15
"""Models that promise to fall by less, relative to 1 + |f|, have come to an end."""

Minimise = Callable[[Objective], Answer]


def solve_explicit(f: Objective, domain: Domain, minimise: Minimise) -> Answer:
    """A stationary point of f over the set that ``minimise`` minimises convex objectives over."""
    answer = minimise(SquaredNorm(dim=domain.dim))
    x = answer.x
    if answer.lower_unique:
        if answer.moves is not None and answer.moves.size == x.size:  # else in variables of a lift
            return _single(f, answer, answer.moves)
        return replace(_judged(f, domain, x, answer, minimise), upper_constant=True)
    if not np.isfinite(domain.diameter):
        _refuse_ray(f, x, None, minimise)
    far = FAR * (1 + float(np.abs(x).max()))
    for k in range(STEPS):
        check()
        try:
            step, promised = _step(f, x, minimise)
        except (OutOfTime, Unbounded, Elsewhere):
            break
        value, moved = f.value(x), _searched(f, x, step, promised)
        if moved is None or (k and promised <= SAME * (1 + abs(value))):
            break
        if not float(np.abs(moved).max()) <= far:  # f seems to fall for ever: nothing is proved
            _refuse_ray(f, x, moved - answer.x, minimise)
            x = answer.x
            break
        x = moved
    return _judged(f, domain, x, answer, minimise)


def _refuse_ray(f: Objective, x: Vector, way: Vector | None, minimise: Minimise) -> None:
    """``Unbounded`` where a ray of the lower solutions is found along which f, a quadratic, falls for ever.

    Rays that lead along the ``way``, else those along which f is curved downwards most.
    """
    form, H = f.form, _hessian(f, x)
    if form is None or not form.quadratic or H is None:
        return
    values, vectors = np.linalg.eigh(H)
    down = np.flatnonzero(values < -DOWNWARDS * np.abs(values).max())[:MOST_STARTS]
    starts = [H @ way] if way is not None else [sign * vectors[:, k] for k in down for sign in (1.0, -1.0)]
    for start in starts if down.size else []:
        c, along = start, np.zeros(x.size)
        for _ in range(MOST_RAYS):
            check()
            try:
                minimise(Linear(c))
            except Unbounded as stop:
                ray, found = stop.ray / float(np.abs(stop.ray).max()), stop
            except (OutOfTime, Elsewhere):
                return
            else:
                break
            own, shared = float(ray @ H @ ray), float(along @ H @ ray)
            along = along + (-shared / own if own > 0 > shared else 1.0) * ray if along.any() and own > 0 else ray
            if float(along @ H @ along) < -DOWNWARDS * float(np.abs(along) @ np.abs(H) @ np.abs(along)):
                raise Unbounded(found.level, along, x, found.finished)
            c = H @ along


def _hessian(f: Objective, x: Vector) -> Matrix | None:
    """All second derivatives, where f knows them and there are not too many."""
    if x.size > MOST_COLUMNS:
        return None
    columns = [f.hessian_times(x, unit) for unit in np.eye(x.size)]
    if columns[0] is None:
        return None
    H = np.array(columns)
    return 0.5 * (H + H.T) if np.isfinite(H).all() else None


def _step(f: Objective, x: Vector, minimise: Minimise) -> tuple[Vector, float]:
    """To the minimiser of the model, and by how much that falls."""
    c = f.grad(x)
    B = _bend(f, x)
    step = minimise(Quadratic(B, c - B @ x)).x - x
    return step, -float(c @ step + 0.5 * step @ (B @ step))


def _bend(f: Objective, x: Vector) -> Matrix:
    """The absolute value of the second derivatives, all of them above zero; else a multiple of the identity."""
    if (H := _hessian(f, x)) is not None:
        values, vectors = np.linalg.eigh(H)
        size = np.abs(values)
        if size.max() > 0:
            B = (vectors * np.maximum(size, FLAT * size.max())) @ vectors.T
            return 0.5 * (B + B.T)
    return (f.smoothness or 1.0) * np.eye(x.size)


def _searched(f: Objective, x: Vector, step: Vector, promised: float) -> Vector | None:
    """The farthest of x + step, x + step/2, ... at which f falls by a part of what was promised."""
    value, share = f.value(x), 1.0
    noise = 8 * UNIT_ROUNDOFF * (1 + abs(value))
    while share > 1e-8 and promised > 0:
        point = x + share * step
        if f.value(point) <= value - 1e-4 * share * promised + (noise if share == 1.0 else 0.0):
            return point
        share *= 0.5
    return None


def _judged(f: Objective, domain: Domain, x: Vector, answer: Answer, minimise: Minimise) -> Answer:
    """The point with its Frank-Wolfe gap over the lower solutions, rounding of the gradient included."""
    c, off = f.grad(x), f.rounding(x)[1]
    none = replace(_with_bracket(answer, f.lower_bound, np.inf), x=x, upper_constant=None)
    try:
        least = minimise(Linear(c)) if c.any() else replace(answer, f_lower=0.0)
    except (OutOfTime, Unbounded, Elsewhere):
        return none
    at = float(c @ x)
    lost = off * domain.diameter if off else 0.0
    gap = at - least.f_lower + lost + (x.size + 8) * UNIT_ROUNDOFF * float(np.abs(c) @ np.abs(x))
    return replace(
        none,
        g_lower=max(answer.g_lower, least.g_lower),
        g_upper=min(answer.g_upper, least.g_upper),
        well_posed=answer.well_posed and least.well_posed,
        notes=tuple(dict.fromkeys((*answer.notes, *least.notes))),
        assumes=tuple(dict.fromkeys((*answer.assumes, *least.assumes))),
        stationarity=max(gap, 0.0),
    )


def _single(f: Objective, answer: Answer, moves: Vector) -> Answer:
    """The only lower solution is as near to the point as this: f* by its value there."""
    x = answer.x
    (value, grad), (value_error, grad_error) = f.value_and_grad(x), f.rounding(x)
    far = float(np.linalg.norm(moves))
    bend = f.curvature_within(x, far)
    off = float(np.abs(grad) @ moves) + grad_error * far + value_error + UNIT_ROUNDOFF * abs(value)
    off = (off + 0.5 * (np.inf if bend is None else bend) * far**2) * (1 + 1e-12)
    return replace(_with_bracket(answer, max(value - off, f.lower_bound), value + off), upper_constant=True)


def _with_bracket(answer: Answer, lower: float, upper: float) -> Answer:
    """The answer with another last level, whose optimal value is in this bracket."""
    brackets = answer.brackets and (*answer.brackets[:-1], (lower, upper))
    return replace(answer, f_lower=lower, f_upper=upper, brackets=brackets, duals=(), own_duals=None, multiplier=0.0)
