"""What the terminal shows: how far a run is, and the claims at its end."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from textwrap import wrap
from typing import TextIO

from ..reproduce.outcome import Claim, Outcome
from .page import VERDICTS, tally


@dataclass
class Progress:
    """A line about the piece that is done and the time that is left, rewritten in place on a terminal.

    ``tell`` is what a `Workshop` calls. The time left is that of the pieces to come if they take as long as those
    made so far, and of the experiments to come, likewise.
    """

    stream: TextIO
    of: int
    rewrite: bool = True
    silent: bool = False
    _finished: list[float] = field(default_factory=list, init=False)
    _name: str = field(default="", init=False)
    _begun: float = field(default=0.0, init=False)
    _made: int = field(default=0, init=False)
    _width: int = field(default=0, init=False)

    def begin(self, name: str) -> None:
        """An experiment begins."""
        self._name, self._begun, self._made = name, time.monotonic(), 0
        self._show(f"{self._where()} ...")

    def end(self) -> None:
        """It has ended."""
        self._finished.append(time.monotonic() - self._begun)

    def tell(self, done: int, of: int, piece: str, seconds: float) -> None:
        """A piece is done."""
        self._made += 1
        left = self.seconds_left(of - done)
        ready = (datetime.now() + timedelta(seconds=left)).strftime("%H:%M:%S")
        about = "" if done == of and len(self._finished) + 1 == self.of else f", about {duration(left)} left ({ready})"
        self._show(f"{self._where()}: {done} of {of}, {piece} took {duration(seconds)}{about}")

    def seconds_left(self, pieces: int) -> float:
        """For so many more pieces of this experiment, and the experiments after it."""
        spent = time.monotonic() - self._begun
        here = spent / max(self._made, 1) * pieces
        known = [*self._finished, spent + here]
        return here + (self.of - len(self._finished) - 1) * sum(known) / len(known)

    def clear(self) -> None:
        """Leave the line to others."""
        if self.rewrite and self._width:
            print("\r" + " " * self._width, end="\r", file=self.stream, flush=True)
            self._width = 0

    def _where(self) -> str:
        return f"{self._name} ({len(self._finished) + 1} of {self.of})" if self.of > 1 else self._name

    def _show(self, text: str) -> None:
        if self.silent:
            return
        if not self.rewrite:
            print(text, file=self.stream, flush=True)
            return
        text = text[: shutil.get_terminal_size().columns - 1]  # a line that wraps cannot be rewritten
        print("\r" + text.ljust(self._width), end="", file=self.stream, flush=True)
        self._width = max(self._width, len(text))


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


def claims_table(outcomes: Sequence[Outcome], width: int) -> str:
    """Every claim with its verdict, for a terminal of so many columns."""
    lines = []
    for outcome in outcomes:
        lines += ["", outcome.title, "-" * len(outcome.title)]
        for claim in outcome.claims:
            lines += _claim(claim, max(width, 60))
    counted = ", ".join(f"{count} {words}" for words, count in tally(outcomes).items())
    return "\n".join([*lines, "", f"Of the paper's claims {counted}."])


def _claim(claim: Claim, width: int) -> list[str]:
    _, sign, words = VERDICTS[claim.holds]
    margin = len("✗ does not hold  ")
    texts = [claim.sentence, f"paper: {claim.paper}", f"here:  {claim.ours}", claim.why]
    wrapped = [line for text in texts if text for line in wrap(text, width - margin, subsequent_indent="  ")]
    first = f"{sign} {words}".ljust(margin)
    return [(first if i == 0 else " " * margin) + line for i, line in enumerate(wrapped)]
