"""A figure of the report page, through the browser."""

from __future__ import annotations

from typing import Any

from chromium import Chromium

GAP = 'figure[data-experiment="sample"][data-panel="gap"]'
PLANE = 'figure[data-experiment="sample"][data-panel="plane"]'


class Figure:
    """One figure of the page, through the browser."""

    def __init__(self, browser: Chromium, selector: str = GAP) -> None:
        self.browser, self.selector = browser, selector

    def run(self, script: str) -> Any:
        """``figure`` is the element, ``all`` finds its parts."""
        prelude = f"const figure = document.querySelector('{self.selector}'); "
        prelude += "const all = (s) => [...figure.querySelectorAll(s)];"
        return self.browser.run(f"(() => {{ {prelude} return {script}; }})()")

    @property
    def paths(self) -> list[str]:
        found: list[str] = self.run("all('.chart path.curve').map((path) => path.getAttribute('d'))")
        return found

    def ticks(self, direction: str) -> list[str]:
        found: list[str] = self.run(f"all('.tick-{direction}').map((text) => text.textContent)")
        return found

    @property
    def readout(self) -> str:
        return str(self.run("all('.readout')[0].textContent"))

    def click(self, part: str) -> None:
        self.run(f"all('{part}')[0].click()")
        self.browser.settle()

    def middle(self, x: float = 0.5, y: float = 0.5) -> tuple[float, float]:
        """A place of the frame in the window, after scrolling to it."""
        self.run("all('.chart')[0].scrollIntoView({block: 'center', behavior: 'instant'})")
        box = self.run("all('.frame')[0].getBoundingClientRect().toJSON()")
        return box["x"] + x * box["width"], box["y"] + y * box["height"]
