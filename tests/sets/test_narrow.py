"""Sets with less room than the tolerances of solvers: linear minima against rational arithmetic."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import tiebreak as tb
from fractional import dot, fractions
from tiebreak.numerics.extended import double, ext
from tiebreak.numerics.refinement import Refined, refined
from tiebreak.numerics.rows import Rows

ROUNDING = 1e-14


def solved(equations):
    """The solution of as many equations (row, right side) as unknowns; None where it is not unique."""
    rows = [[*row, right] for row, right in equations]
    for i in range(len(rows)):
        pivot = next((k for k in range(i, len(rows)) if rows[k][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for k in range(len(rows)):
            if k != i and rows[k][i]:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[-1] for row in rows]


def minimum(kinds, c) -> Fraction:
    """min <c, x>, by all vertices."""
    n, c = len(c), fractions(c)
    equal = [(fractions(row), Fraction(b)) for row, b in zip(kinds["A_eq"], kinds["b_eq"], strict=True)]
    below = [(fractions(row), Fraction(b)) for row, b in zip(kinds["A_ub"], kinds["b_ub"], strict=True)]
    for j, (low, high) in enumerate(kinds["bounds"]):
        unit = [Fraction(int(i == j)) for i in range(n)]
        below += [(unit, Fraction(high)), ([-entry for entry in unit], -Fraction(low))]
    values = []
    for chosen in itertools.combinations(below, n - len(equal)):
        x = solved([*equal, *chosen])
        if x is None or any(dot(row, x) > b for row, b in below) or any(dot(row, x) != b for row, b in equal):
            continue
        values.append(dot(c, x))
    return min(values)


def instance(seed):
    """A point with few digits, boxes around it of widths 1e-8 to 1e-13 on some sides, and rows through it."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    point = rng.integers(-8, 9, n) / 2
    width = 2.0 ** -rng.integers(27, 44, n)
    kind = rng.integers(0, 3, n)
    lower = point - np.where(kind == 0, 0.0, np.where(kind == 1, width, rng.integers(1, 4, n)))
    upper = point + np.where(kind == 0, width, np.where(kind == 1, 0.0, rng.integers(1, 4, n)))
    A_eq = rng.integers(1, 4, (1, n)) * rng.choice([-1.0, 1.0], (1, n))
    A_ub = rng.integers(1, 4, (2, n)) * rng.choice([-1.0, 1.0], (2, n))
    kinds = {
        "A_eq": A_eq,
        "b_eq": A_eq @ point,
        "A_ub": A_ub,
        "b_ub": A_ub @ point + rng.choice([0.0, 0.5], 2),
        "bounds": list(zip(lower.tolist(), upper.tolist(), strict=True)),
    }
    return kinds, rng.integers(1, 6, n) * rng.choice([-1.0, 1.0], n)


@pytest.mark.parametrize("seed", range(40))
def test_linear_minima_of_narrow_sets(seed):
    kinds, c = instance(seed)
    Z, truth = tb.Polyhedron(**kinds), minimum(kinds, c)
    s = Z.lmo(c)
    size = float(np.abs(c) @ np.abs(s)) + 1
    assert abs(dot(fractions(c), fractions(s)) - truth) <= Fraction(ROUNDING * size)
    assert Fraction(Z.lmo_bound(c, s)) <= truth <= Fraction(Z.lmo_bound(c, s) + 100 * ROUNDING * size)
    assert Z.contains(s, ROUNDING)


@pytest.mark.parametrize("seed", range(60, 80))
def test_levels_over_narrow_sets(seed):
    """Two-sided, to rounding, and no false alarm."""
    kinds, c = instance(seed)
    problem = tb.Problem(tb.SquaredNorm(dim=c.size), tb.Linear(c), tb.Polyhedron(**kinds))
    result = tb.solve(problem, "exact")
    truth, claim = minimum(kinds, c), result.certificate
    assert Fraction(claim.g_lower) <= truth <= Fraction(claim.g_upper)
    assert claim.g_upper - claim.g_lower <= 1e-13 * (1 + abs(float(truth)))
    assert result.verify(problem).ok


def test_cuts_of_narrow_sets():
    """x1 + 2 x2 = 0 with x1 within 2e-12 of -2, and x2 <= 1 - 5e-13 by a cut."""
    narrow = tb.Polyhedron(A_eq=[[1.0, 2.0]], b_eq=[0.0], bounds=[(-2.0, -2.0 + 2.0**-39), (0.0, 4.0)])
    most = 1 - 2.0**-41
    cut = narrow.lmo_cut(np.array([0.0, -1.0]), np.array([0.0, 1.0]), most)
    np.testing.assert_allclose(cut.point, [-2 * most, most], rtol=4e-16)
    assert cut.gap <= 1e-15


@pytest.mark.parametrize("digits", range(6, 19, 2))
def test_refinement_goes_below_the_tolerances(digits):
    """max x + y over x - y = w, y <= 1/3, x <= 1/3 + w/2: the last bound is the one that counts."""
    w = 10.0**-digits
    rows = Rows(
        sp.csr_array([[1.0, -1.0]]), np.array([w]), np.array([w]), np.zeros(2), np.array([1 / 3 + w / 2, 1 / 3])
    )
    start = Refined(ext([1 / 3 + w, 1 / 3]), ext([0.0]), np.array([True, False]), np.array([False]))
    found = refined(rows, np.array([-1.0, -1.0]), start, np.ones(2))
    assert double(found.x)[0] == rows.upper[0] or w < 1e-16
    assert float(abs(found.x[0] - found.x[1] - w)) <= 1e-18
    assert float(max(found.x - rows.upper)) <= 1e-18


def test_a_value_that_only_a_point_outside_attains_is_no_alarm():
    """The point misses a row by less than the box has room, and attains less than any point of the set."""
    domain = tb.Polyhedron(
        [[-2.0, 1.0, -1.0, 1.0], [3.0, 0.0, 2.0, 3.0]],
        [0.5, 0.5],
        bounds=[(0.5, 0.500000000003638), (-1.5, -1.499999999996362), (-2.0, 1.0), (0.0, 2.0)],
    )
    problem = tb.Problem(tb.Linear([0.0, 0.0, 0.0, 1.0]), tb.Linear([0.0, -2.0, 0.0, -5.0]), domain)
    result = tb.solve(problem, "exact", tol_upper=1e-6, tol_lower=1e-6)
    assert result.success and result.verify(problem).ok
    outside = np.array([0.5, -1.499999999996362, -2.0, 1.0])  # 3.6e-12 beyond the first row
    moved = replace(result, x=outside, f=problem.upper.value(outside), g=problem.lower.value(outside))
    assert moved.g < result.certificate.g_lower - 5e-12
    assert not [words for words in moved.verify(problem).complaints if "attain" in words]
    far = replace(moved, certificate=replace(moved.certificate, g_lower=-1.9, lower_gap=0.0))
    assert [words for words in far.verify(problem).complaints if "attain" in words]
