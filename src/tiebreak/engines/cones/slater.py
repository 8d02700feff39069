"""The second level where the slope of the first vanishes at its minimisers: these are {x in Z : K x = K x*}.

Let H be the set {K x = K x*} for the unconstrained minimisers x* of g, in the affine hull of Z. By strong convexity of
g along the rows of K a point with slope c is within |c| / mu of H. If some x_c with a ball of radius rho around it in Z
is nearer to H than rho, H meets the interior of Z: the slope is zero at all minimisers, and each point of Z near H can
be mixed with a point near x_c so that the mix is a minimiser. That bounds f* from above; duality bounds it from below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import UNIT_ROUNDOFF, Matrix, Vector, length
from ...numerics.extended import UNIT, Ext, ExtMatrix, double, ext, total
from ...sets.base import Domain
from ...sets.round.description import Conic, Round
from .conic import Held, approximate
from .growth import SVD_UNITS
from .level import Level, Local
from .polish import MOST_STEPS, Polished, polish

NARROW = 1e-11
"""Relative width of a bracket that ends the search."""

OUTSIDE = 1e-9
"""A point that misses the set by more, relative to its size, is no candidate."""

RANK = 1e-10
"""Singular values of the data below this, relative to the largest, count as zero."""

RANKS = "singular values of the lower level's data below 1e-10 of the largest are zero"


@dataclass(frozen=True)
class Solutions:
    """The minimisers of the lower level by rows: E x = t, orthonormal rows; ``mu`` is the modulus along them.

    A point of Z is so near to ``center`` that the ball of ``room`` around it less ``center_off`` is in Z, and the
    minimisers are within ``center_off`` of it. ``by_rank`` says that the rank of the data was decided, not shown.
    ``K'(turn w)`` is E'w, for the data K.
    """

    E: Matrix
    t: Ext
    turn: Matrix
    data: ExtMatrix
    center: Vector
    center_off: float
    room: float
    mu: float
    by_rank: bool
    g_lower: float
    g_upper: float
    hull: Matrix | None

    def off(self, here: Local, reach: float) -> float:
        """How far a point with this slope of the lower level may be from the rows, if it is within ``reach``."""
        return off_rows(here, self.hull) / self.mu


def off_rows(here: Local, hull: Matrix | None) -> float:
    """At least the length of the slope in the hull."""
    if hull is None:
        return length(double(here.grad)) * (1 + 1e-12) + here.grad_error
    inner = double(ext(hull.T) @ here.grad)
    size, dim = float(np.linalg.norm(inner)), int(hull.shape[0])
    # rounding of the columns of the hull: the slope may be large across them, as a multiple of the identity is
    return size * (1 + 1e-12) + 8 * (dim + 8) * UNIT * length(double(here.grad)) + here.grad_error


def solutions_inside(level: Level, domain: Domain, shape: Round, x: Vector) -> Solutions | None:
    """The minimisers where the slope vanishes at them; None where that cannot be shown."""
    K = level.images
    if not K.size:
        return None
    inner = K if shape.hull is None else K @ shape.hull
    left, values, right = np.linalg.svd(inner, full_matrices=False)
    noise = SVD_UNITS * sum(K.shape) * UNIT_ROUNDOFF * float(values[0])
    rank = int((values > max(RANK * float(values[0]), noise)).sum())
    full_columns = rank == inner.shape[1]
    if rank == 0 or (double(level.p).any() and not full_columns):
        return None
    by_rank = not full_columns and rank < inner.shape[0]
    E = right[:rank] if shape.hull is None else right[:rank] @ shape.hull.T
    turn = left[:, :rank] / values[:rank]
    inside = polish(level, shape.inside(x))
    t = ext(E) @ inside.x
    center = x + E.T @ double(t - ext(E) @ ext(x))
    here = level.at(ext(center))
    room = shape.room(center)
    slope = off_rows(here, shape.hull)
    mu = modulus(level, center, slope * room, E)
    if not (mu > 0 and room > 0):
        return None
    beside = domain.distance_outside(center)  # of the hull, by rounding; across it slopes may be steep
    center_off = (slope / mu + 2 * beside) * (1 + 1e-12)
    if not center_off < 0.5 * room:
        return None
    lower = here.below - (slope * center_off + level.fall(here, beside)) * (1 + 1e-12)
    upper = here.above + level.rise(here, ext(center), beside)
    ends = float(np.nextafter(lower, -np.inf)), float(np.nextafter(upper, np.inf))
    return Solutions(E, t, turn, ExtMatrix(K), center, center_off, room, mu, by_rank, *ends, shape.hull)


def modulus(level: Level, x: Vector, gap: float, E: Matrix) -> float:
    """At most the curvature of the level along all rows, for points whose value is above the model by the gap."""
    B, inexact = level.roots(x, gap)
    values = np.linalg.svd(B @ E.T, compute_uv=False)
    sigma = float(values[-1]) - SVD_UNITS * sum(B.shape) * UNIT_ROUNDOFF * float(values[0]) * 2 - inexact
    return sigma**2 * (1 - 1e-12) if sigma > 0 else 0.0


@dataclass(frozen=True)
class Bracketed:
    """A point with what is proved about f*; ``price`` is that of the rows."""

    x: Ext
    f_lower: float
    f_upper: float
    residual: float


def second_level(lower: Level, upper: Level, domain: Domain, shape: Round, conic: Conic,
                 known: Solutions) -> Bracketed | None:  # fmt: skip
    """Minimise the upper level over the solutions of the lower one; the best bracket of all charts that are tried."""
    held = Held(known.E, double(known.t))
    found = approximate(upper, shape, conic, held, known.center)
    if found is None:
        return None
    slope = double(upper.at(ext(found.x)).grad) + known.E.T @ found.w
    best: Bracketed | None = None
    charts = [shape.inside(found.x)] if shape.room(found.x) > 1e-6 * shape.size else []
    last = shape.inside(found.x)
    for chart in [*charts, *shape.charts(found.x, slope), last]:
        steps = MOST_STEPS if chart is not last else 0  # at last, the candidate itself
        polished = polish(upper, chart, known.E, known.t, found.w, most=steps)
        if not chart.outside(polished.u) <= OUTSIDE * shape.size:
            continue
        tried = bracket(lower, upper, domain, known, polished)
        if tried is None:
            continue
        low = max(tried.f_lower, best.f_lower) if best else tried.f_lower
        if best is None or tried.f_upper - tried.f_lower < best.f_upper - best.f_lower:
            best = tried
        if best.f_upper - low <= NARROW * (1 + abs(best.f_upper)):
            break
    return best


def bracket(lower: Level, upper: Level, domain: Domain, known: Solutions, polished: Polished) -> Bracketed | None:
    """What a point with prices of the rows proves about f*."""
    x, rounded = polished.x, double(polished.x)
    outside = polished.chart.outside(polished.u)
    if not np.isfinite(outside) or not np.isfinite(rounded).all():
        return None
    slope = off_rows(lower.at(x), known.hull)
    mu = modulus(lower, rounded, slope * domain.diameter, known.E)
    if not mu > 0:
        return None
    off = slope / mu * (1 + 1e-12)
    here = polished.here
    w = ext(known.turn @ double(polished.w))
    pulled = known.data.transpose_times(w)
    c = double(here.grad + pulled)
    error = here.grad_error + length(known.data.transpose_times_error(w)) + 2 * UNIT_ROUNDOFF * length(c)
    at_x = total(ext(c) * x)
    least = domain.lmo_bound(c, domain.lmo(c))
    gap = float(at_x - np.longdouble(least)) + 8 * UNIT_ROUNDOFF * (abs(float(at_x)) + abs(least))
    gap = max(gap, 0.0) + error * (domain.diameter + outside)
    f_lower = here.below - (gap + length(double(pulled)) * off) * (1 + 1e-12)
    share = (off + outside) / (known.room - known.center_off)
    f_upper = np.inf
    if share <= 1:
        away = length(rounded - known.center) + known.room
        radius = (outside + share * away) * (1 + 1e-9)
        f_upper = float(np.nextafter(here.above + upper.rise(here, x, radius), np.inf))
    return Bracketed(x, float(np.nextafter(f_lower, -np.inf)), f_upper, polished.residual)
