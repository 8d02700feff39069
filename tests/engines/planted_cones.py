"""Chains over cones with planted solutions: all data are whole numbers, so that the optimal values are known exactly.

At a point x the slacks s are put on faces of the cones. Each level gets multipliers: of the first level on the exposed
side of s, of later ones anywhere where the face of those before does not reach, and prices of the images before. Its
linear term is what makes the optimality conditions hold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import tiebreak as tb

TRIPLES = [(3, (1, 2, 2)), (7, (2, 3, 6)), (9, (1, 4, 8)), (5, (3, 4)), (11, (2, 6, 9)), (13, (12, 5))]


@dataclass
class Planted:
    """A chain, its domain, a solution and the optimal values; the data of cones and levels."""

    levels: list
    domain: tb.Cone
    x: np.ndarray
    values: list[float]
    kinds: list
    A: np.ndarray
    b: np.ndarray
    matrices: list
    slopes: list


def unimodular(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A matrix of whole numbers whose inverse is one too, and that."""
    U, V = np.eye(n), np.eye(n)
    for _ in range(n):
        i, j = rng.choice(n, 2, replace=False) if n > 1 else (0, 0)
        if i != j:
            step = float(rng.choice([-1, 1]))
            U[:, j] += step * U[:, i]
            V[i] -= step * V[j]
    return U, V


def packed(S: np.ndarray, dual: bool = False) -> np.ndarray:
    """The upper triangle, column by column; of a multiplier, what is off the diagonal counts twice."""
    return np.array(
        [S[i, j] * (2.0 if dual and i != j else 1.0) for j in range(len(S)) for i in range(j + 1)], dtype=float
    )


def block(rng: np.random.Generator, kind: str, levels: int):
    """Size, slack, and a multiplier for each level."""
    if kind == "nonnegative":
        n = int(rng.integers(3, 7))
        first = rng.integers(0, levels + 1, n)  # the level whose multiplier holds it; the last: none
        s = np.where(first == levels, rng.integers(1, 6, n), 0).astype(float)
        z = [
            np.where(first == k, rng.integers(1, 5, n), np.where(first < k, rng.integers(-4, 5, n), 0)).astype(float)
            for k in range(levels)
        ]
        return n, n, s, z
    if kind == "second-order":
        radius, tail = TRIPLES[rng.integers(len(TRIPLES))]
        tail = np.array(tail, dtype=float) * rng.choice([-1, 1], len(tail))
        n, first = 1 + tail.size, int(rng.integers(0, levels + 1))
        s = np.r_[float(radius + (1 if first == levels else 0)), tail]
        ray = np.r_[float(radius), -tail]
        z = []
        for k in range(levels):
            free = np.r_[0.0, rng.integers(-3, 4, tail.size).astype(float)]
            free[0] = -free[1:] @ tail / radius  # at right angles to s: any such one once the ray is held
            whole = radius * free
            z.append(ray * float(rng.integers(1, 3)) if k == first else whole if k > first else 0 * ray)
        return n, n, s, z
    order = int(rng.integers(2, 5))
    U, V = unimodular(rng, order)
    first = rng.integers(0, levels + 1, order)
    first[0] = levels
    S = U @ np.diag(np.where(first == levels, rng.integers(1, 4, order), 0).astype(float)) @ U.T
    z = []
    for k in range(levels):
        Y = np.diag(np.where(first == k, rng.integers(1, 4, order), 0).astype(float))
        held = first < k
        free = rng.integers(-2, 3, (order, order)).astype(float)
        free = free + free.T
        free[np.ix_(~held, ~held)] = 0.0
        on = first == levels
        Y = Y + free * (held[:, None] | held[None, :])
        Y[np.ix_(on, on)] = 0.0
        z.append(packed(V.T @ Y @ V, dual=True))
    return order, packed(S).size, packed(S), z


def planted(
    rng: np.random.Generator, kinds: tuple[str, ...], count: int, bounded: bool, curved: bool, more: int | None = None
) -> Planted:
    """A chain of ``count`` levels over cones of these kinds, with some quadratic levels where ``curved``.

    ``more`` is how many more variables than rows there are, but for those that bound the set.
    """
    names, slacks, multipliers = [], [], []
    for kind in kinds:
        size, _, s, z = block(rng, kind, count)
        names.append((kind, size))
        slacks.append(s)
        multipliers.append(z)
    rows = sum(s.size for s in slacks)
    n = int(rng.integers(max(3, rows // 2), rows + 3)) if more is None else rows + more
    A = rng.integers(-2, 3, (rows, n)).astype(float)
    x = rng.integers(-2, 3, n).astype(float)
    s = np.concatenate(slacks)
    if bounded:
        names.append(("second-order", n + 1))
        A = np.vstack([A, np.zeros(n), -np.eye(n)])
        s = np.r_[s, 50.0, x]
        multipliers.append([np.zeros(n + 1)] * count)
    if rng.random() < 0.4:
        names.append(("zero", 1))
        A = np.vstack([A, rng.integers(-2, 3, n)])
        s = np.r_[s, 0.0]
        multipliers.append([rng.integers(-3, 4, 1).astype(float) for _ in range(count)])
    b = s + A @ x
    levels, values, matrices, slopes = [], [], [], []
    images = np.zeros((0, n))
    for k in range(count):
        rank = int(rng.integers(1, max(2, n // 2))) if curved and rng.random() < 0.6 else 0
        B = rng.integers(-2, 3, (rank, n)).astype(float)
        z = np.concatenate([parts[k] for parts in multipliers])
        q = -(B.T @ (B @ x)) - A.T @ z - images.T @ rng.integers(-2, 3, len(images))
        square = tb.LeastSquares(B, np.zeros(rank)) if rank else None
        level = tb.Linear(q) if square is None else square + tb.Linear(q) if q.any() else square
        levels.append(level)
        values.append(float(0.5 * (B @ x) @ (B @ x) + q @ x))
        matrices.append(B)
        slopes.append(q)
        images = np.vstack([images, B])
    return Planted(levels, tb.Cone(A, b, names), x, values, names, A, b, matrices, slopes)
