"""Work in processes of its own, several at a time, that ends with whoever asked for it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def in_processes(
    work: Callable[[T], R], todo: Sequence[T], jobs: int, begin: Callable[[], None] | None = None
) -> Iterator[tuple[T, R]]:
    """Each with what ``work`` makes of it, as soon as that is done; fresh processes, ``jobs`` at a time.

    Every process starts with ``begin``, a function of a module or a partial of one.
    Linear algebra keeps to one thread in each. Whatever ends the loop early ends the processes: what they were at is
    lost.
    """
    others = set(multiprocessing.active_children())
    spawn = multiprocessing.get_context("spawn")
    with _one_thread_each(), ProcessPoolExecutor(jobs, spawn, initializer=_begin, initargs=(begin,)) as pool:
        running = {pool.submit(work, one): one for one in todo}
        try:
            for future in as_completed(running):
                yield running[future], future.result()
        except BaseException:
            for worker in set(multiprocessing.active_children()) - others:
                worker.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _begin(begin: Callable[[], None] | None) -> None:
    """Ctrl-C reaches the workers as well; only the parent has something to say about it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if begin is not None:
        begin()


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """For the processes to come."""
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
