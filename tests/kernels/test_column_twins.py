"""The column engine compiled and not: kernels against their NumPy twins, then whole solves by both."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from compiling import compiled
from scipy import sparse

import tiebreak as tb
from tiebreak.engines.columns.solve import solve_columns
from tiebreak.kernels import allow_all, leading_parts, small_factors, small_matrices, vertex_prices

ULP = np.finfo(float).eps


@pytest.fixture(autouse=True)
def _needs_numba() -> None:
    pytest.importorskip("numba", reason="numba is not installed: there are no compiled kernels to compare")
    allow_all()


def both(name: str) -> tuple[Callable, Callable]:
    homes = [home for home in (small_matrices, small_factors, leading_parts, vertex_prices) if hasattr(home, name)]
    plain = getattr(homes[0], name)
    return compiled(plain), plain


def matrix(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """With more rows and columns than are in use."""
    M = rng.normal(size=(rows + 3, columns + 5)) * 10.0 ** rng.integers(-6, 7)
    return M.round() if rng.integers(3) == 0 else M


def test_products_and_updates() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        rows, columns = (int(size) for size in rng.integers(0, 20, 2))
        M, x, u = matrix(rng, rows, columns), rng.normal(size=columns), rng.normal(size=rows)
        for name, arguments, terms in (("dots", (M, x, rows), columns), ("mix", (u, M, columns), rows)):
            kernel, plain = both(name)
            scale = np.abs(M).max() * 10 * (1 + terms)
            np.testing.assert_allclose(kernel(*arguments), plain(*arguments), rtol=0, atol=8 * ULP * scale)
        np.testing.assert_allclose(both("product")[0](M, M.T), both("product")[1](M, M.T), rtol=1e-12, atol=1e-300)
        for name, arguments in (
            ("lay", (rng.normal(size=(rows, columns)),)),
            ("rank_one", (u, x)),
            ("put", (rows, x)),
            ("put_column", (columns, u)),
        ):
            kernel, plain = both(name)
            one, two = M.copy(), M.copy()
            kernel(one, *arguments)
            plain(two, *arguments)
            np.testing.assert_allclose(one, two, rtol=0, atol=8 * ULP * (np.abs(M).max() + 30))
            assert np.array_equal(one[rows + 1 :], M[rows + 1 :])  # nothing beyond the leading part changes


def test_entries() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        size, count = int(rng.integers(1, 30)), int(rng.integers(1, 30))
        count = min(size, count)
        x, index, values = rng.normal(size=size).round(1), rng.permutation(size), rng.normal(size=count)
        M = matrix(rng, size, size)
        for name, arguments in (
            ("gather", (x, index, count)),
            ("steepest", (M, size, count)),
            ("highest", (M, count)),
            ("fresh_codes", (index, rng.integers(-1, 2, size))),
            ("short_list", (x, float(np.quantile(x, 0.3)), count)),
            ("short_list", (x, -np.inf, count)),
            ("picked", (M, index[:count])),
            ("gains", (x, 0.0, x, np.ones(size), True)),
            ("entries", (np.concatenate([index, index + size]), rng.uniform(1, 2, size))),
            ("on_face", (index[:count], x, 0.5, M[0, :size], np.ones(size), bool(rng.integers(2)), M[0, 0])),
            ("gains", (x, 0.5, rng.normal(size=size), rng.uniform(1, 2, size), bool(rng.integers(2)))),
        ):
            kernel, plain = both(name)
            np.testing.assert_array_equal(kernel(*arguments), plain(*arguments), err_msg=name)
        for name, arguments in (
            ("scatter", (index, values, -1.0)),
            ("assign", (values,)),
            ("advance", (values, 0.3)),
        ):
            kernel, plain = both(name)
            one, two = x.copy(), x.copy()
            kernel(one, *arguments)
            plain(two, *arguments)
            np.testing.assert_allclose(one, two, rtol=0, atol=4 * ULP, err_msg=name)
        one, two = np.zeros((2, count, size + 4))
        arguments = (M[:, :size], index[:count], values, rng.normal(size=M.shape[0]))
        for kernel, out in zip(both("columns"), (one, two), strict=True):
            kernel(*arguments, out, 1)
        np.testing.assert_allclose(one, two, rtol=0, atol=8 * ULP * np.abs(M).max() * 5)
        kernel, plain = both("bends")
        arguments = (
            rng.normal(size=(size, 4)),
            rng.normal(size=(9, size)),
            rng.normal(size=(9, 4)),
            np.array([3, 8, 0]),
        )
        np.testing.assert_allclose(kernel(*arguments), plain(*arguments), rtol=1e-12, atol=1e-12)
        kernel, plain = both("norms")
        np.testing.assert_allclose(kernel(M), plain(M), rtol=1e-14)


def test_factors() -> None:
    rng = np.random.default_rng(2)
    factorise, plain_factorise = both("factorise")
    solve, plain_solve = both("solve_factored")
    for k in range(100):
        q = int(rng.integers(1, 25))
        K = rng.normal(size=(q, q if k % 3 else max(q - 1, 1)))
        H, done = np.zeros((q + 2, q + 2)), int(rng.integers(0, q))
        H[:q, :q] = K @ K.T
        for factor, substitute in ((factorise, solve), (plain_factorise, plain_solve)):
            L, x = np.zeros_like(H), rng.normal(size=q)
            if not factor(H, L, 0, q, 1e-9):
                continue
            L[done:] = 0.0  # what is left is extended to the same factor
            assert factor(H, L, done, q, 1e-9)
            np.testing.assert_allclose(
                np.tril(L[:q, :q]) @ np.tril(L[:q, :q]).T, H[:q, :q] + 1e-9 * np.eye(q), atol=1e-11
            )
            np.testing.assert_allclose((H[:q, :q] + 1e-9 * np.eye(q)) @ substitute(L, x), x, atol=1e-4)
        H[q - 1, q - 1] = -1.0
        assert not factorise(H, np.zeros_like(H), 0, q, 1e-9)
        assert not plain_factorise(H, np.zeros_like(H), 0, q, 1e-9)


def test_ratio() -> None:
    kernel, plain = both("ratio")
    rng = np.random.default_rng(3)
    seen = set()
    for k in range(1000):
        size = int(rng.integers(1, 12))
        w, step = rng.uniform(0, 1, size), rng.normal(size=size) * 10.0 ** rng.integers(-9, 3)
        if k % 2:  # ties and zeros
            w, step = w.round(1), step.round(1)
        if np.abs(step).max() > 0:
            assert kernel(w, step) == plain(w, step)
            seen.add(plain(w, step)[1] < 0)
    assert seen == {True, False}


KINDS = ("gauss", "integer", "duplicates", "low rank", "zero columns", "bad scaling", "interpolation", "one column")


def problem(kind: str, seed: int) -> tb.Problem:
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    n, d, m = int(rng.integers(2, 12)), int(rng.integers(4, 40)), int(rng.integers(1, 45))
    if kind == "one column":
        d = 1
    A, B = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    b, y = rng.normal(size=n) * rng.choice([0.1, 1, 5]), 2 * rng.normal(size=m)
    if kind == "integer":
        A, B, b, y = rng.integers(-2, 3, (n, d)) / 1.0, rng.integers(-2, 3, (m, d)) / 1.0, b.round(), y.round()
    if kind == "duplicates":
        half = d // 2
        A[:, half : 2 * half] = A[:, :half]
        if seed % 3 == 0:
            B[:, half : 2 * half] = B[:, :half]
    if kind == "low rank":
        A = rng.integers(-2, 3, (n, 2)) @ rng.integers(-2, 3, (2, d)) / 1.0
    if kind == "zero columns":
        A[:, : d // 3] = 0.0
        B[:, d // 4 : d // 2] = 0.0
    if kind == "bad scaling":
        A, b, B = 1e6 * A, 1e6 * b, 1e-4 * B
    if kind == "interpolation":
        b = A @ np.where(rng.random(d) < 0.2, rng.normal(size=d), 0.0)
    radius = float(rng.choice([0.1, 0.5, 1, 2, 5, 20]))
    domain = (tb.L1Ball(radius), tb.Simplex(radius), tb.L1Ball(radius, rng.uniform(0.5, 2, d)))[seed % 3]
    upper = tb.LeastSquares(B, y) if seed % 7 else tb.Linear(y[0] * B[0])
    return tb.Problem(upper, tb.LeastSquares(np.asfortranarray(A) if seed % 5 == 0 else A, b), domain)


def test_same_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Same values always; the same steps and the same point unless rounding decides a tie."""
    instances = [problem(kind, seed) for kind in KINDS for seed in range(18)]
    fast = [solve_columns(one) for one in instances]
    monkeypatch.setenv("TIEBREAK_NO_NUMBA", "1")
    plain = [solve_columns(one) for one in instances]
    same_steps = same_point = 0
    for one, a, b in zip(instances, fast, plain, strict=True):
        f, scale = one.upper.value(b.x), 1 + abs(one.upper.value(b.x))
        assert abs(one.upper.value(a.x) - f) <= 1e-10 * scale
        assert a.g_lower <= b.g_upper and b.g_lower <= a.g_upper
        assert a.f_lower <= b.f_upper and b.f_lower <= a.f_upper
        assert (a.lower_unique, a.upper_constant, a.well_posed) == (b.lower_unique, b.upper_constant, b.well_posed)
        same_steps += a.steps == b.steps
        same_point += np.abs(a.x - b.x).max() <= 1e-12 * np.abs(b.x).max()
    assert same_steps >= 0.9 * len(instances)
    assert same_point >= 0.9 * len(instances)


def test_products_with_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    from tiebreak.engines.columns.level import Smooth

    rng = np.random.default_rng(5)
    for rows in (1, 3, 4, 7, 130):
        M, v = rng.normal(size=(rows, 9)), rng.uniform(0, 1, rows)
        x = np.where(rng.random(9) < 0.5, rng.normal(size=9), 0.0)
        expected = (M @ x, np.abs(M) @ np.abs(x), np.linalg.norm(M, axis=0))
        for unwanted in ("", "1"):
            for data in (M, np.asfortranarray(M), sparse.csr_array(M)):
                monkeypatch.setenv("TIEBREAK_NO_NUMBA", unwanted)
                level = Smooth(tb.LeastSquares(data, np.ones(rows)).form, 9)
                found = (*level.times_with_sizes(x), level.column_norms)
                for one, other in zip(found, expected, strict=True):
                    np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-14)
                sizes = v @ np.abs(M)
                assert np.all(level.sizes_pulled(v) >= sizes * (1 - 1e-14))
                assert np.all(level.sizes_pulled(v) <= np.sqrt(rows) * sizes.max() * 3)


def test_least_squares_with_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The compiled pass says what the products say, of the values and of their errors."""
    from tiebreak.engines.columns.evaluated import evaluated
    from tiebreak.engines.columns.level import Smooth

    rng = np.random.default_rng(6)
    for n, d in ((1, 1), (3, 9), (4, 2), (7, 40), (130, 60)):
        objective = tb.LeastSquares(rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, (n, 1)), rng.normal(size=n))
        x = np.where(rng.random(d) < 0.5, rng.normal(size=d), 0.0)
        monkeypatch.setenv("TIEBREAK_NO_NUMBA", "1")
        plain = evaluated(objective, Smooth(objective.form, d), x)
        monkeypatch.delenv("TIEBREAK_NO_NUMBA")
        fast = evaluated(objective, Smooth(objective.form, d), x)
        assert fast.value == pytest.approx(plain.value, rel=1e-13)
        np.testing.assert_allclose(fast.grad, plain.grad, rtol=1e-12, atol=1e-13 * np.abs(plain.grad).max())
        np.testing.assert_allclose(fast.image, plain.image, rtol=1e-12, atol=1e-13 * np.abs(plain.image).max())
        assert fast.value_error == pytest.approx(plain.value_error, rel=1e-9)
        assert fast.image_error == pytest.approx(plain.image_error, rel=1e-9)
        np.testing.assert_allclose(fast.grad_error, plain.grad_error, rtol=1e-9)
