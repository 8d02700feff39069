"""Theorem 2, Proposition 1 and Corollary 1 as an experiment: nonconvex upper levels, lower levels of known growth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...methods.cg_bio import CGBiO
from ...methods.shared.cut_method import CutMethod
from ...methods.shared.cut_state import CutState
from ...solve import iterate
from ...steps import Harmonic, theorem_2
from ..experiments import rates as problems
from ..experiments.rates import Known
from ..workshop import Made
from .outcome import Claim, Curve, Panel


def cuts(known: Known, solver: CutMethod) -> Iterator[CutState]:
    """The iterates along the cuts, without an initial phase (tol_upper = -inf: without the stopping test)."""
    for state in iterate(known.problem, solver):
        assert isinstance(state, CutState)
        if state.point is not None:
            yield state


# Theorem 2 and Corollary 1 (ii): f not convex


def nonconvex(seed: int, counts: tuple[int, ...], two_sided: bool) -> dict[str, Any]:
    """For the accuracies promised after so many updates (Theorem 2, or Corollary 1 (ii)): when they are reached."""
    known = problems.fair_slice(seed)
    problem, bound = known.problem, known.problem.error_bound
    assert bound is not None
    rows, margins = [], []
    for count in counts:
        eps_f, eps_g = _promised(known, count, two_sided)
        solver = CGBiO(step=theorem_2(problem, eps_f, eps_g), tol_upper=-np.inf, tol_lower=eps_g)
        first = np.inf
        for state in cuts(known, solver):
            slope = problem.upper.grad(state.x)
            gap = float(slope @ (state.x - problems.steepest_descent(known, slope)))
            lower = problem.lower.value(state.x)
            margins.append(gap - bound.stationarity_floor(lower, problem.upper))
            made = state.k - state.first
            if (abs(gap) if two_sided else gap) <= eps_f and lower <= eps_g:
                first = min(first, made)
            if made >= count:
                break
        rows.append((eps_f, first, count))
    eps, needed, allowed = np.array(rows).T
    return {"eps_f": eps, "needed": needed, "allowed": allowed, "margin": min(margins), "iterates": len(margins)}


def _promised(known: Known, count: int, two_sided: bool) -> tuple[float, float]:
    """The eps_f with K(eps_f) = count, by bisection, and its eps_g."""
    C_f, C_g = known.curvatures
    drop = 1 / 16  # at least f(x_0) - min f: f is the square of a covariance of numbers in [0, 1]
    bound = known.problem.error_bound
    assert bound is not None

    def eps_g(eps_f: float) -> float:
        return bound.lower_tolerance(eps_f, known.problem.upper) if two_sided else eps_f * C_g / C_f

    low, high = 1e-12, 1e12
    for _ in range(200):
        eps = (low * high) ** 0.5
        K = max(2 * C_f * drop / eps**2, 2 * C_g * drop / (eps * eps_g(eps)))
        low, high = (eps, high) if count < K else (low, eps)
    return high, eps_g(high)


def nonconvex_claims(made: Made, two_sided: Made) -> Iterator[Claim]:
    """Theorem 2, Corollary 1 (ii) and Proposition 1 (ii)."""
    for one, sentence, paper in (
        (
            made,
            "Theorem 2: with the constant step one of the first K iterates has gap <= eps_f and g - g* <= eps_g",
            "K = max{2 L_f D^2 (f(x_0) - min f)/eps_f^2, 2 L_g D^2 (f(x_0) - min f)/(eps_f eps_g)}",
        ),
        (
            two_sided,
            "Corollary 1 (ii), r = 2: one of the first K iterates has abs(gap) <= eps_f and g - g* <= eps_g",
            "the same K with eps_g = min{(alpha/r) (eps_f/2M)^r, (alpha/r) (eps_f/2L_f)^(r/2)}: O(1/eps_f^(r+1))",
        ),
    ):
        rows = zip(one["eps_f"], one["needed"], one["allowed"], strict=True)
        listing = ", ".join(f"{needed:.0f} of {allowed:.0f} (eps_f {eps:.2g})" for eps, needed, allowed in rows)
        yield Claim(
            sentence=sentence,
            paper=paper,
            ours=f"first at {listing}",
            holds=bool(np.all(one["needed"] < one["allowed"])),
            why="f(x_0) - min f is replaced by 1/16, the largest f can be",
            where="Section 4",
        )
    yield Claim(
        sentence="Proposition 1 (ii): the gap is at least -M (r eps_g/alpha)^(1/r) - L_f (r eps_g/alpha)^(2/r)",
        paper="never below",
        ours=f"smallest margin {float(made['margin']):.2g} over {int(made['iterates'])} iterates",
        holds=bool(made["margin"] >= -1e-12),
        where="Section 4.1",
    )


def nonconvex_panel(made: Made, two_sided: Made) -> Panel:
    """Updates against accuracy, f not convex."""
    return Panel(
        "theorem-2",
        "Theorem 2: updates until both conditions hold",
        "updates",
        (
            Curve("CG-BiO", {"eps_f": made["eps_f"]}, made["needed"] + 1),
            Curve("Theorem 2", {"eps_f": made["eps_f"]}, made["allowed"], role="bound"),
            Curve("CG-BiO, two-sided", {"eps_f": two_sided["eps_f"]}, two_sided["needed"] + 1),
            Curve("Corollary 1 (ii)", {"eps_f": two_sided["eps_f"]}, two_sided["allowed"], role="bound"),
        ),
        log_x=True,
        caption="One more than the index of the first such iterate, so that the start counts as 1.",
    )


# Proposition 1 (i) and Corollary 1 (i): growth of order r


def two_sided(r: int, seed: int, counts: tuple[int, ...]) -> dict[str, Any]:
    """For the accuracies the corollary promises after so many updates: after how many they are reached for good."""
    known = problems.growth(seed, r)
    problem, bound = known.problem, known.problem.error_bound
    assert bound is not None and bound.gradient_bound is not None
    M, alpha = bound.gradient_bound, bound.alpha
    C_f, C_g = known.curvatures
    rows, seen = [], []
    for count in counts:
        eps_f = max(2 * C_f / count, M * (4 * C_g * r / (alpha * count)) ** (1 / r))
        eps_g = alpha / r * (eps_f / M) ** r
        solver = CGBiO(step=Harmonic(2, 2), tol_upper=-np.inf, tol_lower=eps_g)
        reached = np.inf
        for state in cuts(known, solver):
            gap_f = problem.upper.value(state.x) - known.f_star
            gap_g = max(problem.lower.value(state.x) - known.g_star, 0.0)
            seen.append((gap_g, -gap_f, M * (r * gap_g / alpha) ** (1 / r)))
            made = state.k - state.first
            good = abs(gap_f) <= eps_f and gap_g <= eps_g * (1 + 1e-12)
            reached = min(reached, made) if good else np.inf
            if made >= count:
                break
        rows.append((eps_f, reached, count))
    eps, needed, allowed = np.array(rows).T
    every = np.array(seen)
    some = every[np.unique(np.linspace(0, len(every) - 1, 400).astype(int))]
    margin = float(np.min(every[:, 2] - every[:, 1]))
    return {"eps_f": eps, "needed": needed, "allowed": allowed, "below": some, "margin": margin, "iterates": len(seen)}


def corollary_claims(made: dict[int, Made]) -> Iterator[Claim]:
    """Corollary 1 (i) and Proposition 1 (i)."""
    for r, one in made.items():
        listing = ", ".join(
            f"{needed:.0f} of {allowed:.0f} (eps_f {eps:.2g})"
            for eps, needed, allowed in zip(one["eps_f"], one["needed"], one["allowed"], strict=True)
        )
        yield Claim(
            sentence=f"Corollary 1 (i), r = {r}: abs(f(x_K) - f*) <= eps_f and g(x_K) - g* <= eps_g",
            paper=f"K = max{{2 L_f D^2/eps_f, 4 L_g D^2/eps_g}}, eps_g = (alpha/r) (eps_f/M)^r: O(1/eps_f^{r})",
            ours=f"reached for good after {listing} updates",
            holds=bool(np.all(one["needed"] <= one["allowed"])),
            where="Section 4.1",
        )
    margin = min(float(one["margin"]) for one in made.values())
    iterates = sum(int(one["iterates"]) for one in made.values())
    yield Claim(
        sentence="Proposition 1 (i): f(x) - f* >= -M (r (g(x) - g*)/alpha)^(1/r)",
        paper="never below",
        ours=f"smallest margin {margin:.2g} over {iterates} iterates, r = 1 to 4",
        holds=margin >= -1e-9,
        where="Section 4.1",
    )


def corollary_panel(made: dict[int, Made]) -> Panel:
    """Updates against accuracy, for every order of growth."""
    curves = []
    for r, one in made.items():
        axis = {"eps_f": one["eps_f"]}
        curves.append(Curve(f"CG-BiO, r = {r}", axis, one["needed"] + 1))
        curves.append(Curve(f"Corollary 1, r = {r}", axis, one["allowed"], role="bound"))
    return Panel(
        "corollary-1", "Corollary 1: updates until both gaps are small for good", "updates", tuple(curves), log_x=True
    )


def proposition_panel(made: dict[int, Made]) -> Panel:
    """How far below f* the iterates are, against what the growth allows."""
    curves = []
    for r, one in made.items():
        order = np.argsort(one["below"][:, 0])
        gap, under, allowed = one["below"][order].T
        axis = {"g(x) - g*": gap}
        curves.append(Curve(f"CG-BiO, r = {r}", axis, np.where(under > 0, under, np.nan)))
        curves.append(Curve(f"Proposition 1, r = {r}", axis, allowed, role="bound"))
    return Panel("proposition-1", "How far below f* an iterate can be", "f* - f(x)", tuple(curves), log_x=True)
