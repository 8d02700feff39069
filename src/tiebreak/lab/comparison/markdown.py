"""Pieces of Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines)


def plain(text: str) -> str:
    """Text whose stars and bars stand for themselves.

    Examples
    --------
    >>> print(plain("||x - x*||"))
    \\|\\|x - x\\*\\|\\|
    """
    for mark in ("\\", "*", "|", "_", "<"):
        text = text.replace(mark, "\\" + mark)
    return text


def seconds(value: float) -> str:
    """A time with its unit, two digits.

    Examples
    --------
    >>> seconds(0.0123), seconds(1.5), seconds(2e-5), seconds(0.26), seconds(9.99e-4)
    ('12 ms', '1.5 s', '20 µs', '260 ms', '1 ms')
    """
    if not math.isfinite(value):
        return "–"
    value = float(f"{value:.2g}")
    factor, unit = (1.0, "s") if value >= 1 else (1e3, "ms") if value >= 1e-3 else (1e6, "µs")
    return f"{value * factor:.3g} {unit}"
