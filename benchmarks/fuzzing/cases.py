"""One case: a good file is spoilt, and used as a user would use it."""

from __future__ import annotations

import contextlib
import io
import tempfile
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

import tiebreak as tb
from auditing.checks import Outcome
from tiebreak.disk import ArchiveError
from tiebreak.files import FileProblem, read_model_file, read_task
from tiebreak.files.write import write
from tiebreak.proof_checker import main as check_proof

from .seeds import MODELS, problem
from .spoil import spoilt_archive, spoilt_json, spoilt_result, spoilt_text

LIBRARY = str(Path(tb.__file__).parent)
RESULTS = ("result", "checkpoint")
OWN = (FileProblem, ArchiveError, OSError)


def spoil_and_use(number: int, seed: int, seeds: Path, keep: Path | None) -> Outcome:
    """Spoil a file and use it."""
    rng = np.random.default_rng([seed, number])
    results = bool(rng.random() < 0.4)
    good = sorted(path.name for path in seeds.iterdir() if path.name.startswith(RESULTS) == results)
    name = good[int(rng.integers(len(good)))]
    raw = (seeds / name).read_bytes()
    with tempfile.TemporaryDirectory() as made, warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        folder = Path(made)
        for path in seeds.iterdir():
            if not path.name.startswith(RESULTS):
                (folder / path.name).write_bytes(path.read_bytes())
        (folder / name).write_bytes(_way_to_spoil(name, rng)(raw, rng))
        if keep is not None:  # whatever happens to this process
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{number}-{name}").write_bytes((folder / name).read_bytes())
        try:
            status = use_result(folder / name) if results else use(folder, name)
            faults = []
        except BaseException as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            words = f"{name}: {type(error).__name__}: {str(error)[:200]} at {last.filename}:{last.lineno}"
            faults, status = [("foreign", words)], "failed"
    if keep is not None and not faults:
        (keep / f"{number}-{name}").unlink()
    return Outcome(faults, status)


def _way_to_spoil(name: str, rng: np.random.Generator) -> Callable[[bytes, np.random.Generator], bytes]:
    if name.endswith(".npz"):
        return spoilt_result if name.startswith(RESULTS) else spoilt_archive
    return spoilt_json if name.endswith(".json") and rng.random() < 0.7 else spoilt_text


def use(folder: Path, name: str) -> str:
    """Check a proof; solve any other problem."""
    if name.endswith(".json"):
        return "used" if check_proof([str(folder / name)]) == 0 else "refused"
    return use_problem(folder, name)


def use_problem(folder: Path, name: str) -> str:
    """Solve the problem file, or one that takes the data file."""
    taker = (
        name if name in MODELS or name.endswith(".toml") else "archives.toml" if name.endswith(".npz") else "two.toml"
    )
    try:
        task = read_model_file(folder / taker) if taker in MODELS else read_task(folder / taker)
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
