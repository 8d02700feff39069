"""What the paper says about its two-dimensional example and primal-dual methods, and what became of it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..experiments.toy import F_STAR, G_STAR, SOLUTION
from ..workshop import Made
from .evidence import Evidence, less
from .outcome import Addition, Claim, Difference

PLAIN, TIED = "CG-BiO from (1, 0)", "CG-BiO from (1/2, 1/2)"
EXACT_LEVEL, RELAXED = "APDB, no relaxation", "APDB, relaxed by 1e-5"
HERE = "Appendix D.1"


def updates_of(run: Made) -> int:
    """The starting point is not one."""
    return len(run["x"]) - 1


def claims(runs: dict[str, Made], written: dict[str, int], proved: Made) -> tuple[Claim, ...]:
    """The sentences of Appendix D and the introduction that the example decides; ``written``: with the text's steps."""
    return (*_example(runs, written, proved), *_multiplier(proved))


def _example(runs: dict[str, Made], written: dict[str, int], proved: Made) -> tuple[Claim, ...]:
    updates = {name: updates_of(run) for name, run in runs.items()}
    worst = {name: float(np.abs(run["g"] - G_STAR).max()) for name, run in runs.items()}
    swing = {name: float(np.abs(run["f"][1:] - F_STAR).max()) for name, run in runs.items()}
    low1, high1, low2, high2 = proved["ends"]
    off = [float(np.abs(proved["ends"] - [0.5, 1, 0, 0.5]).max()), float(np.abs(proved["x"] - SOLUTION).max())]
    return (
        Claim(
            quote="The lower-level problem has multiple solutions which can be described by X_g* = {x ∈ R² | x₁ + x₂ "
            "= 1, x₁ ∈ [0.5, 1], x₂ ∈ [0, 0.5]}",
            where=HERE,
            here=f"x₁ in [{low1:.9g}, {high1:.9g}], x₂ in [{low2:.9g}, {high2:.9g}]",
            evidence=Evidence((1e-9 - off[0],), "always"),
            note="four exact solves with a coordinate as the upper objective",
        ),
        Claim(
            quote="the optimal solution [...] is (x₁*, x₂*) = (0.6, 0.4)",
            where=HERE,
            here=f"({proved['x'][0]:.9g}, {proved['x'][1]:.9g}), f* in [{proved['f'][0]:.9g}, {proved['f'][1]:.9g}]",
            evidence=Evidence((1e-9 - off[1],), "always"),
            note="exact solve, bracket proved",
        ),
        Claim(
            quote="CG-BiO finds an ε-solution (green star) within 20 iterations",
            where=HERE,
            here=f"steps 2/(k+2) of the text: {written[PLAIN]} updates from (1, 0), {written[TIED]} from (1/2, 1/2); "
            f"2/(k+3) of the released code: {updates[PLAIN]} and {updates[TIED]}",
            evidence=Evidence(
                tuple(20 - count for count in (*written.values(), updates[PLAIN], updates[TIED])), "always"
            ),
            note="which of the two tied vertices is the start, the paper does not say; the released code's is (1, 0)",
        ),
        Claim(
            quote="The primal-dual method finds an ε-solution (dark red cross) within 193 iterations",
            where=HERE,
            here=f"{updates[EXACT_LEVEL]} updates ({updates[EXACT_LEVEL] + 1} points), {updates[RELAXED]} with the "
            "relaxation of the text",
            evidence=Evidence((193 - (updates[EXACT_LEVEL] + 1), 193 - (updates[RELAXED] + 1)), "always"),
            note="the paper counts the starting point",
        ),
        Claim(
            quote="we observe a more stable numerical behavior for CG-BiO in comparison with APDB",
            where=HERE,
            here=f"largest |g − g*|: CG-BiO {worst[PLAIN]:.1e} and {worst[TIED]:.1e}, "
            f"APDB {worst[EXACT_LEVEL]:.1e} and {worst[RELAXED]:.1e}",
            evidence=Evidence(
                tuple(less(worst[ours], worst[theirs]) for ours in (PLAIN, TIED) for theirs in (EXACT_LEVEL, RELAXED)),
                "always",
            ),
            note=f"on the lower level, where the paper sees the trouble; |f − f*| goes to {swing[PLAIN]:.1e} and "
            f"{swing[EXACT_LEVEL]:.1e} after the first update",
        ),
    )


def _multiplier(proved: Made) -> tuple[Claim, ...]:
    growing = [float(value) for value in proved["quadratic multipliers"]]
    rises = min((later / before for before, later in itertools.pairwise(growing)), default=0.0)
    away = np.abs(proved["regularised"] - SOLUTION).max(axis=1)
    small = [float(sigma) for sigma, off in zip(proved["sigmas"], away, strict=True) if off < 1e-7]
    return (
        Claim(
            quote="problem (2) does not satisfy strict feasibility and hence the Slater's condition fails",
            where="Section 1",
            here=f"g ≥ {float(proved['g'][0]):.12g} on Z, proved; g* = {float(proved['g'][1]):.12g}",
            evidence=Evidence((float(proved["g"][0] - proved["g"][1]) + 1e-9,), "always"),
            note="no point of Z has g below g*",
        ),
        Claim(
            quote="as ε approaches zero and the problem becomes nearly degenerate, the dual optimal variable may tend "
            "to infinity",
            where="Section 1, Appendix D",
            here="λ = " + ", ".join(f"{value:.4g}" for value in growing) + " for ε = 1e-2, 1e-4, 1e-6, 1e-8",
            evidence=Evidence((rises - 5,), "sometimes"),
            note="minimise |x|²/2 over the unit square with g = (x₁ + x₂ − 1)²/2, solved exactly; in the example of "
            "the appendix, whose g is linear, λ stays at 0.1",
        ),
        Claim(
            quote="under certain assumptions [...] the solution set of problem (1) exactly matches with the "
            "regularized problem for sufficiently small σ",
            where="Section 1",
            here="g + σ f has the solution (0.6, 0.4) for σ = " + ", ".join(f"{sigma:g}" for sigma in small),
            evidence=Evidence((float(min(proved["sigmas"]) in small) - 0.5,), "sometimes"),
            note=f"of σ = {', '.join(f'{sigma:g}' for sigma in proved['sigmas'])}; the threshold is one over the "
            "multiplier, 10",
        ),
    )


def differences(runs: dict[str, Made], written: dict[str, int]) -> tuple[Difference, ...]:
    """Text against released code, with the counts that follow."""
    updates = {name: updates_of(run) for name, run in runs.items()}
    return (
        Difference(
            "20 and 193 iterations", "plotted points, the start among them", "Toy example/toy_example.m",
            f"{updates[PLAIN]} and {updates[EXACT_LEVEL]} updates",
        ),
        Difference(
            "no starting point is given; the initial phase ends in either of two tied vertices",
            "the linear programme answers (1, 0)", "Toy example/CG_lowerlevel.m",
            f"{updates[PLAIN]} updates from (1, 0), {updates[TIED]} from (1/2, 1/2)",
        ),
        Difference(
            "APDB runs with the relaxation ε = 1e-5 of g ≤ g* + ε", "g at the starting point, which is g* + 6e-11",
            "Toy example/toy_example.m:36", f"{updates[EXACT_LEVEL]} updates, {updates[RELAXED]} with the relaxation",
        ),
        Difference(
            "steps 2/(k + 2) from k = 0", "2/(k + 3): the counter starts at 1", "Toy example/CG_BiO_LR.m:25",
            f"{updates[PLAIN]} instead of {written[PLAIN]} updates from (1, 0), "
            f"{updates[TIED]} instead of {written[TIED]} from (1/2, 1/2)",
        ),
        Difference(
            "⟨∇g(x), x − s⟩ ≤ ε_g/2 in the stopping test", "⟨∇g(x), x − s⟩ ≤ ε_g", "Toy example/CG_BiO_LR.m:32",
            "nothing here: both tests stop at the same update",
        ),
        Difference(
            "the projection onto Z", "a quadratic programme with H = I/2, which projects 2 y",
            "Toy example/toy_example.m:21", "nothing here: both give (1/2, 1/2)",
        ),
    )  # fmt: skip


def additions(runs: dict[str, Made], proved: Made, theirs: Any) -> tuple[Addition, ...]:
    """What the paper does not say of its example."""
    updates = {name: updates_of(run) for name, run in runs.items()}
    found = [
        Addition(
            statement="The count belongs to one of two tied vertices: from the other, as good a start, it is another.",
            here=f"{updates[PLAIN]} updates from (1, 0), {updates[TIED]} from (1/2, 1/2), with 2/(k+3)",
            evidence=Evidence((abs(updates[PLAIN] - updates[TIED]),), "sometimes"),
            note="one update solves a linear programme; the 631 steps of the initial phase are not counted",
        ),
        Addition(
            statement="In this example the multiplier does not grow: g is linear.",
            here="λ = " + ", ".join(f"{value:.6g}" for value in proved["multipliers"]),
            evidence=Evidence(tuple(1e-6 - abs(value - 0.1) for value in proved["multipliers"]), "always"),
            note="only at ε = 0, which is what the released code solves, the set of multipliers is unbounded",
        ),
    ]
    for label, key in ((PLAIN, "cgbio_x"), (EXACT_LEVEL, "apdb_x")) if theirs else ():
        ours = runs[label]["x"]
        off = float(np.abs(ours - theirs[key]).max()) if ours.shape == theirs[key].shape else float("inf")
        found.append(
            Addition(
                statement=f"The iterates of {label} are those that the authors recorded.",
                here=f"largest difference {off:.1g} over {len(ours)} points",
                evidence=Evidence((1e-9 - off,), "always"),
            )
        )
    return tuple(found)
