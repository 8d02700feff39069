"""``tiebreak solve FILE``: read, solve, print, write."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from ..plan import plan
from ..result import Result, Status, assumed
from ..tradeoff import Tradeoff
from .errors import FileProblem
from .model import read_model_file
from .model_text import SUFFIXES
from .task import Options, Outcome, Task, read_task
from .write import as_stated, paths, record, write

AS_THE_FILE_SAYS = Options()
SOLVED, NOT_SOLVED, BAD_INPUT, NOT_WRITTEN, INTERRUPTED = 0, 1, 2, 3, 130


def solve_file(
    file: str,
    out: str | None = None,
    check: bool = False,
    verbose: bool = False,
    then: Sequence[str] | None = None,
    options: Options = AS_THE_FILE_SAYS,
) -> int:
    """The command; returns the exit code.

    0 solved, 1 not solved to the tolerances, 2 something wrong with the file, 3 the answer could not be written (it is
    printed instead), 130 interrupted (with what there is).
    """
    interrupted = False
    try:
        task = _read(file, out, then).with_options(options)
        stem = _stem(task)
        if check:
            task.check()
            print(f"{file} is fine: {_summary(task)}")
            return SOLVED
        _make_room(stem)
        outcome = task.run(verbose)
    except (FileProblem, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt as stop:
        if not hasattr(stop, "result"):
            print("interrupted before there was a point; nothing is written", file=sys.stderr)
            return INTERRUPTED
        outcome, interrupted = stop.result, True
    print(_report(task, outcome), flush=True)
    try:
        written = write(task, outcome, stem)
    except OSError as error:
        print(json.dumps(record(task, outcome), allow_nan=False))
        print(f"error: {error}; the answer is printed instead, in full", file=sys.stderr)
        return NOT_WRITTEN
    print(f"\n  written to {written[0]} and {written[1]}")
    if interrupted:
        return INTERRUPTED
    return SOLVED if _solved(outcome) else NOT_SOLVED


def _read(file: str, out: str | None, then: Sequence[str] | None) -> Task:
    """A problem file, or a model."""
    if Path(file).suffix.lower() in SUFFIXES:
        return read_model_file(file, [] if then == ["none"] else then, out)
    if then is not None:
        raise FileProblem(Path(file), 0, "", "--then is for models (.mps, .lp); a TOML file names its levels itself")
    return read_task(file, out)


def _stem(task: Task) -> Path:
    """Where the answer goes: where --out says, or else the file; never over the data of the problem."""
    stem = task.output
    if stem.is_dir():
        stem = stem / task.file.with_suffix(".result").name
    elif stem.suffix in (".json", ".npz"):
        stem = stem.with_suffix("")
    for path in paths(stem):
        if path.resolve() in task.data_files:
            raise OSError(f"the answer would overwrite {path}, which the problem is made of; choose another output")
    return stem


def _make_room(stem: Path) -> None:
    """That the answer can be written is known before the work begins."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    if not os.access(stem.parent, os.W_OK):
        raise OSError(f"cannot write to the folder {stem.parent}; choose another with --out")


def _summary(task: Task) -> str:
    problem = task.problem
    made = plan(problem, task.method)
    levels = ", then ".join(type(level).__name__ for level in problem.levels)
    return f"{levels} over {problem.domain!r}, {problem.dim} variables; method: {made.because or repr(made.solver)}"


def _report(task: Task, outcome: Outcome) -> str:
    if not isinstance(outcome, Result):
        return repr(outcome)
    rows = [
        f"{one['sense']} {one['name']} = {one['value']:.10g}   optimum in [{one['lower']:.10g}, {one['upper']:.10g}]"
        for one in as_stated(task, outcome)
    ]
    shown = f"{outcome!r}\n\n  What is proved: {outcome.message}\n  {assumed(outcome.certificate)}"
    return "\n  ".join([f"{shown}\n\n  As the model states it:", *rows]) if rows else shown


def _solved(outcome: Outcome) -> bool:
    if isinstance(outcome, Tradeoff):
        return all(result.status is Status.CONVERGED for result in outcome.results)
    return outcome.success
