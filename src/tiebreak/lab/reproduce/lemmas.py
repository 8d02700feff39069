"""Lemmas 1 and 2 at every update of CG-BiO, on a problem where X_g* and the gap over it are known."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

import numpy as np

from ...methods.cg_bio import CGBiO
from ...steps import Harmonic
from ..experiments import rates as problems
from ..workshop import Made
from .evidence import Evidence
from .outcome import Claim
from .theorem_1 import cuts


def lemmas(seed: int, updates: int) -> dict[str, Any]:
    """The smallest margins: of the corners of X_g* in the cuts, and of one update's bounds on f and g."""
    known = problems.fair_slice(seed)
    problem, (C_f, C_g) = known.problem, known.curvatures
    f, g = problem.upper, problem.lower
    step = Harmonic(2, 12)
    solver = CGBiO(step=step, tol_upper=-np.inf, tol_lower=1e-2)
    inside, upper, lower = [], [], []
    for state, later in islice(pairwise(cuts(known, solver)), updates):
        value, slope = g.value_and_grad(state.x)
        room = state.level - value - slope @ (np.eye(problem.dim) - state.x).T  # for each corner of X_g*
        inside.append(float(room.min()))
        gamma = step(state.k - state.first)
        down = f.grad(state.x)
        gap = float(down @ (state.x - problems.steepest_descent(known, down)))
        upper.append(f.value(state.x) - gamma * gap + 0.5 * gamma**2 * C_f - f.value(later.x))
        lower.append((1 - gamma) * value + gamma * state.level + 0.5 * gamma**2 * C_g - g.value(later.x))
    return {"inside": min(inside), "upper": min(upper), "lower": min(lower), "updates": len(upper)}


def lemma_claims(made: list[Made]) -> Iterator[Claim]:
    """Both lemmas, on one problem a seed."""
    count = sum(int(one["updates"]) for one in made)
    yield Claim(
        quote="for any k ≥ 0, we have X_g* ⊆ X_k",
        where="Lemma 1",
        here=f"every corner of X_g* is inside all {count} cuts; smallest room "
        f"{min(float(one['inside']) for one in made):.2g}",
        evidence=Evidence(tuple(float(one["inside"]) + 1e-12 for one in made), "always"),
    )
    for level, quote in (
        ("upper", "f(x_k+1) ≤ f(x_k) − γ_k G(x_k) + ½ γ_k² L_f D²"),
        ("lower", "g(x_k+1) ≤ (1 − γ_k) g(x_k) + γ_k g(x₀) + ½ γ_k² L_g D²"),
    ):
        yield Claim(
            quote=quote,
            where="Lemma 2",
            here=f"smallest margin {min(float(one[level]) for one in made):.2g} over {count} updates",
            evidence=Evidence(tuple(float(one[level]) + 1e-12 for one in made), "always"),
        )
