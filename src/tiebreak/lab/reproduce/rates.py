"""Table 1 and the theorems as an experiment: runs against bounds that no iterate may cross."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...methods import named
from ...methods.cg_bio import CGBiO
from ...methods.cg_bio_anytime import AnytimeCGBiO
from ...methods.shared.cut_method import CutMethod
from ...steps import Harmonic
from ..experiments import rates as problems
from ..experiments.rates import Known
from ..workshop import Made, Piece
from . import growth
from .growth import cuts
from .lemmas import lemma_claims, lemmas
from .outcome import Claim, Curve, Option, Outcome, Panel, Request, Table
from .record import record

TITLE = "Rates: the theorems and Table 1"
OPTIONS: tuple[Option, ...] = ()

KINDS: dict[str, Callable[[int], Known]] = {
    "slice of a box": problems.slice_of_box,
    "smallest solution": problems.smallest_solution,
    "face of a box": problems.face_of_box,
}
TABLE_1 = {"mng": 0.5, "big-sam": 1.0, "tseng": 1.0, "a-irg": 0.25, "cg-bio": 1.0}
"""What the theory promises for g(x_k) - g*: O(k^-that)."""

MEASURED = {**{name: name for name in TABLE_1}, "cg-bio": "cg-bio-anytime"}
"""The method that is run for each. Algorithm 1 starts where g is small already, so its rate is not there to be seen;
the anytime variant, which has the same one, stands in for it."""

VARIANTS: dict[str, type[CutMethod]] = {"paper": CGBiO, "anytime": AnytimeCGBiO}

ORDERS = (1, 2, 3, 4)
"""Of growth of the lower level."""


def run(request: Request) -> Outcome:
    """All of it; a minute at most in ``full``."""
    updates = request.pick(300, 3000, 30_000)
    counts = tuple(np.unique(np.geomspace(30, updates, 5).astype(int)).tolist())
    seed, run_for = request.seed, list(MEASURED.values())
    pieces = [
        *(
            Piece(f"{variant} {kind}", theorem_1, {"kind": kind, "variant": variant, "seed": seed, "updates": updates})
            for kind in KINDS
            for variant in VARIANTS
        ),
        *(
            Piece(name, growth.nonconvex, {"seed": seed, "counts": counts, "two_sided": two_sided})
            for name, two_sided in (("nonconvex", False), ("nonconvex two-sided", True))
        ),
        *(Piece(f"growth {r}", growth.two_sided, {"r": r, "seed": seed, "counts": counts}) for r in ORDERS),
        Piece("lemmas", lemmas, {"seed": seed, "updates": updates}),
        *(
            Piece(f"table {name}", table_1, {"name": name, "seed": seed, "updates": updates})
            for name in MEASURED.values()
        ),
    ]
    made = request.workshop.make(pieces)
    first = {name: made[name] for name in made if name.split()[0] in VARIANTS}
    growths = {r: made[f"growth {r}"] for r in ORDERS}
    table = {name: made[f"table {name}"] for name in run_for}
    return Outcome(
        name="rates",
        title=TITLE,
        story=(
            "CG-BiO on problems whose optimal values and constants (L_f, L_g, D, alpha, r, M) are known as formulas. "
            "Dashed lines are the bounds of Theorems 1 and 2, Proposition 1 and Corollary 1 with those constants; "
            "no iterate may cross them.",
            "The rates of Table 1 are measured on the smallest solution of a linear system with singular values 1/i "
            "(the upper level is strongly convex, so that every method has its theorem). In finite dimension methods "
            "with projections are in the end faster than their worst case.",
        ),
        claims=(
            *lemma_claims(made["lemmas"]),
            *_theorem_1_claims(first),
            *growth.nonconvex_claims(made["nonconvex"], made["nonconvex two-sided"]),
            *growth.corollary_claims(growths),
            *_table_claims(table),
        ),
        panels=(
            *_theorem_1_panels(first),
            growth.nonconvex_panel(made["nonconvex"], made["nonconvex two-sided"]),
            growth.corollary_panel(growths),
            growth.proposition_panel(growths),
            _table_panel(table),
        ),
        tables=(_rate_table(table),),
        parameters={"updates": updates, "numbers of updates": list(counts), "growth orders": list(ORDERS)},
        seed=seed,
        size=request.size,
    )


# Theorem 1


def theorem_1(kind: str, variant: str, seed: int, updates: int) -> dict[str, Any]:
    """Both gaps of CG-BiO at every update, and the bounds."""
    known = KINDS[kind](seed)
    C_f, C_g = known.curvatures
    eps_g = C_g / 1000 + 1e-3
    solver = VARIANTS[variant](step=Harmonic(2, 2), tol_upper=-np.inf, tol_lower=eps_g)
    f, g = known.problem.upper.value, known.problem.lower.value
    rows = []
    for state in cuts(known, solver):
        K = state.k - state.first
        rows.append((K, f(state.x) - known.f_star, g(state.x) - known.g_star))
        if state.k - state.first >= updates:
            break
    K, gap_f, gap_g = np.array(rows[1:]).T
    bound_g = 2 * C_g / (K + 1) + eps_g / 2 if variant == "paper" else 6 * C_g / (K + 1)
    return {"K": K, "gap_f": gap_f, "gap_g": gap_g, "bound_f": 2 * C_f / (K + 1), "bound_g": bound_g}


def share(gap: NDArray[Any], bound: NDArray[Any]) -> float:
    """The largest part of its bound that a gap takes; a bound of 0 (a linear g) leaves room for rounding alone."""
    if np.any(gap[bound == 0] > 1e-12):
        return np.inf
    return float(np.max(gap[bound > 0] / bound[bound > 0], initial=0.0))


def _theorem_1_claims(made: dict[str, Made]) -> Iterator[Claim]:
    for level, text in (("f", "f(x_K) - f* <= 2 L_f D^2/(K+1)"), ("g", "g(x_K) - g* <= 2 L_g D^2/(K+1) + eps_g/2")):
        paper = [one for name, one in made.items() if name.startswith("paper")]
        closest = max(share(one[f"gap_{level}"], one[f"bound_{level}"]) for one in paper)
        yield Claim(
            sentence=f"Theorem 1: {text} at every K",
            paper="never above 1 of the bound",
            ours=f"at most {closest:.2g} of the bound over {sum(one['K'].size for one in paper)} iterates",
            holds=closest <= 1,
            where="Section 4",
        )
    anytime = [one for name, one in made.items() if name.startswith("anytime")]
    closest = max(share(one[f"gap_{level}"], one[f"bound_{level}"]) for one in anytime for level in "fg")
    yield Claim(
        sentence="cg-bio-anytime, the variant without an initial phase: "
        "f(x_K) - f* <= 2 L_f D^2/(K+1), g(x_K) - g* <= 6 L_g D^2/(K+1)",
        paper="not in the paper",
        ours=f"at most {closest:.2g} of the bound",
        holds=closest <= 1,
    )


def _theorem_1_panels(made: dict[str, Made]) -> Iterator[Panel]:
    for level, name in (("f", "upper"), ("g", "lower")):
        curves = []
        for label, one in made.items():
            updates = {"updates": one["K"]}
            gap = one[f"gap_{level}"]
            curves.append(Curve(label, updates, np.where(gap > 0, gap, np.nan)))
            curves.append(Curve(f"bound, {label}", updates, one[f"bound_{level}"], role="bound"))
        yield Panel(
            f"theorem-1-{name}",
            f"Theorem 1, {name} level",
            f"{level}(x_K) - {level}*",
            tuple(curves),
            log_x=True,
            caption="Where f(x_K) lies below f* (x_K is not in X_g*), the gap is negative and not drawn.",
        )


# Table 1


def table_1(name: str, seed: int, updates: int) -> dict[str, Any]:
    """Both gaps of a method of Table 1 on a problem where its theorem applies."""
    known = problems.smallest_solution(seed)
    made = record(known.problem, named(name), updates=updates)
    made["gap_f"], made["gap_g"] = made["f"] - known.f_star, made["g"] - known.g_star
    return made


def exponent(updates: NDArray[Any], gap: NDArray[Any]) -> float:
    """Minus the slope of log gap against log k, over the later half of the logarithmic axis."""
    late = (updates >= np.sqrt(updates[-1])) & (gap > 1e-14)
    if np.count_nonzero(late) < 2:
        return np.inf
    return -float(np.polyfit(np.log(updates[late]), np.log(gap[late]), 1)[0])


def _table_claims(made: dict[str, Made]) -> Iterator[Claim]:
    measured = {name: exponent(one["updates"], one["gap_g"]) for name, one in made.items()}
    slow = [name for name, rate in TABLE_1.items() if measured[MEASURED[name]] < rate - 0.1]
    yield Claim(
        sentence="Table 1: rates of the lower level",
        paper=", ".join(f"{name} {rate:g}" for name, rate in TABLE_1.items()),
        ours=", ".join(f"{name} {rate:.2f}" for name, rate in measured.items()),
        holds=None if slow else True,
        why=f"a fit over {int(made['mng']['updates'][-1])} updates decides nothing about {', '.join(slow)}"
        if slow
        else "",
        where="Table 1",
    )


def _rate_table(made: dict[str, Made]) -> Table:
    rows = [
        (MEASURED[name], rate, round(exponent(one["updates"], one["gap_g"]), 2),
         round(exponent(one["updates"], np.abs(one["gap_f"])), 2))
        for name, rate in TABLE_1.items()
        for one in [made[MEASURED[name]]]
    ]  # fmt: skip
    return Table(
        "Fitted exponents p of k^-p",
        ("method", "theory, lower level", "measured, lower level", "measured, abs upper gap"),
        tuple(rows),
        "Only CG-BiO, with its anytime variant, and a-IRG have a theorem for the upper level (1 and 1/4).",
    )


def _table_panel(made: dict[str, Made]) -> Panel:
    curves = tuple(
        Curve(
            name,
            {"updates": one["updates"], "seconds": one["seconds"]},
            np.where(one["gap_g"] > 0, one["gap_g"], np.nan),
        )
        for name, one in made.items()
    )
    return Panel("table-1", "The methods of Table 1, lower level", "g(x_k) - g*", curves, log_x=True)
