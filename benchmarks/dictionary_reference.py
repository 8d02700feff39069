"""The dictionary experiment against the authors' recorded run, to its end: iterates, both errors, recovery.

    TIEBREAK_DATA=FOLDER python benchmarks/dictionary_reference.py [--updates 4409]

FOLDER holds dictionary_reference.npz: one instance, and D and X of five methods at a few updates. Differences are the
largest of an entry of D or X, relative to the largest entry; errors are per data point. g - g(D0) is computed from the
change of D at both ends; the recorded value, a difference of two values of g, is beside it.
"""

# ruff: noqa: E402 (the number of threads is read when NumPy is imported)
from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import sys
from pathlib import Path

import numpy as np

from tiebreak.lab.reproduce.dictionary_runs import KEYS, compared


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--updates", type=int, default=4409)
    updates = parser.parse_args().updates
    folder = Path(os.environ.get("TIEBREAK_DATA", ""))
    if not (folder / "dictionary_reference.npz").exists():
        sys.exit("TIEBREAK_DATA does not name a folder with dictionary_reference.npz")
    recorded = np.load(folder / "dictionary_reference.npz")
    header = ("method", "k<=100", "at end", "f", "theirs", "g - g(D0)", "theirs", "recorded", "recovery", "theirs")
    print(f"{header[0]:16}" + "".join(f"{name:>12}" for name in header[1:]))
    for name, key in KEYS.items():
        run = compared(folder, name, updates)
        (f, gap, share), (their_f, their_gap, their_share) = run["end"], run["their_end"]
        same = recorded[f"{key}_k"] == run["at"][-1]
        kept = float(recorded[f"{key}_lower_gap"][same][0]) if same.any() else np.nan
        away = run["away"]
        near = max(one for k, one in zip(run["at"], away, strict=True) if k <= 100)
        print(
            f"{name:16}{near:12.1e}{away[-1]:12.1e}{f:12.5g}{their_f:12.5g}{gap:12.4g}{their_gap:12.4g}{kept:12.4g}"
            f"{share:12.2f}{their_share:12.2f}"
        )


if __name__ == "__main__":
    main()
