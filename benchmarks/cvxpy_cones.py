"""Random hierarchies with second-order and semidefinite levels and constraints, whose optimal values are known exactly.

Some begin with a curved block u whose minimiser is known: a ball (Pythagorean costs, or the distance to a point), or
the matrices with trace one (the lowest eigenvalue of a matrix with known eigenvectors, perhaps double, and then that of
another within the face). All that follows are functions of residuals F v + E u - g over a polyhedron of v, where u is
what the block leaves: their truth is that of linear and quadratic levels in fractions, in CVXPY's terms they are
Euclidean, spectral and nuclear norms and largest eigenvalues; rows are linear matrix inequalities.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import cvxpy as cp
import numpy as np

from auditing.rational import ONE, ZERO, Quadratic, Unbounded, chain
from cvxpy_models import Model, Parts, Rng, Terms

HADAMARD = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])
"""Columns orthogonal, of length two."""

TRIPLES = (((3, 4), 5), ((-4, 3), 5), ((1, 2, 2), 3), ((2, -3, 6), 7))
DIGITS = 10**60


def root(value: Fraction) -> Fraction:
    """The square root to some 50 digits or more."""
    return Fraction(isqrt(value.numerator * DIGITS**2 // value.denominator), DIGITS)


@dataclass
class Block:
    """Curved constraints on u, levels with their values, and the u that they leave."""

    u: Any
    constraints: list[Any]
    levels: list[tuple[Any, Fraction]]
    point: list[Fraction]


def ball(rng: Rng) -> Block:
    direction, size = TRIPLES[int(rng.integers(len(TRIPLES)))]
    c = np.array(direction)
    center, radius = rng.integers(-2, 3, c.size), int(rng.integers(1, 4))
    u = cp.Variable(c.size, name="u")
    inside = [cp.norm(u - center) <= radius]
    if rng.random() < 0.5:
        point = [Fraction(int(p)) - Fraction(radius * int(d), size) for p, d in zip(center, c, strict=True)]
        return Block(u, inside, [(c @ u, Fraction(int(c @ center)) - radius * size)], point)
    point = [Fraction(int(p)) + Fraction(radius * int(d), size) for p, d in zip(center, c, strict=True)]
    away = center + c  # a point outside, as size > radius, at the distance size
    return Block(u, inside, [(cp.norm(u - away), Fraction(size - radius))], point)


def spectrum(rng: Rng) -> Block:
    """Matrices X = H Y H'/4 with trace one: the lowest eigenvalue is that of Y's first one or two rows."""
    H = HADAMARD[:, rng.permutation(4)]
    X = cp.Variable((4, 4), symmetric=True, name="X")
    double = bool(rng.random() < 0.5)
    low = int(rng.integers(-3, 2))
    values = np.array([low, low if double else low + 1, low + 2, low + 2 + int(rng.integers(3))])
    C = H @ np.diag(values) @ H.T / 4
    levels = [(cp.trace(C @ X), Fraction(low))]
    if double:  # within the face the lowest eigenvalue of [[a, b], [b, a]]
        a, b = int(rng.integers(-2, 3)), int(rng.choice([-2, -1, 1, 2]))
        inner = np.diag([a, a, *rng.integers(-2, 3, 2)])
        inner[0, 1] = inner[1, 0] = b
        levels.append((cp.trace((H @ inner @ H.T / 4) @ X), Fraction(a - abs(b))))
        h = H[:, 0] - np.sign(b) * H[:, 1]
        solution = [[Fraction(int(p * q), 8) for q in h] for p in h]
    else:
        solution = [[Fraction(int(p * q), 4) for q in H[:, 0]] for p in H[:, 0]]
    entries = [(0, 0), (0, 1), (1, 2), (3, 3)]
    u = cp.hstack([X[i, j] for i, j in entries])
    return Block(u, [X >> 0, cp.trace(X) == 1], levels, [solution[i][j] for i, j in entries])


@dataclass
class Residuals:
    """Draws F v + E u - g: for CVXPY, and in fractions with u where the block leaves it."""

    rng: Rng
    v: Any
    block: Block | None

    def draw(self, count: int) -> tuple[Any, list[tuple[Terms, Fraction]]]:
        F = self.rng.integers(-2, 3, (count, self.v.size)) * (self.rng.random((count, self.v.size)) < 0.6)
        g = self.rng.integers(-3, 4, count)
        expression, constants = F @ self.v - g, [Fraction(-int(b)) for b in g]
        if self.block is not None and self.rng.random() < 0.7:
            E = self.rng.integers(-1, 2, (count, len(self.block.point)))
            expression = expression + E @ self.block.u
            constants = [
                b + sum((int(e) * p for e, p in zip(row, self.block.point, strict=True)), ZERO)
                for b, row in zip(constants, E, strict=True)
            ]
        return expression, [({j: Fraction(int(e)) for j, e in enumerate(row) if e}, b)
                            for row, b in zip(F, constants, strict=True)]  # fmt: skip


def _negative(row: tuple[Terms, Fraction]) -> tuple[Terms, Fraction]:
    return {j: -entry for j, entry in row[0].items()}, -row[1]


def _turned(r: Any) -> Any:
    """A symmetric matrix with the four eigenvalues r."""
    return sum(r[i] * np.outer(HADAMARD[:, i], HADAMARD[:, i]) / 4 for i in range(4))


def euclidean(res: Residuals, model: Model) -> tuple[Any, Parts]:
    r, rows = res.draw(int(res.rng.integers(2, 4)))
    return cp.norm(r), Parts({}, ZERO, tuple((a, -b, Fraction(2)) for a, b in rows))


def eigenvalue(res: Residuals, model: Model) -> tuple[Any, Parts]:
    r, rows = res.draw(4)
    return cp.lambda_max(_turned(r)), Parts({model.above(rows): ONE})


def spectral(res: Residuals, model: Model) -> tuple[Any, Parts]:
    r, rows = res.draw(4)
    return cp.sigma_max(_turned(r)), Parts({model.above([*rows, *map(_negative, rows)]): ONE})


def nuclear(res: Residuals, model: Model) -> tuple[Any, Parts]:
    r, rows = res.draw(4)
    return cp.normNuc(_turned(r)), Parts({model.above([row, _negative(row)]): ONE for row in rows})


def linear(res: Residuals, model: Model) -> tuple[Any, Parts]:
    r, rows = res.draw(1)
    return r[0], Parts(rows[0][0], rows[0][1])


def largest(res: Residuals, model: Model) -> tuple[Any, Parts]:
    r, rows = res.draw(3)
    return cp.max(r), Parts({model.above(rows): ONE})


def squares(res: Residuals, model: Model) -> tuple[Any, Parts]:
    r, rows = res.draw(int(res.rng.integers(1, 4)))
    return cp.sum_squares(r), Parts({}, ZERO, tuple((a, -b, Fraction(2)) for a, b in rows))


KINDS = {one.__name__: one for one in (euclidean, eigenvalue, spectral, nuclear, linear, largest, squares)}
CURVED = ("euclidean", "eigenvalue", "spectral", "nuclear")


@dataclass
class ConicHierarchy:
    """Objectives and constraints of CVXPY, and the optimal values as minima."""

    objectives: list[Any]
    constraints: list[Any]
    kinds: list[str]
    model: Model
    known: list[Fraction]
    parts: list[Parts]

    @property
    def levels(self) -> list[Any]:
        return self.objectives

    def truth(self) -> list[Fraction]:
        """Up to the first level that has none."""
        where = self.model.polyhedron()
        levels: list[Quadratic] = [one.quadratic(self.model.dim) for one in self.parts]
        for count in range(len(levels), 0, -1):
            try:
                values = chain(levels[:count], where)[0]
            except Unbounded:
                continue
            own = self.kinds[len(self.known) :]
            return self.known + [
                root(value) if kind == "euclidean" else value for value, kind in zip(values, own, strict=False)
            ]
        return list(self.known)


def conic_hierarchy(seed: int) -> ConicHierarchy:
    """Two to four levels, at least one cone that is curved."""
    rng = np.random.default_rng([seed, 40])
    which = int(rng.integers(3))
    block = None if which == 0 else (ball if which == 1 else spectrum)(rng)
    n = int(rng.integers(2, 5))
    point = rng.integers(-2, 3, n)
    v, model = cp.Variable(n, name="v"), Model(n)
    constraints: list[Any] = [] if block is None else list(block.constraints)
    if rng.random() < 0.85:
        for sign in (1, -1):
            end = sign * point + rng.integers(0, 4, n)
            constraints.append(sign * v <= end)
            model.below += [({j: Fraction(sign)}, Fraction(int(e))) for j, e in enumerate(end)]
    A = rng.integers(-2, 3, (3, n))
    b = A @ point + rng.integers(1, 4, 3)
    model.below += [({j: Fraction(int(e)) for j, e in enumerate(row) if e}, Fraction(int(end)))
                    for row, end in zip(A, b, strict=True)]  # fmt: skip
    if rng.random() < 0.5:  # the same as a matrix inequality: M diag(b - A v) M' with an invertible M
        M = np.eye(3, dtype=int) + np.tril(rng.integers(-1, 2, (3, 3)), -1)
        slack = b - A @ v
        constraints.append(sum(slack[i] * np.outer(M[:, i], M[:, i]) for i in range(3)) >> 0)
    else:
        constraints.append(A @ v <= b)
    known = [] if block is None else block.levels
    count = max(int(rng.integers(2, 5)) - len(known), 1)
    names = [str(one) for one in rng.choice(list(KINDS), count)]
    if block is None and not set(names) & set(CURVED):
        names[0] = str(rng.choice(CURVED))
    res = Residuals(rng, v, block)
    made = [KINDS[name](res, model) for name in names]
    expressions = [*(expression for expression, _ in known), *(expression for expression, _ in made)]
    objectives = [cp.Minimize(e) if rng.random() < 0.6 else cp.Maximize(-e) for e in expressions]
    kinds = [*(["ball"] if which == 1 else ["spectrum"] * len(known)), *names]
    values = [value for _, value in known]
    return ConicHierarchy(objectives, constraints, kinds, model, values, [parts for _, parts in made])
