"""Least squares over round sets to 45 digits: Newton's method on the optimality conditions, in decimal arithmetic.

Independent of the library: its own conditions. Derivatives are differences, and inverted in double precision once,
which is good enough where each step gains ten digits. All it is told is a start with the right structure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, getcontext
from itertools import pairwise

import numpy as np

getcontext().prec = 60
TINY = Decimal(10) ** -28

Numbers = list[Decimal]


def numbers(values) -> Numbers:
    return [Decimal(float(value)) for value in np.ravel(values)]


@dataclass(frozen=True)
class Squares:
    """1/2 |A x - b|^2."""

    A: np.ndarray
    b: np.ndarray

    def residual(self, x: Numbers) -> Numbers:
        rows = self.A.tolist()
        return [
            sum((Decimal(a) * v for a, v in zip(row, x, strict=True)), -Decimal(b))
            for row, b in zip(rows, self.b.tolist(), strict=True)
        ]

    def value(self, x: Numbers) -> Decimal:
        return sum((r * r for r in self.residual(x)), Decimal(0)) / 2

    def grad(self, x: Numbers) -> Numbers:
        return self.pull(self.residual(x))

    def pull(self, w: Numbers) -> Numbers:
        return [
            sum((Decimal(a) * v for a, v in zip(column, w, strict=True)), Decimal(0)) for column in self.A.T.tolist()
        ]


class Surface:
    """u -> x, what the conditions see of a slope, the normal, and the equation of the boundary."""

    def __init__(self, kind: str, x: np.ndarray, size: float, **details) -> None:
        self.kind, self.size, self.details = kind, Decimal(size), details
        getattr(self, f"_start_{kind}")(x)

    # each kind: start, point, pull, normal, gauge

    def _start_inside(self, x):
        self.start, self.normal = numbers(x), None
        self.point, self.pull = (lambda u: u), (lambda u, c: c)

    def _start_power(self, x):
        p, center = Decimal(float(self.details["p"])), numbers(self.details["center"])
        self.start = [a - b for a, b in zip(numbers(x), center, strict=True)]
        self.point = lambda u: [a + b for a, b in zip(u, center, strict=True)]
        self.pull = lambda u, c: c
        self.normal = lambda u: [abs(v) ** (p - 1) * (1 if v > 0 else -1) if v else v for v in u]
        self.gauge = lambda u: sum((abs(v) ** p for v in u if v), Decimal(0)) - self.size**p

    def _start_groups(self, x):
        kept = [g for g in self.details["groups"] if np.abs(x[g]).max() > 1e-9]
        index = np.concatenate(kept)
        ends = np.cumsum([0, *(g.size for g in kept)])
        parts = [range(int(a), int(b)) for a, b in pairwise(ends)]
        self.start = numbers(x[index])

        def point(u):
            full = [Decimal(0)] * x.size
            for place, value in zip(index.tolist(), u, strict=True):
                full[place] = value
            return full

        def lengths(u):
            return [sum(u[i] * u[i] for i in part).sqrt() for part in parts]

        self.point, self.pull = point, lambda u, c: [c[i] for i in index.tolist()]
        self.normal = lambda u: [u[i] / size for part, size in zip(parts, lengths(u), strict=True) for i in part]
        self.gauge = lambda u: sum(lengths(u), Decimal(0)) - self.size

    def _start_spectrum(self, x):
        """Y = L L' with L zero above its diagonal; x is Y, or its upper right block."""
        shape, whole = self.details["shape"], self.details["whole"]
        m, n = shape
        N = m if whole else m + n
        if whole:
            values, vectors = np.linalg.eigh(x.reshape(shape))
            rank = int((values > 1e-7).sum())
            L = vectors[:, -rank:] * np.sqrt(values[-rank:])
        else:
            left, values, right = np.linalg.svd(x.reshape(shape))
            rank = int((values > 1e-7).sum())
            L = np.vstack([left[:, :rank], right[:rank].T]) * np.sqrt(values[:rank])
        L = L @ np.linalg.qr(L[:rank].T)[0]  # its first rows are lower triangular then
        free = [(i, j) for i in range(N) for j in range(min(i + 1, rank))]
        self.start = numbers([L[i, j] for i, j in free])

        def unpacked(u):
            full = [[Decimal(0)] * rank for _ in range(N)]
            for (i, j), value in zip(free, u, strict=True):
                full[i][j] = value
            return full

        def point(u):
            full = unpacked(u)
            first, second = (full, full) if whole else (full[:m], full[m:])
            return [sum((a * b for a, b in zip(p, q, strict=True)), Decimal(0)) for p in first for q in second]

        def pull(u, c):
            full = unpacked(u)
            C = [[Decimal(0)] * N for _ in range(N)]
            for i in range(m):
                for j in range(n):
                    row, column = (i, j) if whole else (i, m + j)
                    C[row][column] += c[i * n + j] / 2
                    C[column][row] += c[i * n + j] / 2
            return [sum((C[i][k] * full[k][j] for k in range(N)), Decimal(0)) for i, j in free]

        self.point, self.pull, self.normal = point, pull, lambda u: u
        self.gauge = lambda u: sum((v * v for v in u), Decimal(0)) - (self.size if whole else 2 * self.size)


def minimised(objective: Squares, surface: Surface, rows: Squares | None = None) -> tuple[Numbers, Numbers, Decimal]:
    """The x that satisfies the optimality conditions, with A x = b where rows are given, their prices, the residual."""
    n, m = len(surface.start), 0 if rows is None else rows.A.shape[0]

    def conditions(y: Numbers) -> Numbers:
        u, w = y[:n], y[n : n + m]
        x = surface.point(u)
        c = objective.grad(x)
        found: Numbers = []
        if rows is not None:
            c = [a + b for a, b in zip(c, rows.pull(w), strict=True)]
            found += rows.residual(x)
        c = surface.pull(u, c)
        if surface.normal is not None:
            c = [a + y[-1] * b for a, b in zip(c, surface.normal(u), strict=True)]
            found.append(surface.gauge(u))
        return c + found

    y = surface.start + [Decimal(0)] * (m + (surface.normal is not None))
    y = _with_prices(conditions, y, n)
    inverse = None
    for _ in range(40):
        F = conditions(y)
        if max(map(abs, F)) < Decimal(10) ** -50:
            break
        if inverse is None:  # the start is near, so that each step with this one gains some ten digits
            J = _derivative(conditions, y, F, range(len(y)))
            inverse = np.linalg.inv(np.array([[float(v) for v in row] for row in J]))
        unit = max(map(abs, F))
        step = inverse @ np.array([float(v / unit) for v in F])
        y = [a - unit * Decimal(float(b)) for a, b in zip(y, step, strict=True)]
    return surface.point(y[:n]), y[n : n + m], max(map(abs, conditions(y)))


def _with_prices(conditions: Callable[[Numbers], Numbers], y: Numbers, n: int) -> Numbers:
    """The unknowns with prices that fit best: conditions are linear in them."""
    if len(y) == n:
        return y
    F = conditions(y)
    columns = _derivative(conditions, y, F, range(n, len(y)))
    J = np.array([[float(v) for v in row] for row in columns])[:n]
    prices = -np.linalg.lstsq(J, np.array([float(v) for v in F[:n]]), rcond=None)[0]
    return y[:n] + numbers(prices)


def _derivative(conditions, y: Numbers, F: Numbers, which: Sequence[int]) -> list[Numbers]:
    columns = []
    for j in which:
        moved = list(y)
        moved[j] += TINY
        columns.append([(a - b) / TINY for a, b in zip(conditions(moved), F, strict=True)])
    return [list(row) for row in zip(*columns, strict=True)]
