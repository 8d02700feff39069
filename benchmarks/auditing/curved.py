"""Curved sets, where a minimiser is planted with multipliers: x*, and vectors of the normal cone there.

Everything is a small dyadic number, so that the optimality conditions hold exactly for the stored data: with
-grad g(x*) = n1 and -grad f(x*) = A'y + t n1 + n2 for n1, n2 in the normal cone of Z at x* and A x constant on the
lower solutions, x* is a solution of both levels.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from .random_parts import Rng, integers, pick, power
from .rational import ZERO, Row
from .recipes import Case, Recipe, exactly, recipe, root

WHOLE = ((3.0, 4.0), (1.0, 2.0, 2.0), (2.0, 3.0, 6.0), (1.0, 4.0, 8.0), (1.0, 1.0, 1.0, 1.0), (2.0, 2.0, 1.0, 4.0))
"""Vectors whose length is a whole number."""
HADAMARD = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2.0


class Planted(NamedTuple):
    domain: Recipe
    x: np.ndarray
    normal: Callable[[Rng], np.ndarray]  # a vector of the normal cone at x, sometimes zero


def _whole(rng: Rng) -> tuple[np.ndarray, float]:
    v = rng.permutation(pick(rng, WHOLE)) * rng.choice([-1.0, 1.0])
    return v, float(np.sqrt(v @ v))


def l2_ball(rng: Rng) -> Planted:
    v, length = _whole(rng)
    v = np.concatenate([v, np.zeros(int(rng.integers(0, 3)))])
    unit, inside = power(rng, -2, 2), rng.random() < 0.25
    centre = integers(rng, v.size, most=2) if rng.random() < 0.5 else np.zeros(v.size)
    x = centre + v * unit * (0.5 if inside else 1.0)
    domain = recipe("L2Ball", radius=length * unit, center=centre if centre.any() else None)
    if rng.random() < 0.3:  # the same, said by a cone
        rows = np.vstack([np.zeros(v.size), -np.eye(v.size)])
        right = np.concatenate([[length * unit], -centre])
        domain = recipe("Cone", A=rows, b=right, cones=[("second-order", v.size + 1)])
    return Planted(domain, x, lambda rng: (0.0 if inside else pick(rng, [0.0, 0.5, 1.0, 2.0])) * v)


def group_ball(rng: Rng) -> Planted:
    blocks = [_whole(rng) for _ in range(2)]
    sizes = [v.size for v, _ in blocks] + [int(rng.integers(1, 3))]
    groups = [list(part) for part in np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])]
    shares = [power(rng, -1, 1), pick(rng, [0.0, 1.0])]
    x, radius = np.zeros(sum(sizes)), 0.0
    for group, (v, length), share in zip(groups, blocks, shares, strict=False):
        x[group] = v * share
        radius += length * share
    common = blocks[0][1] * blocks[1][1]

    def normal(rng: Rng) -> np.ndarray:
        price = common * pick(rng, [0.0, 0.5, 1.0])
        n = np.zeros(x.size)
        for group, (v, length) in zip(groups, blocks, strict=False):
            n[group] = v * (price / length) * (1.0 if x[group].any() else pick(rng, [0.0, 0.5, 1.0]))
        n[groups[-1][0]] = price * pick(rng, [0.0, -0.5, 1.0])
        return n

    return Planted(recipe("GroupBall", groups=[list(map(int, group)) for group in groups], radius=radius), x, normal)


def _frame(rng: Rng, n: int) -> np.ndarray:
    """An orthogonal matrix of dyadic entries."""
    base = HADAMARD if n == 4 and rng.random() < 0.5 else np.eye(n)
    return base[:, rng.permutation(n)] * rng.choice([-1.0, 1.0], n)


def nuclear_ball(rng: Rng) -> Planted:
    m, n = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    k = min(m, n)
    U, V = _frame(rng, m)[:, :k], _frame(rng, n)[:, :k]
    values = np.where(np.arange(k) < int(rng.integers(1, k + 1)), rng.integers(1, 4, k), 0) / 2.0
    X = (U * values) @ V.T

    def normal(rng: Rng) -> np.ndarray:
        weights = np.where(values > 0, 1.0, rng.choice([-0.5, 0.0, 1.0], k)) * pick(rng, [0.0, 1.0, 2.0])
        return ((U * weights) @ V.T).ravel()

    return Planted(recipe("NuclearBall", shape=(m, n), radius=float(values.sum())), X.ravel(), normal)


def spectrahedron(rng: Rng) -> Planted:
    n = int(rng.integers(2, 5))
    U = _frame(rng, n)
    values = np.where(np.arange(n) < int(rng.integers(1, n + 1)), rng.integers(1, 4, n), 0) / 2.0
    X = (U * values) @ U.T

    def normal(rng: Rng) -> np.ndarray:
        prices = np.where(values > 0, 0.0, rng.choice([0.0, 0.5, 2.0], n))
        return (pick(rng, [0.0, 1.0, -2.0]) * np.eye(n) - (U * prices) @ U.T).ravel()

    return Planted(recipe("Spectrahedron", n=n, trace=float(values.sum())), X.ravel(), normal)


def curved(rng: Rng, family: str, chains: bool = False) -> Case:
    place = pick(rng, [l2_ball, group_ball, nuclear_ball, spectrahedron])(rng)
    x, d = place.x, place.x.size
    n1 = place.normal(rng)
    A = integers(rng, int(rng.integers(1, max(2, d // 2))), d, most=1)
    kind = pick(rng, ["linear", "squares", "quadratic", "logistic"])
    if kind == "linear" and n1.any():
        lower, A = recipe("Linear", c=-n1), A[:0]
    elif kind == "quadratic":
        lower = recipe("Quadratic", Q=A.T @ A, q=-(A.T @ (A @ x)) - n1)
    elif kind == "logistic" and not n1.any():
        A = np.array([_orthogonal(row, x) for row in A[:1]])
        lower = recipe("Logistic", A=np.vstack([A, A]), y=np.array([1.0, -1.0]))
    else:
        lower = recipe("LeastSquares", A=A, b=A @ x)
        if n1.any():
            lower = recipe("+", parts=[lower, recipe("Linear", c=-n1)])
    n2 = place.normal(rng)
    pull = integers(rng, len(A), most=2) @ A + float(integers(rng, 1, most=2)[0]) * n1 + n2
    levels, tol = (lower, _upper(rng, x, pull)), pick(rng, (1e-2, 1e-4))
    if chains and rng.random() < 0.4:
        # among the solutions of both levels A x, <n1, x>, <n2, x> and the images of the second are the same
        third = integers(rng, len(A), most=1) @ A + integers(rng, 2, most=1) @ np.array([n1, n2]) + place.normal(rng)
        levels = (*levels, _upper(rng, x, third))
        return Case(family, levels, place.domain, d, method="lexicographic", tol=tol, planted=exactly(x))
    method = pick(rng, ["auto", "auto", "exact"])
    return Case(family, levels, place.domain, d, method=method, tol=tol, planted=exactly(x))


def _orthogonal(row: np.ndarray, x: np.ndarray) -> np.ndarray:
    lead = int(np.argmax(np.abs(x)))
    rest = row @ x - row[lead] * x[lead]
    row = row * x[lead]
    row[lead] = -rest
    return row


def _upper(rng: Rng, x: np.ndarray, pull: np.ndarray) -> Recipe:
    """An objective with -grad f(x) = pull."""
    kind = pick(rng, ["norm", "linear", "quadratic", "squares", "logistic"])
    if kind == "norm" or not pull.any():
        return recipe("SquaredNorm", center=x + pull)
    if kind == "linear":
        return recipe("Linear", c=-pull)
    R = integers(rng, 2, x.size, most=1)
    if kind == "quadratic":
        return recipe("Quadratic", Q=R.T @ R, q=-(R.T @ (R @ x)) - pull)
    if kind == "squares":
        return recipe("+", parts=[recipe("LeastSquares", A=R, b=R @ x), recipe("Linear", c=-pull)])
    rows = np.array([_orthogonal(row, x) for row in R])
    y = rng.permutation([-1.0, 1.0])
    loss = recipe("Logistic", A=rows, y=y)  # its gradient at x is -(y'rows) / 4
    return recipe("+", parts=[loss, recipe("Linear", c=(y @ rows) / 4 - pull)])


def outside(case: Case, x: Row, allowed: Fraction) -> str:
    """By how much x lies outside a curved set, in words, where that is more than the share ``allowed`` of its size."""
    a, kind = case.domain.args, case.domain.kind
    if kind == "L2Ball":
        centre = exactly(a["center"]) if "center" in a else [ZERO] * len(x)
        length = root(sum(((p - c) ** 2 for p, c in zip(x, centre, strict=True)), ZERO))[0]
        limit, reach = Fraction(a["radius"]), max(abs(c) for c in [*centre, ZERO])
        return "" if length <= limit + allowed * (limit + reach) else f"norm {float(length)!r} > {float(limit)!r}"
    if kind == "GroupBall":
        length = sum((root(sum((x[i] ** 2 for i in group), ZERO))[0] for group in a["groups"]), ZERO)
        return "" if length <= Fraction(a["radius"]) * (1 + allowed) else f"norm {float(length)!r} > {a['radius']!r}"
    if kind == "Cone":
        centre, limit = [-b for b in exactly(a["b"])[1:]], Fraction(a["b"][0])
        length = root(sum(((p - c) ** 2 for p, c in zip(x, centre, strict=True)), ZERO))[0]
        return "" if length <= limit * (1 + allowed) else f"norm {float(length)!r} > {float(limit)!r}"
    X = np.array([float(entry) for entry in x])
    if kind == "NuclearBall":
        length = float(np.linalg.svd(X.reshape(a["shape"]), compute_uv=False).sum())
        return "" if length <= a["radius"] * (1 + float(allowed)) else f"norm {length!r} > {a['radius']!r}"
    X = X.reshape(a["n"], a["n"])
    most = a["trace"] * float(allowed)
    excess = max(
        float(np.abs(X - X.T).max()), -float(np.linalg.eigvalsh((X + X.T) / 2)[0]), abs(np.trace(X) - a["trace"])
    )
    return "" if excess <= most else f"not positive semidefinite of trace {a['trace']} by {excess:.3g}"
