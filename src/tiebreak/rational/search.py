"""From a point in floating point numbers to the exact solution of a chain, and its multipliers.

An active-set method in rational numbers. At every level it goes to the minimum on the affine hull of the face it is on
as far as the other rows allow, and asks for multipliers; where there are none, a direction comes instead, along which
the level falls and all that earlier levels hold stays. Every step makes the level smaller, and there are finitely many
faces, so that it ends, from wherever it begins; near the solution it needs a step or two a level. Steps never leave
the minimisers of earlier levels, whose gradients and multipliers stay what they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from time import monotonic
from typing import Any

from .data import ExactChain, ExactLevel, NotProved, Sparse
from .linear import Number, Numbers, flint, pivots, product, solution, transposed
from .multipliers import Direction, outside, split

NEAR = 1e-8
"""A row whose end is nearer than this, relative to its terms, is taken to be at it; the rest puts right what is not."""


@dataclass
class Curve:
    """A level: its Hessian, by rows, and its gradient at zero."""

    H: list[Numbers]
    q: Numbers

    @classmethod
    def of(cls, level: ExactLevel, size: int) -> Curve:
        """From the data of a level."""
        zero = flint().fmpq(0)
        H, q = [[zero] * size for _ in range(size)], [zero] * size
        for (i, j), value in level.Q.items():
            H[i][j] += number(value)
        for j, value in level.c.items():
            q[j] += number(value)
        for weight, a, target in level.squares:
            entries = [(j, number(value)) for j, value in a.items()]
            w, t = number(weight), number(target)
            for i, value in entries:
                q[i] -= w * t * value
                for j, other in entries:
                    H[i][j] += w * value * other
        return cls(H, q)

    def gradient(self, x: Numbers) -> Numbers:
        """At x."""
        return [h + q for h, q in zip(product(self.H, x), self.q, strict=True)]


@dataclass
class Prices:
    """The multipliers of a level: of rows by number, and a vector for each earlier level, by position."""

    rows: dict[int, Number]
    images: list[dict[int, Number]]


@dataclass
class Search:
    """Where the search stands."""

    A: list[Numbers]
    low: list[Number | None]
    high: list[Number | None]
    x: Numbers
    until: float
    held: set[int] = field(default_factory=set)
    images: list[tuple[int, int, Numbers]] = field(default_factory=list)  # level, position, that row of its Hessian
    steps: int = 0

    def minimise(self, curve: Curve, k: int) -> Prices:
        """Go to a minimum of the level, and hold what all its minimisers share."""
        while True:
            self._newton(curve, k)
            low, high = self._at_ends()
            open_rows = sorted((low | high) - self.held)
            free = [self.A[i] for i in sorted(self.held)] + [row for _, _, row in self.images]
            signs = [1 if i in low else -1 for i in open_rows]
            signed = [[sign * a for a in self.A[i]] for i, sign in zip(open_rows, signs, strict=True)]
            found = split(free, signed, curve.gradient(self.x))
            if not isinstance(found, Direction):
                break
            self._move(curve, found.d, None, k)
        rows = dict(zip(sorted(self.held), found.free, strict=False))
        rows |= {i: s * y for i, s, y in zip(open_rows, signs, found.signed, strict=True)}
        own: list[dict[int, Number]] = [{} for _ in range(k)]
        for (level, place, _), value in zip(self.images, found.free[len(self.held) :], strict=True):
            own[level] |= {place: value} if value else {}
        self._hold(curve, k, {i for i, y in rows.items() if y})
        return Prices({i: y for i, y in rows.items() if y}, own)

    def _hold(self, curve: Curve, k: int, rows: set[int]) -> None:
        self.held |= rows
        known = [row for _, _, row in self.images]
        if any(any(row) for row in curve.H):
            fresh = [i - len(known) for i in pivots([*known, *curve.H]) if i >= len(known)]
            self.images += [(k, i, curve.H[i]) for i in fresh]

    def _at_ends(self) -> tuple[set[int], set[int]]:
        activity = product(self.A, self.x)
        both = range(len(self.A))
        low = {i for i in both if self.low[i] is not None and activity[i] == self.low[i]}
        return low, {i for i in both if self.high[i] is not None and activity[i] == self.high[i]}

    def _newton(self, curve: Curve, k: int) -> None:
        """To the minimum on the affine hull of the face, as far as rows allow."""
        while any(any(row) for row in curve.H):
            low, high = self._at_ends()
            rows = [self.A[i] for i in sorted(low | high)] + [row for _, _, row in self.images]
            rows = [rows[i] for i in pivots(rows)]
            n, zero = len(self.x), flint().fmpq(0)
            system = [curve.H[j] + [row[j] for row in rows] for j in range(n)]
            system += [row + [zero] * len(rows) for row in rows]
            slope = curve.gradient(self.x) + [zero] * len(rows)
            found = solution(system, [-g for g in slope])
            if found is None:  # it falls on the hull for ever, along a direction without curvature: to the next row
                self._move(curve, outside(system, slope)[:n], None, k)
            elif not any(found[:n]) or self._move(curve, found[:n], flint().fmpq(1), k):
                return

    def _move(self, curve: Curve, d: Numbers, most: Number | None, k: int) -> bool:
        """Along d to the minimum, or to where a row stops it; whether none has."""
        self.steps += 1
        if monotonic() > self.until:
            raise NotProved("the time is up before the exact solution is reached")
        if most is None:
            bend = sum((a * b for a, b in zip(product(curve.H, d), d, strict=True)), flint().fmpq(0))
            slope = sum((a * b for a, b in zip(curve.gradient(self.x), d, strict=True)), flint().fmpq(0))
            most = -slope / bend if bend else None
        free = most
        both = zip(product(self.A, d), product(self.A, self.x), self.low, self.high, strict=True)
        for change, activity, low, high in both:
            end = low if change < 0 else high
            if change and end is not None:
                room = (end - activity) / change
                most = room if most is None or room < most else most
        if most is None:
            raise NotProved(f"level {k + 1} falls for ever: it has no minimum")
        self.x = [a + most * b if b else a for a, b in zip(self.x, d, strict=True)]
        return bool(free is not None and most == free)


def number(value: Fraction) -> Number:
    """A fraction as python-flint has it."""
    return flint().fmpq(value.numerator, value.denominator)


def dense(a: Sparse, size: int) -> Numbers:
    """A sparse vector with its zeros."""
    found = [flint().fmpq(0)] * size
    for j, value in a.items():
        found[j] = number(value)
    return found


def begin(chain: ExactChain, until: float) -> Search:
    """At a point of the set near the start of the chain, with the rows at their ends that seem to be."""
    A = [dense(row.a, chain.size) for row in chain.rows]
    low, high = ([None if end is None else number(end) for end in ends] for ends in _ends(chain))
    x = [number(value) for value in chain.start]
    equal = {i for i in range(len(A)) if low[i] is not None and low[i] == high[i]}
    near = sorted(_nearly_at_ends(chain, A, x), key=lambda one: (one[0] not in equal, one[1]))
    order = [*((i, number(chain.rows[i].low or Fraction(0))) for i in sorted(equal))]
    order += [(i, end) for i, _, end in near if i not in equal]
    kept = [order[i] for i in pivots([A[i] for i, _ in order])]
    x = _moved_onto([A[i] for i, _ in kept], [end for _, end in kept], x)
    search = Search(A, low, high, x, until, held=equal)
    activity = product(A, x)
    if any(activity[i] != low[i] for i in equal):
        raise NotProved("the equations of the set, as stored, contradict each other by rounding: it is empty")
    missed = [i for i, value in enumerate(activity) if _beyond(value, low[i], high[i])]
    return _into_the_set(search, missed) if missed else search


def _ends(chain: ExactChain) -> tuple[list[Any], list[Any]]:
    return [row.low for row in chain.rows], [row.high for row in chain.rows]


def _beyond(value: Number, low: Number | None, high: Number | None) -> bool:
    return (low is not None and value < low) or (high is not None and value > high)


def _nearly_at_ends(chain: ExactChain, A: list[Numbers], x: Numbers) -> list[tuple[int, float, Number]]:
    """Rows that seem to be at an end: their number, how far they are from it, the end."""
    found = []
    for i, (row, activity) in enumerate(zip(chain.rows, product(A, x), strict=True)):
        value = Fraction(int(activity.p), int(activity.q))
        terms = sum((abs(a * chain.start[j]) for j, a in row.a.items()), Fraction(0))
        ends = [end for end in (row.low, row.high) if end is not None]
        end = min(ends, key=lambda one: abs(value - one))
        away = float(abs(value - end) / ((terms + abs(end)) or 1))
        if away <= NEAR or abs(value - end) <= Fraction(NEAR) ** 2 or _beyond(value, row.low, row.high):
            found.append((i, away, number(end)))
    return found


def _moved_onto(rows: list[Numbers], ends: Numbers, x: Numbers) -> Numbers:
    """The nearest point where these rows, which are independent, are at these ends."""
    if not rows:
        return x
    missing = [end - value for end, value in zip(ends, product(rows, x), strict=True)]
    gram = [product(rows, row) for row in rows]
    y = solution(gram, missing)
    assert y is not None
    return [a + b for a, b in zip(x, product(transposed(rows), y), strict=True)]


def _into_the_set(search: Search, missed: list[int]) -> Search:
    """A point of the set from one that misses rows: the least s by which they have to be moved must be 0."""
    zero, one = flint().fmpq(0), flint().fmpq(1)
    n, activity = len(search.x), product(search.A, search.x)
    A, low, high = [[*row, zero] for row in search.A], list(search.low), list(search.high)
    most = zero
    for i in missed:
        below = low[i] is not None and activity[i] < low[i]
        gap = low[i] - activity[i] if below else activity[i] - high[i]
        most = max(most, gap)
        A.append([*search.A[i], one if below else -one])
        low.append(low[i] if below else None)
        high.append(None if below else high[i])
        low[i], high[i] = (None, high[i]) if below else (low[i], None)
    A.append([*[zero] * n, one])
    wide = Search(A, [*low, zero], [*high, None], [*search.x, most], search.until, set(search.held))
    wide.minimise(Curve([[zero] * (n + 1) for _ in range(n + 1)], [*[zero] * n, one]), 0)
    if wide.x[n]:
        raise NotProved("the rows of the set, as stored, contradict each other by rounding: it is empty")
    return Search(search.A, search.low, search.high, wide.x[:n], search.until, search.held, steps=wide.steps)
