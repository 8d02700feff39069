"""One line of text that is rewritten in its place; where there is no terminal, one line after the other."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from typing import Any, TextIO


@dataclass
class StatusLine:
    """The line at the end of ``stream``. ``spinner``: with rich's spinner, where rich is and the stream is a terminal.

    Examples
    --------
    >>> import sys
    >>> line = StatusLine(sys.stdout)
    >>> line.show("half of it"); line.show("all of it")
    half of it
    all of it
    """

    stream: TextIO
    spinner: bool = False
    _width: int = field(default=0, init=False)
    _rich: Any = field(default=None, init=False)

    @property
    def in_place(self) -> bool:
        """Whether a text takes the place of the one before."""
        return self.stream.isatty()

    def show(self, text: str) -> None:
        """This text now."""
        if not self.in_place:
            print(text, file=self.stream, flush=True)
        elif self.spinner and self._spins():
            self._rich.update(text)
        else:
            text = text[: shutil.get_terminal_size().columns - 1]  # a line that wraps cannot be rewritten
            print("\r" + text.ljust(self._width), end="", file=self.stream, flush=True)
            self._width = max(self._width, len(text))

    def clear(self) -> None:
        """Leave the place to others."""
        self._stop()
        if self._width:
            print("\r" + " " * self._width, end="\r", file=self.stream, flush=True)
            self._width = 0

    def close(self) -> None:
        """Let the last text stand."""
        self._stop()
        if self._width:
            print(file=self.stream)
            self._width = 0

    def _stop(self) -> None:
        if self._rich is not None:
            self._rich.stop()
            self._rich = None

    def _spins(self) -> bool:
        if self._rich is None:
            try:
                from rich.console import Console
            except ImportError:
                return False
            self._rich = Console(file=self.stream).status("")
            self._rich.start()
        return True
