"""Table 1 and the theorems as an experiment: runs against bounds that no iterate may cross."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..workshop import Made, Piece
from . import growth, table_1, theorem_1
from .growth import ORDERS
from .lemmas import lemma_claims, lemmas
from .outcome import Option, Outcome, Request

TITLE = "Rates: the theorems and Table 1"
OPTIONS: tuple[Option, ...] = ()
DRAWN = ("slice of a box", "smallest solution", "face of a box")
"""The kinds of problem of Theorem 1 that a seed draws."""


def run(request: Request) -> Outcome:
    """All of it."""
    updates, seeds = request.pick(300, 3000, 30_000), range(request.seed, request.seed + request.pick(2, 10, 10))
    few = seeds[: request.pick(1, 3, 10)]
    counts = _spread(30, updates)
    several = _Several(request, few)

    def cg_bio(variant: str, kind: str, over: range) -> list[Made]:
        given = {"kind": kind, "variant": variant, "updates": min(updates, 1000) if kind == theorem_1.FACE else updates}
        return several(f"{variant} {kind}", theorem_1.gaps, given, over)

    kinds = {kind: few if kind in DRAWN else seeds[:1] for kind in theorem_1.KINDS}
    paper = {kind: cg_bio("paper", kind, over) for kind, over in kinds.items()}
    anytime = {kind: cg_bio("anytime", kind, over) for kind, over in kinds.items()}
    counted = {
        kind: several(f"complexity {kind}", theorem_1.complexity, {"kind": kind, "counts": counts}, over)
        for kind, over in kinds.items()
    }
    phases = several("phase", theorem_1.phase, {"kind": "slice of a box", "counts": counts}, seeds)
    promised = {r: several(f"growth {r}", growth.convex, {"r": r, "counts": counts}) for r in ORDERS}
    more = _spread(300, request.pick(3000, 1_000_000, 10_000_000))
    stationary = {
        r: several(f"nonconvex {r}", growth.nonconvex, {"r": r, "counts": more, "two_sided": False}, seeds)
        for r in (2,)
    }
    both = {r: several(f"both {r}", growth.nonconvex, {"r": r, "counts": more, "two_sided": True}) for r in ORDERS}
    points = {r: several(f"points {r}", growth.anywhere, {"r": r, "count": 200}, seeds) for r in ORDERS}
    table = {
        (row.method, row.level): several(
            f"table {row.method} {row.level}",
            table_1.baseline,
            {"method": row.method, "level": row.level, "updates": updates},
            seeds,
        )
        for row in table_1.ROWS
    }
    lower = several("horizons", table_1.horizons, {"counts": counts}, few)
    return Outcome(
        name="rates",
        title=TITLE,
        story=(
            "CG-BiO, which is Algorithm 1 of the paper, on problems whose optimal values and constants (L_f, L_g, D, "
            "α, r, M) are known as formulas. Dashed lines are the bounds of Theorems 1 and 2, Proposition 1 and "
            "Corollary 1 with those constants; no iterate may cross them. Accuracies are small enough for the "
            "conditions to fail at first and to be met later.",
            "The rates of the methods before it are measured where the upper level is strongly convex, so that each "
            "has its theorem. In finite dimension methods with projections are in the end faster than their worst "
            "case. The anytime variant, which is ours, has rows of its own.",
        ),
        claims=(
            *lemma_claims(several("lemmas", lemmas, {"updates": min(updates, 1000)})),
            *theorem_1.claims(paper, counted, phases),
            *growth.claims(promised, stationary, both, points),
            *table_1.claims(table),
        ),
        panels=(
            *theorem_1.panels(paper),
            *growth.panels(promised, stationary, points),
            table_1.panel(table, lower),
        ),
        tables=(
            table_1.table(
                table,
                [*paper["face of a box"], *paper[theorem_1.FACE]],
                lower,
                stationary[2],
                {"f": [*anytime["face of a box"], *anytime[theorem_1.FACE]], "g": anytime["slice of a box"]},
            ),
        ),
        parameters={"updates": updates, "numbers of updates": counts, "growth orders": list(ORDERS)},
        seed=request.seed,
        size=request.size,
        additions=(theorem_1.anytime_addition(anytime),),
    )


class _Several:
    """One piece a seed."""

    def __init__(self, request: Request, seeds: range) -> None:
        self.make, self.seeds = request.workshop.make, seeds

    def __call__(
        self, name: str, work: Callable[..., Any], given: dict[str, Any], seeds: range | None = None
    ) -> list[Made]:
        pieces = [Piece(f"{name}, seed {seed}", work, {**given, "seed": seed}) for seed in seeds or self.seeds]
        return list(self.make(pieces).values())


def _spread(least: int, most: int) -> list[int]:
    """Five numbers of updates, evenly on a log scale."""
    return [int(count) for count in np.unique(np.geomspace(least, most, 5).astype(int))]
