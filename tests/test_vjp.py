"""Derivatives through answers: closed forms, central differences, and sentences where there is none."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import tiebreak as tb
import vjp as benchmark
from tiebreak.derivatives import vjp
from tiebreak.sets.cone import Cone

FEW = list(benchmark.cases(1, first=20))
POLES = tb.GroupBall([[0, 1], [2]], 1.0)


@pytest.mark.parametrize("number", range(len(FEW)))
def test_answers_in_fractions_and_in_50_digits(number: int) -> None:
    count, worst = benchmark.error(FEW[number], number)
    assert count >= len(FEW[number].data) - 3
    assert worst < 1e-9


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


@pytest.mark.parametrize(("name", "problem"), list(benchmark.degenerate(2)))
def test_degenerate_answers_are_refused(name: str, problem: tb.Problem) -> None:
    words = {"dependent": "depend on each other", "not unique": "not unique", "no say": "not unique"}
    with pytest.raises(ValueError, match=words.get(name, "complementarity")):
        tb.solve(problem).vjp(np.ones(problem.dim))


def test_what_has_no_derivatives_says_so() -> None:
    f, g = tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0])
    exponential = Cone([[-1.0, 0.0], [0.0, 0.0], [0.0, -1.0]], [0.0, 1.0, 0.0], [("exponential", 3)])
    refused = {
        "norms of groups": tb.Problem(tb.GroupNorm([[0, 1]]), g, tb.L2Ball(2.0)),
        "says nothing of its data": tb.Problem(
            tb.Function(value_and_grad=lambda x: (x @ x, 2 * x), convex=True), g, tb.Box(-2, 2)
        ),
        "says nothing of its boundary": tb.Problem(f, tb.Linear([-1.0, 1.0]), exponential),
        "its face may turn": tb.Problem(tb.SquaredNorm([0.1, 0.2, 0.0]), tb.Linear([-1.0, 0.0, -1.0]), POLES),
    }
    for words, problem in refused.items():
        result = tb.solve(problem, tol_upper=1e-2, tol_lower=1e-2)
        with pytest.raises(ValueError, match=words):
            vjp(problem, result.x, np.ones(problem.dim))


def test_a_touching_constraint_has_a_derivative_on_each_side() -> None:
    """x1 is to be 0, where its bound is: below that it stays there, above it follows."""
    make = lambda c: tb.Problem(tb.SquaredNorm(c), tb.Linear([0.0, 1.0]), tb.Box(0, 1))  # noqa: E731
    result = tb.solve(make([0.0, 0.5]))
    with pytest.raises(ValueError, match="one derivative on each side at most"):
        result.vjp([1.0, 1.0])
    slopes = {side: result.vjp([1.0, 0.0], side=side).levels[1]["center"][0] for side in ("held", "free")}
    h = 1e-6
    for side, sign in (("held", -1), ("free", 1)):
        moved = tb.solve(make([sign * h, 0.5])).x[0] - result.x[0]
        assert slopes[side] == pytest.approx(sign * moved / h, abs=1e-9)
    with pytest.raises(ValueError, match="side must be"):
        result.vjp([1.0, 1.0], side="left")


def test_a_slack_that_is_not_used_up_has_no_say() -> None:
    level = tb.LeastSquares([[1.0, 0.0]], [1.0])
    found = tb.solve(tb.Problem(tb.SquaredNorm([0.9, 0.3]), level, tb.Box(-2, 2), slack=0.1)).vjp([1.0, 1.0])
    assert found.levels[0]["slack"] == 0
    assert not found.levels[0]["b"].any()
    assert found.levels[1]["center"] == pytest.approx([1.0, 1.0])


def test_an_optimum_with_several_minimisers_has_a_kink() -> None:
    """The cheapest is anywhere on an edge: another cost makes it one end or the other."""
    problem = tb.Problem(tb.SquaredNorm([0.3, 0.4]), tb.Linear([1.0, 0.0]), tb.Box(0, 1), slack=0.2)
    found = tb.solve(problem).vjp([1.0, 0.0])
    assert found.levels[0]["slack"] == pytest.approx(1.0)
    assert found.domain["lower"].tolist() == pytest.approx([1.0, 0.0])
    with pytest.raises(ValueError, match="several minimisers"):
        found.levels[0]["c"]


def test_blocks_of_a_product_have_their_names() -> None:
    Z = tb.Product({"w": tb.L2Ball(1.0, [0.0, 0.0]), "p": (tb.Simplex(), 2), "rest": tb.Box([-1.0], [1.0])})
    c = np.array([3.0, 4.0, 0.1, 0.2, 0.5])
    found = tb.solve(tb.Problem(tb.SquaredNorm(dim=5), tb.SquaredNorm(c), Z)).vjp([1.0, 0, 0, 0, 0])
    assert found.domain["w.radius"] == pytest.approx(0.6)
    assert found.domain["w.center"] == pytest.approx([1 - 0.2 * 0.64, 0.2 * 0.48])
    assert {"p.high", "rest.upper"} <= set(found.domain)
    assert not found.domain["p.high"].any()


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


def test_layers_know_slack_rows_and_sides() -> None:
    from tiebreak.layers import Solved

    def plan(A_ub: np.ndarray, b_ub: np.ndarray, slack: np.ndarray) -> tb.Problem:
        Z = tb.Polyhedron(A_ub=-A_ub, b_ub=-b_ub, A_eq=[[0.0, 0.0, 1.0]], b_eq=[0.5], bounds=(0, 3))
        return tb.Problem(tb.SquaredNorm(), tb.Linear([1.0, 1.5, 0.0]), Z, slack=float(slack))

    parameters = [("domain", "A_ub"), ("domain", "b_ub"), (0, "slack")]
    arrays = [np.array([[1.0, 1.0, 0.0]]), np.array([2.0]), np.array(0.1)]
    solved = Solved(plan, parameters, {})
    assert solved.batched([3, 1, 0]) == (True, False, False)
    v, h = np.array([1.0, 0.3, -0.2]), 1e-5
    for k, slope in enumerate(solved.pull(v, *arrays)):
        direction = np.linspace(1, 2, arrays[k].size).reshape(arrays[k].shape)
        ends = [solved.answer(*arrays[:k], arrays[k] + s * h * direction, *arrays[k + 1 :]) for s in (1, -1)]
        assert slope is not None
        assert -np.sum(slope * direction) * (-1 if k == 2 else 1) == pytest.approx(
            v @ (ends[0] - ends[1]) / 2 / h, abs=1e-6
        )
    touching = Solved(
        lambda c: tb.Problem(tb.SquaredNorm(c), tb.Linear([0.0, 1.0]), tb.Box(0, 1)), [(1, "center")], {}, "held"
    )
    assert touching.pull(np.ones(2), np.array([0.0, 0.5]))[0] == pytest.approx([0.0, 0.0])
