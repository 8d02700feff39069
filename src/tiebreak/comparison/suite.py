"""All runs of the comparison: each kept in a file of its own, so that what was interrupted goes on where it stopped."""

from __future__ import annotations

import hashlib
import inspect
import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TextIO

from ..disk import write_whole
from ..solvers import METHODS, SOLVERS
from . import families, planted, run, settings
from .run import Record

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Task:
    """One run: what, and for how long."""

    family: str
    method: str
    setting: str
    seconds: float

    @property
    def key(self) -> str:
        """Changes with the parameters, the version of the library, and the text of what would be run."""
        sources = [inspect.getmodule(SOLVERS[self.method]), families, planted, run, settings]
        text = "".join(inspect.getsource(module) for module in sources if module is not None)
        parts = [*map(str, asdict(self).values()), version("tiebreak"), version("numpy"), text]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def file(self, folder: Path) -> Path:
        """Where its record is kept."""
        return folder / f"{self.family}--{self.method}--{self.key}.json"


def tasks(
    seconds: float, family_names: Sequence[str] = (), methods: Sequence[str] = (), tuned: bool = True
) -> list[Task]:
    """All runs of the comparison, or of a part of it."""
    _known(family_names, families.FAMILIES, "family")
    _known(methods, METHODS, "method")
    return [
        Task(family, method, setting, seconds)
        for family in family_names or families.FAMILIES
        for method in methods or METHODS
        for setting in settings.labels(method)[: None if tuned else 1]
    ]


def _known(names: Sequence[str], known: object, what: str) -> None:
    listing = list(known)  # type: ignore[call-overload]
    for name in names:
        if name not in listing:
            raise ValueError(f"unknown {what} {name!r}; available: {', '.join(listing)}")


def load(task: Task, folder: Path) -> Record | None:
    """The record of an earlier run of the same task, if there is one."""
    try:
        kept = json.loads(task.file(folder).read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return Record([tuple(look) for look in kept["looks"]], kept["status"])


def perform(task: Task, folder: Path) -> None:
    """Run a task and keep its record; written at once or not at all."""
    try:
        record = run.run(task.family, task.method, task.setting, task.seconds)
    except Exception as error:  # whatever breaks a method is its result, and must not cost those of the others
        record = Record(status=f"failed: {type(error).__name__}: {error}")
    kept = {"task": asdict(task), "status": record.status, "looks": [[*map(_short, look)] for look in record.looks]}
    write_whole(task.file(folder), lambda file: file.write(json.dumps(kept).encode()))


def _short(number: float) -> float:
    return float(f"{number:.4g}")


def perform_all(todo: list[Task], folder: Path, jobs: int, show: TextIO | None = None) -> dict[Task, Record]:
    """The records of all tasks; those that are not there yet are run, ``jobs`` at a time, in fresh processes."""
    folder.mkdir(parents=True, exist_ok=True)
    open_tasks = [task for task in todo if load(task, folder) is None]
    progress = Progress(len(open_tasks), len(todo) - len(open_tasks), show or sys.stderr)
    if open_tasks:
        others = set(multiprocessing.active_children())
        spawn = multiprocessing.get_context("spawn")
        with _one_thread_each(), ProcessPoolExecutor(jobs, spawn, initializer=_die_quietly) as pool:
            running = {pool.submit(perform, task, folder): task for task in open_tasks}
            try:
                for future in as_completed(running):
                    future.result()
                    progress.tick(running[future])
            except BaseException:
                for worker in set(multiprocessing.active_children()) - others:  # what they were at is not kept
                    worker.terminate()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    progress.close()
    found = {}
    for task in todo:
        record = load(task, folder)
        assert record is not None
        found[task] = record
    return found


def _die_quietly() -> None:
    """Ctrl-C reaches the workers as well; only the parent has something to say about it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Linear algebra in the processes to come keeps to one thread, as processor time is what is measured."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class Progress:
    """A line that says how far it is and how long it will take; on a terminal it stays in its place."""

    def __init__(self, total: int, kept: int, stream: TextIO) -> None:
        self.total, self.done, self.stream = total, 0, stream
        self.started = time.monotonic()
        self.stream.write(f"{total} runs to make, {kept} kept from before\n")

    def tick(self, task: Task) -> None:
        """One more is done."""
        self.done += 1
        if not self.stream.isatty() and self.done % max(1, self.total // 10):
            return
        left = (time.monotonic() - self.started) / self.done * (self.total - self.done)
        line = f"{self.done}/{self.total}, {left / 60:.1f} min left: {task.method} on {task.family}"
        self.stream.write(f"\r{line:<78}" if self.stream.isatty() else line + "\n")
        self.stream.flush()

    def close(self) -> None:
        """After the last one."""
        if self.total and self.stream.isatty():
            self.stream.write("\n")
