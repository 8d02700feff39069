"""Batches of the rows of finite sums, and the methods that sample them: twins, seeds, and what an update costs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

import tiebreak as tb
from tiebreak.methods.sbcgf import SBCGF
from tiebreak.methods.sbcgi import SBCGI


def sums(n: int = 300, d: int = 6) -> tb.Problem:
    """A least-squares upper level over the solutions of an underdetermined lower one, both with many rows."""
    rng = np.random.default_rng(3)
    B = np.repeat(rng.standard_normal((2, d)), n // 2, axis=0) * rng.uniform(0.5, 1.5, (n // 2 * 2, 1))
    t = B @ rng.uniform(-0.3, 0.3, d)
    A, b = rng.standard_normal((n, d)), rng.standard_normal(n)
    return tb.Problem(tb.LeastSquares(A, b, 1 / n), tb.LeastSquares(B, t, 1 / n), tb.L1Ball(1.5))


@pytest.mark.parametrize(
    "objective",
    [
        tb.LeastSquares(np.arange(12.0).reshape(4, 3), [1.0, -1.0, 2.0, 0.0], 0.5),
        tb.LeastSquares(sparse.csr_array(np.eye(4)[:, :3]), np.ones(4)),
        tb.Logistic(np.arange(12.0).reshape(4, 3) / 5, [1, -1, 1, 1], weights=[1.0, 2.0, 3.0, 0.0]),
        tb.Huber(np.arange(12.0).reshape(4, 3), np.ones(4), 0.5),
    ],
)
def test_batches_average_to_the_whole(objective) -> None:
    x = np.array([0.3, -0.2, 0.1])
    assert objective.summands == 4
    singles = [objective.batch(x, np.array([i])) for i in range(4)]
    assert np.mean([value for value, _ in singles]) == pytest.approx(objective.value(x))
    np.testing.assert_allclose(np.mean([grad for _, grad in singles], axis=0), objective.grad(x), atol=1e-12)
    np.testing.assert_allclose(objective.batch(x, np.arange(4))[1], objective.grad(x), atol=1e-12)
    pair = objective.batch(x, np.array([0, 2]))[1]
    np.testing.assert_allclose(pair, (singles[0][1] + singles[2][1]) / 2, atol=1e-12)


def test_other_objectives_count_as_one_term() -> None:
    rng = np.random.default_rng(0)
    f = tb.SquaredCovariance(rng.standard_normal((9, 3)), rng.integers(0, 2, 9))  # not a sum over the rows
    x = np.ones(3)
    for one in (f, tb.SquaredNorm(), 2.0 * tb.Linear(x)):
        assert one.summands == 1
        np.testing.assert_array_equal(one.batch(x, np.array([0]))[1], one.grad(x))


def storm_or_spider(problem: tb.Problem, x0: np.ndarray, spider: bool, spread: float, first: int) -> Iterator:
    """SBCGI and SBCGF once the initial run is over, written down naively for the l1 ball of radius 1.5."""
    f, g, n = problem.upper, problem.lower, problem.upper.summands
    size, level = int(np.ceil(np.sqrt(n))), g.value(x0)
    x = old = x0
    est, t = {}, 0
    while True:
        yield x
        for name, part, level_number in (("f", f, 0), ("g", g, 1)):
            rng = np.random.default_rng([0, first + t, level_number])
            rows = rng.choice(n, size, replace=False)
            A, b = part.A[rows], part.b[rows]
            at = lambda z, A=A, b=b: np.append(0.5 * np.mean((A @ z - b) ** 2), A.T @ (A @ z - b) / size)  # noqa: E731
            if spider:
                full = np.append(part.value(x), part.grad(x))
                est[name] = full if t % size == 0 else est[name] + at(x) - at(old)
            else:
                est[name] = at(x) if t == 0 else at(x) + (1 - 2 / (t + 1)) * (est[name] - at(old))
        K = 0.01 * spread * (2 / (t + 2) if spider else 1 / np.sqrt(t + 1))
        a, c = est["f"][1:], est["g"][1:]
        rows = np.vstack([np.ones(2 * x.size), np.concatenate([c, -c])])
        bounds = [1.5, c @ x + level + K - est["g"][0]]
        answer = linprog(np.concatenate([a, -a]), A_ub=rows, b_ub=bounds, bounds=(0, None), method="highs")
        if answer.status == 2:  # errors beyond the slack: the cut misses Z, and the step lowers g instead
            s = np.zeros_like(x)
            i = int(np.argmax(np.abs(c)))
            s[i] = -1.5 * np.sign(c[i])
        else:
            s = answer.x[: x.size] - answer.x[x.size :]
        x, old, t = x + 2 / (t + 2) * (s - x), x, t + 1


@pytest.mark.parametrize("method", [SBCGI, SBCGF])
def test_stochastic_methods_equal_their_twin(method) -> None:
    problem = sums()
    states = (one for one in tb.iterate(problem, method(), tol_lower=1e-2) if one.run is None)
    start = next(states)  # after the first update of the method proper
    assert start.k == start.first + 1 and start.spread > 0
    twin = storm_or_spider(problem, start.previous, method is SBCGF, start.spread, start.first)
    np.testing.assert_array_equal(next(twin), start.previous)
    for state, x in islice(zip(chain([start], states), twin, strict=False), 40):
        np.testing.assert_allclose(state.x, x, atol=1e-8)


@pytest.mark.parametrize("method", [SBCGI, SBCGF])
def test_stochastic_methods_on_a_finite_sum(method) -> None:
    problem = sums(2000)
    truth = tb.solve(problem, "exact", tol_upper=1e-8, tol_lower=1e-8)
    result = tb.solve(problem, method(), tol_upper=1e-12, tol_lower=1e-2, max_iter=1500, max_time=20)
    tol = 0.05 if method is SBCGI else 0.02  # the errors of momentum fall like 1/sqrt(k) only
    assert abs(result.f - truth.f) <= tol and result.g - truth.g <= tol
    assert result.certificate.f_lower <= truth.f + 1e-7
    # an update costs two samples of sqrt(n) rows (and SBCGF a full pass every sqrt(n) updates), not two passes
    assert 0 < result.calls["upper.grad"] < 0.1 * result.nit


@pytest.mark.parametrize("method", [SBCGI, SBCGF])
def test_seeds_and_resumed_runs(method) -> None:
    problem, limits = sums(), {"tol_upper": 1e-12, "tol_lower": 1e-2}
    one, same, other = (
        tb.solve(problem, method(seed=seed), max_iter=150, **limits).x for seed in (1, 1, 2)
    )  # fmt: skip
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-6
    half = tb.solve(problem, method(seed=1), max_iter=80, **limits)
    assert half.state.run is None  # the samples have begun
    rest = tb.solve(problem, method(seed=1), max_iter=150, x0=half.state, **limits)
    np.testing.assert_array_equal(one, rest.x)


def test_a_sum_of_objectives_is_one_summand_for_batches():
    """Its parts are called ``terms``; it can still be minimised by the stochastic methods, without batches."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((8, 3))
    total = tb.LeastSquares(A, rng.standard_normal(8)) + 0.1 * tb.SquaredNorm()
    assert total.summands == 1 and len(total.terms) == 2
    result = tb.solve(tb.Problem(total, tb.LeastSquares(np.ones((1, 3)), [1.0]), tb.L1Ball(2.0)), "sbcgi", max_iter=20)
    assert np.isfinite(result.f)
