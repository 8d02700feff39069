"""Measured rates beside the proven ones: slopes of both gaps, and gaps over bounds with their constants."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...arrays import Vector
from ...methods import (
    AIRG,
    APDB,
    CG,
    IRCG,
    MNG,
    PBAPG,
    RAPM,
    SBCGF,
    SBCGI,
    AdaBiM,
    AGMBiO,
    AnytimeCGBiO,
    BiFISTA,
    BiGSAM,
    BisecBiO,
    BiSG,
    CGBiO,
    FBiPG,
    FCBiO,
    Solver,
    StaBiM,
    Tikhonov,
    Tseng,
)
from ...states import Looks, states_of
from . import theorems
from .rate_problems import RateProblem, flat_upper, held_sum, smallest, spread_lower, spread_sum, spread_upper

GROWTH = 1.1
SIGMA = 1e-4
SLACK = 0.1
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6)
ALLOWED = 0.06
"""Slopes are those of a finite run: so much above the exponent counts as equal."""

Bound = Callable[[RateProblem, Vector], Vector]


@dataclass(frozen=True)
class Claim:
    """A proven rate, where it is to be seen, and the bound with its constant where that is known."""

    method: str
    level: str
    rate: str
    exponent: float
    make: Callable[[], RateProblem]
    solver: Solver[Any]
    updates: int
    bound: Bound | None = None
    best: bool = False
    """The theorem is about the best iterate so far."""
    place: str = ""


@dataclass(frozen=True)
class Measured:
    """A row of the table: slopes over the last two decades of k, and the largest gap over its bound."""

    method: str
    level: str
    rate: str
    exponent: float
    place: str
    updates: int
    slope_before: float
    slope: float
    worst: float | None

    @property
    def holds(self) -> bool:
        """Not worse than the theorem: below its bound at every iterate seen, or not shallower than its exponent."""
        return (self.worst is not None and self.worst <= 1) or self.slope <= -self.exponent + ALLOWED


SMALLEST = "smallest solution, singular values i^-2"
SLOW = "smallest solution, singular values i^-1/2"
ROUGH = "the same, answer (1, ..., 1), 100 equations"
FEW = "the same, answer (1, ..., 1), 8 equations"
FLAT = "f flat on the lower solutions, singular values i^-2"
FLAT_SLOW = "f flat on the lower solutions, singular values i^-1/2"
FACE = "least norm on a face of the simplex"
SUM = "the same as a sum of 500 terms"
HELD = "nearest point of a box with a given sum, from one with that sum"
POINT = "least norm on the simplex, as lower level"

slow = partial(smallest, power=0.5, decay=0.55, n=400)
rough = partial(smallest, decay=0.0, n=100)
few = partial(smallest, decay=0.0, n=8)
flat_slow = partial(flat_upper, power=0.5, n=400)
cg_upper = partial(theorems.conditional_gradient, factor=2.0, level="upper")
cg_bio_lower = partial(theorems.conditional_gradient, factor=2.0, level="lower")
cg_lower = partial(theorems.conditional_gradient, factor=6.0, level="lower")
penalty = partial(theorems.fista, sigma=SIGMA)
a_irg_upper, a_irg_lower = (partial(theorems.a_irg, level=level) for level in ("upper", "lower"))
N = 30_000

CLAIMS = [
    Claim("cg-bio", "upper", "O(1/k)", 1.0, spread_upper, CGBiO(tol_upper=-np.inf), 1000, cg_upper, place=FACE),
    Claim("cg-bio", "lower", "O(1/k)", 1.0, held_sum, CGBiO(tol_upper=-np.inf), 3000, cg_bio_lower, place=HELD),
    Claim("cg-bio-anytime", "upper", "O(1/k)", 1.0, spread_upper, AnytimeCGBiO(), 1000, cg_upper, place=FACE),
    Claim("cg-bio-anytime", "lower", "O(1/k)", 1.0, spread_lower, AnytimeCGBiO(), 1000, cg_lower, place=POINT),
    Claim("cg", "upper", "O(1/k)", 1.0, spread_upper, CG(), 1000, cg_upper, place=FACE),
    Claim("mng", "lower", "O(1/sqrt(k))", 0.5, smallest, MNG(), N, theorems.mng, best=True, place=SMALLEST),
    Claim("mng", "lower", "O(1/sqrt(k))", 0.5, rough, MNG(), N, theorems.mng, best=True, place=ROUGH),
    Claim("mng", "lower", "O(1/sqrt(k))", 0.5, few, MNG(), N, theorems.mng, best=True, place=FEW),
    Claim("big-sam", "lower", "O(1/k)", 1.0, smallest, BiGSAM(), N, theorems.big_sam, place=SMALLEST),
    Claim("big-sam", "lower", "O(1/k)", 1.0, rough, BiGSAM(), N, theorems.big_sam, place=ROUGH),
    Claim("big-sam", "lower", "O(1/k)", 1.0, few, BiGSAM(), N, theorems.big_sam, place=FEW),
    Claim("tseng", "lower", "o(1/k)", 1.0, smallest, Tseng(), N, theorems.tseng, place=SMALLEST),
    Claim("tseng", "lower", "o(1/k)", 1.0, rough, Tseng(), N, theorems.tseng, place=ROUGH),
    Claim("tseng", "lower", "o(1/k)", 1.0, few, Tseng(), N, theorems.tseng, place=FEW),
    Claim("a-irg", "upper", "O(k^-(1/2-b)), b = 1/4", 0.25, flat_slow, AIRG(), N, a_irg_upper, place=FLAT_SLOW),
    Claim("a-irg", "lower", "O(k^-b), b = 1/4", 0.25, slow, AIRG(), 10 * N, a_irg_lower, place=SLOW),
    Claim("ir-cg", "upper", "O(k^-(1-p)), p = 1/2", 0.5, spread_upper, IRCG(), 1000, place=FACE),
    Claim("ir-cg", "lower", "O(k^-p), p = 1/2", 0.5, spread_lower, IRCG(), 1000, place=POINT),
    Claim("agm-bio", "upper", "O(1/k^2)", 2.0, flat_upper, AGMBiO(), 1000, theorems.agm_bio_upper, place=FLAT),
    Claim("agm-bio", "lower", "O(1/k)", 1.0, smallest, AGMBiO(), N, theorems.agm_bio_lower, place=SMALLEST),
    Claim(
        "pb-apg", "g + f / gamma", "O(1/k^2)", 2.0, smallest, PBAPG(1 / SIGMA, "fista"), 1000, penalty,
        place=SMALLEST,
    ),
    Claim("r-apm", "g + eta f", "O(1/k^2)", 2.0, smallest, RAPM(SIGMA), 1000, penalty, place=SMALLEST),
    Claim("tikhonov", "g + sigma f", "O(1/k^2)", 2.0, smallest, Tikhonov(SIGMA), 1000, place=SMALLEST),
    Claim("bi-sg", "upper", "O(k^-(1-a)), a = 3/4", 0.25, flat_slow, BiSG(0.75), N, place=FLAT_SLOW),
    Claim("bi-sg", "lower", "O(k^-a), a = 3/4", 0.75, smallest, BiSG(0.75), N, place=SMALLEST),
    Claim("fbi-pg", "upper", "O(k^-(2-gamma)), gamma = 3/2", 0.5, flat_slow, FBiPG(), N, place=FLAT_SLOW),
    Claim("fbi-pg", "lower", "O(k^-gamma), gamma = 3/2", 1.5, smallest, FBiPG(), N, place=SMALLEST),
    Claim("bi-fista", "lower", "O(k^-delta), delta = 3/2", 1.5, smallest, BiFISTA(), N, place=SMALLEST),
    Claim("stabim", "lower", "O(1/k)", 1.0, smallest, StaBiM(), N, place=SMALLEST),
    Claim("adabim", "lower", "O(1/k)", 1.0, smallest, AdaBiM(), N, best=True, place=SMALLEST),
    Claim("sbcgi", "upper", "O(1/sqrt(k)) up to logarithms", 0.5, spread_sum, SBCGI(), 3000, place=SUM),
    Claim("sbcgf", "upper", "O(1/k), sqrt(n) terms an update", 1.0, spread_sum, SBCGF(), 3000, place=SUM),
    Claim(
        "apdb", "f, slack 0.1", "O(1/k), average", 1.0, smallest, APDB(level=SLACK, average=True), 10_000,
        place=SMALLEST,
    ),
    *(
        Claim(name, "eps", "eps in O(eps^-1/2 log(1/eps)) updates", 2.0, smallest, solver, 0, place=SMALLEST)
        for name, solver in (("fc-bio", FCBiO()), ("bisec-bio", BisecBiO()))
    ),
]  # fmt: skip


def measure(claim: Claim) -> Measured:
    """Run a method and fit both slopes."""
    p = claim.make()
    if claim.level == "eps":
        return _measure_steps(p, claim)
    looks = list(_trajectory(p, claim.solver, claim.updates))
    k = np.array([float(look) for look, _ in looks])
    gaps = np.array([_gap(p, claim, x) for _, x in looks])
    if claim.best:
        gaps = np.minimum.accumulate(gaps)
    worst = None if claim.bound is None else float(np.max(gaps / claim.bound(p, k)))
    K = claim.updates
    return Measured(
        claim.method, claim.level, claim.rate, claim.exponent, claim.place, K,
        _slope(k, gaps, K / 100, K / 10), _slope(k, gaps, K / 10, K), worst,
    )  # fmt: skip


def _measure_steps(p: RateProblem, claim: Claim) -> Measured:
    """Updates over log(10/eps) for several tolerances: eps as a function of them has a slope."""
    steps = []
    for eps in TOLERANCES:
        solver = replace(claim.solver, tol_upper=eps, tol_lower=eps)  # type: ignore[call-arg]
        # until the search with these tolerances has ended
        state = next(state for state in states_of(p.problem, solver, p.x0) if state.shrink < 1.0)
        steps.append(state.k / np.log(10 / eps))
    k, tolerances = np.log(steps), np.log(TOLERANCES)
    before, slope = (float(np.polyfit(k[part], tolerances[part], 1)[0]) for part in (slice(0, 2), slice(1, None)))
    return Measured(
        claim.method, claim.level, claim.rate, claim.exponent, claim.place, state.k, before, slope, None
    )  # fmt: skip


def _trajectory(p: RateProblem, solver: Solver[Any], updates: int) -> Iterator[tuple[int, Vector]]:
    """k and the reported point, whenever k has grown by a tenth."""
    wanted = {"tol_upper": 1e-3, "tol_lower": 1e-3, "seed": 0}
    solver = replace(solver, **{name: value for name, value in wanted.items() if getattr(solver, name, 0) is None})
    looks = Looks(GROWTH, 1)
    for state in states_of(p.problem, solver, p.x0, ahead=lambda state: min(looks.next, updates) - state.k):
        if looks.due(state.k) or state.k == updates:
            yield state.k, solver.solution(state)
        if state.k >= updates:
            return


def _gap(p: RateProblem, claim: Claim, x: Vector) -> float:
    if claim.level == "upper":
        return max(p.problem.upper.value(x) - p.f_star, 1e-300)
    if claim.level == "lower":
        return max(p.problem.lower.value(x) - p.g_star, 1e-300)
    if claim.level == "f, slack 0.1":
        return abs(p.problem.upper.value(x) - theorems.relaxed_value(p, SLACK)) + 1e-300
    best = theorems.regularised(p, SIGMA)
    total = p.problem.lower.value(x) - p.problem.lower.value(best)
    return max(total + SIGMA * (p.problem.upper.value(x) - p.problem.upper.value(best)), 1e-300)


def _slope(k: Vector, gaps: Vector, low: float, high: float) -> float:
    """d log(gap) / d log(k)."""
    inside = (k >= low) & (k <= high)
    return float(np.polyfit(np.log(k[inside]), np.log(gaps[inside]), 1)[0])


def rows_to_json(rows: list[Measured]) -> str:
    """One row a line."""
    lines = [json.dumps({n: _short(v) for n, v in asdict(row).items()}) for row in rows]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def rows_from_json(text: str) -> list[Measured]:
    """What ``rows_to_json`` wrote."""
    return [Measured(**row) for row in json.loads(text)]


def _short(value: Any) -> Any:
    return float(f"{value:.3g}") if isinstance(value, float) else value
