"""The exact engine for round sets: two levels over balls and spectrahedra, with a bracket around both optimal values.

Either the slope of the lower level is not zero at its minimisers: then they lie in one face of Z, which for these sets
is mostly a point, and the growth of the set there bounds how far they are from a polished point (``growth``). Or it is
zero: then they are all points of Z with the same images, and the upper level is minimised over those (``slater``).
Which of the two holds is not decided but proved: both are tried where it is in doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...arrays import UNIT_ROUNDOFF, Vector, length
from ...numerics.extended import EXTENDED, Ext, double, ext
from ...objectives.base import Objective
from ...sets.base import Domain
from ...sets.round.description import Conic, Round
from ..answer import Answer, Elsewhere
from ..interrupt import keeping
from .conic import Approximate, approximate
from .face import on_face
from .growth import Distance, distance, settled
from .large import nearest_on_the_sphere
from .level import Level
from .meeting import meeting
from .refuses import is_large
from .slater import NARROW, OUTSIDE, second_level
from .solutions import RANKS, solutions_inside
from .unbound import where_it_does_not_bind

RESOLVED = 1e-16
"""A residual so small, on a chart with some growth, that no other chart is tried."""

FROM_THE_LAST = 1e-9
"""A minimiser found from that of another objective has to be shown this near, relative to the set."""

ASSUMES = (EXTENDED, "singular values and eigenvalues are those of a matrix within rounding of the given one")


def solve_cones(levels: Sequence[Objective], domain: Domain) -> Answer:
    """The solution of two levels over a round set: what ``cones_apply`` has passed, which is not asked again.

    Where neither way leads to a bracket the answer is a lower solution without one.

    Examples
    --------
    The point of the disk nearest to (2, 0), and what a linear function is worth there:

    >>> import tiebreak as tb
    >>> answer = solve_cones([tb.SquaredNorm([2.0, 0.0]), tb.Linear([3.0, 1.0])], tb.L2Ball(1.0).with_dim(2))
    >>> answer.x.round(12) + 0.0, answer.lower_unique, bool(answer.f_upper - answer.f_lower < 1e-14)
    (array([1., 0.]), True, True)
    """
    shape, dim = domain.round, domain.dim
    assert shape is not None and dim is not None
    forms = [level.form for level in levels]
    lower, upper = Level(forms[0], dim), Level(forms[-1], dim)  # type: ignore[arg-type]
    if len(levels) == 1:
        return Minimiser(domain)(levels[0])
    flat = not lower.terms and not lower.bends and lower.kinks is None
    if flat and not lower.p.any():  # a constant: all points are lower solutions
        return _constant(lower, Minimiser(domain)(levels[-1]))
    if is_large(domain):
        x, near = nearest_on_the_sphere(lower, domain, shape)
        if near is None:
            return _unproved(x, lower, domain, "of a ball this large only solutions on its boundary are proved")
        return _unique(near, lower, upper)
    if (answer := where_it_does_not_bind(levels, lower, upper, domain, shape)) is not None:
        return answer
    conic = shape.conic()
    first = approximate(lower, shape, conic)
    if first is None:
        return _unproved(shape.middle, lower, domain, "the interior-point method fails")
    if flat and (face := shape.linear_face(double(lower.p))) is not None:
        tied = on_face(lower, upper, levels[-1], domain, face)
        if tied is not None:
            return tied
    lam = _allowed(lower, first)
    with keeping(lambda: _unproved(first.x, lower, domain, "the time is up", lam)):
        near = nearest(lower, domain, shape, first.x, lam)
        answer = None if near is None else _unique(near, lower, upper)
        if answer is not None and answer.width <= NARROW:
            return answer
        other = _inside(lower, upper, domain, shape, conic, first.x)
    if answer is None or (other is not None and other.width < answer.width):
        answer, other = other, answer
    if answer is None:
        why = "neither the growth of the set nor an interior solution is shown"
        return _unproved(first.x, lower, domain, why, lam)
    return answer if other is None else _together(answer, other)


def _constant(lower: Level, answer: Answer) -> Answer:
    """The answer to the upper level alone, beside a lower level that is the same everywhere."""
    here = lower.at(ext(answer.x))
    return replace(answer, g_lower=here.below, g_upper=here.above, lower_unique=False)


def _allowed(level: Level, found: Approximate) -> Ext | None:
    """The multipliers of kinks that an interior-point method has found, as they have to be."""
    return None if level.kinks is None else level.kinks.multipliers(found.lam)


def _unproved(x: Vector, lower: Level, domain: Domain, why: str, lam: Ext | None = None) -> Answer:
    """A point with what one linear minimum says about the lower level."""
    here = lower.at(ext(x), lam)
    c = double(here.grad)
    gap = (
        float(c @ x) - domain.lmo_bound(c, domain.lmo(c)) + (x.size + 8) * UNIT_ROUNDOFF * float(np.abs(c) @ np.abs(x))
    )
    gap += (here.grad_error + UNIT_ROUNDOFF * length(c)) * (domain.diameter + length(x)) + here.deficit
    outside = domain.distance_outside(x)
    g_upper = here.above + lower.rise(here, ext(x), outside) if np.isfinite(outside) else np.inf
    notes = (f"no proof: {why}",)
    return Answer(x, here.below - gap, g_upper, -np.inf, np.inf, well_posed=False, notes=notes, assumes=ASSUMES)


def nearest(level: Level, domain: Domain, shape: Round, x: Vector, lam: Ext | None = None,
            only_value: bool = False) -> Distance | None:  # fmt: skip
    """The best bound on the distance of all minimisers, over the charts around x.

    With ``only_value`` it ends where the least value is known to the last digits: distances count squared there.
    """
    if level.kinks is not None and lam is None:
        lam = level.kinks.simplest(ext(x))
    slope = double(level.at(ext(x), lam).grad)
    best: Distance | None = None
    charts = list(shape.charts(x, slope))
    if shape.room(x) > 1e-9 * shape.size:
        charts.insert(0, shape.inside(x))
    for chart in charts:
        done = settled(level, chart, lam)
        if done is None or not chart.outside(done[0].u) <= OUTSIDE * shape.size:  # an interior that is none
            continue
        polished, held = done
        found = distance(level, polished, domain.diameter, held)
        if found is not None and (best is None or found.far < best.far):
            best = found
        if best is not None and (best.polished.residual <= RESOLVED or (only_value and best.sharp)):
            break
    return best


def _unique(near: Distance, lower: Level, upper: Level) -> Answer:
    """What a bound on the distance of all lower solutions says."""
    x, here = near.polished.x, near.polished.here
    there = upper.at(x)
    outside = near.polished.chart.outside(near.polished.u)
    return Answer(
        double(x),
        float(np.nextafter(here.below - near.gap, -np.inf)),
        float(np.nextafter(here.above + lower.rise(here, x, outside), np.inf)),
        float(np.nextafter(there.below - upper.fall(there, near.far), -np.inf)),
        float(np.nextafter(there.above + upper.rise(there, x, near.far), np.inf)),
        lower_unique=near.unique or None,
        upper_constant=near.unique or None,
        notes=(f"every lower solution is within {near.far:.1e} of x",),
        assumes=ASSUMES,
    )


def _inside(lower: Level, upper: Level, domain: Domain, shape: Round, conic: Conic, x: Vector) -> Answer | None:
    """The answer where the slope of the lower level vanishes at its minimisers; None where it does not."""
    known = solutions_inside(lower, domain, shape, conic, x)
    found = None if known is None else second_level(lower, upper, domain, shape, conic, known)
    if known is None or found is None:
        return None
    many = known.E.shape[0] < (domain.dim or 0 if shape.hull is None else shape.hull.shape[1])
    return Answer(
        double(found.x),
        known.g_lower,
        known.g_upper,
        found.f_lower,
        found.f_upper,
        lower_unique=(None if known.by_rank else False) if many else True,
        notes=("the lower level's slope vanishes at its solutions, which meet the interior of the domain",),
        assumes=(*ASSUMES, *([RANKS] if known.by_rank else [])),
    )


def _together(best: Answer, other: Answer) -> Answer:
    """The first answer with what both prove."""
    low, high = max(best.f_lower, other.f_lower), min(best.f_upper, other.f_upper)
    g_low, g_high = max(best.g_lower, other.g_lower), min(best.g_upper, other.g_upper)
    if low > high or g_low > g_high:
        return best
    return replace(best, f_lower=low, f_upper=high, g_lower=g_low, g_upper=g_high)


def _by_gaps(level: Level, domain: Domain, shape: Round, x: Vector, lam: Ext | None) -> Answer:
    """The best of x and what charts make of it, by what a linear minimum proves: for minimisers that are not unique."""
    slope = double(level.at(ext(x), lam).grad)
    tried = [_unproved(x, level, domain, "", lam)]
    for chart in (shape.inside(x), *shape.charts(x, slope)):
        done = settled(level, chart, lam)
        if done is not None and chart.outside(done[0].u) <= OUTSIDE * shape.size:
            tried.append(_unproved(double(done[0].x), level, domain, "", done[0].priced))
    best = min(tried, key=lambda answer: answer.g_upper - answer.g_lower)
    return replace(best, g_lower=max(one.g_lower for one in tried), notes=(), well_posed=True)


def _least(near: Distance, level: Level) -> Answer:
    """The answer to a level alone."""
    here, outside = near.polished.here, near.polished.chart.outside(near.polished.u)
    low = float(np.nextafter(here.below - near.gap, -np.inf))
    high = float(np.nextafter(here.above + level.rise(here, near.polished.x, outside), np.inf))
    return Answer(double(near.polished.x), low, high, low, high)


def _on_large_sphere(level: Level, domain: Domain, shape: Round) -> Answer:
    near = nearest_on_the_sphere(level, domain, shape)[1]
    if near is None:
        raise Elsewhere("of a ball this large only minimisers on its boundary are proved")
    return _least(near, level)


class Minimiser:
    """Minimises one objective after the other over the domain; each begins where the last one ended."""

    def __init__(self, domain: Domain) -> None:
        assert domain.round is not None and domain.dim is not None
        self.domain, self.shape, self.conic = domain, domain.round, domain.round.conic()
        self.last: Vector | None = None

    def __call__(self, objective: Objective) -> Answer:
        assert objective.form is not None
        domain, shape = self.domain, self.shape
        level = Level(objective.form, shape.middle.size)
        if is_large(domain):
            return _on_large_sphere(level, domain, shape)
        lam = None
        near = None
        if self.last is not None and level.kinks is None:
            near = nearest(level, domain, shape, self.last, only_value=True)
        if near is None or not (near.sharp or near.far <= FROM_THE_LAST * shape.size):
            found = approximate(level, shape, self.conic)
            lam = None if found is None else _allowed(level, found)
            near = None if found is None else nearest(level, domain, shape, found.x, lam, only_value=True)
            x = shape.middle if found is None else found.x
        if near is not None:
            self.last = double(near.polished.x)
            return _least(near, level)
        proved = _by_gaps(level, domain, shape, x, lam)
        return replace(proved, f_lower=proved.g_lower, f_upper=proved.g_upper)

    def meeting(self, f: Objective, g: Objective, most: float, x: Vector, lam: float) -> float:
        """About the multiplier at which the minimiser of f + lam g has g = most, from one for another; nan if unknown.

        The next objective begins there.
        """
        found = None if is_large(self.domain) else meeting(f, g, most, self.shape, x, lam)
        if found is None:
            return np.nan
        self.last = found[1]
        return found[0]
