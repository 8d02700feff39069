"""Newton's method on the dual of a quadratic programme with a diagonal Hessian, for few rows and any number of columns.

    theta(y) = min { 1/2 <v, h v> + <c, v> - <y, G v - b> : lower <= v <= upper }

is concave with the gradient b - G v(y), where v(y) = clip((G'y - c) / h), and a generalised Hessian made of the columns
strictly between their bounds. A step costs one Gram matrix of the rows, and a handful of them end at the solution:
the function is piecewise quadratic. Li, Sun and Toh, Mathematical Programming 179, 2020.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..arrays import Matrix, Vector
from .conjugate import conjugate_gradients
from .csr import absolute, columns_times, turned
from .csr import part as part_of
from .deadline import afford, check
from .extended import is_sparse

STEPS = 20
FIRST_STEPS = 3
STAGES = {1e-1: STEPS, 1e-2: STEPS, 1e-4: STEPS, 1e-6: 2 * FIRST_STEPS}
"""The curvature of columns that have none, stage by stage, relative to the largest, and how many steps are worth it."""
SHORTEST = 1e-6
"""Steps shorter than this, relative to Newton's, end the search."""
SMALL = 1e-11
"""The residual of the rows, relative to the sizes that cancel in it, at which the search ends."""
FEW_ROWS = 600
"""Up to this many rows their Gram matrix is factorised at once; beyond, products of sparse ones are tried before."""
CLOSE = 1e-10
"""How well conjugate gradients solve for a step."""
PROXIMAL = 1e-7
"""The curvature given to directions without any, relative to the largest: the polish takes its trace away."""


class Diagonal(NamedTuple):
    """min 1/2 <v, h v> + <c, v> subject to G v = b, lower <= v <= upper, with h > 0."""

    h: Vector
    c: Vector
    G: Matrix
    b: Vector
    lower: Vector
    upper: Vector

    def point(self, y: Vector) -> tuple[Vector, NDArray[np.bool_]]:
        """v(y), and which of its entries the bounds do not hold: at a kink, both answers would do."""
        free = (_transpose(self.G) @ y - self.c) / self.h
        v = np.clip(free, self.lower, self.upper)
        return v, v == free

    def theta(self, y: Vector, v: Vector, short: Vector) -> float:
        """The dual function, for v = v(y) and short = b - G v."""
        return float(v @ (0.5 * self.h * v + self.c) + y @ short)


def with_slack_columns(
    h: Vector, c: Vector, G: Matrix, low: Vector, high: Vector, lower: Vector, upper: Vector
) -> Diagonal:
    """low <= G v <= high as equations: rows with two different ends get a column of their own."""
    ranged = np.flatnonzero(low < high)
    floor = PROXIMAL * (float(h.max(initial=0.0)) or 1.0)
    b = np.where(low < high, 0.0, low)
    if ranged.size:
        more = sp.csr_array((-np.ones(ranged.size), (ranged, np.arange(ranged.size))), shape=(low.size, ranged.size))
        G = sp.csr_array(sp.hstack([sp.csr_array(G), more])) if is_sparse(G) else np.hstack([G, more.toarray()])
    zero = np.zeros(ranged.size)
    return Diagonal(
        np.maximum(np.append(h, zero), floor),
        np.append(c, zero),
        G,
        b,
        np.append(lower, low[ranged]),
        np.append(upper, high[ranged]),
    )


def maximise_by_stages(problem: Diagonal, flat: NDArray[np.bool_]) -> tuple[Vector, Vector] | None:
    """The same where ``flat`` columns have no curvature of their own: at once, or else with less and less of it.

    Each stage adds it around the point of the one before (Rockafellar 1976), so that its trace fades with the steps.
    """
    if not flat.any() or (found := maximise(problem, steps=FIRST_STEPS)) is not None:
        return maximise(problem) if not flat.any() else found
    largest = float(problem.h.max(initial=0.0)) or 1.0
    v, y = np.clip(np.zeros(problem.h.size), problem.lower, problem.upper), None
    for part, steps in STAGES.items():
        h = np.where(flat, part * largest, problem.h)
        stage = problem._replace(h=h, c=problem.c - np.where(flat, h * v, 0.0))
        if (found := maximise(stage, y, steps)) is None:
            break
        v, y = found
    return None if y is None else (v, y)


def maximise(problem: Diagonal, y: Vector | None = None, steps: int = STEPS) -> tuple[Vector, Vector] | None:
    """v and the multipliers y of the rows, from those given or as if there were no bounds; None without an end."""
    h, G, b = problem.h, problem.G, problem.b
    size = absolute(G) if is_sparse(G) else np.abs(G)
    if y is None:
        y = _solved(G, np.arange(h.size), h, b + G @ (problem.c / h))
    v, free = problem.point(y)
    short = b - G @ v
    value = problem.theta(y, v, short)
    for _ in range(steps):
        check()
        rounding = 4e-16 * (np.abs(problem.c) + _transpose(size) @ np.abs(y)) / h  # of v(y)
        if (np.abs(short) <= SMALL * (1 + np.abs(b)) + size @ (SMALL * np.abs(v) + rounding)).all():
            return v, y
        step = _solved(G, np.flatnonzero(free), h, short)
        slope, length = float(short @ step), 1.0
        while True:
            trial = y + length * step
            at, free = problem.point(trial)
            missing = b - G @ at
            there = problem.theta(trial, at, missing)
            if there >= value + 1e-4 * length * slope or length < SHORTEST:
                break
            length /= 2
        if length < SHORTEST:
            return None
        y, v, short, value = trial, at, missing, there
    return None


def _solved(G: Matrix, inside: NDArray[np.intp], h: Vector, right: Vector) -> Vector:
    """The solution of G H^-1 G' y = right over the columns inside, slightly regularised: rows may be dependent."""
    from scipy.linalg import cho_factor, cho_solve

    weight = 1 / h[inside]
    if is_sparse(G):
        part = part_of(G, np.arange(G.shape[0]), inside)
        if part.shape[0] > FEW_ROWS and (step := _by_products(part, weight, right)) is not None:
            return step
        gram = (columns_times(part, weight) @ turned(part)).toarray()
    else:
        part = G[:, inside]
        afford(0.25 * part.shape[0] ** 2 * part.shape[1])  # a product of matrices is the fastest of all
        half = part * np.sqrt(weight)
        gram = half @ half.T
    diagonal = gram.diagonal()
    largest = float(diagonal.max(initial=0.0)) or 1 / float(h.min())
    gram[np.diag_indices_from(gram)] += largest * np.where(diagonal > 0, 1e-12, 1e-6)
    return np.asarray(cho_solve(cho_factor(gram, lower=True), right))


def _transpose(G: Matrix) -> Matrix:
    return turned(G) if is_sparse(G) else G.T


def _by_products(part: Matrix, weight: Vector, right: Vector) -> Vector | None:
    """The same by conjugate gradients; None where they do not end soon."""
    back = sp.csr_array(part.T)
    diagonal = np.asarray((part * part) @ weight)
    if (diagonal == 0).any():
        return None

    def times(y: Vector) -> Vector:
        return np.asarray(part @ (weight * (back @ y))) + 1e-12 * diagonal * y

    step, done = conjugate_gradients(times, right, diagonal, tolerance=CLOSE, most=part.shape[0] // 4)
    return step if done else None
