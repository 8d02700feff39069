"""What an interruption of an exact solve takes along: the answer so far.

An exact solve is a single update of the loop. Its engines ask between pivots, levels and solvers whether time is left
(``tiebreak.deadline``); the exception takes along what was proved until then, as a Ctrl-C does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..deadline import OutOfTime, check, limited, remaining
from .answer import Answer

__all__ = ["OutOfTime", "check", "keeping", "kept", "limited", "remaining"]


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
