"""Prints the oldest versions that pyproject.toml promises to work with, as pip constraints."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

LOWEST = re.compile(r"([A-Za-z0-9_.-]+)>=([0-9][0-9a-z.]*)")
OWN = ("fast", "sklearn", "cli", "report")
"""Extras whose code the tests run."""


def constraints(pyproject: Path) -> list[str]:
    """One ``name==version`` for each dependency of the core and of those extras."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    wanted = project["dependencies"] + [one for extra in OWN for one in project["optional-dependencies"][extra]]
    found = {}
    for requirement in wanted:
        match = LOWEST.fullmatch(requirement)
        if match is None:
            raise SystemExit(f"{requirement!r} in pyproject.toml names no lowest version: write name>=version")
        found[match[1]] = match[2]
    return [f"{name}=={version}" for name, version in found.items()]


if __name__ == "__main__":
    sys.stdout.write("\n".join(constraints(Path(__file__).parents[2] / "pyproject.toml")) + "\n")
