"""The families of the audit: what each varies, and over what range."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import random_parts as parts
from .curved import curved
from .decimals import decimals
from .degenerate import degenerate
from .opened import opened
from .planted import planted
from .random_parts import PLAIN, Rng, integers, pick, power, some_objective, some_set
from .recipes import Case, Recipe, recipe

TOLERANCES = (1e-4, 1e-6, 1e-8)


def two(rng: Rng, family: str, lower: Recipe, upper: Recipe, domain: Recipe, dim: int, **more: Any) -> Case:
    """Two levels, by a method that should prove its answer."""
    method = pick(rng, ["exact", "exact", "auto", "auto", "lexicographic"])
    more = {"method": method, "tol": pick(rng, TOLERANCES), **more}
    return Case(family, (lower, upper), domain, dim, **more)


def sets(rng: Rng) -> Case:
    """All sets and objectives at size one; a quarter over curved sets, where the answer is planted."""
    if rng.random() < 0.25:
        return curved(rng, "sets")
    domain, point, n = some_set(rng)
    return two(rng, "sets", some_objective(rng, n, point), some_objective(rng, n, point), domain, n)


def chains(rng: Rng) -> Case:
    domain, point, n = some_set(rng)
    kinds = [*PLAIN, *PLAIN, parts.l1_norm]
    levels = tuple(some_objective(rng, n, point, kinds) for _ in range(int(rng.integers(3, 5))))
    return Case("chains", levels, domain, n, method="lexicographic", tol=pick(rng, TOLERANCES))


def slack(rng: Rng) -> Case:
    domain, point, n = some_set(rng)
    lower, upper = (some_objective(rng, n, point, PLAIN) for _ in range(2))
    method = pick(rng, ["exact", "auto", "tradeoff"])
    return two(rng, "slack", lower, upper, domain, n, slack=power(rng, -20, 1), method=method)


def units(rng: Rng) -> Case:
    """x measured in units of 2^-30..2^30, one for all variables or one each, and objectives times 2^-30..2^30."""
    domain, point, n = some_set(rng, ["Box", "Polyhedron", "Simplex", "L1Ball", "KSparse"])
    spread = domain.kind in ("Box", "Polyhedron") and rng.random() < 0.3
    scale = 2.0 ** rng.integers(-15, 16, n) if spread else np.full(n, power(rng, -30, 30))
    lower, upper = (_in_units(some_objective(rng, n, point, _SCALABLE), scale, power(rng, -30, 30)) for _ in range(2))
    domain = _set_in_units(domain, scale)
    size = max(1.0, *(abs(entry) for entry in (lower.args["factor"], upper.args["factor"])))
    tol = pick(rng, TOLERANCES) * pick(rng, [1.0, size])
    return two(rng, "units", lower, upper, domain, n, tol=tol, units=tuple(scale.tolist()))


_SCALABLE = [parts.linear, parts.least_squares, parts.quadratic]


def _in_units(objective: Recipe, scale: np.ndarray, factor: float) -> Recipe:
    a = dict(objective.args)
    if objective.kind == "Linear":
        a["c"] = a["c"] / scale
    elif objective.kind == "LeastSquares":
        a["A"] = a["A"] / scale
    elif objective.kind == "SquaredNorm":
        return _in_units(recipe("LeastSquares", A=np.eye(scale.size), b=a["center"]), scale, factor)
    else:
        a["Q"], a["q"] = a["Q"] / scale / scale[:, None], a["q"] / scale
    return recipe("*", factor=factor, part=recipe(objective.kind, **a))


def _set_in_units(domain: Recipe, scale: np.ndarray) -> Recipe:
    a = dict(domain.args)
    for name in ("lower", "upper"):
        if name in a:
            a[name] = a[name] * scale
    for name in ("total", "radius"):
        if name in a:
            a[name] = a[name] * float(scale[0])
    for name in ("A_ub", "A_eq"):
        if name in a:
            a[name] = a[name] / scale
    if "bounds" in a:
        a["bounds"] = [(low * s, high * s) for (low, high), s in zip(a["bounds"], scale.tolist(), strict=True)]
    return recipe(domain.kind, **a)


def bounds(rng: Rng) -> Case:
    """Solutions of size one under bounds of 1..2^40, for all variables or a few; or bounds as near as 2^-40."""
    n = int(rng.integers(2, 6))
    domain, point = parts.polytope(rng, n)
    rows, pairs = domain.args["A_ub"], list(domain.args["bounds"])
    if rng.random() < 0.2:
        width = power(rng, -40, 0)
        pairs = [(p, p + width) if rng.random() < 0.5 else pair for p, pair in zip(point.tolist(), pairs, strict=True)]
    else:
        span = power(rng, 0, 40)
        some = rng.random(n) < pick(rng, [0.5, 1.0])
        least = pick(rng, [0.0, -1.0])
        pairs = [
            (least * span - (0 if least else 4), span + 4) if wide else pair
            for wide, pair in zip(some, pairs, strict=True)
        ]
    domain = recipe("Polyhedron", **{**domain.args, "bounds": pairs})
    tight = rows @ point == domain.args["b_ub"]
    weights = rng.integers(0, 3, len(rows)) * tight
    cost = -weights @ rows
    if not cost.any() or rng.random() < 0.4:
        lower = some_objective(rng, n, point, [parts.least_squares, parts.quadratic, parts.total])
    else:
        lower = recipe("Linear", c=cost)
    levels = (lower, some_objective(rng, n, point, PLAIN))
    if rng.random() < 0.2:
        levels += (some_objective(rng, n, point, PLAIN),)
        return Case("bounds", levels, domain, n, method="lexicographic", tol=pick(rng, TOLERANCES))
    return two(rng, "bounds", *levels, domain, n)


def conditioning(rng: Rng) -> Case:
    """Nearly equal columns, small eigenvalues, columns of different size: condition numbers up to 1e12."""
    domain, point, n = some_set(rng, ["Box", "Box", "Simplex", "L1Ball", "KSparse", "Polyhedron"])
    kind, small = pick(rng, ["twins", "duplicates", "eigenvalue", "columns"]), power(rng, -40, -5)
    if kind == "twins":
        n, small = 2, power(rng, -50, -10)
        corner = np.array(pick(rng, [(1.0, 0.0), (0.0, 1.0), (0.5, 0.5), (0.25, 0.5)]))
        A = np.array([[1.0, 1.0], [1.0, 1.0 + small]])
        domain, point = recipe("Box", lower=np.zeros(2), upper=np.full(2, power(rng, 0, 4))), corner
        lower = recipe("LeastSquares", A=A, b=A @ corner)
    elif kind == "duplicates":
        A = integers(rng, int(rng.integers(2, n + 2)), n, most=2)
        i, j = rng.permutation(n)[:2]
        A[:, j] = A[:, i] + power(rng, -50, -10) * integers(rng, len(A), most=1)
        lower = recipe("LeastSquares", A=A, b=_rounded(A @ point) if rng.random() < 0.5 else integers(rng, len(A)))
    elif kind == "eigenvalue":
        R = integers(rng, n, n, most=1)
        d = np.where(rng.random(n) < 0.5, 1.0, small)
        Q = (R.T * d) @ R
        lower = recipe("Quadratic", Q=(Q + Q.T) / 2, q=integers(rng, n, most=1) * pick(rng, [1.0, small]))
    else:
        A = integers(rng, int(rng.integers(1, n + 1)), n, most=2) * 2.0 ** rng.integers(-1, 2, n)
        A[:, : n // 2] *= power(rng, -18, 18)
        lower = recipe("LeastSquares", A=A, b=A @ point if rng.random() < 0.5 else integers(rng, len(A)))
    return two(rng, "conditioning", lower, some_objective(rng, n, point, PLAIN), domain, n)


def _rounded(b: np.ndarray) -> np.ndarray:
    return np.round(b * 2.0**8) / 2.0**8


def ties(rng: Rng) -> Case:
    """Costs that differ by one unit in the last place up to 2^-10, decimal costs, and multipliers as small as that."""
    domain, point, n = some_set(rng)
    kind = pick(rng, ["decimal", "ulp", "near", "multiplier", "logistic"])
    upper = some_objective(rng, n, point, PLAIN)
    base = float(rng.integers(1, 4))
    if kind == "decimal":
        c = rng.choice([0.1 + 0.2, 0.3, 0.7 - 0.4, 0.1 * 3, 0.3 + 2.0**-30], n) * pick(rng, [1.0, -1.0])
        lower = recipe("Linear", c=c)
    elif kind == "ulp":
        c = np.full(n, base)
        c = np.where(rng.random(n) < 0.4, np.nextafter(c, rng.choice([0.0, 9.0], n)), c)
        lower = recipe("Linear", c=c * pick(rng, [1.0, -1.0]))
    elif kind == "near":
        lower = recipe("Linear", c=base + power(rng, -50, -10) * integers(rng, n, most=1))
    elif kind == "logistic":
        loss, tiny = parts.logistic(rng, n, point), power(rng, -50, -10)
        lower = recipe("+", parts=[loss, recipe("Linear", c=tiny * integers(rng, n, most=1))])
    else:
        tilt = recipe("Linear", c=power(rng, -50, -10) * integers(rng, n, most=1))
        lower = recipe("+", parts=[some_objective(rng, n, point, [parts.least_squares, parts.quadratic]), tilt])
    if rng.random() < 0.2:
        levels = (lower, upper) if rng.random() < 0.5 else (upper, lower)
        levels += (some_objective(rng, n, point, PLAIN),)
        return Case("ties", levels, domain, n, method="lexicographic", tol=pick(rng, TOLERANCES))
    return two(rng, "ties", lower, upper, domain, n)


FIRST_ORDER = (
    "cg-bio", "cg-bio-anytime", "cg", "mng", "big-sam", "ibig-sam", "tseng", "a-irg", "dbgd", "apdb", "tikhonov",
    "solodov", "cabot", "hsdm", "sam", "ir-cg", "agm-bio", "pb-apg", "apb-apg", "fc-bio", "bisec-bio", "bi-sg",
    "fbi-pg", "r-apm", "bi-fista", "stabim", "adabim", "sbcgi", "sbcgf", "ir-scg", "ir-fscg", "bi-cs",
)  # fmt: skip


def first_order(rng: Rng) -> Case:
    """Every other method, stopped early: what it claims must hold at any moment."""
    method, most = pick(rng, FIRST_ORDER), int(rng.integers(1, 60))
    if rng.random() < 0.4:
        case = curved(rng, "first-order")
    else:
        domain, point, n = some_set(rng)
        lower, upper = (some_objective(rng, n, point) for _ in range(2))
        relaxed = power(rng, -8, 0) if rng.random() < 0.3 else 0.0
        case = two(rng, "first-order", lower, upper, domain, n, slack=relaxed)
    return case.changed(method=method, tol=pick(rng, (1e-1, 1e-2, 1e-4)), options={"max_iter": most})


def cones(rng: Rng) -> Case:
    """Balls, spectrahedra and second-order cones, with two or three levels."""
    return curved(rng, "cones", chains=True)


FAMILIES: dict[str, Callable[[Rng], Case]] = {
    "sets": sets,
    "bounds": bounds,
    "conditioning": conditioning,
    "ties": ties,
    "degenerate": degenerate,
    "units": units,
    "chains": chains,
    "slack": slack,
    "first-order": first_order,
    "open": opened,
    "planted": planted,
    "cones": cones,
    "decimals": decimals,
}


def make(family: str, seed: int, number: int) -> Case:
    """The case with this number: the same on every machine and in every version of NumPy that keeps its streams."""
    rng = np.random.default_rng([seed, list(FAMILIES).index(family), number])
    return FAMILIES[family](rng)
