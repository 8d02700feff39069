"""The page to move the slack on, in a real browser: it opens in silence, and what it shows between points is true."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from chromium import Chromium

import tiebreak as tb


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """v(eps) = (1 - sqrt(2 eps))^2 / 4, with a name that is markup."""
    square = tb.LeastSquares([[1.0, 1.0]], [1.0])
    problem = tb.Problem(tb.SquaredNorm(), square, tb.L1Ball(2.0), names=["<img src=x onerror=alert(1)>", "second"])
    folder = tmp_path_factory.mktemp("explore")
    return tb.explore(problem, folder / "page.html", points=14, title="<b>Two</b>")


def moved(browser: Chromium, place: int) -> None:
    browser.run(f"(slack.value = {place}, slack.dispatchEvent(new Event('input')))")


def bracket(browser: Chromium) -> list[float]:
    text = browser.run("document.getElementById('bracket').textContent")
    return [float(end) for end in text.replace("−", "-").strip("[]").split(",")]


def test_it_opens_in_silence(browser: Chromium, explored: Path) -> None:
    browser.open(explored)
    assert browser.errors == []
    assert browser.requests == [explored.as_uri()]
    assert browser.run("document.querySelector('h1').textContent") == "<b>Two</b>"
    assert browser.run("document.querySelectorAll('img, h1 b').length") == 0
    assert browser.run("document.querySelectorAll('#curve circle.point').length") == 15
    assert browser.run("document.querySelectorAll('#bars .bar').length") == 2


def test_what_it_shows_is_true_everywhere(browser: Chromium, explored: Path) -> None:
    browser.open(explored)
    slacks = []
    for place in range(0, 1001, 25):
        moved(browser, place)
        slack = browser.run("slackAt(Number(slack.value))")
        slacks.append(slack)
        low, high = bracket(browser)
        value = (1 - np.sqrt(2 * min(slack, 0.5))) ** 2 / 4
        assert low <= value <= high
        assert high - low < 0.02
        x = browser.run("known(slackAt(Number(slack.value))).x")
        off = 0.5 * (sum(x) - 1) ** 2
        assert off <= slack * (1 + 1e-9) + 1e-12
        assert 0.5 * float(np.dot(x, x)) <= high + 1e-9
    assert slacks == sorted(slacks)


def test_keys_clicks_and_rows_move_it(browser: Chromium, explored: Path) -> None:
    browser.open(explored)
    browser.run("slack.focus()")
    browser.key("End")
    assert browser.run("slack.value") == "1000"
    browser.key("ArrowLeft")
    assert browser.run("slack.value") == "999"
    browser.run("document.querySelectorAll('#points button')[4].click()")
    assert "computed point" in browser.run("kind.textContent") and "Between" not in browser.run("kind.textContent")
    assert browser.run("document.querySelectorAll('#points tr.now').length") == 1
    assert float(browser.run("price.textContent")) > 0
    box = browser.run("document.querySelector('#curve svg').getBoundingClientRect().toJSON()")
    where = {"x": box["x"] + 0.7 * box["width"], "y": box["y"] + 0.5 * box["height"], "button": "left", "clickCount": 1}
    before = browser.run("slack.value")
    browser.mouse("mousePressed", **where)
    browser.mouse("mouseReleased", **where)
    assert browser.run("slack.value") != before


@pytest.mark.parametrize("width", [320, 400, 1280])
def test_nothing_sticks_out(browser: Chromium, explored: Path, width: int) -> None:
    browser.open(explored, width)
    assert browser.run("document.documentElement.scrollWidth") <= width


def test_light_dark_and_without_scripts(browser: Chromium, explored: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    browser.open(explored)
    assert browser.run(ground) == "rgb(255, 255, 255)"
    browser.open(explored, dark=True)
    assert browser.run(ground) != "rgb(255, 255, 255)"
    browser.open(explored, scripts=False)
    assert (
        browser.run("[...document.querySelectorAll('#points tbody tr')].filter((one) => one.checkVisibility()).length")
        == 15
    )
    assert browser.run("['control', 'curve', 'bars'].every((id) => document.getElementById(id).hidden)")
