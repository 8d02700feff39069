"""Upper levels that are not convex, over the lower solutions themselves: stationarity against linear programmes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import tiebreak as tb
from tiebreak.engines import choose_engine
from tiebreak.engines.answer import Answer, Elsewhere, Unbounded
from tiebreak.engines.explicit import solve_explicit


def gap_by_highs(f: tb.Objective, x: np.ndarray, rows: np.ndarray, sides: list[tuple[float, float]]) -> float:
    """The largest <grad f(x), x - s> over all s in the bounds with the same images."""
    c = f.grad(x)
    found = linprog(c, A_eq=rows, b_eq=rows @ x, bounds=sides)
    assert found.success
    return float(c @ x - found.fun)


def test_a_concave_function_over_a_segment() -> None:
    """x1 + x2 = 1: from the middle, -(x1 - 0.3)^2 falls towards x1 = 1."""
    f = tb.Quadratic([[-2.0, 0.0], [0.0, 0.0]], [0.6, 0.0], -0.09)
    result = tb.solve(tb.Problem(f, tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.Box(0, 1)))
    assert result.success and result.method == "exact" and result.certificate.upper_constant is None
    np.testing.assert_allclose(result.x, [1.0, 0.0], atol=1e-12)
    assert result.f == pytest.approx(-0.49) and 0 <= result.certificate.stationarity <= 1e-12


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["squares", "logistic", "softmax"])
def test_stationary_over_the_true_lower_solutions(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    n = 6
    A = rng.normal(size=(3, n // 2 if kind == "softmax" else n))
    rows = np.kron(A, [[1.0, -1.0]]) if kind == "softmax" else A
    lower = {
        "squares": lambda: tb.LeastSquares(A, A @ rng.uniform(-0.5, 0.5, n)),
        "logistic": lambda: tb.Logistic(np.vstack([A, A]), [0, 1, 1, 1, 0, 0]),
        "softmax": lambda: tb.Softmax(np.vstack([A, A]), [0, 1, 1, 1, 0, 0]),
    }[kind]()
    Q, B = rng.normal(size=(n, n)), rng.normal(size=(12, n))
    sides = [(-1.0, 1.0)] * n
    for f in (tb.Quadratic(Q + Q.T, rng.normal(size=n)), tb.SquaredCovariance(B, np.arange(12) % 2)):
        problem = tb.Problem(f, lower, tb.Box(-1, 1, dim=n))
        result = tb.solve(problem, tol_upper=1e-6, tol_lower=1e-10)
        claim = result.certificate
        assert result.success and result.method == "exact", result
        assert claim.stationarity is not None and gap_by_highs(f, result.x, rows, sides) <= claim.stationarity + 1e-7
        assert abs(result.f - f.value(result.x)) <= 1e-12 and result.verify(problem).ok
        start = tb.solve(tb.Problem(tb.SquaredNorm(dim=n), lower, tb.Box(-1, 1, dim=n)))
        assert result.f <= f.value(start.x) + 1e-12  # no worse than where it began


def test_a_bound_that_is_not_small_is_not_called_so() -> None:
    """The bound at a point that is not stationary is its true gap."""
    from tiebreak.engines.explicit import _judged

    f, domain = tb.Quadratic(-np.eye(2), np.zeros(2)), tb.Box(0, 1, dim=2)
    lower = tb.LeastSquares([[1.0, 1.0]], [1.0])

    def minimise(objective: tb.Objective):
        return choose_engine(tb.Problem(objective, lower, domain)).solve()

    x = np.array([0.75, 0.25])
    found = _judged(f, domain, x, minimise(tb.SquaredNorm(dim=2)), minimise)
    assert found.stationarity == pytest.approx(0.125) and found.stationarity >= 0.125


def test_one_lower_solution_leaves_no_say() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(12, 4))
    Q = rng.normal(size=(4, 4))
    for domain in (tb.Box(-1, 1, dim=4), tb.Space(4), tb.L1Ball(9.0)):
        result = tb.solve(tb.Problem(tb.Quadratic(Q + Q.T, np.zeros(4)), tb.LeastSquares(A, A[:, 0]), domain))
        assert result.success and result.certificate.upper_constant
        np.testing.assert_allclose(result.x, [1, 0, 0, 0], atol=1e-9)
        if result.certificate.two_sided:
            assert result.certificate.f_lower <= (Q + Q.T)[0, 0] / 2 + 1e-12
            assert (Q + Q.T)[0, 0] / 2 - 1e-12 <= result.certificate.f_upper <= result.certificate.f_lower + 1e-9


def test_functions_that_fall_for_ever_are_not_followed() -> None:
    result = tb.solve(
        tb.Problem(tb.Quadratic(-np.eye(3), np.zeros(3)), tb.LeastSquares([[1.0, 1.0, 1.0]], [1.0])), max_time=5
    )
    assert not result.success and np.abs(result.x).max() <= 1e9


def test_second_derivatives_of_the_covariance() -> None:
    rng = np.random.default_rng(1)
    f = tb.SquaredCovariance(rng.normal(size=(20, 4)), np.arange(20) % 3)
    x, d, step = rng.normal(size=4), rng.normal(size=4), 1e-6
    turn = (f.grad(x + step * d) - f.grad(x - step * d)) / (2 * step)
    np.testing.assert_allclose(f.hessian_times(x, d), turn, atol=1e-9)


def test_chains_of_three_levels() -> None:
    rng = np.random.default_rng(2)
    A, Q = rng.normal(size=(2, 5)), rng.normal(size=(5, 5))
    f, levels = (
        tb.Quadratic(Q + Q.T, rng.normal(size=5)),
        [tb.Linear([1.0, 0, 0, 0, 0]), tb.LeastSquares(A, A @ [-1, 0.1, -0.2, 0.3, 0.2])],
    )
    result = tb.solve(tb.Problem(f, levels, tb.Box(-1, 1, dim=5)), tol_upper=1e-7)
    rows = np.vstack([np.eye(5)[:1], A])
    assert result.success and result.x[0] == -1
    assert gap_by_highs(f, result.x, rows, [(-1.0, 1.0)] * 5) <= result.certificate.stationarity + 1e-7
    without = tb.solve(tb.Problem(tb.Quadratic(-np.eye(5), np.zeros(5)), levels, tb.Space(5)), max_time=5)
    assert not without.success


def test_one_lower_solution_of_a_lasso() -> None:
    rng = np.random.default_rng(3)
    A, Q = rng.normal(size=(12, 4)), rng.normal(size=(4, 4))
    lower = tb.LeastSquares(A, A[:, 0]) + 0.1 * tb.L1Norm()
    result = tb.solve(tb.Problem(tb.Quadratic(Q + Q.T, np.ones(4)), lower, tb.Box(-1, 1, dim=4)), tol_upper=1e-6)
    assert result.success and result.certificate.upper_constant and result.certificate.stationarity <= 1e-6


@pytest.mark.parametrize("refused", [tb.Quadratic, tb.Linear, (tb.Quadratic, tb.Linear)])
def test_models_that_no_engine_takes_end_the_steps(refused) -> None:
    """As those whose numbers are too large for any: what is known so far is the answer."""
    domain, below = tb.Box(-1, 1).with_dim(3), (tb.LeastSquares([[1.0, 1.0, 0.0]], [0.2]),)

    def minimise(objective: tb.Objective) -> Answer:
        if isinstance(objective, refused):
            raise Elsewhere("no numbers")
        return choose_engine(tb.Problem(objective, below, domain)).solve()

    f = tb.SquaredCovariance(np.random.default_rng(0).standard_normal((6, 3)), np.arange(6.0))
    answer = solve_explicit(f, domain, minimise)
    assert domain.contains(answer.x) and below[0].value(answer.x) <= 1e-20


def test_a_saddle_that_falls_for_ever_is_refused_with_its_ray() -> None:
    """x1 x2 over x1 = x2 + 1, then over x1 + x2 + x3 = 1: along the second set it falls, in the orthant it does not."""
    saddle = tb.Quadratic([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]], np.zeros(3))
    apart, total = tb.LeastSquares([[1.0, -1.0, 0.0]], [1.0]), tb.LeastSquares([[1.0, 1.0, 1.0]], [1.0])
    grows = tb.solve(tb.Problem(saddle, [apart, tb.LeastSquares([[0.0, 0.0, 1.0]], [0.0])]))
    assert grows.status != tb.Status.UNBOUNDED and grows.f == pytest.approx(-0.25)
    problem = tb.Problem(saddle, total)
    result = tb.solve(problem)
    assert result.status == tb.Status.UNBOUNDED and "upper level is not bounded below" in result.message
    assert result.verify(problem).ok and result.certificate.g_upper <= 1e-12
    assert tb.solve(tb.Problem(saddle, total, tb.Box(0.0, np.inf))).status != tb.Status.UNBOUNDED


@pytest.mark.parametrize("seed", range(4))
def test_rays_of_saddles_over_polyhedra(seed: int) -> None:
    """The ray leads on in the set, changes no lower value, and is curved downwards."""
    rng = np.random.default_rng(seed)
    A, C = rng.integers(-3, 4, (2, 7)).astype(float), rng.integers(-3, 1, (3, 7)).astype(float)
    Q = rng.normal(size=(7, 7))
    f, domain = tb.Quadratic(Q + Q.T, rng.normal(size=7)), tb.Polyhedron(C, np.ones(3), bounds=(0, None))
    found: list[Unbounded] = []
    try:
        choose_engine(tb.Problem(f, tb.LeastSquares(A, A @ np.ones(7)), domain)).solve()
    except Unbounded as stop:
        found.append(stop)
    for stop in found:
        size = np.abs(stop.ray).max()
        assert (stop.ray >= -1e-12 * size).all() and (C @ stop.ray <= 1e-12 * size).all()
        assert np.abs(A @ stop.ray).max() <= 1e-12 * size and stop.ray @ (Q + Q.T) @ stop.ray < -1e-6 * size**2
    assert found
