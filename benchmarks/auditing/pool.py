"""Cases in processes of their own: one that dies or hangs takes nothing with it."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from .checks import Outcome

SPAWN = multiprocessing.get_context("spawn")
START = 60.0
"""Seconds that a process may take to start: it imports the library, and compiles where numba is there."""


def _serve(pipe: Connection, work: Callable[[Any], Outcome]) -> None:
    pipe.send("ready")
    while (task := pipe.recv()) is not None:
        pipe.send(work(task))


@dataclass
class _Worker:
    work: Callable[[Any], Outcome]
    task: Any = None
    deadline: float = field(default=0.0)

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.pipe, other = SPAWN.Pipe()
        self.process = SPAWN.Process(target=_serve, args=(other, self.work), daemon=True)
        self.process.start()
        other.close()
        if not self.pipe.poll(START) or self.pipe.recv() != "ready":
            raise RuntimeError("a worker of the audit did not start")

    def give(self, task: Any, limit: float) -> None:
        self.task, self.deadline = task, time.monotonic() + limit
        self.pipe.send(task)

    def taken(self) -> Outcome:
        """The outcome of the task, or what became of the process."""
        try:
            return self.pipe.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            code = self.process.exitcode
            self.begin()
            return Outcome([("crash", f"the process ended with code {code}")], "open")

    def killed(self, limit: float) -> Outcome:
        self.process.kill()
        self.process.join()
        self.begin()
        return Outcome([("hang", f"no answer after {limit:.0f} s")], "open", seconds=limit)

    def end(self) -> None:
        self.pipe.send(None)
        self.process.join(5)


class Alone:
    """Cases one at a time, in a process of their own; used by the shrinking of failures."""

    def __init__(self, work: Callable[[Any], Outcome], limit: float) -> None:
        self._worker, self._limit = _Worker(work), limit

    def __enter__(self) -> Alone:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.end()

    def run(self, task: Any) -> Outcome:
        self._worker.give(task, self._limit)
        if self._worker.pipe.poll(self._limit):
            return self._worker.taken()
        return self._worker.killed(self._limit)


def outcomes(
    tasks: Iterator[Any], work: Callable[[Any], Outcome], jobs: int, limit: float
) -> Iterator[tuple[Any, Outcome]]:
    """Each task with its outcome, as they come; a task may take ``limit`` seconds on the clock."""
    tasks = iter(tasks)
    workers = [_Worker(work) for _ in range(jobs)]
    busy: list[_Worker] = []
    try:
        while True:
            for worker in [one for one in workers if one not in busy]:
                if (task := next(tasks, None)) is not None:
                    worker.give(task, limit)
                    busy.append(worker)
            if not busy:
                return
            ready = wait([worker.pipe for worker in busy], timeout=0.2)
            for worker in list(busy):
                if worker.pipe in ready:
                    result = worker.taken()
                elif time.monotonic() > worker.deadline:
                    result = worker.killed(limit)
                else:
                    continue
                busy.remove(worker)
                yield worker.task, result
    finally:
        for worker in workers:
            if worker in busy:
                worker.process.kill()
            else:
                worker.end()
