"""What the theorems promise, at every iterate, with g* and f* known independently of the library."""

from __future__ import annotations

from functools import cache
from itertools import islice, pairwise

import numpy as np
import pytest

import tiebreak as tb
from known import classics
from known.soundness import frank_wolfe_gap, sweep
from known.terms import linear
from problems import Instance, instance

ITERATES = 120


@cache
def convex_instances() -> list[Instance]:
    """Twenty bilevel problems (no slack) with a convex upper level, of many kinds."""
    found = (known for *_, known in sweep(60, 5, []))
    return list(islice((k for k in found if k.problem.upper.convex and k.problem.slack == 0), 20))


every = pytest.mark.parametrize("number", range(20))


def curvatures(known: Instance) -> tuple[float, float]:
    """L_f D^2 and L_g D^2."""
    problem = known.problem
    return tuple(part.smoothness * problem.domain.diameter**2 for part in (problem.upper, problem.lower))


def tolerance(known: Instance) -> float:
    """An eps_g that the initial phase reaches soon."""
    return curvatures(known)[1] / 50 + 1e-3


def run(known: Instance, solver: tb.Solver, **tolerances: float) -> list[tb.State]:
    """The iterates after the initial phase, if there is one."""
    states = islice(tb.iterate(known.problem, solver, **tolerances), 20_000)
    return list(islice((state for state in states if state.point is not None), ITERATES))


def values(known: Instance, state: tb.State) -> tuple[float, float]:
    """f - f* and g - g*, less what the references leave open."""
    gap_f, gap_g = known.f.value(state.x) - known.f_star, known.g.value(state.x) - known.g_star
    rounding = 1e-10 * (1 + abs(known.g_star))  # of the points: a linear g leaves no other room
    return gap_f - known.f_tol, gap_g - known.g_tol - rounding


def test_there_are_twenty_problems_of_many_kinds():
    assert len(convex_instances()) == 20
    assert len({known.note.split(",")[0] for known in convex_instances()}) >= 8


@every
@pytest.mark.parametrize("method", [tb.CGBiO, tb.AnytimeCGBiO])
def test_lemma_1(number, method):
    """Every cut keeps all solutions of the lower level: the corners of X_g* in random directions, and x*."""
    known = convex_instances()[number]
    rng = np.random.default_rng(0)
    slopes = rng.normal(size=(3, known.x_star.size))
    corners = [known.solutions.minimise(linear(slope)[0], accuracy=1e-6).x for slope in slopes]
    corners += [known.x_star, known.solutions.centre]
    states = run(known, method(), tol_upper=1e-9, tol_lower=tolerance(known))
    for state, later in pairwise(states):
        g, grad = known.g.value(state.x), known.g.grad(state.x)
        assert later.level >= known.g_star - known.g_tol
        for corner in corners:
            rounding = 1e-12 * (1 + abs(g) + float(np.abs(grad) @ (np.abs(corner) + np.abs(state.x))))
            assert grad @ (corner - state.x) <= later.level - g + rounding


@every
@pytest.mark.parametrize("step", [None, tb.steps.Adaptive()], ids=["harmonic", "adaptive"])
def test_theorem_1(number, step):
    """f(x_K) - f* <= 2 L_f D^2 / (K + 1) and g(x_K) - g* <= 2 L_g D^2 / (K + 1) + eps_g / 2."""
    known = convex_instances()[number]
    upper, lower = curvatures(known)
    eps_g = tolerance(known)
    states = run(known, tb.CGBiO(step=step), tol_upper=1e-9, tol_lower=eps_g)
    for state in states:
        assert state.level - known.g_star <= eps_g / 2 + known.g_tol  # the level is g(x_0)
        K = state.k - state.first
        gap_f, gap_g = values(known, state)
        assert gap_f <= 2 * upper / (K + 1)
        assert gap_g <= 2 * lower / (K + 1) + eps_g / 2


@every
@pytest.mark.parametrize("step", [None, tb.steps.Adaptive()], ids=["harmonic", "adaptive"])
def test_anytime_rates(number, step):
    """f(x_K) - f* <= 2 L_f D^2 / (K + 1) and g(x_K) - g* <= 6 L_g D^2 / (K + 1), from any start."""
    known = convex_instances()[number]
    upper, lower = curvatures(known)
    for state in run(known, tb.AnytimeCGBiO(step=step))[1:]:
        gap_f, gap_g = values(known, state)
        assert gap_f <= 2 * upper / (state.k + 1)
        assert gap_g <= 6 * lower / (state.k + 1)


@pytest.mark.parametrize("seed", range(4))
def test_theorem_2(seed):
    """Nonconvex f, constant step: one of K iterates is stationary over X_g* and lower-level optimal."""
    known = instance(seed, "box", "least-squares-face", "covariance")
    problem, (upper, lower) = known.problem, curvatures(known)
    eps_f, eps_g = upper / 100, lower / 100
    solver = tb.CGBiO(step=tb.steps.theorem_2(problem, eps_f, eps_g), tol_upper=1e-12)
    states = iter(tb.iterate(problem, solver, tol_lower=eps_g))  # a tiny tol_upper: no early stop
    start = next(state for state in states if state.point is not None)
    drop = 1 / 16  # f is the square of a covariance of numbers in [0, 1], so 0 <= f <= 1/16
    K = int(np.ceil(max(2 * upper * drop / eps_f**2, 2 * lower * drop / (eps_f * eps_g))))
    state = start
    for state in islice(states, K):
        assert known.g.value(state.x) - known.g_star <= eps_g + known.g_tol  # holds for all of them
    assert state.best_gap <= eps_f
    assert frank_wolfe_gap(known, state.best_x)[0] <= state.best_gap + 1e-9
    assert known.g.value(state.best_x) - known.g_star <= eps_g + known.g_tol


@pytest.mark.parametrize("r", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_proposition_1(seed, r):
    """f(x) - f* >= -M (r (g(x) - g*) / alpha)^(1/r), and the upper bound on f* that follows holds."""
    known = classics.holder(seed, r)
    problem, bound = known.problem, known.problem.error_bound
    seen = []
    result = tb.solve(
        problem,
        "cg-bio-anytime",
        tol_upper=1e-6,
        tol_lower=1e-6,
        max_iter=200,
        callback=tb.Every(1, lambda event: seen.append((event.f, event.g, event.certificate))),
    )
    for f, g, certificate in seen:
        gap = max(g - known.g_star, 0.0)
        assert f - known.f_star >= -bound.gradient_bound * (r * gap / bound.alpha) ** (1 / r) - 1e-9
        assert certificate.f_lower <= known.f_star + 1e-12
        assert certificate.f_upper >= known.f_star - 1e-12
    assert np.isfinite(result.certificate.f_upper)


@pytest.mark.parametrize(("r", "eps"), [(1, 0.01), (2, 0.3), (3, 0.6), (4, 0.9)])
def test_corollary_1(r, eps):
    """With the error bound given, convergence is two-sided: abs(f(x) - f*) <= eps."""
    for seed in range(3):
        known = classics.holder(seed, r)
        result = tb.solve(known.problem, "cg-bio-anytime", tol_upper=eps, tol_lower=1.0, max_iter=5000)
        assert result.status is tb.Status.CONVERGED
        assert abs(result.f - known.f_star) <= eps
        M, alpha = known.problem.error_bound.gradient_bound, known.problem.error_bound.alpha
        assert result.g - known.g_star <= alpha / r * (eps / M) ** r


@pytest.mark.parametrize("K", [5, 20])
def test_no_false_upper_bound_on_the_hard_pair(K):
    """As long as the two problems look alike, nothing may be claimed for one that is false for the other."""
    runs = []
    for known in classics.hard_pair(K):
        seen = []
        tb.solve(
            known.problem,
            "cg-bio-anytime",
            x0=np.zeros(2 * K),
            tol_upper=1e-12,
            tol_lower=1e-12,
            max_iter=K // 2 - 1,
            callback=tb.Every(1, lambda event, seen=seen: seen.append((event.x, event.certificate))),
        )
        for _, certificate in seen:
            assert certificate.f_upper == np.inf
            assert certificate.f_lower <= known.f_star + 1e-12
        runs.append(seen)
    for (x_long, long), (x_short, short) in zip(*runs, strict=True):
        np.testing.assert_allclose(x_long, x_short, rtol=0, atol=1e-12)
        assert long.f_lower == pytest.approx(short.f_lower, abs=1e-12)
