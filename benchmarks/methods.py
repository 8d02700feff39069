"""The comparison of all methods, and the page made of it.

    python benchmarks/methods.py [--docs] [options of `tiebreak bench methods`]

Runs are kept in benchmarks/results/methods; with --docs the results, the plots and the pages in docs/ are renewed.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import harness  # before NumPy: one thread
from tiebreak.cli import main

OUT, DOCS = harness.RESULTS / "methods", Path(__file__).resolve().parent.parent / "docs"

if __name__ == "__main__":
    arguments = [word for word in sys.argv[1:] if word != "--docs"]
    code = main(["bench", "methods", "--out", str(OUT), *arguments])
    if code == 0 and "--docs" in sys.argv:
        from tiebreak.lab.comparison.docs import build

        for file in OUT.glob("comparison*"):
            shutil.copy(file, DOCS)
        build(DOCS)
    sys.exit(code)
