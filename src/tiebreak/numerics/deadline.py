"""How the loop's time limit reaches into one long update: the loop sets it, whoever works for long asks now and then.

The limit travels in a context variable, so that every thread has its own. Engines call ``check`` between pivots,
levels and solvers; foreign solvers are given ``remaining``; what cannot be stopped once begun asks ``afford`` before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ..kernels import clock

_deadline: ContextVar[float] = ContextVar("deadline", default=float("inf"))

SPEED = 1e9
"""Multiplications and additions a second that dense factorisations reach at least, on one slow core."""


class OutOfTime(Exception):
    """The time limit was reached inside an update."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Inside, ``check`` raises once so many seconds have passed, or those of a limit further out."""
    token = _deadline.set(min(_deadline.get(), clock() + seconds))
    try:
        yield
    finally:
        _deadline.reset(token)


def remaining() -> float:
    """Seconds left: inf without a limit, never below zero."""
    return max(0.0, _deadline.get() - clock())


def check() -> None:
    """Raise ``OutOfTime`` where no time is left."""
    if clock() >= _deadline.get():
        raise OutOfTime


def affordable(operations: float) -> bool:
    """Whether so many multiplications of a dense factorisation, which nothing can stop, fit into what is left."""
    return operations <= SPEED * remaining()


def afford(operations: float) -> None:
    """Raise ``OutOfTime`` where so many multiplications do not fit into what is left."""
    if not affordable(operations):
        raise OutOfTime
