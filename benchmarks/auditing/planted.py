"""Chains too large for rational pivoting: a point is planted with the multipliers of all its levels.

With -grad f_k(x) = A'y_k + z_k + sum over earlier levels j of P_j'w_kj, y_k and z_k of the right signs but where an
earlier level has fixed a row or a variable, x solves level k among the solutions of those before. All numbers are small
multiples of a power of two, so that this holds exactly for the data as stored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .random_parts import Rng, integers, pick, power
from .recipes import Case, Recipe, exactly, recipe


class Place(NamedTuple):
    """The set, the point, and the rows that are tight there: those of the set, then of variables at their bounds."""

    domain: Recipe
    x: np.ndarray
    normals: np.ndarray
    free: np.ndarray  # whose multiplier may have any sign


def planted(rng: Rng) -> Case:
    n = int(rng.integers(6, 41))
    place = _place(rng, n)
    levels: list[Recipe] = []
    normals, free = place.normals, place.free.copy()
    images = np.zeros((0, n))
    for _ in range(pick(rng, [2, 2, 3, 4])):
        push = rng.integers(0, 3, len(normals)) * (rng.random(len(normals)) < pick(rng, [0.1, 0.5])).astype(float)
        push = np.where(free & (rng.random(len(normals)) < 0.5), -push, push)
        pull = push @ normals + integers(rng, len(images), most=1) @ images
        objective, P = _level(rng, place.x, pull)
        levels.append(objective)
        free |= push != 0
        images = np.vstack([images, P])
    method = "lexicographic" if len(levels) > 2 else pick(rng, ["exact", "auto", "lexicographic"])
    tol = pick(rng, (1e-4, 1e-6, 1e-8))
    return Case("planted", tuple(levels), place.domain, n, method=method, tol=tol, planted=exactly(place.x))


def _place(rng: Rng, n: int) -> Place:
    """Rows of few entries, some of them repeated, most of them degenerate; bounds that are far, near, or absent."""
    x = np.where(rng.random(n) < 0.5, 0.0, integers(rng, n, most=4) / 2)
    rows = integers(rng, int(rng.integers(1, n + 5)), n, most=2) * (rng.random((1, n)) < pick(rng, [0.3, 1.0]))
    if rng.random() < 0.5:  # columns that are equal, or nearly
        rows[:, -1] = rows[:, 0] + pick(rng, [0.0, 0.0, 2.0**-20, 2.0**-30]) * integers(rng, len(rows), most=1)
    rows = np.vstack([rows, rows[:1]]) if rng.random() < 0.3 else rows
    equal = rows[:1] if rng.random() < 0.3 else rows[:0]
    below = rows[len(equal) :]
    gaps = np.where(rng.random(len(below)) < 0.6, 0.0, rng.integers(1, 6, len(below)).astype(float))
    far = pick(rng, [power(rng, 0, 40), np.inf])
    at = rng.integers(0, 4, n)  # at the lower end, at the upper end, between them, the point alone
    at = np.where((at == 3) & (rng.random(n) < 0.7), 2, at)
    low = np.where((at == 0) | (at == 3), x, x - far)
    high = np.where((at == 1) | (at == 3), x, x + far)
    at = np.where(low == high, 3, at)  # far may be too small to be seen beside x, or zero
    unit = np.eye(n)
    tight = [equal, below[gaps == 0], -unit[low == x], unit[high == x]]
    free = np.concatenate([np.full(len(part), k == 0) for k, part in enumerate(tight)])
    pairs = [
        (None if np.isinf(a) else float(a), None if np.isinf(b) else float(b)) for a, b in zip(low, high, strict=True)
    ]
    args = {"A_ub": below, "b_ub": below @ x + gaps} if len(below) else {}
    args |= {"A_eq": equal, "b_eq": equal @ x} if len(equal) else {}
    return Place(recipe("Polyhedron", **args, bounds=pairs), x, np.vstack(tight), free)


def _level(rng: Rng, x: np.ndarray, pull: np.ndarray) -> tuple[Recipe, np.ndarray]:
    """An objective with -grad f(x) = pull, and the rows whose images all its minimisers share."""
    n = x.size
    kind = pick(rng, ["linear", "linear", "norm", "squares", "squares", "quadratic"])
    if kind == "linear" and pull.any():
        return recipe("Linear", c=-pull), np.zeros((0, n))
    if kind in ("linear", "norm"):
        return recipe("SquaredNorm", center=x + pull), np.eye(n)
    M = integers(rng, int(rng.integers(1, pick(rng, [3, n, n + 5]))), n, most=2)
    if kind == "quadratic":
        Q = M.T @ M
        return recipe("Quadratic", Q=Q, q=-(Q @ x) - pull), M
    M[:, 1] = M[:, 0] + pick(rng, [1.0, 1.0, 2.0**-15, 2.0**-25]) * integers(rng, len(M), most=1)
    residual = integers(rng, len(M), most=1) * pick(rng, [0.0, 1.0])
    squares = recipe("LeastSquares", A=M, b=M @ x + residual)
    tilt = -pull + residual @ M
    return (recipe("+", parts=[squares, recipe("Linear", c=tilt)]) if tilt.any() else squares), M
