"""Two levels over round sets, with levels that are linear or flat in pieces: planted solutions."""

from __future__ import annotations

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.engines.choice import choose_engine
from tiebreak.objectives.base import Objective

ROUNDING = 1e-13
"""What rounding of planted data moves their solutions by, relative to 1 + |f|: more than it ever does."""

Planted = tuple[tb.sets.base.Domain, np.ndarray, np.ndarray]


def planted_point(name: str, rng: np.random.Generator) -> Planted:
    """A set, a point at its boundary, and a slope n that it alone minimises <-n, .> with, or nearly alone."""
    v = rng.standard_normal(9)
    if name == "L2":
        x = v / np.linalg.norm(v)
        return tb.L2Ball(float(np.linalg.norm(x))).with_dim(9), x, x
    if name == "l3":
        x = v / np.linalg.norm(v, 3)
        return tb.LpBall(3, float(np.linalg.norm(x, 3)), dim=9), x, x * np.abs(x)
    if name == "groups":
        groups = np.arange(9) // 3
        x = np.where(groups < 2, v, 0.0)
        lengths = np.array([np.linalg.norm(x[groups == g]) for g in range(3)])
        n = np.where(groups < 2, x / np.where(lengths, lengths, 1)[groups], 0.3 * v / np.linalg.norm(v))
        return tb.GroupBall(groups, float(lengths.sum())), x, n
    u, w = (np.linalg.qr(rng.standard_normal((3, 3)))[0] for _ in range(2))
    if name == "nuclear":
        return (
            tb.NuclearBall((3, 3), 3.0),
            (u @ np.diag([2.0, 1.0, 0.0]) @ w).ravel(),
            (u @ np.diag([1.0, 1.0, 0.4]) @ w).ravel(),
        )
    assert name == "spectrahedron"
    X, N = u @ np.diag([0.7, 0.3, 0.0]) @ u.T, -u @ np.diag([0.0, 0.0, 0.8]) @ u.T
    return tb.Spectrahedron(3), (X + X.T).ravel() / 2, (N + N.T).ravel() / 2


def kinked(kind: str, x: np.ndarray, rng: np.random.Generator) -> tuple[Objective, np.ndarray]:
    """A piecewise linear objective with a kink at x, and a subgradient there that is inside all of them."""
    A = rng.standard_normal((5, 9))
    if kind == "absolute":
        b = A @ x + np.array([0.0, 0.0, 0.5, -0.5, 0.0])
        return tb.L1Norm(A=A, b=b), A.T @ np.array([0.3, -0.6, -1.0, 1.0, 0.1])
    A[3:] /= 4
    return tb.MaxAffine(A, A @ x - np.array([1.0, 1.0, 1.0, 0.2, 0.0])), A.T @ np.array([0.2, 0.5, 0.3, 0.0, 0.0])


@pytest.mark.parametrize("kind", ["absolute", "largest"])
@pytest.mark.parametrize("name", ["L2", "l3", "groups", "nuclear", "spectrahedron"])
def test_a_lower_level_with_kinks_at_its_only_solution(name: str, kind: str) -> None:
    rng = np.random.default_rng(4)
    domain, x, n = planted_point(name, rng)
    kinks, slope = kinked(kind, x, rng)
    half = tb.LeastSquares(rng.standard_normal((4, 9)), rng.standard_normal(4))
    lower = half + kinks + tb.Linear(-(half.grad(x) + slope + n))
    upper = tb.LeastSquares(rng.standard_normal((11, 9)), rng.standard_normal(11)) + tb.L1Norm()
    answer = choose_engine(tb.Problem(upper, lower, domain)).solve()
    best, size = upper.value(x), 1 + abs(upper.value(x))
    assert answer.f_lower - ROUNDING * size <= best <= answer.f_upper + ROUNDING * size
    assert answer.g_lower - ROUNDING <= lower.value(x) <= answer.g_upper + ROUNDING
    assert answer.width <= 1e-5
    assert answer.lower_unique is not False


@pytest.mark.parametrize("flat", ["hinge", "quadratic"])
@pytest.mark.parametrize("name", ["L2", "l3", "groups", "nuclear", "spectrahedron"])
def test_an_upper_level_with_kinks_over_many_lower_solutions(name: str, flat: str) -> None:
    """The lower solutions are all points of the set that keep margins, or that have the same images."""
    rng = np.random.default_rng(7)
    domain, x, n = planted_point(name, rng)
    kinks, slope = kinked("absolute", x, rng)
    A, prices = rng.integers(-8, 9, (3, 9)) / 8, np.array([0.7, 0.0, 0.0])
    if flat == "hinge":
        A = rng.standard_normal((3, 9))
        inside = x - 0.3 * n / np.linalg.norm(n)
        A -= np.outer(
            (A @ (inside - x) - 0.3) / ((inside - x) @ (inside - x)), inside - x
        )  # the way inside is feasible
        A[1:] += np.outer((np.abs(A[1:] @ x) + 1.0) / (x @ x), x)
        A /= np.where(np.arange(3) == 0, A @ x, np.minimum(A @ x, A @ inside) / 2)[:, None]
        lower: Objective = tb.SquaredHinge(np.vstack([A, -A[1:2]]), [1, 1, 1, -1])
        pull = A.T @ prices
    else:  # the slope is a combination of the rows, exactly
        x = np.round(x * 2**20) / 2**20
        x, n = x * (1 - 1e-3), 0 * n  # inside, so that rounding does not matter
        x = np.round(x * 2**20) / 2**20
        lower = tb.Quadratic(A.T @ A, -A.T @ (A @ x))
        kinks, slope = kinked("absolute", x, rng)
        pull = A.T @ np.array([0.7, -0.2, 0.1])
        if name == "spectrahedron":
            pytest.skip("no point of rank two is inside")
    half = tb.LeastSquares(rng.standard_normal((4, 9)), rng.standard_normal(4))
    upper = half + kinks + tb.Linear(pull - (half.grad(x) + slope + n))
    answer = choose_engine(tb.Problem(upper, lower, domain)).solve()
    best, size = upper.value(x), 1 + abs(upper.value(x))
    assert answer.f_lower - ROUNDING * size <= best <= answer.f_upper + ROUNDING * size
    assert answer.g_lower <= lower.value(x) + ROUNDING
    assert answer.width <= 1e-6
    assert answer.lower_unique is False
