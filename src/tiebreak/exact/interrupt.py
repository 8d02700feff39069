"""How the loop's time limit reaches into one long update: the loop sets it, engines ask now and then.

An exact solve is a single update. Engines call ``check`` between pivots, levels and solvers; the exception takes along
what was proved until then, as a Ctrl-C does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .answer import Answer

_deadline: ContextVar[float] = ContextVar("deadline", default=float("inf"))


class OutOfTime(Exception):
    """The time limit was reached inside an update."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Inside, ``check`` raises once so many seconds have passed, or those of a limit further out."""
    token = _deadline.set(min(_deadline.get(), time.perf_counter() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def remaining() -> float:
    """Seconds left: inf without a limit, never below zero."""
    return max(0.0, _deadline.get() - time.perf_counter())


def check() -> None:
    """Raise ``OutOfTime`` where no time is left."""
    if time.perf_counter() >= _deadline.get():
        raise OutOfTime


@contextmanager
def keeping(partial: Callable[[], Answer]) -> Iterator[None]:
    """Let an interruption inside take what ``partial`` returns along, unless it already has something."""
    try:
        yield
    except (OutOfTime, KeyboardInterrupt) as stop:
        if kept(stop) is None:
            stop.partial = partial()  # type: ignore[union-attr]
        raise


def kept(stop: BaseException) -> Answer | None:
    """What an interruption has taken along."""
    partial = getattr(stop, "partial", None)
    return partial if isinstance(partial, Answer) else None
