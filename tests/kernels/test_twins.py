"""Every kernel against its NumPy twin: the same to the last bits, on random, tied and badly scaled input."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from compiling import compiled
from scipy import sparse

import tiebreak as tb
from tiebreak.kernels import allow_all, axis_cut, gradient_mix, l1_corners, logistic_loss, twins, unit_balls
from tiebreak.kernels.axis_cut import fast_axis_cut
from tiebreak.kernels.soft_threshold import threshold_to_sum
from tiebreak.sets.cuts import envelope

ULP = np.finfo(float).eps


@pytest.fixture(autouse=True)
def _needs_numba() -> None:
    pytest.importorskip("numba", reason="numba is not installed: there are no compiled kernels to compare")
    allow_all()


def coefficients(rng: np.random.Generator, kind: int, dim: int) -> tuple[np.ndarray, np.ndarray]:
    a, c = rng.standard_normal((2, dim))
    if kind == 1:  # ties everywhere
        a, c = a.round(), c.round()
    elif kind == 2:
        a = -c * rng.choice([1.0, 0.5, 0.0])
    elif kind == 3:
        a, c = 1e8 * a, 1e-8 * c.round(1)
    elif kind == 4:  # each entry twice
        a, c = np.repeat(a, 2)[:dim], np.repeat(c, 2)[:dim]
    elif kind == 5:
        c = c * 10.0 ** rng.integers(-8, 8, dim)
    return a, c


def instances(count: int, dims: tuple[int, ...] = (1, 2, 5, 40, 127, 128, 129, 300, 3000)):
    rng = np.random.default_rng(0)
    for k in range(count):
        dim = int(rng.choice(dims))
        a, c = coefficients(rng, k % 6, dim)
        extent, signed = float(10.0 ** rng.integers(-3, 4)), bool(rng.integers(2))
        most = extent * float(np.abs(c).max() if signed else -c.min())
        b = most * float(rng.choice([-1.0, -1 + 1e-13, -1 - 1e-15, -0.9, -0.5, 0.0, 0.3, -1.1]))
        yield a, c, b, extent, signed, float(rng.choice([0.0, 0.1, 1.0, 10.0]))


def test_cut_oracle_to_the_last_bit() -> None:
    kernel, seen = compiled(axis_cut.axis_cut), set()
    for instance in instances(2000):
        expected = axis_cut.axis_cut(*instance)
        assert kernel(*instance) == expected
        seen.add(expected[0])
    assert seen == {0, 1, 2, 3}


def test_cut_oracle_from_a_similar_cut_gives_the_same_answer() -> None:
    kernel, rng, quick = compiled(axis_cut.next_axis_cut), np.random.default_rng(1), 0
    for a, c, b, _, signed, warm in instances(2000):
        expected = axis_cut.axis_cut(a, c, b, 1.0, signed, warm)
        signs = rng.choice([-1.0, 1.0], 2) if signed else np.ones(2)
        random = int(rng.integers(a.size)), signs[0], int(rng.integers(a.size)), signs[1]
        for similar in (random, expected[2:6], (-1, 0.0, -1, 0.0)):
            answer = kernel(a, c, b, signed, max(warm, 0.1), *similar)
            reference = axis_cut.axis_cut(a, c, b, 1.0, signed, max(warm, 0.1))
            assert answer[0] == reference[0]
            if answer[:6] != reference[:6]:  # as good: same value up to rounding, in the cut
                s = point(answer, a.size)
                t = point(reference, a.size)
                size = np.abs(a).max() + abs(reference[6]) * (np.abs(c).max() + abs(b))
                assert abs(a @ s - a @ t) <= 50 * ULP * size
                assert c @ s <= max(b, c @ t) + 50 * ULP * (np.abs(c).max() + abs(b))
            else:
                quick += 1
            if np.isfinite(reference[6]):
                assert answer[6] == pytest.approx(reference[6], rel=1e-9, abs=1e-300)
    assert quick > 5990  # all but a few are the same vertices with the same weight, to the last bit


def point(answer: tuple, dim: int) -> np.ndarray:
    s = np.zeros(dim)
    s[answer[2]] += answer[1] * answer[3]
    s[answer[4]] += (1 - answer[1]) * answer[5]
    return s


def test_statuses_are_numbered_in_their_order() -> None:
    numbers = (axis_cut.INACTIVE, axis_cut.ACTIVE, axis_cut.BOUNDARY, axis_cut.INFEASIBLE)
    assert [envelope.STATUSES[i].name for i in numbers] == ["INACTIVE", "ACTIVE", "BOUNDARY", "INFEASIBLE"]


def test_threshold() -> None:
    kernel, rng = compiled(threshold_to_sum), np.random.default_rng(2)
    for k in range(600):
        dim = int(rng.choice([1, 2, 7, 60, 1000]))
        v = rng.standard_normal(dim) * 10.0 ** rng.integers(-6, 7)
        if k % 3 == 1:
            v = v.round(1)
        w = np.ones(dim) if k % 2 else 10.0 ** rng.uniform(-2, 2, dim)
        total = float(10.0 ** rng.integers(-3, 4))
        if k % 5 == 0:  # as the projection onto the l1 ball calls it
            v = np.abs(v)
            if w @ v <= total:
                continue
            least = 0.0
        else:
            least = -np.inf
        expected, answer = np.empty((2, dim))
        threshold_to_sum(v, w, total, least, expected)
        kernel(v, w, total, least, answer)
        np.testing.assert_allclose(answer, expected, rtol=0, atol=64 * ULP * total / w.min())
        assert w @ answer == pytest.approx(total, rel=1e-12)


def numpy_link(g: tb.Logistic, t: np.ndarray, monkeypatch) -> tuple[float, np.ndarray]:
    with monkeypatch.context() as patch:
        patch.setenv("TIEBREAK_NO_NUMBA", "1")
        return g.link.value_and_slope(t)


@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e-8, 1.0, 30.0, 700.0, 745.0, 1e5, 1e300])
def test_logistic_pass(scale: float, monkeypatch) -> None:
    rng = np.random.default_rng(3)
    n = 1001
    weights = rng.random(n)
    g = tb.Logistic(np.ones((n, 1)), rng.permutation(np.arange(n) % 2), weights)
    t = scale * rng.uniform(-1, 1, n)
    slope = np.empty(n)
    value = compiled(logistic_loss.logistic_link)(t, g.y, g.weights, slope)
    expected, expected_slope = numpy_link(g, t, monkeypatch)
    assert value == pytest.approx(expected, rel=16 * ULP, abs=0)
    np.testing.assert_allclose(slope, expected_slope, rtol=8 * ULP, atol=1e-320)
    right = np.abs(t) * g.y  # all on the right side: the loss is tiny, and must keep its relative accuracy
    value = compiled(logistic_loss.logistic_link)(right, g.y, g.weights, slope)
    assert value == pytest.approx(numpy_link(g, right, monkeypatch)[0], rel=16 * ULP, abs=1e-320)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_logistic_pass_hides_nothing(bad: float, monkeypatch) -> None:
    g = tb.Logistic(np.ones((3, 1)), [1, -1, 1])
    t = np.array([0.5, bad, 1.0])
    np.testing.assert_equal(g.link.value_and_slope(t), numpy_link(g, t, monkeypatch))


@pytest.mark.parametrize("scale", [0.0, 1e-6, 1.0, 30.0, 800.0])
def test_fair_links(scale: float) -> None:
    rng = np.random.default_rng(4)
    t, signs = scale * rng.standard_normal(777), rng.choice([-1.0, 1.0], 777)
    weights, attribute = rng.random(777) / 777, rng.standard_normal(777) / 777
    answer = compiled(logistic_loss.fair_links)(t, signs, weights, attribute)
    expected = logistic_loss.fair_links(t, signs, weights, attribute)
    assert answer[0] == pytest.approx(expected[0], rel=32 * ULP)
    assert answer[2] == pytest.approx(expected[2], abs=8 * ULP * np.abs(attribute).sum())
    for one, other in ((answer[1], expected[1]), (answer[3], expected[3])):
        np.testing.assert_allclose(one, other, rtol=16 * ULP, atol=1e-320)


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 51])
def test_products(rows: int) -> None:
    rng = np.random.default_rng(5)
    A, u, v = rng.standard_normal((rows, 203)), rng.standard_normal(203), rng.standard_normal(203)
    for one, other in zip(
        compiled(logistic_loss.two_products)(A, u, v), logistic_loss.two_products(A, u, v), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=0, atol=203 * ULP * np.abs(A).max() * np.abs(u).max() * 4)


def test_blend() -> None:
    rng = np.random.default_rng(6)
    a, a0, first, second, y = rng.standard_normal((5, 101))
    for p2 in (0.0, -0.3):
        mine, twin = a.copy(), a.copy()
        answer = compiled(gradient_mix.blend)(mine, a0, first, second, 0.7, p2, 0.1, y)
        expected = gradient_mix.blend(twin, a0, first, second, 0.7, p2, 0.1, y)
        np.testing.assert_allclose(mine, twin, rtol=0, atol=8 * ULP * np.abs(twin).max())
        np.testing.assert_allclose(answer, expected, rtol=0, atol=101 * ULP * 8)


@pytest.mark.parametrize("domain", [tb.L1Ball(2.0), tb.L1Ball(2.0, np.arange(1.0, 9.0)), tb.Simplex(3.0)])
def test_sets_answer_the_same_with_and_without(domain, monkeypatch) -> None:
    rng = np.random.default_rng(7)
    for b in (-1.0, -0.1, 0.0, 0.5, -100.0):
        a, c, x = rng.standard_normal((3, 8))
        with monkeypatch.context() as patch:
            patch.setenv("TIEBREAK_NO_NUMBA", "1")
            plain, projection = domain.lmo_cut(a, c, b), domain.project(x)
        fast = domain.lmo_cut(a, c, b)
        np.testing.assert_array_equal(fast.point, plain.point)
        assert (fast.multiplier, fast.gap, fast.status) == (plain.multiplier, plain.gap, plain.status)
        np.testing.assert_allclose(domain.project(x), projection, rtol=0, atol=1e-14)


def test_other_layouts_need_no_other_code() -> None:
    """A strided or read-only array, an int for a float: the answer is there at once, without compiling anew."""
    ball, (a, c) = tb.L1Ball(1.0), np.random.default_rng(8).standard_normal((2, 8))
    expected = ball.lmo_cut(a[::2].copy(), c[::2].copy(), 0.0)
    known = fast_axis_cut.signatures
    frozen = a[::2].copy()
    frozen.flags.writeable = False
    for cut in (ball.lmo_cut(a[::2], c[::2], 0.0), ball.lmo_cut(frozen, c[::2], 0, warm=0)):
        np.testing.assert_array_equal(cut.point, expected.point)
    assert fast_axis_cut.signatures == known


COMPARED_HERE = {
    "lowest", "keep", "at_least", "threshold_to_sum", "logistic_link", "fair_links", "two_products", "blend", "inner",
    "split_columns", "sphere_excess", "ball_point", "corners", "move_to_corners", "copy_columns",
}  # fmt: skip
COMPARED_BY_COLUMNS = {
    "dots", "mix", "rank_one", "factorise", "solve_factored", "product", "ratio", "advance", "highest", "steepest",
    "put", "put_column", "gather", "scatter", "assign", "picked", "lay", "gains", "short_list", "columns",
    "fresh_codes", "norms", "bends", "on_face", "entries", "squares_with_errors", "column_norms",
}  # fmt: skip
STEPS = {"price", "proceed", "interrupted"}  # of the column engine, by whole solves


def test_every_twin_is_compared() -> None:
    assert {plain.__name__ for plain in twins()} == COMPARED_HERE | COMPARED_BY_COLUMNS | STEPS


@pytest.mark.parametrize("signed", [True, False])
def test_passes_over_lines(signed: bool) -> None:
    rng = np.random.default_rng(9)
    for k in range(300):
        a, c = coefficients(rng, k % 6, int(rng.choice([1, 5, 127, 128, 300])))
        lam = float(rng.choice([0.0, 0.3, 5.0]))
        height = float(np.quantile(np.abs(lam * c + a), 0.6))
        for multiplier in (lam, np.inf):
            arguments = a, c, signed, multiplier
            assert compiled(axis_cut.lowest)(*arguments) == axis_cut.lowest(*arguments)
        arguments = a, c, signed, lam, height
        assert compiled(axis_cut.at_least)(*arguments) == axis_cut.at_least(*arguments)
        for index in (np.empty(0, dtype=np.int64), rng.permutation(a.size)):
            arguments = a, c, index, signed, lam, height
            for one, other in zip(compiled(axis_cut.keep)(*arguments), axis_cut.keep(*arguments), strict=True):
                np.testing.assert_array_equal(one, other)


def test_importing_tiebreak_does_not_import_numba() -> None:
    code = "import sys, tiebreak; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_ball_columns() -> None:
    """The pass over the columns, the excess at any multiplier, and the point there."""
    rng, split = np.random.default_rng(4), compiled(unit_balls.split_columns)
    for k in range(300):
        shape = int(rng.integers(1, 6)), int(rng.integers(1, 8))
        A, C = (v.reshape(shape) for v in coefficients(rng, k % 6, shape[0] * shape[1]))
        parts = unit_balls.split_columns(A, C)
        atol = 32 * ULP * (1 + np.abs(parts[4]).max())
        for answer, expected in zip(split(A, C), parts, strict=True):
            np.testing.assert_allclose(answer, expected, rtol=1e-9, atol=atol)
        _, _, scaled, P, t, p, n = parts
        for lam in (0.0, 0.3, 1.0, 1e6, *np.abs(t)):  # at -t_j the column j turns around
            for name, arguments in (("sphere_excess", (t, p, n)), ("ball_point", (P, scaled, t, p, n))):
                answer, expected = (
                    compiled(getattr(unit_balls, name))(lam, *arguments),
                    getattr(unit_balls, name)(lam, *arguments),
                )
                np.testing.assert_allclose(answer, expected, rtol=256 * ULP, atol=8 * ULP)
        answer, expected = (
            function(np.inf, P, scaled, t, p, n)
            for function in (compiled(unit_balls.ball_point), unit_balls.ball_point)
        )
        np.testing.assert_allclose(answer, expected, rtol=256 * ULP)
        assert compiled(unit_balls.inner)(A, C) == pytest.approx(
            unit_balls.inner(A, C), abs=64 * ULP * np.abs(A * C).sum()
        )


def test_corners() -> None:
    rng = np.random.default_rng(5)
    for k in range(200):
        X, slope = rng.standard_normal((2, int(rng.integers(1, 6)), int(rng.integers(1, 8))))
        if k % 2:  # ties, of which the first entry is taken
            slope = slope.round()
        place, gap = compiled(l1_corners.corners)(X, slope, 1.5)
        expected, expected_gap = l1_corners.corners(X, slope, 1.5)
        np.testing.assert_array_equal(place, expected)
        assert gap == pytest.approx(expected_gap, rel=1e-12, abs=1e-13)
        moved, expected_X = X.copy(), X.copy()
        compiled(l1_corners.move_to_corners)(moved, place, slope, 1.5, 0.3)
        l1_corners.move_to_corners(expected_X, place, slope, 1.5, 0.3)
        np.testing.assert_array_equal(moved, expected_X)
        one, other = np.zeros((2, X.shape[0], 4))
        compiled(l1_corners.copy_columns)(X, one)
        l1_corners.copy_columns(X, other)
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("long_indices", [False, True])
def test_squares_of_sparse_rows(long_indices: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against two products, to the errors that the objective admits; empty rows and columns included."""
    rng = np.random.default_rng(4)
    for n, d, density in ((1, 1, 1.0), (3, 50, 0.02), (40, 7, 0.5), (60, 300, 0.1), (7, 2000, 1.0)):
        A = sparse.random_array((n, d), density=density, rng=rng, format="csr")
        if long_indices:
            A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
        b, x, scale = rng.normal(size=n), rng.normal(size=d), float(rng.uniform(0.1, 3))
        objective = tb.LeastSquares(A, b, scale)
        assert objective.data.squares(x, b) is not None
        fast_value, fast = objective.value_and_grad(x)
        value_error, grad_error = objective.rounding(x)
        monkeypatch.setenv("TIEBREAK_NO_NUMBA", "1")
        assert objective.data.squares(x, b) is None
        value, grad = objective.value_and_grad(x)
        monkeypatch.delenv("TIEBREAK_NO_NUMBA")
        assert abs(fast_value - value) <= 2 * value_error
        assert np.linalg.norm(fast - grad) <= 2 * grad_error
        np.testing.assert_array_equal(fast, objective.grad(np.array(x)[::1]))
        np.testing.assert_allclose(fast, objective.grad(np.repeat(x, 2)[::2]), rtol=0)  # not contiguous
    few = np.zeros(d)
    few[3] = 1.0
    assert objective.data.squares(few, b) is None  # there two products with a column are less work
