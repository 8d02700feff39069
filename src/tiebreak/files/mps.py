"""MPS files before HiGHS reads them: what its reader passes over in silence, with lines; its further objectives.

HiGHS keeps of several rows of type N the first, adds up the constants of all, reads 1,5 and 1D3 as 1, and makes a
new variable of a misspelt one. So names and numbers are looked at here, and further N rows are handed to HiGHS as rows
of type G, which it reads with everything that belongs to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from .errors import hint, suggestion

NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|(?i:inf|infinity))")
SECTIONS = ("NAME", "OBJSENSE", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS", "QUADOBJ", "QMATRIX", "ENDATA")
ROW_TYPES = ("N", "L", "G", "E")
VALUED, BARE = ("UP", "LO", "FX", "UI", "LI", "SC"), ("FR", "MI", "PL", "BV")
SENSES = {"MAX": True, "MAXIMIZE": True, "MIN": False, "MINIMIZE": False}

Mistake = tuple[int, str]


@dataclass
class Scan:
    """What an MPS file has, line by line."""

    rows: dict[str, str] = field(default_factory=dict)  # the type by name
    columns: dict[str, int] = field(default_factory=dict)  # the line where each begins
    mistakes: list[Mistake] = field(default_factory=list)
    maximise: bool = False
    objectives: list[str] = field(default_factory=list)  # the rows of type N
    lines: list[str] = field(default_factory=list)  # for HiGHS
    sets: dict[str, str] = field(default_factory=dict)  # the vector that each section names
    squares: set[frozenset[str]] = field(default_factory=set)
    section: str = ""
    last_column: str = ""

    def wrong(self, line: int, message: str) -> None:
        self.mistakes.append((line, message))

    def unknown(self, line: int, what: str, name: str, known: Collection[str]) -> None:
        """A name that is none."""
        self.wrong(line, f"there is no {what} {name}; {hint(name, known)}")


def scan(text: str) -> Scan:
    """Look at every line of an MPS file."""
    found, ended = Scan(), False
    for number, line in enumerate(text.split("\n"), 1):
        words = line.split()
        if not words or line.startswith("*"):
            continue
        if ended:
            found.wrong(number, "there is something after ENDATA")
            break
        if not line[0].isspace():
            _begin(found, number, words)
            ended = found.section == "ENDATA"
            found.lines.append(line)
        elif found.section in _READERS:
            kept = _READERS[found.section](found, number, words)
            found.lines.append(kept or line)
        elif found.section != "?":
            found.wrong(number, f"a line of data belongs to a section, and {found.section or 'the file'} is none")
    if not ended:
        found.wrong(text.count("\n") + 1, "the file ends without ENDATA: not all of it is there")
    if not found.objectives:
        found.wrong(0, "there is no objective: ROWS has no row of type N")
    return found


def _begin(found: Scan, number: int, words: list[str]) -> None:
    section = words[0].upper()
    if section not in SECTIONS:
        found.wrong(number, f"the section {words[0]} is not taken: {suggestion(section, SECTIONS)}")
        section = "?"
    found.section = section
    if section == "OBJSENSE" and len(words) > 1:
        _sense(found, number, words[1:])


def _sense(found: Scan, number: int, words: list[str]) -> None:
    if words[0].upper() not in SENSES:
        found.wrong(number, f"OBJSENSE must be MAX or MIN, not {words[0]}")
    found.maximise = SENSES.get(words[0].upper(), False)


def _row(found: Scan, number: int, words: list[str]) -> str | None:
    if len(words) != 2:
        found.wrong(number, "a row must have a type and a name without spaces")
        return None
    kind, name = words[0].upper(), words[1]
    if kind not in ROW_TYPES:
        found.wrong(number, f"the type of a row must be one of {', '.join(ROW_TYPES)}, not {words[0]}")
        return None
    if name in found.rows:
        found.wrong(number, f"there are two rows {name}")
        return None
    found.rows[name] = kind
    if kind == "N":
        found.objectives.append(name)
    return f" G  {name}" if kind == "N" and len(found.objectives) > 1 else None


def _column(found: Scan, number: int, words: list[str]) -> None:
    if len(words) == 3 and words[1] == "'MARKER'":
        return
    if len(words) not in (3, 5):
        found.wrong(number, _COUNT.format("a column, then one or two rows, each with a number"))
        return
    name = words[0]
    if name in found.columns and name != found.last_column:
        began = found.columns[name]
        found.wrong(number, f"the column {name} has begun on line {began}: its lines must follow each other")
    found.columns.setdefault(name, number)
    found.last_column = name
    _entries(found, number, words[1:])


def _entries(found: Scan, number: int, words: list[str], *, objectives: bool = True) -> None:
    """Pairs of a row and a number."""
    for name, value in zip(words[::2], words[1::2], strict=True):
        if name not in found.rows:
            found.unknown(number, "row", name, found.rows)
        elif not objectives and found.rows[name] == "N":
            found.wrong(number, f"{name} is an objective and has no range")
        _number(found, number, value)


def _number(found: Scan, number: int, value: str, *, infinite: bool = False) -> None:
    if not NUMBER.fullmatch(value):
        found.wrong(number, f"{value} is no number")
    elif not infinite and abs(float(value)) == float("inf"):
        found.wrong(number, f"{value} is not finite")


def _vector(found: Scan, number: int, words: list[str]) -> None:
    """A line of RHS or RANGES: perhaps the name of a vector, then rows with numbers."""
    if len(words) not in (2, 3, 4, 5):
        found.wrong(number, _COUNT.format("perhaps a name, then one or two rows, each with a number"))
        return
    named = len(words) % 2 == 1
    _one_set(found, number, words[0] if named else "")
    _entries(found, number, words[named:], objectives=found.section == "RHS")


def _bound(found: Scan, number: int, words: list[str]) -> None:
    kind = words[0].upper()
    if kind not in VALUED + BARE:
        found.wrong(number, f"the type of a bound must be one of {', '.join(VALUED + BARE)}, not {words[0]}")
        return
    valued = kind in VALUED
    least = 3 if valued else 2
    if not least <= len(words) <= 4:
        what = "a number" if valued else "no number"
        found.wrong(number, _COUNT.format(f"a type, perhaps a name, a column and {what}"))
        return
    named = len(words) > least
    name = words[1 + named]
    _one_set(found, number, words[1] if named else "")
    if name not in found.columns:
        found.unknown(number, "column", name, found.columns)
    if valued:
        _number(found, number, words[-1], infinite=True)


def _one_set(found: Scan, number: int, name: str) -> None:
    first = found.sets.setdefault(found.section, name)
    if name != first:
        two = f"{first or '(no name)'} and {name or '(no name)'}"
        found.wrong(number, f"{found.section} has the vectors {two}: keep one")


def _square(found: Scan, number: int, words: list[str]) -> str | None:
    if len(words) != 3:
        found.wrong(number, _COUNT.format("two columns and a number"))
        return None
    for name in words[:2]:
        if name not in found.columns:
            found.unknown(number, "column", name, found.columns)
    _number(found, number, words[2])
    pair = frozenset(words[:2])
    if found.section == "QUADOBJ" and pair in found.squares:
        found.wrong(number, f"{words[0]} and {words[1]} have been there before: QUADOBJ names each pair once")
    found.squares.add(pair)
    if found.section == "QMATRIX":
        return None
    one, other = sorted(words[:2], key=lambda name: found.columns.get(name, 0))  # HiGHS 1.13 wants this triangle
    return f" {one} {other} {words[2]}"


_COUNT = "a line of this section has {} (names without spaces)"
_READERS: dict[str, Callable[[Scan, int, list[str]], str | None]] = {
    "OBJSENSE": _sense,
    "ROWS": _row,
    "COLUMNS": _column,
    "RHS": _vector,
    "RANGES": _vector,
    "BOUNDS": _bound,
    "QUADOBJ": _square,
    "QMATRIX": _square,
}
