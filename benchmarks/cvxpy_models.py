"""Random hierarchies of linear, piecewise linear and quadratic levels: in CVXPY's terms, and their exact answers.

Both are made from the same integers by code that does not know of the other: CVXPY's atoms on one side, rows with
variables of their own and rational arithmetic on the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np

from auditing.rational import ONE, ZERO, Polyhedron, Quadratic, Row, Unbounded, chain

Terms = dict[int, Fraction]
Rng = np.random.Generator


@dataclass
class Hierarchy:
    """Objectives and constraints of CVXPY in x, and the same in fractions."""

    x: Any
    objectives: list[Any]
    constraints: list[Any]
    where: Polyhedron
    levels: list[Quadratic]
    kinds: list[str]

    def truth(self) -> list[Fraction]:
        """The optimal values, as minima, up to the first level that has none."""
        for count in range(len(self.levels), 0, -1):
            try:
                return chain(self.levels[:count], self.where)[0]
            except Unbounded:
                continue
        return []


class Model:
    """Rows that grow by the variables of piecewise linear functions."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.below: list[tuple[Terms, Fraction]] = []
        self.equal: list[tuple[Terms, Fraction]] = []

    def variable(self) -> int:
        self.dim += 1
        return self.dim - 1

    def above(self, pieces: list[tuple[Terms, Fraction]]) -> int:
        """A variable above all of these functions."""
        t = self.variable()
        self.below += [({**terms, t: -ONE}, -constant) for terms, constant in pieces]
        return t

    def polyhedron(self) -> Polyhedron:
        def full(rows: list[tuple[Terms, Fraction]]) -> list[tuple[Row, Fraction]]:
            return [([terms.get(j, ZERO) for j in range(self.dim)], b) for terms, b in rows]

        return Polyhedron(self.dim, full(self.below), full(self.equal))


@dataclass
class Parts:
    """linear . x + constant + sum of scale/2 (row . x - b)^2."""

    linear: Terms
    constant: Fraction = ZERO
    squares: tuple[tuple[Terms, Fraction, Fraction], ...] = ()

    def quadratic(self, dim: int) -> Quadratic:
        Q, q, constant = [[ZERO] * dim for _ in range(dim)], [ZERO] * dim, self.constant
        for j, entry in self.linear.items():
            q[j] += entry
        for terms, b, scale in self.squares:
            constant += scale * b * b / 2
            for i, u in terms.items():
                q[i] -= scale * u * b
                for j, v in terms.items():
                    Q[i][j] += scale * u * v
        return Quadratic(Q, q, constant)


def _terms(row: np.ndarray) -> Terms:
    return {j: Fraction(int(entry)) for j, entry in enumerate(row) if entry}


def _negative(terms: Terms) -> Terms:
    return {j: -entry for j, entry in terms.items()}


def _affine(rng: Rng, x: Any, count: int) -> tuple[Any, list[tuple[Terms, Fraction]]]:
    """F x - g with small integers, sparse rows, some of them equal."""
    n = x.size
    F = rng.integers(-2, 3, (count, n)) * (rng.random((count, n)) < 0.6)
    if count > 1 and rng.random() < 0.3:
        F[-1] = F[0]
    g = rng.integers(-3, 4, count)
    return F @ x - g, [(_terms(row), Fraction(-int(b))) for row, b in zip(F, g, strict=True)]


def linear(rng: Rng, x: Any, model: Model) -> tuple[Any, Parts]:
    """Half of the time costs that the rows of the set bound below."""
    n = x.size
    c = rng.integers(-2, 3, n)
    own = [terms for terms, _ in model.below if max(terms, default=n) < n]
    if rng.random() < 0.6 and own:
        c = np.zeros(n)
        for i in rng.integers(0, len(own), 2):
            for j, entry in own[i].items():
                c[j] -= float(entry)
    constant = int(rng.integers(-5, 6))
    return c @ x + constant, Parts(_terms(c), Fraction(constant))


def absolute(rng: Rng, x: Any, model: Model) -> tuple[Any, Parts]:
    expression, rows = _affine(rng, x, int(rng.integers(2, 5)))
    costs: Terms = {model.above([(a, b), (_negative(a), -b)]): ONE for a, b in rows}
    return cp.norm1(expression), Parts(costs)


def largest(rng: Rng, x: Any, model: Model) -> tuple[Any, Parts]:
    expression, rows = _affine(rng, x, int(rng.integers(2, 5)))
    both = rng.random() < 0.6
    pieces = [*rows, *((_negative(a), -b) for a, b in rows)] if both else rows
    return (cp.norm_inf(expression) if both else cp.max(expression)), Parts({model.above(pieces): ONE})


def positive(rng: Rng, x: Any, model: Model) -> tuple[Any, Parts]:
    expression, rows = _affine(rng, x, int(rng.integers(1, 4)))
    zero: tuple[Terms, Fraction] = ({}, ZERO)
    return cp.sum(cp.pos(expression)), Parts({model.above([row, zero]): ONE for row in rows})


def squares(rng: Rng, x: Any, model: Model) -> tuple[Any, Parts]:
    expression, rows = _affine(rng, x, int(rng.integers(1, 4)))
    two = Fraction(2)
    return cp.sum_squares(expression), Parts({}, ZERO, tuple((a, -b, two) for a, b in rows))


def distance(rng: Rng, x: Any, model: Model) -> tuple[Any, Parts]:
    center = rng.integers(-3, 4, x.size)
    rows = tuple(({j: ONE}, Fraction(int(c)), ONE) for j, c in enumerate(center))
    return 0.5 * cp.sum_squares(x - center), Parts({}, ZERO, rows)


def form(rng: Rng, x: Any, model: Model) -> tuple[Any, Parts]:
    """x'Qx with a Q of low rank, and a linear term in its range."""
    F = rng.integers(-2, 3, (int(rng.integers(1, 3)), x.size))
    c = F.T @ rng.integers(-2, 3, len(F))
    rows = tuple((_terms(row), ZERO, Fraction(2)) for row in F)
    return cp.quad_form(x, (F.T @ F).astype(float), assume_PSD=True) + c @ x, Parts(_terms(c), ZERO, rows)


def mixed(rng: Rng, x: Any, model: Model) -> tuple[Any, Parts]:
    """A piecewise linear and a quadratic part."""
    (e, p), (f, q) = absolute(rng, x, model), squares(rng, x, model)
    return 2 * e + f, Parts({j: 2 * c for j, c in p.linear.items()}, p.constant, q.squares)


KINDS: dict[str, Callable[[Rng, Any, Model], tuple[Any, Parts]]] = {
    one.__name__: one for one in (linear, absolute, largest, positive, squares, distance, form, mixed)
}


def hierarchy(seed: int) -> Hierarchy:
    """Two to four levels in three to six variables, some free, some bounded, some of a sign, over random rows."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    point = rng.integers(-2, 3, n)
    model, constraints = Model(n), []
    if rng.random() < 0.4:
        point = np.abs(point)
        x = cp.Variable(n, nonneg=True, name="x")
        model.below += [({j: -ONE}, ZERO) for j in range(n)]
    else:
        x = cp.Variable(n, name="x")
    _bounds(rng, x, point, model, constraints)
    A = rng.integers(-2, 3, (int(rng.integers(1, 5)), n))
    b = A @ point + rng.integers(0, 4, len(A))
    constraints.append(A @ x <= b)
    model.below += [(_terms(row), Fraction(int(end))) for row, end in zip(A, b, strict=True)]
    if rng.random() < 0.5:
        row = rng.integers(-1, 2, n)
        constraints.append(row @ x == int(row @ point))
        model.equal.append((_terms(row), Fraction(int(row @ point))))
    if rng.random() < 0.4:
        _ball(rng, x, point, model, constraints)
    names = [str(name) for name in rng.choice(list(KINDS), int(rng.integers(2, 5)))]
    made = [KINDS[name](rng, x, model) for name in names]
    objectives = [cp.Minimize(e) if rng.random() < 0.6 else cp.Maximize(-e) for e, _ in made]
    levels = [parts.quadratic(model.dim) for _, parts in made]
    return Hierarchy(x, objectives, constraints, model.polyhedron(), levels, names)


def _bounds(rng: Rng, x: Any, point: np.ndarray, model: Model, constraints: list[Any]) -> None:
    """Upper bounds on some variables, lower ones on some, with coefficients 1 and 3."""
    for sign in (1, -1):
        some = np.flatnonzero(rng.random(x.size) < 0.5)
        if some.size:
            scale, room = int(rng.choice([1, 3])), rng.integers(0, 4, some.size)
            end = scale * (sign * point[some] + room)
            constraints.append(sign * scale * x[some] <= end)
            entry = Fraction(sign * scale)
            model.below += [({int(j): entry}, Fraction(int(e))) for j, e in zip(some, end, strict=True)]


def _ball(rng: Rng, x: Any, point: np.ndarray, model: Model, constraints: list[Any]) -> None:
    """A constraint that CVXPY lifts: a 1-norm or a largest entry."""
    if rng.random() < 0.5:
        radius = int(np.abs(point).sum() + rng.integers(0, 4))
        constraints.append(cp.norm1(x) <= radius)
        sizes = [model.above([({j: ONE}, ZERO), ({j: -ONE}, ZERO)]) for j in range(x.size)]
        model.below.append((dict.fromkeys(sizes, ONE), Fraction(radius)))
    else:
        radius = int(np.abs(point).max() + rng.integers(0, 4))
        constraints.append(cp.norm_inf(x) <= radius)
        model.below += [({j: s}, Fraction(radius)) for j in range(x.size) for s in (ONE, -ONE)]
