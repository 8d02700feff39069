"""Balls so large, or nearly so, that they do not bind: by rows over a box around them, with brackets that hold."""

from __future__ import annotations

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.engines.cones import solve as cones


def fits(seed: int, m: int = 8, n: int = 20) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Data in whole numbers, and the point of least norm among those that fit them."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-3, 4, (m, n)).astype(float)
    w = rng.integers(-2, 3, m).astype(float)
    return A, A @ A.T @ w, A.T @ w  # exact


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("times", [1 - 1e-3, 1 - 1e-9, 1 + 1e-9, 1 + 1e-4, 1.5, 1e3])
def test_brackets_hold_whether_the_ball_binds_or_not(seed: int, times: float) -> None:
    A, b, x = fits(seed)
    ball = tb.L2Ball(times * float(np.linalg.norm(x)))
    result = tb.solve(
        tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, b), ball), "exact", tol_upper=1e-6, tol_lower=1e-6
    )
    g, f = result.levels
    if times > 1:
        assert g.lower <= 0 <= g.upper and f.lower <= float(x @ x) / 2 <= f.upper
    else:  # the point at the end of the ball, nearer to the origin, misses the data
        assert g.upper > 0 and g.lower <= float(((times - 1) * b) @ ((times - 1) * b)) / 2 * (1 + 1e-9)
    if times >= 1 + 1e-4 or times == 1 - 1e-3:
        assert result.success


@pytest.mark.parametrize(
    "domain",
    [
        tb.L2Ball(50.0),
        tb.L2Ball(60.0, center=np.full(20, 1.0)),
        tb.LpBall(3.0, 80.0),
        tb.GroupBall([[2 * k, 2 * k + 1] for k in range(10)], 200.0),
        tb.NuclearBall((4, 5), 200.0),
    ],
    ids=lambda domain: type(domain).__name__,
)
def test_sets_that_do_not_bind_are_as_good_as_none(domain: tb.Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    A, b, x = fits(1)
    monkeypatch.setattr(cones, "approximate", lambda *_: pytest.fail("charts are not needed"))
    result = tb.solve(tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, b), domain), tol_upper=1e-8, tol_lower=1e-8)
    assert result.success and np.allclose(result.x, x, atol=1e-9)
    assert result.certificate.f_lower <= float(x @ x) / 2 <= result.certificate.f_upper


def test_a_large_ball_that_does_not_bind() -> None:
    """By charts this takes more than ten times as long."""
    rng = np.random.default_rng(1)
    A = rng.standard_normal((60, 500))
    b = A @ rng.standard_normal(500) / 20
    levels = tb.SquaredNorm(), tb.LeastSquares(A, b)
    tight = {"tol_upper": 1e-8, "tol_lower": 1e-8}
    ball, free = (tb.solve(tb.Problem(*levels, domain), **tight) for domain in (tb.L2Ball(100.0), None))
    assert ball.success and abs(ball.f - free.f) <= 1e-10


def test_a_linear_upper_level_and_norms_go_by_charts() -> None:
    A, b, _ = fits(2)
    for upper in (tb.Linear(np.arange(20.0)), tb.L1Norm() + tb.SquaredNorm()):
        result = tb.solve(tb.Problem(upper, tb.LeastSquares(A, b), tb.L2Ball(40.0)))
        assert result.success
