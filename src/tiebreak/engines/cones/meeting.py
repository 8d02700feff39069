"""The multiplier at which the minimiser of f + lam g has a given g: Newton's method for both at once, on a chart.

It proves nothing: what it finds is where a search for the multiplier had better look next.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Vector
from ...numerics.extended import double, ext
from ...objectives.base import Objective
from ...sets.round.description import Round
from .level import Level
from .polish import System

MOST_STEPS = 20
SETTLED = 1e-7
"""A relative change of the multiplier after which it counts as found: the next one would be about its square."""

MOST_STALLS = 3
"""Steps that do not halve the residual: then something else is active where the level is met."""

FURTHEST = 3.0
"""A step changes the multiplier by this factor at most."""


def meeting(
    f: Objective, g: Objective, most: float, shape: Round, x: Vector, lam: float
) -> tuple[float, Vector] | None:
    """The multiplier and the minimiser, from a minimiser x for another multiplier; None where none is found."""
    if f.form is None or g.form is None:
        return None
    lower, upper = Level(g.form, x.size), Level(f.form, x.size)
    if lower.kinks is not None or upper.kinks is not None:
        return None
    slope = double(upper.at(ext(x)).grad) + lam * double(lower.at(ext(x)).grad)
    inside = shape.room(x) > 1e-9 * shape.size
    chart = shape.inside(x) if inside else next(shape.charts(x, slope), None)
    if chart is None:
        return None
    u, prices, none = chart.start, ext(np.zeros(chart.equations)), ext(np.zeros(1))
    least, stalls = np.inf, 0
    for k in range(MOST_STEPS):
        form = (f + lam * g).form
        assert form is not None
        here = lower.at(chart.point(u))
        row = double(here.grad)[None, :]
        held = ext(row) @ chart.point(u) - (here.value - np.longdouble(most))
        unit = lam * float(np.linalg.norm(row))  # the slope of the sum may vanish
        system = System(Level(form, x.size), chart, row, held, unit)
        now = system.state(u, prices, none, fit=k == 0)
        if k:  # the first is at a minimiser for another multiplier
            stalls = stalls + 1 if now.residual > 0.5 * least else 0
            least = min(least, now.residual)
        step = system.step(now) if stalls < MOST_STALLS else None
        if step is None or not all(np.isfinite(part).all() for part in step):
            return None
        factor = 1 + float(step[2][0]) / lam
        u, prices = u + step[0], prices + step[1]
        lam *= min(max(factor, 1 / FURTHEST), FURTHEST)
        if abs(factor - 1) <= SETTLED:
            return (lam, double(chart.point(u))) if np.isfinite(lam) else None
    return None
