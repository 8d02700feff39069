"""Every method, by name."""

from __future__ import annotations

import difflib
from dataclasses import fields
from typing import Any

from .base import MethodInfo, Solver, State
from .cg import CG
from .cg_bio import CGBiO
from .exact import Exact

SOLVERS: dict[str, type[Solver[Any]]] = {cls.info.name: cls for cls in (Exact, CGBiO, CG)}


def named(name: str) -> Solver[Any]:
    """The method of that name with its default parameters."""
    if name in SOLVERS:
        return SOLVERS[name]()
    known = ["auto", *SOLVERS]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise ValueError(f"unknown method {name!r}; {hint}available: {', '.join(known)}")


class MethodTable(list[MethodInfo]):
    """The methods as a list of rows; printed as a table."""

    def __repr__(self) -> str:
        columns = [one.name for one in fields(MethodInfo)]
        rows = [columns] + [[str(getattr(info, name)) for name in columns] for info in self]
        widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
        return "\n".join("  ".join(text.ljust(w) for text, w in zip(row, widths, strict=True)) for row in rows)


def methods() -> MethodTable:
    """The methods this version has: name, reference, year, assumptions, rates, oracle, anytime or not.

    Examples
    --------
    >>> import tiebreak as tb
    >>> [info.name for info in tb.methods()]
    ['exact', 'cg-bio', 'cg']
    """
    return MethodTable(cls.info for cls in SOLVERS.values())


__all__ = ["CG", "SOLVERS", "CGBiO", "Exact", "MethodInfo", "MethodTable", "Solver", "State", "methods", "named"]
