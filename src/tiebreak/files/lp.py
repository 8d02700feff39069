"""LP files before HiGHS reads them: what its reader passes over in silence, with lines.

HiGHS takes "x y" for x + y and "1,5 x" for 1 + ",5" + x, keeps of "x + y + x" the last x, drops the 3 of
"x + 3 >= 5", and everything above the word minimize. So the terms of the objective and of the rows are looked at here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .mps import Mistake

TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<relation>[<>=]+)|(?P<mark>[-+*^/:\[\]])"
    r"|(?P<name>[^\s+\-*^/:\[\]<>=]+)"
)
OBJECTIVE = {"min", "minimize", "minimum", "max", "maximize", "maximum"}
ROWS = {"st", "s.t.", "subject", "such"}
OTHERS = {
    "bounds", "bound", "free", "general", "generals", "gen", "integer", "integers", "int", "binary", "binaries", "bin",
    "semi", "semis", "sos", "end",
}  # fmt: skip
INFINITE = {"inf", "infinity"}


_SIDES = "{}: a row has all its variables on the left and one number on the right (write a range as two rows)"


class Token(NamedTuple):
    kind: str
    text: str
    line: int


def tokens(text: str) -> Iterator[Token]:
    """The words of an LP file without its comments."""
    for number, line in enumerate(text.split("\n"), 1):
        for match in TOKEN.finditer(line.partition("\\")[0]):
            assert match.lastgroup is not None
            yield Token(match.lastgroup, match[0], number)


def mistakes_in(text: str) -> list[Mistake]:
    """What is wrong with the objective and the rows of an LP file."""
    found = list(tokens(text))
    at = 0
    while at < len(found) and found[at].text.lower() not in OBJECTIVE:
        at += 1
    if at == len(found):
        return [(1, "there is no objective: an LP file begins with the word minimize or maximize")]
    if at:
        words = found[0].text, found[at].text
        return [(found[0].line, "{} stands above the word {}, with which an LP file begins".format(*words))]
    reader = _Terms(found)
    reader.read(1)
    return reader.mistakes


def name_of_objective(text: str) -> str:
    """The label of the objective; empty where it has none."""
    found = [token.text for _, token in zip(range(3), tokens(text), strict=False)]
    return found[1] if len(found) == 3 and found[2] == ":" else ""


class _Terms:
    """A walk through the terms of the objective, and then of the rows."""

    def __init__(self, found: list[Token]) -> None:
        self.found = found
        self.mistakes: list[Mistake] = []
        self.in_rows = self.in_square = False
        self.seen: set[str] = set()
        self.factor: Token | None = None  # the number of the present term
        self.operand: Token | None = None  # what it is a multiple of
        self.sign: Token | None = None  # one that waits for a term

    def read(self, at: int) -> None:
        while at < len(self.found):
            token = self.found[at]
            word = token.text.lower() if token.kind == "name" else ""
            is_label = at + 1 < len(self.found) and self.found[at + 1].text == ":"
            if word in OTHERS and not is_label:
                self._end_of_terms()
                return
            if word in ROWS and not self.in_rows and not is_label:
                self._end_of_terms()
                self.in_rows = True
                at += 2 if word in ("subject", "such") else 1
            elif is_label:
                self._end_of_terms()
                at += 2
            elif token.kind == "relation":
                self._end_of_terms()
                at = self._right_side(at + 1)
            else:
                at = self._part(token, at)

    def _part(self, token: Token, at: int) -> int:
        """A piece of a term."""
        self.sign = token if token.text in ("+", "-") else None
        if token.kind == "number":
            if before := self.operand or self.factor:
                self._wrong(token, f"{token.text} follows {before.text} without a sign between")
            self.factor, self.operand = token, None
        elif token.kind == "name":
            self._name(token)
        elif token.text in "^/":  # what comes next is an exponent, or the 2 that a bracket is divided by
            self.operand = token
            return at + 2
        elif token.text == "*":
            self.operand = self.factor = None
        else:
            self._end_of_term()
            self.in_square = token.text == "[" or (self.in_square and token.text != "]")
        return at + 1

    def _name(self, token: Token) -> None:
        if self.operand:
            self._wrong(token, f"{token.text} follows {self.operand.text} without a sign between")
        if token.text.count("(") != token.text.count(")"):
            self._wrong(token, f"{token.text}: parentheses are part of names here; multiply them out")
        if not self.in_rows and not self.in_square:
            if token.text in self.seen:
                self._wrong(token, f"{token.text} is in the objective twice; add its terms up")
            self.seen.add(token.text)
        self.operand = token

    def _end_of_term(self) -> None:
        if self.in_rows and self.factor and not self.operand:
            self._wrong(self.factor, _SIDES.format(self.factor.text))
        self.factor = self.operand = None

    def _end_of_terms(self) -> None:
        self._end_of_term()
        if self.sign:
            self._wrong(self.sign, f"nothing follows the sign {self.sign.text}")
        self.sign = None

    def _right_side(self, at: int) -> int:
        """Signs and one number after a relation."""
        while at < len(self.found) and self.found[at].text in ("+", "-"):
            at += 1
        if at < len(self.found):
            token = self.found[at]
            if token.kind == "number" or token.text.lower() in INFINITE:
                return at + 1
            self._wrong(token, _SIDES.format(token.text))
        return at + 1

    def _wrong(self, token: Token, message: str) -> None:
        self.mistakes.append((token.line, message))
