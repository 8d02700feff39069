"""What is wrong with a problem file: which key, on which line, and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path

from .locate import KeyPath, line_of, spelt


class KeyProblem(ValueError):
    """Something wrong at a key, and at others; whoever has the text of the file makes a ``FileProblem`` of it."""

    def __init__(self, path: KeyPath, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.others: list[KeyProblem] = []


class Collected:
    """What is wrong at keys that do not depend on each other: all of it, at the end.

    Examples
    --------
    >>> wrong = Collected()
    >>> for key in ("slak", "tol"):
    ...     with wrong.noted():
    ...         raise KeyProblem((key,), f"there is no {key}")
    >>> wrong.settle()
    Traceback (most recent call last):
        ...
    tiebreak.files.errors.KeyProblem: there is no slak
    """

    def __init__(self) -> None:
        self.found: list[KeyProblem] = []

    @contextmanager
    def noted(self) -> Iterator[None]:
        """A step whose mistakes are kept."""
        try:
            yield
        except KeyProblem as problem:
            self.found += [problem, *problem.others]

    def settle(self) -> None:
        """All mistakes as one, if there are some."""
        if self.found:
            first, *others = self.found
            first.others = others
            raise first


class FileProblem(ValueError):
    """A problem file that cannot be used.

    Attributes
    ----------
    file : Path
        The file.
    line : int
        The line, counted from 1; 0 where it is about no line.
    key : str
        The key, as in ``lower.A.columns[2]``; empty where the file is not TOML.
    """

    def __init__(self, file: Path, line: int, key: str, message: str) -> None:
        place = f", line {line}" if line else ""
        super().__init__(f"{file}{place}: {key and key + ': '}{message}")
        self.file, self.line, self.key = file, line, key

    @classmethod
    def at_key(cls, file: Path, text: str, problem: KeyProblem) -> FileProblem:
        """The same with its line; all mistakes, where there are several."""
        every = [(line_of(text, one.path), spelt(one.path), str(one)) for one in (problem, *problem.others)]
        if len(every) == 1:
            return cls(file, *every[0])
        return ModelProblem(file, [(line, f"{key}: {message}" if key else message) for line, key, message in every])


class ModelProblem(FileProblem):
    """A file that cannot be used: all that is wrong with it.

    Attributes
    ----------
    mistakes : list of (line, message)
        The line is 0 where it is about no line.
    """

    def __init__(self, file: Path, mistakes: list[tuple[int, str]]) -> None:
        mistakes = sorted(mistakes, key=lambda one: one[0] or inf)
        told = [f"line {line}: {text}" if line else text for line, text in mistakes[:TOLD]]
        if len(mistakes) > TOLD:
            told.append(f"and {len(mistakes) - TOLD} more")
        one = len(mistakes) == 1
        super().__init__(file, 0, "", told[0] if one else f"{len(mistakes)} mistakes\n  " + "\n  ".join(told))
        self.mistakes = mistakes
        self.line = mistakes[0][0]


TOLD = 20
"""So many mistakes of a model are told; all of them are in ``mistakes``."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """What else there is, the nearest name first: "did you mean 'radius'? It can be ..."."""
    known = list(known)
    if not known:
        return ""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{hint}There is {', '.join(known)}" if len(known) <= 40 else f"{hint}There are {len(known)}"


COMPARED = 5000
"""A name that is none is compared with so many."""


def hint(name: str, known: Collection[str]) -> str:
    """The same for the names of a model, of which there may be many."""
    return suggestion(name, known) if len(known) <= COMPARED else f"There are {len(known)}"
