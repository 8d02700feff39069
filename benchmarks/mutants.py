"""Deliberate mistakes in the arithmetic of proofs: which of them do the tests notice?

    python benchmarks/mutants.py [--only TEXT] [--jobs 2] [--list]

Each mutant is one replacement in one file of a copy of the library, and the tests named for that file are run against
the copy. A mutant that survives is a hole in the tests, unless it changes nothing that matters: then the list says why.
Ends with code 1 where fewer than 90 % of the others are noticed, or where a mutant no longer fits the code.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutations import MUTANTS, TESTS, Mutant

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 300
"""A mutant that makes the tests run longer than this is noticed, too."""


def misfits() -> list[str]:
    """Mutants whose text is not found exactly once."""
    found = []
    for number, mutant in enumerate(MUTANTS):
        count = (ROOT / "src" / "tiebreak" / mutant.file).read_text().count(mutant.old)
        if count != 1:
            found.append(f"mutant {number} does not fit {mutant.file}: found {count} times: {mutant.old!r}")
    return found


def noticed(mutant: Mutant) -> str:
    """The test that fails first, or an empty string."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src", Path(folder) / "src", ignore=shutil.ignore_patterns("__pycache__"))
        path = Path(folder) / "src" / "tiebreak" / mutant.file
        path.write_text(path.read_text().replace(mutant.old, mutant.new))
        environment = {**os.environ, "PYTHONPATH": str(Path(folder) / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "HYPOTHESIS_STORAGE_DIRECTORY": folder}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *tests(mutant)]
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return "too slow"
    if done.returncode == 0:
        return ""
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0][:110] if failed else f"pytest ended with code {done.returncode}"


def tests(mutant: Mutant) -> list[str]:
    """The tests for the file of the mutant: those of the longest entry that its path begins with."""
    best = max((start for start in TESTS if mutant.file.startswith(start)), key=len)
    return TESTS[best]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="mutants of files whose path contains this")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="print the mutants and check that they fit, no more")
    asked = parser.parse_args()
    if complaints := misfits():
        print("\n".join(complaints))
        return 1
    chosen = [(k, mutant) for k, mutant in enumerate(MUTANTS) if asked.only in mutant.file]
    if asked.list:
        for number, mutant in chosen:
            print(f"{number:3d} {mutant.file}: {mutant.old!r} -> {mutant.new!r} {mutant.equivalent}")
        return 0
    killed = survived = 0
    with ThreadPoolExecutor(asked.jobs) as pool:
        for (number, mutant), by in zip(chosen, pool.map(lambda pair: noticed(pair[1]), chosen), strict=True):
            killed += bool(by)
            survived += not by and not mutant.equivalent
            verdict = f"killed: {by}" if by else f"equivalent: {mutant.equivalent}" if mutant.equivalent else "SURVIVED"
            print(f"{number:3d} {mutant.file}: {mutant.old!r} -> {mutant.new!r}\n    {verdict}", flush=True)
    share = killed / max(killed + survived, 1)
    print(f"\n{len(chosen)} mutants: {killed} killed, {survived} survived, "
          f"{len(chosen) - killed - survived} equivalent; {share:.0%} of the others killed")  # fmt: skip
    return int(share < 0.9)


if __name__ == "__main__":
    sys.exit(main())
