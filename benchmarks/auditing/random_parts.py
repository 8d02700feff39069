"""Random objectives and sets of small integers and dyadic fractions: ties among them are exact, and so are products."""

from __future__ import annotations

from typing import Any

import numpy as np

from .recipes import Recipe, recipe

Rng = np.random.Generator


def integers(rng: Rng, *shape: int, most: int = 3) -> np.ndarray:
    return rng.integers(-most, most + 1, shape).astype(float)


def pick(rng: Rng, options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


def power(rng: Rng, least: int, most: int) -> float:
    return 2.0 ** int(rng.integers(least, most + 1))


# -- sets: each with a point inside it -------------------------------------------------------------------------


def box(rng: Rng, n: int) -> tuple[Recipe, np.ndarray]:
    low = integers(rng, n, most=2)
    high = low + rng.integers(0 if n > 1 else 1, 4, n)
    high[0] = low[0] + 1
    return recipe("Box", lower=low, upper=high), (low + high) / 2


def simplex(rng: Rng, n: int) -> tuple[Recipe, np.ndarray]:
    total = power(rng, -2, 2)
    point = np.zeros(n)
    point[:2] = total / 2
    return recipe("Simplex", total=total), rng.permutation(point)


def l1_ball(rng: Rng, n: int) -> tuple[Recipe, np.ndarray]:
    radius = power(rng, -1, 2)
    weights = 2.0 ** rng.integers(-2, 3, n) if rng.random() < 0.3 else None
    point = np.zeros(n)
    point[int(rng.integers(n))] = radius / 4 * pick(rng, [0.0, 1.0, -1.0])
    return recipe("L1Ball", radius=radius, weights=weights), point / (1 if weights is None else weights)


def k_sparse(rng: Rng, n: int) -> tuple[Recipe, np.ndarray]:
    radius = power(rng, -1, 2)
    return recipe("KSparse", k=int(rng.integers(1, n + 1)), radius=radius), np.zeros(n)


def birkhoff(rng: Rng, n: int) -> tuple[Recipe, np.ndarray]:
    size = 2 if n < 9 else 3
    mean = np.mean([np.eye(size)[rng.permutation(size)] for _ in range(2)], axis=0)
    return recipe("Birkhoff", n=size), mean.ravel()


def polytope(rng: Rng, n: int, span: float | None = None) -> tuple[Recipe, np.ndarray]:
    """Rows through or near a planted point; bounds of +-span, or ones that bind."""
    point = integers(rng, n, most=4) / 2
    count = int(rng.integers(1, n + 3))
    rows = integers(rng, count, n)
    rows[~rows.any(axis=1), 0] = 1.0
    slack = np.where(rng.random(count) < 0.5, 0.0, rng.integers(1, 5, count) / 2)
    args: dict[str, Any] = {"A_ub": rows, "b_ub": rows @ point + slack}
    if rng.random() < 0.4:
        equal = integers(rng, 1, n, most=2)
        if equal.any():
            args |= {"A_eq": equal, "b_eq": equal @ point}
    if span is None:
        low = point - rng.integers(0, 3, n)
        bounds = [(a, b) for a, b in zip(low.tolist(), (low + rng.integers(2, 5, n)).tolist(), strict=True)]
    else:
        bounds = [(-span, span)] * n
    return recipe("Polyhedron", **args, bounds=bounds), point


def product(rng: Rng, n: int) -> tuple[Recipe, np.ndarray]:
    first, second = pick(rng, [box, simplex, l1_ball, polytope]), pick(rng, [box, simplex, k_sparse])
    (one, p), (two, q) = first(rng, 2), second(rng, n - 2)
    blocks = {"u": (one, (2,)), "v": (two, (n - 2,))}
    return recipe("Product", blocks=blocks), np.concatenate([p, q])


SETS = {
    "Box": box,
    "Simplex": simplex,
    "L1Ball": l1_ball,
    "KSparse": k_sparse,
    "Birkhoff": birkhoff,
    "Polyhedron": polytope,
    "Product": product,
}


def some_set(rng: Rng, kinds: Any = None) -> tuple[Recipe, np.ndarray, int]:
    kind = pick(rng, list(kinds or SETS))
    n = int(rng.integers(3, 6) if kind == "Product" else rng.integers(2, 6))
    if kind == "Birkhoff":
        n = pick(rng, [4, 4, 9])
    elif rng.random() < 0.1:
        n += 4
    domain, point = SETS[kind](rng, min(n, 5) if kind in ("L1Ball", "KSparse") else n)
    return domain, point, point.size


# -- objectives ------------------------------------------------------------------------------------------------


def linear(rng: Rng, n: int, point: np.ndarray) -> Recipe:
    """Few different costs, so that they tie."""
    return recipe("Linear", c=rng.choice([-1.0, 0.0, 1.0, 2.0], n))


def squared_norm(rng: Rng, n: int, point: np.ndarray) -> Recipe:
    return recipe("SquaredNorm", center=point + integers(rng, n, most=4) / 4)


def least_squares(rng: Rng, n: int, point: np.ndarray) -> Recipe:
    """Fewer rows than columns, mostly met at a point of the set."""
    A = integers(rng, int(rng.integers(1, n + 1)), n, most=2)
    b = A @ point if rng.random() < 0.6 else integers(rng, len(A))
    scale = power(rng, -3, 3) if rng.random() < 0.3 else None
    return recipe("LeastSquares", A=A, b=b, scale=scale)


def quadratic(rng: Rng, n: int, point: np.ndarray) -> Recipe:
    R = integers(rng, int(rng.integers(1, n + 1)), n, most=2)
    q = -(R.T @ R) @ point + (integers(rng, n, most=1) if rng.random() < 0.5 else 0.0)
    return recipe("Quadratic", Q=R.T @ R, q=q, c=float(rng.integers(-2, 3)))


def huber(rng: Rng, n: int, point: np.ndarray) -> Recipe:
    A = integers(rng, int(rng.integers(1, 3)), n, most=2)
    return recipe("Huber", A=A, b=A @ point + integers(rng, len(A), most=2), delta=power(rng, -2, 1))


def logistic(rng: Rng, n: int, point: np.ndarray) -> Recipe:
    """Samples in pairs of both labels, orthogonal to the point: log 2 wherever they are all zero."""
    half = 2 ** int(rng.integers(0, 3))
    A = np.zeros((half, n))
    for row in A:
        row[:] = integers(rng, n, most=1)
        lead = int(np.argmax(np.abs(point)))
        if point[lead]:
            rest = row @ point - row[lead] * point[lead]
            row *= point[lead]
            row[lead] = -rest
    y = rng.choice([-1.0, 1.0], half)
    return recipe("Logistic", A=np.vstack([A, A]), y=np.concatenate([y, -y]))


def l1_norm(rng: Rng, n: int, point: np.ndarray) -> Recipe:
    return recipe("L1Norm", weights=2.0 ** rng.integers(-1, 2, n))


def total(rng: Rng, n: int, point: np.ndarray) -> Recipe:
    first, second = pick(rng, [least_squares, quadratic]), pick(rng, [linear, squared_norm, least_squares])
    parts = [first(rng, n, point), multiple(rng, second(rng, n, point))]
    return recipe("+", parts=parts)


def multiple(rng: Rng, part: Recipe) -> Recipe:
    return recipe("*", factor=power(rng, -3, 3), part=part)


def some_multiple(rng: Rng, n: int, point: np.ndarray) -> Recipe:
    return multiple(rng, pick(rng, [linear, least_squares, quadratic])(rng, n, point))


PLAIN = [linear, squared_norm, least_squares, quadratic, total, some_multiple]
OBJECTIVES = [*PLAIN, *PLAIN, huber, l1_norm, logistic]


def some_objective(rng: Rng, n: int, point: np.ndarray, kinds: Any = OBJECTIVES) -> Recipe:
    found = pick(rng, kinds)(rng, n, point)
    return squared_norm(rng, n, point) if found.kind == "Linear" and not np.any(found.args["c"]) else found
