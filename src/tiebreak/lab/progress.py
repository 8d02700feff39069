"""How far pieces of work are, and how long they will take."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TextIO

from ..statusline import StatusLine


@dataclass
class Progress:
    """A line about the piece that is done and the time that is left; without a terminal, ten lines at most.

    ``tell`` is what a `Workshop` calls. The time left is that of the pieces to come if they take as long as those
    made so far, and of the experiments to come, likewise.
    """

    stream: TextIO
    of: int = 1
    silent: bool = False
    now: Callable[[], float] = time.monotonic
    _finished: list[float] = field(default_factory=list, init=False)
    _name: str = field(default="", init=False)
    _begun: float = field(default=0.0, init=False)
    _made: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._line = StatusLine(self.stream)

    def begin(self, name: str) -> None:
        """An experiment begins."""
        self._name, self._begun, self._made = name, self.now(), 0
        self._show(f"{self._where()} ...")

    def end(self) -> None:
        """It has ended."""
        self._finished.append(self.now() - self._begun)

    def tell(self, done: int, of: int, piece: str, seconds: float) -> None:
        """A piece is done."""
        self._made += 1
        if not self._line.in_place and done % max(1, of // 10) and done < of:
            return
        left = self.seconds_left(of - done)
        ready = (datetime.now() + timedelta(seconds=left)).strftime("%H:%M:%S")
        about = "" if done == of and len(self._finished) + 1 == self.of else f", about {duration(left)} left ({ready})"
        self._show(f"{self._where()}: {done} of {of}, {piece} took {duration(seconds)}{about}")

    def seconds_left(self, pieces: int) -> float:
        """For so many more pieces of this experiment, and the experiments after it."""
        spent = self.now() - self._begun
        here = spent / max(self._made, 1) * pieces
        known = [*self._finished, spent + here]
        return here + (self.of - len(self._finished) - 1) * sum(known) / len(known)

    def clear(self) -> None:
        """Leave the line to others."""
        self._line.clear()

    def _where(self) -> str:
        return f"{self._name} ({len(self._finished) + 1} of {self.of})" if self.of > 1 else self._name

    def _show(self, text: str) -> None:
        if not self.silent:
            self._line.show(text)


def duration(seconds: float) -> str:
    """A time as one says it.

    Examples
    --------
    >>> duration(0.04), duration(12.3), duration(75), duration(7500)
    ('0.0 s', '12 s', '1 min 15 s', '2 h 5 min')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
