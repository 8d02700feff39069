"""CG-BiO in chunks: the iterates of ``advance``, wherever the chunks end, with and without numba."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

import tiebreak as tb
from tiebreak.steps import Constant, Harmonic, InverseSqrt

TIGHT = {"tol_upper": 1e-30, "tol_lower": 1e-30}


pytestmark = pytest.mark.usefixtures("either_engine")


def regression(seed: int = 0, d: int = 40, n: int = 25, domain: tb.sets.Domain | None = None, **kwargs) -> tb.Problem:
    rng = np.random.default_rng(seed)
    f = tb.LeastSquares(rng.standard_normal((15, d)), rng.standard_normal(15))
    g = tb.LeastSquares(rng.standard_normal((n, d)), rng.standard_normal(n), scale=1 / n)
    return tb.Problem(f, g, domain or tb.L1Ball(1.0), **kwargs)


def other_quadratics(domain: tb.sets.Domain) -> tb.Problem:
    """A sum, a multiple, a linear term, a quadratic form and sparse data."""
    rng = np.random.default_rng(1)
    B = rng.standard_normal((6, 30))
    upper = 0.1 * tb.SquaredNorm(rng.standard_normal(30)) + tb.Linear(rng.standard_normal(30))
    data = sparse.random_array((20, 30), density=0.3, rng=rng)
    lower = tb.Quadratic(B.T @ B, rng.standard_normal(30)) + 2 * tb.LeastSquares(data, rng.standard_normal(20))
    return tb.Problem(upper, lower, domain)


def duplicated() -> tb.Problem:
    """Every column three times, so that every oracle call is a tie."""
    rng = np.random.default_rng(2)
    A, B = np.repeat(rng.standard_normal((2, 12, 5)), 3, axis=2)
    return tb.Problem(
        tb.LeastSquares(A, rng.standard_normal(12)), tb.LeastSquares(B, rng.standard_normal(12)), tb.L1Ball(1.0)
    )


def fair(n: int = 150, radius: float = 5.0, domain: tb.sets.Domain | None = None) -> tb.Problem:
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.random((n, 9)), np.ones(n)])
    y, v = np.arange(n) % 2, (X[:, 0] + rng.random(n) > 1).astype(float)
    return tb.Problem(tb.SquaredCovariance(X, v), tb.Logistic(X.copy(), y), domain or tb.L1Ball(radius))


WEIGHTED = tb.L1Ball(2.0, np.geomspace(0.1, 10, 40))
CASES = {
    "l1": (regression(), tb.CGBiO(Harmonic(2, 12))),
    "l1, anytime": (regression(), tb.AnytimeCGBiO()),
    "l1, harmonic lower steps": (regression(1), tb.AnytimeCGBiO(lower_steps="harmonic")),
    "weighted l1": (regression(2, domain=WEIGHTED), tb.CGBiO()),
    "weighted l1, anytime": (regression(2, domain=WEIGHTED), tb.AnytimeCGBiO(step=InverseSqrt(0.5))),
    "simplex": (regression(3, domain=tb.Simplex(3.0)), tb.CGBiO(Constant(0.01))),
    "simplex, anytime": (regression(3, domain=tb.Simplex(3.0)), tb.AnytimeCGBiO()),
    "interpolation": (regression(4, n=5), tb.AnytimeCGBiO()),
    "slack": (regression(5, slack=0.01), tb.AnytimeCGBiO()),
    "others": (other_quadratics(tb.L1Ball(3.0)), tb.AnytimeCGBiO()),
    "others, simplex": (other_quadratics(tb.Simplex(3.0)), tb.CGBiO(InverseSqrt(0.3))),
    "ties": (duplicated(), tb.AnytimeCGBiO()),
    "more rows than the blocks of the oracle": (regression(6, d=1500, n=30), tb.CGBiO()),
    "fair": (fair(), tb.CGBiO(InverseSqrt(0.05))),
    "fair, simplex": (fair(domain=tb.Simplex(5.0)), tb.CGBiO(Harmonic(2, 12))),
    "fair, weighted": (fair(domain=tb.L1Ball(5.0, np.geomspace(0.5, 2, 10))), tb.CGBiO(Constant(0.01))),
}


def begin(problem: tb.Problem, solver: tb.CGBiO):
    solver = replace(solver, **TIGHT)
    return solver, solver.start(problem, problem.domain.lmo(-np.ones(problem.dim)))


UNSTABLE = {"l1, anytime", "l1, harmonic lower steps", "slack", "others", "ties"}
"""Where the method itself magnifies a last bit: single updates from x (1 + 1e-15) end 1e-11 to 1e-5 apart as well."""


@pytest.mark.parametrize("name", CASES)
def test_every_update_is_a_single_update(name: str) -> None:
    problem, solver = CASES[name]
    solver, state = begin(problem, solver)
    size = float(np.max(problem.domain.diameter))
    for _ in range(520 if name in ("l1, anytime", "fair") else 150):  # beyond 512, where everything is refreshed
        plain, state = solver.advance(problem, state), solver.advance_many(problem, state, 1)
        np.testing.assert_allclose(state.x, plain.x, rtol=0, atol=1e-12 * size)
        assert state.k == plain.k and state.memory and not plain.memory
        assert state.level == pytest.approx(plain.level, rel=1e-11, abs=1e-14)
        assert state.f_lower == pytest.approx(plain.f_lower, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in CASES if name not in UNSTABLE])
def test_a_thousand_updates_are_a_thousand_single_updates(name: str) -> None:
    problem, solver = CASES[name]
    solver, start = begin(problem, solver)
    single = start
    for _ in range(1000):
        single = solver.advance(problem, single)
    many = solver.advance_many(problem, start, 1000)
    assert many.k == single.k == 1000 and many.memory
    atol = 1e-10 * max(1.0, float(np.abs(single.x).max()))
    np.testing.assert_allclose(many.x, single.x, rtol=0, atol=atol)
    assert many.level == pytest.approx(single.level, rel=1e-9, abs=1e-14)
    assert many.f_lower == pytest.approx(single.f_lower, rel=1e-8, abs=1e-12)
    assert many.multiplier == pytest.approx(single.multiplier, rel=1e-6, abs=1e-8)
    assert many.best_gap == pytest.approx(single.best_gap, rel=1e-6, abs=1e-12)
    np.testing.assert_allclose(many.anchor, single.anchor, atol=1e-8)
    np.testing.assert_allclose(solver.solution(many), solver.solution(single), atol=1e-8)
    np.testing.assert_array_equal(many.x, many.point.x)
    np.testing.assert_allclose(problem.lower.value(many.x), problem.lower.value_at(many.x, many.point.images[1]))
    if many.run is not None:
        assert many.run.j == single.run.j
        assert many.run.value == pytest.approx(single.run.value, rel=1e-9, abs=1e-13)
        assert many.run.value == pytest.approx(problem.lower.value(many.run.x), rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("name", ["l1, anytime", "weighted l1", "fair", "ties"])
def test_it_does_not_matter_where_chunks_end(name: str) -> None:
    problem, solver = CASES[name]
    solver, start = begin(problem, solver)
    whole = solver.advance_many(problem, start, 1100)
    pieces = start
    for count in (1, 2, 3, 50, 400, 1, 200, 443):
        before = pieces
        pieces = solver.advance_many(problem, pieces, count)
        again = solver.advance_many(problem, before, count)  # and a state is not changed by going on from it
        np.testing.assert_array_equal(again.x, pieces.x)
    assert whole.k == pieces.k == 1100
    np.testing.assert_array_equal(whole.x, pieces.x)
    assert whole.level == pieces.level


def test_a_state_can_go_on_over_another_ball() -> None:
    problem = regression()
    state = tb.solve(problem, "cg-bio-anytime", max_iter=100, **TIGHT).state
    larger = tb.Problem(problem.upper, problem.lower, tb.L1Ball(2.0))
    solver = tb.AnytimeCGBiO(**TIGHT)
    single = state
    for _ in range(50):
        single = solver.advance(larger, single)
    many = solver.advance_many(larger, state, 50)
    np.testing.assert_allclose(many.x, single.x, atol=1e-10)


def test_chunks_against_a_linear_programme_for_every_update() -> None:
    problem = regression(7)
    f, g, step = problem.upper, problem.lower, Harmonic(2, 12)
    solver, start = begin(problem, tb.CGBiO(step))
    x, level, ones = start.x, g.value(start.x), np.ones(2 * problem.dim)
    for k in range(60):
        a, (value, c) = f.grad(x), g.value_and_grad(x)
        rows = np.vstack([ones, np.concatenate([c, -c])])
        answer = linprog(np.concatenate([a, -a]), A_ub=rows, b_ub=[1.0, c @ x + level - value], bounds=(0, None))
        s = answer.x[: problem.dim] - answer.x[problem.dim :]
        x = (1 - step(k)) * x + step(k) * s
    np.testing.assert_allclose(solver.advance_many(problem, start, 60).x, x, atol=1e-9)


def test_the_stopping_test_holds_at_the_same_update() -> None:
    problem = regression(8, n=60)
    solver = tb.CGBiO(tol_upper=3e-2, tol_lower=1e-1)
    for s in tb.iterate(problem, tb.CGBiO(), tol_lower=1e-2):
        if s.point is not None:
            start = solver.start(problem, s.x)
            break
    single = start
    while not single.finished:
        single = solver.advance(problem, single)
    many = solver.advance_many(problem, start, 100_000)
    assert many.finished and many.k == single.k > 10
    np.testing.assert_allclose(many.x, single.x, atol=1e-10)


def test_cuts_at_the_edge_of_feasibility_are_left_to_single_updates() -> None:
    """From a minimiser of g the first cut only touches Z."""
    d = 6
    g = tb.LeastSquares(np.eye(d), np.arange(1.0, d + 1))
    problem = tb.Problem(tb.SquaredNorm(np.full(d, -1.0)), g, tb.L1Ball(1.0))
    x0 = np.zeros(d)
    x0[-1] = 1.0
    solver = tb.CGBiO(Harmonic(2, 12), **TIGHT)
    single = many = solver.start(problem, x0)
    for _ in range(300):
        single = solver.advance(problem, single)
    many = solver.advance_many(problem, many, 300)
    assert many.k == 300
    np.testing.assert_allclose(many.x, single.x, atol=1e-10)


class Mine(tb.LeastSquares):
    """A user's class, of which nothing is known."""


@pytest.mark.parametrize(
    "problem, solver",
    [
        (regression(domain=tb.Box(-np.ones(40), np.ones(40))), tb.AnytimeCGBiO()),
        (regression(), tb.AnytimeCGBiO(step=tb.steps.Adaptive())),
        (regression(), tb.AnytimeCGBiO(lower_steps="backtracking")),
        (fair(), tb.AnytimeCGBiO()),
        (tb.Problem(Mine(np.eye(3), np.ones(3)), tb.SquaredNorm(), tb.L1Ball(1.0)), tb.AnytimeCGBiO()),
        (tb.Problem(tb.SquaredCovariance(np.eye(3), [0, 1, 1]), tb.Logistic(2 * np.eye(3), [0, 1, 1]), tb.L1Ball(1.0)),
         tb.CGBiO()),
    ],
)  # fmt: skip
def test_everything_else_goes_one_by_one(problem: tb.Problem, solver: tb.CGBiO) -> None:
    solver, start = begin(problem, solver)
    once, many = solver.advance(problem, start), solver.advance_many(problem, start, 100)
    assert many.k == 1 and not many.memory
    np.testing.assert_array_equal(once.x, many.x)


def test_data_near_overflow_end_as_with_single_updates() -> None:
    g = tb.LeastSquares([[1e160, 1.0], [1.0, 2.0]], [1.0, 1e160])
    problem = tb.Problem(tb.SquaredNorm(), g, tb.L1Ball(1.0))
    with np.errstate(all="ignore"):
        plain = tb.solve(problem, "cg-bio-anytime", callback=tb.Every(1, lambda event: None), max_iter=50)
        fast = tb.solve(problem, "cg-bio-anytime", max_iter=50)
    assert fast.status is plain.status


def test_the_loop_shows_the_same_with_and_without_chunks() -> None:
    problem = regression(9)
    plain = tb.solve(problem, "cg-bio-anytime", max_iter=700, callback=tb.Every(1, lambda event: None), **TIGHT)
    fast = tb.solve(problem, "cg-bio-anytime", max_iter=700, **TIGHT)
    np.testing.assert_allclose(fast.x, plain.x, atol=1e-10)
    assert (fast.nit, fast.status) == (plain.nit, plain.status) == (700, tb.Status.MAX_ITER)
    assert fast.trace.to_dict()["k"] == plain.trace.to_dict()["k"]
    calls = {name: count for name, count in plain.calls.items() if name != "lower.value"}
    assert calls == {name: fast.calls[name] for name in calls}


def test_time_limit_holds() -> None:
    problem = regression(10, d=300, n=200)
    tb.solve(problem, "cg-bio-anytime", max_iter=100, **TIGHT)  # whatever has to be compiled or loaded
    start = time.perf_counter()
    result = tb.solve(problem, "cg-bio-anytime", max_iter=10**9, max_time=0.5, **TIGHT)
    assert result.status is tb.Status.MAX_TIME
    assert time.perf_counter() - start < 0.75


class Interrupted(tb.AnytimeCGBiO):
    def advance_many(self, problem, state, updates):
        if state.k >= 50:
            raise KeyboardInterrupt
        return super().advance_many(problem, state, updates)


def test_an_interrupt_returns_the_last_complete_state() -> None:
    result = tb.solve(regression(), Interrupted(), on_interrupt="return", **TIGHT)
    assert result.status is tb.Status.INTERRUPTED and result.nit >= 50
    whole = tb.solve(regression(), "cg-bio-anytime", max_iter=result.nit, **TIGHT)
    np.testing.assert_allclose(result.x, whole.x, atol=1e-12)
