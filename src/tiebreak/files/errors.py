"""What is wrong with a problem file: which key, on which line, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

from .locate import KeyPath, line_of, spelt


class KeyProblem(ValueError):
    """Something wrong at a key; whoever has the text of the file makes a ``FileProblem`` of it."""

    def __init__(self, path: KeyPath, message: str) -> None:
        super().__init__(message)
        self.path = path


class FileProblem(ValueError):
    """A problem file that cannot be used.

    Attributes
    ----------
    file : Path
        The file.
    line : int
        The line, counted from 1.
    key : str
        The key, as in ``lower.A.columns[2]``; empty where the file is not TOML.
    """

    def __init__(self, file: Path, line: int, key: str, message: str) -> None:
        super().__init__(f"{file}, line {line}: {key and key + ': '}{message}")
        self.file, self.line, self.key = file, line, key

    @classmethod
    def at_key(cls, file: Path, text: str, problem: KeyProblem) -> FileProblem:
        """The same with its line."""
        return cls(file, line_of(text, problem.path), spelt(problem.path), str(problem))


def suggestion(name: str, known: Iterable[str]) -> str:
    """What else there is, the nearest name first: "did you mean 'radius'? It can be ..."."""
    known = list(known)
    if not known:
        return ""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{hint}There is {', '.join(known)}" if len(known) <= 40 else f"{hint}There are {len(known)}"
