"""Whether everything that names the version names the same: python same_version.py [VERSION] [--notes].

Looks at pyproject.toml, the package, CITATION.cff and the newest section of CHANGELOG.md. With VERSION, all must
have it, and the section a date; without, the section may be "Unreleased". --notes prints it, for the page of the
release.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def named(root: Path = ROOT) -> dict[str, str]:
    """The version by each place that names it."""
    text = {name: (root / name).read_text() for name in ("CITATION.cff", "CHANGELOG.md", "src/tiebreak/__init__.py")}
    package = re.search(r'^__version__ = "(.*)"$', text["src/tiebreak/__init__.py"], re.MULTILINE)
    citation = re.search(r"^version: (\S+)$", text["CITATION.cff"], re.MULTILINE)
    newest = re.search(r"^## (\S+)", text["CHANGELOG.md"], re.MULTILINE)
    return {
        "pyproject.toml": tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"],
        "__version__": package[1] if package else "none",
        "CITATION.cff": citation[1] if citation else "none",
        "CHANGELOG.md": newest[1] if newest else "none",
    }


def notes(version: str, root: Path = ROOT) -> tuple[str, str]:
    """The heading of a version in the changelog, and what stands below it."""
    found = re.search(
        rf"^(## {re.escape(version)}\b.*)\n(.*?)(?=^## |\Z)",
        (root / "CHANGELOG.md").read_text(),
        re.MULTILINE | re.DOTALL,
    )
    return (found[1], found[2].strip()) if found else ("", "")


def main(arguments: list[str]) -> int:
    wanted = next((one for one in arguments if not one.startswith("-")), None)
    found = named()
    if not wanted and found["CHANGELOG.md"] == "Unreleased":
        del found["CHANGELOG.md"]
    if len({*found.values(), *([wanted] if wanted else [])}) > 1:
        sys.stderr.write(f"the version is not the same everywhere: {found}, wanted {wanted or 'one'}\n")
        return 1
    heading, text = notes(found["pyproject.toml"])
    if wanted and not re.search(r"\d{4}-\d{2}-\d{2}", heading):
        sys.stderr.write(f"the changelog has no date: {heading!r}\n")
        return 1
    if "--notes" in arguments:
        sys.stdout.write(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
