"""Chains of quadratic levels in chunks: against rational numbers what stands for the data, and against one machine."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import tiebreak as tb
import tiebreak.dask as td
from tiebreak.engines.chunked import quadratic
from tiebreak.engines.chunked.frame import Frame
from tiebreak.engines.chunked.known import Known
from tiebreak.numerics.slices import Sliced, Twice

rng = np.random.default_rng(0)


def fraction(value: object) -> Fraction:
    return Fraction(*value.as_integer_ratio())  # type: ignore[attr-defined]


def chunks(A: NDArray[np.float64], rows: int = 40) -> td.ChunkedMatrix:
    return td.chunked(A, chunk_rows=rows, scheduler="synchronous")


def graded(seed: int, n: int, d: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 3, d)


def test_products_by_slices_against_rational_numbers() -> None:
    A = graded(1, 90, 5) * 10.0 ** rng.uniform(-8, 8, (90, 1))
    A[3], A[:, 4] = 0.0, 0.0
    x, u = (rng.standard_normal(n).astype(np.longdouble) / 3 for n in (5, 90))
    sliced = Sliced(A)
    found, error = sliced.times(x)
    for i in range(90):
        exact = sum(Fraction(a) * fraction(c) for a, c in zip(A[i], x, strict=True))
        assert abs(fraction(found[i]) - exact) <= Fraction(error[i])
    assert (error <= 1e-16 * np.asarray(np.abs(A * np.abs(x).max()).max(), dtype=float)).all()
    pulled, error = sliced.transpose_times(u)
    for j in range(5):
        exact = sum(Fraction(a) * fraction(c) for a, c in zip(A[:, j], u, strict=True))
        assert abs(fraction(pulled.high[j]) + fraction(pulled.low[j]) - exact) <= Fraction(error[j])
    assert (error <= 1e-24 * (1 + np.abs(A).max(axis=0))).all()


def test_sums_of_two_numbers_keep_twice_the_precision() -> None:
    numbers = [np.longdouble(10.0**k) / 3 for k in range(12, -12, -1)]
    total, exact = Twice.zeros(1), Fraction(0)
    for one in [*numbers, *(-number for number in numbers[:-3])]:
        total = total + Twice(np.array([one]), np.array([one / np.longdouble(2) ** 70]))
        exact += fraction(one) + fraction(one / np.longdouble(2) ** 70)
    assert abs(fraction(total.high[0]) + fraction(total.low[0]) - exact) <= Fraction(1, 10**25)  # of 10^12
    third = total.times(np.longdouble(1) / 3)
    product = (fraction(total.high[0]) + fraction(total.low[0])) * fraction(np.longdouble(1) / 3)
    assert abs(fraction(third.high[0]) + fraction(third.low[0]) - product) <= abs(product) / 10**36


def seen(A: NDArray[np.float64], b: NDArray[np.float64], **options: object) -> quadratic.Seen | None:
    lower = tb.LeastSquares(chunks(A), b, **options)  # type: ignore[arg-type]
    return quadratic.Seen.first([lower, tb.SquaredNorm()], tb.Box(-4.0, 4.0, dim=A.shape[1]))


def test_a_known_level_keeps_its_doubt_against_rational_numbers() -> None:
    A = graded(2, 110, 4)
    A[:, 3] = -A[:, 1]
    b = A @ rng.standard_normal(4) + rng.standard_normal(110)
    w = rng.integers(0, 4, 110).astype(float)
    found = seen(A, b, weights=w, scale=0.25)
    assert found is not None
    level = found.task.levels[0]
    assert isinstance(level, Known)
    doubt = level.loss.doubt
    assert doubt is not None
    assert 0 < doubt.image < 1e-13 * np.linalg.norm(np.sqrt(w) * b)
    assert 0 < doubt.share < 1e-6
    for size in (1.0, 1e-6):
        x = found.shown[0].grad.astype(float) * 0 + rng.standard_normal(4) * size
        value, grad, value_error, grad_error = level.at(x)
        r = [sum(Fraction(a) * Fraction(c) for a, c in zip(row, x, strict=True)) - Fraction(t)
             for row, t in zip(A, b, strict=True)]  # fmt: skip
        exact = sum(Fraction(c) * one * one for c, one in zip(w, r, strict=True)) / 8
        assert abs(fraction(value) - exact) <= Fraction(value_error) <= exact / 10**6
        for j in range(4):
            slope = sum(Fraction(c) * Fraction(row[j]) * one for c, row, one in zip(w, A, r, strict=True)) / 4
            assert abs(fraction(grad[j]) - slope) <= Fraction(grad_error[j])


def test_a_frame_stands_for_the_data_as_it_says() -> None:
    A = graded(3, 70, 5)
    A[:, 3], A[:, 4] = A[:, 0], 0.0
    frame = Frame.of(np.hstack([np.linalg.qr(A, mode="r"), np.zeros((5, 1))]), 5)
    assert frame is not None
    assert len(frame.own) == 3
    off = frame.off([(1.0, frame.shown(A, None))], 4)
    assert off < 1e-8
    H = [[sum(Fraction(a) * Fraction(c) for a, c in zip(A[:, i], A[:, j], strict=True)) for j in range(5)]
         for i in range(5)]  # fmt: skip
    for _ in range(20):
        x = [Fraction(one) for one in rng.standard_normal(5) / np.where(A.any(axis=0), np.linalg.norm(A, axis=0), 1)]
        image = [sum(Fraction(f) * c for f, c in zip(row, x, strict=True)) for row in frame.rows]
        square = sum(one * one for one in image)
        assert abs(sum(x[i] * H[i][j] * x[j] for i in range(5) for j in range(5)) - square) <= Fraction(off) * square
    spoiled = A.copy()
    spoiled[40, 3] = np.nextafter(spoiled[40, 3], 9e9)
    assert frame.off([(1.0, frame.shown(spoiled, None))], 4) == np.inf  # no copy, by one bit of one row
    assert frame.off([(1.01, frame.shown(A, None))], 4) == np.inf


def problems(A: object, b: object, V: object, v: object) -> Iterator[tuple[str, tb.Problem]]:
    g, h = tb.LeastSquares(A, b, 1 / 400), tb.LeastSquares(V, v, 1 / 300)
    near = tb.SquaredNorm([0.5, -0.5, 1.0, 0, 0.25, 2])
    yield "whole space", tb.Problem(near, g)
    yield "whole space, both in chunks", tb.Problem(h, g)
    yield "chain", tb.Problem(tb.SquaredNorm(), [g, h], tb.L1Ball(3.0))
    yield "chain, whole space", tb.Problem(tb.SquaredNorm(), [h, g])
    yield "linear first", tb.Problem(h, [tb.Linear([1.0, 0, 0, 0, 0, 1]), g], tb.Box(-1, 1))
    yield "slack", tb.Problem(near, g, tb.L1Ball(2.0), slack=0.05)
    yield "slack, whole space", tb.Problem(tb.SquaredNorm(), g, slack=0.05)
    yield "relative slack", tb.Problem(tb.SquaredNorm(), g, tb.Box(-0.4, 1.0), relative_slack=0.01)
    yield "l1 norm above", tb.Problem(tb.L1Norm(), g)
    yield "l1 norm below", tb.Problem(tb.SquaredNorm(), g + 0.3 * tb.L1Norm(), tb.Box(-5, 5))
    yield "ridge below", tb.Problem(h, g + 0.1 * tb.SquaredNorm())
    yield "sum of both", tb.Problem(near, g + 2 * h, tb.Box(0, 1))
    yield "rows", tb.Problem(near, g, tb.Polyhedron(A_ub=[np.ones(6)], b_ub=[1.0], bounds=(-2, 2)))


def test_chains_slack_norms_and_the_whole_space_are_as_on_one_machine() -> None:
    A, V = graded(4, 400, 6) / 100, rng.standard_normal((300, 6))
    A[:, 5], V[:, 5] = A[:, 0], -V[:, 0]
    b, v = A @ rng.standard_normal(6) + rng.standard_normal(400), rng.standard_normal(300)
    for (name, far), (_, near) in zip(problems(chunks(A), b, chunks(V, 70), v), problems(A, b, V, v), strict=True):
        result, alone = tb.solve(far, max_time=60), tb.solve(near, "exact", max_time=60)
        own, other = result.certificate, alone.certificate
        assert result.method == "exact", name
        assert result.success, name
        assert result.f == pytest.approx(alone.f, rel=1e-9, abs=1e-9), name
        assert own.f_upper - own.f_lower <= 1e-9 * (1 + abs(result.f)), name
        assert max(own.f_lower, other.f_lower) <= min(own.f_upper, other.f_upper), name
        assert max(own.g_lower, other.g_lower) <= min(own.g_upper, other.g_upper), name


def test_columns_that_are_copies_but_for_rounding_are_bounded_from_below_alone() -> None:
    A = graded(5, 200, 4)
    A[:, 3] = A[:, 0]
    A[7, 3] = np.nextafter(A[7, 3], 9e9)
    b = A @ np.ones(4) + rng.standard_normal(200)
    g = tb.LeastSquares(chunks(A), b, 1 / 200)
    result = tb.solve(tb.Problem(tb.SquaredNorm(), g, tb.Box(-4.0, 4.0)), "exact")
    assert result.certificate.f_upper == np.inf
    for problem in (tb.Problem(tb.SquaredNorm(), g), tb.Problem(tb.SquaredNorm(), g, slack=0.1)):
        result = tb.solve(problem, "exact")
        assert not result.success
        assert "some columns are sums of others but for rounding" in result.message
