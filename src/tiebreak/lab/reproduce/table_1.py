"""Table 1: bounds with their constants, and measured exponents of both levels beside the proven ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Vector
from ...methods import named
from ...methods.cg_bio import CGBiO
from ...steps import Harmonic
from ..comparison import theorems
from ..comparison.rate_problems import RateProblem, flat_upper, smallest
from ..experiments import rates as problems
from ..workshop import Made
from .evidence import Evidence, interval
from .growth import exponent as accuracy_exponent
from .outcome import Claim, Curve, Panel, Table
from .record import record
from .theorem_1 import cuts

Bound = Callable[[RateProblem, Vector], Vector]


@dataclass(frozen=True)
class Row:
    """A method of Table 1 and a level: what is quoted of it, the exponent p of O(k^-p), and the bound."""

    method: str
    level: str
    quote: str
    power: float
    bound: Bound
    best: bool = False
    """The theorem is about the best iterate so far."""


ROWS = (
    Row("mng", "lower", "MNG [...] Lower level: O(1/ε²)", 0.5, theorems.mng, True),
    Row("big-sam", "lower", "BiG-SAM [...] Lower level: O(1/ε)", 1.0, theorems.big_sam),
    Row("tseng", "lower", "Tseng's method [...] Lower level: o(1/ε)", 1.0, theorems.tseng),
    Row("a-irg", "lower", "a-IRG [...] O(max{1/ε_f⁴, 1/ε_g⁴})", 0.25, partial(theorems.a_irg, level="lower")),
    Row("a-irg", "upper", "a-IRG [...] O(max{1/ε_f⁴, 1/ε_g⁴})", 0.25, partial(theorems.a_irg, level="upper")),
)


def drawn(level: str, seed: int) -> RateProblem:
    """A problem where the theorem of that level applies; the spectrum is drawn by the seed."""
    rng = np.random.default_rng([seed, 1])
    if level == "upper":
        return flat_upper(power=float(rng.uniform(0.4, 0.7)), n=200)
    return smallest(power=float(rng.uniform(1.0, 2.5)), decay=float(rng.uniform(0.3, 0.9)))


def baseline(method: str, level: str, seed: int, updates: int) -> dict[str, Any]:
    """The gap of one level along a run, and its bound."""
    row = next(row for row in ROWS if (row.method, row.level) == (method, level))
    p = drawn(level, seed)
    made = record(p.problem, named(method), x0=p.x0, updates=updates)
    late = made["updates"] > 0
    k = made["updates"][late].astype(float)
    gap = (made["f"] - p.f_star if level == "upper" else made["g"] - p.g_star)[late]
    if row.best:
        gap = np.minimum.accumulate(gap)
    return {"updates": k, "seconds": made["seconds"][late], "gap": gap, "bound": row.bound(p, k)}


def horizons(seed: int, counts: list[int]) -> dict[str, Any]:
    """Algorithm 1 for each count K: eps_g = 4 L_g D^2/K, and the lower gap when x_K is reached, by all its updates."""
    known = problems.slice_of_box(seed)
    C_g = known.curvatures[1]
    rows = []
    for count in counts:
        solver = CGBiO(step=Harmonic(2, 2), tol_upper=-np.inf, tol_lower=4 * C_g / count)
        *_, last = islice(cuts(known, solver), count + 1)
        rows.append((last.k, known.problem.lower.value(last.x) - known.g_star, 4 * C_g / count))
    updates, gap, bound = np.array(rows, float).T
    return {"updates": updates, "gap": gap, "bound": bound}


def exponent(updates: NDArray[Any], gap: NDArray[Any]) -> float:
    """Minus the slope of log gap against log k, over the later half of the logarithmic axis."""
    late = (updates >= np.sqrt(updates[-1])) & (gap > 1e-14)
    if np.count_nonzero(late) < 2:
        return np.inf
    return -float(np.polyfit(np.log(updates[late]), np.log(gap[late]), 1)[0])


def claims(made: dict[tuple[str, str], list[Made]]) -> Iterator[Claim]:
    """The rows of the methods before the paper's own, whose theorems have claims of their own."""
    for row in ROWS:
        several = made[row.method, row.level]
        shares = [float(np.max(one["gap"] / one["bound"])) for one in several]
        yield Claim(
            quote=row.quote,
            where="Table 1",
            here=f"{row.level} level: at most {max(shares):.2g} of the bound with its constant; "
            f"measured exponent {_measured([exponent(one['updates'], one['gap']) for one in several])}",
            evidence=Evidence(tuple(1 - value for value in shares), "always"),
            note="the bound is derived along the method's own proof (docs: rates); a fit decides nothing",
        )


def table(
    made: dict[tuple[str, str], list[Made]], upper: list[Made], lower: list[Made], stationary: list[Made],
    anytime: dict[str, list[Made]],
) -> Table:  # fmt: skip
    """Measured exponents beside the proven ones: the methods of Table 1, and apart from it our variant."""
    rows: list[tuple[str | float, ...]] = []
    for row in ROWS:
        fits = [exponent(one["updates"], one["gap"]) for one in made[row.method, row.level]]
        rows.append((row.method, row.level, f"k^-{row.power:g}", _measured(fits), len(fits)))
    fits = [exponent(one["K"], one["gap_f"]) for one in upper]
    rows.append(("cg-bio, Theorem 1", "upper", "k^-1", _measured(fits), len(fits)))
    fits = [exponent(one["updates"], one["gap"]) for one in lower]
    rows.append(("cg-bio, Theorem 1", "lower", "k^-1", _measured(fits), len(fits)))
    fits = [accuracy_exponent(one) for one in stationary]
    rows.append(("cg-bio, Theorem 2", "both, ε_f = ε_g", "1/ε²", _measured(fits), len(fits)))
    for level in ("f", "g"):
        fits = [exponent(one["K"], one[f"gap_{level}"]) for one in anytime[level]]
        rows.append(("cg-bio-anytime (ours)", {"f": "upper", "g": "lower"}[level], "k^-1", _measured(fits), len(fits)))
    return Table(
        "Measured exponents beside the proven ones",
        ("method", "level", "proved", "measured: median, and 95 % interval of it", "problems"),
        tuple(rows),
        "Fits over the later half of a run: k^-p of the gap, or of Theorem 2 the number of updates to an accuracy. A "
        "theorem is about the worst case: more than the proven exponent is no surprise. Algorithm 1 starts where g is "
        "small, so its lower level is measured over runs with ε_g = 4 L_g D²/K, at x_K, all updates counted.",
    )


def _measured(fits: list[float]) -> str:
    low, high = interval(fits)
    return f"{np.median(fits):.2f} [{low:.2f}, {high:.2f}]"


def panel(made: dict[tuple[str, str], list[Made]], lower: list[Made]) -> Panel:
    """The lower levels, first problem."""
    curves = [
        Curve(method, {"updates": one[0]["updates"]}, np.where(one[0]["gap"] > 0, one[0]["gap"], np.nan))
        for (method, level), one in made.items()
        if level == "lower"
    ]
    curves.append(Curve("cg-bio, ε_g = 4 L_g D²/K", {"updates": lower[0]["updates"]}, lower[0]["gap"]))
    note = "CG-BiO is Algorithm 1, one run for each K, on another problem (a slice of a box)."
    return Panel(
        "table-1", "The methods of Table 1, lower level", "g(x_k) − g*", tuple(curves), log_x=True, caption=note
    )
