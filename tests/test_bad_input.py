"""Bad input to problems and runs: an error at once that names the argument and says what to do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bad_inputs
import tiebreak as tb

F, G, Z = tb.SquaredNorm(dim=2), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0)
PROBLEM = tb.Problem(F, G, Z)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"upper": 3}, TypeError, "upper must be an objective"),
        ({"lower": "g"}, TypeError, "lower must be an objective"),
        ({"domain": [1, 2]}, TypeError, "domain must be a set"),
        ({"upper": tb.SquaredNorm(dim=3)}, ValueError, "upper has 3, lower has 2"),
        ({"domain": tb.Box(np.zeros(4), np.ones(4))}, ValueError, "domain has 4"),
        ({"slack": -1e-3}, ValueError, "slack must not be negative"),
        ({"slack": np.nan}, ValueError, "slack holds NaN"),
        ({"slack": "1"}, TypeError, "slack must hold real numbers"),
        ({"error_bound": (1, 2)}, TypeError, "error_bound"),
        ({"lower": tb.Function(lambda x: 0.0, lambda x: 0 * x, dim=2)}, ValueError, "convex=True"),
        (
            {"lower": tb.Quadratic([[1.0, 0.0], [0.0, -1.0]], [0.0, 0.0])},
            ValueError,
            "not known to be convex",
        ),
        ({"lower": tb.SquaredCovariance(np.ones((3, 2)), [0, 1, 1])}, ValueError, "not known to be convex"),
    ],
)
def test_problem(arguments: dict, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        tb.Problem(**{"upper": F, "lower": G, "domain": Z, **arguments})


def test_problem_without_a_dimension() -> None:
    with pytest.raises(ValueError, match="number of variables is unknown"):
        tb.Problem(tb.SquaredNorm(), tb.SquaredNorm(), Z)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"tol_upper": 0.0}, ValueError, "tol_upper must be positive"),
        ({"tol_lower": -1.0}, ValueError, "tol_lower must be positive"),
        ({"tol_upper": np.nan}, ValueError, "tol_upper"),
        ({"max_iter": 0}, ValueError, "max_iter"),
        ({"max_iter": 2.5}, ValueError, "max_iter must be a whole number"),
        ({"max_time": 0.0}, ValueError, "max_time must be positive"),
        ({"callback": 3}, TypeError, "callback"),
        ({"callback": [3]}, TypeError, "callback must be a function"),
        ({"method": "cgbio"}, ValueError, "did you mean 'cg-bio'"),
        ({"method": "zzz"}, ValueError, "available: auto, exact, cg-bio, cg-bio-anytime, cg, mng"),
        ({"method": 7}, TypeError, "method must be a name or a solver"),
        ({"x0": [1.0, 2.0, 3.0]}, ValueError, "x0 has length 3, expected 2"),
        ({"x0": [np.nan, 0.0]}, ValueError, "x0 holds NaN"),
        ({"x0": [1j, 0.0]}, TypeError, "x0 must hold real numbers"),
        ({"x0": np.array([None, 1], dtype=object)}, TypeError, "x0 must hold real numbers"),
        ({"x0": [[0.1, 0.1]]}, ValueError, "x0 must be a 1-D array"),
        ({"x0": []}, ValueError, "x0 is empty"),
    ],
)
def test_solve(arguments: dict, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        tb.solve(PROBLEM, **arguments)


def test_solve_wants_a_problem() -> None:
    with pytest.raises(TypeError, match=r"problem must be a tiebreak\.Problem"):
        tb.solve(F)


def test_missing_oracles_are_named_before_the_run_with_a_method_that_would_do() -> None:
    domain = tb.FromOracles(project=lambda x: np.clip(x, -1, 1), dim=2, diameter=3.0)
    with pytest.raises(ValueError, match=r"'cg-bio-anytime' needs domain\.lmo"):
        tb.solve(tb.Problem(F, G, domain), "cg-bio-anytime")


def test_x0_outside_a_domain_without_projection() -> None:
    domain = tb.FromOracles(
        lmo=lambda c: -np.sign(c),
        contains=lambda x, tol: bool((np.abs(x) <= 1 + tol).all()),
        dim=2,
        diameter=3.0,
    )
    with pytest.raises(ValueError, match="x0 lies outside the domain, which has no projection"):
        tb.solve(tb.Problem(F, G, domain), x0=[2.0, 0.0])


def test_wrong_gradient_of_a_function_is_found_before_the_run() -> None:
    wrong = tb.Function(lambda x: float(x @ x), lambda x: x, dim=2, convex=True)
    with pytest.raises(tb.GradientError, match="upper"):
        tb.solve(tb.Problem(wrong, G, Z))
    with pytest.raises(tb.GradientError, match="lower"):
        tb.solve(tb.Problem(F, wrong, Z))


def test_a_false_claim_of_convexity_is_found_before_the_run() -> None:
    concave = tb.Function(lambda x: -float(x @ x), lambda x: -2 * x, dim=2, convex=True)
    with pytest.raises(tb.ConvexityError, match="lower"):
        tb.solve(tb.Problem(F, concave, Z))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"alpha": 0, "r": 2}, "alpha must be positive"), ({"alpha": 1, "r": 0.5}, "r must be at least 1")],
)
def test_error_bound(arguments: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tb.ErrorBound(**arguments)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tb.steps.Harmonic(0, 2), "a must be positive"),
        (lambda: tb.steps.Harmonic(2, -1), "shift must be positive"),
        (lambda: tb.steps.InverseSqrt(-1), "c must be positive"),
        (lambda: tb.steps.Constant(1.5), r"c must be in \(0, 1\]"),
        (lambda: tb.Trace(every=0), "every must be a whole number"),
        (
            lambda: tb.steps.theorem_2(
                tb.Problem(tb.Function(lambda x: 0.0, lambda x: 0 * x, dim=2), G, Z), 1e-3, 1e-3
            ),
            "needs the smoothness",
        ),
    ],
)
def test_step_rules_and_traces(make, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict:
    return bad_inputs.names(Path(tmp_path_factory.mktemp("inputs")))


@pytest.mark.parametrize("template", sorted({template for template, _, _ in bad_inputs.TABLE}))
def test_every_wrong_value_of_an_argument_is_refused_by_name(template: str, known: dict) -> None:
    lines = [
        (t.replace("{}", value, 1), word) for t, word, values in bad_inputs.TABLE if t == template for value in values
    ]
    assert not {line: why for line, word in lines if (why := bad_inputs.judge(line, word, known))}


@pytest.mark.parametrize(("line", "word"), bad_inputs.SPECIAL)
def test_what_does_not_go_together_is_refused(line: str, word: str, known: dict) -> None:
    assert not bad_inputs.judge(line, word, known)


def test_there_are_many() -> None:
    assert len(set(bad_inputs.cases())) >= 1000
