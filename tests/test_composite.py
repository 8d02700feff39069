"""Norms over a set: the joint prox and linear minima against Clarabel, and refusals where no formula is right."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import tiebreak as tb
from tiebreak.arrays import same_groups
from tiebreak.composite import LinearMinimum, joint_prox, prox, why_no_prox
from tiebreak.objectives import Norm

D = 6
GROUPS = [[0, 3], [1], [2, 4, 5]]
WEIGHTS = np.array([1.0, 0.0, 2.5, 0.3, 1.0, 0.7])
TIGHT = {"solver": "CLARABEL", "tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-13}
BALL_WEIGHTS = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0])
MIXED = ([-1.0, 0.0, 0.5, -2.0, -1.0, 0.0], [1.0, 2.0, 2.0, -0.5, 0.0, 0.0])
ROWS = np.array([[1.0, 2.0, 0.0, 1.0, 0.0, 1.0]])


def boxed(x: cp.Variable, lower: object, upper: object) -> list:
    return [x >= np.broadcast_to(lower, (D,)), x <= np.broadcast_to(upper, (D,))]


# name: the set, and the set for CVXPY
SETS = {
    "box": (tb.Box(-1.0, 0.7), lambda x: boxed(x, -1.0, 0.7)),
    "box of mixed signs": (tb.Box(*MIXED), lambda x: boxed(x, *MIXED)),
    "l1 ball": (tb.L1Ball(1.5), lambda x: [cp.norm(x, 1) <= 1.5]),
    "weighted l1 ball": (tb.L1Ball(1.5, BALL_WEIGHTS), lambda x: [cp.norm(cp.multiply(BALL_WEIGHTS, x), 1) <= 1.5]),
    "l2 ball": (tb.L2Ball(1.2), lambda x: [cp.norm(x, 2) <= 1.2]),
    "l3 ball": (tb.LpBall(3.0, 1.2), lambda x: [cp.norm(x, 3) <= 1.2]),
    "k-sparse": (tb.KSparse(2, 0.8), lambda x: [cp.norm(x, 1) <= 1.6, cp.norm(x, "inf") <= 0.8]),
    "group ball": (
        tb.GroupBall(GROUPS, 1.3),
        lambda x: [cp.norm(x[[0, 3]]) + cp.abs(x[1]) + cp.norm(x[[2, 4, 5]]) <= 1.3],
    ),
    "simplex": (tb.Simplex(1.5), lambda x: [x >= 0, cp.sum(x) == 1.5]),
    "nonnegative polyhedron": (
        tb.Polyhedron(A_ub=ROWS, b_ub=[1.5], bounds=(0, 1)),
        lambda x: [ROWS @ x <= 1.5, *boxed(x, 0, 1)],
    ),
    "product": (
        tb.Product({"a": (tb.Simplex(), 2), "b": (tb.L1Ball(1.0), 3), "c": tb.Box(-1.0, [0.5])}),
        lambda x: [x[:2] >= 0, cp.sum(x[:2]) == 1, cp.norm(x[2:5], 1) <= 1, x[5] >= -1, x[5] <= 0.5],
    ),
    "columns": (
        tb.Columns(tb.Simplex(), (3, 2)),
        lambda x: [x >= 0, cp.sum(x[[0, 2, 4]]) == 1, cp.sum(x[[1, 3, 5]]) == 1],
    ),
}
L1 = {"l1": [tb.L1Norm()], "weighted l1": [tb.L1Norm(WEIGHTS)], "two l1": [tb.L1Norm(0.3), tb.L1Norm(WEIGHTS)]}
GROUP = {"groups": [tb.GroupNorm(GROUPS, [1.0, 0.4, 0.0])], "l1 and groups": [tb.L1Norm(0.3), tb.GroupNorm(GROUPS)]}
CASES = [(name, kind) for name in SETS for kind in L1]
CASES += [(name, kind) for name in ("l2 ball", "group ball") for kind in GROUP]


def norms(kind: str) -> list[Norm]:
    return (L1 | GROUP)[kind]


def expression(norm: Norm, x: cp.Variable) -> cp.Expression:
    if isinstance(norm, tb.L1Norm):
        return cp.norm(cp.multiply(np.broadcast_to(norm.weights, (D,)), x), 1)
    weights = np.broadcast_to(norm.weights, (3,))
    return sum(w * cp.norm(x[group]) for w, group in zip(weights, GROUPS, strict=True))


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_joint_prox_is_that_of_clarabel(name: str, kind: str) -> None:
    domain, constraints = SETS[name]
    domain = domain.with_dim(D)
    assert why_no_prox(domain, norms(kind)) == ""
    x, v, step = cp.Variable(D), cp.Parameter(D), 0.4
    objective = cp.sum_squares(x - v) / 2 + step * sum(expression(norm, x) for norm in norms(kind))
    programme = cp.Problem(cp.Minimize(objective), constraints(x))
    rng = np.random.default_rng(5)
    points = [2 * rng.standard_normal(D), 0.3 * rng.standard_normal(D), np.zeros(D), np.array([3.0, 3, -3, 3, -3, 3])]
    for point in points:
        v.value = point
        programme.solve(**TIGHT)
        p = joint_prox(domain, norms(kind), point, step)
        assert domain.contains(p, 1e-12)
        mine = np.sum((p - point) ** 2) / 2 + step * sum(norm.value(p) for norm in norms(kind))
        assert mine <= programme.value + 1e-10 * (1 + abs(mine))  # strongly convex: within 2e-5 of the minimiser


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("kind", GROUP)
def test_prox_without_a_set(kind: str) -> None:
    x, v = cp.Variable(D), np.array([2.0, -0.2, 0.5, -1.5, 0.1, 3.0])
    total = cp.sum_squares(x - v) / 2 + 0.5 * sum(expression(norm, x) for norm in norms(kind))
    value = cp.Problem(cp.Minimize(total)).solve(**TIGHT)
    p = prox(norms(kind), v, 0.5)
    assert np.sum((p - v) ** 2) / 2 + 0.5 * sum(norm.value(p) for norm in norms(kind)) <= value + 1e-10


REFUSED = [
    (tb.L2Ball(1.0, np.ones(D)), "l1", "L1Norm over"),
    (tb.NuclearBall((2, 3), 1.0), "l1", "L1Norm over"),
    (tb.Polyhedron(A_ub=ROWS, b_ub=[1.5], bounds=(-1, 1)), "l1", "L1Norm over"),
    (tb.FromOracles(project=lambda x: x, lmo=lambda c: c, diameter=1.0, dim=D), "l1", "L1Norm over"),
    (tb.Product({"a": tb.L2Ball(1.0, np.ones(3)), "b": tb.Box([0.0] * 3, 1.0)}), "l1", "L1Norm over"),
    (tb.Box(-1.0, 1.0, dim=D), "groups", "GroupNorm over"),
    (tb.L1Ball(1.0), "groups", "GroupNorm over"),
    (tb.GroupBall([[0, 1, 2], [3, 4, 5]], 1.0), "groups", "GroupNorm over"),
    (tb.L2Ball(1.0, np.ones(D)), "groups", "GroupNorm over"),
]


@pytest.mark.parametrize(("domain", "kind", "says"), REFUSED)
def test_where_the_parts_do_not_compose_there_is_a_reason(domain: tb.Domain, kind: str, says: str) -> None:
    assert says in why_no_prox(domain, norms(kind))


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize(("domain", "kind", "says"), [case for case in REFUSED if isinstance(case[0], tb.L2Ball)])
def test_the_refusals_are_needed(domain: tb.Domain, kind: str, says: str) -> None:
    """Projecting the soft threshold onto a ball around another point is not the joint prox."""
    x, v = cp.Variable(D), np.array([3.0, 0.2, -1.0, 0.5, 2.0, -2.0])
    total = cp.sum_squares(x - v) / 2 + sum(expression(norm, x) for norm in norms(kind))
    value = cp.Problem(cp.Minimize(total), [cp.norm(x - 1) <= 1]).solve(**TIGHT)
    composed = domain.project(prox(norms(kind), v))
    assert np.sum((composed - v) ** 2) / 2 + sum(norm.value(composed) for norm in norms(kind)) > value + 1e-3


def test_groups_that_differ_have_no_prox_at_all() -> None:
    different = [tb.GroupNorm(GROUPS), tb.GroupNorm([0, 0, 0, 1, 1, 1])]
    assert "different groups" in why_no_prox(None, different)
    assert why_no_prox(None, [tb.GroupNorm(GROUPS), tb.GroupNorm([5, 7, 6, 5, 6, 6], 2.0)]) == ""  # other names
    labels = tb.GroupNorm(GROUPS).labels
    assert not same_groups(labels, np.array([0, 0, 1, 0, 1, 1])) and not same_groups(labels, np.array([0]))


def test_signs_of_a_set() -> None:
    polyhedron = tb.Polyhedron(A_ub=ROWS, b_ub=[1.0], bounds=list(zip(*MIXED, strict=True)))
    assert tb.Box(*MIXED).signs(D).tolist() == polyhedron.signs(D).tolist() == [0, 1, 1, -1, -1, 1]
    assert tb.Simplex().signs(2).tolist() == tb.Birkhoff(1).signs(1).tolist() * 2 == [1, 1]
    assert tb.L1Ball(1.0).signs(2).tolist() == tb.L2Ball(1.0).signs(2).tolist() == [0, 0]
    assert tb.Columns(tb.Box([0.0, -1.0], 1.0), (2, 2)).signs(4).tolist() == [1, 1, 0, 0]
    assert tb.Product({"a": tb.Box([0.0], 1.0), "b": (tb.L1Ball(1.0), 2)}).signs(3).tolist() == [1, 0, 0]


POLYHEDRON = tb.Polyhedron(A_ub=ROWS, b_ub=[0.5], A_eq=[[0, 1.0, -1, 0, 0, 1]], b_eq=[0.3], bounds=(-1, 1))
MINIMA = SETS | {
    "polyhedron": (
        POLYHEDRON,
        lambda x: [ROWS @ x <= 0.5, x[1] - x[2] + x[5] == 0.3, *boxed(x, -1, 1)],
    )
}


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("name", MINIMA)
@pytest.mark.parametrize("kind", [*L1, *GROUP])
def test_linear_minima_with_norms_are_bounds_and_tight_where_they_can_be(name: str, kind: str) -> None:
    domain, constraints = MINIMA[name]
    problem = tb.Problem(tb.Linear(np.zeros(D)) + tb.objectives.Sum(*norms(kind)), tb.SquaredNorm(dim=D), domain)
    minimum = LinearMinimum(problem)
    x, c, factor = cp.Variable(D), cp.Parameter(D), 0.8
    total = c @ x + factor * sum(expression(norm, x) for norm in norms(kind))
    programme = cp.Problem(cp.Minimize(total), constraints(x))
    tight = name == "polyhedron" if kind in L1 else False
    tight = tight or why_no_prox(problem.domain, norms(kind)) == ""
    rng = np.random.default_rng(6)
    for scale in (0.5, 2.0, 1e6):
        c.value = scale * rng.standard_normal(D)
        programme.solve(**TIGHT)
        found = minimum.below(c.value, 0.0, [(factor, norm) for norm in norms(kind)])
        attained = programme.value
        assert found <= attained + 1e-9 * (1 + abs(attained))
        if tight:
            assert found >= attained - 1e-8 * (1 + abs(attained))
        points = [problem.domain.lmo(rng.standard_normal(D)) for _ in range(20)]
        values = [c.value @ s + factor * sum(norm.value(s) for norm in norms(kind)) for s in points]
        assert found <= min(values)
        assert minimum.below(c.value, 0.1, [(factor, norm) for norm in norms(kind)]) < found  # the error is given away


def test_the_bound_holds_to_the_last_digit() -> None:
    """Over the l1 ball the minimum of <c, s> + factor w (|s_1| + |s_2|) is min(0, factor w - max |c_i|), exactly.

    Where the two terms nearly cancel, what is left is rounding, and no bound may take it for more.
    """
    rng = np.random.default_rng(7)
    for _ in range(300):
        w, factor = float(rng.uniform(0.1, 3)), float(10 ** rng.uniform(-6, 6))
        sizes = factor * w * (1 + rng.integers(-4, 5, 2) * 2.0**-52) * rng.choice([1.0, 1.0, 0.3, 2.0], 2)
        c = sizes * rng.choice([-1, 1], 2)
        problem = tb.Problem(tb.L1Norm(w), tb.SquaredNorm(dim=2), tb.L1Ball(1.0))
        exact = min(Fraction(0), Fraction(factor) * Fraction(w) - Fraction(float(np.abs(c).max())))
        found = Fraction(LinearMinimum(problem).below(c, 0.0, [(factor, problem.upper.norms[0])]))
        assert exact - Fraction(1e-14) * Fraction(factor * w) * 10 <= found <= exact
