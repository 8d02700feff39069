"""Chains of convex quadratic levels over polyhedra in rational arithmetic: the truth that claims are held to.

Nothing here knows of tiebreak. A level is minimised by an active-set method whose every number is a fraction, and what
it returns is checked by the optimality conditions, which are sufficient for a convex level: a mistake in the method
would end in an error, not in a wrong truth.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm

Row = list[Fraction]
Matrix = list[Row]
ZERO, ONE = Fraction(0), Fraction(1)


class Infeasible(Exception):
    """The polyhedron is empty."""


class Unbounded(Exception):
    """A level has no minimum."""


@dataclass
class Polyhedron:
    """{x : a x <= b for the inequalities, a x = b for the equations}."""

    dim: int
    below: list[tuple[Row, Fraction]] = field(default_factory=list)
    equal: list[tuple[Row, Fraction]] = field(default_factory=list)

    def holds(self, x: Row) -> bool:
        return all(dot(a, x) <= b for a, b in self.below) and all(dot(a, x) == b for a, b in self.equal)

    def with_equal(self, equations: list[tuple[Row, Fraction]]) -> Polyhedron:
        return Polyhedron(self.dim, self.below, self.equal + equations)


@dataclass
class Quadratic:
    """1/2 x'Qx + q'x + c, convex."""

    Q: Matrix
    q: Row
    c: Fraction = ZERO

    def value(self, x: Row) -> Fraction:
        return dot(self.q, x) + dot(times(self.Q, x), x) / 2 + self.c

    def grad(self, x: Row) -> Row:
        return [a + b for a, b in zip(times(self.Q, x), self.q, strict=True)]


def dot(a: Row, b: Row) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), ZERO)


def times(A: Matrix, x: Row) -> Row:
    return [dot(row, x) for row in A]


def echelon(rows: Matrix, columns: int) -> tuple[list[list[int]], list[int]]:
    """The reduced echelon form in integers (each row times a number of its own), and its pivot columns."""
    table = [_integers(row) for row in rows]
    pivots: list[int] = []
    for column in range(columns):
        top = len(pivots)
        candidates = [i for i in range(top, len(table)) if table[i][column]]
        if not candidates:
            continue
        best = min(candidates, key=lambda i: abs(table[i][column]))
        table[top], table[best] = table[best], table[top]
        pivot = table[top]
        for i, row in enumerate(table):
            if i != top and row[column]:
                table[i] = _reduced([a * pivot[column] - b * row[column] for a, b in zip(row, pivot, strict=True)])
        pivots.append(column)
    return table, pivots


def _integers(row: Row) -> list[int]:
    scale = lcm(*(entry.denominator for entry in row))
    return _reduced([entry.numerator * (scale // entry.denominator) for entry in row])


def _reduced(row: list[int]) -> list[int]:
    common = gcd(*row)
    return [entry // common for entry in row] if common > 1 else row


def independent(rows: list[tuple[Row, Fraction]]) -> list[tuple[Row, Fraction]]:
    """As many of the equations as are independent, the first ones first."""
    if not rows:
        return []
    by_column = [list(column) for column in zip(*(a for a, _ in rows), strict=True)]
    return [rows[i] for i in echelon(by_column, len(rows))[1]]


def kernel(rows: Matrix, columns: int) -> Matrix:
    """A basis of {d : row . d = 0 for all rows}."""
    table, pivots = echelon(rows, columns) if rows else ([], [])
    basis = []
    for free in set(range(columns)) - set(pivots):
        d = [ZERO] * columns
        d[free] = ONE
        for row, pivot in zip(table, pivots, strict=False):
            d[pivot] = Fraction(-row[free], row[pivot])
        basis.append(d)
    return basis


def solution(rows: Matrix, right: Row, columns: int) -> Row | None:
    """One x with rows x = right, or None."""
    table, pivots = echelon([[*row, b] for row, b in zip(rows, right, strict=True)], columns)
    if any(row[columns] for row in table[len(pivots) :]):
        return None
    x = [ZERO] * columns
    for row, pivot in zip(table, pivots, strict=False):
        x[pivot] = Fraction(row[columns], row[pivot])
    return x


def feasible_point(where: Polyhedron) -> Row:
    """Some point, by minimising one variable that relaxes the inequalities."""
    start = solution([a for a, _ in where.equal], [b for _, b in where.equal], where.dim) if where.equal else None
    if start is None:
        if where.equal:
            raise Infeasible
        start = [ZERO] * where.dim
    excess = max((dot(a, start) - b for a, b in where.below), default=ZERO)
    if excess <= 0:
        return start
    below = [([*a, -ONE if dot(a, start) > b else ZERO], b) for a, b in where.below]
    below.append(([ZERO] * where.dim + [-ONE], ZERO))
    relaxed = Polyhedron(where.dim + 1, below, [([*a, ZERO], b) for a, b in where.equal])
    size = where.dim + 1
    goal = Quadratic([[ZERO] * size for _ in range(size)], [ZERO] * where.dim + [ONE])
    found = minimise(goal, relaxed, [*start, excess], stop_at=ZERO)
    if found[-1] > 0:
        raise Infeasible
    return found[:-1]


def minimise(level: Quadratic, where: Polyhedron, start: Row, stop_at: Fraction | None = None) -> Row:
    """A minimiser, from a feasible point; ties are broken at random (seeded), which does not cycle."""
    rng = random.Random(1)
    fixed = independent(where.equal)
    x, working = start, _tight(where, start, fixed, rng)
    for _ in range(2000):
        if stop_at is not None and level.value(x) <= stop_at:
            return x
        rows = [a for a, _ in fixed] + [where.below[i][0] for i in working]
        step, prices = _equality_step(level, x, rows)
        if any(step):
            share, blocking = _ratio(where, x, step, working, rng, ray=prices is None)
            if share is None:
                raise Unbounded
            x = [a + share * d for a, d in zip(x, step, strict=True)]
            if blocking is not None:
                working.append(blocking)
                continue
        if prices is None:
            continue
        wrong = [k for k, price in enumerate(prices[len(fixed) :]) if price < 0]
        if not wrong:
            _verify(level, where, x, rows, prices, len(fixed))
            return x
        del working[rng.choice(wrong)]
    raise ArithmeticError("the rational active-set method did not end")


def _tight(where: Polyhedron, x: Row, fixed: list[tuple[Row, Fraction]], rng: random.Random) -> list[int]:
    """Independent inequalities that are tight at x, as the first working set."""
    candidates = [i for i, (a, b) in enumerate(where.below) if any(a) and dot(a, x) == b]
    rng.shuffle(candidates)
    rows = fixed + [where.below[i] for i in candidates]
    if not rows:
        return []
    by_column = [list(column) for column in zip(*(a for a, _ in rows), strict=True)]
    return [candidates[k - len(fixed)] for k in echelon(by_column, len(rows))[1] if k >= len(fixed)]


def _equality_step(level: Quadratic, x: Row, rows: Matrix) -> tuple[Row, Row | None]:
    """The step to a minimiser with the rows held, and their multipliers; or a ray along which it falls, and None."""
    n, m = len(x), len(rows)
    table = [list(level.Q[i]) + [row[i] for row in rows] for i in range(n)]
    table += [list(row) + [ZERO] * m for row in rows]
    gradient = level.grad(x)
    found = solution(table, [-entry for entry in gradient] + [ZERO] * m, n + m)
    if found is not None:
        return found[:n], found[n:]
    for ray in kernel(table, n + m):  # Q d = 0 and rows d = 0: the matrix is symmetric
        slope = dot(gradient, ray[:n])
        if slope:
            return [-entry if slope > 0 else entry for entry in ray[:n]], None
    raise ArithmeticError("an inconsistent system without a certificate")


def _ratio(
    where: Polyhedron, x: Row, step: Row, working: list[int], rng: random.Random, ray: bool
) -> tuple[Fraction | None, int | None]:
    """How far along the step one may go, and the row that blocks."""
    share, blocking = (None if ray else ONE), []
    for i, (a, b) in enumerate(where.below):
        rise = dot(a, step)
        if i in working or rise <= 0:
            continue
        limit = (b - dot(a, x)) / rise
        if share is None or limit < share:
            share, blocking = limit, [i]
        elif limit == share and blocking:
            blocking.append(i)
    return share, rng.choice(blocking) if blocking else None


def _verify(level: Quadratic, where: Polyhedron, x: Row, rows: Matrix, prices: Row, fixed: int) -> None:
    """Feasible, gradient + rows' prices = 0, prices of inequalities not negative: then x is a minimiser."""
    gradient = level.grad(x)
    for row, price in zip(rows, prices, strict=True):
        gradient = [g + price * a for g, a in zip(gradient, row, strict=True)]
    if any(gradient) or min(prices[fixed:], default=ZERO) < 0 or not where.holds(x):
        raise ArithmeticError("the rational optimality conditions do not hold")


def solutions(level: Quadratic, where: Polyhedron, x: Row) -> Polyhedron:
    """All minimisers, given one: a convex quadratic is constant on them, so Q x and q'x are."""
    equations = [(list(row), dot(row, x)) for row in level.Q if any(row)]
    if any(level.q):
        equations.append((list(level.q), dot(level.q, x)))
    return Polyhedron(where.dim, where.below, independent(where.equal + equations))


def another_point(where: Polyhedron, x: Row) -> Row | None:
    """A point of the polyhedron other than x, or None where there is none."""
    tight = [a for a, b in where.below if dot(a, x) == b]
    flat = [a for a, _ in where.equal]
    directions = kernel(flat, where.dim)
    if not directions:
        return None
    cone = Polyhedron(where.dim, [(a, ZERO) for a in tight], [(a, ZERO) for a in flat])
    for i in range(where.dim):
        for sign in (ONE, -ONE):
            unit = [sign if j == i else ZERO for j in range(where.dim)]
            cone.below.append((unit, ONE))
    total = [sum((a[j] for a in tight), ZERO) for j in range(where.dim)]
    size = range(where.dim)
    d = minimise(Quadratic([[ZERO] * where.dim for _ in size], total), cone, [ZERO] * where.dim)
    if not any(d):
        rest = kernel(flat + tight, where.dim)
        if not rest:
            return None
        d = rest[0]
    share, _ = _ratio(where, x, d, [], random.Random(1), ray=True)
    if share is None:
        share = ONE
    return [a + share * b for a, b in zip(x, d, strict=True)]


def is_convex(level: Quadratic) -> bool:
    """Whether Q is positive semidefinite, by elimination."""
    Q = [list(row) for row in level.Q]
    for k, pivot_row in enumerate(Q):
        pivot, rest = pivot_row[k], range(k + 1, len(Q))
        if pivot < 0 or (pivot == 0 and any(pivot_row[j] for j in rest)):
            return False
        for i in rest:
            if share := Q[i][k]:
                for j in rest:
                    Q[i][j] -= share * pivot_row[j] / pivot
    return True


def chain(levels: list[Quadratic], where: Polyhedron) -> tuple[list[Fraction], Row, list[Polyhedron]]:
    """Optimal values, a solution, and the solutions of each level among those of the levels before."""
    x = feasible_point(where)
    values, sets = [], []
    for level in levels:
        x = minimise(level, where, x)
        values.append(level.value(x))
        where = solutions(level, where, x)
        sets.append(where)
    return values, x, sets
