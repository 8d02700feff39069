"""The page to move the slack on: its numbers against a closed form, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import tiebreak as tb
from tiebreak.cli import main
from tiebreak.explorer.points import explored, next_slack

SQUARE = tb.LeastSquares([[1.0, 1.0]], [1.0])


def small() -> tb.Problem:
    """v(eps) = (1 - sqrt(2 eps))^2 / 4."""
    return tb.Problem(tb.SquaredNorm(), SQUARE, tb.L1Ball(2.0))


def v(slack: np.ndarray) -> np.ndarray:
    return (1 - np.sqrt(2 * np.minimum(slack, 0.5))) ** 2 / 4


def data_of(page: Path) -> dict:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_every_point_and_every_line_is_a_bound(tmp_path: Path) -> None:
    page = tb.explore(small(), tmp_path / "page.html", points=14)
    points = data_of(page)["points"]
    assert len(points) == 15 and points[0]["slack"] == 0.0
    grid = np.geomspace(1e-7, 1.0, 200)
    for point in points:
        assert point["lower"] <= v(np.array(point["slack"])) <= point["upper"]
        assert point["upper"] - point["lower"] < 1e-6
        if point["line"] is not None:
            assert (point["line"] - point["price"] * (grid - point["slack"]) <= v(grid) + 1e-12).all()


def test_points_go_where_the_bracket_is_widest() -> None:
    found = explored(small(), "auto", [0.001, 0.4], 9, np.inf, {})
    width = np.diff(v(found.curve.slacks)) * -1
    assert len(found.curve.slacks) == 9
    assert width.max() < 0.4 * (v(np.array(0.001)) - v(np.array(0.4)))
    line = tb.tradeoff(tb.Problem(tb.Linear([1.0]), tb.Linear([-1.0]), tb.Box(0, 1)), slacks=[0.1, 0.5, 0.9])
    assert next_slack(line) is None  # straight: nothing is left to find out


def test_a_file_becomes_a_page_beside_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "machines.toml"
    text = 'upper = "SquaredNorm"\nnames = ["</script>", "b"]\n[lower]\ntype = "LeastSquares"\nA = [[1, 1]]\nb = [1]\n'
    file.write_text(text + '[domain]\ntype = "L1Ball"\nradius = 2\n')
    assert main(["explore", str(file)]) == 0
    page = tmp_path / "machines.explore.html"
    assert str(page) in capsys.readouterr().out
    assert page.read_text().count("</script>") == 2
    assert data_of(page)["names"] == ["</script>", "b"]
    assert main(["explore", str(file), "--out", str(file)]) == 2
    assert "would overwrite" in capsys.readouterr().err
    assert main(["explore", str(tmp_path / "none.toml")]) == 2


def test_without_convexity_there_are_points_only(tmp_path: Path) -> None:
    upper = tb.Function(lambda x: -float(x @ x), lambda x: -2 * x, dim=2, convex=False)
    problem = tb.Problem(upper, SQUARE, tb.Box(-1, 1))
    with pytest.raises(ValueError, match="pass slacks="):
        tb.explore(problem, tmp_path / "page.html")
    page = tb.explore(problem, tmp_path / "page.html", slacks=[0.1, 0.2], points=2, max_time=4.0)
    assert data_of(page)["convex"] is False
    assert len(data_of(page)["points"]) == 3


def test_many_variables_leave_out_those_that_change_least(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    g = tb.LeastSquares(rng.normal(size=(20, 250)), rng.normal(size=20))
    page = tb.explore(tb.Problem(tb.SquaredNorm(), g, tb.Box(-1, 1)), tmp_path / "page.html", points=10)
    data = data_of(page)
    assert data["size"] == 250
    assert len(data["names"]) == len(data["points"][0]["x"]) == 200
    with pytest.raises(TypeError, match=r"must be a tiebreak\.Problem"):
        tb.explore(g, tmp_path / "page.html")  # type: ignore[arg-type]
