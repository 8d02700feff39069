"""Slow, independent twins of the oracles, and families of instances that have broken oracles before.

A reference for the cut returns ``(value, multiplier)``: the minimum of <a, s> over Z and <c, s> <= b, and a
multiplier of the cut, which says how much an error in b is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from tiebreak.sets.base import Cut, CutStatus, Domain


class Instance(NamedTuple):
    """A cut problem, and whether the half-space is known to miss the set."""

    family: str
    a: np.ndarray
    c: np.ndarray
    b: float
    infeasible: bool


def instances(domain: Domain, dim: int, count: int, rng: np.random.Generator) -> Iterator[Instance]:
    """``count`` cut problems over ``domain``, from all families in turn."""
    for number in range(count):
        family = FAMILIES[number % len(FAMILIES)]
        a, c = rng.normal(size=dim), rng.normal(size=dim)
        if family == "ties":
            a, c = rng.integers(-1, 2, dim).astype(float), rng.integers(-1, 2, dim).astype(float)
        elif family == "duplicates":
            a, c = rng.choice(rng.normal(size=3), dim), rng.choice(rng.normal(size=3), dim)
        elif family == "parallel":
            a = rng.choice([-3.0, 3.0]) * c
        elif family == "zero a":
            a = np.zeros(dim)
        elif family == "zero c":
            c = np.zeros(dim)
        elif family == "sparse":
            a, c = a * (rng.random(dim) < 0.3), c * (rng.random(dim) < 0.3)
        elif family == "wide":
            a, c = a * 10 ** rng.uniform(-8, 8, dim), c * 10 ** rng.uniform(-8, 8, dim)
        a, c = a * 10.0 ** rng.integers(-8, 9), c * 10.0 ** rng.integers(-8, 9)
        least, most = float(c @ domain.lmo(c)), float(c @ domain.lmo(-c))
        size = max(abs(least), abs(most))
        b = least + rng.random() * (most - least)
        if family == "at the minimum":
            c = rng.integers(-1, 2, dim) * float(np.abs(c).max())  # a face rather than a vertex
            b = least = float(c @ domain.lmo(c))
            b += rng.choice([0.0, 1e-15, -1e-15]) * abs(b)
        elif family == "near the minimum":
            b = least + 1e-9 * size
        elif family == "infeasible":
            b = least - 1e-6 * size
        elif family == "zero c":
            b = float(rng.choice([-1.0, 0.0, 1.0]))
        yield Instance(family, a, c, b, b < least - 1e-7 * size)


FAMILIES = (
    "random",
    "ties",
    "duplicates",
    "parallel",
    "zero a",
    "zero c",
    "sparse",
    "wide",
    "at the minimum",
    "near the minimum",
    "infeasible",
)


class Verdict(NamedTuple):
    """How far a cut is from the reference: all relative, and zero up to rounding if it is right."""

    error: float
    violation: float
    overclaim: float
    status_is_right: bool


Reference = Callable[[Domain, np.ndarray, np.ndarray, float], tuple[float, float]]


def judge(domain: Domain, reference: Reference, instance: Instance, cut: Cut) -> Verdict:
    """Compare ``cut`` with the reference.

    ``error`` is that of the value, relative to the range of <a + multiplier c, .>: the size of the numbers
    that any method has to add up. ``overclaim`` is the part of that error which the certified gap does not
    own up to.
    """
    _, a, c, b, infeasible = instance
    if infeasible or cut.status == CutStatus.INFEASIBLE:
        right = infeasible and cut.status == CutStatus.INFEASIBLE
        least = float(c @ domain.lmo(c))
        away = (float(c @ cut.point) - least) / (abs(least) or 1.0)
        return Verdict(abs(away), 0.0, 0.0, right and cut.multiplier == cut.gap == np.inf)
    # a part of a that no point of the set sees (antisymmetric, for symmetric matrices) still has its rounding
    unseen = 1e-6 * float(np.abs(a) @ np.abs(domain.lmo(a)))
    size_a = max(abs(float(a @ domain.lmo(a))), abs(float(a @ domain.lmo(-a))), unseen)
    size_c = max(abs(float(c @ domain.lmo(c))), abs(float(c @ domain.lmo(-c)))) + abs(b)
    value, multiplier = reference(domain, a, c, max(b, float(c @ domain.lmo(c))))
    size = (size_a + multiplier * size_c) or 1.0
    error = (float(a @ cut.point) - value) / size
    violation = max(float(c @ cut.point) - b, 0.0) / (size_c or 1.0)
    return Verdict(abs(error), violation, max(error - cut.gap / size, 0.0), True)


def solve_lp(cost: np.ndarray, row: np.ndarray, b: float, **constraints: object) -> tuple[float, float]:
    """min <cost, x> with <row, x> <= b and the constraints of ``scipy.optimize.linprog``, by HiGHS.

    Cost and row are scaled to one first: raw data of 1e-8 or 1e8 are below and above its absolute tolerances.
    """
    scale_cost = float(np.abs(cost).max()) or 1.0
    scale_row = float(np.abs(row).max()) or 1.0
    rows, sides = [row / scale_row], [b / scale_row]
    if "A_ub" in constraints:
        rows.extend(np.atleast_2d(constraints.pop("A_ub")))
        sides.extend(np.atleast_1d(constraints.pop("b_ub")))
    result = linprog(
        cost / scale_cost,
        A_ub=np.array(rows),
        b_ub=np.array(sides),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        **constraints,
    )
    assert result.status == 0, result.message
    return scale_cost * result.fun, -result.ineqlin.marginals[0] * scale_cost / scale_row


def cut_by_pairs(vertices: np.ndarray, a: np.ndarray, c: np.ndarray, b: float) -> float:
    """The minimum over the hull of the rows of ``vertices``: a feasible one, or the best mix of two on the cut."""
    values, sides = vertices @ a, vertices @ c - b
    inside = sides <= 1e-14 * (np.abs(vertices) @ np.abs(c)).max()
    best = values[inside].min(initial=np.inf)
    if inside.any() and not inside.all():
        low, high = sides[~inside, None], sides[None, inside]
        weight = np.clip(-high / (low - high), 0.0, 1.0)
        best = min(best, float((weight * values[~inside, None] + (1 - weight) * values[None, inside]).min()))
    return float(best)


def cut_by_dual_search(minimum: Callable[[np.ndarray], np.longdouble], a: np.ndarray, c: np.ndarray, b: float):
    """The maximum over lam of min <a + lam c, .> - lam b in extended precision, by golden section.

    ``minimum(v)`` is min <v, .> over Z. Values are flat at the maximum, so that extended precision in them
    leaves an error far below double precision; for conic problems no interior-point solver comes near that.
    """
    a, c, b = a.astype(np.longdouble), c.astype(np.longdouble), np.longdouble(b)
    unit = (np.abs(a).max() or 1) / (np.abs(c).max() or 1)

    def value(t: np.longdouble) -> np.longdouble:
        lam = unit * t / (1 - t)
        return minimum(a + lam * c) - lam * b

    ratio = (np.sqrt(np.longdouble(5)) - 1) / 2
    low, high = np.longdouble(0), np.longdouble(1) - np.longdouble(1e-15)
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = value(left), value(right)
    for _ in range(100):
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = value(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = value(right)
    best, t = max((value(t), t) for t in (np.longdouble(0), low, left, right, high))
    return float(best), float(unit * t / (1 - t))


# -- one reference for each set of vectors -----------------------------------------------------------------------


def l1_ball(domain, a, c, b):
    """Split variables u - v, in units of the extreme points."""
    extent = domain.radius / (np.ones(a.size) if domain.weights is None else domain.weights)
    cost, row = np.concatenate([a * extent, -a * extent]), np.concatenate([c * extent, -c * extent])
    return solve_lp(cost, row, b, A_ub=np.ones(cost.size), b_ub=1.0)


def simplex(domain, a, c, b):
    return solve_lp(a * domain.total, c * domain.total, b, A_eq=np.ones((1, a.size)), b_eq=[1.0])


def box(domain, a, c, b):
    """From the lower bound on, in units of the width."""
    lower, upper = np.broadcast_to(domain.lower, a.shape), np.broadcast_to(domain.upper, a.shape)
    width = upper - lower
    value, multiplier = solve_lp(a * width, c * width, b - float(c @ lower), bounds=(0, 1))
    return value + float(a @ lower), multiplier


def k_sparse(domain, a, c, b):
    cost, row = np.concatenate([a, -a]) * domain.radius, np.concatenate([c, -c]) * domain.radius
    return solve_lp(cost, row, b, A_ub=np.ones(cost.size), b_ub=float(domain.k), bounds=(0, 1))


def l2_ball(domain, a, c, b):
    center = np.broadcast_to(domain.center, a.shape)
    return cut_by_dual_search(lambda v: v @ center - domain.radius * np.sqrt(v @ v), a, c, b)


def lp_ball(domain, a, c, b):
    q = np.longdouble(domain.p) / (np.longdouble(domain.p) - 1)

    def minimum(v):
        scale = np.abs(v).max() or np.longdouble(1)
        return -domain.radius * scale * np.sum((np.abs(v) / scale) ** q) ** (1 / q)

    return cut_by_dual_search(minimum, a, c, b)
