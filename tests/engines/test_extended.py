"""Extended arithmetic and evaluated levels against rational arithmetic: each error is within what is claimed for it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import tiebreak as tb
from fractional import UNIT as U
from fractional import dot, fractions, lost, norm_is_at_most, times
from tiebreak.engines.columns.atoms import OnAxes
from tiebreak.engines.columns.evaluated import Evaluated, evaluated, largest, lowest
from tiebreak.engines.columns.level import Smooth
from tiebreak.numerics import extended
from tiebreak.numerics.extended import (
    UNIT,
    ExtMatrix,
    double_double_product,
    ext,
    product,
    product_units,
    sum_units,
    total,
)
from tiebreak.sets.rows import Axes


def spread(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape) * 10.0 ** rng.integers(-6, 7, shape)


def within(found, exact, claimed) -> bool:
    return all(abs(a - b) <= Fraction(float(c)) for a, b, c in zip(fractions(found), exact, claimed, strict=True))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_products_and_their_errors(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    A, x, y = spread(rng, 5, 7), ext(spread(rng, 7)) / 3, ext(spread(rng, 5)) / 7
    if kind == "sparse":
        A = A * (rng.random(A.shape) < 0.5)
    M = ExtMatrix(sparse.csr_array(A) if kind == "sparse" else A)
    assert within(M.times(x), times(A, fractions(x)), M.times_error(x))
    assert within(M.transpose_times(y), times(A.T, fractions(y)), M.transpose_times_error(y))
    sizes = np.abs(A) @ np.abs(np.asarray(x, dtype=float))
    assert within(product(A, x), times(A, fractions(x)), product_units(7) * sizes)
    assert (M.times_error(x) <= 40 * UNIT * sizes * 1.001 + 1e-300).all()


@pytest.mark.parametrize("shape", [(3, 5), (4, 100), (90, 33), (2, 3000)])
@pytest.mark.parametrize("terms", ["spread", "lost"])
def test_products_in_blocks_and_their_errors(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int], terms: str
) -> None:
    """Blocks of few rows, and sums in which a one comes before many that are half units beside it."""
    monkeypatch.setattr(extended, "MANY", 10)
    monkeypatch.setattr(extended, "IN_CACHE", 150)
    rng = np.random.default_rng(0)
    A = spread(rng, *shape)
    if terms == "lost":
        A = np.full(shape, UNIT)
        A[:, ::32] = 1.0
    M, x, y = ExtMatrix(A), ext(np.ones(shape[1])), ext(np.ones(shape[0]))
    if terms == "spread":
        x, y = ext(spread(rng, shape[1])) / 3, ext(spread(rng, shape[0])) / 7
    assert within(M.times(x), times(A, fractions(x)), M.times_error(x))
    assert within(M.transpose_times(y), times(A.T, fractions(y)), M.transpose_times_error(y))
    assert "_wide" not in M.__dict__ or not extended.WIDE


@pytest.mark.parametrize("count", [12, 120, 5000])
@pytest.mark.parametrize("lanes", [1, 8])
def test_sums_that_lose_every_term(count: int, lanes: int) -> None:
    """Half units beside ones, in the places where the pairwise sum begins its lanes."""
    terms = np.full(count, UNIT)
    terms[np.arange(count) % 128 < lanes] = 1.0
    x = ext(terms)
    exact = sum(fractions(x), Fraction(0))
    off = abs(fractions(total(x))[0] - exact)
    assert off <= Fraction(sum_units(count) * UNIT) * exact
    for A in (np.ones((1, count)), sparse.csr_array(np.ones((1, count)))):
        M = ExtMatrix(A)
        assert within(M.times(x), [exact], M.times_error(x))
        assert within(M.transpose_times(ext([1.0])), [Fraction(1)] * count, M.transpose_times_error(ext([1.0])))
        assert within(ExtMatrix(A.T).transpose_times(x), [exact], ExtMatrix(A.T).transpose_times_error(x))
    assert within(product(np.ones((1, count)), x), [exact], [product_units(count) * float(exact)])


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_double_double_rounds_once(seed: int, kind: str) -> None:
    """Cancelling products: the answer is the exact one, rounded (to within a unit where digits are out of reach)."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=6)
    A = rng.normal(size=(4, 6)) * 2.0 ** rng.integers(-8, 9, (4, 6))
    A[:, 5] = -(A[:, :5] @ x[:5]) / x[5]  # nearly all digits cancel
    if kind == "sparse":
        A[0] = 0
        A[1, ::2] = 0
    exact = times(A, fractions(x))
    found = double_double_product(sparse.csr_array(A) if kind == "sparse" else A, x)
    sizes = np.abs(A) @ np.abs(x)
    for a, b, size in zip(fractions(found), exact, sizes, strict=True):
        assert abs(a - b) <= Fraction(U) * abs(b) + Fraction(U) ** 2 * 64 * Fraction(float(size))


def test_double_double_sums_many_terms() -> None:
    x = lost(500)
    (found,) = double_double_product(np.ones((1, x.size)), x)
    assert abs(Fraction(float(found)) - sum(fractions(x), Fraction(0))) <= Fraction(U) * 65


@pytest.mark.parametrize("seed", range(5))
def test_products_without_a_wide_type(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extended, "WIDE", False)
    monkeypatch.setattr(extended, "UNIT", U)
    rng = np.random.default_rng(seed)
    A, x = spread(rng, 3, 6), rng.normal(size=6)
    for M in (A, sparse.csr_array(A)):
        exact = times(A, fractions(x))
        assert within(product(M, ext(x)), exact, extended.product_units(6) * (np.abs(A) @ np.abs(x)))
        assert within(ExtMatrix(M).times(ext(x)), exact, ExtMatrix(M).times_error(ext(x)))


# -- evaluated levels ------------------------------------------------------------------------------------------


def hold(found: Evaluated, A: np.ndarray, b: np.ndarray, x: np.ndarray, p: np.ndarray | None = None) -> None:
    """1/2 ||A x - b||^2 + <p, x>: value, gradient and image are within their errors."""
    q = fractions(x)
    image = times(A, q)
    r = [s - t for s, t in zip(image, fractions(b), strict=True)]
    linear = [Fraction(0)] * x.size if p is None else fractions(p)
    value = dot(r, r) / 2 + dot(linear, q)
    assert abs(Fraction(found.value) - value) <= Fraction(found.value_error)
    grad = [s + t for s, t in zip(times(A.T, r), linear, strict=True)]
    assert within(found.grad, grad, found.grad_error)
    offs = [s - t for s, t in zip(fractions(found.image), image, strict=True)]
    assert norm_is_at_most(offs, found.image_error)


CASES = ["plain", "spread", "cancelling", "zero residual", "losing", "steep"]


def case(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A, x = rng.normal(size=(5, 4)), rng.normal(size=4)
    if kind == "spread":
        A = spread(rng, 5, 4)
    elif kind == "cancelling":
        A, x = np.hstack([1e7 * A, -1e7 * A]), np.concatenate([x, x * (1 + 1e-8)])
    elif kind == "zero residual":
        return A, A @ x, x
    elif kind == "losing":
        column = np.sqrt(lost(800))
        return column[:, None], -column, np.array([1.0 + U * 4 * seed])
    elif kind == "steep":
        return A, 1e9 * rng.normal(size=5), 1e-9 * x
    return A, rng.normal(size=len(A)), x


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("form", ["dense", "sparse", "with a linear term"])
def test_levels_with_their_errors(seed: int, kind: str, form: str) -> None:
    A, b, x = case(kind, seed)
    p = None
    f: tb.Objective = tb.LeastSquares(sparse.csc_array(A) if form == "sparse" else A, b)
    if form == "with a linear term":
        p = 1e3 ** (seed - 2) * np.random.default_rng(seed).normal(size=x.size)
        f = f + tb.Linear(p)
    level = Smooth(f.form, x.size)
    hold(evaluated(f, level, x), A, b, x, p)
    if p is None:
        hold(evaluated(f, level, x, sharp=True), A, b, x)


@pytest.mark.parametrize("seed", range(12))
def test_long_columns_whose_sums_lose_the_same_at_each_term(seed: int) -> None:
    """Nothing is lost in the images, which are zero: the error of the gradient is that of its sums."""
    A, b = np.ones((6000, 1)), np.full(6000, np.random.default_rng(seed).random())
    f = tb.LeastSquares(sparse.csc_array(A), b)
    hold(evaluated(f, Smooth(f.form, 1), np.zeros(1)), A, b, np.zeros(1))


@pytest.mark.parametrize("seed", range(6))
def test_sharp_levels_are_sharper(seed: int) -> None:
    A, b, x = case("cancelling", seed)
    f = tb.LeastSquares(A, b)
    level = Smooth(f.form, x.size)
    plain, sharp = evaluated(f, level, x), evaluated(f, level, x, sharp=True)
    assert sharp.value_error <= plain.value_error / 20 and (sharp.grad_error <= plain.grad_error / 20).all()


@pytest.mark.parametrize("seed", range(6))
def test_levels_by_a_factor_of_q(seed: int) -> None:
    """A Quadratic is not evaluated by its factor, whose rows are rounded, but as the user gave it."""
    rng = np.random.default_rng(seed)
    R, q, x = rng.normal(size=(4, 4)), rng.normal(size=4), rng.normal(size=4)
    Q = R.T @ R
    Q = (Q + Q.T) / 2
    f = tb.Quadratic(Q, q)
    found = evaluated(f, Smooth(f.form, 4), x)
    image = times(Q, fractions(x))
    value = dot(image, fractions(x)) / 2 + dot(fractions(q), fractions(x))
    assert abs(Fraction(found.value) - value) <= Fraction(found.value_error)
    assert within(found.grad, [s + t for s, t in zip(image, fractions(q), strict=True)], found.grad_error)


@pytest.mark.parametrize("seed", range(10))
def test_least_and_largest_over_a_set(seed: int) -> None:
    """Over axes the extreme value is one product, rounded; over other sets it is the set's own bound."""
    rng = np.random.default_rng(seed)
    d = 5
    c, extents = spread(rng, d), 1 / (1 + rng.random(d))
    size = np.abs(c)
    products = [s * t for s, t in zip(fractions(c), fractions(extents), strict=True)]
    for signed in (False, True):
        axes, domain = OnAxes(Axes(extents, signed)), tb.Simplex()
        least = -max(map(abs, products)) if signed else min(products)
        assert Fraction(lowest(axes, domain, c)) <= least
        most = max(s * t for s, t in zip(fractions(size), fractions(extents), strict=True))
        assert Fraction(largest(axes, domain, size)) >= most
    box = tb.Box(-np.abs(spread(rng, d)), np.abs(spread(rng, d)))
    ends = [max(abs(s), abs(t)) for s, t in zip(fractions(box.lower), fractions(box.upper), strict=True)]
    assert Fraction(largest(None, box, size)) >= dot(fractions(size), ends)
    corners = zip(fractions(c), fractions(box.lower), fractions(box.upper), strict=True)
    assert Fraction(lowest(None, box, c)) <= sum((min(a * s, a * t) for a, s, t in corners), Fraction(0))
    sparse_set = tb.KSparse(2, 0.3)
    most = sum(sorted(map(abs, fractions(c)))[-2:]) * Fraction(0.3)
    assert Fraction(largest(None, sparse_set, size)) >= most and Fraction(lowest(None, sparse_set, c)) <= -most
