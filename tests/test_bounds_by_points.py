"""Bounds from any points against rational truth, with no tolerance: rounding is given away, or the bound is wrong."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import tiebreak as tb
from auditing import random_parts as parts
from auditing.curved import curved
from auditing.recipes import Case, Recipe, exactly, recipe, value
from auditing.truth import Truth, truth_of
from fractional import gained
from tiebreak.bounds import Bounds

KINDS = [*parts.PLAIN, parts.l1_norm, parts.huber]


def hold(bounds: Bounds, truth: Truth) -> None:
    (g_low, g_high), (f_low, f_high) = truth.values
    for name, low, high, least, most in (
        ("g", bounds.g_lower, bounds.g_upper, g_low, g_high),
        ("f", bounds.f_lower, bounds.f_upper, f_low, f_high),
    ):
        assert low == -np.inf or Fraction(low) <= most, f"{name}_lower is {float(Fraction(low) - most):.3g} above"
        assert high == np.inf or Fraction(high) >= least, f"{name}_upper is {float(least - Fraction(high)):.3g} below"


def problem_of(case: Case) -> tb.Problem:
    lower, upper = (level.build() for level in case.levels)
    return tb.Problem(upper, lower, case.domain.build().with_dim(case.dim), slack=case.slack)


def points(problem: tb.Problem, truth: Truth, rng: np.random.Generator) -> list[np.ndarray]:
    """The solution, points near it, and points anywhere, all of Z up to rounding."""
    best = np.array([float(t) for t in truth.x])
    corners = [problem.domain.lmo(rng.normal(size=best.size)) for _ in range(3)]
    return [
        corners[0],
        best,
        *(best + share * (corner - best) for share in (1e-9, 1e-3, 0.5) for corner in corners[1:]),
    ]


@pytest.mark.parametrize("seed", range(60))
def test_bounds_at_any_points(seed: int) -> None:
    rng = np.random.default_rng(seed)
    if seed % 4 == 3:
        case = curved(rng, "sets")
    else:
        domain, point, n = parts.some_set(rng, ["Box", "Simplex", "L1Ball", "Polyhedron"])
        levels = tuple(parts.some_objective(rng, n, point, KINDS) for _ in range(2))
        slack = parts.power(rng, -6, 0) if seed % 4 == 2 else 0.0
        case = Case("sets", levels, domain, n, slack=slack)
    truth, problem = truth_of(case), problem_of(case)
    bounds = Bounds(problem)
    seen = points(problem, truth, rng)
    for k, x in enumerate(seen):
        anchor = seen[k - 1] if k % 3 == 2 else None
        bounds.observe(x, anchor, multiplier=float(rng.choice([0.0, 1.0, 1e3])))
        hold(bounds, truth)


def rough(rng: np.random.Generator, n: int, kind: str) -> Recipe:
    """Objectives of numbers with all their digits, and sums that cancel."""
    A, b = rng.normal(size=(n + 1, n)) * 10.0 ** rng.integers(-2, 4), rng.normal(size=n + 1)
    A[:, 0] *= 1e3
    if kind == "linear":
        return recipe("Linear", c=A[0])
    if kind == "squares":
        return recipe("LeastSquares", A=A, b=b, scale=0.3)
    if kind == "quadratic":
        Q = A.T @ A
        return recipe("Quadratic", Q=(Q + Q.T) / 2, q=b[:n], c=0.1)
    if kind == "norm":
        return recipe("SquaredNorm", center=b[:n])
    if kind == "l1":
        return recipe("L1Norm", weights=np.abs(b[:n]))
    return recipe("+", parts=[rough(rng, n, "squares"), recipe("*", factor=0.7, part=rough(rng, n, "norm"))])


@pytest.mark.parametrize("lower", ["linear", "squares", "quadratic", "norm", "sum", "l1"])
@pytest.mark.parametrize("upper", ["linear", "squares", "norm", "l1"])
@pytest.mark.parametrize("seed", range(6))
def test_bounds_over_a_single_point(lower: str, upper: str, seed: int) -> None:
    """Every bound is attained there, so that nothing but rounding lies between it and the value."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    x = rng.normal(size=n) * 10.0 ** rng.integers(-2, 3, n)
    levels = rough(rng, n, lower), rough(rng, n, upper)
    slack = 0.0 if seed % 2 else 0.125
    case = Case("sets", levels, recipe("Box", lower=x, upper=x), n, slack=slack)
    truth = Truth(tuple(value(level, exactly(x)) for level in levels), exactly(x))
    bounds = Bounds(problem_of(case))
    for multiplier in (0.0, 1e4, 1.0):
        bounds.observe(x, None, multiplier)
        hold(bounds, truth)
    size = 1 + abs(float(truth.values[1][0]))
    assert bounds.f_lower >= float(truth.values[1][0]) - 1e-6 * size * 1e4


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", ["linear", "squares", "sum"])
def test_averages_of_linearisations_over_nearly_one_point(seed: int, kind: str) -> None:
    """A box as wide as a few units in the last place: averages of many linearisations are as tight as one."""
    rng = np.random.default_rng(seed)
    n = 3
    low = rng.normal(size=n) * 10.0 ** rng.integers(-2, 3, n)
    high = np.nextafter(np.nextafter(low, np.inf), np.inf)
    g, f = rough(rng, n, kind), recipe("SquaredNorm", center=np.zeros(n))
    case = Case("sets", (g, f), recipe("Box", lower=low, upper=high), n)
    truth, bounds = truth_of(case), Bounds(problem_of(case))
    for _ in range(12):
        bounds.observe(np.where(rng.random(n) < 0.5, low, high))
        hold(bounds, truth)


@pytest.mark.parametrize("shift", [1e-12, 1e-9, 1e-3])
def test_points_outside_bound_nothing_too_low(shift: float) -> None:
    """g and f at a point that misses Z are below what Z attains: what the step back may cost is added."""
    problem = tb.Problem(tb.Linear([1.0, 2.0]), tb.Linear([3.0, 1.0]), tb.Box(np.ones(2), 2 * np.ones(2)), slack=8.0)
    bounds = Bounds(problem)
    bounds.observe(np.ones(2) - shift)
    hold(bounds, Truth(((Fraction(4), Fraction(4)), (Fraction(3), Fraction(3))), [Fraction(1)] * 2))
    curve = tb.Problem(tb.SquaredNorm(dim=2), tb.SquaredNorm(dim=2), tb.L2Ball(1.0, [3.0, 4.0]), slack=1.0)
    bounds = Bounds(curve)
    bounds.observe(np.array([2.4, 3.2]) * (1 - shift))
    hold(bounds, Truth(((Fraction(8), Fraction(8)),) * 2, []))


def test_an_error_bound_bounds_f_from_above() -> None:
    """g = (x1 + x2 - 1)^2 / 2 over a box: dist^2 = (x1 + x2 - 1)^2 / 2, so that g = dist^2, alpha = 2 and r = 2."""
    g = tb.LeastSquares([[1.0, 1.0]], [1.0])
    for bound in (tb.ErrorBound(2.0, 2.0, gradient_bound=2.0), tb.ErrorBound(2.0, 2.0)):
        problem = tb.Problem(tb.SquaredNorm(), g, tb.Box(-2, 2), error_bound=bound)
        truth = Truth(((Fraction(0),) * 2, (Fraction(1, 4),) * 2), [Fraction(1, 2)] * 2)
        for x in ([0.0, 0.0], [0.3, 0.3], [0.5, 0.5], [0.5 - 1e-7, 0.5], [0.9, 0.1]):
            bounds = Bounds(problem)
            bounds.observe(np.array(x))
            hold(bounds, truth)
            assert np.isfinite(bounds.f_upper)
        assert bounds.f_upper >= 0.41 - 1e-9  # at a lower solution: f there


def test_what_contradicts_is_not_adopted() -> None:
    from tiebreak.engines.answer import Answer

    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.Box(-2, 2))
    x = np.full(2, 0.5)
    for wrong in ((0.1, 0.2, 0.2, 0.3), (0.0, 0.0, 0.3, 0.2), (0.0, 0.0, 0.3, 0.4), (0.0, np.nan, 0.2, 0.3)):
        with pytest.raises(ArithmeticError):
            Bounds(problem).adopt(Answer(x, *wrong), 0.25, 0.0)
    bounds = Bounds(problem)
    bounds.adopt(Answer(x, 0.0, 1e-18, 0.25 - 1e-12, 0.25 + 1e-12), 0.25, 0.0)
    assert (bounds.g_lower, bounds.g_upper, bounds.f_lower, bounds.f_upper) == (0.0, 1e-18, 0.25 - 1e-12, 0.25 + 1e-12)


def test_values_that_come_out_too_high() -> None:
    """A constant level whose value is a sum that gains by rounding: no linearisation may claim it."""
    b = max((np.sqrt(gained(3000, 2**k)) for k in range(8)), key=lambda b: float(b @ b) - math.fsum(b * b))
    level = recipe("LeastSquares", A=np.zeros((b.size, 1)), b=b)
    star = value(level, [Fraction(0)])
    assert Fraction(level.build().value(np.zeros(1))) > star[0] * (1 + 20 * Fraction(2.0**-53))
    for other in (level, recipe("SquaredNorm", center=np.zeros(1))):
        case = Case("sets", (level, other), recipe("Box", lower=np.zeros(1), upper=np.ones(1)), 1)
        bounds = Bounds(problem_of(case))
        for x in (0.0, 1.0, 0.5, 0.0):
            bounds.observe(np.array([x]), None, 1.0)
            hold(bounds, Truth((star, value(other, [Fraction(0)])), [Fraction(0)]))


@pytest.mark.parametrize("slack", [0.0, 0.0625])
def test_a_value_that_no_point_of_a_polyhedron_has_is_no_upper_bound(slack: float) -> None:
    # The point of a polyhedron nearest to a center: its entries are no doubles, and a point that misses the rows by
    # rounding has a value below the least one, 193/3232.
    domain = tb.Polyhedron(
        A_ub=[[-2.0, 3, 1], [-2, 2, 1], [2, -1, 3], [-2, 3, 1], [3, -2, -1]],
        b_ub=[7.5, 6, 0, 6.5, -7],
        A_eq=[[1.0, -2, 2]],
        b_eq=[-1.0],
        bounds=[(-4.0, 0.0), (-0.5, 2.5), (1.0, 5.0)],
    )
    problem = tb.Problem(tb.Linear([1.0, 1, -1]), tb.SquaredNorm([-1.5, 1, 0.75]), domain, slack=slack)
    result = tb.solve(problem)
    best = Fraction(193, 3232)
    assert Fraction(result.certificate.g_lower) <= best <= Fraction(result.certificate.g_upper)
    assert result.verify(problem).ok
