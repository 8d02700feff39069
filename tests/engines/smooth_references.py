"""Chains over polyhedra in 45 digits: Newton's method on the active set of an answer, KKT conditions checked.

Nothing of the library's arithmetic is used but the points where it ended, as starts. Data must be exact in double.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from fractions import Fraction

import mpmath as mp
import numpy as np

mp.mp.dps = 50
ZERO, SMALL, NEAR = mp.mpf(10) ** -38, mp.mpf(10) ** -12, mp.mpf(10) ** -9


@dataclass
class Part:
    """sum of scale h_i(a_i x): value, slope and curvature of each row, as functions of (i, t)."""

    A: np.ndarray
    value: object
    slope: object
    bend: object
    zone: object = None  # the ends of the piece on which a row is straight, None where it bends

    def total(self, ts):
        return mp.fsum(self.value(i, t) for i, t in enumerate(ts))

    def slopes(self, ts):
        return [self.slope(i, t) for i, t in enumerate(ts)]

    def bends(self, ts):
        """The entries of the second derivative that are not zero."""
        return [(i, i, bend) for i, t in enumerate(ts) if (bend := self.bend(i, t)) != 0]

    def shared(self, ts):
        """Rows that all minimisers agree on."""
        return [self.A[i] for i, _, _ in self.bends(ts)]

    def of(self, A):
        """The same losses of other rows."""
        other = copy(self)
        other.A = A
        return other


class Multiple(Part):
    """A positive multiple of a part."""

    def __init__(self, factor, part):
        super().__init__(part.A, part.value, part.slope, part.bend, part.zone)
        self.factor, self.part = mp.mpf(float(factor)), part

    def total(self, ts):
        return self.factor * self.part.total(ts)

    def slopes(self, ts):
        return [self.factor * slope for slope in self.part.slopes(ts)]

    def bends(self, ts):
        return [(i, j, self.factor * bend) for i, j, bend in self.part.bends(ts)]

    def shared(self, ts):
        return self.part.shared(ts)

    def of(self, A):
        return Multiple(self.factor, self.part.of(A))


class Softmax(Part):
    """w_i (log sum_k exp(t_ik) - t_iy), the rows of A being those of all scores, one row of data after the other."""

    def __init__(self, A, y, w, classes):
        super().__init__(np.kron(A, np.eye(classes)), None, None, None)
        self.y, self.w, self.classes = [int(v) for v in y], [mp.mpf(float(v)) for v in w], classes

    def _rows(self, ts):
        for i, (y, w) in enumerate(zip(self.y, self.w, strict=True)):
            yield i * self.classes, y, w, ts[i * self.classes : (i + 1) * self.classes]

    def total(self, ts):
        return mp.fsum(w * mp.log(mp.fsum(mp.exp(t - own[y]) for t in own)) for _, y, w, own in self._rows(ts))

    def slopes(self, ts):
        found = []
        for _, y, w, own in self._rows(ts):
            p = [1 / mp.fsum(mp.exp(t - u) for t in own) for u in own]
            found += [w * (p[k] - (k == y)) for k in range(self.classes)]
        return found

    def bends(self, ts):
        found = []
        for start, _, w, own in self._rows(ts):
            p = [1 / mp.fsum(mp.exp(t - u) for t in own) for u in own]
            pairs = [(k, m) for k in range(self.classes) for m in range(self.classes)]
            found += [(start + k, start + m, w * p[k] * ((k == m) - p[m])) for k, m in pairs]
        return found

    def shared(self, ts):
        last = [start + self.classes - 1 for start, *_ in self._rows(ts)]
        return [self.A[k] - self.A[end] for end in last for k in range(end - self.classes + 1, end)]


def logistic(A, y, w):
    s = [mp.mpf(float(v)) for v in y]
    w = [mp.mpf(float(v)) for v in w]
    return Part(
        A,
        lambda i, t: w[i] * mp.log1p(mp.exp(-s[i] * t)),
        lambda i, t: -s[i] * w[i] / (1 + mp.exp(s[i] * t)),
        lambda i, t: w[i] / (2 + mp.exp(t) + mp.exp(-t)),
    )


def poisson(A, y, w):
    w, y = [mp.mpf(float(v)) for v in w], [mp.mpf(float(v)) for v in y]
    return Part(
        A,
        lambda i, t: w[i] * (mp.exp(t) - y[i] * t),
        lambda i, t: w[i] * (mp.exp(t) - y[i]),
        lambda i, t: w[i] * mp.exp(t),
    )


def squares(A, b, scale=1.0):
    b, scale = [mp.mpf(float(v)) for v in b], mp.mpf(float(scale))
    return Part(A, lambda i, t: scale * (t - b[i]) ** 2 / 2, lambda i, t: scale * (t - b[i]), lambda i, t: scale)


def linear(c):
    return Part(np.array([c], dtype=float), lambda i, t: t, lambda i, t: mp.mpf(1), lambda i, t: mp.mpf(0))


def huber(A, b, delta):
    b, delta = [mp.mpf(float(v)) for v in b], mp.mpf(float(delta))

    def zone(i, t):
        if abs(t - b[i]) < delta:
            return None
        return (b[i] + delta, mp.inf) if t > b[i] else (-mp.inf, b[i] - delta)

    def value(i, t):
        r = abs(t - b[i])
        return r**2 / 2 if r <= delta else delta * r - delta**2 / 2

    return Part(
        A,
        value,
        lambda i, t: max(-delta, min(delta, t - b[i])),
        lambda i, t: mp.mpf(1 if abs(t - b[i]) < delta else 0),
        zone,
    )


def squared_hinge(A, y, w):
    s, w = [mp.mpf(float(v)) for v in y], [mp.mpf(float(v)) for v in w]
    short = lambda i, t: max(mp.mpf(0), 1 - s[i] * t)  # noqa: E731
    ends = lambda i: (mp.mpf(1), mp.inf) if s[i] > 0 else (-mp.inf, mp.mpf(-1))  # noqa: E731
    return Part(
        A,
        lambda i, t: w[i] * short(i, t) ** 2,
        lambda i, t: -2 * s[i] * w[i] * short(i, t),
        lambda i, t: 2 * w[i] if short(i, t) > 0 else mp.mpf(0),
        lambda i, t: ends(i) if short(i, t) == 0 else None,
    )


def chain(levels, lower, upper, points, rows=()):
    """The optimal values of the levels, or None where the active sets of the points do not prove themselves.

    ``levels`` are lists of parts, ``points`` one point a level, ``rows`` triples (a, low, high). Rows, and losses that
    are straight in places, are further variables s = <a, x>.
    """
    more = [np.asarray(a, dtype=float) for a, _, _ in rows]
    ends = [(mp.mpf(float(low)), mp.mpf(float(high))) for _, low, high in rows]
    places = {}
    for k, parts in enumerate(levels):
        for q, part in enumerate(parts):
            if part.zone is not None:
                places[k, q] = len(lower) + len(more)
                more += list(part.A)
                ends += [(-mp.inf, mp.inf)] * len(part.A)
    d, extra = len(lower), len(more)
    lower = [mp.mpf(float(v)) for v in lower] + [low for low, _ in ends]
    upper = [mp.mpf(float(v)) for v in upper] + [high for _, high in ends]
    held = [np.r_[a, -np.eye(extra)[k]] for k, a in enumerate(more)]
    wide = [[p.of(np.hstack([p.A, np.zeros((len(p.A), extra))])) for p in parts] for parts in levels]
    fixed: dict[int, object] = {}
    values = []
    x = None
    for level, (parts, start) in enumerate(zip(wide, points, strict=True)):
        start = [mp.mpf(float(v)) for v in start]
        start += [_dot(a, start) for a in more]
        x = _moved_onto(start, x or start, fixed, held, lower, upper)
        if x is None:
            return None
        active = {j: end for j in range(d + extra) if (end := _nearest(x[j], lower[j], upper[j])) is not None}
        for j, end in (active | fixed).items():
            x[j] = end
        solved = _newton(parts, x, [j for j in range(d + extra) if j not in active and j not in fixed], held)
        if solved is None:
            return None
        x, z = solved
        if any(not lower[j] <= x[j] <= upper[j] for j in range(d + extra)):
            return None
        if any(abs(_dot(a, x)) > ZERO for a in held[:extra]):
            return None
        for j in active:
            if j in fixed or lower[j] == upper[j]:
                continue
            if 0 < abs(z[j]) < SMALL or (z[j] if active[j] == lower[j] else -z[j]) < -ZERO:
                return None
        values.append(mp.fsum(p.total([_dot(a, x) for a in p.A]) for p in parts))
        fixed |= {j: end for j, end in active.items() if abs(z[j]) > SMALL}
        for q, part in enumerate(parts):
            ts = [_dot(a, x) for a in part.A]
            held += part.shared(ts)
            for i, t in enumerate(ts if part.zone else ()):
                zone = part.zone(i, t)
                if zone:
                    lower[places[level, q] + i], upper[places[level, q] + i] = zone
                    if min(abs(t - zone[0]), abs(t - zone[1])) < SMALL:
                        return None
    return values


def _nearest(x, low, high):
    """The end that x is at, as far as doubles tell; None inside."""
    if min(abs(x - low), abs(x - high)) > NEAR * (1 + abs(x)):
        return None
    return low if abs(x - low) < abs(x - high) else high


def _dot(a, x):
    return mp.fsum(mp.mpf(float(v)) * w for v, w in zip(a, x, strict=True) if v)


def _moved_onto(start, x, fixed, held, lower, upper):
    """A point near the start with the images of x: moving as few columns as it takes."""
    there = start[:]
    free = []
    for j in range(len(lower)):
        end = fixed.get(j, _nearest(start[j], lower[j], upper[j]))
        if end is None:
            free.append(j)
        else:
            there[j] = end
    rows, columns = _independent(held, free)
    if rows:
        M = mp.matrix([[mp.mpf(float(held[i][j])) for j in columns] for i in rows])
        step = mp.lu_solve(M, mp.matrix([_dot(held[i], x) - _dot(held[i], there) for i in rows]))
        for k, j in enumerate(columns):
            there[j] += step[k]
    if any(abs(_dot(a, x) - _dot(a, there)) > ZERO for a in held):
        return None
    return there


def _independent(rows, columns):
    """Indices of independent rows, and of as many columns on which they are."""
    M = [[Fraction(float(a[j])) for j in columns] for a in rows]
    kept, pivots, reduced = [], [], []
    for i, row in enumerate(M):
        row = row[:]
        for other, p in zip(reduced, pivots, strict=True):
            if row[p]:
                factor = row[p] / other[p]
                row = [u - factor * v for u, v in zip(row, other, strict=True)]
        p = next((k for k, v in enumerate(row) if v), None)
        if p is not None:
            kept.append(i)
            pivots.append(p)
            reduced.append(row)
    return kept, [columns[p] for p in pivots]


def _newton(parts, x, free, held):
    """The point where the gradient is a combination of held rows on the free columns, and what it leaves of others."""
    x = x[:]
    everything = [*held, *(a for p in parts for a in p.shared([_dot(a, x) for a in p.A]))]
    rows, _ = _independent(held, free)
    _, columns = _independent(everything, free)
    n, m = len(columns), len(rows)
    for _ in range(40):
        images = [[_dot(a, x) for a in p.A] for p in parts]
        grad = [mp.mpf(0)] * len(x)
        K = mp.zeros(n + m, n + m)
        for p, ts in zip(parts, images, strict=True):
            for a, slope in zip(p.A, p.slopes(ts), strict=True):
                for j in np.flatnonzero(a):
                    grad[j] += slope * mp.mpf(float(a[j]))
            for i, k, bend in p.bends(ts):
                for r in [r for r, j in enumerate(columns) if p.A[i][j]]:
                    part = bend * mp.mpf(float(p.A[i][columns[r]]))
                    for c in [c for c, j in enumerate(columns) if p.A[k][j]]:
                        K[r, c] += part * mp.mpf(float(p.A[k][columns[c]]))
        for s, i in enumerate(rows):
            for r, j in enumerate(columns):
                K[r, n + s] = K[n + s, r] = mp.mpf(float(held[i][j]))
        try:
            right = [-grad[j] for j in columns] + [mp.mpf(0)] * m
            step = mp.lu_solve(K, mp.matrix(right)) if n + m else []
        except (ZeroDivisionError, TypeError):  # a column without a pivot leaves mpmath with None for its number
            return None
        w = {i: -step[n + s] for s, i in enumerate(rows)}
        size = max([abs(step[k]) for k in range(n)], default=mp.mpf(0))
        if size < mp.mpf(10) ** -42:
            z = [grad[j] - mp.fsum(w[i] * mp.mpf(float(held[i][j])) for i in rows) for j in range(len(x))]
            return (x, z) if all(abs(z[j]) < ZERO for j in free) else None
        for k, j in enumerate(columns):
            x[j] += step[k]
        if size > 1e6:
            return None
    return None
