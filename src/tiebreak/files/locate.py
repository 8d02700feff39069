"""Where a key stands in a TOML file: ``tomllib`` reads the values but keeps no lines."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from typing import TypeAlias

KeyPath: TypeAlias = tuple[str | int, ...]
"""The way to a value: keys of tables, and positions in arrays (also in arrays of tables)."""

_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\]|\\.)*"'
    r"|'[^']*'",
    re.DOTALL,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SPACE = re.compile(r"[ \t]*")
_SPACE_AND_LINES = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_PLAIN_VALUE = re.compile(r"[^,\]}#\n]+")


def line_of(text: str, path: KeyPath) -> int:
    """The line, counted from 1, on which the value at ``path`` begins; that of what surrounds it where it is missing.

    ``text`` must be TOML that ``tomllib`` accepts.

    Examples
    --------
    >>> text = '''
    ... [lower]
    ... A = [
    ...   [1, 2],
    ...   [3, 4],
    ... ]'''
    >>> line_of(text, ("lower", "A")), line_of(text, ("lower", "A", 1)), line_of(text, ("lower", "b"))
    (3, 5, 2)
    """
    lines = _Scanner(text).lines
    known = (path[:length] for length in range(len(path), 0, -1))
    return next((lines[part] for part in known if part in lines), 1)


def spelt(path: KeyPath) -> str:
    """The path as one would write it: ``upper.terms[0].weight``."""
    words = ""
    for key in path:
        if isinstance(key, int):
            words += f"[{key}]"
        else:
            words += ("." if words else "") + (key if _BARE_KEY.fullmatch(key) else repr(key))
    return words


class _Scanner:
    """One pass over a valid file; ``lines`` has the line of each key and each array element."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.lines: dict[KeyPath, int] = {}
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self._tables: dict[KeyPath, int] = {}  # how many tables each array of tables has so far
        table: KeyPath = ()
        while self._skip(_SPACE_AND_LINES):
            if self._next("[["):
                table = self._header(array=True)
            elif self._next("["):
                table = self._header(array=False)
            else:
                self._pair(table)

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        """Go past what matches; whether anything is left."""
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at < len(self.text)

    def _next(self, mark: str) -> bool:
        found = self.text.startswith(mark, self.at)
        self.at += len(mark) if found else 0
        return found

    def _note(self, path: KeyPath) -> None:
        line = bisect_right(self._ends, self.at - 1) + 1
        for length in range(1, len(path) + 1):  # a.b = 1 is also where a begins, unless it began before
            self.lines.setdefault(path[:length], line)

    def _header(self, array: bool) -> KeyPath:
        keys = self._keys()
        path: KeyPath = ()
        for i, key in enumerate(keys):
            path = (*path, key)
            if array and i == len(keys) - 1:
                self._tables[path] = self._tables.get(path, 0) + 1
            if path in self._tables:  # the last table of the array is meant
                path = (*path, self._tables[path] - 1)
        self._note(path)
        self.at += 2 if array else 1
        return path

    def _pair(self, table: KeyPath) -> None:
        path = (*table, *self._keys())
        self._note(path)
        self.at += 1  # the sign =
        self._value(path)

    def _keys(self) -> KeyPath:
        keys: KeyPath = ()
        while True:
            self._skip(_SPACE)
            quoted = _STRING.match(self.text, self.at)
            match = quoted or _BARE_KEY.match(self.text, self.at)
            assert match is not None  # the file is valid
            self.at = match.end()
            keys = (*keys, tomllib.loads(f"key = {match[0]}")["key"] if quoted else match[0])
            self._skip(_SPACE)
            if not self._next("."):
                return keys

    def _value(self, path: KeyPath) -> None:
        self._skip(_SPACE)
        self._note(path)
        if self._next("["):
            index = 0
            while self._skip(_SPACE_AND_LINES) and not self._next("]"):
                self._value((*path, index))
                index += 1
                self._skip(_SPACE_AND_LINES)
                self._next(",")
        elif self._next("{"):
            while self._skip(_SPACE_AND_LINES) and not self._next("}"):
                self._pair(path)
                self._skip(_SPACE_AND_LINES)
                self._next(",")
        elif not self._skip_string():
            self._skip(_PLAIN_VALUE)

    def _skip_string(self) -> bool:
        before = self.at
        self._skip(_STRING)
        return self.at > before
