"""Pictures: every level with its bracket, gaps over time, labels on everything."""

from __future__ import annotations

import matplotlib
import pytest

import tiebreak as tb

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def problem() -> tb.Problem:
    return tb.Problem(tb.SquaredNorm(), tb.LeastSquares([[1.0, 1.0]], [1.0]), tb.L1Ball(2.0))


def test_levels_and_gaps_over_time() -> None:
    """Two levels and a trace: three labelled axes; the values are in the titles, the gaps in the lines."""
    result = tb.solve(problem(), "cg-bio-anytime", max_iter=40)
    figure = result.plot()
    figure.canvas.draw()
    first, second, gaps = figure.axes
    assert f"{result.g:.8g}" in first.get_title(loc="left") and f"{result.f:.8g}" in second.get_title(loc="left")
    assert gaps.get_ylabel() and gaps.get_xlabel() == "seconds"
    drawn = gaps.lines[0].get_ydata()
    assert drawn[-1] == result.trace.to_dict()["lower_gap"][-1]


def test_levels_without_a_trace_and_without_bounds() -> None:
    """An exact answer has one entry; brackets that are points or have no end are drawn as well."""
    served, cost = tb.Linear([-1.0, -1.0]), tb.Linear([1.0, 2.0])
    exact = tb.lexicographic([served, cost, tb.SquaredNorm(dim=2)], tb.Box(0.0, 1.0))
    assert len(exact.plot().axes) == 3 + (len(exact.trace) > 1)
    open_ended = tb.solve(problem(), "cg-bio-anytime", max_iter=2)
    figure = open_ended.plot()
    figure.canvas.draw()
    assert "not bounded on both sides" in figure.axes[1].get_title(loc="left")


def test_a_trace_on_axes_of_ones_own() -> None:
    """It draws where it is told to, and says so when there is nothing to draw."""
    _, ax = plt.subplots()
    assert tb.Trace().plot(ax) is ax and "no gap" in ax.texts[0].get_text()
