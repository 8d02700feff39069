"""What an interruption of an exact solve takes along: the answer so far.

An exact solve is a single update of the loop. Its engines ask between pivots, levels and solvers whether time is left
(``tiebreak.numerics.deadline``); the exception takes along what was proved until then, as a Ctrl-C does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ..numerics.deadline import OutOfTime, check, limited, remaining
from .answer import Answer

__all__ = ["OutOfTime", "check", "keeping", "keeping_levels", "kept", "levels_kept", "limited", "remaining"]


@contextmanager
def keeping(partial: Callable[[], Answer]) -> Iterator[None]:
    """Let an interruption inside take what ``partial`` returns along, unless it already has something."""
    try:
        yield
    except (OutOfTime, KeyboardInterrupt) as stop:
        if kept(stop) is None:
            stop.partial = partial()  # type: ignore[union-attr]
        raise


@contextmanager
def keeping_levels(answers: Sequence[Answer]) -> Iterator[None]:
    """Let an interruption inside take the answers of the levels that were finished along."""
    try:
        yield
    except (OutOfTime, KeyboardInterrupt) as stop:
        stop.levels = tuple(answers)  # type: ignore[union-attr]
        raise


def levels_kept(stop: BaseException) -> tuple[Answer, ...]:
    """The answers of the levels that an interrupted chain had finished."""
    return getattr(stop, "levels", ())


def kept(stop: BaseException) -> Answer | None:
    """What an interruption has taken along."""
    partial = getattr(stop, "partial", None)
    return partial if isinstance(partial, Answer) else None
