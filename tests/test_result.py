"""Results: what they show, that they survive the disk, and that a wrong one is found out."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

import tiebreak as tb


@pytest.fixture(scope="module")
def problem() -> tb.Problem:
    rng = np.random.default_rng(3)
    A = rng.standard_normal((3, 8))
    return tb.Problem(tb.SquaredNorm(), tb.LeastSquares(A, A @ np.full(8, 0.1)), tb.L1Ball(1.0))


@pytest.fixture(scope="module")
def result(problem: tb.Problem) -> tb.Result:
    return tb.solve(problem, "cg-bio-anytime", tol_upper=1e-2, tol_lower=1e-2)


def test_scipy_names_and_item_access(result: tb.Result) -> None:
    assert result.fun == result.f == result["fun"] == result["f"]
    assert result["x"] is result.x
    with pytest.raises(KeyError):
        result["nonsense"]


def test_repr_shows_both_levels_and_the_bracket(result: tb.Result) -> None:
    text = repr(result)
    assert "f* in [" in text and "g* in [" in text and "converged" in text
    assert len(text.splitlines()) < 8


def test_saved_and_loaded_results_are_equal(result: tb.Result, tmp_path) -> None:
    path = tmp_path / "run.npz"
    result.save(path)
    back = tb.Result.load(path)
    for one in fields(tb.Result):
        if one.name not in ("x", "trace", "state"):
            assert getattr(back, one.name) == getattr(result, one.name), one.name
    np.testing.assert_array_equal(back.x, result.x)
    assert back.trace.rows == result.trace.rows
    assert list(tmp_path.iterdir()) == [path]


def test_a_loaded_run_goes_on_exactly(problem: tb.Problem, tmp_path) -> None:
    tight = {"tol_upper": 1e-14, "tol_lower": 1e-14}
    half = tb.solve(problem, "cg-bio-anytime", max_iter=40, **tight)
    half.save(tmp_path / "half.npz")
    rest = tb.solve(problem, "cg-bio-anytime", x0=tb.Result.load(tmp_path / "half.npz").state, max_iter=90, **tight)
    whole = tb.solve(problem, "cg-bio-anytime", max_iter=90, **tight)
    assert rest.nit == whole.nit == 90 and np.array_equal(rest.x, whole.x)


def test_loading_something_else_is_refused(tmp_path) -> None:
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    with pytest.raises(ValueError, match="not a saved tiebreak result"):
        tb.Result.load(tmp_path / "other.npz")
    tree = '{"format": 1, "result": {"type": "os:system", "items": ["echo"]}}'
    np.savez(tmp_path / "old.npz", tree=np.array(tree))
    with pytest.raises(ValueError, match="format 1 are not read any more"):
        tb.Result.load(tmp_path / "old.npz")


def test_an_honest_result_verifies(problem: tb.Problem, result: tb.Result) -> None:
    check = result.verify(problem)
    assert check.ok and not check.complaints and check.feasible
    assert check.f_lower <= result.certificate.f_upper and check.g_lower <= result.certificate.g_upper
    # what x alone shows is a bound as well: the least-norm solution is known in closed form here
    assert check.lower_gap >= result.g - 1e-12


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda r: replace(r, f=r.f + 1e-3), "f\\(x\\) is"),
        (lambda r: replace(r, g=r.g - 1e-3), "g\\(x\\) is"),
        (lambda r: replace(r, x=r.x * 100), "not in the domain"),
        (lambda r: _claim(r, g_lower=r.g + 1e-3), "g_lower is above"),
        (lambda r: _claim(r, g_upper=-1.0), "g_upper is below"),
        (lambda r: _claim(r, lower_gap=0.0), "lower_gap is not"),
        (lambda r: _claim(r, upper_gap=-5.0), "upper_gap is not"),
        (lambda r: _claim(r, f_upper=-1.0), "f_upper is below"),
        (lambda r: _claim(r, f_lower=10.0, f_upper=9.0), "f_lower is above f_upper"),
    ],
)
def test_a_tampered_result_does_not(problem: tb.Problem, result: tb.Result, change, complaint: str) -> None:
    import re

    check = change(result).verify(problem)
    assert not check.ok
    assert any(re.search(complaint, text) for text in check.complaints)


def _claim(result: tb.Result, **changes: float) -> tb.Result:
    return replace(result, certificate=replace(result.certificate, **changes))


def test_an_f_lower_above_a_feasible_value_is_found_out(problem: tb.Problem) -> None:
    relaxed = problem.with_slack(0.1)
    result = tb.solve(relaxed, "cg-bio-anytime", tol_upper=1e-3, tol_lower=1e-3)
    assert result.verify(relaxed).ok
    assert not _claim(result, f_lower=result.f + 1, f_upper=np.inf).verify(relaxed).ok
