"""The second level where the slope of the first vanishes at its minimisers, which ``solutions`` describes.

Each point of Z near the minimisers can be mixed with a point in their interior so that the mix is a minimiser. That
bounds f* from above; duality bounds it from below.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import UNIT_ROUNDOFF, Vector, length
from ...numerics.extended import UNIT, Ext, double, ext, total
from ...sets.base import Domain
from ...sets.round.description import Chart, Conic, Round
from .conic import Approximate, Held, approximate
from .kinks import Surface
from .level import Level
from .polish import MOST_STEPS, Polished, polish
from .solutions import Solutions, modulus, off_rows

NARROW = 1e-11
"""Relative width of a bracket that ends the search."""

OUTSIDE = 1e-9
"""A point that misses the set by more, relative to its size, is no candidate."""


@dataclass(frozen=True)
class Bracketed:
    """A point with what is proved about f*."""

    x: Ext
    f_lower: float
    f_upper: float
    residual: float


class Candidate(NamedTuple):
    """A polished point, and the prices of flat rows."""

    polished: Polished
    y: Vector


class _Rows(NamedTuple):
    """All that is held for Newton's method: rows of the solutions, flat rows at their ends, a surface of kinks."""

    E: Ext
    t: Ext
    w: Vector
    active: NDArray[np.intp]
    surface: Surface | None

    @classmethod
    def of(cls, upper: Level, known: Solutions, found: Approximate, lam: Ext | None, size: float) -> _Rows:
        x, flat = ext(found.x), known.flat
        steep = upper.at(x, lam).steep or 1.0
        active = np.flatnonzero(found.y * flat.lengths / steep > -flat.off(x) / (flat.lengths * size))
        surface = None if upper.kinks is None or lam is None else upper.kinks.surface(x, lam)
        E, t, w = [ext(known.E), ext(flat.G[active])], [known.t, ext(flat.h[active])], [found.w, found.y[active]]
        if surface is not None:
            E, t, w = [*E, surface.E], [*t, surface.t], [*w, surface.w]
        return cls(np.vstack(E), np.concatenate(t), np.concatenate(w), active, surface)


def second_level(lower: Level, upper: Level, domain: Domain, shape: Round, conic: Conic,
                 known: Solutions) -> Bracketed | None:  # fmt: skip
    """Minimise the upper level over the solutions of the lower one; the best bracket of all charts that are tried."""
    held = Held(known.E, double(known.t), known.flat.G, known.flat.h)
    found = approximate(upper, shape, conic, held, known.center)
    if found is None:
        return None
    lam = None if upper.kinks is None else upper.kinks.multipliers(found.lam)
    slope = double(upper.at(ext(found.x), lam).grad) + known.E.T @ found.w + known.flat.G.T @ found.y
    rows = _Rows.of(upper, known, found, lam, shape.size)
    best: Bracketed | None = None
    charts = [shape.inside(found.x)] if shape.room(found.x) > 1e-6 * shape.size else []
    last = shape.inside(found.x)
    for chart in [*charts, *shape.charts(found.x, slope), last]:
        steps = MOST_STEPS if chart is not last else 0  # at last, the candidate itself
        candidate = _candidate(upper, known, chart, rows, found, lam, steps)
        if candidate is None or not chart.outside(candidate.polished.u) <= OUTSIDE * shape.size:
            continue
        tried = bracket(lower, upper, domain, known, candidate)
        if tried is None:
            continue
        low = max(tried.f_lower, best.f_lower) if best else tried.f_lower
        if best is None or tried.f_upper - tried.f_lower < best.f_upper - best.f_lower:
            best = tried
        if best.f_upper - low <= NARROW * (1 + abs(best.f_upper)):
            break
    return best


def _candidate(upper: Level, known: Solutions, chart: Chart, rows: _Rows, found: Approximate, lam: Ext | None,
               steps: int) -> Candidate | None:  # fmt: skip
    """The stationary point on the chart with all rows held, moved onto the flat pieces; None where it is none."""
    level = upper if rows.surface is None else upper.tilted(rows.surface.slope)
    polished = polish(level, chart, rows.E, rows.t, rows.w, most=steps)
    ends = np.cumsum([known.t.size, rows.active.size])
    if rows.surface is not None and upper.kinks is not None and steps:
        lam = upper.kinks.priced(rows.surface, polished.w[ends[1] :])
        if lam is None:
            return None
    y = found.y.copy() if not steps else np.zeros(found.y.size)
    if steps:
        y[rows.active] = np.maximum(double(polished.w[ends[0] : ends[1]]), 0.0)
    x = polished.x
    if y.size:
        off, room = known.flat.off(x), -known.flat.off(ext(known.center))
        share = float(np.max(np.maximum(off, 0.0) / (np.maximum(off, 0.0) + room)))
        x = x + np.longdouble(min(2 * share, 1.0)) * (ext(known.center) - x)
    return Candidate(replace(polished, x=x, here=upper.at(x, lam), w=polished.w[: ends[0]], priced=lam), y)


def bracket(lower: Level, upper: Level, domain: Domain, known: Solutions, candidate: Candidate) -> Bracketed | None:
    """What a point with prices of the rows proves about f*."""
    polished, flat = candidate.polished, known.flat
    x, rounded = polished.x, double(polished.x)
    outside = polished.chart.outside(polished.u)
    if not np.isfinite(outside) or not np.isfinite(rounded).all() or (flat.off(x) > 0).any():
        return None
    slope = off_rows(lower.at(x), known.hull)
    mu = modulus(lower, rounded, slope * domain.diameter, known.E)
    if not mu > 0:
        return None
    off = slope / mu * (1 + 1e-12)
    here, y = polished.here, ext(candidate.y)
    w = ext(known.turn @ double(polished.w))
    pulled = known.data.transpose_times(w)
    kept = ext(flat.G.T) @ y
    c = double(here.grad + pulled + kept)
    error = here.grad_error + length(known.data.transpose_times_error(w)) + 2 * UNIT_ROUNDOFF * length(c)
    error += (y.size + 8) * UNIT * length(np.abs(flat.G.T) @ double(y))
    at_x = total(ext(c) * x)
    least = domain.lmo_bound(c, domain.lmo(c))
    gap = float(at_x - np.longdouble(least)) + 8 * UNIT_ROUNDOFF * (abs(float(at_x)) + abs(least))
    gap = max(gap, 0.0) + error * (domain.diameter + outside) + here.deficit
    # flat rows of x* are at most at their ends, those of x are so much before them
    gap += float(
        double(y) @ (4 * UNIT_ROUNDOFF * np.abs(flat.h) - flat.off(x) + 4 * UNIT_ROUNDOFF * np.abs(flat.off(x)))
    )
    f_lower = here.below - (gap + length(double(pulled)) * off) * (1 + 1e-12)
    share = (off + outside) / (known.room - known.center_off)
    f_upper = np.inf
    if share <= 1:
        away = length(rounded - known.center) + known.room
        radius = (outside + share * away) * (1 + 1e-9)
        f_upper = float(np.nextafter(here.above + upper.rise(here, x, radius), np.inf))
    return Bracketed(x, float(np.nextafter(f_lower, -np.inf)), f_upper, polished.residual)
