"""What Sphinx does not do by itself: files of the repository as pages, and docstrings as they are written here."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EXTRA = ROOT / "docs" / "_build" / "extra"
TIMES = ROOT / "docs" / "_build" / "gallery-seconds"

PAGES = {
    "architecture": "ARCHITECTURE.md",
    "changelog": "CHANGELOG.md",
    "contributing": "CONTRIBUTING.md",
    "example-files": "examples/README.md",
    "security": "SECURITY.md",
}
"""Files that the repository shows where they are, and the site as pages of its own; docs/NAME.md says so."""


def as_page(app: Any, name: str, source: list[str]) -> None:
    """The text of a page, with links to files of the repository turned into links to pages or downloads."""
    text = source[0]
    if name in PAGES:
        text = (ROOT / PAGES[name]).read_text()
        folder = Path(PAGES[name]).parent
        text = re.sub(r"\]\((?:\.\./)?docs/", "](", text)
        text = re.sub(r"\]\((?!http)([\w.-]+\.(?:toml|mps|py))\)", rf"](../{folder}/\1)", text)
    for page, file in PAGES.items():
        text = re.sub(rf"\]\((?:\.\./)?{re.escape(file)}", f"]({page}.md", text)
    source[0] = text


def bars(app: Any, what: str, name: str, thing: object, options: Any, lines: list[str]) -> None:
    """Bars in prose are absolute values, not substitutions."""
    example = False
    for k, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            parts = re.split(r"(``.*?``)", line)
            lines[k] = "".join(part if part.startswith("``") else part.replace("|", r"\|") for part in parts)


def skipped(app: Any, what: str, name: str, thing: object, skip: bool, options: Any) -> bool | None:
    """What scikit-learn makes for the routing of metadata is documented there."""
    return True if re.fullmatch(r"set_\w+_request|get_metadata_routing", name) else None


def live_page(app: Any, config: Any) -> None:
    """A page of ``tiebreak explore`` to try on the site."""
    from tiebreak import explore
    from tiebreak.files import read_task

    EXTRA.mkdir(parents=True, exist_ok=True)
    task = read_task(ROOT / "examples" / "portfolio.toml")
    explore(task.problem, EXTRA / "explore-portfolio.html", task.method, title="portfolio")


def room_for_code(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Pages of the gallery have no contents at their right: they are short, and code is wide."""
    if name.startswith("gallery/"):
        context["meta"] = {**(context.get("meta") or {}), "html_theme.sidebar_secondary.remove": "true"}


def clock(conf: dict[str, Any], script: str | None, when: str) -> None:
    """Seconds of the processor that a script of the gallery takes; docs/check_site.py holds them to a limit."""
    if script is None:
        return
    file = TIMES / f"{Path(script).stem}.txt"
    if when == "before":
        TIMES.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{-time.process_time()}")
    else:
        file.write_text(f"{float(file.read_text()) + time.process_time()}")


def setup(app: Any) -> dict[str, bool]:
    app.connect("config-inited", live_page)
    app.connect("source-read", as_page)
    app.connect("autodoc-process-docstring", bars, priority=900)  # after numpydoc
    app.connect("autodoc-skip-member", skipped)
    app.connect("html-page-context", room_for_code, priority=100)  # before the theme reads it
    return {"parallel_read_safe": True, "parallel_write_safe": True}
