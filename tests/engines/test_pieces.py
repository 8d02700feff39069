"""Piecewise linear levels in exact solves, against HiGHS on programmes written by hand, fractions and closed forms."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.linalg import aslinearoperator

import tiebreak as tb


def exact(problem: tb.Problem) -> tb.Result:
    result = tb.solve(problem, tol_upper=1e-8, tol_lower=1e-8)
    assert result.success and result.method == "exact" and result.verify(problem).ok
    assert problem.domain.contains(result.x, 1e-10)
    return result


def test_total_variation():
    """Among all least-squares fits of sums of neighbours the one that changes least: steps are found."""
    rng = np.random.default_rng(0)
    n = 20
    truth = np.repeat([1.0, 3.0, 2.0, 2.5], 5)
    A = rng.integers(0, 2, (8, n)).astype(float)
    D = np.diff(np.eye(n), axis=0)
    result = exact(tb.Problem(tb.L1Norm(A=sparse.csr_array(D)), tb.LeastSquares(A, A @ truth), tb.Box(-10, 10)))
    split = np.hstack([A, np.zeros((8, 2 * (n - 1)))])
    rows = np.vstack([split, np.hstack([D, -np.eye(n - 1), np.eye(n - 1)])])
    bounds = [(-10, 10)] * n + [(0, None)] * (2 * (n - 1))
    costs = np.append(np.zeros(n), np.ones(2 * (n - 1)))
    found = linprog(costs, A_eq=rows, b_eq=np.append(A @ truth, np.zeros(n - 1)), bounds=bounds)
    assert result.f == pytest.approx(found.fun, abs=1e-8)
    assert result.certificate.f_lower - 1e-8 <= found.fun <= result.certificate.f_upper + 1e-8
    assert result.g == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_ramps_after_costs(seed):
    """A plan of least cost, and of those one whose ramps are least, then one whose largest ramp is least."""
    rng = np.random.default_rng(seed)
    n, demand = 8, 20.0
    cost = rng.integers(1, 3, n).astype(float)
    Z = tb.Polyhedron(A_eq=np.ones((1, n)), b_eq=[demand], bounds=(0, 4))
    D = np.diff(np.eye(n), axis=0)
    both = np.vstack([D, -D])
    chain = tb.lexicographic([tb.Linear(cost), tb.L1Norm(A=D), tb.MaxAffine(both)], Z)
    first = linprog(cost, A_eq=np.ones((1, n)), b_eq=[demand], bounds=(0, 4)).fun
    ramps = np.hstack([D, -np.eye(n - 1), np.eye(n - 1)])
    eq = np.vstack([ramps, np.append(np.ones(n), np.zeros(2 * n - 2)), np.append(cost, np.zeros(2 * n - 2))])
    second = linprog(
        np.append(np.zeros(n), np.ones(2 * n - 2)), A_eq=eq, b_eq=[*np.zeros(n - 1), demand, first],
        bounds=[(0, 4)] * n + [(0, None)] * (2 * n - 2),
    )  # fmt: skip
    sums = np.append(np.zeros(n), np.append(np.ones(2 * n - 2), 0.0))
    third = linprog(
        np.append(np.zeros(3 * n - 2), 1.0),
        A_eq=np.hstack([eq, np.zeros((n + 1, 1))]), b_eq=[*np.zeros(n - 1), demand, first],
        A_ub=np.vstack([np.hstack([both, np.zeros((2 * n - 2, 2 * n - 2)), -np.ones((2 * n - 2, 1))]), sums]),
        b_ub=[*np.zeros(2 * n - 2), second.fun + 1e-9],
        bounds=[(0, 4)] * n + [(0, None)] * (2 * n - 1),
    )  # fmt: skip
    assert chain.success
    assert [level.value for level in chain.levels] == pytest.approx([first, second.fun, third.fun], abs=1e-7)
    for level, value in zip(chain.levels, (first, second.fun, third.fun), strict=True):
        assert level.lower - 1e-7 <= value <= level.upper + 1e-7


@pytest.mark.parametrize("seed", range(5))
def test_makespan_in_fractions(seed):
    """Work shared by machines with integer speeds: at the least makespan all of them end together."""
    rng = np.random.default_rng(seed)
    speeds = rng.integers(1, 6, 3).astype(float)
    loads = np.diag(speeds)
    Z = tb.Polyhedron(A_eq=np.ones((1, 3)), b_eq=[1.0], bounds=(0, 1))
    result = exact(tb.Problem(tb.SquaredNorm(), tb.MaxAffine(loads), Z))
    best = 1 / sum(1 / Fraction(int(s)) for s in speeds)
    assert result.certificate.g_lower <= best <= result.certificate.g_upper
    assert result.g == pytest.approx(float(best), rel=1e-14)
    assert result.certificate.lower_unique is True
    np.testing.assert_allclose(result.x, float(best) / speeds, rtol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_minimax_line_in_fractions(seed):
    """Chebyshev's line through points: the best error is that of some three of them, alternating."""
    rng = np.random.default_rng(seed)
    t = np.arange(6.0)
    y = rng.integers(-5, 6, 6).astype(float)
    A = np.column_stack([np.ones(6), t])
    f = tb.MaxAffine(np.vstack([A, -A]), np.append(y, -y))
    result = exact(tb.Problem(tb.SquaredNorm(), f, tb.Box(-30, 30)))
    best = Fraction(0)
    for i, j, k in combinations(range(6), 3):
        between = Fraction(int(y[i])) + (Fraction(int(y[k])) - Fraction(int(y[i]))) * (j - i) / (k - i)
        best = max(best, abs(Fraction(int(y[j])) - between) / 2)
    assert result.certificate.g_lower <= best <= result.certificate.g_upper
    assert result.g == pytest.approx(float(best), abs=1e-12)


@pytest.mark.parametrize("where", ["box", "l1 ball", "simplex", "polyhedron", "product"])
@pytest.mark.parametrize("seed", range(3))
def test_least_absolute_deviations_over_sets(where, seed):
    """In the lower level, with ties, a zero row, a duplicate row and a weight of zero; the upper level breaks ties."""
    rng = np.random.default_rng(seed)
    A, b = rng.integers(-2, 3, (7, 4)).astype(float), rng.integers(-3, 4, 7).astype(float)
    A[1], A[2], b[2] = 0.0, A[3], b[3]
    w = np.array([1.0, 2.0, 0.5, 0.5, 0.0, 1.0, 3.0])
    domain = {
        "box": tb.Box(-1.5, 1.5),
        "l1 ball": tb.L1Ball(2.0),
        "simplex": tb.Simplex(2.0),
        "polyhedron": tb.Polyhedron(A_ub=np.ones((1, 4)), b_ub=[1.0], bounds=(-1, 1)),
        "product": tb.Product({"p": (tb.L1Ball(1.0), (2,)), "q": (tb.Box(-1.0, 1.0), (2,))}),
    }[where]
    result = exact(tb.Problem(tb.SquaredNorm(np.ones(4)), tb.L1Norm(w, A=A, b=b), domain))
    x, t, a = np.eye(4), np.eye(7), np.eye(4)  # (x, t >= |Ax - b|, a >= |x|)
    rows = [np.hstack([A, -t, np.zeros((7, 4))]), np.hstack([-A, -t, np.zeros((7, 4))])]
    rows += [np.hstack([x, np.zeros((4, 7)), -a]), np.hstack([-x, np.zeros((4, 7)), -a])]
    high, bounds = [*b, *-b, *np.zeros(8)], [(None, None)] * 4 + [(0, None)] * 11
    eq = None
    if where == "box":
        bounds[:4] = [(-1.5, 1.5)] * 4
    elif where == "l1 ball":
        rows.append(np.append(np.zeros(11), np.ones(4))[None])
        high.append(2.0)
    elif where == "simplex":
        bounds[:4], eq = [(0, None)] * 4, np.append(np.ones(4), np.zeros(11))[None]
    elif where == "polyhedron":
        bounds[:4] = [(-1, 1)] * 4
        rows.append(np.append(np.ones(4), np.zeros(11))[None])
        high.append(1.0)
    else:
        bounds[2:4] = [(-1, 1)] * 2
        rows.append(np.append(np.zeros(11), [1.0, 1.0, 0.0, 0.0])[None])
        high.append(1.0)
    costs = np.concatenate([np.zeros(4), w, np.zeros(4)])
    found = linprog(costs, A_ub=np.vstack(rows), b_ub=high, A_eq=eq, b_eq=None if eq is None else [2.0], bounds=bounds)
    assert result.g == pytest.approx(found.fun, abs=1e-9)
    c = result.certificate
    assert c.g_lower - 1e-9 <= found.fun <= c.g_upper + 1e-9 and c.g_upper - c.g_lower <= 1e-9
    assert c.two_sided


def test_sums_with_norms_squares_and_multiples():
    """0.1 |Ax - b|_1 + 0.3 |x|_1 + 1/2 |x|^2 in one variable, in closed form."""
    g = 0.1 * tb.L1Norm(A=[[2.0]], b=[4.0]) + 0.3 * tb.L1Norm() + tb.SquaredNorm()
    result = exact(tb.Problem(g, [], tb.Box([-3.0], [3.0])))
    assert result.x == pytest.approx([0.0], abs=1e-12)  # 0.2 is less than 0.3
    result = exact(tb.Problem(10 * g / 4 + tb.L1Norm(A=[[2.0]], b=[4.0]), [], tb.Box([-3.0], [3.0])))
    assert result.x == pytest.approx([(2.0 + 0.5 - 0.75) / 2.5], abs=1e-12)


def test_uniqueness_is_about_x():
    free = tb.Problem(tb.L1Norm(A=np.eye(2), b=[5.0, 5.0]), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.Box(-1, 1))
    assert exact(free).certificate.lower_unique is False
    only = tb.Problem(tb.MaxAffine(np.eye(2)), tb.SquaredNorm([0.5, 0.5]), tb.Box(-1, 1))
    assert exact(only).certificate.lower_unique is True


def test_with_slack():
    A = np.array([[1.0, 1.0], [1.0, -1.0]])
    problem = tb.Problem(tb.SquaredNorm(), tb.L1Norm(A=A, b=[2.0, 0.0]), tb.Box(-3, 3), slack=0.5)
    result = tb.solve(problem, tol_upper=1e-6, tol_lower=1e-6)
    assert result.success  # |x + y - 2| + |x - y| <= 1/2: nearest to zero is x = y = 3/4
    np.testing.assert_allclose(result.x, [0.75, 0.75], atol=1e-3)
    assert result.certificate.f_lower <= 0.5625 <= result.certificate.f_upper


def test_who_takes_pieces_and_who_refuses_by_name():
    problem = tb.Problem(tb.SquaredNorm(), tb.MaxAffine(np.eye(2)), tb.Box(-1, 1))
    with pytest.raises(ValueError, match=r"'cg-bio' needs a differentiable lower level \(MaxAffine is not"):
        tb.solve(problem, "cg-bio")
    with pytest.raises(ValueError, match=r"'pb-apg' needs a prox of the lower level \(MaxAffine has none"):
        tb.solve(problem, "pb-apg")
    near = tb.solve(problem, "a-irg", max_iter=300)
    assert near.certificate.g_lower <= -1.0 <= near.g + 1e-12
    assert tb.plan(tb.Problem(tb.SquaredNorm(), tb.L1Norm(A=np.eye(2)), tb.L2Ball(1.0))).method == "exact"
    ball = tb.L2Ball(1.0)
    blind = tb.FromOracles(lmo=ball.lmo, project=ball.project, contains=ball.contains, diameter=2.0, dim=2)
    upper = tb.Problem(tb.L1Norm(A=np.eye(2)), tb.SquaredNorm([1.0, 1.0]), blind)
    with pytest.raises(ValueError, match=r'method "exact" does not apply: L1Norm\(A=...\) over'):
        tb.solve(upper, "exact")
    operator = tb.MaxAffine(aslinearoperator(np.eye(2)))
    with pytest.raises(ValueError, match="LinearOperator"):
        tb.solve(tb.Problem(tb.SquaredNorm(), operator, tb.Box(-1, 1)), "exact")


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_units_do_not_matter(size):
    rng = np.random.default_rng(5)
    A, b = rng.standard_normal((6, 3)), rng.standard_normal(6)
    one = exact(tb.Problem(tb.SquaredNorm(), tb.L1Norm(A=A, b=b), tb.Box(-2, 2)))
    scaled = tb.Problem(tb.SquaredNorm(), tb.L1Norm(A=size * A, b=size * b), tb.Box(-2, 2))
    two = tb.solve(scaled, tol_lower=1e-9 * size)
    assert two.success and two.g == pytest.approx(size * one.g, rel=1e-10)
    np.testing.assert_allclose(two.x, one.x, atol=1e-9)
