"""Two quadratic levels over a small box in rational arithmetic, by trying every set of active bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np


class Form(NamedTuple):
    """x'Hx/2 + <q, x> + c."""

    H: list[list[Fraction]]
    q: list[Fraction]
    c: Fraction

    def value(self, x: Sequence[Fraction]) -> Fraction:
        n = range(len(x))
        return sum((self.H[i][j] * x[i] * x[j] for i in n for j in n), Fraction(0)) / 2 + dot(self.q, x) + self.c


class Truth(NamedTuple):
    """Both optimal values, whether the first level has one solution, and the solution of the second."""

    g: Fraction
    f: Fraction
    unique: bool
    x: list[Fraction]


def fractions(values: np.ndarray) -> list[Fraction]:
    return [Fraction(float(v)) for v in values]


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((s * t for s, t in zip(a, b, strict=True)), Fraction(0))


def least_squares(A: np.ndarray, b: np.ndarray, weights: np.ndarray | None = None) -> Form:
    """1/2 sum_i w_i (Ax - b)_i^2 for the doubles as they are stored."""
    rows, right = [fractions(row) for row in np.asarray(A)], fractions(np.asarray(b))
    w = fractions(np.ones(len(right)) if weights is None else weights)
    columns = [list(column) for column in zip(*rows, strict=True)]
    weighted = [[v * t for v, t in zip(w, column, strict=True)] for column in columns]
    H = [[dot(a, b) for b in columns] for a in weighted]
    square = sum((v * t * t for v, t in zip(w, right, strict=True)), Fraction(0))
    return Form(H, [-dot(a, right) for a in weighted], square / 2)


def quadratic(Q: np.ndarray, q: np.ndarray) -> Form:
    return Form([fractions(row) for row in np.asarray(Q)], fractions(np.asarray(q)), Fraction(0))


def linear(c: np.ndarray) -> Form:
    return quadratic(np.zeros((len(c), len(c))), c)


def squared_distance(center: np.ndarray) -> Form:
    return least_squares(np.eye(len(center)), center)


def solved(M: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """The only solution of M x = right; None where there is none or more than one."""
    n = len(M[0]) if M else 0
    rows = [[*row, b] for row, b in zip(M, right, strict=True)]
    for k in range(n):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k] != 0), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][k] != 0:
                rows[i] = [v - rows[i][k] * u for v, u in zip(rows[i], rows[k], strict=True)]
    if any(row[-1] != 0 for row in rows[n:]):
        return None
    return [row[-1] for row in rows[:n]]


def independent(M: list[list[Fraction]]) -> list[int]:
    """The first rows that span all of them."""
    kept: list[tuple[int, list[Fraction]]] = []
    for i, row in enumerate(M):
        rest = list(row)
        for pivot, (_, other) in [(next(j for j, v in enumerate(o) if v != 0), (k, o)) for k, o in kept]:
            factor = rest[pivot] / other[pivot]
            rest = [v - factor * u for v, u in zip(rest, other, strict=True)]
        if any(rest):
            kept.append((i, rest))
    return [i for i, _ in kept]


def candidates(
    level: Form, lower: list[Fraction], upper: list[Fraction], M: list[list[Fraction]], t: list[Fraction]
) -> Iterator[list[Fraction]]:
    """Points of the box with M x = t that minimise the level on their active bounds, at least one of them for certain.

    Where the level does not determine a point on some bounds, it is as low at a point with more of them active.
    """
    n = len(lower)
    for sides in product((-1, 0, 1), repeat=n):
        x = [low if s < 0 else high for s, low, high in zip(sides, lower, upper, strict=True)]
        free = [j for j in range(n) if sides[j] == 0]
        fixed = [j for j in range(n) if sides[j] != 0]
        rows = [[row[j] for j in free] for row in M]
        short = [b - sum((row[j] * x[j] for j in fixed), Fraction(0)) for row, b in zip(M, t, strict=True)]
        own = independent(rows) if free else []
        K = [[level.H[i][j] for j in free] + [rows[k][a] for k in own] for a, i in enumerate(free)]
        K += [rows[k] + [Fraction(0)] * len(own) for k in own]
        right = [-level.q[i] - sum((level.H[i][j] * x[j] for j in fixed), Fraction(0)) for i in free]
        found = solved(K, right + [short[k] for k in own]) if free else []
        if found is None:
            continue
        for j, v in zip(free, found, strict=False):
            x[j] = v
        inside = all(low <= v <= high for low, v, high in zip(lower, x, upper, strict=True))
        if inside and all(dot(row, x) == b for row, b in zip(M, t, strict=True)):
            yield x


def bilevel(g: Form, f: Form, lower: np.ndarray, upper: np.ndarray) -> Truth:
    """min f over argmin g over the box."""
    first, second = chain([g, f], lower, upper)
    return Truth(first.value, second.value, first.unique, second.x)


class Level(NamedTuple):
    """The optimal value of a level, one of its solutions, and whether it is the only one."""

    value: Fraction
    x: list[Fraction]
    unique: bool


def chain(
    levels: Sequence[Form], lower: np.ndarray, upper: np.ndarray, rows: np.ndarray | None = None, *ends: np.ndarray
) -> list[Level]:
    """Each level over the minimisers of those before, over low <= rows x <= high (``ends``) in a box.

    The minimisers of x'Hx/2 + <q, x> are the points with the same Hx and <q, x>; rows get a variable of their own each.
    """
    n, m = len(lower), 0 if rows is None else len(rows)
    low, high = fractions(np.append(lower, ends[0] if m else [])), fractions(np.append(upper, ends[1] if m else []))
    none = [Fraction(0)] * m
    M = [fractions(np.append(rows[i], -np.eye(m)[i])) for i in range(m)] if rows is not None else []
    t = [Fraction(0)] * m
    nothing = Form([[Fraction(0)] * (n + m) for _ in range(n + m)], [Fraction(0)] * (n + m), Fraction(0))
    answers = []
    for level in levels:
        wide = Form([row + none for row in level.H] + [[Fraction(0)] * (n + m)] * m, level.q + none, level.c)
        best = min(candidates(wide, low, high, M, t), key=wide.value)
        more = [row for row in [*wide.H[:n], wide.q] if any(row)]
        M, t = M + more, t + [dot(row, best) for row in more]
        vertices = {tuple(x) for x in candidates(nothing, low, high, M, t)}
        answers.append(Level(wide.value(best), best[:n], len(vertices) == 1))
    return answers
