"""Objectives of data in chunks against those of the same data in memory, and against 64-bit extended sums."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

import tiebreak as tb
import tiebreak.dask as td

KINDS = ("squares", "weighted squares", "mean", "logistic", "weighted logistic", "poisson", "huber", "hinge")
KINDS += ("covariance",)


def sample(seed: int, n: int = 500, d: int = 5, unit: float = 1.0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    A[:, -1] = A[:, 0]
    b = A @ rng.standard_normal(d) + rng.standard_normal(n)
    w = rng.random(n)
    w[::7] = 0.0
    return {"A": A * unit, "b": b, "y": (b > 0).astype(float), "w": w, "c": rng.poisson(2.0, n).astype(float)}


def objective(kind: str, A: object, of: dict[str, np.ndarray]) -> tb.Objective:
    return {
        "squares": lambda: tb.LeastSquares(A, of["b"]),
        "weighted squares": lambda: tb.LeastSquares(A, of["b"], 3.0, weights=of["w"]),
        "mean": lambda: tb.LeastSquares(A, of["b"], 1 / len(of["b"])),
        "logistic": lambda: tb.Logistic(A, of["y"]),
        "weighted logistic": lambda: tb.Logistic(A, 2 * of["y"] - 1, of["w"]),
        "poisson": lambda: tb.Poisson(A, of["c"]),
        "huber": lambda: tb.Huber(A, of["b"], 0.7, of["w"]),
        "hinge": lambda: tb.SquaredHinge(A, of["y"]),
        "covariance": lambda: tb.SquaredCovariance(A, of["w"]),
    }[kind]()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("unit", [1e-3, 1.0])
def test_values_gradients_and_curvature_are_those_in_memory(kind: str, unit: float) -> None:
    of = sample(KINDS.index(kind), unit=unit)
    data = td.chunked(of["A"], chunk_rows=77, scheduler="synchronous")
    near, far = objective(kind, of["A"], of), objective(kind, data, of)
    rng = np.random.default_rng(9)
    for _ in range(3):
        x, d = rng.standard_normal((2, near.dim)) * 0.3 / unit
        value, grad = near.value_and_grad(x)
        errors = np.add(near.rounding(x), far.rounding(x))
        assert abs(far.value(x) - value) <= errors[0]
        assert np.linalg.norm(far.grad(x) - grad) <= errors[1]
        assert errors[1] <= 1e-6 * (1 + np.linalg.norm(grad))
        if near.convex:
            bent = near.hessian_times(x, d)
            np.testing.assert_allclose(far.hessian_times(x, d), bent, rtol=1e-9, atol=1e-9 * unit**2)
            if near.smoothness is None:
                assert far.curvature_within(x, 0.1) >= 0.999 * near.curvature_within(x, 0.1)
    if near.smoothness is not None:
        assert far.smoothness == pytest.approx(near.smoothness, rel=1e-8)
    assert (far.convex, far.quadratic) == (near.convex, near.quadratic)
    assert far.lower_bound == (0.0 if kind != "poisson" else -np.inf)


@pytest.mark.parametrize("kind", ["squares", "logistic", "covariance"])
def test_rounding_bounds_hold_against_extended_precision(kind: str) -> None:
    of = sample(3, n=3000)
    far = objective(kind, td.chunked(of["A"], chunk_rows=100, scheduler="synchronous"), of)
    x = np.random.default_rng(1).standard_normal(5)
    A, t = of["A"].astype(np.longdouble), of["A"].astype(np.longdouble) @ x
    if kind == "squares":
        value, grad = ((t - of["b"]) ** 2).sum() / 2, A.T @ (t - of["b"])
    elif kind == "logistic":
        s = 2 * of["y"] - 1
        value, grad = np.log1p(np.exp(-s * t)).mean(), -A.T @ (s / (1 + np.exp(s * t))) / len(t)
    else:
        w = of["w"].astype(np.longdouble)
        w, sigma = (w - w.mean()) / len(t), 1 / (1 + np.exp(-t))
        c = w @ sigma
        value, grad = c * c, 2 * c * (A.T @ (w * sigma * (1 - sigma)))
    value_error, grad_error = far.rounding(x)
    assert abs(far.value(x) - value) <= value_error
    assert np.linalg.norm((far.grad(x) - grad).astype(float)) <= grad_error


def test_how_many_chunks_make_a_task_changes_no_bit() -> None:
    of = sample(4, n=1000)
    answers = []
    for level in range(6):
        data = td.chunked(of["A"], chunk_rows=33, scheduler="threads" if level == 3 else "synchronous")
        data._level = lambda kind, level=level: level  # type: ignore[method-assign]
        f = tb.LeastSquares(data, of["b"])
        answers.append((f.value(np.ones(5)), f.grad(np.ones(5)).tobytes(), f.smoothness))
        assert data.passes[-1].tasks == -(-31 // 2**level)
    assert len(set(answers)) == 1


def test_levels_on_the_same_data_are_answered_in_one_pass() -> None:
    of = sample(5)
    data = td.chunked(of["A"], chunk_rows=100, scheduler="synchronous")
    f, g = tb.LeastSquares(data, of["b"]), tb.Logistic(data, of["y"])
    for k in range(5):
        x = np.full(5, 0.1 * k)
        assert (g.value(x), f.value(x), f.rounding(x)) is not None
    assert len([one for one in data.passes if one.kind == "Evaluate"]) == 2 + 4  # at the first point nobody knows yet


def test_dask_arrays_are_taken_as_they_are() -> None:
    of = sample(6)
    A, b = da.from_array(of["A"], chunks=(120, 5)), da.from_array(of["b"], chunks=70)  # b is cut to the chunks of A
    far = tb.LeastSquares(A.astype(np.float32), b)
    near = tb.LeastSquares(of["A"].astype(np.float32), of["b"])
    x = np.arange(5.0)
    assert far.value(x) == pytest.approx(near.value(x), rel=1e-13)  # float32 is converted, not computed in
    sparse = A.map_blocks(sp.csr_array, dtype=float)
    assert tb.Logistic(sparse, of["y"]).value(x) == pytest.approx(tb.Logistic(of["A"], of["y"]).value(x), rel=1e-13)
    b = b.rechunk(120)
    unknown = A[b > 0]  # lengths of chunks that nobody knows
    assert np.isnan(unknown.shape[0])
    kept = of["b"] > 0
    far = tb.Logistic(unknown, b[b > 0] > 1)
    near = tb.Logistic(of["A"][kept], of["b"][kept] > 1)
    assert far.value(x) == pytest.approx(near.value(x), rel=1e-13)


def test_sums_multiples_and_local_objectives_mix() -> None:
    of = sample(7)
    data = td.chunked(of["A"], chunk_rows=90, scheduler="synchronous")
    far = 2 * tb.Logistic(data, of["y"]) + tb.LeastSquares(np.eye(5), np.ones(5)) + tb.Linear(np.ones(5))
    near = 2 * tb.Logistic(of["A"], of["y"]) + tb.LeastSquares(np.eye(5), np.ones(5)) + tb.Linear(np.ones(5))
    x = np.linspace(-1, 1, 5)
    assert far.value(x) == pytest.approx(near.value(x), rel=1e-14)
    np.testing.assert_allclose(far.grad(x), near.grad(x), rtol=1e-13)


@pytest.mark.parametrize("method", ["apb-apg", "cg-bio-anytime", "big-sam"])
def test_methods_run_unchanged(method: str) -> None:
    of = sample(8)
    data = td.chunked(of["A"], chunk_rows=90, scheduler="synchronous")
    results = [
        tb.solve(tb.Problem(tb.SquaredNorm(), tb.Logistic(rows, of["y"]), tb.L1Ball(2.0)), method, max_iter=40)
        for rows in (of["A"], data)
    ]
    assert results[0].nit == results[1].nit
    np.testing.assert_allclose(results[1].x, results[0].x, atol=1e-7)
    assert results[1].certificate.f_lower == pytest.approx(results[0].certificate.f_lower, abs=1e-6)
