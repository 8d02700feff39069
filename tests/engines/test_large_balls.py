"""Balls with thousands of variables: the multiplier by conjugate gradients, held to closed forms in 40 digits."""

from decimal import Decimal, localcontext

import numpy as np
import pytest
import scipy.sparse as sp

import tiebreak as tb
from tiebreak.engines.choice import choose_engine
from tiebreak.engines.cones.refuses import MOST_VARIABLES

N = MOST_VARIABLES + 300


def diagonal(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Data with one entry a column, shuffled; a centre, and where the upper level wants to be: all short fractions."""
    rng = np.random.default_rng(seed)
    a, b, center, aim = (rng.integers(-64, 65, N) / 16 for _ in range(4))
    a[a == 0] = 1.0
    a[:50] = 0.0  # these variables have no say in the lower level
    return a, b, center, aim


def problem(seed: int, radius: float) -> tb.Problem:
    a, b, center, aim = diagonal(seed)
    rows = np.random.default_rng(seed + 1).permutation(N)
    A = sp.csr_array((a, (rows, np.arange(N))), shape=(N, N))
    target = np.empty(N)
    target[rows] = b
    return tb.Problem(tb.SquaredNorm(aim), tb.LeastSquares(A, target), tb.L2Ball(radius, center=center))


def true_values(seed: int, radius: float) -> tuple[Decimal, Decimal]:
    """g* and f*: s_i = a_i (b_i - a_i c_i) / (a_i^2 + lam) with |s| = R."""
    with localcontext() as context:
        context.prec = 40
        a, b, center, aim = ([Decimal(float(v)) for v in part] for part in diagonal(seed))
        pull = [p * (q - p * c) for p, q, c in zip(a, b, center, strict=True)]
        bend = [p * p for p in a]
        lam = Decimal(1)
        for _ in range(100):
            s = [p / (q + lam) for p, q in zip(pull, bend, strict=True)]
            square = sum((v * v for v in s), Decimal(0))
            slope = sum((v * v / (q + lam) for v, q in zip(s, bend, strict=True)), Decimal(0))
            step = (square.sqrt() / Decimal(radius) - 1) * square / slope
            lam = max(lam + step, lam / 10)
            if abs(step) < lam * Decimal(10) ** -36:
                break
        x = [c + v for c, v in zip(center, s, strict=True)]
        g = sum(((p * v - q) ** 2 for p, v, q in zip(a, x, b, strict=True)), Decimal(0)) / 2
        f = sum(((v - q) ** 2 for v, q in zip(x, aim, strict=True)), Decimal(0)) / 2
        return g, f


@pytest.mark.parametrize("radius", [1.0, 30.0])
def test_solutions_on_the_sphere(radius: float) -> None:
    asked = problem(3, radius)
    choice = choose_engine(asked)
    assert choice.engine is not None and choice.engine.name == "cones"
    answer = choice.solve()
    g, f = true_values(3, radius)
    assert Decimal(answer.g_lower) <= g <= Decimal(answer.g_upper)
    assert Decimal(answer.f_lower) <= f <= Decimal(answer.f_upper)
    assert answer.f_upper - answer.f_lower <= 1e-11 * float(f)
    assert answer.lower_unique


def test_slack_on_the_sphere() -> None:
    asked = problem(3, 10.0)
    curve = tb.tradeoff(asked, slacks=[1.0, 10.0])
    g, f = true_values(3, 10.0)
    assert ((curve.f_lower <= curve.f) & (curve.f <= curve.f_upper)).all()
    assert (curve.f_upper - curve.f_lower <= 1e-9 * curve.f).all()
    assert float(f) > curve.f[0] > curve.f[1]
    # convex: below the chord from the solution without slack
    assert curve.f[0] <= float(f) + 0.1 * (curve.f[1] - float(f))
    assert asked.lower.value(curve.results[1].x) <= float(g) + 10.0


def test_nothing_is_claimed_where_solutions_are_inside() -> None:
    answer = choose_engine(problem(3, 1e4)).solve()
    assert answer.f_upper == np.inf and answer.f_lower == -np.inf and not answer.well_posed
    result = tb.solve(
        problem(3, 1e4).with_slack(1.0), max_time=2.0
    )  # the multiplier's engine says no, and others go on
    assert np.isfinite(result.x).all()


def test_constant_and_linear_levels() -> None:
    ball = tb.L2Ball(2.0).with_dim(N)
    c = np.zeros(N)
    c[:2] = 3.0, 4.0
    answer = choose_engine(tb.Problem(tb.Linear(np.ones(N)), tb.Linear(c), ball)).solve()
    assert answer.f_lower <= -2.8 <= answer.f_upper and answer.f_upper - answer.f_lower <= 1e-12
    constant = tb.solve(tb.Problem(tb.SquaredNorm(dim=N), tb.Linear(np.zeros(N)), ball), max_time=2.0)
    assert constant.f <= 2.0
