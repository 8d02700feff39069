"""The pages of the documentation that are made, not written: each from a stored file or from the table of methods."""

from __future__ import annotations

import sys
from pathlib import Path

from .method_page import methods_page
from .page import comparison_page
from .rate_page import rates_page
from .rates import rows_from_json
from .results import Results


def pages(folder: Path) -> dict[str, str]:
    """The text of each page, by its name, from the data files in ``folder``."""
    return {
        "methods.md": methods_page(),
        "comparison.md": comparison_page(Results.load(folder / "comparison.json")),
        "rates.md": rates_page(rows_from_json((folder / "rates.json").read_text())),
    }


def build(folder: Path) -> None:
    """Write all of them."""
    for name, text in pages(folder).items():
        (folder / name).write_text(text)


if __name__ == "__main__":  # python -m tiebreak.lab.comparison.docs docs
    build(Path(sys.argv[1]))
