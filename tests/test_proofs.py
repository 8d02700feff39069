"""Rational proofs: what is proved is checked by another program; what is not a proof is refused."""

from __future__ import annotations

import ast
import copy
import json
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiebreak as tb
from proofs import CHECKER, chain, checked, tampered
from tiebreak import proof_checker
from tiebreak.rational import prove


@pytest.mark.parametrize("seed", range(200, 240))
def test_chains_are_proved_and_checked(seed: int) -> None:
    problem = chain(seed)
    result = tb.solve(problem)
    proof = result.prove(problem)
    assert proof_checker.check(json.loads(json.dumps(proof.document))) == list(proof.values)
    for level, value in zip(result.levels, proof.values, strict=True):
        assert level.lower <= value <= level.upper
    x = np.array([float(value) for value in proof.x])
    found = [level.value(x) for level in problem.levels]
    np.testing.assert_allclose(found, [float(value) for value in proof.values], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", [202, 205, 218, 228, 229])
def test_from_anywhere_the_same_values(seed: int) -> None:
    problem = chain(seed)
    far = np.random.default_rng(seed).standard_normal(problem.dim)
    assert prove(problem, far, 60.0).values == tb.solve(problem).prove(problem).values


def test_the_checker_is_a_program_of_its_own(tmp_path: Path) -> None:
    text = CHECKER.read_text()
    assert len(text.splitlines()) < 200
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.Import, ast.ImportFrom))]
    named = {node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in nodes}
    assert named <= sys.stdlib_module_names
    problem = chain(3)
    proof = tb.solve(problem).prove(problem)
    assert checked(proof, tmp_path) == (True, "proved")
    assert not checked(proof, tmp_path, {**proof.document, "format": "another"})[0]


@pytest.mark.parametrize("seed", range(200, 210))
def test_tampered_files_are_refused(seed: int) -> None:
    problem = chain(seed)
    document = tb.solve(problem).prove(problem).document
    for _, forged in tampered(document, np.random.default_rng(seed)):
        with pytest.raises(proof_checker.Refused):
            proof_checker.check(forged)


def small() -> dict[str, Any]:
    """min x1 + x2, then 1/2 |x - (3, 0)|^2, over x >= 0 and x1 + x2 >= 1: x = (1, 0)."""
    problem = tb.Problem(
        tb.SquaredNorm([3.0, 0.0]),
        tb.Linear([1.0, 1.0]),
        tb.Polyhedron(A_ub=[[-1.0, -1.0]], b_ub=[-1.0], bounds=(0, None)),
    )
    proof = tb.solve(problem).prove(problem)
    assert proof.values == (1, 2)
    assert proof.x == (1, 0)
    return copy.deepcopy(proof.document)


def test_a_wrong_sign_at_the_first_level_is_refused() -> None:
    file = small()
    file["levels"][0]["linear"] = [[0, "-1/1"], [1, "-1/1"]]  # maximise: the same point, multipliers of the other sign
    for one in file["multipliers"][0]["rows"]:
        one[1] = one[1].removeprefix("-") if one[1].startswith("-") else "-" + one[1]
    file["values"][0] = "-1/1"
    with pytest.raises(proof_checker.Refused, match="wrong sign"):
        proof_checker.check(file)


def test_the_order_of_levels_counts() -> None:
    file = small()
    for name in ("levels", "values"):
        file[name].reverse()
    with pytest.raises(proof_checker.Refused):
        proof_checker.check(file)


def test_a_level_that_is_not_convex_is_refused() -> None:
    file = small()
    file["levels"][1] = {"squares": [], "quadratic": [[[0, "-1/1"]], []], "linear": [], "constant": "0/1"}
    with pytest.raises(proof_checker.Refused, match="negative eigenvalue"):
        proof_checker.check(file)


def test_eigenvalues_by_elimination() -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        n, rank = int(rng.integers(1, 7)), int(rng.integers(0, 5))
        F = rng.integers(-3, 4, (rank, n))
        Q = F.T @ F - (rng.random() < 0.5) * np.diag(np.arange(n) == rng.integers(n)).astype(int)
        rows = [{j: Fraction(int(v), 3) for j, v in enumerate(row) if v} for row in Q]
        assert proof_checker.not_negative(rows) == (np.linalg.eigvalsh(Q)[0] > -1e-9)


HOSTILE: list[Any] = [
    None, [], 3, "x", {}, {"format": "tiebreak proof 1"},
    {"variables": True}, {"variables": 10**9}, {"variables": -1}, {"x": ["1/0", "0/1"]}, {"x": [1.0, 0.0]},
    {"x": ["0x1p/1", "0/1"]}, {"x": ["1/1"]}, {"rows": [None]},
    {"rows": [{"a": [[5, "1/1"]], "low": None, "high": None}]},
    {"rows": [{"a": [[0, "1/1"], [0, "1/1"]], "low": None, "high": None}]}, {"levels": []}, {"levels": [[], []]},
    {"multipliers": [{}, {}]}, {"values": [None, None]}, {"values": ["nan", "inf"]}, {"multipliers": {}},
]  # fmt: skip


@pytest.mark.parametrize("change", HOSTILE, ids=str)
def test_hostile_files_are_refused(change: Any) -> None:
    file = {**small(), **change} if isinstance(change, dict) and "format" not in change and change else change
    with pytest.raises(proof_checker.Refused):
        proof_checker.check(file)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\x00", '{"format": NaN}', "é"], ids=range(6))
def test_files_that_are_no_json_are_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "proof.json"
    path.write_text(text, encoding="utf-8")
    assert proof_checker.main([str(path)]) == 1
    assert capsys.readouterr().out.startswith("refused: ")


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (tb.Problem(tb.SquaredNorm(), tb.Linear([1.0, 1.0]), tb.Simplex(1.0), slack=0.1), "slack"),
        (tb.Problem(tb.SquaredNorm(), tb.Linear([1.0, 1.0]), tb.L2Ball(1.0)), "not a polyhedron"),
        (tb.Problem(tb.SquaredNorm(), tb.Logistic(np.eye(2), [1.0, -1.0]), tb.Box(-1.0, 1.0, dim=2)), "rational"),
        (tb.Problem(tb.SquaredNorm(), tb.Linear([1.0, 1.0]), tb.Box(-np.inf, 1.0, dim=2)), "falls for ever"),
    ],
    ids=["slack", "ball", "logistic", "unbounded"],
)
def test_what_cannot_be_proved_says_why(problem: tb.Problem, why: str) -> None:
    with pytest.raises(tb.NotProved, match=why):
        prove(problem, np.zeros(2), 10.0)


def test_ties_up_to_rounding_are_proved_as_stored() -> None:
    costs = np.array([0.1 + 0.2, 0.3, 0.1 * 3, 0.3])
    problem = tb.Problem(tb.SquaredNorm(), tb.Linear(costs), tb.Simplex(1.0))
    proof = tb.solve(problem).prove(problem)
    assert proof.values == (Fraction(0.3), Fraction(1, 4))
    assert proof.x == (0, Fraction(1, 2), 0, Fraction(1, 2))


def test_a_weighted_ball_is_its_row_and_not_its_rounded_corners() -> None:
    problem = tb.Problem(tb.SquaredNorm(), tb.Linear([-1.0, -1.0]), tb.L1Ball(1.0, weights=[3.0, 7.0]))
    proof = tb.solve(problem).prove(problem)
    assert proof.values == (Fraction(-1, 3), Fraction(1, 18))


def test_without_python_flint_the_pip_line_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = tb.Problem(tb.SquaredNorm(), tb.Linear([1.0, 1.0]), tb.Simplex(1.0))
    result = tb.solve(problem)
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(ImportError, match=r"pip install \"tiebreak\[proof\]\""):
        result.prove(problem)
