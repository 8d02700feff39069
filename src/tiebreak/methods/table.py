"""The table of methods: what the theory of each asks for and what it promises."""

from __future__ import annotations

from dataclasses import fields

from .base import MethodInfo
from .registry import SOLVERS


class MethodTable(list[MethodInfo]):
    """The methods as a list of rows; printed as a table."""

    def __repr__(self) -> str:
        columns = [one.name for one in fields(MethodInfo)]
        rows = [columns] + [[str(getattr(info, name)) for name in columns] for info in self]
        widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
        return "\n".join("  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)) for row in rows)


def methods() -> MethodTable:
    """The methods there are: name, reference, year, assumptions, rates, oracle, anytime or not.

    Those of the library come first, then what ``register`` and other packages have added.

    Examples
    --------
    >>> [info.name for info in methods()][:4]
    ['exact', 'cg-bio', 'cg-bio-anytime', 'cg']
    """
    return MethodTable(cls.info for cls in SOLVERS.usable().values())
