"""Levels solved in decimal arithmetic of 120 digits: the answer for the floating-point data as they are.

An active set from an interior-point guess, proved by bounds and signs. The same arithmetic hands the minimisers
{A x = b, F x = t*, variables with a slope at their bound} to the next level, so that chains lose nothing on the way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext
from typing import Any

import numpy as np
from scipy import sparse

from reference import Inaccurate, Level, Reference, clarabel_point, judge

DIGITS = 120
ZERO = Decimal("1e-60")  # pivots of dependent rows are far below, those of independent rows far above


@dataclass(frozen=True)
class DecimalAnswer:
    """The reference with the minimisers as equations of the next level, in decimals."""

    reference: Reference
    x: list[Decimal]
    rows: list[list[Decimal]]
    rhs: list[Decimal]
    fixed: dict[int, Decimal]


@dataclass
class _Active:
    """A level in decimals, with the variables held at their bounds: ``fixed`` for good, ``at`` for now."""

    F: list[list[Decimal]]
    y: list[Decimal]
    q: list[Decimal]
    A: list[list[Decimal]]
    b: list[Decimal]
    low: list[Decimal]
    high: list[Decimal]
    fixed: dict[int, Decimal]
    at: dict[int, Decimal]
    near: tuple[list[Decimal], list[Decimal]]

    def solve(self) -> None:
        """The minimiser with the variables held, and the slope of the Lagrangian there."""
        self.x, self.rows = _on_active_set(self.F, self.y, self.q, self.A, self.b, self.fixed | self.at, self.near)
        self.residual = [_dot(row, self.x) - t for row, t in zip(self.F, self.y, strict=True)]
        weighted = [*zip(self.F, self.residual, strict=True), *zip(self.A, [-v for v in self.rows], strict=True)]
        self.slope = [sum((row[j] * r for row, r in weighted if row[j]), self.q[j]) for j in range(len(self.q))]

    def pulled(self) -> list[int]:
        """Variables held at a bound that want to leave it."""
        return [j for j, v in self.at.items() if (self.slope[j] if v == self.low[j] else -self.slope[j]) < -ZERO]

    def outside(self) -> list[int]:
        return [j for j, v in enumerate(self.x) if j not in self.at and j not in self.fixed
                and not self.low[j] - ZERO <= v <= self.high[j] + ZERO]  # fmt: skip

    def side(self, j: int, v: Decimal) -> Decimal:
        return self.low[j] if v < self.low[j] else self.high[j]

    def pivot(self, rounds: int = 25) -> bool:
        """All variables with a wrong sign change sides at once: fast where the guess is good, may cycle."""
        for _ in range(rounds):
            self.solve()
            leaving, entering = self.pulled(), self.outside()
            if not leaving and not entering:
                return True
            for j in leaving:
                del self.at[j]
            self.at |= {j: self.side(j, self.x[j]) for j in entering}
        return False

    def descend(self, start: list[Decimal], rounds: int = 2000) -> bool:
        """The primal active-set method from a feasible point: slow, but the value falls at each step."""
        point = start
        self.at = {j: v for j, v in enumerate(point) if j not in self.fixed and v in (self.low[j], self.high[j])}
        for _ in range(rounds):
            self.solve()
            shares = {j: (self.side(j, self.x[j]) - point[j]) / (self.x[j] - point[j]) for j in self.outside()}
            if shares:
                first = min(shares, key=lambda j: shares[j])
                point = [p + shares[first] * (v - p) for p, v in zip(point, self.x, strict=True)]
                point[first] = self.at[first] = self.side(first, self.x[first])
                continue
            point, leaving = self.x, self.pulled()
            if not leaving:
                return True
            del self.at[max(leaving, key=lambda j: abs(self.slope[j]))]
        return False


def decimal_solve(task: Level, guess: Reference, before: DecimalAnswer | None = None) -> DecimalAnswer:
    """The minimum for the data as they are, over the minimisers of the level before: an active set, proved by signs."""
    with localcontext(Context(prec=DIGITS)):
        F, A = _decimals(task.F), _decimals(task.A)
        y, q, b, low, high = (
            [Decimal(float(v)) for v in vector] for vector in (task.y, task.q, task.b, task.low, task.high)
        )
        fixed = {j: v for j, v in enumerate(low) if v == high[j]}
        if before is not None:
            A, b, fixed = before.rows, before.rhs, dict(before.fixed)
        at_low = (guess.bounds > 0) & (guess.x - task.low < guess.bounds)
        at_high = (guess.bounds < 0) & (task.high - guess.x < -guess.bounds)
        at = {j: low[j] if at_low[j] else high[j] for j in np.flatnonzero(at_low | at_high) if j not in fixed}
        near = ([Decimal(float(v)) for v in guess.x], [Decimal(float(v)) for v in guess.rows])
        active = _Active(F, y, q, A, b, low, high, fixed, at, near)
        start = before.x if before is not None else [Decimal(float(v)) for v in np.clip(guess.x, task.low, task.high)]
        if not active.pivot() and ((before is None and b) or not active.descend(start)):
            raise Inaccurate("the decimal active set did not settle")
        x = active.x
        value = float(sum((r * r for r in active.residual), Decimal(0)) / 2 + _dot(q, x))
        reference = Reference(
            np.array([float(v) for v in x]), value, 1e-15 * (1 + abs(value)),
            np.array([float(v) for v in active.rows]), np.array([float(v) for v in active.slope]),
        )  # fmt: skip
        held = fixed | {j: v for j, v in active.at.items() if abs(active.slope[j]) > ZERO}
        # <q, x> is constant where F x, A x and the variables with a slope are
        return DecimalAnswer(reference, x, A + F, b + [_dot(row, x) for row in F], held)


def chain(tasks: list[Level]) -> list[Reference]:
    """The minima of a chain of levels over the same set, each over the minimisers of those before; in decimals."""
    before, found = None, []
    for task in tasks:
        guess = _guess(task, before)
        before = decimal_solve(task, guess, before)
        found.append(before.reference)
    return found


def _guess(task: Level, before: DecimalAnswer | None) -> Reference:
    if before is not None:
        A = np.array([[float(v) for v in row] for row in before.rows])
        low, high = task.low.copy(), task.high.copy()
        for j, v in before.fixed.items():
            low[j] = high[j] = float(v)
        task = replace(task, A=A, b=np.array([float(v) for v in before.rhs]), low=low, high=high)
    return judge(task, *clarabel_point(task, 1e-11))


def _on_active_set(
    F: list, y: list, q: list, A: list, b: list, at: dict[int, Decimal], near: tuple[list, list]
) -> tuple[list, list]:
    """min 1/2 ||F x - y||^2 + <q, x> with A x = b and the variables in ``at`` held: x and the multipliers.

    Solved for the step from a point near, so that where there are many solutions one near it is found.
    """
    n, zero = len(q), Decimal(0)
    free = [j for j in range(n) if j not in at]
    x = [at.get(j, near[0][j]) for j in range(n)]
    rows = list(near[1])
    gram = [[zero] * len(free) for _ in free]
    slope = [sum((row[j] * v for row, v in zip(A, rows, strict=True) if row[j]), zero) - q[j] for j in free]
    for row, t in zip(F, y, strict=True):
        entries = [(k, row[j]) for k, j in enumerate(free) if row[j]]
        rest = t - _dot(row, x)
        for k, v in entries:
            slope[k] += v * rest
            line = gram[k]
            for other, w in entries:
                line[other] += v * w
    system = [[*gram[k], *(-row[j] for row in A), slope[k]] for k, j in enumerate(free)]
    system += [[*(row[j] for j in free), *[zero] * len(A), t - _dot(row, x)] for row, t in zip(A, b, strict=True)]
    step = _eliminate(system)
    for k, j in enumerate(free):
        x[j] += step[k]
    return x, [v + s for v, s in zip(rows, step[len(free) :], strict=True)]


def _eliminate(rows: list[list[Decimal]]) -> list[Decimal]:
    """A solution of a consistent square system [M, rhs]; where M is singular, one with zeros."""
    size, pivots = len(rows), []
    left = list(range(size))
    for column in range(size):
        if not left:
            break
        best = max(left, key=lambda i: abs(rows[i][column]))
        if abs(rows[best][column]) <= ZERO:
            continue
        left.remove(best)
        pivot = rows[best]
        pivots.append((column, pivot))
        for i in left:
            row = rows[i]
            if row[column]:
                factor = row[column] / pivot[column]
                rest = zip(row[column + 1 :], pivot[column + 1 :], strict=True)
                rows[i] = [*row[:column], Decimal(0), *(a - factor * p for a, p in rest)]
    if any(abs(rows[i][-1]) > Decimal("1e-40") for i in left):
        raise Inaccurate("the active constraints contradict each other")
    solution = [Decimal(0)] * size
    for column, pivot in reversed(pivots):
        solution[column] = (pivot[-1] - _dot(pivot[column + 1 : -1], solution[column + 1 :])) / pivot[column]
    return solution


def _decimals(M: Any) -> list[list[Decimal]]:
    dense = M.toarray() if sparse.issparse(M) else np.asarray(M)
    return [[Decimal(float(v)) for v in row] for row in dense]


def _dot(a: list[Decimal], b: list[Decimal]) -> Decimal:
    return sum((u * v for u, v in zip(a, b, strict=True) if u and v), Decimal(0))
