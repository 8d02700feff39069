"""The report page in a real browser: widths, windows of figures, colours, print, no scripts."""

from __future__ import annotations

import re
from base64 import b64decode
from pathlib import Path

import pytest
from chromium import Chromium
from figure import PLANE, Figure


@pytest.mark.parametrize("width", [320, 400, 800, 1280])
def test_nothing_sticks_out(browser: Chromium, page: Path, width: int) -> None:
    browser.open(page, width)
    assert browser.run("document.documentElement.scrollWidth") <= width
    outside = """[...document.querySelectorAll('main *')].filter((one) => !one.closest('.scroll, .values, svg, thead')
        && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80))"""
    assert browser.run(outside) == []
    assert Figure(browser, PLANE).run("all('.chart')[0].clientWidth") > 0.55 * min(width, 600)


def test_a_figure_opens_at_its_window_and_reset_shows_everything(browser: Chromium, page: Path) -> None:
    browser.open(page)
    plane = Figure(browser, PLANE)
    assert min(float(label) for label in plane.ticks("y")) >= 0.45
    assert max(float(label) for label in plane.ticks("y")) <= 0.65
    plane.click(".zoom button:nth-child(3)")
    assert {"0", "1"} <= set(plane.ticks("y"))


def test_claims_can_be_filtered(browser: Chromium, page: Path) -> None:
    browser.open(page)
    rows = "[...document.querySelectorAll('tr[data-verdict]')].filter((one) => one.checkVisibility())"
    assert browser.run(f"{rows}.length") == 8  # three claims and one addition, twice
    browser.run("(filter.value = 'fails', filter.dispatchEvent(new Event('change')))")
    assert browser.run(f"{rows}.map((one) => one.dataset.verdict)") == ["fails", "fails"]
    browser.run("(filter.value = '', filter.dispatchEvent(new Event('change')))")
    assert browser.run(f"{rows}.length") == 8  # three claims and one addition, twice


def test_one_scale_on_both_axes(browser: Chromium, page: Path) -> None:
    for width in (400, 1280):
        browser.open(page, width)
        square = re.findall(r"[ML]([\d.-]+),([\d.-]+)", Figure(browser, PLANE).paths[0])
        x, y = [float(one[0]) for one in square], [float(one[1]) for one in square]
        assert max(x) - min(x) == pytest.approx(max(y) - min(y), abs=0.3)


def test_light_and_dark(browser: Chromium, page: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    browser.open(page)
    light = browser.run(ground)
    curve = Figure(browser).run("getComputedStyle(all('.curve')[0]).stroke")
    browser.run("(theme.value = 'dark', theme.dispatchEvent(new Event('change')))")
    dark = browser.run(ground)
    assert light == "rgb(255, 255, 255)" and dark != light
    assert Figure(browser).run("getComputedStyle(all('.curve')[0]).stroke") != curve
    browser.open(page, dark=True)
    assert browser.run(ground) == dark
    browser.run("(theme.value = 'light', theme.dispatchEvent(new Event('change')))")
    assert browser.run(ground) == light


def test_print_shows_the_still_pictures_on_white(browser: Chromium, page: Path) -> None:
    browser.open(page, 800, dark=True, print_=True)
    browser.run("(theme.value = 'dark', theme.dispatchEvent(new Event('change')))")
    shown = "[...document.querySelectorAll('{}')].filter((one) => one.checkVisibility()).length"
    assert browser.run(shown.format(".live")) == 0
    assert browser.run(shown.format("nav, .theme, .skip")) == 0
    assert browser.run(shown.format("img.static")) == 8
    assert browser.run("[...document.images].every((one) => one.complete && one.naturalWidth > 100)")
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert b64decode(browser.call("Page.printToPDF")["data"]).startswith(b"%PDF")


def test_without_scripts_the_still_pictures_are_there(browser: Chromium, page: Path) -> None:
    browser.open(page, scripts=False)
    shown = "[...document.querySelectorAll('img.static')].filter((one) => one.checkVisibility()).length"
    assert browser.run(shown) == 8
