"""Derivatives through answers: closed forms, central differences, and sentences where there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import tiebreak as tb
import vjp as benchmark

FEW = [case for i, case in enumerate(benchmark.cases()) if 6 <= i < 18]


@pytest.mark.parametrize("number", range(len(FEW)))
def test_central_differences(number: int) -> None:
    count, worst = benchmark.error(FEW[number], number)
    assert count == len(FEW[number][2])
    assert worst < 1e-7


def test_the_derivative_of_the_pseudo_inverse() -> None:
    """x = A^+ b: d x = -A^+ dA x + (I - A^+ A) dA' (A^+)' x + A^+ db for A of full row rank."""
    rng = np.random.default_rng(0)
    A, b, v, dA = rng.normal(size=(3, 6)), rng.normal(size=3), rng.normal(size=6), rng.normal(size=(3, 6))
    inverse = np.linalg.pinv(A)
    x = inverse @ b
    moved = -inverse @ dA @ x + (np.eye(6) - inverse @ A) @ dA.T @ (inverse.T @ x)
    found = tb.solve(tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, b))).vjp(v)
    assert np.sum(found.levels[0]["A"] * dA) == pytest.approx(v @ moved, rel=1e-10)
    assert found.levels[0]["b"] == pytest.approx(inverse.T @ v, rel=1e-10)
    assert found.levels[1]["center"] == pytest.approx(v - inverse @ (A @ v), rel=1e-9)
    assert found.levels[0]["scale"] == pytest.approx(0.0, abs=1e-12)
    assert found.x == pytest.approx(x, rel=1e-12)


def test_a_tall_matrix_of_low_rank_may_change_its_targets_but_not_itself() -> None:
    rng = np.random.default_rng(1)
    A, b, v = rng.normal(size=(5, 2)) @ rng.normal(size=(2, 4)), rng.normal(size=5), rng.normal(size=4)
    data = tb.solve(tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, b), tb.Box(-50, 50))).vjp(v).levels[0]
    assert data["b"] == pytest.approx(np.linalg.pinv(A, rcond=1e-10).T @ v, rel=1e-8)
    with pytest.raises(ValueError, match="rank that another A may change"):
        data["A"]
    assert set(data.refused) == {"A"}


def test_the_cost_of_a_tied_level_has_no_derivative_and_that_of_one_that_decides_has_none_to_speak_of() -> None:
    square = tb.Box(0, 1)
    tied = tb.solve(tb.Problem(tb.SquaredNorm([0.3, 0.4]), tb.Linear([1.0, 0.0]), square)).vjp([1.0, 1.0])
    with pytest.raises(ValueError, match="x would jump"):
        tied.levels[0]["c"]
    assert tied.levels[1]["center"].tolist() == pytest.approx([0.0, 1.0])
    assert tied.domain["lower"].tolist() == pytest.approx([1.0, 0.0])
    decided = tb.solve(tb.Problem(tb.SquaredNorm(), tb.Linear([1.0, -1.0]), square)).vjp([1.0, 1.0])
    assert not decided.levels[0]["c"].any()
    assert decided.domain["upper"].tolist() == pytest.approx([0.0, 1.0])


def test_the_radius_of_a_ball_moves_what_lies_on_it() -> None:
    c = np.array([3.0, 4.0])
    on = tb.solve(tb.Problem(tb.SquaredNorm(dim=2), tb.SquaredNorm(c), tb.L2Ball(1.0))).vjp([1.0, 0.0])
    assert on.domain["radius"] == pytest.approx(0.6)
    assert on.levels[0]["center"] == pytest.approx((np.array([1.0, 0.0]) - 0.6 * c / 5) / 5)
    inside = tb.solve(tb.Problem(tb.SquaredNorm(dim=2), tb.SquaredNorm(c), tb.L2Ball(9.0))).vjp([1.0, 0.0])
    assert inside.domain["radius"] == 0
    assert inside.levels[0]["center"] == pytest.approx([1.0, 0.0])


@pytest.mark.parametrize(("name", "problem"), list(benchmark.degenerate())[:8])
def test_degenerate_answers_are_refused(name: str, problem: tb.Problem) -> None:
    words = {"touching": "complementarity", "dependent": "depend on each other"}
    with pytest.raises(ValueError, match=words.get(name, "not unique")):
        tb.solve(problem).vjp(np.ones(problem.dim))


def test_what_has_no_derivatives_says_so() -> None:
    f, g = tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0])
    refused = {
        "without slack": tb.Problem(f, g, tb.Box(-2, 2), slack=0.1),
        "norms and piecewise": tb.Problem(tb.L1Norm(), g, tb.Box(-2, 2)),
        "says nothing of its data": tb.Problem(
            tb.Function(value_and_grad=lambda x: (x @ x, 2 * x), convex=True), g, tb.Box(-2, 2)
        ),
        "sets given by rows": tb.Problem(f, tb.LeastSquares(np.ones((1, 4)), [1.0]), tb.Spectrahedron(2)),
    }
    for words, problem in refused.items():
        result = tb.solve(problem, tol_upper=1e-2, tol_lower=1e-2)
        with pytest.raises(ValueError, match=words):
            result.vjp(np.ones(problem.dim))


def test_a_loaded_result_wants_its_problem(tmp_path: Path) -> None:
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.Box(-2, 2))
    result = tb.solve(problem)
    result.save(tmp_path / "r.npz")
    loaded = tb.Result.load(tmp_path / "r.npz")
    with pytest.raises(ValueError, match="does not know its problem"):
        loaded.vjp([1.0, 0.0])
    assert loaded.vjp([1.0, 0.0], problem).levels[0]["b"] == pytest.approx([0.5])
    with pytest.raises(ValueError, match="expected 2"):
        result.vjp([1.0])


def test_a_run_without_success_has_no_derivative() -> None:
    A = np.random.default_rng(0).normal(size=(3, 6))
    problem = tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, np.ones(3)), tb.L2Ball(0.5))
    result = tb.solve(problem, "cg-bio", max_iter=3, tol_upper=1e-9, tol_lower=1e-9)
    with pytest.raises(ValueError, match="not with success"):
        result.vjp(np.ones(6))


def test_every_term_of_a_sum_has_its_own() -> None:
    f = 2 * tb.SquaredNorm([1.0, 0.0]) + tb.Linear([0.0, 1.0])
    found = tb.solve(tb.Problem(f, tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.Box(-9, 9))).vjp([1.0, 0.0])
    assert set(found.levels[1]) == {"0.center", "0.weights", "1.c"}
    assert found.levels[1]["1.c"] == pytest.approx([-0.25, 0.25])
    assert found.levels[1]["0.center"] == pytest.approx([0.5, -0.5])


def test_a_star_needs_no_door_and_a_missing_one_names_its_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    exec("from tiebreak import *", {})
    for name in ("jax", "torch"):
        monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.delitem(sys.modules, f"tiebreak.{name}", raising=False)
        with pytest.raises(ImportError, match=rf"pip install 'tiebreak\[{name}\]'"):
            getattr(tb, f"from_{name}")
