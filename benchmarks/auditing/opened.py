"""Unbounded sets: the whole space, orthants, boxes and polyhedra with missing bounds, products with a free block."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from . import random_parts as parts
from .random_parts import PLAIN, Rng, integers, pick, power, some_objective
from .recipes import Case, Recipe, recipe

TOLERANCES = (1e-4, 1e-6, 1e-8)


def opened(rng: Rng) -> Case:
    """Two to four levels; some have no minimum, some an unbounded set of solutions, most of them neither."""
    domain, point = some_open_set(rng)
    n, kinds = point.size, [*PLAIN, *PLAIN, parts.l1_norm]
    tol, method = pick(rng, TOLERANCES), pick(rng, ["lexicographic", "exact", "auto"])
    levels = [some_open_objective(rng, n, point, kinds, domain) for _ in range(pick(rng, [2, 2, 2, 3, 4]))]
    if len(levels) > 2:
        return Case("open", tuple(levels), domain, n, method="lexicographic", tol=tol)
    if rng.random() < 0.2:
        slack = power(rng, -16, 1)
        return Case("open", tuple(levels), domain, n, slack=slack, method=pick(rng, ["exact", "tradeoff"]), tol=tol)
    return Case("open", tuple(levels), domain, n, method=method, tol=tol)


def some_open_set(rng: Rng) -> tuple[Recipe, np.ndarray]:
    """A set and a point of it."""
    n = int(rng.integers(2, 6))
    kind = pick(rng, ["space", "orthant", "box", "rows", "rows", "orthant rows", "orthant rows", "product"])
    if kind == "space":
        return recipe("Space", dim=n), integers(rng, n, most=4) / 2
    if kind == "orthant":
        return recipe("Box", lower=np.zeros(n), upper=np.full(n, inf)), rng.integers(0, 4, n) / 2
    if kind == "box":
        point = integers(rng, n, most=4) / 2
        lower = np.where(rng.random(n) < 0.5, -inf, point - rng.integers(0, 3, n))
        upper = np.where(rng.random(n) < 0.5, inf, point + rng.integers(0, 3, n))
        return recipe("Box", lower=lower, upper=upper), point
    if kind == "product":
        first, p = parts.box(rng, 2) if rng.random() < 0.5 else parts.l1_ball(rng, 2)
        q = integers(rng, n - 1, most=2)
        second = recipe("Space") if rng.random() < 0.5 else recipe("Box", lower=q - 1.0, upper=np.full(n - 1, inf))
        return recipe("Product", blocks={"u": (first, (2,)), "v": (second, (n - 1,))}), np.concatenate([p, q])
    domain, point = parts.polytope(rng, n)
    a: dict[str, Any] = dict(domain.args)
    if kind == "orthant rows":
        a["b_ub"] = a["b_ub"] + a["A_ub"] @ (np.abs(point) - point)
        if "A_eq" in a:
            a["b_eq"] = a["A_eq"] @ np.abs(point)
        a["bounds"], point = [(0.0, None)] * n, np.abs(point)
    else:
        keep = rng.random((n, 2)) < 0.4
        pairs = zip(a["bounds"], keep, strict=True)
        a["bounds"] = [(low if k else None, high if h else None) for (low, high), (k, h) in pairs]
    return recipe("Polyhedron", **a), point


def some_open_objective(rng: Rng, n: int, point: np.ndarray, kinds: Any, domain: Recipe) -> Recipe:
    """Costs that rows of the set bound below, half of the time; else anything."""
    if domain.kind == "Polyhedron" and rng.random() < 0.4:
        a = domain.args
        cost = -rng.integers(0, 3, len(a["A_ub"])) @ a["A_ub"]
        free = np.array([float(low is not None) for low, _ in a["bounds"]])
        cost = cost + free * rng.integers(0, 2, n)
        if cost.any():
            return recipe("Linear", c=cost)
    if domain.kind == "Box" and rng.random() < 0.4:
        cost = rng.integers(0, 3, n) * np.isfinite(domain.args["lower"])
        if cost.any():
            return recipe("Linear", c=cost)
    return some_objective(rng, n, point, kinds)
