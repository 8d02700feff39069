"""Euclidean balls with more variables than dense factorisations take: nothing is stored but vectors.

A quadratic level whose minimiser is on the sphere has (H + lam) s = -grad(center) with |s| = R there, s being the way
from the centre: Newton's method for 1/|s(lam)| (Moré and Sorensen, 1983), each s by conjugate gradients. The proof
needs no spectrum, as the ball grows by lam/2 |e|^2 whatever H is. A minimiser inside is not for this file.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import Vector, length
from ...numerics.deadline import remaining
from ...numerics.extended import Ext, double, ext, total
from ...sets.base import Domain
from ...sets.round.description import Round
from .growth import Distance, distance
from .level import Level
from .polish import Polished

MOST_MULTIPLIERS = 60
MOST_ITERATIONS = 5000
"""Of conjugate gradients, for one multiplier."""

LEAST = 1e-9
"""Multipliers below this, relative to the largest that there can be, count as none: then the solution is inside."""

ROUGH, EXACT = 1e-3, 1e-14
"""Residuals of conjugate gradients: where the sphere is far, and at the end."""

REFINEMENTS, STEP = 4, 1e-6
"""Steps towards a residual in extended precision at most, and how exact each is."""

ON_THE_SPHERE = 1e-13
"""How near, relative to its radius."""


def nearest_on_the_sphere(level: Level, domain: Domain, shape: Round) -> tuple[Vector, Distance | None]:
    """A minimiser of a quadratic level, and how far all minimisers are from it; None where none is shown."""
    center = shape.middle
    start = double(level.at(ext(center)).grad)

    def times(d: Vector) -> Vector:
        return level.curvature_times(center, d)

    enough = 0.75 * remaining()  # that is for another method
    s, on_it = _on_the_sphere(times, start, shape.size, enough)
    if not on_it:
        return center + s, None
    x = _refined(level, times, shape, ext(center) + ext(s), enough)
    chart = next(shape.charts(x, start))  # type: ignore[arg-type]  # that of a sphere keeps all digits
    point, none = chart.point(chart.start), ext(np.zeros(0))
    polished = Polished(chart, chart.start, point, level.at(point), none, none, 0.0)
    return double(point), distance(level, polished, domain.diameter)


def _refined(level: Level, times: Callable[[Vector], Vector], shape: Round, x: Ext, enough: float) -> Ext:
    """The point with a smaller residual: steps in double precision, residuals in extended precision."""
    center, radius = ext(shape.middle), np.longdouble(shape.size)
    least, best = np.inf, x
    for _ in range(REFINEMENTS):
        s = (x - center) * (radius / np.sqrt(total((x - center) ** 2)))
        slope = level.at(center + s).grad
        lam = -total(slope * s) / radius**2
        left = double(slope + lam * s)
        if not lam > 0 or not length(left) < 0.1 * least:
            break
        least, best = length(left), center + s
        step = _solved(times, float(lam), -left, np.zeros(left.size), STEP, enough)
        w = _solved(times, float(lam), double(s), np.zeros(left.size), STEP, enough)
        if step is None or w is None:
            break
        x = center + s + (step - float(double(s) @ step) / float(double(s) @ w) * w)
    return best


def _on_the_sphere(
    times: Callable[[Vector], Vector], slope: Vector, radius: float, enough: float
) -> tuple[Vector, bool]:
    """s with (H + lam) s = -slope and |s| = radius, and whether there is one with lam > 0; else s is inside."""
    s = np.zeros(slope.size)
    most = lam = length(slope) / radius
    off = np.inf
    for _ in range(MOST_MULTIPLIERS):
        if not lam > LEAST * most:
            break
        tolerance = min(ROUGH, max(1e-3 * abs(off), EXACT))
        found = _solved(times, lam, -slope, s, tolerance, enough)
        if found is None:
            break
        s = found
        size = length(s)
        before, off = off, size / radius - 1
        if off < -0.01 and abs(off - before) < 0.01 * abs(off):  # it hardly grows any more, and does not get there
            break
        settled = abs(off) <= ON_THE_SPHERE or (abs(off) <= 1e-10 and abs(off) >= 0.5 * abs(before))
        if settled and tolerance == EXACT:
            return s, True
        w = _solved(times, lam, s, s / lam, ROUGH, enough)
        if w is None:
            break
        lam = max(lam + off * size**2 / float(s @ w), 0.1 * lam)
    return s * min(1.0, radius / (length(s) or 1.0)), False


def _solved(
    times: Callable[[Vector], Vector], lam: float, right: Vector, x: Vector, tolerance: float, seconds: float
) -> Vector | None:
    """(H + lam)^-1 right by conjugate gradients from x, to a residual relative to ``right``.

    None where that would leave less than these seconds.
    """
    r = right - times(x) - lam * x
    p, square = r, float(r @ r)
    least, best = square, x
    enough = (tolerance * length(right)) ** 2
    for _ in range(MOST_ITERATIONS):
        if square <= enough:
            break
        if remaining() < seconds:
            return None
        image = times(p) + lam * p
        step = square / float(p @ image)
        x, r = x + step * p, r - step * image
        before, square = square, float(r @ r)
        if square < least:
            least, best = square, x
        p = r + (square / before) * p
    return best
