"""The report page in a real browser: it opens in silence, its switches and keys work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from chromium import Chromium
from figure import Figure

from sample_outcome import HOSTILE, sample


@pytest.fixture
def gap(browser: Chromium, page: Path) -> Figure:
    browser.open(page)
    return Figure(browser)


def test_it_opens_in_silence_with_every_figure(browser: Chromium, page: Path) -> None:
    browser.open(page)
    assert browser.errors == []
    assert {url for url in browser.requests if not url.startswith("data:image/svg+xml;base64,")} == {page.as_uri()}
    for name in ("sample", "second"):
        for panel, file in zip(sample().panels, ("gap", "plane", "hostile", "nothing"), strict=True):
            figure = Figure(browser, f'figure[data-experiment="{name}"][data-panel="{file}"]')
            assert len(figure.paths) == len(panel.curves)
            assert all("NaN" not in path and "Infinity" not in path for path in figure.paths)
            assert figure.run("all('.legend span').map((one) => one.textContent)") == [
                one.label for one in panel.curves
            ]
            assert len(figure.ticks("x")) >= 2 and len(figure.ticks("y")) >= 2
    assert browser.run("document.querySelectorAll('.claims tbody tr:not(.group)').length") == 10
    assert "it <b>broke</b>" in browser.run("document.querySelector('.failure').textContent")


def test_hostile_text_does_nothing(browser: Chromium, page: Path) -> None:
    browser.open(page)
    browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    browser.settle()
    assert browser.run("typeof window.pwned") == "undefined"
    assert browser.run("document.querySelectorAll('script').length") == 2
    assert browser.run("document.querySelectorAll('img').length") == 8
    assert browser.run("document.querySelectorAll('img[onerror], figure b').length") == 0
    hostile = Figure(browser, 'figure[data-experiment="sample"][data-panel="hostile"]')
    assert hostile.run("all('h3')[0].textContent") == HOSTILE[0]
    assert hostile.run("all('.values td:first-child').map((one) => one.textContent)")[::30] == list(HOSTILE)


def test_nothing_else_can_run_or_be_fetched(browser: Chromium, page: Path) -> None:
    """Even if markup slipped in, the page's own policy stops it."""
    browser.open(page)
    browser.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.pwned = 3\">')")
    browser.run(
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.pwned = 4'}))"
    )
    blocked = "fetch('http://127.0.0.1:9/').then(() => 'sent', (error) => String(error))"
    assert "TypeError" in browser.run(blocked)
    assert browser.run("typeof window.pwned") == "undefined"
    assert any("127.0.0.1" in error and "Content Security Policy" in error for error in browser.errors)


def test_log_switches_change_the_picture_and_change_it_back(gap: Figure) -> None:
    paths, y, x = gap.paths, gap.ticks("y"), gap.ticks("x")
    assert all(re.fullmatch("10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+", label) for label in y)
    gap.click(".log-y")
    assert gap.paths != paths and gap.ticks("x") == x
    assert {"0", "1"} <= set(gap.ticks("y"))
    gap.click(".log-y")
    assert gap.paths == paths
    gap.click(".log-x")
    assert gap.ticks("x") != x and gap.ticks("y") == y


def test_what_a_log_axis_cannot_show_is_a_gap_and_a_note(gap: Figure) -> None:
    assert gap.paths[0].count("M") == 1
    assert gap.paths[1].count("M") == 4  # gaps at 5-6, 10-11 and 20
    assert gap.run("all('.note')[0].textContent") == "3 values ≤ 0 not shown on a log axis; 2 not finite"
    gap.click(".log-y")
    assert gap.paths[1].count("M") == 2
    assert gap.run("all('.note')[0].textContent") == "2 not finite"
    nothing = Figure(gap.browser, 'figure[data-experiment="sample"][data-panel="nothing"]')
    assert "no positive value: linear axis" in nothing.run("all('.note')[0].textContent")


def test_the_horizontal_axis_can_be_chosen(gap: Figure) -> None:
    updates = gap.ticks("x"), gap.paths
    gap.run("(all('.axis')[0].value = 'seconds', all('.axis')[0].dispatchEvent(new Event('change')))")
    assert gap.ticks("x") != updates[0]
    assert len(gap.paths) == 3  # the bound is known against updates only
    assert gap.run("all('.chart text').some((one) => one.textContent === 'seconds')")


def test_the_legend_hides_and_shows(gap: Figure) -> None:
    before = gap.paths
    gap.click(".legend li:nth-child(3) button")
    assert gap.run("all('.legend button').map((one) => one.getAttribute('aria-pressed'))") == [
        "true",
        "true",
        "false",
        "true",
    ]
    assert len(gap.paths) == 3 and gap.paths[0] != before[0]  # the axis fits what is left
    gap.click(".legend li:nth-child(3) button")
    assert gap.paths == before


def test_zoom_by_button_wheel_and_drag(gap: Figure) -> None:
    whole, browser = gap.paths, gap.browser
    gap.click(".zoom button:nth-child(1)")
    assert gap.paths != whole
    gap.click(".zoom button:nth-child(3)")
    assert gap.paths == whole
    x, y = gap.middle()
    browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-120)
    browser.settle()
    assert gap.paths == whole  # without the focus the wheel scrolls the page
    gap.run("all('.chart')[0].focus()")
    x, y = gap.middle()
    browser.mouse("mouseWheel", x, y, deltaX=0, deltaY=-120)
    browser.settle()
    assert gap.paths != whole
    browser.key("0")
    assert gap.paths == whole
    left, top = gap.middle(0.2, 0.2)
    right, bottom = gap.middle(0.6, 0.7)
    browser.mouse("mousePressed", left, top, button="left", clickCount=1)
    browser.mouse("mouseMoved", right, bottom, button="left", buttons=1)
    assert gap.run("all('.selection').length") == 1
    browser.mouse("mouseReleased", right, bottom, button="left", clickCount=1)
    browser.settle()
    assert gap.run("all('.selection').length") == 0
    first = [float(label) for label in gap.ticks("x")]
    assert first[0] > 4 and first[-1] < 19  # two fifths of the 30 updates
    browser.key("Escape")
    assert gap.paths == whole


def test_pointing_reads_the_nearest_point(gap: Figure) -> None:
    x, y = map(float, re.findall(r"L([\d.]+),([\d.]+)", gap.paths[0])[2])
    gap.middle()
    frame = gap.run("all('.chart')[0].getBoundingClientRect().toJSON()")
    gap.browser.mouse("mouseMoved", frame["x"] + x + 1, frame["y"] + y + 1)
    gap.browser.settle()
    assert gap.readout == "falling: updates 3, f − f* 0.0625"
    assert gap.run("all('.cursor')[0].getAttribute('visibility')") == "visible"


def test_keys_move_along_the_curves(gap: Figure) -> None:
    browser, whole = gap.browser, gap.paths
    gap.run("all('.chart')[0].focus()")
    browser.key("ArrowRight")
    assert gap.readout == "falling: updates 0, f − f* 1"
    browser.key("ArrowRight")
    assert gap.readout == "falling: updates 1, f − f* 0.25"
    browser.key("ArrowDown")
    assert gap.readout == "odd: updates 1, f − f* 0.15"
    for _ in range(4):
        browser.key("ArrowRight")
    assert gap.readout.startswith("odd: updates 7,")  # 5 and 6 are not on the axis
    browser.key("End")
    assert gap.readout.startswith("odd: updates 29,")
    browser.key("ArrowUp")
    browser.key("Home")
    assert gap.readout == "falling: updates 0, f − f* 1"
    browser.key("+")
    zoomed = gap.paths
    assert zoomed != whole
    browser.key("ArrowRight", shift=True)
    assert gap.paths != zoomed
    browser.key("End")  # the window follows
    assert gap.readout.startswith("falling: updates 29,")
    assert gap.run("all('.cursor')[0].getAttribute('visibility')") == "visible"
    assert "28" in gap.ticks("x") or "30" in gap.ticks("x")
    browser.key("0")
    assert gap.paths == whole


def test_tab_reaches_every_control_and_shows_where_it_is(gap: Figure) -> None:
    browser = gap.browser
    gap.run("all('.controls')[0].scrollIntoView()")
    gap.run("all('.axis')[0].focus()")
    wanted = gap.run("all('select, input, button, .chart, summary').length")
    seen = 0
    for _ in range(wanted):
        if gap.run("figure.contains(document.activeElement)"):
            seen += 1
            outline = browser.run("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", browser.run("document.activeElement.outerHTML")
        browser.key("Tab")
    assert seen == wanted
    gap.run("all('.log-y')[0].focus()")
    before = gap.paths
    browser.key(" ")
    assert gap.paths != before


def test_controls_have_names(browser: Chromium, page: Path) -> None:
    browser.open(page)
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    interactive = {"button", "combobox", "checkbox", "application", "link", "region", "DisclosureTriangle"}
    found = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if "role" in node]
    named = [(role, name) for role, name in found if role in interactive]
    assert {role for role, _ in named} >= {"button", "combobox", "checkbox", "link", "application"}
    assert all(name for _, name in named), [role for role, name in named if not name]


def test_values_are_listed_when_asked_for(gap: Figure) -> None:
    assert gap.run("all('.values').length") == 0
    gap.click("summary")
    assert gap.run("all('.values tbody tr').length") == 30 + 30 + 29 + 2
    cells = gap.run("all('.values tbody tr')[36].textContent")
    assert cells == "odd60.146969385−1"
    assert gap.run("all('.values tbody tr')[40].lastChild.textContent") == "none"
