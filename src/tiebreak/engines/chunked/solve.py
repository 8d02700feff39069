"""The engine: the way to the answer, and what the last pass proves of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import UNIT_ROUNDOFF, Vector, length
from ...composite import LinearMinimum
from ...linearisation import Linearisation, dot_error
from ...objectives.base import Objective
from ...problem import Problem
from ...sets.base import Domain
from ..answer import Answer, Elsewhere
from .levels import RowLevel
from .multiplier import weights
from .newton import minimised, small_objective
from .proof import NEAR, Level, held, sharper, show
from .quadratic import solve_quadratic_chunks
from .refuses import quadratic_in_chunks, two_levels_apply
from .triangle import Reduced

SHARP = 1e-5  # of a bracket on f*: a wider one is worth another pass


def solve_chunks(levels: Sequence[Objective], domain: Domain) -> Answer:
    """The answer, with bounds from one last pass over the data; none where the small problems lead nowhere."""
    dim = domain.dim or 0
    try:
        if quadratic_in_chunks(levels, domain):
            if (answer := solve_quadratic_chunks(levels, domain)) is not None:
                return answer
            if why := two_levels_apply(levels, domain):
                raise Elsewhere(f"some columns are sums of others but for rounding, and {why}")
        return _solved(levels, domain, dim)
    except (Elsewhere, np.linalg.LinAlgError) as why:
        return Answer(domain.some_point(), -np.inf, np.inf, -np.inf, np.inf, well_posed=False, notes=(str(why),))


def _solved(levels: Sequence[Objective], domain: Domain, dim: int) -> Answer:
    lower, upper = RowLevel.of(levels[0], dim, whole=True), RowLevel.of(levels[1], dim)
    start = domain.project(np.zeros(dim)) if "project" in domain.oracles else domain.some_point()
    x, model = minimised(lower, (), domain, start)
    assert model is not None
    x, own = minimised(upper, [small_objective(model, None)], domain, x, last=True)
    slope = _slope(upper, x) if own is None else small_objective(own, upper.rest).grad(x)
    return proved(levels, lower, upper, model, domain, x, slope)


def proved(
    levels: Sequence[Objective],
    lower: RowLevel,
    upper: RowLevel,
    model: Reduced,
    domain: Domain,
    x: Vector,
    slope: Vector,
) -> Answer:
    """What the data say of x: both brackets from below, and that of g from above."""
    problem = Problem(levels[1], levels[0], domain)
    minimum = LinearMinimum(problem)
    w = weights(model, domain, x, slope)
    nothing = np.zeros(x.size)
    g, f = show([lower.terms, upper.terms], x, [w, nothing])
    rest = None if upper.rest is None else Linearisation.of(upper.rest, x)
    outside = domain.distance_outside(x)
    steep = length(_double(g.grad)) + length(g.grad_error)
    near = outside <= NEAR * (1 + length(x))
    rise = outside * (steep + outside * g.steepest) if near else np.inf
    gap = max(sum(_drop(minimum, g.grad, g.grad_error, x)) + rise, 0.0)
    value, error = float(g.value), g.value_error + 2 * UNIT_ROUNDOFF * abs(float(g.value))
    f_below = _f_lower(minimum, f, rest, g, x)
    if held(g, lower.terms, gap) > SHARP:
        (again,) = show([lower.terms], x, [weights(model, domain, x, _double(g.grad))])
        left = sum(_drop(minimum, g.grad + again.pulled, g.grad_error + again.pulled_error, x))
        gap = min(gap, sharper(again, lower.terms, max(left + rise, 0.0)))
    return Answer(
        x=x,
        g_lower=value - error - gap,
        g_upper=value + error + rise,
        f_lower=f_below - held(g, lower.terms, gap),
        f_upper=np.inf,
        notes=(_in_words(model, x.size),),
    )


def _in_words(model: Reduced, dim: int) -> str:
    return (
        f"the point by triangles of the chunks, of rank {len(model.rows)} in {dim} variables; the bounds by a last pass"
    )


def _slope(upper: RowLevel, x: Vector) -> Vector:
    """The gradient of the upper level at x, by a pass: for its multiplier, not for bounds."""
    total = np.zeros(x.size) if upper.rest is None else upper.rest.grad(x)
    for term in upper.terms:
        assert term.source is not None
        total = total + term.scale / term.source.scale * term.source.grad(x)
    return np.asarray(total)


def _double(values: object) -> Vector:
    return np.asarray(values, dtype=np.float64)


def _drop(minimum: LinearMinimum, grad: object, error: Vector, x: Vector) -> tuple[float, float]:
    """max over Z of <grad, x - s>, and what rounding may add."""
    c = _double(grad)
    off = length(error) + UNIT_ROUNDOFF * length(c)
    at, least = float(c @ x), minimum.below(c, off)
    return at - least, dot_error(c, x) + off * length(x) + 4 * UNIT_ROUNDOFF * (abs(at) + abs(least))


def _f_lower(minimum: LinearMinimum, f: Level, rest: Linearisation | None, g: Level, x: Vector) -> float:
    """f(x) + min over Z of <grad f + A'y, s - x>."""
    value, value_error, slope, error = float(f.value), f.value_error, f.grad + g.pulled, f.grad_error + g.pulled_error
    value_error += UNIT_ROUNDOFF * abs(value)
    if rest is not None:
        value, slope = value + rest.value, slope + rest.grad
        value_error += rest.value_error + 2 * UNIT_ROUNDOFF * (abs(value) + abs(rest.value))
        error = error + rest.grad_error / np.sqrt(x.size)
    drop, off = _drop(minimum, slope, error, x)
    return value - value_error - drop - off - 4 * UNIT_ROUNDOFF * (abs(value) + abs(drop))
