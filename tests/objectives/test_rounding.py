"""Every objective says how far rounding may have moved its value and gradient: held to rational arithmetic.

Random data show that an allowance is there; chosen data show that it is large enough and made of all its parts: sums
in which every addition loses, images that cancel, residuals that are zero only as computed.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import tiebreak as tb
from fractional import UNIT, dot, fractions, lost, norm, norm_is_at_most, times
from tiebreak.objectives.matrix import DataMatrix, gamma

LOST = 6000


def exact(f: tb.Objective, x: np.ndarray) -> tuple[Fraction, list[Fraction]]:
    """Value and gradient, by their definitions."""
    p = fractions(x)
    if isinstance(f, tb.Linear):
        return dot(fractions(f.c), p), fractions(f.c)
    if isinstance(f, tb.SquaredNorm):
        centre = [Fraction(0)] * x.size if f.center is None else fractions(f.center)
        offset = [a - b for a, b in zip(p, centre, strict=True)]
        return dot(offset, offset) / 2, offset
    if isinstance(f, tb.L1Norm):
        weights = fractions(np.broadcast_to(f.weights, x.shape))
        signs = [(t > 0) - (t < 0) for t in p]
        return sum((w * abs(t) for w, t in zip(weights, p, strict=True)), Fraction(0)), [
            w * s for w, s in zip(weights, signs, strict=True)
        ]
    if isinstance(f, tb.Quadratic):
        Q = f.Q.toarray() if sparse.issparse(f.Q) else f.Q
        image = times(Q, p)
        value = dot(image, p) / 2 + dot(fractions(f.q), p) + Fraction(f.c)
        return value, [a + b for a, b in zip(image, fractions(f.q), strict=True)]
    if isinstance(f, (tb.LeastSquares, tb.Huber)):
        A = f.A.toarray() if sparse.issparse(f.A) else f.A
        r = [a - b for a, b in zip(times(A, p), fractions(f.b), strict=True)]
        if isinstance(f, tb.Huber):
            delta = Fraction(f.delta)
            slope = [max(-delta, min(delta, t)) for t in r]
            value = sum((s * (t - s / 2) for s, t in zip(slope, r, strict=True)), Fraction(0))
        else:
            slope = [Fraction(f.scale) * t for t in r]
            value = Fraction(f.scale) * dot(r, r) / 2
        return value, times(A.T, slope)
    if hasattr(f, "terms"):
        parts = [exact(term, x) for term in f.terms]
        return sum((v for v, _ in parts), Fraction(0)), [
            sum(c, Fraction(0)) for c in zip(*(g for _, g in parts), strict=True)
        ]
    value, grad = exact(f.inner, x)
    return Fraction(f.factor) * value, [Fraction(f.factor) * entry for entry in grad]


def check(f: tb.Objective, x: np.ndarray) -> None:
    """The claims at x hold."""
    value, grad = f.value_and_grad(x)
    value_error, grad_error = f.rounding(x)
    true_value, true_grad = exact(f, x)
    off = abs(Fraction(value) - true_value)
    assert off <= Fraction(value_error), f"{f!r}: the value is off by {float(off):.3g}, claimed {value_error:.3g}"
    offs = [a - b for a, b in zip(fractions(grad), true_grad, strict=True)]
    assert norm_is_at_most(offs, grad_error), (
        f"{f!r}: the gradient is off by {norm(offs):.3g}, claimed {grad_error:.3g}"
    )
    assert f.value_and_error(x) == (pytest.approx(value, rel=1e-12, abs=1e-300), pytest.approx(value_error, rel=1e-9))


def objectives(rng: np.random.Generator, d: int) -> list[tb.Objective]:
    A, b = rng.normal(size=(d + 3, d)), rng.normal(size=d + 3)
    R = rng.normal(size=(d, d))
    squares, linear = tb.LeastSquares(A, b, scale=0.3), tb.Linear(rng.normal(size=d))
    norm_ = tb.SquaredNorm(rng.normal(size=d))
    curved = tb.Quadratic(R.T @ R, rng.normal(size=d), c=0.1)
    return [
        linear, norm_, squares, curved, tb.SquaredNorm(dim=d), tb.L1Norm(rng.random(d)), tb.Huber(A, b, 0.7),
        tb.LeastSquares(sparse.random_array(A.shape, density=0.4, rng=rng, format="csr"), b), squares + linear,
        0.1 * squares, 0.7 * (curved + 0.3 * norm_) + linear, 0.1 * tb.SquaredNorm(dim=d),
        0.3 * tb.L1Norm(rng.random(d)),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_random_points(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 7))
    for f in objectives(rng, d):
        for size in (1e-8, 1.0, 1e8):
            check(f, size * rng.normal(size=d))


def test_sums_that_lose_every_term() -> None:
    """n terms may lose n units: no smaller allowance will do."""
    x, root = lost(LOST), np.sqrt(lost(LOST))
    check(tb.Linear(np.ones(x.size)), x)
    check(tb.SquaredNorm(dim=x.size), root)
    check(tb.L1Norm(dim=x.size), x)
    check(tb.L1Norm(x), np.ones(x.size))
    check(tb.LeastSquares(np.ones((1, x.size)), np.zeros(1)), x)


def test_gradients_that_lose_every_term() -> None:
    """A'r with one column along r: the image is exact, and so is the slope."""
    root = np.sqrt(lost(LOST))
    check(tb.LeastSquares(root[:, None], -root), np.zeros(1))


def test_images_that_cancel() -> None:
    """Rounding of A x counts relative to |A| |x|, not to A x."""
    A = np.array([[1e8, -1e8, 1.0], [3e7, -3e7, -1.0]])
    x = np.array([0.1 + 1e-9, 0.1, 0.3])
    for f in (tb.LeastSquares(A, np.array([2.0, 1.0])), tb.Huber(A, np.array([2.0, 1.0]), 0.5)):
        check(f, x)
    check(tb.Linear(A[0]), x)
    check(tb.Quadratic(2.0**-60 * np.eye(3), A[0]), x)


@pytest.mark.parametrize("seed", range(20))
def test_points_where_a_large_q_cancels(seed: int) -> None:
    """Q x is small beside |Q| |x|: the error of the image counts, not the image."""
    rng = np.random.default_rng(seed)
    v, x = rng.normal(size=(2, 4))
    x -= (v @ x) / (v @ v) * v
    Q = 1e8 * np.outer(v, v) + np.eye(4)
    check(tb.Quadratic((Q + Q.T) / 2, np.zeros(4)), x)


def test_residuals_that_are_zero_as_computed() -> None:
    """b is the computed image: value and gradient come out as zero, and are not."""
    rng = np.random.default_rng(3)
    A, x = rng.normal(size=(4, 5)), rng.normal(size=5)
    f = tb.LeastSquares(A, A @ x)
    value, grad = exact(f, x)
    assert f.value(x) == 0 and value > 0 and any(grad)
    check(f, x)
    check(tb.LeastSquares(A, A @ x, scale=2.0**40), x)
    check(2.0**40 * f, x)


def test_sums_of_terms_lose_like_other_sums() -> None:
    """One large term and many that vanish beside it, each exact by itself."""
    one, tiny = tb.Linear([1.0]), tb.Linear([UNIT])
    f = one + tb.SquaredNorm(dim=1)
    for _ in range(40):
        f = f + tiny
    check(f, np.array([2.0**-60]))
    check(f, np.array([1.0]))
    big = tb.Quadratic(np.eye(1), np.zeros(1), c=1.0) + tb.Quadratic(np.eye(1), np.zeros(1), c=UNIT)
    check(big, np.zeros(1))


def test_a_constant_is_rounded_too() -> None:
    check(tb.Quadratic(np.eye(2), np.array([1.0, 1.0]), c=1.0), np.array([2.0**-30, 3.0 * 2.0**-32]))
    check(tb.Quadratic(2.0**-80 * np.eye(2), np.zeros(2), c=0.1), np.array([1e-3, 1e-4]))


def test_gradients_of_shifted_points() -> None:
    f = tb.SquaredNorm(np.array([0.1, 1e9]))
    check(f, np.array([1e8 + 0.7, 0.3]))
    check(0.1 * tb.SquaredNorm(dim=2), np.array([0.3, 0.7]))
    check(1e6 * tb.SquaredNorm(np.array([0.1, 0.7])), np.array([0.3, 1e-9]))


@pytest.mark.parametrize("seed", range(20))
def test_product_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, x = rng.normal(size=(3, 7)) * 10.0 ** rng.integers(-6, 6, (3, 7)), rng.normal(size=7)
    data = DataMatrix(A, "A")
    off = [a - b for a, b in zip(fractions(data.times(x)), times(A, fractions(x)), strict=True)]
    assert norm_is_at_most(off, data.product_error(x)) and data.product_error(x) <= 1e-13 * np.linalg.norm(
        A
    ) * np.linalg.norm(x)
    assert data.product_error(np.zeros(7)) == 0


def test_gamma_is_the_bound_for_sums() -> None:
    """n u / (1 - n u) and a little more."""
    for n in (0, 1, 100, 10**6):
        assert (n + 1) * UNIT / (1 - (n + 1) * UNIT) <= gamma(n) <= (n + 10) * UNIT * 1.001


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("target", ["zero", "small", "near"])
def test_scaled_dual_bound_at_a_single_point(seed: int, target: str) -> None:
    """Over {x} the bound is attained, so that nothing but rounding lies between; large columns cancel in A x."""
    rng = np.random.default_rng(seed)
    A, x = rng.normal(size=(4, 3)), rng.normal(size=3)
    A[:, 0] *= 10.0 ** rng.integers(0, 8)
    A[:, 1] = -A[:, 0]
    x[1] = x[0] * (1 + 1e-9)
    b = {"zero": np.zeros(4), "small": rng.normal(size=4) / 100, "near": A @ x + 1e-4 * rng.normal(size=4)}[target]
    f = tb.LeastSquares(A, b, scale=0.3)
    r = [s - t for s, t in zip(times(A, fractions(x)), fractions(b), strict=True)]
    linear = Fraction(f.scale) * dot(times(A.T, r), fractions(x))
    low = float(linear)
    low = low if Fraction(low) <= linear else float(np.nextafter(low, -np.inf))
    assert Fraction(f.scaled_dual_bound(x, low)) <= exact(f, x)[0]
