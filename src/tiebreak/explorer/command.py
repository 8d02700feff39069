"""``tiebreak explore FILE``: read, compute the curve, write the page."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path

from ..files import FileProblem, Task, read_model_file, read_task
from ..files.model_text import SUFFIXES
from ..files.task import FAILURES
from .page import explore

WRITTEN, BAD_INPUT = 0, 2


def explore_file(file: str, out: str | None = None, show: bool = False) -> int:
    """The command; returns the exit code: 0 when the page is there, 2 when something is wrong."""
    try:
        task = read_model_file(file) if Path(file).suffix.lower() in SUFFIXES else read_task(file)
        page = _page(task, out)
    except (FileProblem, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    print(f"The page: {page.resolve()}")
    if show:
        webbrowser.open(page.resolve().as_uri())
    return WRITTEN


def _page(task: Task, out: str | None) -> Path:
    path = Path(out) if out else task.file.with_suffix(".explore.html")
    if path.resolve() in {*task.data_files, task.file.resolve()}:
        raise OSError(f"the page would overwrite {path}, which the problem is made of; choose another with --out")
    if not os.access(path.parent, os.W_OK):
        raise OSError(f"cannot write to the folder {path.parent}; choose another with --out")
    try:
        return explore(task.problem, path, task.method, slacks=task.slacks, title=task.file.stem, **task.limits)
    except FAILURES as error:
        raise task.failed(error) from error
