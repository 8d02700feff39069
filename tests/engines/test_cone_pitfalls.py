"""What went wrong in trials of exact solves over round sets, each with the instance that shows it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.engines.cones.growth import distance
from tiebreak.engines.cones.level import Level
from tiebreak.engines.cones.polish import polish
from tiebreak.engines.cones.refuses import cones_apply
from tiebreak.engines.cones.solve import solve_cones
from tiebreak.numerics.extended import double, ext


def squares(rng: np.random.Generator, rows: int, columns: int, size: float = 1.0) -> tb.LeastSquares:
    return tb.LeastSquares(rng.standard_normal((rows, columns)), size * rng.standard_normal(rows))


@pytest.mark.parametrize("seed", range(8))
def test_harmless_spectrahedra_on_which_the_interior_point_method_fails_at_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    answer = solve_cones([squares(rng, 40, 36, 10.0), squares(rng, 38, 36)], tb.Spectrahedron(6))
    assert answer.width <= 1e-9


@pytest.mark.parametrize("beyond", [1e-2, 1e-4, 1e-6, -1e-2, -1e-4, -1e-6, -1e-8])
def test_the_regime_is_proved_not_chosen_by_a_threshold(beyond: float) -> None:
    """The radius is that of the least solution of A x = b, but for a little: then slopes are tiny, or zero."""
    rng = np.random.default_rng(3)
    A, b, f = rng.standard_normal((6, 15)), rng.standard_normal(6), squares(rng, 17, 15)
    least = float(np.linalg.norm(np.linalg.pinv(A) @ b))
    answer = solve_cones([tb.LeastSquares(A, b), f], tb.L2Ball(least * (1 + beyond)).with_dim(15))
    assert answer.width <= 1e-5
    x = np.linalg.pinv(A) @ b
    if beyond < 0:  # the solution is nearly that point
        assert answer.f_lower <= f.value(x) + 2 * abs(beyond) * abs(f.grad(x) @ x) + 1e-9
        assert answer.lower_unique is not False
    else:
        assert answer.f_upper <= f.value(x) + 1e-9
        assert answer.lower_unique is False


def test_touching_is_handed_over_with_what_is_known() -> None:
    rng = np.random.default_rng(3)
    A, b, f = rng.standard_normal((6, 15)), rng.standard_normal(6), squares(rng, 17, 15)
    x = np.linalg.pinv(A) @ b
    problem = tb.Problem(f, tb.LeastSquares(A, b), tb.L2Ball(float(np.linalg.norm(x))))
    assert tb.plan(problem).engine == "cones"
    assert "apb-apg" in repr(tb.plan(problem))
    result = tb.solve(problem, max_iter=200, max_time=5.0)
    assert result.certificate.f_lower <= f.value(x) + 1e-6
    assert result.method == "apb-apg" and "no proof" in result.message


@pytest.mark.parametrize("gap", [1e-2, 1e-5, 1e-8])
def test_ranks_that_are_hard_to_tell(gap: float) -> None:
    """Singular values of the slope that nearly tie: wide or without a bracket, never wrong."""
    C = np.diag([1.0, 1.0 - gap, 0.3])
    f = tb.SquaredNorm(np.arange(9.0))
    answer = solve_cones([tb.Linear(-C.ravel()), f], tb.NuclearBall((3, 3), 1.0))
    best = f.value(np.diag([1.0, 0, 0]).ravel())
    assert answer.f_lower <= best <= answer.f_upper


def test_strict_complementarity_that_fails() -> None:
    """The best rank is one, and the slope ties all the same: the least-squares target is the projection of a tie."""
    target = np.diag([1.0, 0.5, 0.5])
    g = tb.SquaredNorm((np.diag([1.0, 0.0, 0.0]) + 0.7 * np.eye(3)).ravel())
    answer = solve_cones([g, tb.SquaredNorm(target.ravel())], tb.Spectrahedron(3))
    assert answer.f_lower <= 0.25 + 1e-12
    assert answer.f_upper >= 0.25 - 1e-12


def test_costs_far_below_the_others_still_decide() -> None:
    """A cost of 1e-10 in the lower level, beside others of size one, decides between two directions."""
    c = np.array([0.0, 1e-10, 1.0, 1.0])
    answer = solve_cones([tb.Linear(c), tb.Linear([0.0, 1.0, 0.0, 0.0])], tb.L2Ball(1.0).with_dim(4))
    exact = -1e-10 / np.sqrt(2 + 1e-20)
    assert answer.f_lower <= exact <= answer.f_upper
    assert answer.f_upper - answer.f_lower < 1e-15


def test_values_are_rounded_outwards() -> None:
    level = Level(tb.Linear([0.1, 0.2]).form, 2)
    here = level.at(ext([1.0, 1.0]))
    exact = np.longdouble(0.1) + np.longdouble(0.2)
    assert np.longdouble(here.below) < exact < np.longdouble(here.above)


def test_a_chart_of_too_small_a_rank_has_stationary_points_that_are_no_minimisers() -> None:
    rng = np.random.default_rng(263)
    for _ in range(6):
        A, Y = rng.standard_normal((5, 16)), rng.standard_normal((4, 4))
        Y = Y @ Y.T / np.trace(Y @ Y.T)
        f = squares(rng, 18, 16, 3.0)
        domain = tb.Spectrahedron(4)
        answer = solve_cones([tb.LeastSquares(A, A @ Y.ravel()), f], domain)
        assert answer.f_lower <= f.value(Y.ravel())  # a lower solution
        assert answer.width <= 1e-9


@pytest.mark.parametrize("p", [1.05, 1.2, 4.0, 8.0])
def test_powers_with_entries_near_zero(p: float) -> None:
    rng = np.random.default_rng(12)
    A = rng.standard_normal((20, 12))
    x = np.r_[np.ones(4), 1e-9 * np.ones(4), np.zeros(4)]
    domain = tb.LpBall(p, 0.5, dim=12)
    answer = solve_cones([tb.LeastSquares(A, A @ x), squares(rng, 14, 12)], domain)
    assert answer.width <= 1e-8


def test_ties_of_groups_and_eigenvalues_are_faces() -> None:
    answer = solve_cones(
        [tb.Linear([3.0, 4.0, 5.0, 0.0, 1.0]), tb.SquaredNorm(dim=5)], tb.GroupBall([0, 0, 1, 1, 2], 1.0)
    )
    assert answer.f_lower <= 0.25 <= answer.f_upper  # halves of both directions
    assert answer.f_upper - answer.f_lower < 1e-12
    cycle = 2 * np.eye(5) - np.roll(np.eye(5), 1, axis=0) - np.roll(np.eye(5), -1, axis=0)
    answer = solve_cones([tb.Linear(-cycle.ravel()), tb.SquaredNorm(dim=25)], tb.Spectrahedron(5))
    assert answer.f_lower <= 0.25 <= answer.f_upper  # half of the projector on a plane
    assert answer.f_upper - answer.f_lower < 1e-10
    assert any("equal" in text for text in answer.assumes)


def test_a_constant_lower_level_and_a_single_one() -> None:
    ball = tb.L2Ball(1.0).with_dim(3)
    f = tb.SquaredNorm([3.0, 0.0, 4.0])
    alone = tb.solve(tb.Problem(f, [], ball), tol_upper=1e-10, tol_lower=1e-10)
    assert alone.success and alone.f == pytest.approx(8.0, abs=1e-12)
    answer = solve_cones([tb.Linear(np.zeros(3)), f], ball)
    assert answer.f_lower <= 8.0 <= answer.f_upper and answer.lower_unique is False
    many = solve_cones([tb.LeastSquares([[1.0, 0.0, 0.0]], [5.0])], ball)
    assert many.f_lower <= 8.0 <= many.f_upper


@pytest.mark.parametrize(
    ("levels", "domain", "says"),
    [
        ([tb.SquaredNorm(dim=2)] * 3, tb.L2Ball(1.0).with_dim(2), "two levels"),
        ([tb.SquaredNorm(dim=2)] * 2, tb.Box(0, 1).with_dim(2), "not a ball"),
        ([tb.Softmax([[1.0], [1.0]], [0, 1]), tb.SquaredNorm(dim=2)], tb.L2Ball(1.0).with_dim(2), "strictly convex"),
        ([tb.SquaredNorm(dim=2), tb.GroupNorm([[0, 1]])], tb.L2Ball(1.0).with_dim(2), "groups"),
        ([tb.SquaredNorm(dim=9000)] * 2, tb.LpBall(3, 1.0, dim=9000), "too large"),
        ([tb.SquaredNorm(dim=9000), tb.L1Norm(dim=9000)], tb.L2Ball(1.0).with_dim(9000), "too large"),
    ],
)
def test_what_it_does_not_take(levels, domain, says) -> None:
    assert says in cones_apply(levels, domain)


@pytest.mark.parametrize("slack", [1e-4, 1e-2])
@pytest.mark.parametrize(
    "domain",
    [tb.L2Ball(0.5).with_dim(12), tb.LpBall(3, 0.5, dim=12), tb.GroupBall(np.arange(12) // 3, 0.5),
     tb.NuclearBall((4, 3), 0.5), tb.Spectrahedron(4)],
    ids=repr,
)  # fmt: skip
def test_slack_is_two_sided_and_narrow(domain, slack: float) -> None:
    rng = np.random.default_rng(21)
    n = domain.dim
    problem = tb.Problem(squares(rng, n + 2, n), squares(rng, n // 2, n, 3.0), domain, slack=slack)
    result = tb.solve(problem, tol_upper=1e-7)
    known = result.certificate
    assert result.success and result.method == "exact"
    assert known.f_upper - known.f_lower <= 1e-7
    assert result.g <= known.g_upper + slack
    other = tb.solve(problem, "cg-bio-anytime", max_time=1.0, max_iter=2000)
    assert other.certificate.f_lower <= known.f_upper
    assert known.f_lower <= other.certificate.f_upper


@pytest.mark.parametrize("off", [1e-6, -1e-6, 1e-11, -1e-11])
@pytest.mark.parametrize(
    "domain",
    [tb.L2Ball(2.0), tb.LpBall(3, 2.0), tb.GroupBall([[0, 1, 2], [3, 4], [5, 6, 7, 8]], 2.0), tb.Spectrahedron(3, 2.0)],
)
def test_points_of_charts_that_lie_beside_the_set(domain: tb.sets.Domain, off: float) -> None:
    """Where Newton stalls the point of the chart is not in Z: what is shown of g at the one in Z is moved over."""
    A = np.random.default_rng(1).standard_normal((12, 9))
    level = Level(tb.LeastSquares(A, 40 * A[:, 0] + 20 * A[:, 4]).form, 9)
    exact = solve_cones([tb.LeastSquares(A, 40 * A[:, 0] + 20 * A[:, 4]), tb.SquaredNorm()], domain.with_dim(9))
    assert exact.g_upper - exact.g_lower <= 1e-9 * exact.g_upper
    shape = domain.with_dim(9).round
    slope = double(level.at(ext(exact.x)).grad)
    near = polish(level, next(iter(shape.charts(exact.x, slope))))
    u = near.u * (1 + np.longdouble(off))
    moved = replace(near, u=u, x=near.chart.point(u), here=level.at(near.chart.point(u)))
    found = distance(level, moved, domain.with_dim(9).diameter)
    assert found is not None
    assert moved.here.below - found.gap <= exact.g_upper
    assert found.far >= np.linalg.norm(double(moved.x) - exact.x) - 1e-12
