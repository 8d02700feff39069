"""Bounds over sets against rational arithmetic: dual bounds, implied bounds, linear minima and cuts."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest
import scipy.sparse as sp

import tiebreak as tb
from auditing.rational import Polyhedron as Exact
from auditing.rational import Quadratic, feasible_point, minimise
from auditing.recipes import recipe
from auditing.truth import rows_of
from fractional import UNIT, dot, fractions, lost
from tiebreak.numerics.propagation import propagated
from tiebreak.numerics.rows import Rows
from tiebreak.sets.base import CutStatus
from tiebreak.sets.cuts.crossing import Vertex, cross
from tiebreak.sets.cuts.dual import project_by_dual

ZERO = Fraction(0)


def exact_minimum(c: np.ndarray, where: Exact) -> Fraction:
    flat = [[ZERO] * where.dim for _ in range(where.dim)]
    level = Quadratic(flat, fractions(c))
    return level.value(minimise(level, where, feasible_point(where)))


def dual_function(rows: Rows, c: np.ndarray, y: np.ndarray) -> Fraction:
    """The Lagrangian's minimum over the box, exactly: what ``dual_bound`` may not exceed."""
    A = rows.A.toarray()
    value, prices = ZERO, fractions(y)
    for i, price in enumerate(prices):
        end = rows.low[i] if price > 0 else rows.high[i]
        if price and np.isfinite(end):
            value += price * Fraction(float(end))
        else:
            prices[i] = ZERO
    for j in range(A.shape[1]):
        slope = Fraction(float(c[j])) - dot(fractions(A[:, j]), prices)
        value += min(slope * Fraction(float(end)) for end in (rows.lower[j], rows.upper[j]))
    return value


def random_rows(rng: np.random.Generator, m: int, n: int, span: float) -> Rows:
    A = rng.normal(size=(m, n)) * 10.0 ** rng.integers(-3, 4, (m, n))
    x = rng.normal(size=n)
    high = A @ x + rng.random(m)
    low = np.where(rng.random(m) < 0.4, A @ x - rng.random(m), -inf)
    return Rows(sp.csr_array(A), low, high, x - span * rng.random(n), x + span * rng.random(n))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("span", [1.0, 2.0**40])
def test_dual_bound_is_below_the_dual_function(seed: int, span: float) -> None:
    """For any multipliers, also where the reduced costs are zero but for rounding and the bounds are far away."""
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, 3, 5, span)
    y = rng.normal(size=3) * (rng.random(3) < 0.8)
    y = np.where((y > 0) & np.isinf(rows.low), -y, y)
    for c in (rng.normal(size=5), rows.A.T @ y, rows.A.T @ y + 1e-12 * rng.normal(size=5)):
        assert Fraction(rows.dual_bound(c, y)) <= dual_function(rows, c, y)
        assert Fraction(rows.dual_bound(c, -y)) <= dual_function(rows, c, -y)
        wide = np.asarray(y, dtype=np.longdouble) / 3
        assert Fraction(rows.dual_bound(c, wide)) <= dual_function(rows, c, wide)


def test_dual_bound_is_nearly_the_dual_function() -> None:
    rng = np.random.default_rng(1)
    rows, y = random_rows(rng, 3, 5, 1.0), np.array([-0.3, 0.0, -0.7])
    c = rng.normal(size=5)
    assert rows.dual_bound(c, y) == pytest.approx(float(dual_function(rows, c, y)), rel=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_propagated_bounds_hold_to_the_last_bit(seed: int) -> None:
    """Rows that fix a variable exactly: what they imply may not cut off its value by rounding."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    a, x = rng.normal(size=n) * 10.0 ** rng.integers(-3, 4, n), rng.random(n)
    side = dot(fractions(a), fractions(x))
    lower, upper = x.copy(), x.copy()
    free = int(rng.integers(n))
    lower[free], upper[free] = pick_ends(rng)
    high, low = _outward(side)
    equation = rng.random() < 0.5
    sign = 1.0 if rng.random() < 0.5 else -1.0
    rows = Rows(sp.csr_array(sign * a[None, :]), np.array([-inf]), np.array([0.0]), lower, upper)
    ends = (low, high) if sign > 0 else (-high, -low)
    rows = rows._replace(low=np.array([ends[0] if equation else -inf]), high=np.array([ends[1]]))
    found = propagated(rows)
    point = fractions(x)
    # the exact point satisfies the row: the bounds hold it
    assert all(lo == -inf or Fraction(float(lo)) <= p for lo, p in zip(found.lower, point, strict=True))
    assert all(up == inf or p <= Fraction(float(up)) for up, p in zip(found.upper, point, strict=True))


def pick_ends(rng: np.random.Generator) -> tuple[float, float]:
    return (-inf, inf) if rng.random() < 0.5 else (-(2.0**40), 2.0**40)


def _outward(side: Fraction) -> tuple[float, float]:
    """The doubles around a fraction, the larger first."""
    near = float(side)
    high = near if Fraction(near) >= side else float(np.nextafter(near, inf))
    low = near if Fraction(near) <= side else float(np.nextafter(near, -inf))
    return high, low


def test_propagation_of_sums_that_lose_every_term() -> None:
    terms = lost(3000)
    n = terms.size + 1
    lower = np.append(terms, 0.0)
    rows = Rows(sp.csr_array(np.ones((1, n))), np.array([-inf]), np.array([64.0]), lower, np.append(terms, inf))
    found = propagated(rows)
    assert Fraction(float(found.upper[-1])) >= Fraction(64) - sum(fractions(terms), ZERO)
    rows = Rows(sp.csr_array(-np.ones((1, n))), np.array([-64.0]), np.array([inf]), lower, np.append(terms, inf))
    assert propagated(rows).upper[-1] == found.upper[-1]
    above = Rows(
        sp.csr_array(np.ones((1, n))), np.array([66.0]), np.array([inf]), np.append(terms, -inf), np.append(terms, 9.0)
    )
    assert Fraction(float(propagated(above).lower[-1])) <= Fraction(66) - sum(fractions(terms), ZERO)


def test_a_lost_term_does_not_cut_off_zero() -> None:
    """1 + u - 1 and what that is as computed: the room left for the last variable is u, not zero or less."""
    a = np.array([1.0, 1.0, 1.0])
    lower, upper = np.array([1.0, UNIT, -inf]), np.array([1.0, UNIT, inf])
    rows = Rows(sp.csr_array(a[None, :]), np.array([1.0]), np.array([1.0]), lower, upper)
    found = propagated(rows)
    assert found.lower[2] <= -UNIT <= found.upper[2]


# -- linear minima ---------------------------------------------------------------------------------------------

SETS = {
    "Box": lambda rng, n: recipe("Box", lower=-rng.random(n), upper=rng.random(n)),
    "Simplex": lambda rng, n: recipe("Simplex", total=0.3),
    "L1Ball": lambda rng, n: recipe("L1Ball", radius=0.7),
    "KSparse": lambda rng, n: recipe("KSparse", k=2, radius=0.3),
    "Birkhoff": lambda rng, n: recipe("Birkhoff", n=2),
}


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("seed", range(8))
def test_linear_minima_are_bounded_from_below(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    made = SETS[kind](rng, 4)
    domain = made.build()
    c = rng.normal(size=4) * 10.0 ** rng.integers(-3, 4, 4)
    truth = exact_minimum(c, rows_of(made, 4))
    bound = domain.lmo_bound(c, domain.lmo(c))
    assert Fraction(bound) <= truth and bound >= float(truth) - 1e-12 * float(np.abs(c).sum())


def test_a_linear_minimum_that_loses_every_term() -> None:
    x = lost(2000)
    box = tb.Box(x, x)
    c = np.ones(x.size)
    assert Fraction(box.lmo_bound(-c, box.lmo(-c))) <= -sum(fractions(x), ZERO)
    both = tb.Product({"u": tb.Box(x, x), "v": tb.Box(np.full(1, UNIT / 4), np.full(1, UNIT / 4))})
    bound = both.lmo_bound(-np.ones(both.dim), both.lmo(np.zeros(both.dim)))
    assert Fraction(bound) <= -sum(fractions(x), ZERO) - Fraction(UNIT) / 4


@pytest.mark.parametrize("seed", range(10))
def test_polyhedron_bounds_under_generous_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, (4, 3)).astype(float)
    A[~A.any(axis=1), 0] = 1.0
    made = recipe("Polyhedron", A_ub=A, b_ub=A @ np.ones(3) + 0.1, bounds=[(-(2.0**30), 2.0**30)] * 3)
    domain = made.build()
    c = -rng.integers(0, 3, 4) @ A + 0.0
    if not c.any():
        c = -A[0]
    assert Fraction(domain.lmo_bound(c, domain.lmo(c))) <= exact_minimum(c, rows_of(made, 3))


# -- cuts ------------------------------------------------------------------------------------------------------


def hull_oracle(points: np.ndarray, a: np.ndarray, c: np.ndarray):
    def oracle(lam: float, level: float) -> Vertex:
        values = points @ (c if lam == inf else a + lam * c)
        s = points[int(np.argmin(values))]
        return Vertex(lam, float(a @ s), float(c @ s), float(np.abs(a) @ np.abs(s)), float(np.abs(c) @ np.abs(s)), s)

    return oracle


def cut_minimum(points: np.ndarray, a: np.ndarray, c: np.ndarray, b: float) -> Fraction | None:
    """min <a, s> over the hull with <c, s> <= b: at a vertex, or where an edge between two meets the cut."""
    values = [(dot(fractions(a), fractions(p)), dot(fractions(c), fractions(p)) - Fraction(b)) for p in points]
    found = [v for v, e in values if e <= 0]
    for v, e in values:
        for w, f in values:
            if e > 0 > f:
                found.append(w + (v - w) * (-f) / (e - f))
    return min(found, default=None)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("warm", [0.0, 1e-3, 0.7, 50.0])
def test_the_gap_of_a_crossing_is_certified(seed: int, warm: float) -> None:
    """The point meets the cut, its value is within the gap of the minimum, and the multiplier proves that."""
    rng = np.random.default_rng(seed)
    points = rng.integers(-3, 4, (7, 3)).astype(float)
    a, c = rng.integers(-3, 4, (2, 3)).astype(float)
    if not c.any():
        c[0] = 1.0
    worth = np.sort(points @ c)
    b = float(worth[0] + rng.choice([-0.5, 0.0, 0.25, 1.0, 40.0]))
    truth = cut_minimum(points, a, c, b)
    found = cross(hull_oracle(points, a, c), b, warm, 1e-12)
    if truth is None:
        assert found.status is CutStatus.INFEASIBLE
        return
    weights = found.mix()
    assert sum(weight for weight, _ in weights) == pytest.approx(1.0) and all(weight > 0 for weight, _ in weights)
    s = sum(weight * point for weight, point in weights)
    assert c @ s <= b + 1e-9 and a @ s == pytest.approx(float(truth), abs=1e-9)
    if found.status in (CutStatus.ACTIVE, CutStatus.INACTIVE):
        lam = found.multiplier
        dual = min(float((a + lam * c) @ p) for p in points) - lam * b
        assert lam >= 0 and float(a @ s) - dual <= found.gap + 1e-9 and found.gap >= 0
        assert found.gap <= 1e-9
    else:
        assert found.status is CutStatus.BOUNDARY and b == worth[0]


@pytest.mark.parametrize("calls", [1, 2, 3, 5])
def test_a_crossing_cut_short_says_how_far_it_is(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a ball the search never ends by itself: after few calls the gap still covers the distance to the minimum."""
    from tiebreak.sets.cuts import crossing

    monkeypatch.setattr(crossing, "MAX_CALLS", calls)
    a, c, b = np.array([1.0, 0.5, 0.0]), np.array([-0.3, 1.0, 0.2]), -0.4

    def oracle(lam: float, level: float) -> Vertex:
        slope = c if lam == inf else a + lam * c
        s = -slope / np.linalg.norm(slope)
        return Vertex(lam, float(a @ s), float(c @ s), 2.0, 2.0, s)

    found = cross(oracle, b, 0.0, 1e-15)
    s = sum(weight * point for weight, point in found.mix())
    height = b / np.linalg.norm(c)  # the exact minimum: along the cut plane, and down the circle in it
    unit = c / np.linalg.norm(c)
    inside = a - (a @ unit) * unit
    truth = float(a @ unit) * height - float(np.linalg.norm(inside)) * np.sqrt(1 - height**2)
    assert c @ s <= b + 1e-12 and truth - 1e-12 <= a @ s <= truth + found.gap + 1e-12
    lam = found.multiplier
    assert -float(np.linalg.norm(a + lam * c)) - lam * b >= a @ s - found.gap - 1e-12
    assert calls > 1 or found.gap > 1e-3


def test_cuts_through_oracles_alone() -> None:
    """``lmo_cut`` of a set with nothing but ``lmo``: point, gap and multiplier fit together."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        n = int(rng.integers(2, 9))
        a, c = rng.normal(size=(2, n))
        ball = tb.L1Ball(1.0)
        plain = tb.FromOracles(lmo=ball.lmo, dim=n, diameter=2.0)
        b = float(rng.choice([-0.2, 0.1, 0.5])) * float(np.abs(c).max())
        one, two = ball.lmo_cut(a, c, b), plain.lmo_cut(a, c, b)
        assert a @ one.point == pytest.approx(a @ two.point, abs=1e-10) and c @ two.point <= b + 1e-10
        assert np.count_nonzero(two.point) <= 2 and ball.contains(two.point, 1e-12)
        if two.multiplier < inf:
            slope = a + two.multiplier * c
            assert slope @ ball.lmo(slope) - two.multiplier * b >= a @ two.point - two.gap - 1e-10


def test_projections_at_the_edge_of_a_cut() -> None:
    """A cut at the minimum itself, where rounding may put it a little below, has a projection; one below has none."""
    simplex = tb.Simplex(0.3)
    for c in (np.array([0.1, 0.7, 0.1 + UNIT / 8]), np.array([3.0, 0.1, 0.3])):
        least = float(c @ simplex.lmo(c))
        for b in (least, float(np.nextafter(least, -inf))):
            point = project_by_dual(simplex, np.ones(3), c, b)
            assert c @ point <= b + 1e-9 and simplex.contains(point)
        with pytest.raises(ValueError, match="does not meet"):
            project_by_dual(simplex, np.ones(3), c, least - 1e-6)
