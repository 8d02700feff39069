"""Exact solves with l1 norms, against HiGHS on split variables (x = p - n) and Clarabel: neither sees our lifting."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import linprog
from scipy.sparse.linalg import aslinearoperator

import tiebreak as tb
from tiebreak.engines import choose_engine
from tiebreak.engines.lifted import _are_several
from tiebreak.sets.epigraph import signed_parts

pytestmark = pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
TIGHT = {"solver": "CLARABEL", "tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}


def exact(problem: tb.Problem) -> tb.Result:
    result = tb.solve(problem, "exact", tol_upper=1e-8, tol_lower=1e-8)
    assert result.success and result.verify(problem).ok
    assert problem.domain.contains(result.x, 1e-12)
    return result


def least_l1(A: np.ndarray, b: np.ndarray, w: np.ndarray, bound: float) -> float:
    """min sum w |x| over A x = b, |x_i| <= bound, by HiGHS in split variables."""
    n = A.shape[1]
    found = linprog(np.tile(w, 2), A_eq=np.hstack([A, -A]), b_eq=b, bounds=[(0, bound)] * (2 * n))
    assert found.status == 0
    return float(found.fun)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("where", ["box", "l1 ball", "polyhedron"])
def test_least_l1_norm_among_all_least_squares_solutions(seed: int, where: str) -> None:
    """Integer data with ties and duplicate columns; b is not in the range of A, so that g* is not zero."""
    rng = np.random.default_rng(seed)
    m, n = 4, 9
    A = rng.integers(-2, 3, (m, n)).astype(float)
    A[:, 5], A[3] = A[:, 2], A[0]  # a duplicate column and a duplicate row
    b = A @ rng.integers(-1, 2, n) + np.array([1.0, 0, 0, -1.0])
    w = rng.integers(0, 3, n).astype(float) + (np.arange(n) == 0)
    fitted = A @ np.linalg.lstsq(A, b, rcond=None)[0]
    f_star, g_star = least_l1(A, fitted, w, 20.0), float(((fitted - b) ** 2).sum() / 2)
    domain = {
        "box": tb.Box(-20.0, 20.0),
        "l1 ball": tb.L1Ball(100.0),
        "polyhedron": tb.Polyhedron(A_ub=np.ones((1, n)), b_ub=[500.0], bounds=(-20, 20)),
    }[where]
    result = exact(tb.Problem(tb.L1Norm(w), tb.LeastSquares(A, b), domain))
    assert result.f == pytest.approx(f_star, abs=1e-9) and result.g == pytest.approx(g_star, abs=1e-9)
    c = result.certificate
    assert c.f_lower - 1e-9 <= f_star <= c.f_upper + 1e-9 and c.lower_unique is not True


@pytest.mark.parametrize("seed", range(4))
def test_least_l1_norm_among_optimal_flows(seed: int) -> None:
    """A linear lower level (flux balance with reversible flows), f = the sum of |v|; by HiGHS twice, on its face."""
    rng = np.random.default_rng(seed)
    m, n = 5, 12
    S = rng.integers(-1, 2, (m, n)).astype(float)
    low = np.where(np.arange(n) < 6, -3.0, 0.0)
    c = -(rng.integers(0, 2, n).astype(float) + (np.arange(n) == 0))
    first = linprog(c, A_eq=S, b_eq=np.zeros(m), bounds=list(zip(low, np.full(n, 3.0), strict=True)))
    split = [(0, 3.0)] * n + [(0, -one) for one in low]
    rows = np.vstack([np.hstack([S, -S]), np.append(c, -c)])
    second = linprog(np.ones(2 * n), A_eq=rows, b_eq=np.append(np.zeros(m), first.fun), bounds=split)
    Z = tb.Polyhedron(A_eq=S, b_eq=np.zeros(m), bounds=list(zip(low, np.full(n, 3.0), strict=True)))
    result = exact(tb.Problem(tb.L1Norm(), tb.Linear(c), Z))
    assert result.g == pytest.approx(first.fun, abs=1e-10) and result.f == pytest.approx(second.fun, abs=1e-8)
    chain = tb.lexicographic([tb.Linear(c), tb.L1Norm(), tb.SquaredNorm(np.ones(n))], Z)
    assert chain.success and [level.value for level in chain.levels][:2] == pytest.approx([result.g, result.f])
    x = cp.Variable(n)
    face = [S @ x == 0, x >= low, x <= 3, c @ x <= first.fun + 1e-9, cp.norm(x, 1) <= second.fun + 1e-9]
    third = cp.Problem(cp.Minimize(cp.sum_squares(x - 1) / 2), face).solve(**TIGHT)
    assert chain.levels[2].value == pytest.approx(third, abs=1e-5)


@pytest.mark.parametrize("where", ["box", "l1 ball", "polyhedron"])
def test_norms_on_both_levels_with_quadratics(where: str) -> None:
    rng = np.random.default_rng(11)
    n, tau = 6, 0.5
    A = np.hstack([np.eye(3), np.eye(3)])
    b, center, w = np.array([2.0, -1.5, 0.1]), rng.standard_normal(n), np.array([0.3, 0.0, 1.0, 0.0, 0.2, 0.0])
    target = np.sign(b) * np.maximum(np.abs(b) - tau, 0)
    Q = np.diag([1.0, 0.0, 2.0, 0.0, 1.0, 0.5])
    domain = {
        "box": tb.Box(-3.0, 2.0),
        "l1 ball": tb.L1Ball(6.0),
        "polyhedron": tb.Polyhedron(A_ub=np.ones((1, n)), b_ub=[9.0], bounds=(-3, 3)),
    }[where]
    upper = tb.Quadratic(Q, center) + 0.5 * tb.SquaredNorm(center) + tb.L1Norm(w) + tb.Linear(np.ones(n))
    result = exact(tb.Problem(upper, tb.LeastSquares(sp.csr_array(A), b) + tau * tb.L1Norm(), domain))
    x, sign = cp.Variable(n), np.sign(target)
    f = cp.quad_form(x, Q) / 2 + center @ x + cp.sum_squares(x - center) / 4 + w @ cp.abs(x) + cp.sum(x)
    solutions = [A @ x == target, cp.multiply(sign, x[:3]) >= 0, cp.multiply(sign, x[3:]) >= 0, x[2] == 0, x[5] == 0]
    f_star = cp.Problem(cp.Minimize(f), solutions).solve(**TIGHT)
    assert result.f == pytest.approx(f_star, abs=1e-8) and result.x[2] == result.x[5] == 0.0
    assert result.g == pytest.approx(((target - b) ** 2).sum() / 2 + tau * np.abs(target).sum(), abs=1e-12)
    assert result.certificate.lower_unique is False


def test_where_signs_are_known_any_exact_engine_does_it() -> None:
    """Over the simplex w'|x| is linear: column generation, here under a logistic lower level."""
    rng = np.random.default_rng(3)
    A, w = np.repeat(rng.standard_normal((8, 2)), 2, axis=1), np.array([1.0, 3.0, 2.0, 2.5])
    y = np.sign(rng.standard_normal(8))
    problem = tb.Problem(tb.L1Norm(w), tb.Logistic(A, y), tb.Simplex())
    plain = tb.Problem(tb.Linear(w), problem.lower, tb.Simplex())
    result, other = exact(problem), tb.solve(plain, "exact")
    assert result.f == pytest.approx(other.f, abs=1e-12)
    x = cp.Variable(4)
    loss = cp.sum(cp.logistic(-cp.multiply(y, A @ x))) / 8
    simplex = [x >= 0, cp.sum(x) == 1]
    g_star = cp.Problem(cp.Minimize(loss), simplex).solve(solver="CLARABEL")
    assert result.g == pytest.approx(g_star, abs=1e-7)
    assert result.x[1] <= 1e-9 and result.x[3] <= 1e-9  # of duplicate columns, the cheaper one
    nonpositive = tb.Problem(tb.L1Norm(), tb.LeastSquares([[1.0, 1.0]], [-1.0]), tb.Box([-2.0, -2.0], [0.0, 3.0]))
    assert exact(nonpositive).f == pytest.approx(1.0)


@pytest.mark.parametrize("where", ["box", "l1 ball", "polyhedron"])
def test_slack_is_proved_as_well(where: str) -> None:
    A, b = np.array([[1.0, 2.0, 0.0, 1.0], [0.0, 1.0, -1.0, 1.0]]), np.array([2.0, 1.0])
    domain = {
        "box": tb.Box(-5.0, 5.0),
        "l1 ball": tb.L1Ball(10.0),
        "polyhedron": tb.Polyhedron(A_ub=np.ones((1, 4)), b_ub=[30.0], bounds=(-5, 5)),
    }[where]
    problem = tb.Problem(tb.L1Norm([1.0, 3.0, 1.0, 2.0]), tb.LeastSquares(A, b), domain, slack=0.05)
    result = tb.solve(problem, tol_upper=1e-6, tol_lower=1e-6)
    x = cp.Variable(4)
    f = np.array([1.0, 3.0, 1.0, 2.0]) @ cp.abs(x)
    f_star = cp.Problem(cp.Minimize(f), [cp.sum_squares(A @ x - b) / 2 <= 0.05]).solve(**TIGHT)
    c = result.certificate
    assert result.success and result.method == "exact" and result.f == pytest.approx(f_star, abs=1e-6)
    assert c.f_lower <= f_star + 1e-8 and f_star <= c.f_upper + 1e-8 and c.f_upper - c.f_lower <= 1e-5


@pytest.mark.parametrize(
    ("lower", "unique"),
    [
        (tb.LeastSquares(np.array([[1.0, 1.0], [1.0, -1.0]]), [1.0, 0.0]), True),
        (tb.LeastSquares([[1.0, 1.0]], [1.0]), False),
        (tb.LeastSquares([[1.0, 1.0]], [1.0]) + tb.L1Norm(0.5), False),
        (tb.LeastSquares([[1.0, 1.0]], [1.0]) + tb.L1Norm([0.5, 0.8]), True),
        (tb.LeastSquares([[1.0, 1.0]], [1.0]) + tb.L1Norm([0.0, 1.0]), True),
        (tb.L1Norm([1.0, 1.0]), True),
        (tb.L1Norm([1.0, 0.0]), False),
    ],
)
def test_uniqueness_is_that_of_x_not_of_the_lifted_point(lower: tb.Objective, unique: bool) -> None:
    for domain in (tb.Box(-3.0, 3.0), tb.Polyhedron(A_ub=[[1.0, 1.0]], b_ub=[5.0], bounds=(-3, 3))):
        c = exact(tb.Problem(tb.L1Norm([2.0, 3.0]), lower, domain)).certificate
        assert c.lower_unique is unique
        assert c.upper_constant is (True if unique else None)
    on_ball = exact(tb.Problem(tb.L1Norm([2.0, 3.0]), lower, tb.L1Ball(3.0))).certificate
    assert on_ball.lower_unique in (unique, None)


def test_a_point_and_a_face_of_ties() -> None:
    fixed = tb.Problem(tb.L1Norm(), tb.Linear([1.0, 1.0]), tb.Box([1.0, -2.0], [1.0, -2.0]))
    assert exact(fixed).f == 3.0
    ties = tb.Problem(
        tb.SquaredNorm([0.0, 2.0]), tb.L1Norm(), tb.Polyhedron(A_eq=[[1.0, 1.0]], b_eq=[1.0], bounds=(-3, 3))
    )
    result = exact(ties)  # all of the segment from (1, 0) to (0, 1) has the norm 1
    assert result.x == pytest.approx([0.0, 1.0]) and result.g == pytest.approx(1.0)


@pytest.mark.parametrize("spread", [1e3, 1e11])
def test_badly_scaled_rows_widen_the_bracket_around_the_truth(spread: float) -> None:
    A, b = np.array([[1.0, 2.0, 0.0], [0.0, spread, spread]]), np.array([1.0, spread])
    w = np.array([1.0, 2.0, 1.0])
    result = tb.solve(tb.Problem(tb.L1Norm(w), tb.LeastSquares(A, b), tb.Box(-10.0, 10.0)), "exact")
    f_star = least_l1(np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0]]), np.ones(2), w, 10.0)
    assert result.certificate.f_lower <= f_star <= result.certificate.f_upper
    if spread == 1e3:
        assert result.f == pytest.approx(f_star, rel=1e-6)


OPAQUE = tb.Function(lambda x: float(x @ x), lambda x: 2 * x, dim=2, convex=True)


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        (tb.Problem(tb.GroupNorm([0, 0]), tb.Linear([1.0, 1.0]), tb.Box(-1.0, 1.0)), "not piecewise linear"),
        (tb.Problem(tb.L1Norm(), OPAQUE, tb.L2Ball(1.0)), "L1Norm over L2Ball"),
        (tb.Problem(tb.L1Norm(), tb.Logistic(aslinearoperator(np.eye(2)), [1, -1]), tb.Box(-1.0, 1.0)), "Operator"),
        (tb.Problem(tb.L1Norm(), OPAQUE, tb.Box(-1.0, 1.0)), "no form"),
    ],
)
def test_what_is_not_lifted_has_a_reason(problem: tb.Problem, says: str) -> None:
    assert says in choose_engine(problem).why_not
    with pytest.raises(ValueError, match="does not apply"):
        tb.solve(problem, "exact")


def test_chains_that_have_no_exact_method() -> None:
    with pytest.raises(ValueError, match="not piecewise linear"):
        tb.lexicographic([tb.Linear([1.0, 1.0]), tb.GroupNorm([0, 0]), tb.SquaredNorm()], tb.Box(-1.0, 1.0))
    with pytest.raises(ValueError, match="one number of variables"):
        tb.lexicographic([tb.Linear([1.0, 1.0]), tb.L1Norm(dim=3)], tb.Box(-1.0, 1.0))
    ball = tb.lexicographic(
        [tb.LeastSquares([[1.0, 2.0]], [1.0]), tb.L1Norm(), tb.SquaredNorm([9.0, 9.0])], tb.L1Ball(3.0)
    )
    assert ball.success and ball.x == pytest.approx([0.0, 0.5], abs=1e-12)


@pytest.mark.parametrize(
    "domain",
    [
        tb.Box([-1.0, 0.0, -2.0], [1.0, 3.0, 0.5]),
        tb.L1Ball(2.0, np.array([1.0, 2.0, 0.5])),
        tb.Polyhedron(A_ub=[[1.0, 1.0, 1.0]], b_ub=[1.0], A_eq=[[1.0, -1.0, 0.0]], b_eq=[0.25], bounds=(-2, 2)),
        tb.Polyhedron(  # by its rows x0 >= 1/4 and x1 <= -1/4, without bounds of their own
            A_ub=[[-1.0, 0.5, 0.0], [1.0, 1.0, 1.0], [1.0, -1.0, 2.0], [0.0, 1.0, -1.0], [0.0, 0.0, -1.0]],
            b_ub=[-0.375, 1.5, 3.0, -0.25, 0.5],
        ),
    ],
)
def test_the_lifted_set_is_the_set_in_its_signed_parts(domain: tb.Domain) -> None:
    """x in Z lifts to its parts; the parts of a vertex have their x in Z; minima of <c, x> + <w, |x|> agree."""
    rng = np.random.default_rng(0)
    lifted = signed_parts(domain.with_dim(3), np.arange(3))
    for _ in range(10):
        c, w = rng.standard_normal(3), rng.uniform(0, 2, 3)
        s = domain.lmo(c)
        assert lifted.contains(np.append(np.maximum(s, 0), np.maximum(-s, 0)), 1e-9)
        vertex = lifted.lmo(np.append(c + w, w - c))
        x, t = vertex[:3] - vertex[3:], vertex[:3] + vertex[3:]
        assert domain.contains(x, 1e-9) and (vertex >= 0).all() and np.abs(x) == pytest.approx(t, abs=1e-12)
        samples = [domain.lmo(direction) for direction in rng.standard_normal((30, 3))]
        mixes = [share @ np.array(samples) for share in rng.dirichlet(np.ones(30) * 0.1, 50)]
        assert all(c @ x + w @ t <= c @ y + w @ np.abs(y) + 1e-12 for y in (*samples, *mixes))


@pytest.mark.parametrize("seed", range(8))
def test_bounds_on_one_side_hold_as_they_are(seed: int) -> None:
    """Open on the other side, where rows end the levels: against HiGHS in x and t >= |x|, without parts."""
    rng = np.random.default_rng(seed)
    n = 3
    R, c = rng.integers(-3, 4, (5, n)).astype(float), rng.integers(-3, 4, n).astype(float)
    c = -np.abs(R).T @ np.ones(5) if seed % 2 else -R.T @ rng.integers(0, 2, 5) + c / 8
    h, ends = rng.integers(1, 6, 5).astype(float), rng.integers(-2, 0, n).astype(float)
    down = rng.random(n) < 0.5  # bounded above instead of below
    bounds = [(None, -end) if flip else (end, None) for end, flip in zip(ends, down, strict=True)]
    cap = np.vstack([R, np.where(down, -1.0, 1.0)])  # so that every level has a minimum
    domain = tb.Polyhedron(A_ub=cap, b_ub=np.append(h, 9.0), bounds=bounds)
    w = rng.integers(0, 2, n).astype(float) + (np.arange(n) == 0)
    first = linprog(c, A_ub=cap, b_ub=np.append(h, 9.0), bounds=bounds)
    assert first.status == 0
    split = np.hstack([np.eye(n), -np.eye(n)])
    below = np.vstack([np.hstack([cap, np.zeros((6, n))]), split, np.hstack([-np.eye(n), -np.eye(n)])])
    right = np.concatenate([h, [9.0], np.zeros(2 * n)])
    value_row = np.append(c, np.zeros(n))[None, :]
    then = linprog(
        np.append(np.zeros(n), w), A_ub=np.vstack([below, value_row]), b_ub=np.append(right, first.fun + 1e-9),
        bounds=[*bounds, *[(0, None)] * n],
    )  # fmt: skip
    assert then.status == 0
    result = tb.solve(tb.Problem(tb.L1Norm(w), tb.Linear(c), domain), "exact", tol_upper=1e-8, tol_lower=1e-8)
    assert result.success and domain.contains(result.x, 1e-12)
    assert result.g == pytest.approx(first.fun, abs=1e-9) and result.f == pytest.approx(then.fun, abs=1e-6)


def test_several_lower_solutions_are_told_by_counting():
    rng = np.random.default_rng(7)
    A = rng.standard_normal((3, 6))
    x = np.array([0.5, 0.0, -0.25, 0.0, 0.0, 0.125])
    level, still = tb.LeastSquares(A, A @ x), np.zeros(6)
    box, ball = tb.Box(-1.0, 1.0, dim=6), tb.L1Ball(0.875).with_dim(6)
    assert _are_several(level, box, x, still)  # six entries away from their bounds, three rows
    assert not _are_several(level, box, x, np.full(6, 1.0))  # nobody knows where the solution is
    assert not _are_several(level, ball, x, still)  # the ball is tight: three entries with a sign, four rows
    assert _are_several(level, tb.L1Ball(0.9).with_dim(6), x, still)
    assert not _are_several(tb.LeastSquares(np.eye(6), x), box, x, still)
    assert not _are_several(tb.LeastSquares(A, A @ x) + tb.SquaredNorm(x), box, x, still)


@pytest.mark.parametrize("seed", range(8))
def test_uniqueness_below_norms_is_that_of_the_level_alone(seed):
    rng = np.random.default_rng([8, seed])
    A = rng.integers(-2, 3, (3 + 3 * (seed % 2), 5)).astype(float)
    A[:, 4] = A[:, 0] if seed % 3 == 0 else A[:, 4]
    lower = tb.LeastSquares(A, rng.integers(-3, 4, A.shape[0]).astype(float))
    domain = tb.L1Ball(1.0) if seed % 4 < 2 else tb.Box(-0.5, 0.5)
    upper = tb.L1Norm(np.arange(1.0, 6.0))
    alone = choose_engine(tb.Problem(lower, [], domain.with_dim(5))).solve().lower_unique
    assert tb.plan(tb.Problem(upper, lower, domain)).choice.solve().lower_unique in (alone, None)
