"""Comparisons of methods: the same problem for all, the best bounds of all, mistakes told."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest

import tiebreak as tb

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def problem() -> tb.Problem:
    """The smallest point with x1 + x2 + x3 = 1: g* = 0, f* = 1/6."""
    return tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0, 1.0]], [1.0]), tb.L1Ball(2.0))


@pytest.fixture(scope="module")
def found() -> tb.Comparison:
    methods = ["cg-bio-anytime", "tseng", tb.AnytimeCGBiO(step=tb.steps.Constant(1e-3)), "exact"]
    return tb.compare(problem(), methods, max_iter=30, tol_upper=1e-9, tol_lower=1e-9)


def test_gaps_are_held_to_the_best_bounds(found: tb.Comparison) -> None:
    assert list(found.results) == ["cg-bio-anytime", "tseng", "cg-bio-anytime (2)", "exact"]
    g, f = found.levels
    assert g.lower <= 0 <= g.upper and f.lower <= 1 / 6 + 1e-15 and f.upper >= 1 / 6 - 1e-15
    assert f.upper - f.lower < 1e-12  # by the exact method alone
    for name, result in found.results.items():
        np.testing.assert_allclose(found.gaps(name), [result.g, result.f - 1 / 6], atol=1e-12)
    assert found.results["cg-bio-anytime"].certificate.f_lower < f.lower - 1e-6  # its own bound is worse


def test_the_table_has_a_row_for_each_method(found: tb.Comparison) -> None:
    text = repr(found)
    for name, result in found.results.items():
        row = next(line for line in text.splitlines() if line.strip().startswith(f"{name} "))
        assert result.status in row and f"{result.f:.8g}" in row and f" {result.nit} " in row
    assert "f: optimum in [0.16666666" in text


def test_refusals_are_told_and_nothing_else_is_lost() -> None:
    box = tb.Problem(tb.SquaredNorm(), tb.L1Norm(A=[[1.0, 2.0]], b=[1.0]), tb.Box(-1.0, 1.0))
    found = tb.compare(box, ["exact", "cg-bio"])
    assert list(found.results) == ["exact"] and "not differentiable" in found.refusals["cg-bio"]
    assert "not cg-bio: " in repr(found)


def test_by_default_all_methods_that_can(monkeypatch: pytest.MonkeyPatch) -> None:
    found = tb.compare(problem(), max_iter=2, max_time=1.0)
    assert {"exact", "cg-bio", "apb-apg", "big-sam"} <= set(found.results) and len(found.results) > 20
    chain = tb.Problem(tb.SquaredNorm(dim=2), [tb.Linear([-1.0, -1.0]), tb.Linear([1.0, 2.0])], tb.Box(0.0, 1.0))
    assert list((three := tb.compare(chain)).results) == ["exact"] and len(three.levels) == 3
    assert "level 3: optimum in [1, 1]" in repr(three)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "words"),
    [
        ((1,), {}, TypeError, "problem must be a tiebreak.Problem"),
        ((["exct"],), {}, ValueError, "unknown method 'exct'; did you mean 'exact'"),
        (([3],), {}, TypeError, r"methods\[0\] must be a name or a solver"),
        (([],), {}, ValueError, "methods must name one method or more"),
        ((["exact"],), {"max_time": -1}, ValueError, "max_time must be positive"),
        ((["exact"],), {"tol_upper": -1}, ValueError, "no method has run: exact: tol_upper must be"),
        ((["exact"],), {"tolerance": 1}, TypeError, "tolerance"),
        ((["exact"],), {"verbose": True}, TypeError, "takes no verbose"),
    ],
)
def test_mistakes(arguments: tuple, options: dict, error: type[Exception], words: str) -> None:
    first = () if arguments == (1,) else (problem(),)
    with pytest.raises(error, match=words):
        tb.compare(*first, *arguments, **options)


def test_an_interrupt_keeps_what_is_done() -> None:
    calls, most = 0, 10**9

    def value(x: np.ndarray) -> float:
        nonlocal calls
        calls += 1
        if calls > most:
            raise KeyboardInterrupt
        return float(x @ x)

    upper = tb.Function(value, lambda x: 2 * x, convex=True, smoothness=2.0)
    stopped = tb.Problem(upper, tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))
    tb.compare(stopped, ["cg-bio-anytime"], max_iter=5)
    calls, most = 0, calls + 3
    with pytest.raises(KeyboardInterrupt) as caught:
        tb.compare(stopped, ["cg-bio-anytime", "tseng"], max_iter=5)
    assert list(caught.value.result.results) == ["cg-bio-anytime"]  # type: ignore[attr-defined]


def test_the_picture_has_a_line_for_each_method_and_level(found: tb.Comparison) -> None:
    figure = found.plot()
    figure.canvas.draw()
    lower, upper = figure.axes
    assert [line.get_label() for line in upper.lines] == list(found.results)
    trace = found.results["tseng"].trace.to_dict()
    np.testing.assert_allclose(upper.lines[1].get_ydata(), np.abs(np.array(trace["f"]) - found.levels[1].lower))
    assert lower.get_ylabel() and upper.get_xlabel() == "seconds" and upper.get_yscale() == "log"
    assert len({(line.get_color(), line.get_marker()) for line in upper.lines}) == 4
    plt.close("all")
