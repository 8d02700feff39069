"""Looks at the pages that were built, without a network: python docs/check_site.py docs/_build/html.

Every link inside the site leads to a page, and to a place on it that is there; nothing that a page loads comes from
elsewhere; no script of the gallery took longer than its limit. Prints what it counted, or all that is wrong.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SECONDS = 20.0
"""Of the processor, for a script of the gallery. Machines differ: it is a limit on mistakes, not a measurement."""
SCRIPTS = Path(__file__).resolve().parent.parent / "examples" / "gallery"
LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}


class Page(HTMLParser):
    """The places on a page, where it leads, and what it loads."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.leads: list[str] = []
        self.loads: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.places.add(value)
            elif tag == "a" and name == "href":
                self.leads.append(value)
            elif (tag, name) in LOADED and dict(attributes).get("rel") not in ("canonical",):
                self.loads.append(value)


@cache
def read(file: Path) -> Page:
    return Page(file)


def pages_of(site: Path) -> list[Path]:
    """All pages; what themes leave among their own files is none."""
    return [file for file in sorted(site.rglob("*.html")) if "_static" not in file.relative_to(site).parts]


def wrong_links(site: Path) -> tuple[list[str], int]:
    """What is wrong with the links of all pages, and how many were looked at."""
    wrong, count = [], 0
    for file in pages_of(site):
        page, name = read(file), file.relative_to(site)
        wrong += [f"{name} loads {one} from elsewhere" for one in page.loads if urlsplit(one).netloc]
        for link in [*page.leads, *page.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if target.is_dir():
                target /= "index.html"
            place = unquote(parts.fragment)
            if not target.exists():
                wrong.append(f"{name} leads to {link}, which is not there")
            elif place and target.suffix == ".html" and place not in read(target).places:
                wrong.append(f"{name} leads to {link}, but that page has no such place")
    return wrong, count


def slow_scripts(times: Path) -> tuple[list[str], dict[str, float]]:
    """Scripts of the gallery beyond their limit, and the seconds of all."""
    seconds = {file.stem: float(file.read_text()) for file in sorted(times.glob("*.txt"))}
    wrong = [
        f"{name} took {one:.1f} s, more than {SECONDS:g}" for name, one in seconds.items() if not 0 <= one <= SECONDS
    ]
    if missing := {script.stem for script in SCRIPTS.glob("*.py")} - set(seconds):
        wrong.append(f"not run in this build, which should begin from nothing: {', '.join(sorted(missing))}")
    return wrong, seconds


def main(site: Path) -> int:
    wrong, links = wrong_links(site)
    slow, seconds = slow_scripts(site.parent / "gallery-seconds")
    for sentence in [*wrong, *slow]:
        print(sentence)
    longest = max(seconds.values(), default=0.0)
    print(
        f"{len(pages_of(site))} pages, {links} links inside them; {len(seconds)} scripts of the gallery, "
        f"together {sum(seconds.values()):.0f} s of the processor, the longest {longest:.1f} s"
    )
    return 1 if wrong or slow else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
