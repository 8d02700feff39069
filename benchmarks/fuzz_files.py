"""Spoilt files: problem files, their data, results, checkpoints and proofs, and what the library says to them.

    python benchmarks/fuzz_files.py --count 5000 --seed 1 [--jobs 2] [--keep FOLDER]

Each case spoils one good file (flipped bits, cut ends, values of other types, deep nesting, huge sizes) and does with
it what a user would: ``tiebreak solve``, ``Result.load``, ``solve(..., x0=path)``, ``proof_checker.py``, in a process
with 2 GB of memory. A file may be read, or refused by an error of the library's own; counted are errors of others, dead
processes, and runs that do not end. ``--keep`` keeps the files behind them. Ends with code 1 if there is any.
"""

from __future__ import annotations

import harness  # noqa: F401  first of all: before NumPy

# isort: split
import argparse
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

from auditing.checks import Outcome
from auditing.pool import outcomes
from fuzzing.cases import spoil_and_use
from fuzzing.seeds import MODELS, TEXTS, lay_out

MEMORY = 2 * 2**30
SECONDS = 30.0


def case(number: int, seed: int, seeds: Path, keep: Path | None) -> Outcome:
    """A case, in as much memory as it may take."""
    _limit_memory()
    return spoil_and_use(number, seed, seeds, keep)


def _limit_memory() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=int, help="just the case with this number")
    parser.add_argument("--keep", type=Path, help="folder for the files that were taken badly")
    asked = parser.parse_args(arguments)
    faults: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as seeds:
        lay_out(Path(seeds))
        numbers = iter(range(asked.count) if asked.only is None else [asked.only])
        work = partial(case, seed=asked.seed, seeds=Path(seeds), keep=asked.keep)
        for number, outcome in outcomes(numbers, work, asked.jobs, SECONDS):
            statuses[outcome.status] += 1
            for kind, words in outcome.faults:
                faults[kind] += 1
                print(f"{kind}, case {number}: {words}", flush=True)
    told = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
    made_of = f"{len(TEXTS)} problems and their data, {len(MODELS)} models, results and checkpoints, a proof"
    print(f"{sum(statuses.values())} files of {made_of}: {told}")
    print(", ".join(f"{kind} {faults[kind]}" for kind in ("foreign", "crash", "hang")))
    print(f"{time.perf_counter() - started:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
