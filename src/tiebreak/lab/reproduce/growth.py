"""Theorem 2, Proposition 1 and Corollary 1 on lower levels of known growth, r = 1 to 4, with accuracies that bite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from ...arrays import Vector
from ...methods.cg_bio import CGBiO
from ...solve import iterate
from ...steps import Constant, Harmonic
from ..experiments.corner import Corner, corner
from ..workshop import Made
from .evidence import Evidence, interval
from .outcome import Claim, Curve, Panel

ORDERS = (1, 2, 3, 4)
ROUNDING = 1e-12


def states(one: Corner, eps_g: float, step: float | None) -> Iterator[Vector]:
    """x_0, x_1, ... of Algorithm 1 from a start with g = eps_g / 2; steps 2/(k+2), or constant. No stopping test."""
    rule = Harmonic(2, 2) if step is None else Constant(step)
    solver = CGBiO(step=rule, tol_upper=-np.inf, tol_lower=eps_g)
    return (state.x for state in iterate(one.problem, solver, x0=one.start(eps_g)))


def accuracies(promised: Callable[[float], float], counts: list[int]) -> list[float]:
    """For each count the eps whose promised number of updates it is, by bisection."""
    found = []
    for count in counts:
        low, high = 1e-12, 1e12
        for _ in range(200):
            eps = (low * high) ** 0.5
            low, high = (eps, high) if promised(eps) > count else (low, eps)
        found.append(high)
    return found


def two_sided_tolerance(one: Corner, eps_f: float) -> float:
    """eps_g of Corollary 1."""
    M, r = one.steepest, one.r
    if one.problem.upper.convex:
        return float((eps_f / M) ** r / r)
    return float(min((eps_f / (2 * M)) ** r, (eps_f / 2) ** (r / 2)) / r)


def convex(r: int, seed: int, counts: list[int]) -> dict[str, Any]:
    """Corollary 1 (i): for the accuracies of these counts, the update from which both gaps are small for good."""
    one = corner(seed, r)
    C_f, C_g = one.curvatures

    def promised(eps_f: float) -> float:
        return max(2 * C_f / eps_f, 4 * C_g / two_sided_tolerance(one, eps_f))

    rows, late = [], []
    for eps_f, count in zip(accuracies(promised, counts), counts, strict=True):
        eps_g = two_sided_tolerance(one, eps_f)
        points = np.array(list(islice(states(one, eps_g, None), count + 1)))
        f, g = (np.array([level.value(x) for x in points]) for level in (one.problem.upper, one.problem.lower))
        good = (np.abs(f - one.f_star) <= eps_f + ROUNDING) & (g <= eps_g + ROUNDING)
        bad = np.flatnonzero(~good)
        rows.append((eps_f, float(bad[-1] + 1) if bad.size else 0.0, count))
        late.append((abs(f[-1] - one.f_star) / eps_f, g[-1] / eps_g))
    eps, needed, allowed = np.array(rows).T
    return {"eps_f": eps, "needed": needed, "allowed": allowed, "at the end": np.array(late)}


def nonconvex(r: int, seed: int, counts: list[int], two_sided: bool) -> dict[str, Any]:
    """Theorem 2 (eps_g = eps_f) or Corollary 1 (ii): the first iterate with both properties."""
    one = corner(seed, r, convex=False)
    C_f, C_g = one.curvatures

    def eps_g(eps_f: float) -> float:
        return two_sided_tolerance(one, eps_f) if two_sided else eps_f

    def promised(eps_f: float) -> float:
        return max(2 * C_f * one.drop / eps_f**2, 2 * C_g * one.drop / (eps_f * eps_g(eps_f)))

    rows = []
    for eps_f, count in zip(accuracies(promised, counts), counts, strict=True):
        lower = eps_g(eps_f)
        step = min(1.0, eps_f / C_f, lower / C_g if C_g else 1.0)
        first = np.inf
        for k, x in enumerate(islice(states(one, lower, step), count)):
            gap = one.gap(x)
            if (abs(gap) if two_sided else gap) <= eps_f and one.problem.lower.value(x) <= lower + ROUNDING:
                first = float(k)
                break
        rows.append((eps_f, first, count))
    eps, needed, allowed = np.array(rows).T
    return {"eps_f": eps, "needed": needed, "allowed": allowed}


def anywhere(r: int, seed: int, count: int) -> dict[str, Any]:
    """Proposition 1 at points of Z drawn at random, half of them near the face: how much of the bound is taken."""
    rng = np.random.default_rng([seed, r, 7])
    made = {}
    for name, is_convex in (("convex", True), ("nonconvex", False)):
        one = corner(seed, r, convex=is_convex)
        points = rng.uniform(one.low, 1.0, (count, one.p.size))
        points[::2, 0] = 10 ** rng.uniform(-6, 0, points[::2].shape[0])
        points[1::4, 1:] = np.clip(one.p[1:], 0, 1)  # above the answer f falls the most
        eps = np.array([(r * one.problem.lower.value(x)) ** (1 / r) for x in points])
        if is_convex:
            under = one.f_star - np.array([one.problem.upper.value(x) for x in points])
            bound = one.steepest * eps
        else:
            under = -np.array([one.gap(x) for x in points])
            bound = one.steepest * eps + eps**2
        made[name] = np.column_stack([eps**r / r, under, bound])
    return made


# Claims


def claims(
    promised: dict[int, list[Made]], stationary: dict[int, list[Made]], both: dict[int, list[Made]],
    points: dict[int, list[Made]],
) -> Iterator[Claim]:  # fmt: skip
    """Theorem 2, Proposition 1 and Corollary 1; runs by order of growth, one a seed."""
    yield _within(
        stationary[2],
        "for K ≥ max{2 L_f D²(f(x₀) − f̲)/ε_f², 2 L_g D²(f(x₀) − f̲)/(ε_f ε_g)}, there exists k* ∈ {0, 1, ..., K − 1} "
        "such that G(x_k*) ≤ ε_f and g(x_k*) − g* ≤ ε_g",
        "Theorem 2",
        "ε_g = ε_f; the first such iterate, of K",
    )
    for name, quote in (
        ("convex", "If f is convex, then f(x̂) − f* ≥ −M (r ε_g/α)^(1/r)"),
        (
            "nonconvex",
            "If f is non-convex and has L_f-Lipschitz gradient, then G(x̂) ≥ −M (r ε_g/α)^(1/r) − L_f (r ε_g/α)^(2/r)",
        ),
    ):
        shares = [float(np.max(one[name][:, 1] / one[name][:, 2])) for several in points.values() for one in several]
        count = sum(len(one[name]) for several in points.values() for one in several)
        yield Claim(
            quote=quote,
            where="Proposition 1",
            here=f"f is below f* by {max(shares):.3f} of the bound at most, at {count} points of Z"
            if name == "convex"
            else f"−G takes {max(shares):.3f} of the bound at most, at {count} points of Z",
            evidence=Evidence(tuple(1 + 1e-9 - share for share in shares), "always"),
            note="points drawn at random, half of them near the lower solutions; r = 1 to 4",
        )
    for r, several in promised.items():
        yield _within(
            several,
            "If f [...] is convex and we set ε_g = (α/r)(ε_f/M)^r, then after K = O(1/ε_f^r) iterations we have "
            "|f(x_K) − f*| ≤ ε_f and g(x_K) − g* ≤ ε_g",
            f"Corollary 1 (i), r = {r}",
            "K = max{2 L_f D²/ε_f, 4 L_g D²/ε_g}; reached for good after",
        )
    for r, several in both.items():
        yield _within(
            several,
            "If f [...] is non-convex and we set ε_g = min{(α/r)(ε_f/2M)^r, (α/r)(ε_f/2L_f)^(r/2)}, then after "
            "K = O(1/ε_f^(r+1)) iterations there exists k* [...] such that |G(x_k*)| ≤ ε_f and g(x_k*) − g* ≤ ε_g",
            f"Corollary 1 (ii), r = {r}",
            "K as in Theorem 2; the first such iterate, of K",
        )


def _within(several: list[Made], quote: str, where: str, what: str) -> Claim:
    first = several[0]
    listing = ", ".join(
        f"{needed:.0f} of {allowed:.0f} (ε_f {eps:.2g})"
        for eps, needed, allowed in zip(first["eps_f"], first["needed"], first["allowed"], strict=True)
    )
    return Claim(
        quote=quote,
        where=where,
        here=f"{what}: {listing}; {_measured([exponent(one) for one in several])}",
        evidence=Evidence(tuple(float(np.min(1 - one["needed"] / one["allowed"])) for one in several), "always"),
        note=f"first of {len(several)} problems; g grows exactly like dist^r / r",
    )


def _measured(slopes: list[float]) -> str:
    known = [slope for slope in slopes if np.isfinite(slope)]
    if not known:
        return "too few accuracies are not met at the start for an exponent"
    low, high = interval(known)
    return f"measured exponent of updates against 1/ε_f {np.median(known):.2f} [{low:.2f}, {high:.2f}]"


def exponent(one: Made) -> float:
    """p of needed ~ eps^-p, over the last three accuracies; nan where not all of them are missed at the start."""
    late = slice(-3, None)
    if len(one["needed"]) < 3 or one["needed"][late].min() <= 1:
        return float("nan")
    return -float(np.polyfit(np.log(one["eps_f"][late]), np.log(one["needed"][late]), 1)[0])


# Panels


def panels(
    promised: dict[int, list[Made]], stationary: dict[int, list[Made]], points: dict[int, list[Made]]
) -> Iterator[Panel]:
    """Updates against accuracy, and how far below f* points are; the first problem of each order."""
    yield Panel(
        "theorem-2",
        "Theorem 2: updates until both conditions hold",
        "updates",
        _against("r = 2", stationary[2][0]),
        log_x=True,
        caption="One more than the index of the first such iterate, so that the start counts as 1.",
    )
    for r, several in promised.items():
        yield Panel(
            f"corollary-1-{r}",
            f"Corollary 1, r = {r}: updates until both gaps are small for good",
            "updates",
            _against(f"r = {r}", several[0]),
            log_x=True,
        )
    curves = []
    for r in (1, 2, 4):
        eps, under, bound = points[r][0]["convex"][np.argsort(points[r][0]["convex"][:, 0])].T
        some = under > 0
        curves += [
            Curve(f"points, r = {r}", {"g(x) − g*": eps[some]}, under[some]),
            Curve(f"Proposition 1, r = {r}", {"g(x) − g*": eps}, bound, role="bound"),
        ]
    yield Panel("proposition-1", "How far below f* a point can be", "f* − f(x)", tuple(curves), log_x=True)


def _against(label: str, one: Made) -> tuple[Curve, ...]:
    axis = {"ε_f": one["eps_f"]}
    return Curve(f"CG-BiO, {label}", axis, one["needed"] + 1), Curve(f"proved, {label}", axis, one["allowed"], "bound")
