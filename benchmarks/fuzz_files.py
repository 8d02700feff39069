"""Spoilt files: problem files, their data, results and checkpoints, and what the library says to them.

    python benchmarks/fuzz_files.py --count 5000 --seed 1 [--jobs 2] [--keep FOLDER]

Each case spoils one good file (flipped bits, cut ends, values of other types, deep nesting, huge sizes) and does with
it what a user would: ``tiebreak solve``, ``Result.load``, ``solve(..., x0=path)``, in a process with 2 GB of memory. A
file may be read, or refused by an error of the library's own; counted are errors of others, dead processes, and runs
that do not end. ``--keep`` keeps the files behind them. Ends with code 1 if there is any.
"""

from __future__ import annotations

import harness  # noqa: F401  first of all: before NumPy

# isort: split
import argparse
import contextlib
import io
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import tiebreak as tb
from auditing.checks import Outcome
from auditing.pool import outcomes
from fuzzing.seeds import TEXTS, lay_out, problem
from fuzzing.spoil import spoilt_archive, spoilt_result, spoilt_text
from tiebreak.disk import ArchiveError
from tiebreak.files import FileProblem, read_task
from tiebreak.files.write import write

MEMORY = 2 * 2**30
SECONDS = 30.0
LIBRARY = str(Path(tb.__file__).parent)
OWN = (FileProblem, ArchiveError, OSError)


def case(number: int, seed: int, seeds: Path, keep: Path | None) -> Outcome:
    """Spoil a file and use it."""
    _limit_memory()
    rng = np.random.default_rng([seed, number])
    results = bool(rng.random() < 0.4)
    good = sorted(path.name for path in seeds.iterdir() if path.name.startswith(("result", "checkpoint")) == results)
    name = good[int(rng.integers(len(good)))]
    raw = (seeds / name).read_bytes()
    with tempfile.TemporaryDirectory() as made, warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        folder = Path(made)
        for path in seeds.iterdir():
            if not path.name.startswith(("result", "checkpoint")):
                (folder / path.name).write_bytes(path.read_bytes())
        spoil = spoilt_result if results else spoilt_archive if name.endswith(".npz") else spoilt_text
        (folder / name).write_bytes(spoil(raw, rng))
        if keep is not None:  # whatever happens to this process
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{number}-{name}").write_bytes((folder / name).read_bytes())
        try:
            status = use_result(folder / name) if results else use_problem(folder, name)
            faults = []
        except BaseException as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            words = f"{name}: {type(error).__name__}: {str(error)[:200]} at {last.filename}:{last.lineno}"
            faults, status = [("foreign", words)], "failed"
    if keep is not None and not faults:
        (keep / f"{number}-{name}").unlink()
    return Outcome(faults, status)


def use_problem(folder: Path, name: str) -> str:
    """Solve the problem file, or one that takes the data file."""
    taker = name if name.endswith(".toml") else "archives.toml" if name.endswith(".npz") else "two.toml"
    try:
        task = read_task(folder / taker)
        limits = {**task.limits, "max_time": min(task.limits.get("max_time") or 2.0, 2.0), "verbose": False}
        task = replace(task, limits={key: value for key, value in limits.items() if key in task.limits})
        write(task, task.run(), folder / "answer")
    except OWN:
        return "refused"
    return "used"


def use_result(path: Path) -> str:
    """Load the result, and go on from it."""
    try:
        tb.Result.load(path)
    except (ArchiveError, OSError):
        pass
    except ValueError as error:  # a checkpoint says what it is
        if "is a checkpoint" not in str(error):
            raise
    try:
        tb.solve(problem(), "auto", x0=path, max_iter=12, max_time=2.0, tol_upper=1e-12)
    except ArchiveError:
        return "refused"
    except (ValueError, ArithmeticError) as error:
        if not traceback.extract_tb(error.__traceback__)[-1].filename.startswith(LIBRARY):
            raise
        return "refused"
    return "used"


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
    print(f"{sum(statuses.values())} files of {len(TEXTS)} problems and their data, results and checkpoints: {told}")
    print(", ".join(f"{kind} {faults[kind]}" for kind in ("foreign", "crash", "hang")))
    print(f"{time.perf_counter() - started:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
