"""Chains with smooth losses: brackets against 45 digits, and the ways in which such levels go wrong."""

from __future__ import annotations

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.engines import choose_engine
from tiebreak.engines.answer import Answer
from tiebreak.engines.rows.stretch import RIGID, Stretch
from tiebreak.engines.smooth.refuses import smooth_apply
from tiebreak.engines.smooth.solve import solve_smooth_chain

mp = pytest.importorskip("mpmath")
reference = pytest.importorskip("engines.smooth_references")


# -- brackets against references ------------------------------------------------------------------------------------


def data(rng: np.random.Generator, d: int) -> np.ndarray:
    """Small integers, most often of low rank."""
    n, rank = int(rng.integers(3, 12)), int(rng.integers(1, d + 1))
    if rng.random() < 0.3:
        return rng.integers(-3, 4, (n, d)).astype(float)
    return (rng.integers(-3, 4, (n, rank)) @ rng.integers(-2, 3, (rank, d))).astype(float)


def level(rng: np.random.Generator, d: int, kinds: tuple[str, ...]):
    """An objective, and what the references know it by."""
    kind, A = rng.choice(kinds), data(rng, d)
    if kind == "logistic":
        f = tb.Logistic(A, np.r_[0, 1, rng.integers(0, 2, len(A) - 2)])
        return f, [reference.logistic(A, f.y, f.weights)]
    if kind == "poisson":
        f = tb.Poisson(np.clip(A, -3, 3), rng.integers(0, 5, len(A)))
        return f, [reference.poisson(f.A, f.y, f.weights)]
    if kind == "hinge":
        f = tb.SquaredHinge(A, np.r_[0, 1, rng.integers(0, 2, len(A) - 2)])
        return f, [reference.squared_hinge(A, f.y, f.weights)]
    if kind == "huber":
        b, delta = rng.integers(-8, 9, len(A)).astype(float), float(2.0 ** rng.integers(-2, 3))
        return tb.Huber(A, b, delta), [reference.huber(A, b, delta)]
    if kind == "squares":
        b = rng.integers(-3, 4, len(A)).astype(float)
        return tb.LeastSquares(A, b), [reference.squares(A, b)]
    if kind == "linear":
        c = rng.integers(-3, 4, d).astype(float)
        return tb.Linear(c), [reference.linear(c)]
    c = rng.integers(-3, 4, d) / 4
    return tb.SquaredNorm(c), [reference.squares(np.eye(d), c)]


def random_chain(seed: int):
    """Two or three levels, at least one of them smooth, over a box or a polyhedron; None where that is empty."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 7))
    size = float(2.0 ** rng.integers(-2, 3))
    lower, upper = -size * np.ones(d) * (rng.random() < 0.7), size * np.ones(d)
    rows = []
    for _ in range(int(rng.integers(1, 4)) if rng.random() < 0.5 else 0):
        a, width = rng.integers(-2, 3, d).astype(float), size * float(rng.integers(1, 4)) / 2
        middle = float(a @ (lower + upper)) / 2
        rows.append((a, -np.inf if rng.random() < 0.5 else middle - width, middle + width))
    smooth = ("logistic", "huber", "poisson", "hinge")
    made = [level(rng, d, smooth), level(rng, d, ("squares", "linear", "norm", *smooth))]
    if rng.random() < 0.3:
        made.append(level(rng, d, ("linear", "norm", *smooth)))
    if rng.random() < 0.3:
        more = level(rng, d, ("logistic", "linear", "squares"))
        made[0] = (made[0][0] + more[0], made[0][1] + more[1])
    domain: tb.Domain = tb.Box(lower, upper)
    if rows:
        A, low, high = (np.array(part) for part in zip(*rows, strict=True))
        ends = np.isfinite(low)
        domain = tb.Polyhedron(
            A_ub=np.vstack([A, -A[ends]]), b_ub=np.r_[high, -low[ends]], bounds=list(zip(lower, upper, strict=True))
        )
    answers = solve_smooth_chain([one for one, _ in made], domain)
    return answers, reference.chain([parts for _, parts in made], lower, upper, [a.x for a in answers], rows)


@pytest.mark.parametrize("start", range(0, 48, 6))
def test_brackets_hold_the_optimal_values(start: int) -> None:
    judged = 0
    for seed in range(start, start + 6):
        answers, values = random_chain(seed)
        if values is None:  # the active set of the answer does not prove itself: degenerate
            continue
        judged += 1
        for answer, value in zip(answers, values, strict=True):
            assert answer.f_lower <= value <= answer.f_upper, seed
            assert answer.width <= 1e-7 or not answer.well_posed, (seed, answer)
    assert judged >= 3


# -- sets and sizes on which it was measured -----------------------------------------------------------------------


def breast_cancer() -> tuple[np.ndarray, np.ndarray]:
    datasets = pytest.importorskip("sklearn.datasets")
    A, y = datasets.load_breast_cancer(return_X_y=True)
    A = (A - A.mean(axis=0)) / A.std(axis=0)
    return np.c_[A, np.ones(len(A))], y


@pytest.mark.parametrize(("size", "least"), [(5.0, 203.453637425), (0.5, 3.18433358822)])
def test_breast_cancer_over_boxes(size: float, least: float) -> None:
    A, y = breast_cancer()
    problem = tb.Problem(tb.SquaredNorm(dim=31), tb.Logistic(A, y), tb.Box(-size, size, dim=31))
    result = tb.solve(problem, tol_upper=1e-10, tol_lower=1e-10)
    assert result.success and result.method == "exact"
    assert result.f == pytest.approx(least, rel=1e-11)
    assert 0 <= result.certificate.f_upper - result.certificate.f_lower <= 1e-11 * (1 + least)


def test_digits_with_columns_of_zeros() -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    A, y = datasets.load_digits(return_X_y=True)
    A = np.c_[A / 16, np.ones(len(A))]
    answers = solve_smooth_chain([tb.Logistic(A, y >= 5), tb.SquaredNorm(dim=65)], tb.Box(-5, 5, dim=65))
    assert answers[-1].width <= 1e-10 and answers[-1].well_posed
    assert answers[-1].lower_unique is False  # pixels that are never set
    np.testing.assert_allclose(answers[-1].x[~A.any(axis=0)], 0, atol=1e-20)


# -- where such levels go wrong --------------------------------------------------------------------------------------


def noisy(rng: np.random.Generator, n: int = 120, d: int = 8) -> tuple[np.ndarray, np.ndarray]:
    A = rng.normal(size=(n, d))
    return A, A[:, 0] + rng.normal(size=n) > 0


def solved(A: np.ndarray, y: np.ndarray, size: float, upper: tb.Objective | None = None) -> list[Answer]:
    d = A.shape[1]
    return solve_smooth_chain([tb.Logistic(A, y), upper or tb.SquaredNorm(dim=d)], tb.Box(-size, size, dim=d))


def test_classes_all_but_separated_are_told() -> None:
    """A dummy column of one class: its weight goes to the end of a large box, by losses below all rounding."""
    A, y = noisy(np.random.default_rng(0))
    A[:, 3], A[:5, 3], y[:5] = 0.0, 1.0, True
    small, large = solved(A, y, 5.0)[-1], solved(A, y, 80.0)[-1]
    assert small.well_posed and small.width <= 1e-12
    assert not large.well_posed and large.f_upper == np.inf and any("separated" in note for note in large.notes)
    assert large.g_upper - large.g_lower <= 1e-13  # the gap is known all the same


def test_a_constant_upper_level_is_known_by_the_gap() -> None:
    A, y = noisy(np.random.default_rng(0))
    A[:, 3], A[:5, 3], y[:5] = 0.0, 1.0, True
    problem = tb.Problem(tb.SquaredCovariance(A, A[:, 1] > 0), tb.Logistic(A, y), tb.Box(-80, 80, dim=8))
    result = tb.solve(problem, tol_upper=1e-5, tol_lower=1e-9)
    assert result.success and result.certificate.upper_constant
    assert result.certificate.f_upper - result.certificate.f_lower <= 1e-5
    assert any("probabilities" in note for note in result.notes)


def test_upper_levels_of_the_same_predictions_are_constant_convex_or_not() -> None:
    rng = np.random.default_rng(1)
    A, y = noisy(rng)
    A = np.c_[A, 2 * A[:, 0]]  # so that solutions are many
    attribute = A[:, 1] > 0
    for domain in (tb.Box(-3, 3, dim=9), tb.L1Ball(1.0)):
        result = tb.solve(tb.Problem(tb.SquaredCovariance(A, attribute), tb.Logistic(A, y), domain), tol_upper=1e-9)
        assert result.success and result.method == "exact" and result.certificate.upper_constant
        assert result.certificate.f_lower <= result.f <= result.certificate.f_upper
        assert result.certificate.f_upper - result.certificate.f_lower <= 1e-12
    some = tb.SquaredCovariance(A[:40] @ np.eye(9), attribute[:40])  # rows of the same data
    assert choose_engine(tb.Problem(some, tb.Logistic(A, y), tb.Box(-3, 3, dim=9))).engine is not None
    other = tb.SquaredCovariance(rng.normal(size=(40, 9)), attribute[:40])
    slack = tb.Problem(other, tb.Logistic(A, y), tb.Box(-3, 3, dim=9), slack=1e-3)
    assert choose_engine(slack).why_not == "the upper level is not convex"
    result = tb.solve(slack.with_slack(0))
    assert result.success and not result.certificate.upper_constant and result.certificate.stationarity <= 1e-8


def test_a_rank_that_hangs_on_rounding_is_told() -> None:
    """A product in floating point has the rank of its factors only to rounding."""
    rng = np.random.default_rng(0)
    exact = rng.integers(-3, 4, (60, 4)) @ rng.integers(-2, 3, (4, 9)).astype(float)
    rounded = exact * 0.1 + 0.3 * exact
    y = exact[:, 0] + rng.normal(size=60) > 0
    sure, doubtful = solved(exact, y, 5.0)[-1], solved(rounded, y, 5.0)[-1]
    assert sure.well_posed and sure.width <= 1e-12
    assert not doubtful.well_posed and any("rank" in note for note in doubtful.notes)


@pytest.mark.parametrize("factor", [1e3, 1e5, 1e-4])
def test_columns_of_other_sizes(factor: float) -> None:
    """Ties between columns of sizes far apart, whose multipliers no common threshold tells from rounding."""
    A, y = noisy(np.random.default_rng(2))
    B = np.c_[A, A[:, :2]]
    B[:, [1, 9]] *= factor
    for size in (0.3, 5.0):
        answer = solved(B, y, size)[-1]
        assert answer.well_posed and answer.width <= 1e-10
        assert answer.lower_unique is not None


def test_flat_losses_keep_to_the_face_of_their_slopes() -> None:
    """Huber losses with many tails: without the columns that the slopes fix, other points have the same images."""
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(4)
    A = rng.normal(size=(12, 24))
    b = 4 * rng.normal(size=12)
    for f, of in ((tb.SquaredNorm(dim=24), cp.sum_squares), (tb.Linear(np.ones(24)), lambda x: 2 * cp.sum(x))):
        answers = solve_smooth_chain([tb.Huber(A, b, 0.25), f], tb.Box(-0.2, 0.2, dim=24))
        x = cp.Variable(24)
        loss = cp.sum(cp.huber(A @ x - b, 0.25)) / 2
        box = [cp.abs(x) <= 0.2]
        least = cp.Problem(cp.Minimize(loss), box).solve(solver="CLARABEL")
        assert answers[0].f_lower - 1e-6 <= least <= answers[0].f_upper + 1e-6
        slope = np.clip(A @ answers[0].x - b, -0.25, 0.25)
        grad = A.T @ slope
        face = [x[j] == -0.2 * np.sign(grad[j]) for j in range(24) if abs(grad[j]) > 1e-7]
        sides = [(A @ x - b)[i] * np.sign(slope[i]) >= 0.25 for i in range(12) if abs(slope[i]) > 0.25 - 1e-9]
        kept = [(A @ x)[i] == A[i] @ answers[0].x for i in range(12) if abs(slope[i]) <= 0.25 - 1e-9]
        value = cp.Problem(cp.Minimize(of(x) / 2), [*box, *face, *sides, *kept]).solve(solver="CLARABEL")
        assert answers[-1].width <= 1e-10
        assert answers[-1].f_lower == pytest.approx(value, abs=1e-5)


def test_separable_classes_and_squared_hinges_are_the_hard_margin() -> None:
    """No loss bends at the minimisers: what they share is that margins are kept."""
    cp = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 10))
    y = np.where(A @ rng.normal(size=10) > 0, 1.0, -1.0)
    answers = solve_smooth_chain([tb.SquaredHinge(A, y), tb.SquaredNorm(dim=10)], tb.Box(-20, 20, dim=10))
    x = cp.Variable(10)
    least = cp.Problem(cp.Minimize(cp.sum_squares(x) / 2), [cp.multiply(y, A @ x) >= 1]).solve(solver="CLARABEL")
    assert answers[0].f_upper == 0 and answers[-1].width <= 1e-12 and answers[-1].lower_unique is False
    assert answers[-1].f_lower == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("seed", [5, 9, 13, 88])
def test_squared_hinges_between_rows_keep_away_from_kinks_and_ends(seed: int) -> None:
    """All margins can be kept: the point well inside of that must not be at the rows and bounds that it leads to."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 16)), int(rng.integers(3, 6))
    A, normal = rng.integers(-3, 4, (n, d)).astype(float), rng.integers(-2, 3, d)
    A = A[A @ normal != 0]
    hinge, b = tb.SquaredHinge(A, np.sign(A @ normal)), np.zeros(0)
    lower, upper, rows = np.zeros(d), np.full(d, np.inf), [(np.ones(d), 4.0, 4.0)]
    R = rng.integers(-2, 3, (2, d)).astype(float)
    domain: tb.Domain = tb.Simplex(4.0)
    if seed % 2:
        b, lower, upper = rng.integers(1, 6, 2).astype(float), np.full(d, -4.0), np.full(d, 4.0)
        domain, rows = (
            tb.Polyhedron(A_ub=R, b_ub=b, bounds=(-4, 4)),
            [(a, -np.inf, end) for a, end in zip(R, b, strict=True)],
        )
    answers = solve_smooth_chain([hinge, tb.SquaredNorm(dim=d)], domain)
    assert answers[-1].width <= 1e-13 and answers[-1].well_posed
    parts = [[reference.squared_hinge(A, hinge.y, hinge.weights)], [reference.squares(np.eye(d), np.zeros(d))]]
    values = reference.chain(parts, lower, upper, [answer.x for answer in answers], rows)
    for answer, value in zip(answers, values or (), strict=values is not None):
        assert answer.f_lower <= value <= answer.f_upper


def test_exact_fits_have_no_tails() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 15))
    b = A @ rng.uniform(-0.3, 0.3, 15)
    answers = solve_smooth_chain([tb.Huber(A, b, 0.5), tb.SquaredNorm(dim=15)], tb.Box(-1, 1, dim=15))
    assert answers[0].f_upper <= 1e-30 and answers[-1].width <= 1e-12
    np.testing.assert_allclose(answers[-1].x, np.linalg.pinv(A) @ b, atol=1e-12)


def test_chains_mix_kinds_in_any_order() -> None:
    rng = np.random.default_rng(5)
    A, y = noisy(rng, 40, 6)
    first = tb.Linear([1.0, 1.0, 0, 0, 0, 0])
    levels = [first, tb.LeastSquares(A[:2], y[:2]), tb.Logistic(A[:, [2, 3, 2, 3, 4, 4]], y), tb.SquaredNorm(dim=6)]
    answers = solve_smooth_chain(levels, tb.Polyhedron(A_ub=[[-1.0] * 6], b_ub=[1.0], bounds=(-1, 1)))
    assert all(answer.width <= 1e-9 and answer.well_posed for answer in answers)
    assert answers[0].f_lower == pytest.approx(-2)


# -- slack, norms, balls -----------------------------------------------------------------------------------------------


def test_slack_is_two_sided() -> None:
    A, y = noisy(np.random.default_rng(6))
    problem = tb.Problem(tb.SquaredNorm(dim=8), tb.Logistic(A, y), tb.Box(-5, 5, dim=8), slack=1e-2)
    result = tb.solve(problem, tol_upper=1e-6)
    assert result.success and result.method == "exact"
    assert result.certificate.f_upper - result.certificate.f_lower <= 1e-6
    curve = tb.tradeoff(problem.with_slack(0), slacks=[1e-3, 1e-2])
    assert (curve.f_upper - curve.f_lower <= 1e-6 * (1 + curve.f)).all()
    assert curve.f_lower[-1] <= result.certificate.f_upper and result.certificate.f_lower <= curve.f_upper[-1]


def test_norms_and_balls() -> None:
    A, y = noisy(np.random.default_rng(7))
    for upper, domain in (
        (tb.L1Norm(), tb.Box(-0.2, 0.2, dim=8)),
        (tb.SquaredNorm(dim=8), tb.Product({"a": (tb.L1Ball(0.3), 4), "b": (tb.Box(-1, 1, dim=4), 4)})),
        (tb.SquaredNorm(dim=8), tb.L1Ball(0.5)),
    ):
        result = tb.solve(tb.Problem(upper, tb.Logistic(A, y), domain), tol_upper=1e-7, tol_lower=1e-9)
        assert result.success and result.method == "exact", result
        if upper.dim != 8 or not isinstance(domain, tb.L1Ball):  # that one goes by columns
            assert result.certificate.f_upper - result.certificate.f_lower <= 1e-12


def test_small_multipliers_beside_rows_fix_columns_for_certain() -> None:
    """Spreads of 1e-5 would follow from the gap of the level; by the reach, columns are at their bounds exactly."""
    A, y = breast_cancer()
    result = tb.solve(tb.Problem(tb.L1Norm(), tb.Logistic(A, y), tb.Box(-5, 5, dim=31)), tol_upper=1e-8)
    assert result.success and result.f == pytest.approx(97.8253842475589, rel=1e-13)
    assert result.certificate.f_upper - result.certificate.f_lower <= 1e-9


def test_what_it_refuses() -> None:
    A, y = noisy(np.random.default_rng(8), 10, 3)
    logistic = tb.Logistic(A, y)
    assert smooth_apply([logistic, tb.SquaredNorm(dim=3)], tb.Box(-1, 1, dim=3)) == ""
    assert "polyhedron" in smooth_apply([logistic], tb.L2Ball(1.0))
    assert "not smooth" in smooth_apply([tb.L1Norm(dim=3)], tb.Box(-1, 1, dim=3))


# -- how far -------------------------------------------------------------------------------------------------------


def test_lengths_where_second_derivatives_fall() -> None:
    assert RIGID.length(0.5, 0.25) == 1.0
    steep = Stretch(2.0, np.inf)
    assert steep.length(0.1, 0.0) == pytest.approx(-np.log(0.8) / 2)
    assert steep.length(0.6, 0.0) == np.inf  # gradients rise by no more than 1/2
    r = steep.length(0.1, 0.01)
    assert r * (1 - np.exp(-2 * r)) / 2 == pytest.approx(0.1 * r + 0.01, rel=1e-6)
    assert Stretch(0.0, 0.5).length(0.4, 0.0) == 0.4 and Stretch(0.0, 0.5).length(0.6, 0.0) == np.inf


def test_generous_bounds_leave_the_slope_of_a_loss_where_it_is() -> None:
    """Corrections of slopes are for squares and quadratic forms: the slope of a loss is neither, and must not go."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(60, 3))
    y = np.where(A @ [1.0, 1.0, 0.0] + 2 * rng.normal(size=60) > 0, 1.0, -1.0)
    balance = tb.LeastSquares([[1.0, 2.0, 0.0]], [0.0])  # x1 = -2 x2
    problem = tb.Problem(tb.Logistic(A, y), balance, tb.Box(-1e4, 1e4))
    result = tb.solve(problem)
    alone = tb.solve(tb.Problem(tb.Logistic(A @ [[-2.0, 0], [1, 0], [0, 1]], y), [], tb.Box(-1e4, 1e4)))
    assert result.success and alone.success
    assert result.f == pytest.approx(alone.f, abs=1e-9)
    assert result.certificate.f_lower <= alone.certificate.f_upper
    assert alone.certificate.f_lower <= result.certificate.f_upper


def test_minimisers_that_may_be_anywhere_are_not_called_one() -> None:
    """Along the simplex both Huber losses are lines of opposite slopes from x1 = 1/8 on: a segment of minimisers."""
    lower = tb.Huber([[1.0, -1.0], [-2.0, 0.0]], [2.0, 0.0], 0.25)
    upper = tb.Quadratic([[8.0, -4.0], [-4.0, 2.0]], [-2.0, 1.0], -2.0)
    result = tb.solve(tb.Problem(upper, lower, tb.Simplex(1.0)))
    assert result.certificate.lower_unique is not True and result.certificate.upper_constant is not True


def test_a_loss_that_is_straight_at_the_point_has_a_say() -> None:
    """h(1/2 - t) + h(-3/2 - t), h Huber's with delta 1/2, is 3/4 for -1 <= t <= 0, and more on either side."""
    lower = tb.Logistic(np.array([[0.0, 0.5], [0.0, 0.5]]), np.array([1.0, -1.0]))
    upper = tb.Huber(np.array([[-1.0, 0.0], [-1.0, 0.0]]), np.array([-0.5, 1.5]), 0.5)
    certificate = tb.solve(tb.Problem(upper, lower, tb.Box([-2.0, -2.0], [2.0, 2.0]))).certificate
    assert certificate.upper_constant is not True
    assert certificate.f_lower <= 0.75 <= certificate.f_upper <= 0.75 + 1e-9
