"""Theorem 1 with its constants: both gaps at every update, the complexity that follows, and where it is tight."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...methods.cg_bio import CGBiO
from ...methods.cg_bio_anytime import AnytimeCGBiO
from ...methods.shared.cut_method import CutMethod
from ...methods.shared.cut_state import CutState
from ...solve import iterate
from ...steps import Harmonic
from ..comparison.rate_problems import spread_upper
from ..experiments import rates as problems
from ..experiments.rates import Known
from ..workshop import Made
from .evidence import Evidence
from .initial import initial
from .outcome import Addition, Claim, Curve, Panel

VERTICES = 2000
FACE = "face of a simplex"


def _spread(seed: int) -> Known:
    """The smallest point of a face of the simplex: the known bad instance of conditional gradient."""
    p = spread_upper(VERTICES)
    return Known(p.problem, p.g_star, p.f_star)


KINDS: dict[str, Callable[[int], Known]] = {
    "slice of a box": problems.slice_of_box,
    "smallest solution": problems.smallest_solution,
    "face of a box": problems.face_of_box,
    FACE: _spread,
}
VARIANTS: dict[str, type[CutMethod]] = {"paper": CGBiO, "anytime": AnytimeCGBiO}


def cuts(known: Known, solver: CutMethod) -> Iterator[CutState]:
    """The iterates along the cuts, without an initial phase (tol_upper = -inf: without the stopping test)."""
    for state in iterate(known.problem, solver):
        assert isinstance(state, CutState)
        if state.point is not None:
            yield state


def gaps(kind: str, variant: str, seed: int, updates: int) -> dict[str, Any]:
    """Both gaps at every update, and the bounds."""
    known = KINDS[kind](seed)
    C_f, C_g = known.curvatures
    eps_g = C_g / 1000 + 1e-3
    solver = VARIANTS[variant](step=Harmonic(2, 2), tol_upper=-np.inf, tol_lower=eps_g)
    f, g = known.problem.upper.value, known.problem.lower.value
    rows = []
    for state in cuts(known, solver):
        K = state.k - state.first
        rows.append((K, f(state.x) - known.f_star, g(state.x) - known.g_star))
        if updates <= K:
            break
    K, gap_f, gap_g = np.array(rows[1:]).T
    bound_g = 2 * C_g / (K + 1) + eps_g / 2 if variant == "paper" else 6 * C_g / (K + 1)
    return {"K": K, "gap_f": gap_f, "gap_g": gap_g, "bound_f": 2 * C_f / (K + 1), "bound_g": bound_g}


def complexity(kind: str, seed: int, counts: list[int]) -> dict[str, Any]:
    """For accuracies whose K of the paper are these counts: the update from which both gaps are small for good."""
    known = KINDS[kind](seed)
    C_f, C_g = known.curvatures
    rows = []
    for count in counts:
        eps_f, eps_g = 2 * C_f / count, max(4 * C_g / count, 1e-9)
        K = ceil(max(2 * C_f / eps_f, 4 * C_g / eps_g) - 1e-9)
        solver = CGBiO(step=Harmonic(2, 2), tol_upper=-np.inf, tol_lower=eps_g)
        f, g = known.problem.upper.value, known.problem.lower.value
        good = [
            f(state.x) - known.f_star <= eps_f and g(state.x) - known.g_star <= eps_g + 1e-12
            for state in islice(cuts(known, solver), K + 1)
        ]
        bad = np.flatnonzero(~np.array(good))
        rows.append((eps_f, eps_g, bad[-1] + 1 if bad.size else 0, K))
    eps_f, eps_g, needed, allowed = np.array(rows, float).T
    return {"eps_f": eps_f, "eps_g": eps_g, "needed": needed, "allowed": allowed}


def phase(kind: str, seed: int, counts: list[int]) -> dict[str, Any]:
    """Steps of the initial conditional gradient until its gap is eps_g/2, and how many are proved to be enough."""
    known = KINDS[kind](seed)
    C_g = known.curvatures[1]
    rows = []
    for count in counts:
        eps_g = 13.5 * C_g / count
        rows.append((eps_g, initial(known.problem, "harmonic", eps_g / 2, 10 * count)["steps"], count))
    eps_g, needed, allowed = np.array(rows, float).T
    return {"eps_g": eps_g, "needed": needed, "allowed": allowed}


def share(gap: NDArray[Any], bound: NDArray[Any]) -> float:
    """The largest part of its bound that a gap takes; a bound of 0 (a linear g) leaves room for rounding alone."""
    if np.any(gap[bound == 0] > 1e-12):
        return np.inf
    return float(np.max(gap[bound > 0] / bound[bound > 0], initial=0.0))


def claims(made: dict[str, list[Made]], counted: dict[str, list[Made]], phases: list[Made]) -> Iterator[Claim]:
    """Theorem 1 and what the paper says after it; runs by kind of problem."""
    for level, text in (("f", "f(x_K) − f* ≤ 2 L_f D²/(K+1)"), ("g", "g(x_K) − g* ≤ 2 L_g D²/(K+1) + ε_g/2")):
        every = [(kind, one) for kind, several in made.items() for one in several]
        shares = [share(one[f"gap_{level}"], one[f"bound_{level}"]) for _, one in every]
        falls = [kind for kind in made if np.min(made[kind][0][f"gap_{level}"][1:]) > 0]
        yield Claim(
            quote=text,
            where="Theorem 1",
            here=f"at most {max(shares):.2g} of the bound at {sum(one['K'].size for _, one in every)} iterates",
            evidence=Evidence(tuple(1 - value for value in shares), "always"),
            note=f"the gap is positive all along on: {', '.join(falls) or 'none'}",
        )
    yield _complexity(counted)
    first = phases[0]
    listing = ", ".join(
        f"{n:.0f} of {a:.0f} (ε_g {e:.2g})"
        for e, n, a in zip(first["eps_g"], first["needed"], first["allowed"], strict=True)
    )
    yield Claim(
        quote="This can be done by running the standard CG method on the lower-level problem, which requires at most "
        "O(1/ε_g) iterations",
        where="Section 3",
        here=f"steps until the gap is ε_g/2: {listing}",
        evidence=Evidence(tuple(float(np.min(1 - one["needed"] / one["allowed"])) for one in phases), "always"),
        note="13.5 L_g D²/ε_g are proved to be enough (Jaggi 2013, Theorem 2)",
    )
    worst = made[FACE][0]
    least = 0.5 * (1 / (worst["K"] + 1) - 1 / VERTICES)
    ratio = float(np.min(worst["gap_f"] / np.maximum(least, 1e-300)))
    yield Claim(
        quote="our rate is tight at least within the family of projection-free methods",
        where="Section 4",
        here=f"on the face of a simplex with {VERTICES} vertices f(x_K) − f* is between {ratio:.3f} times ½(1/(K+1) − "
        f"1/{VERTICES}), below which no such method can be, and {share(worst['gap_f'], worst['bound_f']):.2f} of the "
        "bound",
        evidence=Evidence((ratio - 1 + 1e-9,), "always"),
        note="after K steps from a vertex at most K + 1 of them are known; f = ½‖x‖²",
    )


def _complexity(counted: dict[str, list[Made]]) -> Claim:
    every = [one for several in counted.values() for one in several]
    listing = "; ".join(
        f"{kind}: " + ", ".join(f"{n:.0f} of {a:.0f}" for n, a in zip(s[0]["needed"], s[0]["allowed"], strict=True))
        for kind, s in counted.items()
    )
    return Claim(
        quote="Algorithm 1 will return an (ε_f, ε_g)-optimal solution when the number of iterations K exceeds "
        "max{2 L_f D²/ε_f, 4 L_g D²/ε_g}",
        where="Section 4",
        here=f"reached for good after {listing}",
        evidence=Evidence(tuple(float(np.min(1 - one["needed"] / one["allowed"])) for one in every), "always"),
    )


def anytime_addition(made: dict[str, list[Made]]) -> Addition:
    """Our variant."""
    every = [one for several in made.values() for one in several]
    shares = [max(share(one[f"gap_{level}"], one[f"bound_{level}"]) for level in "fg") for one in every]
    return Addition(
        statement="cg-bio-anytime, without an initial phase: f(x_K) − f* ≤ 2 L_f D²/(K+1), "
        "g(x_K) − g* ≤ 6 L_g D²/(K+1).",
        here=f"at most {max(shares):.2g} of the bound",
        evidence=Evidence(tuple(1 - value for value in shares), "always"),
        note="proved on the page of the rates of the anytime variant",
    )


def panels(made: dict[str, list[Made]]) -> Iterator[Panel]:
    """Two kinds of problem a level, those whose gaps stay positive."""
    for level, name in (("f", "upper"), ("g", "lower")):
        kinds = sorted(made, key=lambda kind: -np.mean(made[kind][0][f"gap_{level}"] > 0))[:2]
        curves = []
        for kind in kinds:
            one = made[kind][0]
            gap = one[f"gap_{level}"]
            curves.append(Curve(kind, {"updates": one["K"]}, np.where(gap > 0, gap, np.nan)))
            curves.append(Curve(f"bound, {kind}", {"updates": one["K"]}, one[f"bound_{level}"], role="bound"))
        yield Panel(
            f"theorem-1-{name}",
            f"Theorem 1, {name} level",
            f"{level}(x_K) − {level}*",
            tuple(curves),
            log_x=True,
            caption="Algorithm 1; where f(x_K) lies below f* (x_K is not in X_g*) the gap is negative, and not drawn.",
        )
