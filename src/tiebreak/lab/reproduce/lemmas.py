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
from .growth import cuts
from .outcome import Claim


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


def lemma_claims(made: Made) -> Iterator[Claim]:
    """Both lemmas."""
    count = int(made["updates"])
    yield Claim(
        sentence="Lemma 1: X_g* is inside every X_k",
        paper="always",
        ours=f"every corner of X_g* is inside all {count} cuts; smallest room {float(made['inside']):.2g}",
        holds=bool(made["inside"] >= -1e-12),
        where="Section 3",
    )
    for level, sentence in (
        ("upper", "f(x_k+1) <= f(x_k) - gamma_k G(x_k) + gamma_k^2 L_f D^2 / 2"),
        ("lower", "g(x_k+1) <= (1 - gamma_k) g(x_k) + gamma_k g(x_0) + gamma_k^2 L_g D^2 / 2"),
    ):
        yield Claim(
            sentence=f"Lemma 2: {sentence}",
            paper="at every update",
            ours=f"smallest margin {float(made[level]):.2g} over {count} updates",
            holds=bool(made[level] >= -1e-12),
            where="Appendix A",
        )
