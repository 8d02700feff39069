"""IR-SCG, IR-FSCG, Bi-CS, FC-BiO with kinks: naive twins, the bounds proved in their files, and what they refuse."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.methods.bi_cs import BiCS
from tiebreak.methods.fc_bio import FCBiO
from tiebreak.methods.ir_cg import IRCG
from tiebreak.methods.ir_fscg import IRFSCG
from tiebreak.methods.ir_scg import IRSCG

SAMPLED = pytest.mark.parametrize("method", [IRSCG, IRFSCG])


def sums(n: int = 200, d: int = 6, seed: int = 3) -> tuple[tb.Problem, float, float]:
    """A least-squares upper level over the solutions of two equations, both sums of many rows; f* and g*."""
    rng = np.random.default_rng(seed)
    B = np.repeat(rng.standard_normal((2, d)), n // 2, axis=0) * rng.uniform(0.5, 1.5, (n, 1))
    t = B @ rng.uniform(-0.2, 0.2, d)
    A, b = rng.standard_normal((n, d)), rng.standard_normal(n)
    problem = tb.Problem(tb.LeastSquares(A, b, 1 / n), tb.LeastSquares(B, t, 1 / n), tb.Box(-1.0, 1.0))
    found = tb.solve(problem, "exact", tol_upper=1e-9, tol_lower=1e-9)
    assert found.success
    return problem, found.f, 0.0


def sampled_twin(problem: tb.Problem, x: np.ndarray, spider: bool) -> Iterator[np.ndarray]:
    """The average of all iterates, written down with all of them, for the box [-1, 1]^d."""
    n = problem.upper.summands
    size, p, parts = int(np.ceil(np.sqrt(n))), 0.5 if spider else 0.25, (problem.upper, problem.lower)
    sigma_0 = problem.lower.smoothness / problem.upper.smoothness
    xs, sigmas, estimates = [x], [], [None, None]
    while True:
        k = len(sigmas)
        sigmas.append(sigma_0 / (k + 1) ** p)
        for level, part in enumerate(parts):
            rows = np.random.default_rng([0, k, level]).choice(n, size, replace=False)
            at = lambda z, A=part.A[rows], b=part.b[rows]: A.T @ (A @ z - b) / size  # noqa: E731
            if spider:
                new = part.grad(xs[-1]) if k % size == 0 else estimates[level] + at(xs[-1]) - at(xs[-2])
            else:
                new = at(xs[-1]) if k == 0 else at(xs[-1]) + (1 - 2 / (k + 2)) * (estimates[level] - at(xs[-2]))
            estimates[level] = new
        s = -np.sign(sigmas[-1] * estimates[0] + estimates[1])
        xs.append(xs[-1] + 2 / (k + 2) * (s - xs[-1]))
        t = k + 1
        weights = [0.0] + [j * (j + 1) * (sigmas[j - 1] - sigmas[j]) for j in range(1, t)] + [t * (t + 1) * sigmas[-1]]
        yield np.average(xs, axis=0, weights=weights)


@SAMPLED
def test_sampled_methods_equal_their_twin(method) -> None:
    problem, x0 = sums()[0], np.full(6, 0.5)
    states = islice(tb.iterate(problem, method(), x0=x0), 1, 60)
    for state, average in zip(states, sampled_twin(problem, x0, method is IRFSCG), strict=False):
        np.testing.assert_allclose(state.average, average, atol=1e-11)


@SAMPLED
@pytest.mark.parametrize("batch", [1, 5, None])
def test_the_bound_of_sampled_steps_with_their_errors(method, batch) -> None:
    """Both sides of the inequality in ``sampled_weight.py`` at each of 250 iterates, errors measured."""
    problem, f_star, g_star = sums(seed=4)
    f, g, D = problem.upper, problem.lower, problem.domain.diameter
    C_f, C_g = f.smoothness * D**2, g.smoothness * D**2
    solver = method(batch=batch, seed=1)
    states = list(islice(tb.iterate(problem, solver, x0=np.full(6, 0.9)), 250))
    sigma = states[0].sigma_0 * np.arange(1, 251) ** -solver.p
    right = closest = 0.0
    before = 0.0
    for t, (old, new) in enumerate(pairwise(states), 1):
        estimate = sigma[t - 1] * new.upper.grad + new.lower.grad
        error = np.linalg.norm(estimate - sigma[t - 1] * f.grad(old.x) - g.grad(old.x))
        right += 2 * C_g + 2 * C_f * sigma[t - 1] + 2 * D * t * error
        if t > 1:
            before += t * (t - 1) * (sigma[t - 2] - sigma[t - 1]) * (f.value(old.x) - f_star)
        left = t * (t + 1) * (sigma[t - 1] * (f.value(new.x) - f_star) + g.value(new.x) - g_star) + before
        assert left <= right * (1 + 1e-9)
        closest = max(closest, left / right)
    assert closest > 1e-3  # the bound is within reach of what happens, so that the test can fail


@SAMPLED
def test_without_sums_they_are_ir_cg(method) -> None:
    problem = tb.Problem(tb.SquaredNorm([0.3, 0.1, -0.2]), tb.Linear([1.0, 0.0, 0.0]), tb.L1Ball(1.0))
    p = method().p
    pairs = zip(tb.iterate(problem, method()), tb.iterate(problem, IRCG(p=p)), strict=False)
    for one, other in islice(pairs, 50):
        np.testing.assert_allclose(one.average, other.average, atol=1e-13)


@SAMPLED
def test_seeds_and_what_an_update_costs(method) -> None:
    problem = sums(2000)[0]
    one, same, other = (tb.solve(problem, method(seed=seed), tol_upper=1e-12, max_iter=100) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.x, same.x)
    assert np.abs(one.x - other.x).max() > 1e-6
    assert 0 < one.calls["upper.grad"] < 0.3 * one.nit  # samples of sqrt(n) rows, not passes
    with pytest.raises(ValueError, match="p must be in"):
        method(p=method.largest_p)


# -- Bi-CS --------------------------------------------------------------------------------------------------------


def kinks(seed: int) -> tuple[tb.Problem, np.ndarray]:
    """Sums of absolute values in both levels: g = |Ax - b|_1 with solutions inside the box, f = |x - p|_1 by hand."""
    rng = np.random.default_rng(seed)
    A, x = rng.standard_normal((2, 4)), rng.uniform(-0.5, 0.5, 4)
    p = rng.uniform(-0.5, 0.5, 4)
    b = A @ x
    f = tb.Function(lambda z: np.abs(z - p).sum(), lambda z: np.sign(z - p), dim=4, convex=True, lipschitz=2.0)
    steep = float(np.abs(A).sum(axis=1) @ np.abs(A).sum(axis=1)) ** 0.5 * 2
    g = tb.Function(
        lambda z: np.abs(A @ z - b).sum(), lambda z: A.T @ np.sign(A @ z - b), dim=4, convex=True, lipschitz=steep
    )
    return tb.Problem(f, g, tb.Box(-1.0, 1.0)), np.concatenate([A.ravel(), b, p])


def solved_as_lp(data: np.ndarray) -> float:
    """f* by a linear programme in z and the parts of z - p."""
    from scipy.optimize import linprog

    A, b, p = data[:8].reshape(2, 4), data[8:10], data[10:]
    rows = np.block([[A, np.zeros((2, 8))], [np.eye(4), -np.eye(4), np.eye(4)]])
    bounds = [(-1, 1)] * 4 + [(0, None)] * 8
    return linprog(np.repeat([0.0, 1.0], [4, 8]), A_eq=rows, b_eq=[*b, *p], bounds=bounds).fun


@pytest.mark.parametrize("seed", range(3))
def test_bi_cs_keeps_its_bounds_at_every_iterate(seed: int) -> None:
    problem, data = kinks(seed)
    f_star, D, method = solved_as_lp(data), problem.domain.diameter, BiCS()
    steps_on_f = 0
    for state in islice(tb.iterate(problem, method), 1, 800):
        t, x = state.k, method.solution(state)
        assert problem.upper.value(x) - f_star <= 3 * D * state.L / np.sqrt(t)
        assert problem.upper.value(x) - f_star <= 1.5 * D * np.sqrt(state.squares) / (t / 2)
        assert problem.lower.value(x) <= 9 * D * state.L / np.sqrt(t)
        assert problem.lower.value(state.anchor) == state.least
        steps_on_f += state.best is not x
    assert problem.lower.value(x) > 0 and steps_on_f > 0


def test_bi_cs_equals_its_twin() -> None:
    """With all points kept: blocks between powers of two, and the best of the last two."""
    problem, _ = kinks(7)
    f, g, D = problem.upper, problem.lower, problem.domain.diameter
    states = tb.iterate(problem, BiCS(), x0=np.full(4, 0.9))
    x = y = next(states).x
    L, least, sum_x, sum_y = max(f.lipschitz, g.lipschitz), g.value(x), 0.0, 0.0
    steps: list[tuple[int, float, np.ndarray]] = []
    for t in range(1, 200):
        sum_y += (v := g.grad(y)) @ v
        y = np.clip(y - D / np.sqrt(sum_y) * v, -1, 1)
        least = min(least, g.value(y))
        on_f = g.value(x) <= least + 3 * L * D / np.sqrt(t)
        if on_f:
            steps.append((t, f.value(x), x))
        v = f.grad(x) if on_f else g.grad(x)
        sum_x += v @ v
        x = np.clip(x - D / np.sqrt(sum_x) * v, -1, 1)
        block = 2 ** int(np.log2(t))
        recent = [step for step in steps if step[0] >= block // 2]
        state = next(states)
        np.testing.assert_allclose(state.x, x, atol=1e-13)
        np.testing.assert_allclose(BiCS().solution(state), min(recent, key=lambda step: step[1])[2], atol=1e-13)


@pytest.mark.parametrize("seed", range(2))
def test_fc_bio_with_kinks_keeps_its_bounds(seed: int) -> None:
    """The bound on psi against its least value on a grid of points and at the answer; what a search has found."""
    problem, data = kinks(seed)
    f_star, f, g, eps = solved_as_lp(data), problem.upper, problem.lower, 0.15
    points = np.random.default_rng(seed).uniform(-1, 1, (400, 4))
    tried, bounds = set(), 0
    for state in islice(tb.iterate(problem, FCBiO(), tol_upper=eps, tol_lower=eps), 20_000):
        if state.shrink < 1:
            break
        if state.inner is None and state.on_lower.count:
            assert state.on_lower.below(problem) <= 1e-9  # g* = 0
            assert state.on_lower.least - state.on_lower.below(problem) <= (
                1.5 * problem.domain.diameter * np.sqrt(state.on_lower.squares) / state.on_lower.count * (1 + 1e-9)
            )
        if state.inner is not None and state.level < 1e-9:
            assert state.low <= f_star + 1e-9
        if state.descent is not None and state.k % 41 == 0:
            psi = [max(f.value(x) - state.middle, g.value(x) - state.level) for x in points]
            assert state.descent.below(problem) <= min(*psi, max(f_star - state.middle, -state.level)) + 1e-9
            tried.add(state.middle)
            bounds += 1
    assert state.shrink < 1 and len(tried) > 1 and bounds > 3
    assert f.value(state.best) <= f_star + eps
    assert 0 < g.value(state.best) <= eps


def test_fc_bio_steps_along_the_larger_part_of_psi() -> None:
    """The first steps of a threshold against the same written down."""
    problem, _ = kinks(5)
    f, g, D = problem.upper, problem.lower, problem.domain.diameter
    states = [s for s in islice(tb.iterate(problem, FCBiO(), tol_upper=0.3, tol_lower=0.6), 20_000) if s.descent]
    first = next(k for k, s in enumerate(states) if s.descent.count == 1)
    (run,) = (s for s in states[first : first + 1])
    x, squares = run.best, 0.0
    for state in states[first : first + 20]:
        if state.descent.count < 2 and state is not run:
            break
        above = 0.5 * (g.value(x) - state.level)
        v = f.grad(x) if f.value(x) - state.middle >= above else 0.5 * g.grad(x)
        squares += v @ v
        x = np.clip(x - D / np.sqrt(squares) * v, -1, 1)
        np.testing.assert_allclose(state.descent.x, x, atol=1e-13)


def test_functions_with_kinks_go_to_methods_with_subgradients() -> None:
    problem, _ = kinks(1)
    assert tb.testing.check_objective(problem.lower) > 40
    for method in ("fbi-pg", "cg-bio", "adabim", "pb-apg"):
        with pytest.raises(ValueError, match="a-irg, fc-bio, bi-cs"):
            tb.solve(problem, method)
    assert tb.solve(problem, "a-irg", max_iter=200).method == "a-irg"  # its default steps need no smoothness
    assert tb.plan(problem).method in ("a-irg", "bi-cs", "fc-bio")
    with pytest.raises(ValueError, match="not both"):
        tb.Function(np.sum, np.ones_like, lipschitz=1.0, smoothness=1.0)
    with pytest.raises(ValueError, match="lipschitz"):
        unknown = tb.Function(np.sum, np.ones_like, dim=4, convex=True)
        tb.solve(tb.Problem(problem.upper, unknown, tb.Box(-1, 1)), "bi-cs")
    with pytest.raises(ValueError, match="bounded"):
        tb.solve(tb.Problem(problem.upper, problem.lower), "bi-cs")


def test_a_false_lipschitz_constant_is_noticed_by_the_check() -> None:
    with pytest.raises(AssertionError, match="lipschitz"):
        tb.testing.check_objective(tb.Function(lambda x: 3 * abs(x[0]), lambda x: 3 * np.sign(x), dim=1, lipschitz=1.0))
