"""How long the files of the methods are: a method that needs more than 150 lines lacks a concept.

python benchmarks/solver_lengths.py
"""

from __future__ import annotations

import inspect
from pathlib import Path
from statistics import median

from tiebreak.methods import SOLVERS

if __name__ == "__main__":
    lengths = {name: Path(inspect.getfile(cls)).read_text().count("\n") for name, cls in SOLVERS.items()}
    print("| method | lines |\n|---|---|")
    for name in sorted(lengths, key=lambda name: -lengths[name]):
        print(f"| {name} | {lengths[name]} |")
    print(f"\nmedian {median(lengths.values()):g}, longest {max(lengths.values())}")
