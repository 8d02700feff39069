"""CG-BiO against twins written from the paper, and its anytime variant, step rules and initial phase."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest
from scipy.optimize import linprog

import tiebreak as tb
from tiebreak.methods.shared.lower_level import begin, lower_step


def lp_over_l1_ball_and_cut(a: np.ndarray, c: np.ndarray, b: float, radius: float) -> np.ndarray:
    """The subproblem (LP) of the paper's appendix, in split variables."""
    rows = np.vstack([np.ones(2 * a.size), np.concatenate([c, -c])])
    answer = linprog(np.concatenate([a, -a]), A_ub=rows, b_ub=[radius, b], bounds=(0, None), method="highs")
    assert answer.status == 0
    return answer.x[: a.size] - answer.x[a.size :]


def algorithm_1(f, g, radius: float, x0: np.ndarray, step) -> Iterator[np.ndarray]:
    """Algorithm 1 of the paper, written down naively."""
    x, level, k = x0, g.value(x0), 0
    while True:
        yield x
        a, c = f.grad(x), g.grad(x)
        s = lp_over_l1_ball_and_cut(a, c, c @ x + level - g.value(x), radius)
        x = (1 - step(k)) * x + step(k) * s
        k += 1


def anytime(f, g, radius: float, x0: np.ndarray) -> Iterator[np.ndarray]:
    """The anytime variant, naively: exact line search on g beside steps 2/(k+2)."""
    x, z, k, level = x0, x0, 0, g.value(x0)
    while True:
        yield x
        c = g.grad(z)
        i = int(np.argmax(np.abs(c)))
        s = np.zeros_like(z)
        s[i] = -radius * np.sign(c[i])
        d = s - z
        curvature = (g.grad(z + d) - c) @ d
        z = z + np.clip(-(c @ d) / curvature, 0, 1) * d
        level = min(level, g.value(x), g.value(z))
        a, c = f.grad(x), g.grad(x)
        s = lp_over_l1_ball_and_cut(a, c, c @ x + level - g.value(x), radius)
        x = (1 - 2 / (k + 2)) * x + 2 / (k + 2) * s
        k += 1


def regression(seed: int) -> tuple[tb.LeastSquares, tb.LeastSquares]:
    rng = np.random.default_rng(seed)
    return (
        tb.LeastSquares(rng.standard_normal((12, 9)), rng.standard_normal(12)),
        tb.LeastSquares(rng.standard_normal((5, 9)), rng.standard_normal(5)),
    )


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("step", [tb.steps.Harmonic(2, 2), tb.steps.Harmonic(2, 12), tb.steps.InverseSqrt(0.3)])
def test_cg_bio_equals_algorithm_1_iterate_by_iterate(seed: int, step) -> None:
    f, g = regression(seed)
    x0 = np.zeros(9)
    x0[seed] = 0.4
    states = tb.iterate(tb.Problem(f, g, tb.L1Ball(1.0)), tb.CGBiO(step), x0=x0, tol_upper=1e-15)
    for state, x in islice(zip(states, algorithm_1(f, g, 1.0, x0, step), strict=False), 40):
        np.testing.assert_allclose(state.x, x, atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_anytime_variant_equals_its_twin(seed: int) -> None:
    f, g = regression(seed)
    x0 = np.zeros(9)
    x0[0] = 1.0
    states = tb.iterate(tb.Problem(f, g, tb.L1Ball(1.0)), "cg-bio-anytime", x0=x0)
    for state, x in islice(zip(states, anytime(f, g, 1.0, x0), strict=False), 40):
        np.testing.assert_allclose(state.x, x, atol=1e-7)


def test_cg_equals_conditional_gradient_on_f() -> None:
    f, g = regression(0)
    x = np.zeros(9)
    x[0] = 1.0
    for k, state in enumerate(islice(tb.iterate(tb.Problem(f, g, tb.L1Ball(1.0)), "cg", x0=x.copy()), 60)):
        np.testing.assert_allclose(state.x, x, atol=1e-12)
        a = f.grad(x)
        i = int(np.argmax(np.abs(a)))
        s = np.zeros(9)
        s[i] = -np.sign(a[i])
        x = (1 - 2 / (k + 2)) * x + 2 / (k + 2) * s


@pytest.mark.parametrize("rule", ["harmonic", "exact", "backtracking"])
@pytest.mark.parametrize("kind", ["quadratic", "logistic"])
def test_initial_phase_ends_at_the_gap_it_promises(rule: str, kind: str) -> None:
    f, g = regression(1)
    if kind == "logistic":
        rng = np.random.default_rng(0)
        g = tb.Logistic(rng.standard_normal((30, 9)), rng.integers(0, 2, 30))
        if rule == "exact":
            with pytest.raises(ValueError, match="quadratic"):
                tb.solve(tb.Problem(f, g, tb.L1Ball(1.0)), tb.CGBiO(initial="exact"))
            return
    problem = tb.Problem(f, g, tb.L1Ball(1.0))
    solver = tb.CGBiO(initial=rule)
    state = next(s for s in tb.iterate(problem, solver, tol_lower=1e-3) if s.point is not None)
    c = g.grad(state.anchor)
    gap = c @ (state.anchor - problem.domain.lmo(c))
    assert gap <= 0.5e-3
    assert state.level == pytest.approx(g.value(state.anchor), abs=1e-12)
    assert solver.start(problem, None).point is None
    assert tb.solve(problem, solver, tol_upper=0.1, tol_lower=1e-2).success


@pytest.mark.parametrize("given", [False, True])
def test_asked_for_more_it_is_algorithm_1_again(given: bool) -> None:
    """A tenth of eps_g, a start from the best point of g that is near enough, and from there the paper's iterates."""
    f, g = regression(1)
    problem = tb.Problem(f, g, tb.L1Ball(1.0))
    solver = tb.CGBiO(tol_upper=1e-1, tol_lower=1e-1)
    state = solver.start(problem, np.eye(9)[2] if given else None)
    while not state.finished:
        assert solver.tightened(problem, state) is None
        state = solver.advance(problem, state)
    again = solver.tightened(problem, state)
    assert again is not None and again.shrink == pytest.approx(0.1) and not again.finished and again.k == state.k
    assert g.value(again.x) == pytest.approx(min(g.value(state.x), g.value(state.anchor)), abs=1e-14)
    while again.point is None:
        again = solver.advance(problem, again)
    c = g.grad(again.x)
    assert c @ (again.x - problem.domain.lmo(c)) <= 0.5e-2 and again.level == pytest.approx(g.value(again.x))
    for x in islice(algorithm_1(f, g, 1.0, again.x, tb.steps.Harmonic(2, 2)), 30):
        np.testing.assert_allclose(again.x, x, atol=1e-8)
        again = solver.advance(problem, again)
        if again.finished:
            break


def test_backtracking_survives_the_rounding_of_g() -> None:
    """At the optimum the decrease is below the rounding of g; the Lipschitz estimate must not run away."""
    problem = tb.Problem(tb.SquaredNorm(), tb.Logistic([[1.0, 2.0], [0.5, -1.0]], [1, -1]), tb.L2Ball(1.0))
    run = begin(problem, np.array([1.0, 0.0]))
    for _ in range(3000):
        run = lower_step(problem, run, "backtracking")
    assert run.gap < 1e-3 and run.lipschitz is not None and run.lipschitz < 1e6


def test_nonconvex_upper_returns_the_iterate_with_the_best_gap() -> None:
    """Theorem 2: with its constant step all iterates are lower-level optimal, and the smallest gap wins."""
    rng = np.random.default_rng(0)
    A, v = rng.standard_normal((20, 6)), rng.integers(0, 2, 20)
    g = tb.LeastSquares(rng.standard_normal((3, 6)), rng.standard_normal(3))
    problem = tb.Problem(tb.SquaredCovariance(A, v), g, tb.L1Ball(2.0))
    x0 = np.linalg.pinv(g.A) @ g.b
    step = tb.steps.theorem_2(problem, tol_upper=0.5, tol_lower=0.5)
    solver = tb.CGBiO(step, tol_upper=1e-9, tol_lower=0.5)
    gaps, points = [], []
    for state in islice(tb.iterate(problem, solver, x0=x0), 200):
        if points:  # the state knows the gaps of the points before it
            best = int(np.argmin(gaps))
            assert state.best_gap == pytest.approx(gaps[best], rel=1e-6, abs=1e-12)
            np.testing.assert_array_equal(solver.solution(state), points[best])
        a, c = problem.upper.grad(state.x), g.grad(state.x)
        s = lp_over_l1_ball_and_cut(a, c, c @ state.x + g.value(x0) - g.value(state.x), 2.0)
        gaps.append(float(a @ (state.x - s)))
        points.append(state.x)
    result = tb.solve(problem, solver, x0=x0, max_iter=200, tol_upper=1e-9)
    c = result.certificate
    assert c.stationarity is not None and c.stationarity <= min(gaps) + 1e-9
    assert c.f_lower == 0.0 and c.f_upper == np.inf  # f >= 0 is known, nothing else about f*
    assert "not convex" in result.message


def test_adaptive_steps_never_do_worse_than_the_reference_on_both_levels() -> None:
    f, g = regression(2)
    problem = tb.Problem(f, g, tb.L1Ball(1.0))
    plain = tb.solve(problem, "cg-bio-anytime", max_iter=300, tol_upper=1e-9)
    adaptive = tb.solve(problem, tb.AnytimeCGBiO(step=tb.steps.Adaptive()), max_iter=300, tol_upper=1e-9)
    assert adaptive.certificate.lower_gap <= plain.certificate.lower_gap * 1.5
    assert abs(adaptive.certificate.upper_gap) <= abs(plain.certificate.upper_gap) * 1.5


def test_error_bound_makes_the_bracket_two_sided() -> None:
    """g = 1/2 ||x||^2 over a box grows quadratically with alpha = 1 around its only minimiser 0; f* = f(0) = 1/2."""
    g = tb.SquaredNorm(dim=2)
    bound = tb.ErrorBound(alpha=1.0, r=2.0, gradient_bound=1.0)
    problem = tb.Problem(tb.SquaredNorm([1.0, 0.0]), g, tb.Box(-np.ones(2), np.ones(2)), error_bound=bound)
    result = tb.solve(problem, "cg-bio-anytime", tol_upper=1e-1, tol_lower=1.0, x0=[1.0, 1.0])
    c = result.certificate
    assert result.success and c.lower_gap <= bound.lower_tolerance(1e-1, problem.upper)
    assert c.f_lower <= 0.5 <= c.f_upper and c.f_upper - c.f_lower <= 0.3
    assert abs(result.f - 0.5) <= 1e-1
    assert any("error bound" in text for text in c.assumes)


def test_slack_makes_the_bracket_two_sided() -> None:
    """Least norm with |x1 + x2 - 1| <= delta, i.e. g <= delta^2 / 2: f* = (1 - delta)^2 / 4."""
    delta = 0.1
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0), slack=delta**2 / 2)
    f_star = (1 - delta) ** 2 / 4
    result = tb.solve(problem, tol_upper=1e-3, tol_lower=1e-4)
    c = result.certificate
    assert result.success
    assert c.f_lower <= f_star <= c.f_upper
    assert c.f_upper - c.f_lower <= 2e-3
    assert result.f == pytest.approx(f_star, abs=1e-3)


def test_constructor_errors() -> None:
    for method in (tb.CGBiO, tb.AnytimeCGBiO):
        with pytest.raises(TypeError, match="step"):
            method(step=0.1)
        with pytest.raises(ValueError, match="tol_lower"):
            method(tol_lower=[1.0])
    with pytest.raises(ValueError, match="initial"):
        tb.CGBiO(initial="fast")
    with pytest.raises(ValueError, match="lower_steps"):
        tb.AnytimeCGBiO(lower_steps="fast")


def test_a_wrong_gradient_of_a_users_class_is_found_before_the_run() -> None:
    class Wrong(tb.LeastSquares):
        def value_and_grad_at(self, x, image):
            value, grad = super().value_and_grad_at(x, image)
            return value, -grad

    problem = tb.Problem(tb.SquaredNorm(), Wrong([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    with pytest.raises(tb.GradientError, match="lower"):
        tb.solve(problem, "cg-bio-anytime")


def test_values_that_contradict_convexity_end_in_an_error_not_in_an_answer() -> None:
    """A dip so narrow that the check before the run does not see it; the run starts inside."""

    def dip(x: np.ndarray) -> float:
        return float(np.exp(-1e4 * (x[0] - 0.5) ** 2))

    g = tb.Function(
        lambda x: x[0] ** 2 - dip(x),
        lambda x: 2 * x + 2e4 * (x - 0.5) * dip(x),
        dim=1,
        convex=True,
    )
    problem = tb.Problem(tb.SquaredNorm(dim=1), g, tb.Box([-1.0], [1.0]))
    with pytest.raises(tb.ConvexityError, match="cannot be convex"):
        tb.solve(problem, "cg-bio-anytime", x0=[0.5])
