"""Degenerate linear programs: Klee-Minty, cycling, transport, dependent, zero and repeated rows, fixed variables."""

from __future__ import annotations

import numpy as np

from .random_parts import PLAIN, Rng, integers, pick, some_objective
from .recipes import Case, Recipe, recipe


def degenerate(rng: Rng) -> Case:
    lower, domain, n = pick(rng, [klee_minty, cycling, transport, dependent, empty_rows])(rng)
    levels = [lower, some_objective(rng, n, np.zeros(n), PLAIN)]
    method = pick(rng, ["exact", "auto", "lexicographic"])
    if rng.random() < 0.3:
        levels.append(some_objective(rng, n, np.zeros(n), PLAIN))
        method = "lexicographic"
    return Case("degenerate", tuple(levels), domain, n, method=method, tol=pick(rng, (1e-4, 1e-6, 1e-8)))


def klee_minty(rng: Rng) -> tuple[Recipe, Recipe, int]:
    """max sum 2^(n-j) x_j with 2 sum_{j<i} 2^(i-j) x_j + x_i <= 5^i: the simplex method's worst case."""
    n = int(rng.integers(2, 7))
    A = np.array([[2.0 ** (i - j + 1) if j < i else float(i == j) for j in range(n)] for i in range(n)])
    b = 5.0 ** np.arange(1, n + 1)
    c = -(2.0 ** np.arange(n - 1, -1, -1))
    return recipe("Linear", c=c), recipe("Polyhedron", A_ub=A, b_ub=b, bounds=[(0.0, float(b[-1]))] * n), n


def cycling(rng: Rng) -> tuple[Recipe, Recipe, int]:
    """Beale's example: the textbook simplex rule goes round in circles."""
    A = np.array([[0.25, -60.0, -0.04, 9.0], [0.5, -90.0, -0.02, 3.0], [0.0, 0.0, 1.0, 0.0]])
    c = np.array([-0.75, 150.0, -0.02, 6.0])
    order = rng.permutation(4)
    domain = recipe("Polyhedron", A_ub=A[:, order], b_ub=np.array([0.0, 0.0, 1.0]), bounds=[(0.0, 100.0)] * 4)
    return recipe("Linear", c=c[order]), domain, 4


def transport(rng: Rng) -> tuple[Recipe, Recipe, int]:
    """Supplies and demands that are met exactly: one equation follows from the others; partial sums tie."""
    m, k = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    flow = rng.integers(0, 3, (m, k)).astype(float)
    rows = [(np.arange(m * k) // k == i).astype(float) for i in range(m)]
    rows += [(np.arange(m * k) % k == j).astype(float) for j in range(k)]
    right = np.concatenate([flow.sum(axis=1), flow.sum(axis=0)])
    most = max(1.0, float(right.max()))
    domain = recipe("Polyhedron", A_eq=np.array(rows), b_eq=right, bounds=[(0.0, most)] * (m * k))
    return recipe("Linear", c=rng.integers(0, 3, m * k).astype(float)), domain, m * k


def dependent(rng: Rng) -> tuple[Recipe, Recipe, int]:
    """Rows that repeat, sum up, are multiples of others; variables whose bounds are equal; doubled columns."""
    n = int(rng.integers(2, 6))
    point = integers(rng, n, most=2)
    rows = integers(rng, 2, n, most=2)
    rows[~rows.any(axis=1), 0] = 1.0
    below = np.vstack([rows, rows[:1], rows.sum(axis=0, keepdims=True), 4 * rows[1:]])
    equal = integers(rng, 1, n, most=1)
    equal[0, 0] = 1.0
    equal = np.vstack([equal, -2 * equal])
    if rng.random() < 0.5:
        below[:, -1], equal[:, -1] = below[:, 0], equal[:, 0]
    fixed = rng.random(n) < 0.3
    bounds = [(float(p), float(p)) if f else (float(p) - 1, float(p) + 2) for p, f in zip(point, fixed, strict=True)]
    domain = recipe("Polyhedron", A_ub=below, b_ub=below @ point, A_eq=equal, b_eq=equal @ point, bounds=bounds)
    return recipe("Linear", c=-rng.integers(0, 2, len(below)) @ below + 0.0), domain, n


def empty_rows(rng: Rng) -> tuple[Recipe, Recipe, int]:
    """Rows without a nonzero beside a box; constant costs."""
    n = int(rng.integers(1, 5))
    A = np.zeros((int(rng.integers(1, 3)), n))
    if rng.random() < 0.5:
        A = np.vstack([A, integers(rng, 1, n, most=1)])
    args = {"A_ub": A, "b_ub": np.abs(A).sum(axis=1) + rng.integers(0, 2, len(A))}
    if rng.random() < 0.3:
        args |= {"A_eq": np.zeros((1, n)), "b_eq": np.zeros(1)}
    domain = recipe("Polyhedron", **args, bounds=[(-1.0, float(rng.integers(1, 3)))] * n)
    return recipe("Linear", c=integers(rng, n, most=1)), domain, n
