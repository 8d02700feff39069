"""Problems as data: a tree of names and numbers that can be built, written as Python, evaluated exactly and shrunk."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

import tiebreak as tb

from .rational import ZERO, Row

Interval = tuple[Fraction, Fraction]
DIGITS = 80


@dataclass(frozen=True)
class Recipe:
    """A tiebreak class and its arguments; ``+`` has parts, ``*`` a factor and a part, Product has blocks."""

    kind: str
    args: dict[str, Any] = field(default_factory=dict)

    def build(self) -> Any:
        if self.kind == "+":
            first, *rest = (part.build() for part in self.args["parts"])
            for part in rest:
                first = first + part
            return first
        if self.kind == "*":
            return self.args["factor"] * self.args["part"].build()
        if self.kind == "Product":
            return tb.Product({name: (block.build(), shape) for name, (block, shape) in self.args["blocks"].items()})
        return getattr(tb, self.kind)(**self.args)

    def code(self) -> str:
        if self.kind == "+":
            return " + ".join(part.code() for part in self.args["parts"])
        if self.kind == "*":
            return f"{self.args['factor']!r} * ({self.args['part'].code()})"
        if self.kind == "Product":
            blocks = (f"{name!r}: ({b.code()}, {shape!r})" for name, (b, shape) in self.args["blocks"].items())
            return f"tb.Product({{{', '.join(blocks)}}})"
        return f"tb.{self.kind}({', '.join(f'{name}={_plain(value)!r}' for name, value in self.args.items())})"


def recipe(kind: str, **args: Any) -> Recipe:
    return Recipe(kind, {name: value for name, value in args.items() if value is not None})


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, list | tuple):
        return type(value)(_plain(entry) for entry in value)
    return value


@dataclass(frozen=True)
class Case:
    """A problem, how it is to be solved, and the answer where that is planted.

    ``levels`` are the most important first. ``units`` say how large a variable is meant to be: what rounding may do to
    feasibility is measured in them. ``planted`` is a solution of the whole chain.
    """

    family: str
    levels: tuple[Recipe, ...]
    domain: Recipe
    dim: int
    slack: float = 0.0
    method: str = "exact"
    tol: float = 1e-6
    options: dict[str, Any] = field(default_factory=dict)
    units: tuple[float, ...] = ()
    planted: Row | None = None
    note: str = ""

    def unit(self, j: int) -> Fraction:
        return Fraction(self.units[j]) if self.units else Fraction(1)

    def changed(self, **parts: Any) -> Case:
        return replace(self, **parts)


def exactly(x: Any) -> Row:
    """Doubles as the fractions they are."""
    return [Fraction(float(entry)) for entry in np.asarray(x, dtype=float).ravel()]


def matrix(A: Any) -> list[Row]:
    return [exactly(row) for row in np.atleast_2d(np.asarray(A, dtype=float))]


def value(objective: Recipe, x: Row) -> Interval:
    """The objective at a rational point, between two fractions (equal but for logarithms and roots)."""
    a = objective.args
    if objective.kind == "+":
        parts = [value(part, x) for part in a["parts"]]
        return sum((low for low, _ in parts), ZERO), sum((high for _, high in parts), ZERO)
    if objective.kind == "*":
        low, high = value(a["part"], x)
        return Fraction(a["factor"]) * low, Fraction(a["factor"]) * high
    exact = _VALUES[objective.kind](a, x)
    return exact if isinstance(exact, tuple) else (exact, exact)


def _products(A: Any, x: Row) -> Row:
    return [sum((a * b for a, b in zip(row, x, strict=True)), ZERO) for row in matrix(A)]


def _residuals(a: dict[str, Any], x: Row) -> Row:
    return [t - b for t, b in zip(_products(a["A"], x), exactly(a["b"]), strict=True)]


def _linear(a: dict[str, Any], x: Row) -> Fraction:
    return _products([a["c"]], x)[0]


def _squared_norm(a: dict[str, Any], x: Row) -> Fraction:
    centre = exactly(a["center"]) if "center" in a else [ZERO] * len(x)
    return sum(((t - c) ** 2 for t, c in zip(x, centre, strict=True)), ZERO) / 2


def _least_squares(a: dict[str, Any], x: Row) -> Fraction:
    return Fraction(a.get("scale", 1.0)) * sum((r * r for r in _residuals(a, x)), ZERO) / 2


def _quadratic(a: dict[str, Any], x: Row) -> Fraction:
    curved = sum((t * s for t, s in zip(_products(a["Q"], x), x, strict=True)), ZERO) / 2
    return curved + _products([a["q"]], x)[0] + Fraction(a.get("c", 0.0))


def _huber(a: dict[str, Any], x: Row) -> Fraction:
    delta = Fraction(a["delta"])
    pieces = (r * r / 2 if abs(r) <= delta else delta * (abs(r) - delta / 2) for r in _residuals(a, x))
    return sum(pieces, ZERO)


def _l1_norm(a: dict[str, Any], x: Row) -> Fraction:
    weights = np.broadcast_to(a.get("weights", 1.0), (len(x),))
    return sum((w * abs(t) for w, t in zip(exactly(weights), x, strict=True)), ZERO)


def _group_norm(a: dict[str, Any], x: Row) -> Interval:
    roots = [root(sum((x[i] ** 2 for i in group), ZERO)) for group in a["groups"]]
    return sum((low for low, _ in roots), ZERO), sum((high for _, high in roots), ZERO)


def _logistic(a: dict[str, Any], x: Row) -> Interval:
    """The mean of log(1 + exp(-y t)); weights are 1/n as the double that the class stores."""
    margins = [y * t for y, t in zip(exactly(a["y"]), _products(a["A"], x), strict=True)]
    weight = Fraction(1 / len(margins))
    with localcontext() as context:
        context.prec = DIGITS
        total = ZERO
        for margin in margins:
            t = -Decimal(abs(margin).numerator) / Decimal(abs(margin).denominator)
            total += max(-margin, ZERO) + Fraction((1 + t.exp()).ln())
    error = Fraction(len(margins), 10 ** (DIGITS - 10)) * (1 + abs(total))
    return weight * total - error, weight * total + error


def root(square: Fraction) -> Interval:
    """The square root between two fractions; equal ones where it is rational."""
    scale = 1 << 2 * max(128, 128 + square.denominator.bit_length() - square.numerator.bit_length())
    below = isqrt(square.numerator * square.denominator)
    if below * below == square.numerator * square.denominator:
        return Fraction(below, square.denominator), Fraction(below, square.denominator)
    floor = isqrt(square.numerator * scale // square.denominator)
    step = isqrt(scale)
    return Fraction(floor, step), Fraction(floor + 1, step)


_VALUES = {
    "Linear": _linear,
    "SquaredNorm": _squared_norm,
    "LeastSquares": _least_squares,
    "Quadratic": _quadratic,
    "Huber": _huber,
    "L1Norm": _l1_norm,
    "GroupNorm": _group_norm,
    "Logistic": _logistic,
}
