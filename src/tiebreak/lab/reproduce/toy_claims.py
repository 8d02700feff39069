"""What the paper says about its two-dimensional example, and what became of it."""

from __future__ import annotations

import numpy as np

from ..experiments.toy import F_STAR, G_STAR, SOLUTION
from ..workshop import Made
from .outcome import Claim

PLAIN, TIED = "CG-BiO from (1, 0)", "CG-BiO from (1/2, 1/2)"
EXACT_LEVEL, RELAXED = "APDB, no relaxation", "APDB, relaxed by 1e-5"


def updates_of(run: Made) -> int:
    """The starting point is not one."""
    return len(run["x"]) - 1


def claims(runs: dict[str, Made], proved: Made) -> tuple[Claim, ...]:
    """Every sentence of Appendix D.1 with a number or an ordering."""
    updates = {name: updates_of(run) for name, run in runs.items()}
    worst = {name: float(np.abs(run["g"] - G_STAR).max()) for name, run in runs.items()}
    swing = float(np.abs(runs[PLAIN]["f"][1:] - F_STAR).max())
    low1, high1, low2, high2 = proved["ends"]
    where = "Appendix D.1"
    return (
        Claim(
            "The lower-level solutions are x1 + x2 = 1 with x1 in [0.5, 1], x2 in [0, 0.5].",
            "x1 in [0.5, 1], x2 in [0, 0.5]",
            f"x1 in [{low1:.9g}, {high1:.9g}], x2 in [{low2:.9g}, {high2:.9g}]",
            bool(np.allclose(proved["ends"], [0.5, 1, 0, 0.5], rtol=0, atol=1e-9)),
            "four exact solves with a coordinate as the upper objective",
            where,
        ),
        Claim(
            "The optimal solution is (0.6, 0.4).",
            "(0.6, 0.4)",
            f"({proved['x'][0]:.9g}, {proved['x'][1]:.9g}), f* in [{proved['f'][0]:.9g}, {proved['f'][1]:.9g}]",
            bool(np.allclose(proved["x"], SOLUTION, rtol=0, atol=1e-9)),
            "exact solve, bracket proved",
            where,
        ),
        Claim(
            "CG-BiO finds an ε-solution within 20 iterations.",
            "20 iterations",
            f"{updates[PLAIN]} updates ({updates[PLAIN] + 1} points)",
            updates[PLAIN] == 19,
            "The paper counts the starting point. The 631 steps of the initial phase are not counted.",
            where,
        ),
        Claim(
            "20 iterations, with no starting point given.",
            "20 iterations",
            f"{updates[PLAIN]} updates from (1, 0), {updates[TIED]} from (1/2, 1/2)",
            updates[TIED] == updates[PLAIN],
            "The count belongs to one of two tied vertices; the other one is just as good a start.",
            where,
        ),
        Claim(
            "The primal-dual method finds an ε-solution within 193 iterations.",
            "193 iterations",
            f"{updates[EXACT_LEVEL]} updates ({updates[EXACT_LEVEL] + 1} points)",
            updates[EXACT_LEVEL] == 192,
            "The paper counts the starting point.",
            where,
        ),
        Claim(
            "APDB was run with the relaxation ε = 1e-5.",
            "193 iterations",
            f"{updates[RELAXED]} updates relaxed, {updates[EXACT_LEVEL]} not relaxed",
            updates[RELAXED] == 192,
            "The released code passes g at its starting point, which is g* to 1e-10: no relaxation.",
            where,
        ),
        Claim(
            "CG-BiO needs fewer iterations than APDB.",
            "20 < 193",
            f"{updates[PLAIN]} and {updates[TIED]} < {updates[RELAXED]} and {updates[EXACT_LEVEL]}",
            max(updates[PLAIN], updates[TIED]) < min(updates[RELAXED], updates[EXACT_LEVEL]),
            "from either vertex, with and without relaxation; one update solves a linear programme",
            where,
        ),
        Claim(
            "CG-BiO behaves more stably than APDB.",
            "figure",
            f"largest |g − g*|: CG-BiO {worst[PLAIN]:.1e}, APDB {worst[EXACT_LEVEL]:.1e}",
            worst[PLAIN] < worst[EXACT_LEVEL],
            f"On the lower level. |f − f*| of CG-BiO goes up and down as well, to {swing:.1e} after the first update.",
            where,
        ),
        Claim(
            "The example shows the instability of primal-dual methods: the multiplier may tend to infinity as ε → 0.",
            "|λ₁*| → ∞ possible",
            "λ₁* = " + ", ".join(f"{value:.6g}" for value in proved["multipliers"]) + " for ε = 1e-2, 1e-4, 1e-6, 1e-8",
            bool(np.max(proved["multipliers"]) > 1.0),
            "In this example it is 0.1 for every ε > 0. Only at ε = 0, which is what the released code solves, the set "
            "of multipliers is unbounded.",
            where,
        ),
    )
