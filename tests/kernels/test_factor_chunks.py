"""CG-BiO in chunks on dictionary learning: the iterates of ``advance``, with and without numba."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.methods.shared.fast_cut import chunk
from tiebreak.steps import Constant, Harmonic, InverseSqrt

NEVER = {"tol_upper": 1e-300, "tol_lower": 1e-300}


pytestmark = pytest.mark.usefixtures("either_engine")


def dictionary(
    points: int = 12, known: int = 4, slack: float = 0.0, **sets: tb.Domain
) -> tuple[tb.Problem, np.ndarray]:
    """Six atoms in five dimensions; D starts at a near solution of the lower level."""
    rng = np.random.default_rng(0)
    old, new, codes = (rng.standard_normal(shape) for shape in ((5, points), (5, 9), (known, points)))
    domain = {"D": tb.Columns(tb.L2Ball(1.0), (5, 6)), "X": tb.Columns(tb.L1Ball(1.5), (6, 9)), **sets}
    lower = tb.Reconstruction(old, 6, codes, rest=54)
    problem = tb.Problem(tb.Reconstruction(new, 6), lower, tb.Product(domain), slack=slack)
    x = problem.domain.lmo(rng.standard_normal(84))
    for k in range(200):
        x = x + 2 / (k + 2) * (problem.domain.lmo(lower.grad(x)) - x)
    return problem, x


CASES = {
    "square root": (dictionary(), InverseSqrt(0.3)),
    "harmonic": (dictionary(), Harmonic(2, 12)),
    "fewer points than atoms": (dictionary(points=3), Constant(0.02)),
    "all atoms known": (dictionary(known=6), InverseSqrt(0.3)),
    "slack": (dictionary(slack=0.1), InverseSqrt(0.3)),
}


@pytest.mark.parametrize("name", CASES)
def test_chunks_are_single_updates(name: str) -> None:
    (problem, x0), step = CASES[name]
    solver = tb.CGBiO(step, **NEVER)
    single = start = solver.start(problem, x0)
    for _ in range(300):
        single = solver.advance(problem, single)
    many = solver.advance_many(problem, start, 300)
    assert many.k == single.k == 300
    np.testing.assert_allclose(many.x, single.x, rtol=0, atol=1e-9)
    assert many.level == single.level
    assert many.multiplier == pytest.approx(single.multiplier, rel=1e-5, abs=1e-9)
    assert many.best_gap == pytest.approx(single.best_gap, rel=1e-6, abs=1e-9)
    np.testing.assert_allclose(solver.solution(many), solver.solution(single), atol=1e-7)
    pieces = start
    for count in (1, 2, 40, 257):
        before = pieces.x.copy()
        ahead = solver.advance_many(problem, pieces, count)
        np.testing.assert_array_equal(pieces.x, before)
        pieces = ahead
    np.testing.assert_array_equal(pieces.x, many.x)


def test_the_stopping_test_holds_at_the_same_update() -> None:
    problem, x0 = dictionary()
    solver = tb.CGBiO(InverseSqrt(0.3), tol_upper=0.5, tol_lower=1.0)
    state = solver.start(problem, x0)
    while not state.finished:
        state = solver.advance(problem, state)
    many = solver.advance_many(problem, solver.start(problem, x0), 10_000)
    assert 1 < many.k == state.k
    assert many.finished
    np.testing.assert_allclose(many.x, state.x, atol=1e-10)


def test_a_cut_at_the_edge_is_left_to_single_updates() -> None:
    """A level below the minimum of g: the loop must return, and ``advance`` say what is wrong."""
    problem, x0 = dictionary()
    solver = tb.CGBiO(InverseSqrt(0.3), **NEVER)
    start = replace(solver.start(problem, x0), level=-10.0)
    assert chunk(problem, start, InverseSqrt(0.3), "exact", (1e-300, 1e-300), 5).k == 0
    with pytest.raises(ValueError, match="leaves nothing of the domain"):
        solver.advance_many(problem, start, 5)


OTHERS = {
    "other balls": dictionary(D=tb.Columns(tb.L2Ball(2.0), (5, 6))),
    "a center": dictionary(D=tb.Columns(tb.L2Ball(1.0, 0.1 * np.ones(5)), (5, 6))),
    "weights": dictionary(X=tb.Columns(tb.L1Ball(1.5, np.arange(1.0, 7.0)), (6, 9))),
    "one ball": dictionary(D=(tb.L2Ball(2.0), (5, 6))),
    "simplices": dictionary(X=tb.Columns(tb.Simplex(), (6, 9))),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_sets_go_one_by_one(name: str) -> None:
    problem, x0 = OTHERS[name]
    state = tb.CGBiO(**NEVER).start(problem, problem.domain.project(x0))
    assert chunk(problem, state, InverseSqrt(0.3), "exact", (1e-300, 1e-300), 5) is None


def test_solve_counts_the_same_calls() -> None:
    problem, x0 = dictionary()
    solver = tb.CGBiO(InverseSqrt(0.3), **NEVER)
    single = tb.Every(1, lambda event: None)
    results = [tb.solve(problem, solver, x0=x0, max_iter=60, callback=look) for look in (None, single)]
    assert results[0].calls["upper.grad"] == results[1].calls["upper.grad"] == 60
    assert results[0].calls["domain.lmo_cut"] == 60
    np.testing.assert_allclose(results[0].x, results[1].x, atol=1e-9)
