"""A second opinion on a result: everything recomputed from x alone, by code that shares nothing with the bounds.

It uses the rows of a set as given, ``value``, ``grad``, ``contains``, and ``lmo`` with what that is proved to be off
by. What x alone can show is weaker than what a whole run has shown, so the bounds here are wider; a claim that
contradicts them is wrong, and so is one that a few steps of conditional gradient from x refute. How far rounding goes
is measured, by evaluating again at points that differ from x in the last digits. Where an objective has norms, ``grad``
is a subgradient: the bounds hold, and are wider still.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np

from .arrays import UNIT_ROUNDOFF, Vector
from .numerics.failures import LinearProgramError
from .objectives import Objective
from .problem import Problem, share_of
from .sets.base import Domain

if TYPE_CHECKING:
    from .result import Result

FEASIBLE = 1e-7
"""A point that misses a constraint by more than this, relative to the terms of the constraint, is not in the set."""

STEPS = 12
"""Steps from x that try to refute a bound."""


@dataclass(frozen=True)
class Verification:
    """What x alone shows, and whether the result agrees.

    Attributes
    ----------
    ok : bool
        Whether nothing the result claims is contradicted.
    complaints : tuple of str
        What is.
    feasible : bool
        Whether x is in Z.
    f, g : float
        Both objectives at x; of more than two levels, the last and the first.
    g_lower, f_lower : float
        Lower bounds on g* and f* from x alone.
    lower_gap, upper_gap : float
        g(x) - g_lower and f(x) - f_lower.
    """

    ok: bool
    complaints: tuple[str, ...]
    feasible: bool
    f: float
    g: float
    g_lower: float
    f_lower: float
    lower_gap: float
    upper_gap: float


@dataclass(frozen=True)
class _Look:
    """An objective at x: value, gradient, and how far both move with the last digits of x."""

    value: float
    grad: Vector
    noise: float
    grad_noise: float

    @classmethod
    def at(cls, objective: Objective, x: Vector) -> _Look:
        rng = np.random.default_rng(0)
        value, grad = objective.value(x), objective.grad(x)
        moved = [x * (1 + 2 * UNIT_ROUNDOFF * rng.choice((-1.0, 1.0), x.size)) for _ in range(3)]
        shift = max(abs(objective.value(other) - value) for other in moved)
        bend = max(float(np.linalg.norm(objective.grad(other) - grad)) for other in moved)
        length = float(np.linalg.norm(grad))
        noise = 64 * (shift + UNIT_ROUNDOFF * length * float(np.linalg.norm(x))) + 1e-12 * abs(value)
        noise += 2 * objective.rounding(x)[0]  # near a minimiser values hardly move with x, but are as inexact as ever
        return cls(value, grad, noise, 64 * (bend + UNIT_ROUNDOFF * length))


def verify(problem: Problem, result: Result) -> Verification:
    """Check ``result`` against ``problem``; see ``Result.verify``."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a tiebreak.Problem, got {type(problem).__name__}")
    if len(problem.levels) != 2:
        return _verify_chain(problem, result)
    if problem.relative_slack:
        problem = problem.with_slack(share_of(problem.relative_slack, *_ends(result)))
    x, claim, slack, convex = result.x, result.certificate, problem.slack, problem.upper.convex
    if broken := _not_a_point(problem.dim, x):
        return broken
    f, g = _Look.at(problem.upper, x), _Look.at(problem.lower, x)
    feasible = _missed(problem.domain, x) <= FEASIBLE and not _separated(problem.domain, x, (g.grad, f.grad))
    lower = max(_least(problem.domain, x, g, [], 0.0), problem.lower.lower_bound)
    upper = max(_least(problem.domain, x, f, [g], slack) if convex else -inf, problem.upper.lower_bound)
    attained = g.value + g.noise + _worth_of_missing(problem.domain, x, g.grad)
    numbers = (result.f, result.g, claim.g_lower, claim.g_upper, claim.f_lower, claim.f_upper, claim.multiplier)
    checks = {
        "x is not in the domain": feasible,
        "a number of the certificate is not a number": not any(map(isnan, numbers)),
        f"f(x) is {f.value:.12g}, not {result.f:.12g}": abs(f.value - result.f) <= f.noise,
        f"g(x) is {g.value:.12g}, not {result.g:.12g}": abs(g.value - result.g) <= g.noise,
        "g_lower is above g(x), a value that is attained": claim.g_lower <= attained,
        "g_upper is below what x alone proves for g*": claim.g_upper >= lower - g.noise,
        "g_lower is above g_upper": claim.g_lower <= claim.g_upper + g.noise,
        "lower_gap is not g(x) - g_lower": claim.lower_gap >= g.value - claim.g_lower - g.noise,  # more is modest
        "upper_gap is not f(x) - f_lower": _gap_fits(claim.upper_gap, f, claim.f_lower),
        "f_upper is below what x alone proves for f*": claim.f_upper >= upper - f.noise,
        "f_lower is above f_upper": claim.f_lower <= claim.f_upper + f.noise and claim.f_lower < inf,
        "the levels are not those of the certificate": [
            (level.value, level.lower, level.upper) for level in result.levels
        ]
        == [(result.g, claim.g_lower, claim.g_upper), (result.f, claim.f_lower, claim.f_upper)],
        "success is claimed, but not converged, or the other way round": result.success
        == (result.status == "converged"),
        "success is claimed, but the tolerances are not met": not result.success or _met(problem, result, f, g),
    }
    if all(checks.values()) and isfinite(claim.multiplier):
        for y in _tries(problem, x, (0.0 if slack > 0 else inf, claim.multiplier)):
            value = problem.lower.value(y)
            checks["g_lower is above a value that the domain attains"] = (
                claim.g_lower <= value + g.noise
                or claim.g_lower <= value + g.noise + _worth_of_missing(problem.domain, y, problem.lower.grad(y))
            )
            rounding = problem.lower.rounding(y)[0]  # g(y) may be above g*, f(y) far below f*
            if convex and value + rounding <= claim.g_lower + slack:
                within = claim.f_lower <= problem.upper.value(y) + f.noise
                if not within:  # y may miss the domain by rounding: a point of the set beside it has other values
                    g_more = _worth_of_missing(problem.domain, y, problem.lower.grad(y))
                    f_more = _worth_of_missing(problem.domain, y, problem.upper.grad(y))
                    feasible_beside = value + rounding + g_more <= claim.g_lower + slack
                    within = not feasible_beside or claim.f_lower <= problem.upper.value(y) + f.noise + f_more
                checks["f_lower is above f at a point that is feasible for certain"] = within
            if not all(checks.values()):
                break
    return _verdict(checks, feasible, f, g, lower, upper)


def _ends(result: Result) -> tuple[float, float]:
    return result.certificate.g_lower, result.certificate.g_upper


def _verify_chain(problem: Problem, result: Result) -> Verification:
    """The same for one level, or more than two."""
    x, levels, domain = result.x, problem.levels, problem.domain
    if broken := _not_a_point(problem.dim, x):
        return broken
    if len(levels) != len(result.levels):
        raise ValueError(f"the result has {len(result.levels)} levels, but the problem {len(levels)}")
    looks = [_Look.at(level, x) for level in levels]
    shares = (*problem.relative_slack_before, problem.relative_slack)
    known = [share_of(share, level.lower, level.upper) for share, level in zip(shares, result.levels, strict=False)]
    slacks = (*(slack or share for slack, share in zip(problem.slacks, known, strict=False)), 0.0)[-len(levels) :]
    feasible = _missed(domain, x) <= FEASIBLE and not _separated(domain, x, [look.grad for look in looks])
    least = [_least(domain, x, look, looks[:k], max(slacks)) for k, look in enumerate(looks)]
    checks = {
        "x is not in the domain": feasible,
        "success is claimed, but not converged, or the other way round": result.success
        == (result.status == "converged"),
    }
    for k, (look, level, low) in enumerate(zip(looks, result.levels, least, strict=True)):
        name, last = f"level {k + 1}", k == len(levels) - 1
        checks[f"{name} has the value {look.value:.12g}, not {level.value:.12g}"] = (
            abs(look.value - level.value) <= look.noise
        )
        checks[f"{name}: its lower bound is above its upper bound"] = level.lower <= level.upper + look.noise
        checks[f"{name}: its upper bound is below what x alone proves"] = level.upper >= low - look.noise
        if k == 0:
            checks["level 1: its lower bound is above a value that is attained"] = (
                level.lower <= look.value + look.noise
            )
        tolerance = result.tol_upper if last else slacks[k] or result.tol_lower
        met = abs(look.value - level.lower) <= tolerance + look.noise
        checks[f"success is claimed, but {name} is not proved to the tolerance"] = met or not result.success
    return _verdict(checks, feasible, looks[-1], looks[0], least[0], least[-1])


def _verdict(checks: dict[str, bool], feasible: bool, f: _Look, g: _Look, lower: float, upper: float) -> Verification:
    complaints = tuple(text for text, fine in checks.items() if not fine)
    return Verification(
        not complaints, complaints, feasible, f.value, g.value, lower, upper, g.value - lower, f.value - upper
    )


def _not_a_point(dim: int, x: Vector) -> Verification | None:
    if np.shape(x) == (dim,) and np.isfinite(x).all():
        return None
    nan = float("nan")
    return Verification(False, (f"x is no vector of {dim} finite numbers",), False, nan, nan, -inf, -inf, inf, inf)


# -- what the result says ------------------------------------------------------------------------------------------


def _gap_fits(claimed: float, look: _Look, lower: float) -> bool:
    """Whether a gap is value - lower, or a little more for rounding."""
    gap = look.value - lower
    return claimed == gap or gap - look.noise <= claimed <= gap + 1e3 * look.noise


def _met(problem: Problem, result: Result, f: _Look, g: _Look) -> bool:
    claim = result.certificate
    allowed = problem.slack if problem.slack > 0 else result.tol_lower
    shown = f.value - claim.f_lower
    if claim.stationarity is not None:
        shown = min(shown, claim.stationarity)
    return bool(g.value - claim.g_lower <= allowed + g.noise and abs(shown) <= result.tol_upper + f.noise)


# -- whether x is in the set ---------------------------------------------------------------------------------------


def _missed(domain: Domain, x: Vector) -> float:
    """The worst violation of a constraint, relative to its terms; inf where the set only says that x is outside."""
    if domain.parts:
        return max(_missed(part, x[where].copy()) for part, where in domain.parts)
    rows = domain.rows
    if rows is None:
        return 0.0 if domain.contains(x, FEASIBLE) else inf
    size = np.maximum(np.abs(x), 1e-3 * float(np.abs(x).max()))
    value, terms = rows.A @ x, abs(rows.A) @ size
    if rows.B is not None:
        value, terms = value + rows.B @ np.abs(x), terms + rows.B @ size
    in_rows = _worst(value, rows.low, rows.high, terms) if rows.A.shape[0] else 0.0
    return max(in_rows, _worst(x, rows.lower, rows.upper, size))


def _worst(value: Vector, low: Vector, high: Vector, size: Vector) -> float:
    worst = 0.0
    for end, over in ((low, low - value), (high, value - high)):
        scale = np.maximum(size, np.where(np.isfinite(end), np.abs(end), 0.0))
        out = over > 0
        worst = max(worst, float((over[out] / np.broadcast_to(scale, value.shape)[out]).max(initial=0.0)))
    return worst


def _separated(domain: Domain, x: Vector, slopes: Sequence[Vector]) -> bool:
    """Whether a linear minimisation shows that x is outside."""
    for slope in slopes:
        s = _minimiser(domain, slope) if _has_minima(domain) and slope.any() else None
        if s is not None:
            size = float(np.abs(slope) @ np.abs(x)) + x.size * UNIT_ROUNDOFF * float(np.abs(slope) @ np.abs(s))
            if float(slope @ x) < domain.lmo_bound(slope, s) - FEASIBLE * size:
                return True
    return False


def _worth_of_missing(domain: Domain, y: Vector, slope: Vector) -> float:
    """What an objective with this gradient may rise by from y to a point that is in the set: 0 for a point of it.

    A point that misses a bound or a row by rounding, or by less than a narrow bound has room, attains what no point of
    the set does. Twice: the gradient there is not quite the same. Where the distance is not known, y counts as in the
    set up to ``FEASIBLE``, which is what is asked of x.
    """
    outside = domain.distance_outside(y)
    if not isfinite(outside):
        outside = FEASIBLE * float(np.linalg.norm(y))
    return 2 * float(np.linalg.norm(slope)) * outside


# -- bounds from x alone -------------------------------------------------------------------------------------------


def _least(domain: Domain, x: Vector, own: _Look, before: list[_Look], slack: float) -> float:
    """At most the optimal value of a level, given those before it: the best over multipliers of a linear minimum.

    As x is in Z, a solution x* has g_j(x*) <= g_j(x) + slack, so that <grad g_j(x), x* - x> <= slack for all before.
    """
    if not _has_minima(domain):
        return -inf
    units = [float(np.linalg.norm(own.grad)) / (float(np.linalg.norm(look.grad)) or inf) for look in before]

    def gap(t: float) -> float:
        slope, noise, price = own.grad, own.grad_noise, 0.0
        for j, (look, unit) in enumerate(zip(before, units, strict=True)):
            lam = unit * t ** (len(before) - j)
            slope, noise = slope + lam * look.grad, noise + lam * look.grad_noise
            price += lam * (slack + look.noise)
        return _most(domain, x, slope) + noise * domain.diameter + price

    if not before or not any(units):
        return own.value - gap(0.0) - own.noise
    grid = [0.0] + [10.0**power for power in range(-6, 7)]
    gaps = [gap(t) for t in grid]
    middle = int(np.argmin(gaps))
    low, high, best = grid[max(middle - 1, 0)], grid[min(middle + 1, len(grid) - 1)], gaps[middle]
    for _ in range(12):  # with one level before, the gap is convex in t: ternary search
        left, right = low + (high - low) / 3, high - (high - low) / 3
        gap_left, gap_right = gap(left), gap(right)
        best = min(best, gap_left, gap_right)
        low, high = (low, right) if gap_left <= gap_right else (left, high)
    return own.value - best - own.noise if isfinite(best) else -inf


def _has_minima(domain: Domain) -> bool:
    """Whether linear functions have minima over the set, and an oracle for them."""
    return "lmo" in domain.oracles and domain.bounded


def _minimiser(domain: Domain, slope: Vector) -> Vector | None:
    """What ``lmo`` says; None where a linear programme is beyond the solver, which shows nothing."""
    try:
        return domain.lmo(slope)
    except LinearProgramError:
        return None


def _most(domain: Domain, x: Vector, slope: Vector) -> float:
    """At least the most that <slope, x - s> can be for s in Z: what ``lmo`` may be off by is allowed for."""
    s = _minimiser(domain, slope)
    if s is None:
        return inf
    rounding = (x.size + 8) * UNIT_ROUNDOFF * float(np.abs(slope) @ np.abs(x))
    return float(slope @ x) - domain.lmo_bound(slope, s) + rounding


def _tries(problem: Problem, x: Vector, weights: Sequence[float]) -> Iterator[Vector]:
    """x, and points of Z that lower f + weight g (inf: g alone), by conditional gradient with halved steps."""
    yield x
    for weight in weights if _has_minima(problem.domain) else ():
        value, grad = _mixed(problem, weight)
        y = x
        for _ in range(STEPS):
            s = _minimiser(problem.domain, grad(y))
            if s is None:
                break
            step, here = 1.0, value(y)
            while step > 1e-6 and not value(y + step * (s - y)) < here:
                step /= 2
            if step <= 1e-6:
                break
            y = y + step * (s - y)
            yield y


def _mixed(problem: Problem, weight: float) -> tuple[Callable[[Vector], float], Callable[[Vector], Vector]]:
    f, g = problem.upper, problem.lower
    if weight == inf:
        return g.value, g.grad
    return (lambda y: f.value(y) + weight * g.value(y)), (lambda y: f.grad(y) + weight * g.grad(y))
