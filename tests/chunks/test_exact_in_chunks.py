"""The engine for data in chunks: against closed forms in dyadic numbers, and against the same problems in memory."""

from __future__ import annotations

import numpy as np
import pytest

import tiebreak as tb
import tiebreak.dask as td
from tiebreak.engines.chunked import proof
from tiebreak.engines.chunked.levels import RowLevel

rng = np.random.default_rng(0)


def dyadic(seed: int, bits: int, graded: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
    """Data, targets, the centre of f, the only answer and f there, all exact: some columns are copies of others.

    Rows come in pairs with opposite residuals, so that these are orthogonal to the columns: A x is that of x0 at all
    minimisers. ``bits`` is the logarithm of the condition number: of columns of other sizes, or of near copies.
    """
    rng = np.random.default_rng(seed)
    half, kept, copies = 60, 6, 3
    A = rng.integers(-8, 9, (half, kept)).astype(float)
    if graded:
        A *= 2.0 ** -np.round(np.linspace(0, bits, kept))
    else:
        A[:, 1] = A[:, 0] + 2.0**-bits * A[:, 1]
    A = np.repeat(np.hstack([A, A[:, :copies]]), 2, axis=0)
    x0 = rng.integers(-4, 5, kept + copies) / 8
    residual = np.repeat(rng.integers(1, 9, half), 2) * np.tile([1.0, -1.0], half)
    b, centre = A @ x0 + residual, rng.integers(-4, 5, kept + copies) / 8
    x = x0.copy()
    for one, copy in zip(range(copies), range(kept, kept + copies), strict=True):
        both, apart = x0[one] + x0[copy], centre[one] - centre[copy]
        x[one], x[copy] = (both + apart) / 2, (both - apart) / 2
    order = rng.permutation(len(A))
    return A[order], b[order], centre, x, 0.5 * float((x - centre) @ (x - centre))


@pytest.mark.parametrize("domain", [tb.L1Ball(16.0), tb.Box(-4.0, 4.0), tb.Space()], ids=["l1", "box", "space"])
@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("bits", [3, 7, 13, 20])
def test_closed_forms(bits: int, graded: bool, domain: tb.Domain) -> None:
    for seed in range(2):
        A, b, centre, x, f = dyadic(seed, bits, graded)
        data = td.chunked(A, chunk_rows=25 + seed, scheduler="synchronous")
        result = tb.solve(tb.Problem(tb.SquaredNorm(centre), tb.LeastSquares(data, b), domain), "exact", max_time=60)
        found = result.certificate
        g = 0.5 * float(np.sum((A @ x - b) ** 2))
        assert found.f_lower <= f <= found.f_upper
        assert found.f_upper - found.f_lower <= 1e-9
        assert found.g_lower <= g <= found.g_upper
        assert found.lower_gap <= 1e-10 * (1 + g)
        assert result.x == pytest.approx(x, abs=1e-8)
        assert [one.kind for one in data.passes] == ["Triangle", "Prove"]


def sample(seed: int, n: int = 400, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-1, 1, d)
    A[:, -1] = A[:, 0]
    return A, A @ rng.standard_normal(d) + 3 * rng.standard_normal(n)


LEVELS = {
    "least squares, norm": lambda A, b, V, v: (tb.LeastSquares(A, b, 1 / 400), tb.SquaredNorm()),
    "weights, linear": lambda A, b, V, v: (
        tb.LeastSquares(A, b, weights=np.r_[0.0, np.full(len(b) - 1, 0.01)]),
        tb.Linear([1.0, -1, 0, 2, 0, 1]),
    ),
    "least squares, logistic": lambda A, b, V, v: (tb.LeastSquares(A, b, 1 / 400), tb.Logistic(V, v > 0)),
    "logistic, norm": lambda A, b, V, v: (tb.Logistic(A, b > 0), tb.SquaredNorm()),
    "poisson, sum": lambda A, b, V, v: (
        tb.Poisson(A, np.round(np.abs(b))),
        0.1 * tb.SquaredNorm() + tb.LeastSquares(V, v, 0.01),
    ),
    "sum of both, norm": lambda A, b, V, v: (
        tb.Logistic(A, b > 0) + tb.LeastSquares([[1.0, 0, 0, 0, 0, 1]], [0.5]),
        tb.SquaredNorm(),
    ),
    "in memory, in chunks": lambda A, b, V, v: (
        tb.LeastSquares(np.ones((1, 6)), [0.2]),
        tb.LeastSquares(A, b, 1 / 400),
    ),
}


@pytest.mark.parametrize("domain", [tb.L1Ball(2.0), tb.Box(-0.4, 1.0), tb.Simplex()], ids=["l1", "box", "simplex"])
@pytest.mark.parametrize("kind", LEVELS)
def test_the_answer_is_that_of_one_machine(kind: str, domain: tb.Domain) -> None:
    A, b = sample(len(kind))
    V, v = np.random.default_rng(5).standard_normal((2, 300, 6))
    far_A, far_V = (td.chunked(one, chunk_rows=rows, scheduler="synchronous") for one, rows in ((A, 90), (V, 70)))
    near, far = LEVELS[kind](A, b, V, v[:, 0]), LEVELS[kind](far_A, b, far_V, v[:, 0])
    alone = tb.solve(tb.Problem(near[1], near[0], domain), "exact", max_time=60)
    result = tb.solve(tb.Problem(far[1], far[0], domain), max_time=60)
    assert result.method == "exact"
    assert result.success
    assert alone.success
    assert result.f == pytest.approx(alone.f, rel=1e-8, abs=1e-8)
    assert result.g == pytest.approx(alone.g, rel=1e-9)
    assert result.certificate.f_lower <= alone.certificate.f_upper
    assert result.certificate.g_lower <= alone.certificate.g_upper
    assert alone.certificate.g_lower <= result.certificate.g_upper


def test_the_pass_of_the_proof_keeps_its_bounds_against_rational_numbers() -> None:
    from fractions import Fraction

    A, b = sample(1, n=60, d=3)
    x, w = rng.standard_normal(3), rng.standard_normal(3)
    data = td.chunked(A, chunk_rows=17, scheduler="synchronous")
    level = RowLevel.of(tb.LeastSquares(data, b), 3, whole=True)
    (shown,) = proof.show([level.terms], x, [w])
    rows = [[Fraction(a) for a in row] for row in A]
    r = [
        sum(a * Fraction(c) for a, c in zip(row, x, strict=True)) - Fraction(t) for row, t in zip(rows, b, strict=True)
    ]
    value = sum(one * one for one in r) / 2
    exact = [sum(row[j] * one for row, one in zip(rows, r, strict=True)) for j in range(3)]
    assert 0 < abs(Fraction(*shown.value.as_integer_ratio()) - value) <= Fraction(shown.value_error) <= value / 10**14
    for j in range(3):
        off = abs(Fraction(*shown.grad[j].as_integer_ratio()) - exact[j])
        assert off <= Fraction(shown.grad_error[j]) <= Fraction(1, 10**11)
    v = [sum(a * Fraction(c) for a, c in zip(row, w, strict=True)) for row in rows]
    assert float(sum(one * one for one in v)) == pytest.approx(shown.weight, rel=1e-12)


def test_logistic_rows_keep_the_bound_on_products_with_the_multiplier() -> None:
    """|<y, A (s - x)>| <= sqrt(weight) sqrt(3 gap) + e gap ratio with the gap that the definition asks for."""
    A, b = sample(2, n=200, d=4)
    for _ in range(20):
        x, w, s = rng.standard_normal((3, 4)) * [[0.3], [1.0], [2.0]]
        f = tb.Logistic(A, b > 0)
        level = RowLevel.of(tb.Logistic(td.chunked(A, chunk_rows=60, scheduler="synchronous"), b > 0), 4, whole=True)
        (shown,) = proof.show([level.terms], x, [w])
        gap = f.value(s) - f.value(x) - f.grad(x) @ (s - x)
        assert abs(np.asarray(shown.pulled, dtype=float) @ (s - x)) <= proof.held(shown, level.terms, gap)
        flipped = shown._replace(weight=shown.weight / 50, ratio=shown.ratio / 50)
        assert proof.held(flipped, level.terms, gap) < proof.held(shown, level.terms, gap)


def test_what_the_engine_leaves_to_others_is_said() -> None:
    A, b = sample(3)
    data = td.chunked(A, chunk_rows=90, scheduler="synchronous")
    g, f = tb.Logistic(data, b > 0), tb.SquaredNorm()
    for problem, why in (
        (tb.Problem(f, g), "bounded sets"),
        (tb.Problem(f, tb.LeastSquares(data, b), tb.L2Ball(1.0)), "known by rows"),
        (tb.Problem(f, g, tb.L1Ball(1.0), slack=0.1), "with slack"),
        (tb.Problem(f + tb.L1Norm(), g, tb.L1Ball(1.0)), "norms and pieces"),
        (tb.Problem(f, tb.Huber(data, b, 0.1), tb.L1Ball(1.0)), "Huber in chunks is flat"),
        (tb.Problem(f, g + tb.Linear(np.ones(6)), tb.L1Ball(1.0)), "consists of losses of matrices"),
    ):
        with pytest.raises(ValueError, match=why):
            tb.solve(problem, "exact")
    with pytest.raises(ValueError, match="two levels, not 3"):
        tb.plan(tb.Problem(f, [g, tb.Linear(np.ones(6))], tb.L1Ball(1.0)))


def test_small_problems_that_lead_nowhere_are_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    from tiebreak.engines.chunked import newton

    monkeypatch.setattr(newton, "STEPS", 1)
    A, b = sample(4)
    data = td.chunked(A, chunk_rows=90, scheduler="synchronous")
    problem = tb.Problem(tb.SquaredNorm(), tb.Logistic(data, b > 0), tb.L1Ball(1.0))
    result = tb.solve(problem, max_iter=50)
    assert result.method != "exact"
    result = tb.solve(problem, "exact")
    assert not result.success
    assert "has not come to an end in 1 passes" in result.message
