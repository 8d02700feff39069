"""The rational proof of a result: the exact solution, the exact values of all levels, and a file that shows both."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from time import monotonic
from typing import Any

from ..arrays import Vector, as_path
from ..disk import write_whole
from ..problem import Problem
from ..proof_checker import Refused, check
from .data import ExactChain, NotProved, Sparse, exact_chain
from .linear import flint
from .search import Curve, Prices, Search, begin


@dataclass(frozen=True)
class Proof:
    """A chain of linear and quadratic levels over a polyhedron, solved in rational numbers.

    Attributes
    ----------
    values : tuple of Fraction
        The optimal value of each level among the solutions of those before, the most important first.
    x : tuple of Fraction
        A solution of all levels.
    moved : float
        The largest difference between an entry of x and that of the result.
    steps : int
        Steps from the point of the result to x: a few; many where the result was not near, or hung on rounding.
    document : dict
        Problem and multipliers, as ``save`` writes them.

    Examples
    --------
    >>> import tiebreak as tb
    >>> problem = tb.Problem(tb.SquaredNorm(), tb.Linear([1.0, 1.0, 2.0]), tb.Simplex(1.0))
    >>> proof = tb.solve(problem).prove(problem)
    >>> proof.x
    (Fraction(1, 2), Fraction(1, 2), Fraction(0, 1))
    """

    values: tuple[Fraction, ...]
    x: tuple[Fraction, ...]
    moved: float
    steps: int
    document: dict[str, Any] = field(repr=False)

    def save(self, path: str | Path) -> None:
        """Write the file that ``proof_checker.py``, which needs nothing but Python, checks."""
        text = json.dumps(self.document).encode("ascii") + b"\n"
        write_whole(as_path(path), lambda file: file.write(text))

    def __repr__(self) -> str:
        lines = [f"  level {k}  {_short(value)}" for k, value in enumerate(self.values, 1)]
        return "Proof: the optimal values, exactly\n" + "\n".join(lines)


def _short(value: Fraction) -> str:
    return str(value) if value.denominator < 10**9 and abs(value.numerator) < 10**18 else f"{float(value)!r} (rounded)"


def prove(problem: Problem, x: Vector, max_time: float) -> Proof:
    """The proof of a problem whose solution is near x; see ``Result.prove``."""
    if not isinstance(problem, Problem):
        raise TypeError(f"problem must be a tiebreak.Problem, got {type(problem).__name__}")
    flint()
    chain = exact_chain(problem, x)
    try:
        search = begin(chain, monotonic() + max_time)
        prices = [search.minimise(Curve.of(level, chain.size), k) for k, level in enumerate(chain.levels)]
    except ArithmeticError as error:
        raise NotProved(f"the search in rational numbers has failed: {error}") from None
    return _checked(chain, search, prices)


def _checked(chain: ExactChain, search: Search, prices: list[Prices]) -> Proof:
    """A proof is what the checker takes for one."""
    x = [_fraction(value) for value in search.x]
    values = [_value(level, x) for level in chain.levels]
    document = {
        "format": "tiebreak proof 1",
        "about": "levels over rows, in rational numbers; proof_checker.py says what is proved, and why",
        "variables": chain.size,
        "own_variables": chain.own,
        "rows": [{"a": _entries(row.a), "low": _end(row.low), "high": _end(row.high)} for row in chain.rows],
        "levels": [
            {
                "squares": [{"weight": _text(w), "a": _entries(a), "target": _text(t)} for w, a, t in level.squares],
                "quadratic": _quadratic(level.Q, chain.size),
                "linear": _entries(level.c),
                "constant": _text(level.constant),
            }
            for level in chain.levels
        ],
        "x": [_text(value) for value in x],
        "values": [_text(value) for value in values],
        "multipliers": [{"rows": _prices(one.rows), "images": [_prices(v) for v in one.images]} for one in prices],
    }
    try:
        check(document)
    except Refused as why:
        raise NotProved(f"{why} (the data are taken exactly as stored)") from None
    moved = max(abs(a - b) for a, b in zip(x[: chain.own], chain.start, strict=False))
    return Proof(tuple(values), tuple(x[: chain.own]), float(moved), search.steps, document)


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _value(level: Any, x: list[Fraction]) -> Fraction:
    total = level.constant + sum((value * x[j] for j, value in level.c.items()), Fraction(0))
    for weight, a, target in level.squares:
        total += weight * (sum((value * x[j] for j, value in a.items()), -target)) ** 2 / 2
    return Fraction(total + sum((value * x[i] * x[j] for (i, j), value in level.Q.items()), Fraction(0)) / 2)


def _text(value: Fraction) -> str:
    """p/q in hexadecimal digits, which Python reads at any length."""
    return f"{value.numerator:x}/{value.denominator:x}"


def _end(value: Fraction | None) -> str | None:
    return None if value is None else _text(value)


def _entries(a: Sparse) -> list[list[Any]]:
    return [[j, _text(value)] for j, value in sorted(a.items()) if value]


def _prices(a: dict[int, Any]) -> list[list[Any]]:
    return _entries({j: _fraction(value) for j, value in a.items()})


def _quadratic(Q: dict[tuple[int, int], Fraction], size: int) -> list[list[list[Any]]]:
    if not Q:
        return []
    rows: list[Sparse] = [{} for _ in range(size)]
    for (i, j), value in Q.items():
        rows[i][j] = value
    return [_entries(row) for row in rows]
