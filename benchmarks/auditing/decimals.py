"""Decimal numbers, as people type them: products and sums round, so that ties and rows through a point are near misses.

The truth is that of the stored doubles all the same. Bounds are powers of ten up to 1e12, columns nearly equal down to
1e-12, multipliers as small as 1e-17, edges as short as 1e-13.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .random_parts import Rng, pick
from .recipes import Case, Recipe, recipe

ALIKE = (0.1 + 0.2, 0.3, 0.7 - 0.4, 0.1 * 3, 1 - 0.7, 0.8 - 0.5)
"""Three tenths, on different ways."""


def decimals(rng: Rng) -> Case:
    """Two to four levels."""
    lower, domain, point = pick(rng, [programme, programme, transport, collinear, tilted, alike, short])(rng)
    levels = (lower, *(some_level(rng, point) for _ in range(int(pick(rng, [1, 1, 1, 2, 3])))))
    method = "lexicographic" if len(levels) > 2 else pick(rng, ["exact", "auto", "lexicographic"])
    return Case("decimals", levels, domain, point.size, method=method, tol=pick(rng, (1e-4, 1e-6, 1e-8)))


def rounded(rng: Rng, *shape: int, most: float = 3.0) -> np.ndarray:
    """Numbers with up to three decimals."""
    return np.round(rng.uniform(-most, most, shape), int(rng.integers(0, 4))) + 0.0


def ten(rng: Rng, least: int, most: int) -> float:
    return float(10.0 ** int(rng.integers(least, most + 1)))


def some_level(rng: Rng, point: np.ndarray, kinds: Any = ("line", "norm", "squares", "squares", "sum", "l1")) -> Recipe:
    n, kind = point.size, pick(rng, kinds)
    if kind == "line":
        return recipe("Linear", c=rounded(rng, n) if rng.random() < 0.5 else rng.choice([*ALIKE, -0.7, 0.0], n))
    if kind == "norm":
        return recipe("SquaredNorm", center=point + rounded(rng, n, most=1.0))
    if kind == "l1":
        return recipe("L1Norm", weights=np.round(rng.uniform(0.1, 2.0, n), 1))
    if kind == "sum":
        rest = recipe("Linear", c=ten(rng, -3, 1) * rounded(rng, n))
        return recipe("+", parts=[some_level(rng, point, ["squares"]), rest])
    A = some_rows(rng, int(rng.integers(1, n + 3)), n)
    b = A @ point + (rounded(rng, len(A), most=1.0) if rng.random() < 0.4 else 0.0)
    return recipe("LeastSquares", A=A, b=b, scale=pick(rng, [None, None, 0.3]))


def some_rows(rng: Rng, count: int, n: int) -> np.ndarray:
    A = rounded(rng, count, n)
    A[~A.any(axis=1), 0] = 1.0
    return A


def programme(rng: Rng) -> tuple[Recipe, Recipe, np.ndarray]:
    """Rows through or near a point of size one, bounds up to 1e12, costs that are sums of some of the tight rows."""
    n = int(rng.integers(2, 6))
    point = np.round(rng.uniform(0, 2, n), 1) * (rng.random(n) < 0.7)
    rows = some_rows(rng, int(rng.integers(1, n + 4)), n)
    slack = np.where(rng.random(len(rows)) < 0.5, 0.0, np.round(rng.uniform(0.1, 3, len(rows)), 1))
    span, wide = ten(rng, 0, 12), rng.random(n) < pick(rng, [0.5, 1.0])
    low = np.where(wide, -span * pick(rng, [0.0, 1.0]), np.minimum(np.floor(point), 0.0))
    bounds = list(zip(low.tolist(), np.where(wide, span + 2.0, np.floor(point) + 2.0).tolist(), strict=True))
    domain = recipe("Polyhedron", A_ub=rows, b_ub=rows @ point + slack, bounds=bounds)
    prices = np.round(rng.uniform(0, 2, len(rows)), 1) * (slack == 0) * (rng.random(len(rows)) < 0.6)
    if not prices.any() or rng.random() < 0.3:
        return some_level(rng, point, ["squares", "sum", "norm"]), domain, point
    return recipe("Linear", c=-prices @ rows), domain, point


def transport(rng: Rng) -> tuple[Recipe, Recipe, np.ndarray]:
    """Supplies and demands, with or without anything to spare, under bounds up to 1e12."""
    m, k = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    flow = rng.integers(0, 5, (m, k)) * pick(rng, [1.0, 0.1, 0.3])
    rows = [(np.arange(m * k) // k == i).astype(float) for i in range(m)]
    rows += [-(np.arange(m * k) % k == j).astype(float) for j in range(k)]
    right = np.concatenate([flow.sum(axis=1) + pick(rng, [0.0, 1.0]), -flow.sum(axis=0)])
    domain = recipe("Polyhedron", A_ub=np.array(rows), b_ub=right, bounds=[(0.0, 20.0 * ten(rng, 0, 11))] * (m * k))
    return recipe("Linear", c=rng.integers(1, 5, m * k) * pick(rng, [1.0, 0.1, 0.3])), domain, flow.ravel()


def some_domain(rng: Rng, n: int) -> tuple[Recipe, np.ndarray]:
    kind, first = pick(rng, ["Box", "Simplex", "SimplexRows", "L1Ball", "KSparse", "Product"]), np.eye(n)[0]
    if kind == "Box":
        low = np.round(rng.uniform(-2, 0, n), 1)
        return recipe("Box", lower=low, upper=low + pick(rng, [0.7, 10.0, 1e6])), low
    if kind == "Simplex":
        return recipe("Simplex", total=1.0), first
    if kind == "SimplexRows":
        bounds = [(0.0, ten(rng, 0, 8))] * n
        return recipe("Polyhedron", A_eq=np.ones((1, n)), b_eq=np.ones(1), bounds=bounds), first
    if kind == "L1Ball":
        weights = np.round(rng.uniform(0.1, 2, n), 1) if rng.random() < 0.4 else None
        return recipe("L1Ball", radius=pick(rng, [1.0, 0.3, 2.5]), weights=weights), 0.0 * first
    if kind == "KSparse" or n < 3:
        return recipe("KSparse", k=int(rng.integers(1, n + 1)), radius=pick(rng, [1.0, 0.3, 2.5])), 0.0 * first
    one, two = recipe("Simplex", total=1.0), recipe("L1Ball", radius=0.7)
    return recipe("Product", blocks={"u": (one, (2,)), "v": (two, (n - 2,))}), first


def collinear(rng: Rng) -> tuple[Recipe, Recipe, np.ndarray]:
    """Least squares with columns that are nearly equal, or in units that differ by up to 1e6."""
    n = int(rng.integers(2, 6))
    domain, point = some_domain(rng, n)
    A = some_rows(rng, int(rng.integers(2, n + 3)), n)
    i, j = rng.permutation(n)[:2]
    if domain.kind == "Box" and rng.random() < 0.3:
        A[:, i] *= ten(rng, -6, 6)
    else:
        A[:, j] = pick(rng, [1.0, -1.0, 2.0]) * A[:, i] + ten(rng, -12, -3) * rounded(rng, len(A), most=1.0)
    A[~A.any(axis=1), 0] = 1.0
    b = A @ point + (rounded(rng, len(A), most=1.0) if rng.random() < 0.4 else 0.0)
    return recipe("LeastSquares", A=A, b=b), domain, point


def tilted(rng: Rng) -> tuple[Recipe, Recipe, np.ndarray]:
    """Least squares and a linear function of size 1e-17 to 1e-4: its multipliers are as small."""
    n = int(rng.integers(2, 6))
    domain, point = some_domain(rng, n)
    tilt = recipe("Linear", c=ten(rng, -17, -4) * np.round(rng.uniform(-1, 1, n), 1))
    return recipe("+", parts=[some_level(rng, point, ["squares"]), tilt]), domain, point


def alike(rng: Rng) -> tuple[Recipe, Recipe, np.ndarray]:
    """Costs some of which are meant to be equal."""
    n = int(rng.integers(2, 7))
    domain, point = some_domain(rng, n)
    costs = rng.choice([*ALIKE, *pick(rng, [(), (0.4, -0.3, 0.0)])], n) * pick(rng, [1.0, -1.0, 10.0, 1e-3])
    return recipe("Linear", c=costs), domain, point


def short(rng: Rng) -> tuple[Recipe, Recipe, np.ndarray]:
    """A corner cut off by a short edge, or a narrow box, beside bounds of up to 1e12."""
    n = int(rng.integers(2, 5))
    edge, far = ten(rng, -13, -1) * pick(rng, [1.0, 1.4]), ten(rng, 0, 12)
    if rng.random() < 0.5:
        rows = np.vstack([np.eye(n), np.full((1, n), pick(rng, [1.0, 0.3]))])
        right = np.append(np.ones(n), rows[-1, 0] * (n - edge))
        domain = recipe("Polyhedron", A_ub=rows, b_ub=right, bounds=[(pick(rng, [0.0, -far]), far)] * n)
        return recipe("Linear", c=-rows[-1] * pick(rng, [1.0, 0.7])), domain, np.ones(n)
    low = np.round(rng.uniform(-2, 2, n), 1)
    domain = recipe("Box", lower=low, upper=low + np.where(rng.random(n) < 0.5, edge, far))
    lower = some_level(rng, low, ["line", "squares"])
    return lower if lower.kind != "Linear" or lower.args["c"].any() else some_level(rng, low, ["norm"]), domain, low
