"""What all conformance checks share: the count, and what they are asked about."""

from __future__ import annotations

from typing import Any

from ..arrays import as_count


class Checks:
    """Counts checks and raises at the first failure."""

    def __init__(self) -> None:
        self.made = 0

    def that(self, fact: Any, sentence: str) -> None:
        self.made += 1
        if not fact:
            raise AssertionError(sentence)


def dimension(known: int | None, given: int | None, what: str) -> int:
    if known is None and given is None:
        raise ValueError(f"{what} fits any dimension: pass dim=")
    if known is not None and given not in (None, known):
        raise ValueError(f"dim is {given}, but {what} has dimension {known}")
    return as_count(given, "dim") if known is None else known


def expect(part: object, kind: type, name: str) -> None:
    if not isinstance(part, kind):
        raise TypeError(f"{name} must be a tiebreak {kind.__name__}, got {part!r}")
