"""How far outside a set a point may lie: never less than the distance, and not much more."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import tiebreak as tb
from tiebreak.bounds import Bounds
from tiebreak.numerics.rows import Rows
from tiebreak.sets.outside import pulled_back

N = 9
SETS = {
    "l1": tb.L1Ball(2.0),
    "weighted l1": tb.L1Ball(2.0, weights=np.linspace(0.5, 3, N)),
    "l2": tb.L2Ball(0.5),
    "l2 far away": tb.L2Ball(3.0, center=np.full(N, 100.0)),
    "l3": tb.LpBall(3, 1.0),
    "l1.5": tb.LpBall(1.5, 2.0),
    "box": tb.Box(-1, 2),
    "wide box": tb.Box(-1e10, np.full(N, 1.0)),
    "simplex": tb.Simplex(3.0),
    "ksparse": tb.KSparse(3, 0.7),
    "group": tb.GroupBall(np.arange(N) // 2, 2.0),
    "nuclear": tb.NuclearBall((3, 3), 2.0),
    "spectrahedron": tb.Spectrahedron(3, 2.0),
    "birkhoff": tb.Birkhoff(3),
    "rows": tb.Polyhedron(A_ub=np.arange(18.0).reshape(2, N) % 5 + 1, b_ub=[9.0, 7.0], bounds=(0, 1e6)),
    "equal rows": tb.Polyhedron(A_eq=np.arange(18.0).reshape(2, N) % 5 + 1, b_eq=[9.0, 7.0], bounds=(0, 1e6)),
    "columns": tb.Columns(tb.Simplex(), (3, 3)),
    "product": tb.Product({"a": (tb.L2Ball(1.0), (4,)), "b": (tb.Simplex(), (5,))}),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("shift", [0.0, 1e-12, 1e-6, 0.1, 10.0])
def test_never_less_than_the_distance_and_not_much_more(name, shift):
    Z, rng = SETS[name].with_dim(N), np.random.default_rng(len(name))
    for _ in range(8):
        weights = rng.dirichlet(np.ones(4))
        inside = sum(w * Z.lmo(rng.standard_normal(N)) for w in weights)
        x = inside + shift * rng.standard_normal(N)
        distance = min(float(np.linalg.norm(x - near)) for near in (Z.project(x), inside))
        size = float(np.linalg.norm(x))
        bound = Z.distance_outside(x)
        assert bound >= distance - 1e-12 * (1 + size)
        assert bound <= 20 * distance + 1e-12 * (1 + size)


def test_inside_is_inside():
    """Points with room to spare have distance 0, whatever the rounding."""
    x = np.full(N, 0.05)
    for name in ("l1", "l2", "l3", "ksparse", "group", "nuclear", "box", "rows"):
        assert SETS[name].with_dim(N).distance_outside(x) == 0.0, name


@pytest.mark.parametrize("seed", range(20))
def test_pulled_back_points_meet_all_rows_exactly_but_for_rounding(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(3, 8)), int(rng.integers(1, 6))
    A = rng.integers(-4, 5, (m, n)).astype(float) * 10.0 ** rng.integers(-3, 4, (m, 1))
    z = rng.random(n)
    equal = rng.random(m) < 0.3
    high = A @ z + np.where(equal | (rng.random(m) < 0.5), 0.0, rng.random(m))
    low = np.where(equal, high, -np.inf)
    rows = Rows(sp.csr_array(A), low, high, np.zeros(n), np.full(n, 10.0 ** rng.integers(0, 12)))
    x = z + 1e-7 * rng.standard_normal(n)
    p = pulled_back(rows, x)
    if p is None:  # equal rows through a corner: the projection is tried next
        return
    assert (p >= rows.lower).all() and (p <= rows.upper).all()
    for i in range(m):
        terms = [Fraction(A[i, j]) * Fraction(p[j]) for j in range(n)]
        allowed = Fraction(4 * n, 2**53) * (sum(map(abs, terms)) + abs(Fraction(high[i])))
        assert sum(terms) - Fraction(high[i]) <= allowed
        assert low[i] == -np.inf or Fraction(low[i]) - sum(terms) <= allowed
    assert np.linalg.norm(p - x) <= 1e-4


def test_a_large_set_does_not_hide_a_miss():
    """A ball of radius 1e10 through the origin: (5, 0) is 5 outside, far less than 1e-9 of the radius."""
    Z = tb.L2Ball(1e10, center=[-1e10, 0.0])
    assert Z.contains(np.array([5.0, 0.0]))
    assert 5.0 <= Z.distance_outside(np.array([5.0, 0.0])) <= 5.0001
    problem = tb.Problem(tb.SquaredNorm(), tb.Linear([-1.0, 0.0]), Z)  # g* = 0
    bounds = Bounds(problem)
    bounds.observe(np.array([5.0, 0.0]))  # was a ConvexityError: "a point has the value -5"
    assert bounds.g_lower <= 0 <= bounds.g_upper


@pytest.mark.parametrize("bound", [1.0, 1e4, 1e8, 1e12])
def test_generous_bounds_do_not_hide_a_missed_row(bound):
    Z = tb.Polyhedron(A_ub=[[1.0, 1.0]], b_ub=[1.0], bounds=(0, bound))
    miss = Z.distance_outside(np.array([0.8, 0.7]))
    assert np.sqrt(0.125) <= miss <= 1.01 * np.sqrt(0.125)
    problem = tb.Problem(tb.SquaredNorm(), tb.Linear([-1.0, -1.0]), Z)  # g* = -1
    bounds = Bounds(problem)
    bounds.observe(np.array([0.8, 0.7]))
    assert bounds.g_lower <= -1 <= bounds.g_upper


def test_oracles():
    box = tb.Box(-1, 1).with_dim(3)
    x = np.array([1.5, 0.0, 0.2])
    for Z in (
        tb.FromOracles(lmo=box.lmo, diameter=4.0, dim=3),
        tb.FromOracles(lmo=box.lmo, project=box.project, diameter=4.0, dim=3),
        tb.FromOracles(lmo=box.lmo, contains=box.contains, diameter=4.0, dim=3),
    ):
        assert 0.5 <= Z.distance_outside(x) <= 0.6
        assert Z.distance_outside(x / 2) <= 1e-12
